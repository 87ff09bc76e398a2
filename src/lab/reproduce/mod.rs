//! The theses' experiments, one module for each table of docs/method.md: published figures beside
//! own ones, and the differences.
//!
//! The 500 positions of 1993 are not available. The Strategic Test Suite, *Win at Chess* and the
//! test of Bratko and Kopec, built into the program, replace them; numbers of best moves are
//! therefore also given per 500. Budgets are nodes, so that a table is the same on any machine; a
//! table with more processes than cores is in virtual time (see [`super::councils`]) and says so.

mod criteria;
mod games;
mod genetic;
mod heuristics;
mod parallel;
mod published;
mod rosters;
#[cfg(test)]
mod tests;

use std::{num::NonZeroUsize, path::PathBuf, sync::atomic::AtomicBool};

use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Value, json};

use super::{
    openings::OpeningBook,
    player::Pace,
    positions::{self, CandidateRoster, PositionsReport},
    searches::{SearchQuery, Searches},
    speed::Speeds,
    state::{ExperimentState, StateError, short_name},
    suite::{Suite, TestPosition},
};
use council::{CouncilSettings, CriterionName};
use experiment::progress::stopped;
use util::Failure;

const SUITES: [&str; 3] = [
    include_str!("../../../suites/sts.epd"),
    include_str!("../../../suites/wac.epd"),
    include_str!("../../../suites/bratko-kopec.epd"),
];

type MakeTable = fn(&mut Reproduction<'_>) -> Result<Section, Failure>;

/// The tables by name, in the order of docs/method.md.
pub const TABLES: [(&str, MakeTable); 6] = [
    ("heuristics", heuristics::table),
    ("rosters", rosters::table),
    ("criteria", criteria::table),
    ("parallel", parallel::table),
    ("games", games::table),
    ("genetic", genetic::table),
];

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Effort {
    /// Positions, spread over the suites; all of them if there are fewer.
    pub positions: usize,
    /// Positions of the parallel table, with councils of up to nineteen processes. The theses had 36.
    pub parallel_positions: usize,
    /// Nodes of every elector and process on a position.
    pub nodes: u64,
    /// Nodes of every elector and process for a move of a game.
    pub nodes_a_move: u64,
    /// Games of each player against the base. The theses had 20.
    pub games: u32,
    pub generations: u32,
}

impl Effort {
    /// Half an hour on two cores.
    pub const QUICK: Self =
        Self { positions: 600, parallel_positions: 36, nodes: 5000, nodes_a_move: 1000, games: 30, generations: 100 };
    /// A night on two cores.
    pub const FULL: Self = Self {
        positions: 1824,
        parallel_positions: 36,
        nodes: 20_000,
        nodes_a_move: 5000,
        games: 400,
        generations: 300,
    };

    /// Multiplies all budgets of nodes by `factor`.
    #[must_use]
    pub fn times(self, factor: f64) -> Self {
        let times = |nodes: u64| ((nodes as f64 * factor) as u64).max(100);
        Self { nodes: times(self.nodes), nodes_a_move: times(self.nodes_a_move), ..self }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Section {
    /// The heading, with the section of docs/method.md.
    pub title: &'static str,
    /// The procedure, the table, and the differences.
    pub text: String,
    pub plots: Vec<(&'static str, String)>,
}

/// The bench at which tables are made.
pub struct Reproduction<'a> {
    pub effort: Effort,
    pub positions: Vec<TestPosition>,
    pub book: OpeningBook,
    pub openings: String,
    /// Speeds of instances beside complete knowledge that are not to be measured.
    pub speeds: Speeds,
    pub searches: &'a mut Searches,
    pub folder: PathBuf,
    /// The identity of this build, for the states.
    pub build: String,
    pub workers: NonZeroUsize,
    pub stop: &'a AtomicBool,
    pub seed: u64,
    /// Called with the current step, its progress and its size.
    pub tell: &'a mut dyn FnMut(&str, usize, usize),
}

impl Reproduction<'_> {
    fn budget(&self) -> Pace {
        Pace::Nodes(self.effort.nodes)
    }

    /// Returns the budget of a move with equal nodes for all.
    fn pace(&self) -> Pace {
        Pace::Nodes(self.effort.nodes_a_move)
    }

    fn ensure(&mut self, requests: &[SearchQuery], what: &str) -> Result<(), Failure> {
        let tell = &mut self.tell;
        let done = self.searches.ensure(requests, self.stop, |done, of| tell(what, done, of))?;
        if done { Ok(()) } else { Err(stopped()) }
    }

    fn trial(&mut self, rosters: &[&str], criteria: &[CriterionName]) -> Result<PositionsReport, Failure> {
        self.trial_in(rosters, criteria, self.budget(), CouncilSettings::default().split)
    }

    /// Does the same with this budget for a position and this share of the first of two phases.
    fn trial_in(
        &mut self,
        rosters: &[&str],
        criteria: &[CriterionName],
        budget: Pace,
        split: f64,
    ) -> Result<PositionsReport, Failure> {
        let candidates = rosters.iter().map(|roster| candidate(roster, split)).collect::<Result<Vec<_>, _>>()?;
        let plan = positions::PositionsPlan {
            positions: self.positions.clone(),
            candidates,
            criteria: criteria.to_vec(),
            singles: Vec::new(),
            budget,
            oracle: None,
            seed: self.seed,
        };
        let mut no_oracle = Searches::in_memory(self.workers);
        let tell = &mut self.tell;
        let report = positions::run(&plan, self.searches, &mut no_oracle, self.stop, tell)?;
        report.ok_or_else(stopped)
    }

    /// The state of a part of the experiment; `facts` are all that its outcome depends on besides effort, build and seed.
    fn state<T: Serialize + DeserializeOwned>(&self, kind: &str, facts: &Value) -> Result<ExperimentState<T>, Failure> {
        let experiment = json!({"facts": facts, "effort": self.effort, "build": self.build, "seed": self.seed});
        let path = self.folder.join(format!("{kind}-{}.jsonl", short_name(&experiment)));
        ExperimentState::open(&path, &experiment).map_err(|error| match error {
            // Its name depends on its contents, so there is neither another name nor `--fresh`.
            StateError::Other(path) => {
                Failure::failed(format_args!("state {}: cannot be gone on with; remove it", path.display()))
            }
            StateError::File { .. } | StateError::InUse(_) => error.into(),
        })
    }

    fn of_500(&self, count: usize) -> f64 {
        500.0 * count as f64 / self.positions.len().max(1) as f64
    }
}

fn candidate(roster: &str, split: f64) -> Result<CandidateRoster, Failure> {
    let settings = CouncilSettings { roster: roster.to_owned(), split, ..CouncilSettings::default() };
    CandidateRoster::new(settings)
}

pub fn suites() -> Vec<TestPosition> {
    SUITES.into_iter().flat_map(|text| Suite::parse(text).positions).filter(TestPosition::is_judged).collect()
}

/// `theirs` where there is a figure, and a dash where there is none.
fn or_dash(theirs: Option<impl std::fmt::Display>) -> String {
    theirs.map_or_else(|| "–".to_owned(), |figure| figure.to_string())
}
