//! Messages between a chess server and the session: events in, actions out.

use std::{fmt, time::Duration};

use serde::{Deserialize, Serialize};

use super::{
    Account, Challenge, ChallengeId, ChallengeRequest, Color, DeclineReason, GameId, GameInfo, GameState, GameStatus,
    Player, Tournament, TournamentEntry, UciMove,
};

#[derive(Clone, Debug)]
pub enum ServerEvent {
    /// The event stream is connected and the server knows the account. Sent again after every
    /// reconnection.
    Connected(Account),
    /// The event stream was lost; the client is already reconnecting.
    Disconnected {
        /// Reason in one line for the log.
        reason: String,
    },
    /// The server refuses the account (a wrong token, say); the client has given up, and no event
    /// follows.
    Rejected {
        /// The reason and the remedy, for the operator.
        reason: String,
    },
    /// A pending challenge, the bot's or another player's; may be repeated.
    Challenge(Challenge),
    /// A challenge was withdrawn by its maker, or expired.
    ChallengeCancelled(ChallengeId),
    ChallengeDeclined {
        /// The server's name of the challenge since it was made.
        id: ChallengeId,
        /// The player who declined, if the server reports it.
        by: Option<Player>,
        reason: DeclineReason,
    },
    /// A game of the bot is running; may come more than once. A [`ServerEvent::Game`] follows once its stream is open.
    GameStarted(GameId),
    /// The complete state of a game: the first event after every connection of its stream.
    Game(Box<GameInfo>, GameState),
    /// The state of a game changed: a move, an offer, more time, a takeback, the end.
    GameState(GameId, GameState),
    /// A game is over, by the event stream. Comes also after the game's own stream has died. What the server does not
    /// report is `None`.
    GameFinished {
        id: GameId,
        status: Option<GameStatus>,
        winner: Option<Color>,
        rating_change: Option<i32>,
    },
    /// The server knows no such running game of the bot; all state of it is obsolete.
    GameGone(GameId),
    /// A game that the bot cannot play, for example because its variant is unknown. The session
    /// aborts or resigns it, so that the opponent does not wait for a move that never comes.
    GameUnplayable {
        id: GameId,
        reason: String,
    },
    Chat(GameId, ChatLine),
    /// A message to the bot outside a game (FICS).
    Tell {
        /// The speaker. A guest may have any name.
        from: Player,
        text: String,
    },
    /// The opponent left the game or came back.
    OpponentGone {
        id: GameId,
        gone: bool,
        /// The time until the win may be claimed; `None` if the server does not report it.
        claim_after: Option<Duration>,
    },
    /// Facts about the server in the adapter's words, to be kept for later processes in place of
    /// earlier ones.
    Learned(String),
    /// A fault handled by the adapter, for the journal.
    Fault {
        game: Option<GameId>,
        /// The problem and its reason in one line, without secrets.
        what: String,
    },
}

#[derive(Clone, Debug, PartialEq)]
pub enum Action {
    Accept(ChallengeId),
    Decline(ChallengeId, DeclineReason),
    Cancel(ChallengeId),
    Challenge(ChallengeRequest),
    /// Plays a move, and offers a draw with it (which also accepts a standing offer).
    Move {
        game: GameId,
        /// Legal in the position on the board, castling as the game's line writes it.
        uci: UciMove,
        offer_draw: bool,
    },
    /// Ends a game before both sides have moved.
    Abort(GameId),
    Resign(GameId),
    /// Accepts (or makes), or declines (or withdraws), a draw offer.
    Draw(GameId, bool),
    /// Accepts or declines a takeback.
    Takeback(GameId, bool),
    Chat(GameId, ChatRoom, String),
    /// Writes to a player outside a game (FICS).
    Tell {
        to: String,
        text: String,
    },
    /// Claims the win because the opponent is gone.
    ClaimVictory(GameId),
    /// Claims a draw: by the opponent's absence, repetition or fifty moves, as the server allows.
    ClaimDraw(GameId),
    Join(TournamentEntry),
    Leave(Tournament),
}

impl fmt::Display for Action {
    /// Writes words that can follow "the server was asked for": `the move e2e4 with the offer of a
    /// draw`.
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

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Done {
    Taken,
    /// The bot's challenge is pending under this name.
    Challenged(ChallengeId),
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ActionError {
    /// The server limits requests (HTTP 429).
    #[error("the server limits requests: {detail}")]
    Limited {
        /// The time to wait, if the server reports it.
        retry_after: Option<Duration>,
        /// The limit's name where the server gives one, such as `bot.vsBot.day`.
        key: Option<String>,
        /// True if the opponent's limit is reached, not the bot's.
        opponent: bool,
        detail: String,
    },
    /// The network or the server failed; the action may or may not have happened.
    #[error("no answer from the server: {0}")]
    Unavailable(String),
    #[error("the server refused: {0}")]
    Refused(String),
    #[error("not found: {0}")]
    NotFound(String),
    /// The token is missing, wrong or lacks a scope.
    #[error("not authorised: {0}")]
    Unauthorised(String),
    #[error("this server does not offer it: {0}")]
    Unsupported(&'static str),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ChatRoom {
    Player,
    Spectator,
}

util::words!(ChatRoom::key { Player = "player", Spectator = "spectator" });

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChatLine {
    pub room: ChatRoom,
    /// The speaker's name as shown; `lichess` for the server itself.
    pub username: String,
    pub text: String,
}
