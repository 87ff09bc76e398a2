//! What the settings say about the council.

use std::{collections::BTreeMap, path::PathBuf};

use serde::{Deserialize, Serialize};

use crate::chess::{Heuristic, Knowledge};

/// The `council` table: who proposes and how one is elected.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct CouncilSettings {
    /// A roster of METHOD.md §3 by name and size (`balanced-7`, `unbalanced-4`, ...), a blank-separated list of knowledge
    /// letters (`mbxkcpar mp ma`), or `custom` for the electors listed in `electors`.
    pub roster: String,
    /// The electors of a `custom` roster.
    pub electors: Vec<ElectorSettings>,
    /// How one proposal is elected.
    pub criterion: CriterionName,
    /// What each heuristic weighs in the criterion `weights`.
    pub weights: HeuristicWeights,
    /// The first phase's share of the time where the criterion has a second one (METHOD.md §5). 0 to 1.
    pub split: f64,
    /// Transposition table of each elector, MiB.
    pub hash: usize,
    /// Threads of the second phase; 0 takes all cores.
    pub threads: usize,
    /// Breaks ties, so that a run can be repeated.
    pub seed: u64,
}

/// One elector of a custom roster: an instance of our own engine, or any UCI engine.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ElectorSettings {
    /// How it is called in the vote; by default its knowledge or the engine's file name.
    pub name: Option<String>,
    /// What our own engine evaluates in it.
    pub knowledge: Option<Knowledge>,
    /// The UCI engine to run instead of our own.
    pub engine: Option<PathBuf>,
    /// Command-line arguments of the UCI engine.
    pub arguments: Vec<String>,
    /// UCI options to set.
    pub options: BTreeMap<String, String>,
    /// Its weight in the vote where the criterion weighs electors by hand.
    pub weight: Option<f64>,
}

/// A rule of election (METHOD.md §4).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CriterionName {
    /// The sum of the weights of the heuristics that propose a move.
    Weights,
    /// Depth and root moves completed.
    Depth,
    /// A second search of the proposed moves by complete knowledge.
    #[default]
    ReSearch,
}

impl CriterionName {
    /// The name as it is written in the settings and in the vote.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Weights => "weights",
            Self::Depth => "depth",
            Self::ReSearch => "re-search",
        }
    }
}

impl Default for CouncilSettings {
    fn default() -> Self {
        Self {
            roster: "balanced-7".to_owned(),
            electors: Vec::new(),
            criterion: CriterionName::default(),
            weights: HeuristicWeights::default(),
            split: 1.0 / 3.0,
            hash: 8,
            threads: 0,
            seed: 0,
        }
    }
}

/// What each heuristic weighs in the criterion `weights` (METHOD.md §4); the defaults are the theses' hand-made ones.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct HeuristicWeights {
    /// Material.
    pub m: f64,
    /// Good placement of pieces.
    pub b: f64,
    /// Space and mobility.
    pub x: f64,
    /// King safety.
    pub k: f64,
    /// Centre control.
    pub c: f64,
    /// Pawn structure.
    pub p: f64,
    /// Attack chances.
    pub a: f64,
    /// Relations between pieces.
    pub r: f64,
}

impl HeuristicWeights {
    /// The weight of one heuristic.
    pub const fn of(&self, heuristic: Heuristic) -> f64 {
        match heuristic {
            Heuristic::Material => self.m,
            Heuristic::Placement => self.b,
            Heuristic::Mobility => self.x,
            Heuristic::KingSafety => self.k,
            Heuristic::Centre => self.c,
            Heuristic::Pawns => self.p,
            Heuristic::Attack => self.a,
            Heuristic::Relations => self.r,
        }
    }
}

impl Default for HeuristicWeights {
    fn default() -> Self {
        Self { m: 30.0, b: 8.0, x: 1.0, k: 3.0, c: 10.0, p: 21.0, a: 15.0, r: 6.0 }
    }
}
