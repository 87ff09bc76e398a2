//! Games that stop before their end, aborted or adjourned by agreement or because of a lost
//! connection, and their resumption.
//!
//! Lichess has none of this: its clocks run on while a player is away. The Internet chess servers
//! adjourn.

use std::time::Duration;

use super::{End, GameChange, GameOutcome, PracticeGame};
use domain::Color;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    Abort,
    /// The game waits until both players resume it.
    Adjourn,
}

impl PracticeGame {
    /// Agrees to the opponent's request to stop or makes one (`yes`), or declines theirs or
    /// withdraws the own one.
    pub fn stop(&mut self, color: Color, stop: Stop, yes: bool, now: Duration) {
        self.tick(now);
        if !self.is_running() {
            return;
        }
        let offer = match stop {
            Stop::Abort => &mut self.abort_offer,
            Stop::Adjourn => &mut self.adjourn_offer,
        };
        match (yes, *offer) {
            (true, Some(by)) if by != color => match stop {
                Stop::Abort => return self.finish(GameOutcome::aborted(), now),
                Stop::Adjourn => return self.adjourn(now),
            },
            (true, None) => *offer = Some(color),
            (false, Some(_)) => *offer = None,
            _ => return,
        }
        self.changes.push(GameChange::State);
    }

    /// Handles the lost connection of `color`, which stops the game or (`None`) forfeits it. A game that
    /// could still be aborted is aborted in any case.
    pub fn lose_connection(&mut self, color: Color, stop: Option<Stop>, now: Duration) {
        self.tick(now);
        // An absent player cannot resume.
        self.resume_offer.take_if(|by| *by == color);
        if !self.is_running() {
            return;
        }
        self.left = Some(color);
        match stop {
            Some(Stop::Adjourn) if !self.is_abortable() => self.adjourn(now),
            Some(_) => self.finish(GameOutcome::aborted(), now),
            None => self.lose(color, End::Abandoned, now),
        }
    }

    fn adjourn(&mut self, now: Duration) {
        self.clock.stop(self.line.turn(), now);
        self.forget_offers();
        self.is_adjourned = true;
        self.changes.push(GameChange::Adjourned);
    }

    /// Wants an adjourned game to go on, or (`yes` is false) no longer wants it or does not. It goes on when both want it.
    pub fn resume(&mut self, color: Color, yes: bool, now: Duration) {
        if !self.is_adjourned {
            return;
        }
        let before = std::mem::replace(&mut self.resume_offer, yes.then_some(color));
        if yes && before == Some(!color) {
            self.is_adjourned = false;
            self.resume_offer = None;
            self.was_resumed = true;
            self.left = None;
            self.clock.resume(self.line.ply(), now);
            self.turn_began = now;
            self.changes.push(GameChange::Resumed);
        }
    }
}
