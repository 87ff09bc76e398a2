//! Figures by the order of games: streaks, and the rating over time.

use bot::journal::{GameRecord, GameResult};
use jiff::Timestamp;
use serde::Serialize;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Streaks {
    /// Wins in a row, at most.
    pub won: usize,
    /// Games in a row without a loss, at most.
    pub unbeaten: usize,
    /// Losses in a row, at most.
    pub lost: usize,
    #[serde(skip)]
    now: [usize; 3],
}

impl Streaks {
    pub(super) fn add(&mut self, result: GameResult) {
        let [won, unbeaten, lost] = &mut self.now;
        let run = |goes_on: bool, now: &mut usize, longest: &mut usize| {
            *now = if goes_on { *now + 1 } else { 0 };
            *longest = (*longest).max(*now);
        };
        run(result == GameResult::Won, won, &mut self.won);
        run(result != GameResult::Lost, unbeaten, &mut self.unbeaten);
        run(result == GameResult::Lost, lost, &mut self.lost);
    }
}

/// The bot's rating at the start of a rated game.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RatingPoint {
    pub at: Timestamp,
    /// Server and speed: different ones do not compare.
    pub of: String,
    pub rating: u32,
}

impl RatingPoint {
    pub(super) fn of(record: &GameRecord) -> Option<Self> {
        let of = format!("{} {}", record.server, record.speed.key());
        record.us().rating.filter(|_| record.rated).map(|rating| Self { at: record.started_at, of, rating })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_runs_are_remembered() {
        use GameResult::{Drawn, Lost, Won};
        let mut streaks = Streaks::default();
        [Won, Won, Drawn, Won, Lost, Lost, Won].into_iter().for_each(|result| streaks.add(result));
        assert_eq!((streaks.won, streaks.unbeaten, streaks.lost), (2, 4, 2));
    }
}
