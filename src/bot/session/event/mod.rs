//! Events of the accounts, for the log, the metrics, the terminal view and the page. Watching never
//! slows play: a watcher that falls behind misses events, nothing more.
//!
//! [`BotEvent`] is the complete list; `sentence` puts each event into one plain line.

mod sentence;

use std::{path::PathBuf, sync::Arc, time::Duration};

use jiff::Timestamp;
use serde::Serialize;
use tokio::sync::broadcast;

use crate::{
    journal::{ChallengeOutcome, GameKey},
    policy::tournament::TournamentNews,
};
use council::{clock::Budget, electors::ElectorSpec};
use domain::{
    Account, Challenge, ChallengeId, ChallengeRequest, ChatLine, Clocks, Color, Decision, DeclineReason, GameId,
    GameInfo, GameStatus, Line, Player, Proposal, ServerName,
};

pub(super) use sentence::terms_in_words;
pub use sentence::{Sentence, how_it_ended};

#[derive(Clone, Debug)]
pub enum BotEvent {
    Account(ServerName, AccountEvent),
    Game(GameKey, GameEvent),
}

impl BotEvent {
    pub const fn server(&self) -> &ServerName {
        match self {
            Self::Account(server, _) => server,
            Self::Game(game, _) => &game.server,
        }
    }

    pub const fn game(&self) -> Option<&GameId> {
        match self {
            Self::Account(..) => None,
            Self::Game(game, _) => Some(&game.id),
        }
    }
}

#[derive(Clone, Debug)]
pub enum AccountEvent {
    /// The connection, and the time without one; `None` for the first connection.
    Connected { account: Account, away: Option<Duration> },
    /// The connection was lost; it is being mended.
    Disconnected { reason: String },
    /// The server refuses the account; nothing more happens on this account.
    Rejected { reason: String },
    /// The account was paused or resumed, or is about to stop.
    Mode(AccountMode),
    /// A decision about a challenge to the bot.
    Challenge { challenge: Box<Challenge>, outcome: ChallengeOutcome, why: String },
    /// A challenge by the bot, with its id or the reason for its failure.
    Challenged { request: ChallengeRequest, outcome: Result<ChallengeId, String> },
    /// A challenge by the bot was declined, by the opponent if known.
    Declined { challenge: ChallengeId, opponent: Option<String>, reason: DeclineReason },
    /// News of a tournament, by its full name.
    Tournament { name: String, what: TournamentNews },
    /// A limit of the server's is reached, as far as it concerns new games; `what` is impossible until then.
    Limited { what: String, until: Timestamp },
    /// A message to the bot outside a game; on FICS any name may be an unregistered one.
    Tell { from: Player, text: String },
    /// The operator's command was carried out.
    Commanded { done: String },
    /// A handled fault.
    Fault(String),
    /// The account has stopped on request.
    Closed,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum AccountMode {
    #[default]
    Playing,
    /// No challenges until resumed; running games go on.
    Paused,
    /// Running games are finished, then the account ends.
    Draining,
}

#[derive(Clone, Debug)]
pub enum GameEvent {
    /// The start, or the resumption, of a game after `ply` moves of both sides.
    Started { info: Box<GameInfo>, electors: Arc<[ElectorSpec]>, ply: usize },
    /// The position on the board; both clocks are from the same message.
    Position { line: Arc<Line>, clocks: Option<Clocks> },
    /// An elector's proposal; the score is from the bot's side.
    Proposal(Proposal),
    /// The decision in the position `line`. A move from the journal has no budget; `lag` is the time reserved for the
    /// connection. `left_book` is true for the bot's first move out of book after a book move.
    Decided { line: Arc<Line>, decision: Arc<Decision>, budget: Option<Budget>, lag: Duration, left_book: bool },
    /// A move was sent, and acknowledged after this time.
    Sent { lag: Duration },
    /// A chat message; `ours` is true for the bot's own.
    Chat { line: ChatLine, ours: bool },
    /// The opponent left the game or came back; the win may be claimed after this time, if the server reports it.
    OpponentGone { gone: bool, claim_after: Option<Duration> },
    /// A handled fault.
    Fault(String),
    /// The end, after `plies` moves of both sides, as far as it is known, with the PGN file.
    Over {
        info: Option<Box<GameInfo>>,
        status: GameStatus,
        winner: Option<Color>,
        plies: usize,
        pgn: Option<PathBuf>,
        /// The change of the bot's rating, if it is known already.
        rating_change: Option<i32>,
    },
    /// The server reported the change of the bot's rating after the end.
    Rated { change: i32 },
}

/// Returns true if a decision came later than the clock allowed. In the opponent's time there is no budget.
pub(crate) fn is_late(decision: &Decision, budget: Budget) -> bool {
    !budget.response.is_zero() && decision.elapsed > budget.hard
}

/// Capacity of the channel; a slower watcher misses events.
const BACKLOG: usize = 4096;

const BACKLOG_WITHOUT_MOVES: usize = 256;

/// Sends events to listeners. Cheap to clone.
///
/// A daemon always has listeners to connections and games. Events of moves are many and cost each move some microseconds,
/// so there are two channels.
#[derive(Clone, Debug)]
pub struct EventBus {
    all: broadcast::Sender<Arc<BotEvent>>,
    without_moves: broadcast::Sender<Arc<BotEvent>>,
}

impl EventBus {
    pub fn new() -> Self {
        Self { all: broadcast::Sender::new(BACKLOG), without_moves: broadcast::Sender::new(BACKLOG_WITHOUT_MOVES) }
    }

    pub fn listen(&self) -> broadcast::Receiver<Arc<BotEvent>> {
        self.all.subscribe()
    }

    /// Listens from now on to everything but positions, proposals, decisions and their sending.
    pub fn listen_without_moves(&self) -> broadcast::Receiver<Arc<BotEvent>> {
        self.without_moves.subscribe()
    }

    /// Sends an event of a move; `event` is called only if there is a listener.
    pub fn tell_of_move(&self, event: impl FnOnce() -> BotEvent) {
        if self.all.receiver_count() > 0 {
            let _ = self.all.send(Arc::new(event()));
        }
    }

    pub fn tell(&self, event: BotEvent) {
        let comes_with_moves = matches!(
            &event,
            BotEvent::Game(
                _,
                GameEvent::Position { .. }
                    | GameEvent::Proposal(_)
                    | GameEvent::Decided { .. }
                    | GameEvent::Sent { .. }
            )
        );
        if comes_with_moves {
            return self.tell_of_move(|| event);
        }
        let event = Arc::new(event);
        // An error is a lack of listeners.
        let _ = self.without_moves.send(Arc::clone(&event));
        let _ = self.all.send(event);
    }
}

impl Default for EventBus {
    fn default() -> Self {
        Self::new()
    }
}
