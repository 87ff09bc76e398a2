//! `concilio-lab soak`: the daemon under everything that can go wrong, for a long time.

use std::{fs, path::PathBuf};

use clap::{Args, ValueEnum};
use tokio::signal::ctrl_c;
use tokio_util::sync::CancellationToken;

use super::{Failure, progress::ProgressDisplay};
use crate::{
    daemon_program::DaemonProgram,
    soak::{SoakError, SoakPlan, SoakProtocol, SoakReport, soak},
};
use domain::TimeControl;
use practice::faults::FaultPlan;

/// Play the daemon on the practice server under faults, kills and load, and count what must not happen
#[derive(Debug, Args)]
#[command(
    after_help = "The daemon runs as a process of its own and is judged by the server's record. Exit code 1 if anything was lost by its
fault; then its journal, log and games are kept. docs/practice.md explains the faults.

  concilio-lab soak --server lichess --games 1000 --kills 100 --load 8 \\
    --faults cut=3s,delay=30ms,429=2%,502=2%,lost=1%,half-open=0.5%,duplicate=2%,reorder=1%
  concilio-lab soak --server fics --games 100 --kills 10 --faults cut=5s,delay=20ms --json"
)]
pub(super) struct SoakDaemon {
    #[command(flatten)]
    program: DaemonProgram,
    /// The protocol that is spoken
    #[arg(long, value_enum, default_value = "lichess")]
    server: ServerWord,
    /// Games to play
    #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=1_000_000), value_name = "N")]
    games: u32,
    /// Faults of the server, as for `concilio practice --faults`
    #[arg(long, default_value = "", value_name = "PLAN")]
    faults: FaultPlan,
    /// Number of times that the daemon is killed (SIGKILL) and restarted, at random moments
    #[arg(long, default_value_t = 0, value_name = "K")]
    kills: usize,
    /// Processes that search beside it
    #[arg(long, default_value_t = 0, value_name = "L")]
    load: usize,
    /// Let the daemon ask the services that know moves, all of which the server plays, with the same faults
    #[arg(long)]
    online: bool,
    /// Games at once: of one account on Lichess, of as many accounts on FICS
    #[arg(long, default_value_t = 8, value_parser = clap::value_parser!(u16).range(1..=100), value_name = "N")]
    places: u16,
    /// The clock of each game, seconds
    #[arg(long, default_value = "60+1", value_name = "INITIAL+INCREMENT")]
    clock: TimeControl,
    /// Decides colours, faults and the moments of the kills
    #[arg(long, default_value_t = 1, value_name = "S")]
    seed: u64,
    /// Keep the daemon's settings, journal, log and games here [default: a folder that goes unless something was lost]
    #[arg(long, value_name = "FOLDER")]
    folder: Option<PathBuf>,
    /// Print what was seen as JSON
    #[arg(long)]
    json: bool,
}

/// The protocols by their names.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum ServerWord {
    Lichess,
    Fics,
}

impl SoakDaemon {
    pub(super) async fn run(self) -> Result<(), Failure> {
        let program = self.program.path()?;
        let plan = SoakPlan {
            protocol: match self.server {
                ServerWord::Lichess => SoakProtocol::Lichess,
                ServerWord::Fics => SoakProtocol::Fics,
            },
            games: self.games as usize,
            faults: self.faults,
            kills: self.kills,
            load: self.load,
            online: self.online,
            places: usize::from(self.places),
            clock: self.clock,
            seed: self.seed,
        };
        let temporary = tempfile::Builder::new().prefix("concilio-soak-").tempdir()?;
        let is_temporary = self.folder.is_none();
        let folder = self.folder.unwrap_or_else(|| temporary.path().to_owned());
        // The daemon runs in it: its name must mean the same there.
        let folder = fs::create_dir_all(&folder)
            .and_then(|()| fs::canonicalize(&folder))
            .map_err(|error| Failure::failed(format_args!("--folder {}: {error}", folder.display())))?;
        let stop = CancellationToken::new();
        let stopper = stop.clone();
        tokio::spawn(async move {
            if ctrl_c().await.is_ok() {
                stopper.cancel();
            }
        });
        let mut display = ProgressDisplay::new(plan.games, "games");
        let soaked = soak(&plan, &program, &folder, &stop, |report: &SoakReport| {
            display.at(report.games, || format!("{} kills, {} findings", report.kills, report.findings.len()));
        })
        .await;
        display.end();
        let report = match soaked {
            Err(error @ SoakError::Offline(_)) if is_temporary => {
                // It names the log.
                let _ = temporary.keep();
                return Err(error.into());
            }
            soaked => soaked?,
        };
        if self.json {
            util::outln!("{}", serde_json::to_string_pretty(&report)?);
        } else {
            util::print(format_args!("{report}"));
        }
        if !report.is_clean() {
            if is_temporary {
                let _ = temporary.keep();
            }
            return Err(Failure::failed(format_args!(
                "something was lost; the daemon's files are in {}",
                folder.display()
            )));
        }
        if stop.is_cancelled() {
            return Err(Failure::failed("stopped before the end"));
        }
        Ok(())
    }
}
