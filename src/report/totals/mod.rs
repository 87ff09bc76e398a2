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
use domain::{Color, TimeControl};
use serde::Serialize;

use crate::{
    formulas::MoveLabel,
    statistics::{GameSums, MeanWithError},
    study::{GamePhase, GameStudy, MoveStudy},
};

/// The share of the initial time below which a side is in time trouble.
const TIME_TROUBLE: f64 = 0.1;

const RATING_STEP: u32 = 200;

#[derive(Clone, Debug, Default, Serialize)]
pub struct Totals {
    pub all: GroupFigure,
    pub studied: usize,
    pub groups: Groups,
    /// Openings and their variations, those that cost most points first.
    pub openings: Vec<OpeningNode>,
    /// Lost games by what lost them.
    pub losses: BTreeMap<LossCause, usize>,
    pub streaks: Streaks,
    /// The bot's rating, game by game.
    pub ratings: Vec<RatingPoint>,
    /// The cost of moves by part of the game, per cent of a point a move, for both sides.
    pub phases: Vec<PhaseFigure>,
    /// The cost of moves in time trouble and otherwise.
    pub time_trouble: TimeTroubleFigure,
    /// The bot's labels a game: inaccuracies, mistakes, blunders.
    pub labels: [f64; 3],
    /// Wins and mates that we let slip.
    pub missed: MissedFigure,
    /// Results of games in which something went wrong with the connection or the server, and of the others.
    pub with_faults: ResultCount,
    pub without_faults: ResultCount,
}

#[derive(Clone, Debug, Serialize)]
pub struct PhaseFigure {
    pub phase: GamePhase,
    pub ours: MeanWithError,
    pub theirs: MeanWithError,
}

#[derive(Clone, Debug, Default, Serialize)]
pub struct TimeTroubleFigure {
    /// The bot's cost under a tenth of the time.
    pub ours: MeanWithError,
    /// The bot's cost with more time.
    pub ours_without: MeanWithError,
    /// The opponents' cost under a tenth.
    pub theirs: MeanWithError,
    /// The opponents' cost with more time.
    pub theirs_without: MeanWithError,
}

#[derive(Clone, Debug, Default, Serialize)]
pub struct MissedFigure {
    /// Positions as good as won that were no more.
    pub wins: usize,
    pub mates: usize,
    /// Results that endgame tables had settled and that were given away.
    pub tablebase_results: usize,
}

/// Adds up games, in the order of their beginning.
#[derive(Debug, Default)]
pub struct TotalsSums {
    all: groups::GroupSums,
    groups: groups::GroupedSums,
    openings: openings::OpeningSums,
    losses: BTreeMap<LossCause, usize>,
    streaks: Streaks,
    ratings: Vec<RatingPoint>,
    phases: [[GameSums; 2]; 3],
    /// Sums by side, in time trouble and not.
    trouble: [[GameSums; 2]; 2],
    labels: [usize; 3],
    studied: usize,
    missed: MissedFigure,
    with_faults: ResultCount,
    without_faults: ResultCount,
}

impl TotalsSums {
    /// Adds a game, with its study where it could be studied, and how many faults were noted in it.
    pub fn add(&mut self, record: &GameRecord, study: Option<&GameStudy>, faults: usize) {
        let accuracy = study.and_then(GameStudy::our_accuracy);
        self.ratings.extend(RatingPoint::of(record));
        if let Some(study) = study {
            self.add_moves(study);
        }
        let Some(result) = record.result else { return };
        self.all.add(record, result, accuracy);
        self.groups.add(record, result, accuracy, study);
        self.openings.add(study, result);
        self.streaks.add(result);
        let counts = if faults > 0 { &mut self.with_faults } else { &mut self.without_faults };
        counts.add(result);
        if result == GameResult::Lost {
            *self.losses.entry(LossCause::of(record, study)).or_default() += 1;
        }
    }

    fn add_moves(&mut self, study: &GameStudy) {
        self.studied += 1;
        self.phases.iter_mut().chain(&mut self.trouble).flatten().for_each(GameSums::next_game);
        let us = study.record.our_color;
        for played in &study.moves {
            let side = usize::from(played.mover != us);
            self.phases[played.phase as usize][side].add(played.loss);
            if let Some(in_trouble) = in_time_trouble(&study.record, played) {
                self.trouble[side][usize::from(!in_trouble)].add(played.loss);
            }
        }
        for (count, label) in self.labels.iter_mut().zip(MoveLabel::ALL) {
            *count += study.labels(us, label);
        }
        let ours = || study.ours();
        self.missed.wins += ours().filter(|played| played.missed == Some(crate::study::MissedChance::Win)).count();
        self.missed.mates += ours().filter(|played| played.missed == Some(crate::study::MissedChance::Mate)).count();
        self.missed.tablebase_results += ours().filter(|played| played.tables.is_some_and(|t| t.spoiled())).count();
    }

    pub fn totals(self) -> Totals {
        let games = self.studied.max(1) as f64;
        let phases = GamePhase::ALL.into_iter().zip(self.phases);
        let [ours, theirs] = self.trouble.map(|side| side.map(|sums| sums.mean()));
        Totals {
            all: self.all.figure("all games"),
            studied: self.studied,
            groups: self.groups.figures(),
            openings: self.openings.tree(),
            losses: self.losses,
            streaks: self.streaks,
            ratings: self.ratings,
            phases: phases
                .map(|(phase, [ours, theirs])| PhaseFigure { phase, ours: ours.mean(), theirs: theirs.mean() })
                .collect(),
            time_trouble: TimeTroubleFigure {
                ours: ours[0],
                ours_without: ours[1],
                theirs: theirs[0],
                theirs_without: theirs[1],
            },
            labels: self.labels.map(|count| count as f64 / games),
            missed: self.missed,
            with_faults: self.with_faults,
            without_faults: self.without_faults,
        }
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

fn color_word(color: Color) -> &'static str {
    if color.is_white() { "white" } else { "black" }
}
