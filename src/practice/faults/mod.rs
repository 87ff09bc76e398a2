//! Things that go wrong, on purpose.
//!
//! Two ways lead here. A [`FaultPlan`] holds for as long as the server runs: it lets so many percent of the requests and
//! lines fail, chosen by random numbers from a seed, and slows everything else down; it can be written as a line of text for
//! the command line. A one-shot fault is arranged by a test: [`FaultInjector::fail_requests`] and
//! [`FaultInjector::break_stream`]. The protocols ask the [`FaultInjector`] at every request and every line; nothing here
//! touches a socket.

mod injector;
mod plan;

pub use injector::{FaultInjector, StreamFaults};
pub use plan::{Echo, FaultPlan, FaultPlanError, Percent};

use std::time::Duration;

use chess::GameId;

/// A kind of request, as faults tell them apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum RequestKind {
    /// Opening the event stream.
    EventStream,
    /// Opening the stream of a game.
    GameStream,
    /// A move sent to a game.
    Move,
    /// Saying something in a chat room, or reading what was said.
    Chat,
    /// Abort, resign, draw, takeback, claim.
    GameAction,
    /// Making, listing and answering challenges.
    Challenge,
    /// Who am I, which games am I playing, tokens, upgrade.
    Account,
    /// A request of no other kind.
    Other,
}

/// What happens to a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RequestFault {
    /// It is answered with this status (429 or 5xx) and not done.
    Answer(u16),
    /// It is done after this time.
    Delay(Duration),
    /// It is done at once, and answered after this time.
    DelayAnswer(Duration),
    /// The connection is torn down before it is done.
    LoseRequest,
    /// It is done, and the connection torn down instead of an answer.
    LoseAnswer,
    /// Nothing is ever answered, and nothing done.
    Ignore,
}

/// What happens to a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StreamFault {
    /// It ends as if the server had nothing more to say.
    CleanEnd,
    /// Half a line is sent, then it ends cleanly.
    CutMidLine,
    /// The connection is reset.
    Abort,
    /// Half a line is sent, then the connection is reset.
    AbortMidLine,
    /// From now on nothing is sent, not even empty lines, though the connection stands (half-open).
    Silence,
    /// The line is sent twice.
    Duplicate,
    /// The line is sent after the next one (or a moment later, if no other comes).
    Reorder,
    /// The line is not sent.
    Drop,
    /// The line is sent after this time, and whatever follows it not before it.
    Late(Duration),
}

impl StreamFault {
    /// Whether nothing is sent after it.
    pub const fn ends_the_stream(self) -> bool {
        matches!(self, Self::CleanEnd | Self::CutMidLine | Self::Abort | Self::AbortMidLine | Self::Silence)
    }
}

/// What faults go by when they choose a line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LineFacts {
    /// How many plies it shows, if it shows a game.
    pub ply: Option<usize>,
    /// Whether the last of these is the reader's own move.
    pub own_move: bool,
}

/// A stream, or several.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Streams {
    /// The event stream of an account.
    Events(String),
    /// Both sides' streams of a game.
    Game(GameId),
    /// One player's stream of a game.
    Board(GameId, String),
    /// Every stream of everybody.
    All,
}

/// The stream that asks what happens to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StreamId {
    /// The name of the account that reads it.
    pub account: String,
    /// The game it is about; `None` is the event stream.
    pub game: Option<GameId>,
}

impl Streams {
    /// Whether `stream` is meant.
    pub fn contains(&self, stream: &StreamId) -> bool {
        match self {
            Self::All => true,
            Self::Events(name) => stream.game.is_none() && stream.account.eq_ignore_ascii_case(name),
            Self::Game(game) => stream.game.as_ref() == Some(game),
            Self::Board(game, name) => stream.game.as_ref() == Some(game) && stream.account.eq_ignore_ascii_case(name),
        }
    }
}

/// When an accident happens to a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    /// At once, to the streams that are open.
    Now,
    /// With the next line of a stream.
    NextLine,
    /// With the first line of a game's stream that shows so many plies.
    AtPly(usize),
    /// With the first line that shows a move of the reader's own.
    OwnMove,
}

/// How long requests fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Span {
    /// So many of them.
    Times(u32),
    /// All that come within this time.
    For(Duration),
}
