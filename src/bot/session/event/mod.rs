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
    Connected {
        account: Account,
        /// The time without a connection; `None` for the first one.
        away: Option<Duration>,
    },
    /// The connection was lost; it is being mended.
    Disconnected {
        reason: String,
    },
    Rejected {
        reason: String,
    },
    Mode(AccountMode),
    Challenge {
        challenge: Box<Challenge>,
        outcome: ChallengeOutcome,
        why: String,
    },
    Challenged {
        request: ChallengeRequest,
        /// The pending challenge, or the reason for its failure.
        outcome: Result<ChallengeId, String>,
    },
    Declined {
        challenge: ChallengeId,
        /// The player who declined, if known.
        opponent: Option<String>,
        reason: DeclineReason,
    },
    Tournament {
        name: String,
        what: TournamentNews,
    },
    /// A limit of the server's is reached, as far as it concerns new games.
    Limited {
        what: String,
        until: Timestamp,
    },
    /// A message to the bot outside a game.
    Tell {
        /// The speaker; on FICS any name may be an unregistered one.
        from: Player,
        text: String,
    },
    Commanded {
        done: String,
    },
    Fault(String),
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
    Started {
        info: Box<GameInfo>,
        electors: Arc<[ElectorSpec]>,
        /// The number of moves made already: more than one or two in a resumed game.
        ply: usize,
    },
    Position {
        line: Arc<Line>,
        /// Both clocks from the same message.
        clocks: Option<Clocks>,
    },
    /// An elector's proposal; the score is from the bot's side.
    Proposal(Proposal),
    Decided {
        line: Arc<Line>,
        decision: Arc<Decision>,
        /// Its time; `None` for a move from the journal.
        budget: Option<Budget>,
        /// The time reserved for the connection.
        lag: Duration,
        /// True for the bot's first move out of book after a book move.
        left_book: bool,
    },
    Sent {
        lag: Duration,
    },
    Chat {
        line: ChatLine,
        /// True for the bot's own message.
        ours: bool,
    },
    OpponentGone {
        gone: bool,
        /// The time until the win may be claimed, if the server reports it.
        claim_after: Option<Duration>,
    },
    Fault(String),
    Over {
        /// The game; `None` without a known state.
        info: Option<Box<GameInfo>>,
        status: GameStatus,
        winner: Option<Color>,
        /// The number of moves of both sides.
        plies: usize,
        pgn: Option<PathBuf>,
        /// The change of the bot's rating, if it is known already.
        rating_change: Option<i32>,
    },
    /// The server reported the change of the bot's rating after the end.
    Rated {
        change: i32,
    },
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
