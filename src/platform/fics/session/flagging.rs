//! Opponents who are out of time.

use std::time::{Duration, Instant};

use super::{CurrentGame, FicsSession};
use crate::fics::message::Speaker;

/// The pause before `flag` is said again; each further one is twice as long.
const FLAG_AGAIN: Duration = Duration::from_secs(10);

/// An opponent out of time whom the server does not flag.
#[derive(Clone, Copy, Debug)]
pub(super) struct Flagging {
    since: Instant,
    again_at: Instant,
    pause: Duration,
    /// True if the last request was to adjourn the game.
    was_spared: bool,
    /// True if the server has said that this game cannot be adjourned.
    of_guests: bool,
}

impl FicsSession {
    pub(super) fn flag_at(&self) -> Option<Instant> {
        match &self.current {
            CurrentGame::Running(game) => self.flagging.map(|flagging| flagging.again_at).or_else(|| game.flag_at()),
            _ => None,
        }
    }

    /// Calls `flag` on an opponent out of time; where the server will not have it because his connection lags, and goes on
    /// to lag, it is asked every second time that the game be put off instead. Whatever is asked is asked again with growing pauses.
    pub(super) fn flag(&mut self, now: Instant) {
        let Some(due) = self.flag_at().filter(|due| *due <= now) else { return };
        let CurrentGame::Running(game) = &self.current else { return };
        let (since, pause) = self.flagging.map_or((due, FLAG_AGAIN), |flagging| (flagging.since, flagging.pause * 2));
        let courtesy = Duration::from_secs(self.settings.courtesy_after);
        let is_patience_over = !courtesy.is_zero() && now.saturating_duration_since(since) >= courtesy;
        // An opponent who lags for ever, and grants nothing, loses on time after all.
        let is_spared = is_patience_over && !self.flagging.is_some_and(|flagging| flagging.was_spared);
        // Games of guests are not stored.
        let of_guests = self.flagging.is_some_and(|flagging| flagging.of_guests)
            || self.us.as_ref().is_some_and(Speaker::is_guest)
            || game.info.opponent().title.as_deref() == Some("U");
        self.flagging = Some(Flagging { since, again_at: now + pause, pause, was_spared: is_spared, of_guests });
        self.send(match (is_spared, of_guests) {
            (false, _) => "flag",
            (true, true) => "abort",
            (true, false) => "adjourn",
        });
    }

    pub(super) fn cannot_adjourn(&mut self) {
        if let Some(flagging) = self.flagging.as_mut().filter(|flagging| !flagging.of_guests) {
            flagging.of_guests = true;
            self.send("abort");
        }
    }

    /// The server says that this game has no clock, whatever its boards show.
    pub(super) fn has_no_clock(&mut self) {
        if let CurrentGame::Running(game) = &mut self.current {
            game.has_no_clock();
        }
        self.flagging = None;
    }
}
