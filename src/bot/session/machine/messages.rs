//! Messages between a game's machine and its task: events in, effects out.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use tokio::sync::OwnedSemaphorePermit;

use council::{clock::Budget, player::RequestId};
use domain::{Action, ActionError, ChatLine, Clocks, Color, Decision, GameInfo, GameState, GameStatus, Line, UciMove};

use crate::session::control::{ControlAnswer, GameCommand};

#[derive(Debug)]
pub(in crate::session) enum GameInput {
    /// The whole state of the game, after a (re)connection.
    Full(Box<GameInfo>, GameState),
    State(GameState),
    /// The event stream reports the end of the game, with its known details.
    Finished(Option<GameStatus>, Option<Color>),
    Gone,
    /// The change of the rating; handled by the task.
    Rated(i32),
    /// A chat message, with the names of waiting challengers; handled by the task.
    Chat(ChatLine, Vec<String>),
    /// The opponent left, and when the win may be claimed; or is back.
    OpponentGone(bool, Option<Duration>),
    /// The operator's command; the task asks the machine for the action, and answers.
    Command(GameCommand, ControlAnswer),
    /// The server refused an abort or a resignation.
    NotGivenUp,
    Decided(RequestId, Box<DecidedSearch>),
    /// The number of an answer, and the server's reply.
    Sent(u64, Result<(), ActionError>),
    /// The turn of a correspondence game's search has come; handled by the task.
    Turn(RequestId, Option<OwnedSemaphorePermit>),
    Timer(Timer),
}

#[derive(Debug, PartialEq)]
pub(in crate::session) struct DecidedSearch {
    pub line: Arc<Line>,
    pub decision: Arc<Decision>,
    /// `None` for a move from the journal.
    pub budget: Option<Budget>,
}

#[derive(Debug, PartialEq)]
pub(in crate::session) enum GameEffect {
    /// Search this position, with the bot to move, without the `excluded` moves. The server's message about it was `received`
    /// then: it started the bot's clock. The decision has the number of the request.
    Search { request: RequestId, line: Arc<Line>, clocks: Option<Clocks>, received: Instant, excluded: Vec<UciMove> },
    /// Search these expected positions in the opponent's time: at least one, the likeliest first.
    Ponder { request: RequestId, lines: Vec<Arc<Line>> },
    /// A pondered position is on the board since the server's message was `received`: the bot's clock runs.
    PonderHit { clocks: Option<Clocks>, received: Instant },
    /// The searched position is neither on the board nor expected any more.
    StopSearch,
    /// Write the moves of the board into the record.
    RecordMoves,
    /// Write a decision into the record, before its move is sent.
    RecordDecision(Box<DecidedSearch>),
    /// Record a granted takeback.
    RecordTakeback,
    /// Send a move; its outcome comes back as [`GameInput::Sent`].
    Send { answer: u64, uci: UciMove, offer_draw: bool },
    /// Any other request; the server's events show its effect.
    Do(Action),
    /// Fetch the whole state.
    Resync,
    /// Set a timer; an earlier one of the same kind is replaced.
    Wake(Timer, Duration),
    /// Remove a timer.
    Forget(Timer),
    /// A fault for the record.
    Fault(String),
    /// The game is over; nothing more comes.
    Over(GameOver),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::session) enum GameOver {
    /// The game's own stream showed the end, and all moves before it.
    Shown(GameStatus, Option<Color>),
    /// Another source reports the end; the last moves may be missing.
    Told(GameStatus, Option<Color>),
    Unknown,
}

impl GameOver {
    pub(in crate::session) fn told(status: Option<GameStatus>, winner: Option<Color>) -> Self {
        status.map_or(Self::Unknown, |status| Self::Told(status, winner))
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(in crate::session) enum Timer {
    Resend,
    /// The stream should have shown the bot's move by now.
    Echo,
    Claim,
    /// The opponent should have made the first move by now.
    Abort,
    /// The requested whole state is overdue.
    WholeState,
    /// The effect of an answer to the opponent's offer is overdue.
    Offer,
    /// The final state of a finished game should have come by now.
    LastWord,
}
