//! The operator's commands to a game, fitted to its state: a draw offer goes with the next move,
//! and a resigned game is not searched any further.
//!
//! The task sends the requests, because it has the operator's channel; the machine chooses them.

use std::time::Instant;

use super::{GameEffect, GameMachine, MoveState, Timer};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::session) enum DrawCourse {
    /// The opponent offers one: it is accepted now.
    Take,
    /// The offer is sent now.
    Offer,
    /// The offer goes with the next move; that is being searched.
    WithNextMove,
    /// No server accepts an offer before both sides have moved.
    TooSoon,
    /// The game is given up, or over.
    TooLate,
}

impl GameMachine {
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

    /// Gives the game up: nothing is searched or sent any more, unless
    /// [`NotGivenUp`](super::GameInput::NotGivenUp) reports a refusal of the server. Returns true if the game may be aborted,
    /// because not both sides have moved.
    pub(in crate::session) fn give_up(&mut self) -> (bool, Vec<GameEffect>) {
        self.stop_searching();
        self.our_move = MoveState::GivenUp;
        self.effects.extend([Timer::Resend, Timer::Echo, Timer::Abort, Timer::Claim].map(GameEffect::Forget));
        (self.line.ply() < 2, std::mem::take(&mut self.effects))
    }

    /// Handles the server's refusal: the whole state shows the fate of a move on its way, and the game goes on.
    pub(super) fn not_given_up(&mut self, now: Instant) {
        if self.is_given_up() {
            self.our_move = MoveState::Theirs;
            self.ask_whole_state(now);
        }
    }

    pub(super) const fn is_given_up(&self) -> bool {
        matches!(self.our_move, MoveState::GivenUp)
    }
}
