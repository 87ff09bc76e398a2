//! What the operator wants of the game, made to fit what we are about to do: a draw offer stands with our next move, and a game
//! that is given up is searched no further and nothing more is sent in it.
//!
//! The server is asked by the task, which has the operator's ear; the machine says for what.

use std::time::Instant;

use super::{GameEffect, GameMachine, MoveState, Timer};

/// How a draw is come by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::session) enum DrawCourse {
    /// The opponent offers one: it is taken now.
    Take,
    /// It is offered now.
    Offer,
    /// It is offered with our next move, which is being looked for.
    WithNextMove,
    /// No server takes an offer before both sides have moved.
    TooSoon,
    /// The game is given up, or over.
    TooLate,
}

/// How a game is given up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::session) enum GivingUp {
    /// Not both sides have moved: it may still be aborted.
    Abort,
    /// It is resigned.
    Resign,
}

impl GameMachine {
    /// The operator wants a draw.
    pub(in crate::session) fn wants_draw(&mut self) -> DrawCourse {
        if self.is_given_up() || self.over {
            DrawCourse::TooLate
        } else if self.line.ply() < 2 {
            DrawCourse::TooSoon
        } else if self.state.draw_offers.by(!self.info.our_color) {
            DrawCourse::Take
        } else if self.offer_with_move() {
            DrawCourse::WithNextMove
        } else {
            DrawCourse::Offer
        }
    }

    /// The operator gives the game up: nothing is searched or sent any more, unless [`NotGivenUp`](super::GameInput::NotGivenUp)
    /// says that the server would not have it.
    pub(in crate::session) fn give_up(&mut self) -> (GivingUp, Vec<GameEffect>) {
        let mut effects = Vec::new();
        self.stop_searching(&mut effects);
        self.our_move = MoveState::GivenUp;
        effects.extend([Timer::Resend, Timer::Echo, Timer::Abort, Timer::Claim].map(GameEffect::Forget));
        (if self.line.ply() < 2 { GivingUp::Abort } else { GivingUp::Resign }, effects)
    }

    /// The server did not let us give the game up. What became of a move that was on its way, its whole state tells; then the
    /// game goes on.
    pub(super) fn not_given_up(&mut self, now: Instant, effects: &mut Vec<GameEffect>) {
        if self.is_given_up() {
            self.our_move = MoveState::Theirs;
            self.whole_state.ask(now, effects);
        }
    }

    pub(super) const fn is_given_up(&self) -> bool {
        matches!(self.our_move, MoveState::GivenUp)
    }
}
