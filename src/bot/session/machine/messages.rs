//! Messages between a game's machine and its task: events in, effects out.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use council::{clock::Budget, player::RequestId};
use domain::{Action, ActionError, ChatLine, Clocks, Color, Decision, GameInfo, GameState, GameStatus, Line, UciMove};

use crate::session::{
    background::BackgroundTurn,
    control::{ControlAnswer, GameCommand},
};

#[derive(Debug)]
pub(in crate::session) enum GameInput {
    /// The whole state of the game, after a (re)connection.
    Full(Box<GameInfo>, GameState),
    /// A change of the state.
    State(GameState),
    /// The event stream reports the end of the game, with its known details.
    Finished(Option<GameStatus>, Option<Color>),
    /// The server knows no such running game.
    Gone,
    /// The change of the rating; handled by the task.
    Rated(i32),
    /// A chat message, with the names of waiting challengers; handled by the task.
    Chat(ChatLine, Vec<String>),
    /// The opponent left, and when the win may be claimed; or is back.
    OpponentGone(bool, Option<Duration>),
    /// The operator's command; the task asks the machine for the action, and answers.
    Command(GameCommand, ControlAnswer),
    /// The server did not let us give the game up.
    NotGivenUp,
    /// A search has come to its decision.
    Decided(RequestId, Box<DecidedSearch>),
    Sent(AnswerNumber, Result<(), ActionError>),
    /// The turn of a correspondence game's search has come; handled by the task.
    Turn(RequestId, BackgroundTurn),
    /// A timer that was set has run out.
    Timer(Timer),
}

#[derive(Debug, PartialEq)]
pub(in crate::session) struct DecidedSearch {
    pub line: Arc<Line>,
    pub decision: Decision,
    /// `None` where nothing was searched now: the journal remembered the move.
    pub budget: Option<Budget>,
}

#[derive(Debug, PartialEq)]
pub(in crate::session) enum GameEffect {
    /// Search this position, in which we are to move.
    Search {
        /// Returned with the decision.
        request: RequestId,
        line: Arc<Line>,
        clocks: Option<Clocks>,
        /// The arrival of the server's message about this position, which started the bot's clock.
        received: Instant,
        /// Moves the server would not take here.
        excluded: Vec<UciMove>,
    },
    /// Search these positions, one of which is expected, in the opponent's time.
    Ponder {
        /// Returned with the decision.
        request: RequestId,
        /// At least one, the likeliest first.
        lines: Vec<Arc<Line>>,
    },
    /// A position that is being pondered is on the board: our clock runs for it.
    PonderHit {
        clocks: Option<Clocks>,
        /// The arrival of the server's message about it.
        received: Instant,
    },
    /// The searched position is neither on the board nor expected any more.
    StopSearch,
    /// Write the moves of the board into the record.
    RecordMoves,
    RecordDecision(Box<DecidedSearch>),
    /// Write into the record that a takeback was granted.
    RecordTakeback,
    /// Send a move; what came of it comes back as [`GameInput::Sent`].
    Send {
        answer: AnswerNumber,
        uci: UciMove,
        offer_draw: bool,
    },
    /// Any other request; the server's events show its effect.
    Do(Action),
    /// Fetch the whole state.
    Resync,
    /// Wake us later; a timer of the same kind that was set before is replaced.
    Wake(Timer, Duration),
    /// Do not wake us after all.
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
    /// The server knows no such running game.
    Unknown,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(in crate::session) enum Timer {
    /// Send the answer again.
    Resend,
    /// The stream should have shown our move by now.
    Echo,
    Claim,
    /// The opponent should have made the first move by now.
    Abort,
    /// The requested whole state is overdue.
    WholeState,
    /// The effect of an answer to the opponent's offer is overdue.
    Offer,
    /// The final state of a game that is over should have come by now.
    LastWord,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::session) struct AnswerNumber(pub u64);
