//! The clock's advice as the council's sense of time.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use rand::RngExt as _;
use shakmaty::{Color, Square};
use tokio::sync::watch;

use crate::{
    clock::{Allotment, Budget, ClockSettings, Lag, LeaderRecord, Moment, MoveProgress},
    council::{Progress, Timing},
};
use chess::{Clocks, Line, Score, TimeControl, UciMove};

/// From this depth on a change of the leading move means something (plies).
const SETTLED_DEPTH: u32 = 6;

/// How long electors that have not said anything yet are waited for before the clock runs.
const LOADING: Duration = Duration::from_secs(10);

/// What part of a move's time is still taken after the opponent has played the expected move, however long it was thought
/// about before: a second phase needs its share.
const AFTER_HIT: f64 = 0.5;

/// An iteration that ends when so much of a move's time is over is the last one: the next would take too long.
const LAST_ITERATION: f64 = 0.8;

/// An iteration that has begun before may come to its end, as far as ExtraTime allows it: half of one is worth little.
const TO_ITS_END: f64 = 1.8;

/// Books and tablebases are read for so long at most, and for this part of what is left on the clock.
const FILES_PATIENCE: Duration = Duration::from_secs(10);
const FILES_PART: u32 = 10;

/// How long a move may be thought about.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Time {
    /// Until its limits end it, or it is told to answer.
    Unbounded,
    /// So long, and no less while there is something to search.
    Exactly(Duration),
    /// What the clock room makes of the game's clocks.
    Clock {
        /// The game's time control.
        control: TimeControl,
        /// Both clocks when they were read; `None` without a clock.
        clocks: Option<Clocks>,
        /// Our moves until the next control, this one included; `None` if the clock is for the rest of the game.
        moves_to_go: Option<u32>,
        /// How long our clock had been running when the player was told.
        spent: Duration,
    },
}

/// What part of the usual time of a move a person is taken to think, at least and at most.
const HESITATION: (f64, f64) = (0.2, 0.8);

/// Nobody is made to wait longer for a move that is known.
const LONGEST_HESITATION: Duration = Duration::from_secs(5);

/// What was agreed about the time of a thought, and since when.
#[derive(Clone, Debug)]
pub(super) struct Agreement {
    /// What is thought about, with the position that is on the board or expected.
    pub line: Arc<Line>,
    pub time: Time,
    pub since: Instant,
}

impl Agreement {
    pub(super) fn now(line: Arc<Line>, time: Time) -> Self {
        Self { line, time, since: Instant::now() }
    }

    /// Whether the clocks of a game are what is kept to.
    pub(super) fn is_for_a_game(&self) -> bool {
        matches!(self.time, Time::Clock { .. })
    }

    /// How long files may be read that know the move. A disk that is slower costs the knowledge, not the game.
    pub(super) fn for_files(&self) -> Duration {
        let part = match self.time {
            Time::Exactly(time) => time / 2,
            Time::Clock { .. } => self.clock_left().map_or(FILES_PATIENCE, |left| left / FILES_PART),
            Time::Unbounded => FILES_PATIENCE,
        };
        part.min(FILES_PATIENCE)
    }

    /// What is left on the clock of the side to move, if it has one.
    pub(super) fn clock_left(&self) -> Option<Duration> {
        match self.time {
            Time::Clock { clocks, spent, .. } => Some(clocks?.of(self.line.turn()).remaining.saturating_sub(spent)),
            Time::Unbounded | Time::Exactly(_) => None,
        }
    }
}

/// Keeps the time of one thought.
pub(super) struct Timekeeper {
    settings: ClockSettings,
    lag: Lag,
    ply: usize,
    color: Color,
    /// Where the opponent's last move captured.
    recapture: Option<Square>,
    last_score: Option<Score>,
    agreed: watch::Receiver<Agreement>,
}

impl Timekeeper {
    /// For the position of this line; `expected` if no other one may come about instead.
    pub(super) fn new(
        settings: &ClockSettings,
        lag: Lag,
        line: &Line,
        expected: bool,
        agreed: watch::Receiver<Agreement>,
    ) -> Self {
        Self {
            settings: settings.clone(),
            lag,
            ply: line.ply(),
            color: line.turn(),
            // Where one of several moves is expected, nobody knows what it will capture.
            recapture: line.last_capture().filter(|_| expected),
            last_score: None,
            agreed,
        }
    }

    /// Our last move was worth so much, from our side.
    pub(super) fn after(self, last_score: Option<Score>) -> Self {
        Self { last_score, ..self }
    }

    /// Tells, when the thought is over, what it was given and for how long the clock has run for it.
    pub(super) fn account(&self) -> impl FnOnce() -> (Budget, Duration) + use<> {
        let (settings, lag, ply, color) = (self.settings.clone(), self.lag, self.ply, self.color);
        let agreed = self.agreed.clone();
        move || {
            let Agreement { time, since, .. } = *agreed.borrow();
            let budget = budget(&settings, &lag, ply, color, time);
            (budget.unwrap_or(Budget::fixed(Duration::ZERO, Duration::ZERO)), since.elapsed())
        }
    }

    /// Tells, when the thought is over, for how much longer a person might have thought, if the settings want that pretended; `None`
    /// where the move leaves at once. It is a part of what the clock gives the move anyhow, so that it risks nothing.
    pub(super) fn hesitation(&self) -> impl FnOnce() -> Option<Duration> + use<> {
        let (settings, lag, ply, color) = (self.settings.clone(), self.lag, self.ply, self.color);
        let agreed = self.agreed.clone();
        move || {
            let now = agreed.borrow().clone();
            if !settings.fake_think_time || !now.is_for_a_game() {
                return None;
            }
            let share = rand::rng().random_range(HESITATION.0..HESITATION.1);
            let wanted = budget(&settings, &lag, ply, color, now.time)
                .map_or(Duration::ZERO, |budget| budget.response.mul_f64(share).saturating_sub(budget.spent));
            wanted.min(LONGEST_HESITATION).checked_sub(now.since.elapsed()).filter(|pause| !pause.is_zero())
        }
    }

    /// The council's sense of time; `tell` hears which move leads.
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
            let Some(budget) = budget(&self.settings, &self.lag, self.ply, self.color, time) else {
                return Duration::MAX;
            };
            // From the question on: when the clock began to run. If it had run before, while books were read, that time is gone.
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
            let wanted = from_question(Allotment::new(budget).stop_at(&facts));
            // What was thought before the clock ran counts, but not for everything.
            let end = wanted.max(hit + wanted.mul_f64(AFTER_HIT));
            if progress.to_be_continued {
                return end;
            }
            let latest = hit + from_question(budget.response + budget.extra);
            last_moment(hit, end, latest, iteration_ended_at)
        })
    }

    /// How long the first proposal is waited for. Where the first moves are free, an engine that has just been started
    /// may still be loading.
    fn first_word(&self, budget: &Budget, time: Time) -> Duration {
        let free = self.ply < 2 && !self.settings.first_move.is_zero();
        let end = match time {
            Time::Clock { control, clocks, moves_to_go, spent } => {
                let moment = Moment { control, clocks, color: self.color, ply: self.ply, moves_to_go, spent };
                self.settings.first_word(&moment, &self.lag)
            }
            Time::Unbounded | Time::Exactly(_) => budget.hard,
        };
        if free { LOADING.max(end) } else { end }
    }

    fn facts(&self, progress: &Progress, changes: u32, led_for: u32) -> MoveProgress {
        MoveProgress {
            easy_recapture: progress.split == 0.0
                && progress.depth >= SETTLED_DEPTH
                && self.recapture.is_some()
                && progress.leader.and_then(UciMove::to) == self.recapture,
            dissent: (progress.electors > 1 && self.settings.heed_votes).then_some(progress.split),
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

/// When a search is over that is wanted to take from `hit` to `end`, and by no means longer than to `latest`: with an iteration,
/// if one ends near that time. All from the question on.
fn last_moment(hit: Duration, end: Duration, latest: Duration, iteration_ended_at: Option<Duration>) -> Duration {
    let wanted = end - hit;
    match iteration_ended_at {
        Some(now) if now >= hit + wanted.mul_f64(LAST_ITERATION) => end.min(now),
        _ => (hit + wanted.mul_f64(TO_ITS_END)).min(latest).max(end),
    }
}

/// A game's sense of time, for whoever asks a council without a player: the same for the same clocks. Our last move was worth
/// `last_score`, from our side.
pub fn timing(settings: &ClockSettings, lag: Lag, line: &Arc<Line>, time: Time, last_score: Option<Score>) -> Timing {
    let (_agree, agreed) = watch::channel(Agreement::now(Arc::clone(line), time));
    Timekeeper::new(settings, lag, line, true, agreed).after(last_score).timing(|_| ())
}

/// What the clock gives a move; `None` while no clock runs.
fn budget(settings: &ClockSettings, lag: &Lag, ply: usize, color: Color, time: Time) -> Option<Budget> {
    match time {
        Time::Unbounded => None,
        Time::Exactly(time) => Some(Budget::fixed(Duration::ZERO, time)),
        Time::Clock { control, clocks, moves_to_go, spent } => {
            Some(settings.budget(&Moment { control, clocks, color, ply, moves_to_go, spent }, lag))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_search_ends_with_an_iteration_where_one_ends_in_time() {
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
