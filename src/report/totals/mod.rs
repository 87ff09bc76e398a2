//! All games together: results, causes of losses, changes since an earlier report.

mod changes;
mod groups;
mod losses;
mod openings;
mod runs;

pub use changes::{Change, changes};
pub use groups::{GroupFigure, Groups, ResultCount};
pub use losses::LossCause;
pub use openings::OpeningNode;
pub use runs::{RatingPoint, Streaks};

use std::collections::BTreeMap;

use bot::journal::{GameRecord, GameResult};
use domain::TimeControl;
use serde::Serialize;

use crate::{
    formulas::MoveLabel,
    statistics::GameSums,
    study::{GamePhase, GameStudy, MoveStudy},
};

/// The share of the initial time for time trouble.
const TIME_TROUBLE: f64 = 0.1;

const RATING_STEP: u32 = 200;

/// Sums over games, which are added in the order of their start: streaks and ratings depend on it.
#[derive(Debug, Serialize)]
pub struct Totals {
    pub all: GroupFigure,
    pub studied: usize,
    pub groups: Groups,
    pub openings: Vec<OpeningNode>,
    pub losses: BTreeMap<LossCause, usize>,
    pub streaks: Streaks,
    pub ratings: Vec<RatingPoint>,
    /// The cost of moves by part of the game, per cent of a point a move, for both sides.
    pub phases: [PhaseFigure; 3],
    /// The cost of moves in time trouble and otherwise.
    pub time_trouble: TimeTroubleFigure,
    /// The bot's labels a game: inaccuracies, mistakes, blunders; their numbers until the end.
    pub labels: [f64; 3],
    pub missed: MissedFigure,
    /// Results of games with faults of connection or server, and of the others.
    pub with_faults: ResultCount,
    pub without_faults: ResultCount,
}

#[derive(Debug, Serialize)]
pub struct PhaseFigure {
    pub phase: GamePhase,
    pub ours: GameSums,
    pub theirs: GameSums,
}

#[derive(Debug, Default, Serialize)]
pub struct TimeTroubleFigure {
    /// The bot's cost under a tenth of the time.
    pub ours: GameSums,
    /// The bot's cost with more time.
    pub ours_without: GameSums,
    /// The opponents' cost under a tenth.
    pub theirs: GameSums,
    /// The opponents' cost with more time.
    pub theirs_without: GameSums,
}

#[derive(Debug, Default, Serialize)]
pub struct MissedFigure {
    /// Won positions given away.
    pub wins: usize,
    pub mates: usize,
    /// Results given away in positions of the endgame tables.
    pub tablebase_results: usize,
}

impl Default for Totals {
    fn default() -> Self {
        let sums = GameSums::default;
        Self {
            all: GroupFigure::named("all games"),
            studied: 0,
            groups: Groups::default(),
            openings: Vec::new(),
            losses: BTreeMap::new(),
            streaks: Streaks::default(),
            ratings: Vec::new(),
            phases: GamePhase::ALL.map(|phase| PhaseFigure { phase, ours: sums(), theirs: sums() }),
            time_trouble: TimeTroubleFigure::default(),
            labels: [0.0; 3],
            missed: MissedFigure::default(),
            with_faults: ResultCount::default(),
            without_faults: ResultCount::default(),
        }
    }
}

impl Totals {
    pub fn add(&mut self, record: &GameRecord, study: Option<&GameStudy>, faults: usize) {
        let accuracy = study.and_then(GameStudy::our_accuracy);
        self.ratings.extend(RatingPoint::of(record));
        if let Some(study) = study {
            self.add_moves(study);
        }
        let Some(result) = record.result else { return };
        self.all.add(record, result, accuracy);
        self.groups.add(record, result, accuracy, study);
        openings::add(&mut self.openings, study, result);
        self.streaks.add(result);
        let counts = if faults > 0 { &mut self.with_faults } else { &mut self.without_faults };
        counts.add(result);
        if result == GameResult::Lost {
            *self.losses.entry(LossCause::of(record, study)).or_default() += 1;
        }
    }

    fn add_moves(&mut self, study: &GameStudy) {
        self.studied += 1;
        let TimeTroubleFigure { ours, ours_without, theirs, theirs_without } = &mut self.time_trouble;
        let phases = self.phases.iter_mut().flat_map(|figure| [&mut figure.ours, &mut figure.theirs]);
        phases
            .chain([&mut *ours, &mut *ours_without, &mut *theirs, &mut *theirs_without])
            .for_each(GameSums::next_game);
        let us = study.record.our_color;
        for played in &study.moves {
            let is_ours = played.mover == us;
            let phase = &mut self.phases[played.phase as usize];
            if is_ours { &mut phase.ours } else { &mut phase.theirs }.add(played.loss);
            match (is_ours, in_time_trouble(&study.record, played)) {
                (true, Some(true)) => ours.add(played.loss),
                (true, Some(false)) => ours_without.add(played.loss),
                (false, Some(true)) => theirs.add(played.loss),
                (false, Some(false)) => theirs_without.add(played.loss),
                (_, None) => (),
            }
        }
        for (count, label) in self.labels.iter_mut().zip(MoveLabel::ALL) {
            *count += study.labels(us, label) as f64;
        }
        let ours = || study.ours();
        self.missed.wins += ours().filter(|played| played.missed == Some(crate::study::MissedChance::Win)).count();
        self.missed.mates += ours().filter(|played| played.missed == Some(crate::study::MissedChance::Mate)).count();
        self.missed.tablebase_results += ours().filter(|played| played.tables.is_some_and(|t| t.spoiled())).count();
    }

    /// Ends the sums: means are made, and groups and openings sorted.
    pub fn finish(mut self) -> Self {
        self.all.finish();
        self.groups.finish();
        openings::finish(&mut self.openings);
        self.labels = self.labels.map(|count| count / self.studied.max(1) as f64);
        self
    }
}

/// Returns true if a move was made with little time left; `None` without a clock.
fn in_time_trouble(record: &GameRecord, played: &MoveStudy) -> Option<bool> {
    let TimeControl::RealTime { initial, .. } = record.time_control else { return None };
    if initial.is_zero() {
        return None;
    }
    Some(played.clock?.as_secs_f64() < TIME_TROUBLE * initial.as_secs_f64())
}
