//! The use of the clock.
//!
//! A pure function, [`ClockSettings::budget`], turns the [`Moment`] of the game and the measured
//! [`Lag`] into a [`Budget`]: ResponseTime (the normal time of a move), ExtraTime (for moves that
//! deserve more) and a hard end. After each proposal, [`Budget::stop_at`] grants a part of the
//! ExtraTime or gives a part of the ResponseTime back. docs/method.md §5 explains the method.
//!
//! Invariants:
//! - no clock is read here: every time is a [`Duration`] since the server's state was received,
//!   when the bot's clock began to run;
//! - `spent < response ≤ response + extra ≤ hard`;
//! - `hard` leaves the reserve (lag and its deviations, and a minimum) untouched, and the lag of
//!   all moves that a long game may still need, unless even the shortest reply could not.

mod allotment;
mod lag;
mod leader;
mod settings;

use std::time::Duration;

use domain::{Clock, Clocks, Color, TimeControl};

pub use allotment::MoveProgress;
pub use lag::Lag;
pub use leader::LeaderRecord;
pub use settings::ClockSettings;

/// However much is left on the clock, no first word is waited for longer than this beyond the hard end of a move.
const LONGEST_WAIT: Duration = Duration::from_secs(1);
/// The number of own moves that the clock must last, if each costs its lag and nothing else.
const LONGEST_GAME: u32 = 300;

/// Moves that are always expected beyond [`LONGEST_GAME`].
const ALWAYS_TO_COME: u32 = 20;

/// The largest share of the initial time reserved for the lag of later moves: one part in this
/// number.
const SET_ASIDE_AT_MOST: u32 = 5;

/// Longer clocks are taken for this one, so that sums stay in range. A year.
const LONGEST_CLOCK: Duration = Duration::from_secs(365 * 86_400);

#[derive(Clone, Copy, Debug)]
pub struct Moment {
    pub control: TimeControl,
    /// Both clocks at the server's message; `None` without a clock. In correspondence games: the
    /// time for this move.
    pub clocks: Option<Clocks>,
    pub color: Color,
    /// The moves of both sides so far.
    pub ply: usize,
    /// Our moves until the next control, this one included; `None` if the clock is for the rest of the game. Time that is
    /// left at a control is carried over.
    pub moves_to_go: Option<u32>,
    /// Time since the state was received: our clock has been running for this long.
    pub spent: Duration,
}

impl Moment {
    fn ours_and_theirs(&self) -> Option<(Clock, Clock)> {
        let bounded = |clock: Clock| Clock {
            remaining: clock.remaining.min(LONGEST_CLOCK),
            increment: clock.increment.min(LONGEST_CLOCK),
        };
        self.clocks.map(|clocks| (bounded(clocks.of(self.color)), bounded(clocks.of(!self.color))))
    }

    /// Returns the time since the state was received, bounded like the clocks.
    fn elapsed(&self) -> Duration {
        self.spent.min(LONGEST_CLOCK)
    }

    /// Returns the number of the bot's own moves so far.
    fn moves_made(&self) -> u32 {
        u32::try_from(self.ply / 2).unwrap_or(u32::MAX)
    }

    /// Returns the number of own moves that share the time, including this one: 30 at the start of
    /// a game, falling by one every four moves to 20, or those until the control if they are fewer.
    fn moves_expected(&self) -> u32 {
        let by_stage = 30_u32.saturating_sub(self.moves_made() / 4).max(20);
        self.moves_to_go.map_or(by_stage, |to_go| to_go.clamp(1, by_stage))
    }

    /// Returns the number of own moves after this one for the rest of the clock.
    fn moves_to_outlast(&self) -> u32 {
        let game = LONGEST_GAME.saturating_sub(self.moves_made()).max(ALWAYS_TO_COME);
        self.moves_to_go.map_or(game, |to_go| to_go.saturating_sub(1).min(game))
    }
}

/// The time of one move. All ends are counted from the moment when the server's state was received.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    /// The earliest start of the search: the time spent before the budget was made.
    pub spent: Duration,
    /// ResponseTime: when a normal move is made.
    pub response: Duration,
    /// ExtraTime: the most on top of the response time.
    pub extra: Duration,
    pub hard: Duration,
}

impl Budget {
    /// Creates a budget independent of the clock: `time` from now, to be used or not.
    pub fn fixed(spent: Duration, time: Duration) -> Self {
        let end = spent.saturating_add(time);
        Self { spent, response: end, extra: Duration::ZERO, hard: end }
    }
}

impl ClockSettings {
    /// Returns the budget of one move.
    ///
    /// It is positive even with an empty clock: a reply must be tried.
    pub fn budget(&self, moment: &Moment, lag: &Lag) -> Budget {
        let (clocks, left) = (moment.ours_and_theirs(), self.left(moment, lag));
        match (moment.control, clocks, left) {
            (TimeControl::RealTime { initial, .. }, Some(clocks), Some(left)) if self.move_time.is_zero() => {
                self.share_out(moment, lag, clocks, left, initial)
            }
            _ => {
                let wanted = if self.move_time.is_zero() { self.correspondence_move_time } else { self.move_time };
                let time = left.map_or(wanted, |left| wanted.min(left)).max(self.minimum);
                Budget::fixed(moment.elapsed(), time)
            }
        }
    }

    /// Returns the time on the bot's clock beyond the reserves; `None` without a clock.
    fn left(&self, moment: &Moment, lag: &Lag) -> Option<Duration> {
        let (ours, _) = moment.ours_and_theirs()?;
        Some(ours.remaining.saturating_sub(moment.elapsed()).saturating_sub(lag.reserve()).saturating_sub(self.reserve))
    }

    /// Returns the end of waiting for the first proposal: the hard end of the move, or later by up
    /// to half of the clock beyond both reserves (and no more than a second): a proposal is worth
    /// more than time that a starved machine would not use for anything else. Counted as the
    /// budget's ends.
    pub fn first_word(&self, moment: &Moment, lag: &Lag) -> Duration {
        let left = self.left(moment, lag).unwrap_or_default();
        self.budget(moment, lag).hard.max(moment.elapsed() + (left / 2).min(LONGEST_WAIT))
    }

    /// Returns the budget on a running clock: an equal share of the time that is `left` for every move that is expected to
    /// come.
    fn share_out(
        &self,
        moment: &Moment,
        lag: &Lag,
        (ours, theirs): (Clock, Clock),
        left: Duration,
        initial: Duration,
    ) -> Budget {
        let spent = moment.elapsed();
        let ahead = ahead(ours.remaining.saturating_sub(spent), theirs.remaining);
        // The least cost of a move beyond the increment; only that much of a clock is reserved for
        // it.
        let upkeep = (lag.typical() + self.minimum)
            .saturating_sub(ours.increment)
            .min(initial.min(LONGEST_CLOCK) / (LONGEST_GAME * SET_ASIDE_AT_MOST));
        let usable = left.saturating_sub(upkeep * moment.moves_to_outlast());
        let moves = moment.moves_expected();
        let gained = ours.increment.saturating_sub(lag.typical()) * (moves - 1);

        let most = usable.mul_f64(self.most).max(self.minimum);
        let mut response = ((usable.mul_f64(1.0 + ahead / 4.0) + gained) / moves).clamp(self.minimum, most);
        let mut extra = response.mul_f64(self.extra).min(most - response);
        if moment.ply < 2 && !self.first_move.is_zero() {
            response = response.min(self.first_move.max(self.minimum));
            extra = Duration::ZERO;
        }
        Budget { spent, response: spent + response, extra, hard: spent + most }
    }
}

/// The lead of our clock as a share of it: 0 when the opponent has as much or more, 1 when the opponent has nothing.
fn ahead(ours: Duration, theirs: Duration) -> f64 {
    if ours.is_zero() { 0.0 } else { ours.saturating_sub(theirs).div_duration_f64(ours) }
}

#[cfg(test)]
mod tests;
