//! The clock's advice as the council's sense of time.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use rand::RngExt as _;
use shakmaty::{Color, Square};
use tokio::sync::watch;

use crate::{
    clock::{Budget, ClockSettings, Lag, LeaderRecord, Moment, MoveProgress},
    vote::{Progress, Timing},
};
use domain::{Clocks, Line, Score, TimeControl, UciMove};

/// The depth from which on a change of the leading move matters (plies).
const SETTLED_DEPTH: u32 = 6;

/// The time to wait for the first proposals before the clock runs.
const LOADING: Duration = Duration::from_secs(10);

/// The share of a move's time that is still used after an expected move, however long it was
/// pondered: a second phase needs its share.
const AFTER_HIT: f64 = 0.5;

/// The share of a move's time after which a finished iteration is the last one: the next would take
/// too long.
const LAST_ITERATION: f64 = 0.8;

/// An iteration that has begun before may come to its end, as far as ExtraTime allows it: half of one is worth little.
const TO_ITS_END: f64 = 1.8;

/// The time for reading books and tablebases, and its share of the clock.
const FILES_PATIENCE: Duration = Duration::from_secs(10);
const FILES_PART: u32 = 10;

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Time {
    /// Until its limits end it, or on demand.
    Unbounded,
    /// A fixed time, and no less while there is something to search.
    Exactly(Duration),
    Clock {
        control: TimeControl,
        /// Both clocks when they were read; `None` without a clock.
        clocks: Option<Clocks>,
        /// Our moves until the next control, this one included; `None` if the clock is for the rest of the game.
        moves_to_go: Option<u32>,
        /// The time that the bot's clock had been running when the player was asked.
        spent: Duration,
    },
}

/// The least and the largest share of a move's usual time that a person is assumed to think.
const HESITATION: (f64, f64) = (0.2, 0.8);

const LONGEST_HESITATION: Duration = Duration::from_secs(5);

#[derive(Clone, Debug)]
pub(super) struct Agreement {
    /// The searched position, on the board or expected.
    pub line: Arc<Line>,
    pub time: Time,
    pub since: Instant,
}

impl Agreement {
    pub(super) fn now(line: Arc<Line>, time: Time) -> Self {
        Self { line, time, since: Instant::now() }
    }

    pub(super) fn is_for_a_game(&self) -> bool {
        matches!(self.time, Time::Clock { .. })
    }

    /// Returns the time for reading files. A slower disk costs their knowledge, not the game.
    pub(super) fn for_files(&self) -> Duration {
        let part = match self.time {
            Time::Exactly(time) => time / 2,
            Time::Clock { .. } => self.clock_left().map_or(FILES_PATIENCE, |left| left / FILES_PART),
            Time::Unbounded => FILES_PATIENCE,
        };
        part.min(FILES_PATIENCE)
    }

    pub(super) fn clock_left(&self) -> Option<Duration> {
        match self.time {
            Time::Clock { clocks, spent, .. } => Some(clocks?.of(self.line.turn()).remaining.saturating_sub(spent)),
            Time::Unbounded | Time::Exactly(_) => None,
        }
    }
}

pub(super) struct Timekeeper {
    settings: ClockSettings,
    lag: Lag,
    ply: usize,
    color: Color,
    /// The square of the opponent's last capture.
    recapture: Option<Square>,
    /// The score of the bot's last move, from its side.
    last_score: Option<Score>,
    agreed: watch::Receiver<Agreement>,
}

impl Timekeeper {
    /// Creates the timing of this line's position; `expected` if no other position may come
    /// instead.
    pub(super) fn new(
        settings: &ClockSettings,
        lag: Lag,
        line: &Line,
        expected: bool,
        last_score: Option<Score>,
        agreed: watch::Receiver<Agreement>,
    ) -> Self {
        Self {
            settings: settings.clone(),
            lag,
            ply: line.ply(),
            color: line.turn(),
            // If one of several moves is expected, its capture is unknown.
            recapture: line.last_capture().filter(|_| expected),
            last_score,
            agreed,
        }
    }

    /// Returns the budget of the search, and the time that the clock has run for it.
    pub(super) fn account(&self) -> (Budget, Duration) {
        let Agreement { time, since, .. } = *self.agreed.borrow();
        (self.budget(time).unwrap_or(Budget::fixed(Duration::ZERO, Duration::ZERO)), since.elapsed())
    }

    /// Returns, after the search, the further time a person might have thought, if the settings ask
    /// for that; `None` if the move leaves at once. It is a part of the time that the clock gives
    /// anyway, so it risks nothing.
    pub(super) fn hesitation(&self) -> Option<Duration> {
        let now = self.agreed.borrow().clone();
        if !self.settings.fake_think_time || !now.is_for_a_game() {
            return None;
        }
        let share = rand::rng().random_range(HESITATION.0..HESITATION.1);
        let wanted = self.budget(now.time);
        let wanted =
            wanted.map_or(Duration::ZERO, |budget| budget.response.mul_f64(share).saturating_sub(budget.spent));
        wanted.min(LONGEST_HESITATION).checked_sub(now.since.elapsed()).filter(|pause| !pause.is_zero())
    }

    fn moment(&self, time: Time) -> Option<Moment> {
        let Time::Clock { control, clocks, moves_to_go, spent } = time else { return None };
        Some(Moment { control, clocks, color: self.color, ply: self.ply, moves_to_go, spent })
    }

    /// Returns the budget that the clock gives the move; `None` while no clock runs.
    fn budget(&self, time: Time) -> Option<Budget> {
        match time {
            Time::Exactly(time) => Some(Budget::fixed(Duration::ZERO, time)),
            _ => Some(self.settings.budget(&self.moment(time)?, &self.lag)),
        }
    }

    /// Returns the council's timing; `tell` receives the leading move.
    pub(super) fn timing(self, mut tell: impl FnMut(UciMove) + Send + 'static) -> Timing {
        let began = Instant::now();
        // Changes of mind among the first few plies mean nothing.
        let mut unsettled_changes = 0;
        let mut record = LeaderRecord::default();
        Box::new(move |progress: &Progress| {
            let mut iteration_ended_at = None;
            if let Some(leader) = progress.leader {
                tell(leader);
                iteration_ended_at = record.note(leader, progress.depth).then(|| began.elapsed());
                if progress.depth < SETTLED_DEPTH {
                    unsettled_changes = progress.changes;
                }
            }
            let Agreement { time, since, .. } = *self.agreed.borrow();
            let Some(budget) = self.budget(time) else {
                return Duration::MAX;
            };
            // Measured from the question: the start of the clock. If it ran before, while books
            // were read, that time is gone.
            let hit = since.saturating_duration_since(began);
            let late = began.saturating_duration_since(since);
            let from_question = |end: Duration| end.saturating_sub(budget.spent + late);
            if progress.proposals == 0 {
                return hit + from_question(self.first_word(&budget, time));
            }
            if let Time::Exactly(exactly) = time {
                return hit + exactly.saturating_sub(late);
            }
            let changes = progress.changes - unsettled_changes.min(progress.changes);
            let facts = self.facts(progress, changes, record.led_for());
            let wanted = from_question(budget.stop_at(&facts));
            // Pondering counts, but not for everything.
            let end = wanted.max(hit + wanted.mul_f64(AFTER_HIT));
            if progress.to_be_continued {
                return end;
            }
            let latest = hit + from_question(budget.response + budget.extra);
            last_moment(hit, end, latest, iteration_ended_at)
        })
    }

    /// Returns the time to wait for the first proposal. While the first moves are free, an engine
    /// just started may still be loading.
    fn first_word(&self, budget: &Budget, time: Time) -> Duration {
        let free = self.ply < 2 && !self.settings.first_move.is_zero();
        let by_clock = self.moment(time).map(|moment| self.settings.first_word(&moment, &self.lag));
        let end = by_clock.unwrap_or(budget.hard);
        if free { LOADING.max(end) } else { end }
    }

    fn facts(&self, progress: &Progress, changes: u32, led_for: u32) -> MoveProgress {
        MoveProgress {
            easy_recapture: progress.split == 0.0
                && progress.depth >= SETTLED_DEPTH
                && self.recapture.is_some()
                && progress.leader.and_then(UciMove::to) == self.recapture,
            changes,
            led_for,
            effort: progress.effort.filter(|_| progress.depth >= SETTLED_DEPTH),
            score_fall: match (self.last_score, progress.score) {
                (Some(last), Some(now)) => last.as_centipawns() - now.as_centipawns(),
                _ => 0,
            },
        }
    }
}

/// Returns the end of a search that should take from `hit` to `end`, and by no means longer than to
/// `latest`: at the end of an iteration, if one is near. All from the question on.
fn last_moment(hit: Duration, end: Duration, latest: Duration, iteration_ended_at: Option<Duration>) -> Duration {
    let wanted = end - hit;
    match iteration_ended_at {
        Some(now) if now >= hit + wanted.mul_f64(LAST_ITERATION) => end.min(now),
        _ => (hit + wanted.mul_f64(TO_ITS_END)).min(latest).max(end),
    }
}

/// Returns a game's timing, for callers of a council without a player: equal for equal clocks.
/// `last_score` is the score of the bot's last move, from its side.
pub fn timing(settings: &ClockSettings, lag: Lag, line: &Arc<Line>, time: Time, last_score: Option<Score>) -> Timing {
    let (_agree, agreed) = watch::channel(Agreement::now(Arc::clone(line), time));
    Timekeeper::new(settings, lag, line, true, last_score, agreed).timing(|_| ())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn search_ends_with_an_iteration() {
        let [none, early, late, end, longer, latest] = [0, 700, 850, 1000, 1800, 1500].map(Duration::from_millis);
        let over = |latest, ended_at| last_moment(none, end, latest, ended_at);
        assert_eq!(over(latest, Some(late)), late, "the next would take too long");
        assert_eq!(over(latest, Some(early)), latest, "it may end, but not beyond what the clock allows");
        assert_eq!(over(longer * 2, None), longer);
        assert_eq!(over(end, None), end, "there is no ExtraTime");
        let hit = Duration::from_millis(5000);
        assert_eq!(last_moment(hit, hit + end, hit + latest, Some(hit + early)), hit + latest, "from the hit on");
    }
}
