//! State and services shared by all games of one account.

use std::{
    sync::{Arc, PoisonError},
    time::{Duration, Instant},
};

use tokio_util::{sync::CancellationToken, task::TaskTracker};
use tracing::Level;

use super::{
    ControlError, Runtime,
    control::ControlAnswer,
    counting::AccountMetrics,
    event::{AccountEvent, BotEvent, GameEvent},
};
use crate::journal::GameKey;
use council::player::SharedLag;
use domain::{Action, ActionError, GameId, ServerName};
use platform::Server;
use util::caught;

/// State shared by all games of one account; every request of a game holds a reference.
#[derive(Clone)]
pub(super) struct AccountContext {
    pub name: ServerName,
    pub server: Arc<dyn Server>,
    /// The state shared by all accounts, with the rules of this one.
    pub runtime: Runtime,
    pub lag: SharedLag,
    pub metrics: Arc<AccountMetrics>,
    /// Requests on their way; a stop waits for them.
    pub requests: TaskTracker,
    /// Cancelled at a stop: then nothing is tried again.
    pub stopping: CancellationToken,
}

impl AccountContext {
    pub(super) fn key(&self, game: &GameId) -> GameKey {
        GameKey::new(&self.name, game)
    }

    pub(super) fn tell(&self, event: AccountEvent) {
        self.announce(BotEvent::Account(self.name.clone(), event));
    }

    pub(super) fn tell_of_game(&self, game: &GameId, event: GameEvent) {
        self.announce(BotEvent::Game(self.key(game), event));
    }

    pub(super) fn fault(&self, game: Option<&GameId>, what: String) {
        match game {
            Some(game) => self.tell_of_game(game, GameEvent::Fault(what)),
            None => self.tell(AccountEvent::Fault(what)),
        }
    }

    /// Sends watchers an event too frequent for the log.
    pub(super) fn show(&self, game: &GameId, event: impl FnOnce() -> GameEvent) {
        self.runtime.event_bus.tell_of_move(|| BotEvent::Game(self.key(game), event()));
    }

    /// The only way for an event to reach journal, log, metrics and watchers, once each.
    fn announce(&self, event: BotEvent) {
        self.write_down(&event);
        log(&event);
        self.metrics.count(&event);
        self.runtime.event_bus.tell(event);
    }

    fn write_down(&self, event: &BotEvent) {
        let (journal, server) = (&self.runtime.journal, &self.name);
        match event {
            BotEvent::Account(_, AccountEvent::Connected { account, .. }) => journal.account(server, account),
            BotEvent::Account(_, AccountEvent::Challenge { challenge, outcome, why }) => {
                journal.challenge_decided(server, challenge, *outcome, why);
            }
            BotEvent::Account(_, AccountEvent::Disconnected { reason: what } | AccountEvent::Fault(what)) => {
                journal.fault(server, None, what);
            }
            BotEvent::Game(game, GameEvent::Started { info, .. }) => journal.game_started(&game.server, &**info),
            BotEvent::Game(game, GameEvent::Chat { line, .. }) => journal.chat(game, line),
            BotEvent::Game(game, GameEvent::Fault(what)) => journal.fault(server, Some(&game.id), what),
            _ => (),
        }
    }

    /// Sends a request in a task of its own; the server's events show its effect.
    pub(super) fn perform(self: &Arc<Self>, game: &GameId, action: Action) {
        let (context, game) = (Arc::clone(self), game.clone());
        self.requests.spawn(async move {
            let what = action.to_string();
            if let Err(error) = defended(context.server.perform(action)).await {
                context.fault(Some(&game), format!("{what}: {error}"));
            }
        });
    }

    /// Aborts a game, or resigns it if that is too late. A game unknown to the server needs neither.
    pub(super) async fn leave(&self, game: &GameId) -> Result<(), ActionError> {
        if self.server.perform(Action::Abort(game.clone())).await.is_ok() {
            return Ok(());
        }
        match self.server.perform(Action::Resign(game.clone())).await {
            Ok(_) | Err(ActionError::NotFound(_)) => Ok(()),
            Err(error) => Err(error),
        }
    }

    pub(super) fn answer_operator(&self, answer: ControlAnswer, said: Result<String, ControlError>) {
        if let Ok(done) = &said {
            self.tell(AccountEvent::Commanded { done: done.clone() });
        }
        let _ = answer.send(said);
    }

    /// Sends a move and measures the time to its acknowledgement.
    pub(super) async fn send_move(&self, game: &GameId, action: Action) -> Result<(), ActionError> {
        let sent = Instant::now();
        self.server.perform(action).await?;
        let lag = sent.elapsed();
        self.lag.lock().unwrap_or_else(PoisonError::into_inner).record(lag);
        self.tell_of_game(game, GameEvent::Sent { lag });
        Ok(())
    }

    pub(super) fn typical_lag(&self) -> Duration {
        self.lag.lock().unwrap_or_else(PoisonError::into_inner).typical()
    }
}

/// Returns the outcome of a request; a panic counts as a missing answer.
pub(super) async fn defended<T>(request: impl Future<Output = Result<T, ActionError>>) -> Result<T, ActionError> {
    let defect = || Err(ActionError::Unavailable("the request panicked, a defect of this program".to_owned()));
    caught("request", request).await.unwrap_or_else(defect)
}

/// Writes an event's sentence into the log. The other fields are for machines: a log in plain text leaves them out.
fn log(event: &BotEvent) {
    let most = if tracing::enabled!(target: "concilio_bot::event", Level::DEBUG) { Level::DEBUG } else { Level::INFO };
    let Some(sentence) = event.sentence_up_to(most) else { return };
    let (account, game) = (event.server().as_str(), event.game().map(GameId::as_str));
    macro_rules! write {
        ($level:expr) => {
            tracing::event!(target: "concilio_bot::event", $level, event = sentence.kind, account, game, "{}", sentence.text)
        };
    }
    match sentence.level {
        Level::ERROR => write!(Level::ERROR),
        Level::WARN => write!(Level::WARN),
        Level::INFO => write!(Level::INFO),
        _ => write!(Level::DEBUG),
    }
}
