//! State and services shared by all games of one account.

use std::{
    ops::Deref,
    sync::{Arc, PoisonError},
    time::{Duration, Instant},
};

use tokio_util::{sync::CancellationToken, task::TaskTracker};
use tracing::Level;

use super::{
    ChoosePlayer, ControlError,
    background::BackgroundTurns,
    control::ControlAnswer,
    counting::count,
    event::{AccountEvent, BotEvent, EventBus, GameEvent},
};
use crate::{
    journal::{GameKey, Journal},
    policy::ChatSettings,
};
use council::{electors::Pool, player::SharedLag};
use domain::{Action, ActionError, GameId, ServerName, Variant};
use platform::Server;
use util::caught;

/// State shared by all games of one account. Cheap to clone: every request of a game holds a clone.
#[derive(Clone)]
pub(super) struct AccountContext(Arc<AccountParts>);

#[derive(Clone)]
pub(super) struct AccountParts {
    pub name: ServerName,
    pub server: Arc<dyn Server>,
    pub pool: Pool,
    pub lag: SharedLag,
    /// The turns of correspondence games, of all accounts together.
    pub background: BackgroundTurns,
    pub event_bus: EventBus,
    pub journal: Journal,
    pub player: ChoosePlayer,
    pub chat: ChatSettings,
    /// Variants of the account, for chat answers.
    pub variants: Vec<Variant>,
    /// Requests on their way, to be waited for when we stop.
    pub requests: TaskTracker,
    /// Cancelled when we stop: nothing is tried again then.
    pub stopping: CancellationToken,
}

impl Deref for AccountContext {
    type Target = AccountParts;

    fn deref(&self) -> &AccountParts {
        &self.0
    }
}

impl AccountContext {
    pub(super) fn new(parts: AccountParts) -> Self {
        Self(Arc::new(parts))
    }

    /// Changes the parts for what begins from now on.
    pub(super) fn change(&mut self) -> &mut AccountParts {
        Arc::make_mut(&mut self.0)
    }

    /// The journal's name for a game.
    pub(super) fn key(&self, game: &GameId) -> GameKey {
        GameKey::new(&self.name, game)
    }

    /// Tells everybody what happened on the account.
    pub(super) fn tell(&self, event: AccountEvent) {
        self.announce(BotEvent::Account(self.name.clone(), event));
    }

    /// Tells everybody what happened in a game.
    pub(super) fn tell_of_game(&self, game: &GameId, event: GameEvent) {
        self.announce(BotEvent::Game(self.key(game), event));
    }

    /// Tells everybody that something went wrong and is being coped with.
    pub(super) fn fault(&self, game: Option<&GameId>, what: String) {
        match game {
            Some(game) => self.tell_of_game(game, GameEvent::Fault(what)),
            None => self.tell(AccountEvent::Fault(what)),
        }
    }

    /// Sends watchers an event that is too frequent for the log.
    pub(super) fn show(&self, game: &GameId, event: impl FnOnce() -> GameEvent) {
        self.event_bus.tell_of_move(|| BotEvent::Game(self.key(game), event()));
    }

    /// The only way for an event to reach journal, log, metrics and watchers, once each.
    fn announce(&self, event: BotEvent) {
        self.write_down(&event);
        log(&event);
        count(&event);
        self.event_bus.tell(event);
    }

    fn write_down(&self, event: &BotEvent) {
        let (journal, server) = (&self.journal, &self.name);
        match event {
            BotEvent::Account(_, AccountEvent::Connected { account, .. }) => journal.account(server, account),
            BotEvent::Account(_, AccountEvent::Challenge { challenge, outcome, why }) => {
                journal.challenge_decided(server, challenge, *outcome, why);
            }
            BotEvent::Account(_, AccountEvent::Disconnected { reason: what } | AccountEvent::Fault(what)) => {
                journal.fault(server, None, what);
            }
            BotEvent::Game(game, GameEvent::Started { info, .. }) => {
                journal.game_started(&game.server, &**info);
            }
            BotEvent::Game(game, GameEvent::Chat { line, .. }) => journal.chat(game, line),
            BotEvent::Game(game, GameEvent::Fault(what)) => journal.fault(server, Some(&game.id), what),
            _ => (),
        }
    }

    /// Asks the server for something whose effect its events will tell.
    pub(super) fn perform(&self, game: &GameId, action: Action) {
        let (context, game) = (self.clone(), game.clone());
        self.requests.spawn(async move {
            let what = action.to_string();
            if let Err(error) = defended(context.server.perform(action)).await {
                context.fault(Some(&game), format!("{what}: {error}"));
            }
        });
    }

    /// Aborts a game, or gives it up where it is too late for that; a game that the server knows no more is left already.
    pub(super) async fn leave(&self, game: &GameId) -> Result<(), ActionError> {
        if self.server.perform(Action::Abort(game.clone())).await.is_ok() {
            return Ok(());
        }
        match self.server.perform(Action::Resign(game.clone())).await {
            Ok(_) | Err(ActionError::NotFound(_)) => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// Answers the operator, and writes down what was done.
    pub(super) fn answer_operator(&self, answer: ControlAnswer, said: Result<String, ControlError>) {
        if let Ok(done) = &said {
            self.tell(AccountEvent::Commanded { done: done.clone() });
        }
        let _ = answer.send(said);
    }

    /// Sends a move and measures how long the server takes to acknowledge one.
    pub(super) async fn send_move(&self, game: &GameId, action: Action) -> Result<(), ActionError> {
        let sent = Instant::now();
        self.server.perform(action).await?;
        let lag = sent.elapsed();
        self.lag.lock().unwrap_or_else(PoisonError::into_inner).record(lag);
        self.tell_of_game(game, GameEvent::Sent { lag });
        Ok(())
    }

    /// Returns the time reserved for network lag.
    pub(super) fn typical_lag(&self) -> Duration {
        self.lag.lock().unwrap_or_else(PoisonError::into_inner).typical()
    }
}

/// The outcome of a request; one that panics has got no answer.
pub(super) async fn defended<T>(request: impl Future<Output = Result<T, ActionError>>) -> Result<T, ActionError> {
    let defect = || Err(ActionError::Unavailable("the request panicked, a defect of this program".to_owned()));
    caught("request", request).await.unwrap_or_else(defect)
}

/// Writes an event's sentence into the log. The fields beside it are for machines: a log in plain text leaves them out.
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
