//! ExtraTime granted and ResponseTime given back, as the electors' proposals come in.

use std::time::Duration;

use super::Budget;

/// The fall of the score, in centipawns, from which on ExtraTime is granted.
const FALL_NOTICED: f64 = 20.0;

/// A fall of the score that deserves all of the ExtraTime (centipawns).
const FALL_ALARMING: f64 = 100.0;

/// The share of the ExtraTime for each change of the leading move.
const PER_CHANGE: f64 = 0.25;

/// The share of the ResponseTime that suffices for an easy recapture.
const WHEN_RECAPTURING: f64 = 0.25;

/// The plies a move must have led before each further one saves ResponseTime, and the share always
/// spent.
const FIRST_FEW: f64 = 2.0;
const PER_PLY: f64 = 0.05;
const WHEN_SETTLED: f64 = 0.6;

/// The usual share of the best move in the nodes of a search. A higher share saves ResponseTime, in proportion to the rest for the
/// other moves; a lower one earns ExtraTime.
const USUAL_EFFORT: f64 = 0.5;
const WHEN_CLEAR: f64 = 0.5;
const FOR_UNCLEAR: f64 = 0.5;

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct MoveProgress {
    /// True if the leading move recaptures, and no other move comes near it.
    pub easy_recapture: bool,
    /// The number of changes of the leading move, from the depth on at which a change means
    /// something.
    pub changes: u32,
    /// The plies of depth for which the leading move has led.
    pub led_for: u32,
    /// The leading move's share of the search, 0 to 1, if known.
    pub effort: Option<f64>,
    /// The leading move's score below that of the last move played, in centipawns; negative if it
    /// has risen.
    pub score_fall: i32,
}

impl Budget {
    /// Returns the time at which the move should be made, given `progress`. Called after every
    /// proposal. A time without ExtraTime, such as one fixed by the settings, is kept.
    ///
    /// Always from `spent` to `hard`; never later for an easier position. More than the response
    /// time is granted when the score falls, the best move changes or other moves take most of the
    /// search; less when the same move has led for long or takes most of the search, or for an easy
    /// recapture.
    pub fn stop_at(&self, progress: &MoveProgress) -> Duration {
        let Self { spent, response, extra, hard } = *self;
        if extra.is_zero() {
            return response.min(hard);
        }
        let fall = (f64::from(progress.score_fall) - FALL_NOTICED) / (FALL_ALARMING - FALL_NOTICED);
        let effort = progress.effort.map_or(USUAL_EFFORT, |effort| effort.clamp(0.0, 1.0));
        let unclear = (USUAL_EFFORT - effort).max(0.0) * FOR_UNCLEAR;
        let trouble = (fall.clamp(0.0, 1.0) + f64::from(progress.changes) * PER_CHANGE + unclear).min(1.0);
        let clear = 1.0 - (effort - USUAL_EFFORT).max(0.0) / (1.0 - USUAL_EFFORT) * (1.0 - WHEN_CLEAR);
        let settled = clear * (1.0 - (f64::from(progress.led_for) - FIRST_FEW) * PER_PLY).clamp(WHEN_SETTLED, 1.0);
        let enough = match () {
            () if fall > 0.0 => 1.0,
            () if progress.easy_recapture => WHEN_RECAPTURING,
            () => settled,
        };
        let think = response.saturating_sub(spent).mul_f64(enough).saturating_add(extra.mul_f64(trouble));
        spent.saturating_add(think).min(hard)
    }
}
