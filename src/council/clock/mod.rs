//! How much of the clock a move may have.
//!
//! A pure function, [`ClockSettings::budget`], turns the [`Moment`] of the game and the measured [`Lag`] into a
//! [`Budget`]: ResponseTime (the normal time of a move), ExtraTime (for moves that deserve more) and a hard end. An
//! [`Allotment`] then says, proposal by proposal, how much of the ExtraTime is granted or of the ResponseTime given back.
//! The method is docs/method.md §5; the constants are ours.
//!
//! Invariants:
//! - no clock is read here: every time is a [`Duration`] since the server's state was received, when our clock began to run;
//! - `spent < response ≤ response + extra ≤ hard`;
//! - `hard` leaves the reserve (lag and its deviations, and a floor) untouched, and the lag of all moves that a long game
//!   may still need, unless not even the shortest reply would.

mod allotment;
mod lag;
mod leader;
mod settings;

use std::time::Duration;

use chess::{Clock, Clocks, Color, TimeControl};

pub use allotment::{Allotment, MoveProgress};
pub use lag::Lag;
pub use leader::LeaderRecord;
pub use settings::ClockSettings;

/// However much is left on the clock, no first word is waited for longer than this beyond the hard end of a move.
const LONGEST_WAIT: Duration = Duration::from_secs(1);
/// The clock must last this many moves of ours, should each of them cost its lag and nothing else.
const LONGEST_GAME: u32 = 300;

/// Beyond [`LONGEST_GAME`] there are always this many moves to come.
const ALWAYS_TO_COME: u32 = 20;

/// The share of a game's initial time that may be set aside for the lag of moves to come: one in so many.
const SET_ASIDE_AT_MOST: u32 = 5;

/// Longer clocks are taken for this one, so that sums stay in range. A year.
const LONGEST_CLOCK: Duration = Duration::from_secs(365 * 86_400);

/// What the clock manager has to know of a game when a move is asked for.
#[derive(Clone, Copy, Debug)]
pub struct Moment {
    /// The game's time control.
    pub control: TimeControl,
    /// Both clocks when the server spoke; `None` without a clock. In correspondence games: the time for this move.
    pub clocks: Option<Clocks>,
    /// The colour that we play.
    pub color: Color,
    /// How many moves both sides have made.
    pub ply: usize,
    /// Our moves until the next control, this one included; `None` if the clock is for the rest of the game. Time that is
    /// left at a control is carried over.
    pub moves_to_go: Option<u32>,
    /// Time since the state was received: our clock has been running for this long.
    pub spent: Duration,
}

impl Moment {
    /// Our clock and the opponent's.
    fn ours_and_theirs(&self) -> Option<(Clock, Clock)> {
        let bounded = |clock: Clock| Clock {
            remaining: clock.remaining.min(LONGEST_CLOCK),
            increment: clock.increment.min(LONGEST_CLOCK),
        };
        self.clocks.map(|clocks| (bounded(clocks.of(self.color)), bounded(clocks.of(!self.color))))
    }

    /// How many moves we have made.
    fn moves_made(&self) -> u32 {
        u32::try_from(self.ply / 2).unwrap_or(u32::MAX)
    }

    /// How many moves of ours the time is shared between, this one included: 30 at the start of a game, falling by one
    /// every four moves to 20, or those until the control where they are fewer.
    fn moves_expected(&self) -> u32 {
        let by_stage = 30_u32.saturating_sub(self.moves_made() / 4).max(20);
        self.moves_to_go.map_or(by_stage, |to_go| to_go.clamp(1, by_stage))
    }

    /// How many moves after this one the clock must outlast.
    fn moves_to_outlast(&self) -> u32 {
        let game = LONGEST_GAME.saturating_sub(self.moves_made()).max(ALWAYS_TO_COME);
        self.moves_to_go.map_or(game, |to_go| to_go.saturating_sub(1).min(game))
    }
}

/// The time of one move. All ends are counted from the moment when the server's state was received.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budget {
    /// When the search can begin at the earliest: what was spent before the budget was made.
    pub spent: Duration,
    /// ResponseTime: when a normal move is made.
    pub response: Duration,
    /// ExtraTime: what may be granted on top of the response time.
    pub extra: Duration,
    /// Never later than this.
    pub hard: Duration,
}

impl Budget {
    /// A budget without any say of the clock: `time` from now, to be used or not.
    pub fn fixed(spent: Duration, time: Duration) -> Self {
        let end = spent.saturating_add(time);
        Self { spent, response: end, extra: Duration::ZERO, hard: end }
    }
}

impl ClockSettings {
    /// What one move may take.
    ///
    /// The budget is positive even where the clock shows nothing: a reply must be tried.
    pub fn budget(&self, moment: &Moment, lag: &Lag) -> Budget {
        let spent = moment.spent.min(LONGEST_CLOCK);
        let clocks = moment.ours_and_theirs();
        let left = clocks.map(|(ours, _)| {
            ours.remaining.saturating_sub(spent).saturating_sub(lag.reserve()).saturating_sub(self.reserve)
        });
        match (moment.control, clocks, left) {
            (TimeControl::RealTime { initial, .. }, Some((ours, theirs)), Some(left)) if self.move_time.is_zero() => {
                let ahead = ahead(ours.remaining.saturating_sub(spent), theirs.remaining);
                self.share_out(moment, lag, TimeShare { left, increment: ours.increment, initial, ahead })
            }
            _ => {
                let wanted = if self.move_time.is_zero() { self.correspondence_move_time } else { self.move_time };
                Budget::fixed(spent, left.map_or(wanted, |left| wanted.min(left)).max(self.minimum))
            }
        }
    }

    /// Until when the first proposal is waited for where none has come: to the hard end of the move, or later, as far as half
    /// of what the clock shows beyond both reserves (and no more than a second): a proposal of the electors is worth more
    /// than time that a starved machine would not use for anything else. Counted as the budget's ends.
    pub fn first_word(&self, moment: &Moment, lag: &Lag) -> Duration {
        let hard = self.budget(moment, lag).hard;
        let spent = moment.spent.min(LONGEST_CLOCK);
        let left = moment.ours_and_theirs().map_or(Duration::ZERO, |(ours, _)| {
            ours.remaining.saturating_sub(spent).saturating_sub(lag.reserve()).saturating_sub(self.reserve)
        });
        hard.max(spent + (left / 2).min(LONGEST_WAIT))
    }

    /// The budget on a running clock: an equal share of the time for every move that is expected to come.
    fn share_out(&self, moment: &Moment, lag: &Lag, share: TimeShare) -> Budget {
        let spent = moment.spent.min(LONGEST_CLOCK);
        // What a move costs at least, where the increment does not pay for it; only so much of a clock is set aside for it.
        let upkeep = (lag.typical() + self.minimum)
            .saturating_sub(share.increment)
            .min(share.initial.min(LONGEST_CLOCK) / (LONGEST_GAME * SET_ASIDE_AT_MOST));
        let usable = share.left.saturating_sub(upkeep * moment.moves_to_outlast());
        let moves = moment.moves_expected();
        let gained = share.increment.saturating_sub(lag.typical()) * (moves - 1);

        let most = usable.mul_f64(self.most).max(self.minimum);
        let mut response = ((usable.mul_f64(1.0 + share.ahead / 4.0) + gained) / moves).clamp(self.minimum, most);
        let mut extra = response.mul_f64(self.extra).min(most - response);
        if moment.ply < 2 && !self.first_move.is_zero() {
            response = response.min(self.first_move.max(self.minimum));
            extra = Duration::ZERO;
        }
        Budget { spent, response: spent + response, extra, hard: spent + most }
    }
}

/// What there is to share out among the moves to come.
struct TimeShare {
    /// On our clock, without the reserve.
    left: Duration,
    /// What every move adds.
    increment: Duration,
    /// What the clock showed when the game began.
    initial: Duration,
    /// How much of our clock we are ahead of the opponent's, 0 to 1.
    ahead: f64,
}

/// The lead of our clock as a share of it: 0 when the opponent has as much or more, 1 when the opponent has nothing.
fn ahead(ours: Duration, theirs: Duration) -> f64 {
    if ours.is_zero() { 0.0 } else { ours.saturating_sub(theirs).div_duration_f64(ours) }
}

#[cfg(test)]
mod tests;
