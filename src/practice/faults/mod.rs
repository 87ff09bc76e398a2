//! Deliberate faults.
//!
//! A [`FaultPlan`] holds for as long as the server runs: it makes shares of the requests and lines
//! fail, chosen by random numbers from a seed, and slows everything else down; its text form is for
//! the command line. Tests arrange one-shot faults with [`FaultInjector::fail_requests`] and
//! [`FaultInjector::break_stream`]. The protocols ask the [`FaultInjector`] at every request and
//! every line; nothing here touches a socket.

mod injector;
mod plan;

pub use injector::{FaultInjector, StreamFaults};
pub use plan::FaultPlan;

use std::time::Duration;

use domain::GameId;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum RequestKind {
    EventStream,
    GameStream,
    Move,
    /// Writing or reading a chat.
    Chat,
    /// Abort, resign, draw, takeback, claim.
    GameAction,
    /// Making, listing and answering challenges.
    Challenge,
    /// Account, running games, tokens, upgrade.
    Account,
    Other,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RequestFault {
    /// The answer has this status (429 or 5xx), and the request is not done.
    Answer(u16),
    /// The request is done after this time.
    Delay(Duration),
    /// The request is done at once, and answered after this time.
    DelayAnswer(Duration),
    /// The connection is torn down before it is done.
    LoseRequest,
    /// The request is done, and the connection reset instead of an answer.
    LoseAnswer,
    /// The request is neither done nor answered.
    Ignore,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StreamFault {
    CleanEnd,
    /// Half a line is sent, then it ends cleanly.
    CutMidLine,
    Abort,
    /// Half a line is sent, then the connection is reset.
    AbortMidLine,
    /// Nothing more is sent, not even empty lines, though the connection stands (half-open).
    Silence,
    Duplicate,
    /// The line is sent after the next one (or a moment later, if no other comes).
    Reorder,
    Drop,
    /// The line and everything after it are sent after this time.
    Late(Duration),
}

impl StreamFault {
    /// Returns true if nothing is sent after it.
    pub const fn ends_the_stream(self) -> bool {
        matches!(self, Self::CleanEnd | Self::CutMidLine | Self::Abort | Self::AbortMidLine | Self::Silence)
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LineFacts {
    /// The number of plies shown, if it shows a game.
    pub ply: Option<usize>,
    /// True if the last of these is the reader's own move.
    pub own_move: bool,
}

/// One stream ([`Self::Events`], [`Self::Board`]) or several.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Streams {
    /// The event stream of an account.
    Events(String),
    /// Both sides' streams of a game.
    Game(GameId),
    /// One player's stream of a game.
    Board(GameId, String),
    All,
}

impl Streams {
    fn contains(&self, one: &Self) -> bool {
        match (self, one) {
            (Self::All, _) => true,
            (Self::Events(name), Self::Events(account)) => account.eq_ignore_ascii_case(name),
            (Self::Game(game), Self::Board(other, _)) => game == other,
            (Self::Board(game, name), Self::Board(other, account)) => {
                game == other && account.eq_ignore_ascii_case(name)
            }
            _ => false,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    /// Now, on the open streams.
    Now,
    NextLine,
    /// With the first line of a game's stream that shows this number of plies.
    AtPly(usize),
    /// With the first line that shows a move of the reader's own.
    OwnMove,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Span {
    Times(u32),
    /// All requests within this time.
    For(Duration),
}
