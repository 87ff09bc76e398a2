use std::{collections::BTreeMap, process::ExitCode, sync::Arc, time::Duration};

use clap::Args;
use tokio::{
    runtime::Handle,
    sync::{oneshot, watch},
    task::JoinSet,
    time::sleep,
};
use tokio_util::sync::CancellationToken;

use super::{
    Failure, idle_study, log, memory, page, reload, runtime,
    settings_args::SettingsArgs,
    signals::{Signal, Signals},
    view::Viewer,
};
use crate::settings::{Flag, LogFormat, LogSettings, Protocol, ServerSettings, Settings};
use bot::{
    journal::Journal,
    session::{self, AccountEnd, Connection, Control, ControlCommand, EventBus, ShutdownGames},
    webhook,
};
use council::electors::kill_engines;
use domain::ServerName;
use platform::{
    fics,
    lichess::{self, Token},
};
use util::Shutdown;

/// The exit code of a daemon whose accounts the servers have refused for good, `EX_NOPERM` of
/// `sysexits.h`. A service manager can tell it from a failure after which a restart may help.
const REFUSED: u8 = 77;

/// Returns the exit code of a daemon with these ends of its accounts; `None` if one of them failed.
/// An ordered end is a success, even if another account was refused.
fn exit_code(ends: &[AccountEnd]) -> Option<u8> {
    let has_failed = ends.iter().any(|end| matches!(end, AccountEnd::Lost(_)));
    let code = if ends.contains(&AccountEnd::Closed) { 0 } else { REFUSED };
    (!has_failed).then_some(code)
}

#[derive(Debug, Args)]
#[command(after_help = "Examples:
  CONCILIO_LICHESS_TOKEN=lip_... concilio run
  concilio run --config bot.toml --set challenge.concurrency=2

Ctrl-C or SIGTERM finishes the running games and takes no new ones; twice stops at once. SIGHUP reads the settings again; a
terminal that closes stops nothing.")]
pub(super) struct RunCommand {
    #[command(flatten)]
    settings: SettingsArgs,
    /// Serve the page in the browser here, such as 127.0.0.1:8080
    #[arg(long, value_name = "ADDRESS")]
    web: Option<String>,
    /// Show boards and votes on the terminal instead of the log alone
    #[arg(long)]
    watch: bool,
}

impl RunCommand {
    /// Plays on every enabled server until told to stop, or until every server has rejected its account.
    ///
    /// `level` and `format` are the command line's for the log, over those of the settings. The page, the cluster and the webhook run
    /// in `background`, since no clock waits for them.
    pub(super) async fn run(
        self,
        level: Option<String>,
        format: Option<LogFormat>,
        background: Handle,
    ) -> Result<ExitCode, Failure> {
        let page = self.web.map(|text| Flag { name: "--web", key: "web.address".to_owned(), text });
        let args = self.settings.with(page);
        let loaded = args.clone().load()?;
        let settings = loaded.settings.clone();
        log::init(&LogSettings {
            level: level.unwrap_or_else(|| settings.log.level.clone()),
            format: format.unwrap_or(settings.log.format),
            ..settings.log.clone()
        })?;
        let shutdown = Shutdown::default();
        let (has_started, started) = oneshot::channel();
        let finish = settings.shutdown.games == ShutdownGames::Finish;
        // The start of the engines blocks this thread; signals are heeded meanwhile.
        let signals = {
            let _background = background.enter();
            Signals::listen()
        };
        if let Some(signals) = signals {
            background.spawn(heed_signals(signals, started, shutdown.clone(), settings.shutdown.grace, finish));
        }
        let journal = Journal::open(&settings.journal)?;
        background.spawn(write_missing_pgn(journal.clone()));
        let event_bus = EventBus::new();
        let lists = CancellationToken::new();
        let runtime = {
            let _background = background.enter();
            runtime::build(&settings, journal, event_bus.clone(), &shutdown, lists.clone())?
        };
        let control = runtime.control.clone();
        let (page_player, player) = watch::channel(settings.player.clone());
        control.reloads_by(reload::of(args, loaded, control.clone(), lists, page_player));
        let socket = settings.control_socket();
        let serving = CancellationToken::new();
        let (health, webhook) = {
            let _background = background.enter();
            idle_study::start(&settings.report, &settings.journal, &event_bus)?;
            let health = page::health(&runtime, servers(&settings).into_keys().map(ServerName::from));
            (health, webhook::start(&settings.webhook, &event_bus)?)
        };
        let page = {
            let (settings, runtime, serving) = (settings.web.clone(), runtime.clone(), serving.clone());
            let serving =
                async move { page::serve(&settings, &runtime, player, Some(&socket), health, None, serving).await };
            background.spawn(serving).await??
        };
        if let Some(url) = page.url() {
            tracing::info!("the page is at {url}");
        }
        let mut accounts = JoinSet::new();
        for (name, server) in servers(&settings) {
            let connection = connect(&name, &server, &page_without_account(&settings))?;
            accounts.spawn(session::play(connection, runtime.clone(), shutdown.clone()));
        }
        if accounts.is_empty() {
            return Err(Failure::usage(format_args!(
                "no server is enabled; add a [servers.lichess] table (see config/example.toml){}",
                page_without_account(&settings)
            )));
        }
        background.spawn(memory::give_back_after_start());
        let viewer = self.watch.then(|| Viewer::start(event_bus.listen()));
        // Without signals there is no receiver.
        let _ = has_started.send(control);

        let (mut failed, mut ends) = (false, Vec::new());
        while let Some(ended) = accounts.join_next().await {
            match ended {
                Ok(end) => ends.push(end),
                Err(error) => {
                    failed = true;
                    tracing::error!(%error, "the task of an account failed");
                }
            }
        }
        if let Some(viewer) = viewer {
            viewer.close().await;
        }
        webhook.close().await;
        serving.cancel();
        page.closed().await;
        if let Err(error) = runtime.journal.close().await {
            failed = true;
            tracing::error!(%error, "journal did not close cleanly; the last entries may be missing");
        }
        exit_code(&ends).filter(|_| !failed).map(ExitCode::from).ok_or_else(Failure::logged)
    }
}

/// Writes PGN files that are missing after a kill, while play goes on.
async fn write_missing_pgn(journal: Journal) {
    if let Err(error) = journal.write_missing_pgn().await {
        tracing::warn!(%error, "games that ended before this start may lack their PGN file");
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

/// The end of an error for operators with a page and without an account: how to show the page. Empty if no page is wanted.
fn page_without_account(settings: &Settings) -> String {
    let journal = settings.journal.path.display();
    let wanted = !settings.web.address.is_empty();
    let hint = || format!("; without an account, concilio web --journal {journal} shows the games of the journal");
    wanted.then(hint).unwrap_or_default()
}

/// Connects one account of the settings. An error about its token ends with `hint`.
fn connect(name: &str, server: &ServerSettings, hint: &str) -> Result<Connection, Failure> {
    let stop = CancellationToken::new();
    match server.protocol {
        Protocol::Lichess => {
            let token = Token::load(server.token_file());
            let token = token.map_err(|error| Failure::usage(format_args!("{error}{hint}")))?;
            let (lichess, events) = lichess::connect(server.lichess()?, token, stop.clone())?;
            Ok(Connection { name: ServerName::new(name), server: Arc::new(lichess), events, stop })
        }
        Protocol::Fics => {
            let settings = server.fics().map_err(Failure::usage)?;
            let password = settings.password().map_err(Failure::usage)?;
            let (fics, events) = fics::connect(settings, password, stop.clone());
            Ok(Connection { name: ServerName::new(name), server: Arc::new(fics), events, stop })
        }
    }
}

/// The first signal to stop lets the running games end, the second stops at once; so does the end of the grace time.
async fn heed_signals(
    mut signals: Signals,
    started: oneshot::Receiver<Control>,
    shutdown: Shutdown,
    grace: Duration,
    finish: bool,
) {
    let Some(control) = when_started(&mut signals, started).await else { return };
    told_to_stop(&mut signals, &control).await;
    if finish {
        let patience = grace.as_secs();
        tracing::info!(
            "stopping: finishing the running games, for {patience} s at most; send the signal again to stop at once"
        );
        shutdown.drain.cancel();
        tokio::select! {
            () = told_to_stop(&mut signals, &control) => (),
            () = sleep(grace) => tracing::warn!("the time for running games is over"),
        }
    }
    shutdown.now.cancel();
}

/// Waits until the daemon has `started`; `None` if that fails. A daemon stopped before has nothing
/// to end, and a reload is done then.
async fn when_started(signals: &mut Signals, mut started: oneshot::Receiver<Control>) -> Option<Control> {
    let mut again = false;
    loop {
        tokio::select! {
            control = &mut started => {
                let control = control.ok()?;
                if again {
                    read_settings_again(&control).await;
                }
                return Some(control);
            }
            signal = signals.next() => match signal {
                Signal::Reload => again = true,
                Signal::Stop => {
                    kill_engines();
                    std::process::exit(0);
                }
            },
        }
    }
}

/// Waits for a signal to stop; those to read the settings again are heeded meanwhile.
async fn told_to_stop(signals: &mut Signals, control: &Control) {
    while signals.next().await == Signal::Reload {
        read_settings_again(control).await;
    }
}

async fn read_settings_again(control: &Control) {
    match control.perform(ControlCommand::Reload {}).await {
        Ok(done) => tracing::info!("SIGHUP: {done}"),
        Err(error) => tracing::error!("SIGHUP: cannot reload the settings: {error}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ordered_end_succeeds_after_a_refusal() {
        let [closed, rejected] = [AccountEnd::Closed, AccountEnd::Rejected("another login".to_owned())];
        let lost = AccountEnd::Lost("its connection is gone".to_owned());
        assert_eq!(exit_code(&[rejected.clone(), closed.clone()]), Some(0));
        assert_eq!(exit_code(&[rejected.clone(), rejected.clone()]), Some(REFUSED), "no order to end");
        assert_eq!(exit_code(&[closed, rejected, lost]), None);
    }
}
