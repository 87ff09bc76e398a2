//! `concilio run`: the daemon, on the servers of the settings, until stopped.

use std::{collections::BTreeMap, path::PathBuf, sync::Arc, time::Duration};

use clap::Args;
use tokio::{task::JoinSet, time::sleep};

use super::{Failure, idle_study, log, runtime, signals::StopSignals, view::Viewer};
use crate::settings::{Flag, Loaded, Protocol, ServerSettings, Settings, Sources};
use bot::{
    journal::Journal,
    session::{self, AccountEnd, Connection, EventBus, ShutdownGames},
};
use chess::{ServerName, Shutdown};
use server::{
    fics,
    lichess::{self, Token},
};

/// Play on the configured servers until stopped
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  CONCILIO_LICHESS_TOKEN=lip_... concilio run
  concilio run --config bot.toml --set challenge.concurrency=2

Ctrl-C or SIGTERM finishes the running games and takes no new ones; twice stops at once. A terminal that closes (SIGHUP)
stops nothing.")]
pub(super) struct RunCommand {
    #[command(flatten)]
    settings: SettingsArgs,
    /// Show boards and votes on the terminal instead of the log alone
    #[arg(long)]
    watch: bool,
}

/// Where the settings come from.
#[derive(Clone, Debug, Args)]
pub(super) struct SettingsArgs {
    /// The settings file (TOML; see config/example.toml); of several, the later overrides the earlier
    #[arg(short, long, env = "CONCILIO_CONFIG", value_name = "FILE")]
    config: Vec<PathBuf>,
    /// Set one key, over the file and the environment; may be given several times
    #[arg(long = "set", value_parser = parse_setting, value_name = "KEY=VALUE")]
    set: Vec<Flag>,
}

fn parse_setting(text: &str) -> Result<Flag, String> {
    text.split_once('=')
        .map(|(key, value)| Flag { name: "--set", key: key.trim().to_owned(), text: value.trim().to_owned() })
        .ok_or_else(|| "expected KEY=VALUE, such as challenge.concurrency=2".to_owned())
}

impl SettingsArgs {
    /// The same with more keys set on the command line.
    pub(super) fn with(mut self, flags: impl IntoIterator<Item = Flag>) -> Self {
        self.set.extend(flags);
        self
    }

    /// Reads the settings from all layers.
    ///
    /// # Errors
    /// Wrong usage, with every mistake in one line.
    pub(super) fn load(self) -> Result<Loaded, Failure> {
        let sources = Sources::of_process(&self.config, self.set).map_err(Failure::usage)?;
        sources.load().map_err(Failure::usage)
    }
}

impl RunCommand {
    /// Plays on every enabled server until told to stop.
    ///
    /// `log` is what the command line wants logged; otherwise the settings say it.
    pub(super) async fn run(self, log: Option<String>) -> Result<(), Failure> {
        let settings = self.settings.load()?.settings;
        log::init(log.as_deref().unwrap_or(&settings.log.level));
        let journal = Journal::open(&settings.journal)?;
        let event_bus = EventBus::new();
        let shutdown = Shutdown::default();
        let runtime = runtime::build(&settings, journal, event_bus.clone(), &shutdown)?;
        idle_study::start(&settings.report, &settings.journal, event_bus.listen())?;
        let mut accounts = JoinSet::new();
        for (name, server) in servers(&settings) {
            let connection = connect(&name, &server, &shutdown)?;
            let (runtime, shutdown) = (runtime.clone(), shutdown.clone());
            accounts.spawn(async move { (name, session::play(connection, runtime, shutdown).await) });
        }
        if accounts.is_empty() {
            return Err(Failure::usage(
                "no server is enabled; add a [servers.lichess] table (see config/example.toml)",
            ));
        }
        let viewer = self.watch.then(|| Viewer::start(event_bus.listen()));
        tokio::spawn(heed_signals(
            shutdown.clone(),
            settings.shutdown.grace,
            settings.shutdown.games == ShutdownGames::Finish,
        ));

        let mut rejected = None;
        while let Some(ended) = accounts.join_next().await {
            match ended {
                Ok((name, AccountEnd::Rejected(reason))) => rejected = Some(format!("{name}: {reason}")),
                Ok((name, AccountEnd::Closed)) => tracing::info!(server = name, "closed"),
                Err(error) => tracing::error!(%error, "an account's task failed"),
            }
        }
        if let Some(viewer) = viewer {
            viewer.close().await;
        }
        rejected.map_or(Ok(()), |reason| Err(Failure::failed(reason)))
    }
}

/// The accounts to play with. Settings that name none mean Lichess, with the token from the environment.
pub(super) fn servers(settings: &Settings) -> BTreeMap<String, ServerSettings> {
    let mut servers = settings.servers.clone();
    if servers.is_empty() {
        servers.insert("lichess".to_owned(), ServerSettings::default());
    }
    servers.retain(|_, server| server.enabled);
    servers
}

/// Connects one account of the settings.
fn connect(name: &str, server: &ServerSettings, shutdown: &Shutdown) -> Result<Connection, Failure> {
    let stop = shutdown.now.child_token();
    match server.protocol {
        Protocol::Lichess => {
            let token = Token::load(server.token_file())?;
            let (lichess, events) = lichess::connect(server.lichess()?, token, stop)?;
            Ok(Connection { name: ServerName::new(name), server: Arc::new(lichess), events })
        }
        Protocol::Fics => {
            let settings = server.fics().map_err(Failure::usage)?;
            let password = settings.password().map_err(Failure::usage)?;
            let (fics, events) = fics::connect(settings, password, stop);
            Ok(Connection { name: ServerName::new(name), server: Arc::new(fics), events })
        }
    }
}

/// The first signal lets the running games end, the second stops at once; so does the end of the grace time.
async fn heed_signals(shutdown: Shutdown, grace: Duration, finish: bool) {
    let Some(mut signals) = StopSignals::listen() else { return };
    signals.next().await;
    if finish {
        tracing::info!(grace = grace.as_secs(), "finishing the running games; once more to stop at once");
        shutdown.drain.cancel();
        tokio::select! {
            () = signals.next() => (),
            () = sleep(grace) => tracing::warn!("the grace time is over"),
        }
    }
    shutdown.now.cancel();
}
