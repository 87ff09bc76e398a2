//! What happens on our accounts, for whoever watches: the log, the metrics, the terminal view, the page in the browser.
//! Watching never slows play: a watcher that falls behind misses events, nothing more.
//!
//! [`BotEvent`] is the one list of what is worth knowing; `sentence` puts each into one plain line.

mod bus;
mod sentence;

use std::{path::PathBuf, sync::Arc, time::Duration};

use jiff::Timestamp;

use crate::{
    journal::{ChallengeOutcome, GameKey},
    policy::tournament::TournamentNews,
};
use chess::{
    Account, Challenge, ChallengeId, ChallengeRequest, ChatLine, Clocks, Color, Decision, DeclineReason, GameId,
    GameInfo, GameStatus, Line, Player, Proposal, ServerName,
};
use council::{clock::Budget, pool::ElectorSpec};

pub use bus::EventBus;
pub(super) use sentence::terms_in_words;
pub use sentence::{Sentence, how_it_ended};

/// Something that happened, on an account or in one of its games.
#[derive(Clone, Debug)]
pub enum BotEvent {
    /// On the account of this name in the settings.
    Account(ServerName, AccountEvent),
    /// In this game.
    Game(GameKey, GameEvent),
}

impl BotEvent {
    /// The account it happened on.
    pub const fn server(&self) -> &ServerName {
        match self {
            Self::Account(server, _) => server,
            Self::Game(game, _) => &game.server,
        }
    }

    /// The game it happened in, if it happened in one.
    pub const fn game(&self) -> Option<&GameId> {
        match self {
            Self::Account(..) => None,
            Self::Game(game, _) => Some(&game.id),
        }
    }
}

/// What happens on an account outside its games.
#[derive(Clone, Debug)]
pub enum AccountEvent {
    /// The server knows us.
    Connected {
        /// Who we are there.
        account: Account,
        /// How long we were away; `None` for the first connection.
        away: Option<Duration>,
    },
    /// The connection was lost; it is being mended.
    Disconnected {
        /// Why, in one line.
        reason: String,
    },
    /// The server will not have us; nothing more happens on this account.
    Rejected {
        /// Why, and what is to be done about it.
        reason: String,
    },
    /// Whether new games are begun has changed.
    Mode(AccountMode),
    /// A challenge to us was decided upon.
    Challenge {
        /// What is offered, and by whom.
        challenge: Box<Challenge>,
        /// What becomes of it.
        outcome: ChallengeOutcome,
        /// Why, in words.
        why: String,
    },
    /// We asked for a game.
    Challenged {
        /// Whom, and on what terms.
        request: ChallengeRequest,
        /// The challenge that stands now, or why there is none.
        outcome: Result<ChallengeId, String>,
    },
    /// A challenge of ours was declined.
    Declined {
        /// Which one.
        challenge: ChallengeId,
        /// By whom, if that is known.
        opponent: Option<String>,
        /// The reason they gave.
        reason: DeclineReason,
    },
    /// Something came of a tournament.
    Tournament {
        /// Its name to people.
        name: String,
        /// What came of it.
        what: TournamentNews,
    },
    /// A limit of the server's is reached, as far as it concerns new games.
    Limited {
        /// What is not possible now.
        what: String,
        /// Until when.
        until: Timestamp,
    },
    /// Somebody spoke to us outside a game.
    Tell {
        /// The speaker; a guest may bear anybody's name.
        from: Player,
        /// What was said.
        text: String,
    },
    /// The operator's command was carried out.
    Commanded {
        /// What was done, in a sentence.
        done: String,
    },
    /// Something went wrong and is being coped with.
    Fault(String),
    /// Nothing more happens on this account: we were told to stop.
    Closed,
}

/// Whether an account begins new games.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum AccountMode {
    /// It plays.
    #[default]
    Playing,
    /// It takes and makes no challenges until told to; running games go on.
    Paused,
    /// It finishes what runs and ends.
    Draining,
}

/// What happens in a game.
#[derive(Clone, Debug)]
pub enum GameEvent {
    /// It runs, and we play it.
    Started {
        /// Players, terms, colours.
        info: Box<GameInfo>,
        /// Who proposes, in the order of the roster.
        electors: Arc<[ElectorSpec]>,
        /// How many moves were made already: more than one or two where a game is resumed.
        ply: usize,
    },
    /// A position stands on the board.
    Position {
        /// The position, as its line.
        line: Arc<Line>,
        /// Both clocks as the server told them with it.
        clocks: Option<Clocks>,
    },
    /// An elector proposes; the score is from our side.
    Proposal(Proposal),
    /// A move was elected.
    Decided {
        /// The position it was elected in.
        line: Arc<Line>,
        /// The move, and every vote with its weight.
        decision: Arc<Decision>,
        /// The time it was given; `None` where the journal remembered the move.
        budget: Option<Budget>,
        /// What was held back for the way to the server.
        lag: Duration,
        /// Whether it is the first of our moves that no book knew, after one that a book did.
        left_book: bool,
    },
    /// The server has taken a move of ours.
    Sent {
        /// How long that took.
        lag: Duration,
    },
    /// Somebody spoke.
    Chat {
        /// What was said, by whom, where.
        line: ChatLine,
        /// Whether it was us.
        ours: bool,
    },
    /// The opponent left the game or came back.
    OpponentGone {
        /// `false` if they are back.
        gone: bool,
        /// How long from now the win may be claimed, if the server says.
        claim_after: Option<Duration>,
    },
    /// Something went wrong and is being coped with.
    Fault(String),
    /// The game is over.
    Over {
        /// The game; `None` where we never saw it.
        info: Option<Box<GameInfo>>,
        /// How it ended.
        status: GameStatus,
        /// Who won.
        winner: Option<Color>,
        /// How many moves both sides made together.
        plies: usize,
        /// The file it was written to.
        pgn: Option<PathBuf>,
        /// By how many points our rating went up or down, where that is known already.
        rating_change: Option<i32>,
    },
    /// The server told, after the end was told here, what the game did to our rating.
    Rated {
        /// By how many points it went up or down.
        change: i32,
    },
}

/// Whether a decision came later than the clock allowed. One that was found in the opponent's time had no budget.
pub(crate) fn is_late(decision: &Decision, budget: Budget) -> bool {
    !budget.response.is_zero() && decision.elapsed > budget.hard
}
