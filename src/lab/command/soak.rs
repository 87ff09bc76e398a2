//! `concilio-lab soak`: the daemon under everything that can go wrong, for a long time.

use std::{fs, path::PathBuf};

use clap::Args;
use tokio::signal::ctrl_c;
use tokio_util::sync::CancellationToken;

use super::{Failure, progress::ProgressDisplay};
use crate::{
    daemon_program::DaemonProgram,
    soak::{SoakPlan, SoakReport, soak},
};

/// Play the daemon on the practice server under faults, kills and load, and count what must not happen
#[derive(Debug, Args)]
#[command(
    after_help = "The daemon runs as a process of its own and is judged by the server's record. Exit code 1 if anything was lost by its
fault; then its journal, log and games are kept. docs/practice.md explains the faults.

  concilio-lab soak --server lichess --games 1000 --kills 100 --load 8 \\
    --faults cut=3s,delay=30ms,429=2%,502=2%,lost=1%,half-open=0.5%,duplicate=2%,reorder=1%
  concilio-lab soak --server fics --games 100 --kills 10 --faults cut=5s,delay=20ms --json"
)]
pub struct SoakDaemon {
    #[command(flatten)]
    program: DaemonProgram,
    #[command(flatten)]
    plan: SoakPlan,
    /// Keep the daemon's settings, journal, log and games here [default: a folder that goes unless something was lost]
    #[arg(long, value_name = "FOLDER")]
    folder: Option<PathBuf>,
    /// Print what was seen as JSON
    #[arg(long)]
    json: bool,
}

impl SoakDaemon {
    pub(super) async fn run(self) -> Result<(), Failure> {
        let (program, plan) = (self.program.path()?, self.plan);
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
        if is_temporary && !soaked.as_ref().is_ok_and(SoakReport::is_clean) {
            // The failure names files in it.
            let _ = temporary.keep();
        }
        let report = soaked?;
        if self.json {
            util::outln!("{}", serde_json::to_string_pretty(&report)?);
        } else {
            util::print(format_args!("{report}"));
        }
        if !report.is_clean() {
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
