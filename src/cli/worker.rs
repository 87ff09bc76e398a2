use std::{net::SocketAddr, path::PathBuf};

use clap::Args;

use super::{Failure, cluster::ClusterArgs, settings_args::SettingsArgs, signals::Signals};
use cluster::{WorkerSettings, is_member_name, lend};
use util::Shutdown;

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  concilio worker --nats nats://192.168.1.10:4222
  concilio worker --nats tls://chess.example.org --ca-file ca.pem --name attic --nkey-file attic.nk --daemon daemon
  concilio worker --nats nats://192.168.1.10 --cores 4 --engine /usr/games/stockfish

Ways to log in: --nkey-file, whose key `concilio cluster add-worker` makes; --user with --password-file or
CONCILIO_NATS_PASSWORD; --token-file or CONCILIO_NATS_TOKEN; --credentials-file. The same keys stand in the table [cluster] of a settings file (--config).

Ctrl-C or SIGTERM finishes the running searches and takes no new ones; twice leaves at once.")]
pub(super) struct LendCommand {
    #[command(flatten)]
    settings: SettingsArgs,
    #[command(flatten)]
    cluster: ClusterArgs,
    /// A daemon to serve, by its name; may be given several times. At a server with keys each is to be named; without, all are served
    /// unless some are named
    #[arg(long = "daemon", env = "CONCILIO_WORKER_DAEMONS", value_delimiter = ',', value_name = "NAME")]
    daemons: Vec<String>,
    /// Cores for searches; 0 takes all
    #[arg(long, env = "CONCILIO_WORKER_CORES", default_value_t = 0, value_parser = clap::value_parser!(u16).range(0..=1024))]
    cores: u16,
    /// Memory for the tables of all electors together, MiB
    #[arg(long, env = "CONCILIO_WORKER_MEMORY", default_value_t = 1024, value_parser = clap::value_parser!(u32).range(1..=1_048_576), value_name = "MIB")]
    memory: u32,
    /// UCI engine for daemons, with the name by which daemons know it (by default its file name);
    /// may be given several times
    #[arg(long = "engine", value_parser = parse_engine, value_name = "[NAME=]PATH")]
    engines: Vec<(String, PathBuf)>,
    /// Address for GET /live (it works) and GET /ready (it is connected), for health checks
    #[arg(long, env = "CONCILIO_WORKER_HEALTH", value_name = "ADDRESS")]
    health: Option<SocketAddr>,
}

fn parse_engine(text: &str) -> Result<(String, PathBuf), String> {
    let (name, path) = match text.split_once('=') {
        Some((name, path)) => (Some(name.trim().to_owned()), PathBuf::from(path.trim())),
        None => (None, PathBuf::from(text)),
    };
    if !path.is_file() {
        return Err(format!("{} is no file", path.display()));
    }
    let stem = || path.file_stem().map(|stem| stem.to_string_lossy().into_owned());
    let name = name.or_else(stem).filter(|name| !name.is_empty());
    name.map(|name| (name, path)).ok_or_else(|| "expected PATH or NAME=PATH".to_owned())
}

impl LendCommand {
    pub(super) async fn run(self) -> Result<(), Failure> {
        let mut cluster = self.cluster.load(self.settings)?;
        if !self.daemons.is_empty() {
            cluster.daemons = self.daemons;
        }
        if let Some(bad) = cluster.daemons.iter().find(|name| !is_member_name(name)) {
            return Err(Failure::usage(format!("--daemon {bad:?}: expected letters, digits, - and _")));
        }
        let settings = WorkerSettings {
            cluster,
            cores: usize::from(self.cores),
            memory: self.memory as usize,
            engines: self.engines.into_iter().collect(),
            health: self.health,
        };
        let shutdown = Shutdown::default();
        tokio::spawn(heed_signals(shutdown.clone()));
        Ok(lend(settings, shutdown).await?)
    }
}

/// The first signal drains, the second at once.
async fn heed_signals(shutdown: Shutdown) {
    let Some(mut signals) = Signals::listen() else { return };
    signals.told_to_stop().await;
    shutdown.drain.cancel();
    signals.told_to_stop().await;
    shutdown.now.cancel();
}
