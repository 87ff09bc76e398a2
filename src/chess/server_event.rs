//! What passes between a chess server and the session: events come in, actions go out.

use std::{fmt, time::Duration};

use serde::{Deserialize, Serialize};

use super::{
    Account, Challenge, ChallengeId, ChallengeRequest, Color, DeclineReason, GameId, GameInfo, GameState, GameStatus,
    Player, Tournament, TournamentEntry, UciMove,
};

/// What a server tells us.
#[derive(Clone, Debug)]
pub enum ServerEvent {
    /// We are connected and the server knows us. Sent again after every reconnection of the event stream.
    Connected(Account),
    /// The event stream was lost; the adapter is already reconnecting.
    Disconnected {
        /// Why, in one line for the log.
        reason: String,
    },
    /// The server will not have us (a wrong token, say); the adapter has given up, and no event follows.
    Rejected {
        /// Why, and what is to be done about it, for whoever runs the daemon.
        reason: String,
    },
    /// A challenge stands, ours or another's; may come more than once for the same one.
    Challenge(Challenge),
    /// A challenge was withdrawn by its maker, or went out of date.
    ChallengeCancelled(ChallengeId),
    /// A challenge of ours was declined.
    ChallengeDeclined {
        /// The challenge as the server named it when we made it.
        id: ChallengeId,
        /// Who declined, if the server says.
        by: Option<Player>,
        /// The reason they gave.
        reason: DeclineReason,
    },
    /// A game runs in which we play; may come more than once. A [`ServerEvent::Game`] follows as soon as its stream is open.
    GameStarted(GameId),
    /// All there is to know of a game: the first event after every (re)connection of its stream.
    Game(Box<GameInfo>, GameState),
    /// The state of a game changed: a move, an offer, more time, a takeback, the end.
    GameState(GameId, GameState),
    /// A game is over, by the event stream. Comes also where the game's own stream has died.
    GameFinished {
        /// The game that is over.
        id: GameId,
        /// How it ended, if the server says.
        status: Option<GameStatus>,
        /// Who won, if anybody.
        winner: Option<Color>,
        /// By how many points our rating went up or down, if the server says.
        rating_change: Option<i32>,
    },
    /// The server knows no such game of ours any more; whatever held for it is over.
    GameGone(GameId),
    /// A game of ours runs that cannot be played: its rules have no name with us, say. It is to be aborted, or else resigned,
    /// so that nobody waits for a move that never comes.
    GameUnplayable {
        /// The game.
        id: GameId,
        /// Why it cannot be played, for the log.
        reason: String,
    },
    /// Somebody spoke in a game.
    Chat(GameId, ChatLine),
    /// Somebody spoke to us outside a game (FICS).
    Tell {
        /// The speaker. A guest may bear anybody's name.
        from: Player,
        /// What was said.
        text: String,
    },
    /// The opponent left the game or came back.
    OpponentGone {
        /// The game that was left.
        id: GameId,
        /// `false` if the opponent is back.
        gone: bool,
        /// How long from now the win may be claimed; `None` if the server does not say.
        claim_after: Option<Duration>,
    },
    /// Something went wrong that the adapter copes with by itself: for the journal.
    Fault {
        /// The game it concerns, if it concerns one.
        game: Option<GameId>,
        /// What went wrong and why, in one line, without secrets.
        what: String,
    },
}

/// What we want a server to do.
#[derive(Clone, Debug, PartialEq)]
pub enum Action {
    /// Takes a challenge.
    Accept(ChallengeId),
    /// Refuses a challenge.
    Decline(ChallengeId, DeclineReason),
    /// Withdraws a challenge of ours.
    Cancel(ChallengeId),
    /// Challenges somebody.
    Challenge(ChallengeRequest),
    /// Plays a move, and offers a draw with it (which also accepts a standing offer).
    Move {
        /// The game it is played in.
        game: GameId,
        /// Legal in the position on the board, castling as the game's line writes it.
        uci: UciMove,
        /// Whether a draw is offered with it.
        offer_draw: bool,
    },
    /// Ends a game before both sides have moved.
    Abort(GameId),
    /// Gives a game up.
    Resign(GameId),
    /// Accepts (or makes), or declines (or withdraws), a draw offer.
    Draw(GameId, bool),
    /// Accepts or declines a takeback.
    Takeback(GameId, bool),
    /// Speaks in a game.
    Chat(GameId, ChatRoom, String),
    /// Speaks to somebody outside a game (FICS).
    Tell {
        /// The name of whom it is for.
        to: String,
        /// What is said.
        text: String,
    },
    /// Claims the win because the opponent is gone.
    ClaimVictory(GameId),
    /// Claims a draw: by the opponent's absence, repetition or fifty moves, as the server allows.
    ClaimDraw(GameId),
    /// Takes part in a tournament.
    Join(TournamentEntry),
    /// Takes part in a tournament no more.
    Leave(Tournament),
}

impl Action {
    /// The game it belongs to, if any.
    pub fn game(&self) -> Option<&GameId> {
        match self {
            Self::Accept(_)
            | Self::Decline(..)
            | Self::Cancel(_)
            | Self::Challenge(_)
            | Self::Tell { .. }
            | Self::Join(_)
            | Self::Leave(_) => None,
            Self::Move { game, .. }
            | Self::Abort(game)
            | Self::Resign(game)
            | Self::Draw(game, _)
            | Self::Takeback(game, _)
            | Self::Chat(game, ..)
            | Self::ClaimVictory(game)
            | Self::ClaimDraw(game) => Some(game),
        }
    }
}

impl fmt::Display for Action {
    /// In words that can follow "the server was asked for": `the move e2e4 with the offer of a draw`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Accept(id) => write!(f, "taking challenge {id}"),
            Self::Decline(id, reason) => write!(f, "declining challenge {id} ({})", reason.key()),
            Self::Cancel(id) => write!(f, "withdrawing challenge {id}"),
            Self::Challenge(request) => write!(f, "challenging {} to {}", request.opponent, request.terms),
            Self::Move { uci, offer_draw: false, .. } => write!(f, "the move {uci}"),
            Self::Move { uci, offer_draw: true, .. } => write!(f, "the move {uci} with the offer of a draw"),
            Self::Abort(_) => f.write_str("aborting the game"),
            Self::Resign(_) => f.write_str("resigning"),
            Self::Draw(_, true) => f.write_str("a draw"),
            Self::Draw(_, false) => f.write_str("declining the draw"),
            Self::Takeback(_, true) => f.write_str("granting the takeback"),
            Self::Takeback(_, false) => f.write_str("declining the takeback"),
            Self::Chat(_, room, _) => write!(f, "speaking to the {}s", room.key()),
            Self::Tell { to, .. } => write!(f, "speaking to {to}"),
            Self::ClaimVictory(_) => f.write_str("claiming the win"),
            Self::ClaimDraw(_) => f.write_str("claiming a draw"),
            Self::Join(entry) => write!(f, "joining tournament {}", entry.tournament),
            Self::Leave(tournament) => write!(f, "leaving tournament {tournament}"),
        }
    }
}

/// What came of an action that was taken.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Done {
    /// The server took it.
    Taken,
    /// Our challenge stands under this name.
    Challenged(ChallengeId),
}

/// Why an action was not taken.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ActionError {
    /// The server asks for patience (HTTP 429).
    #[error("the server limits requests: {detail}")]
    Limited {
        /// How long to wait, where the server says it.
        retry_after: Option<Duration>,
        /// The limit's name where the server gives one, such as `bot.vsBot.day`.
        key: Option<String>,
        /// Whether it is the opponent's limit that is reached, not ours.
        opponent: bool,
        /// The server's words.
        detail: String,
    },
    /// The network or the server failed; the action may or may not have happened.
    #[error("no answer from the server: {0}")]
    Unavailable(String),
    /// The server understood and refused.
    #[error("the server refused: {0}")]
    Refused(String),
    /// The game or challenge does not exist (any more).
    #[error("not found: {0}")]
    NotFound(String),
    /// The token is missing, wrong or lacks a scope.
    #[error("not authorised: {0}")]
    Unauthorised(String),
    /// This server has no such thing.
    #[error("this server does not offer it: {0}")]
    Unsupported(&'static str),
}

/// Who hears what is said.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ChatRoom {
    /// The two players.
    Player,
    /// Those who watch.
    Spectator,
}

impl ChatRoom {
    /// `player` or `spectator`.
    pub const fn key(self) -> &'static str {
        match self {
            Self::Player => "player",
            Self::Spectator => "spectator",
        }
    }
}

/// Something said in a game.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChatLine {
    /// Who could hear it.
    pub room: ChatRoom,
    /// The speaker's name as shown; `lichess` for the server itself.
    pub username: String,
    /// What was said.
    pub text: String,
}
