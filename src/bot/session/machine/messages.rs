//! What passes between the machine of a game and the task around it: what happened, and what is to be done.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use chess::{Action, ActionError, ChatLine, Clocks, Color, Decision, GameInfo, GameState, GameStatus, Line, UciMove};
use council::{clock::Budget, player::RequestId};

use crate::session::control::{ControlAnswer, GameCommand};

/// What happened.
#[derive(Debug)]
pub(in crate::session) enum GameInput {
    /// The whole state of the game, after a (re)connection.
    Full(Box<GameInfo>, GameState),
    /// A change of the state.
    State(GameState),
    /// The event stream says that the game is over, and how as far as it knows.
    Finished(Option<GameStatus>, Option<Color>),
    /// The server knows no such running game any more.
    Gone,
    /// What the game has done to our rating; no matter of the game's either.
    Rated(i32),
    /// Somebody spoke, while challenges of these players waited: no matter of the game's, but it comes the same way.
    Chat(ChatLine, Vec<String>),
    /// The opponent left, and when the win may be claimed; or is back.
    OpponentGone(bool, Option<Duration>),
    /// The operator wants something; the task asks the machine what to do about it, and answers.
    Command(GameCommand, ControlAnswer),
    /// The server did not let us give the game up.
    NotGivenUp,
    /// A search has come to its decision.
    Decided(RequestId, Box<DecidedSearch>),
    /// What came of sending the answer with this number.
    Sent(AnswerNumber, Result<(), ActionError>),
    /// A timer that was set has run out.
    Timer(Timer),
}

/// What a search came to, with the time that it was given.
#[derive(Debug, PartialEq)]
pub(in crate::session) struct DecidedSearch {
    /// The position that it is about.
    pub line: Arc<Line>,
    pub decision: Decision,
    /// `None` where nothing was searched now: the journal remembered the move.
    pub budget: Option<Budget>,
}

/// What is to be done, in this order.
#[derive(Debug, PartialEq)]
pub(in crate::session) enum GameEffect {
    /// Search this position, in which we are to move.
    Search {
        /// Comes back with the decision.
        request: RequestId,
        line: Arc<Line>,
        clocks: Option<Clocks>,
        /// When the server's word about this position came: our clock runs since.
        received: Instant,
        /// Moves the server would not take here.
        excluded: Vec<UciMove>,
    },
    /// Search these positions, one of which is expected, in the opponent's time.
    Ponder {
        /// Comes back with the decision.
        request: RequestId,
        /// At least one, the likeliest first.
        lines: Vec<Arc<Line>>,
    },
    /// A position that is being pondered is on the board: our clock runs for it.
    PonderHit {
        clocks: Option<Clocks>,
        /// When the server's word about it came.
        received: Instant,
    },
    /// What is being searched is no longer on the board, and no longer expected.
    StopSearch,
    /// Write the moves of the board into the record.
    RecordMoves,
    /// Write the decision into the record.
    RecordDecision(Box<DecidedSearch>),
    /// Write into the record that a takeback was granted.
    RecordTakeback,
    /// Send a move; what came of it comes back as [`GameInput::Sent`].
    Send { answer: AnswerNumber, uci: UciMove, offer_draw: bool },
    /// Anything else a server can be asked for; whether it had an effect the server's events will tell.
    Do(Action),
    /// Ask for the whole state.
    Resync,
    /// Wake us later; a timer of the same kind that was set before is replaced.
    Wake(Timer, Duration),
    /// Do not wake us after all.
    Forget(Timer),
    /// Something went wrong, for the record.
    Fault(String),
    /// The game is over; nothing more comes.
    Over(GameOver),
}

/// How a game ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::session) enum GameOver {
    /// The game's own stream showed the end, and all moves before it.
    Shown(GameStatus, Option<Color>),
    /// Another source told of the end; the last moves may not have been shown.
    Told(GameStatus, Option<Color>),
    /// The server knows no such running game any more.
    Unknown,
}

/// The kinds of timer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(in crate::session) enum Timer {
    /// Send the answer again.
    Resend,
    /// The stream should have shown our move by now.
    Echo,
    /// The win may be claimed.
    Claim,
    /// The opponent should have made the first move by now.
    Abort,
    /// The whole state that we asked for should have come by now.
    WholeState,
    /// What we answered to an offer of the opponent's should have shown its effect by now.
    Offer,
    /// The final state of a game that is over should have come by now.
    LastWord,
}

/// The number of an answer to a position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::session) struct AnswerNumber(pub u64);
