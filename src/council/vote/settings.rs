use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use serde::{Deserialize, Deserializer, Serialize};

use crate::electors::{EngineProgram, EngineProtocol, ErrorOutput};
use domain::{CriterionName, Heuristic, Knowledge, SecondPhaseMode};
use util::values::{Decimal, WholeNumber, WholeNumberOrNone, named};

util::settings! {
    /// The `council` table: who proposes and how one is elected.
    pub struct CouncilSettings {
        /// Electors: "auto" for what measured best on the available cores (docs/results); a roster by
        /// name and size such as "balanced-7" or "unbalanced-4" (docs/council.md); "complete-4",
        /// "learned-4" or "noise-4" for that number of complete copies, over one table with the eight
        /// heuristics or a net in their place, or with noise on their evaluation; a blank-separated
        /// list of knowledge letters such as "mbxkcpar mp ma"; or "custom" for the electors below.
        ///
        /// The published players: Gnupar is `roster = "balanced-7"`, `criterion = "re-search"`, `split
        /// = 0.333`, `second_phase = "sequential"`, `groups = "none"`; ChessPar the same with `split =
        /// 0.5`, `second_phase = "pv-split"`, `groups = "pv-split"`.
        pub roster: String = "auto".to_owned(),
        /// The electors of a `custom` roster, such as
        ///
        /// ```toml
        /// [{ knowledge = "mbxkcpar" }, { name = "fish", engine = "/usr/games/stockfish", options = { Threads = "1" } }]
        /// ```
        ///
        /// Each has a `name`, and either an `engine` or `knowledge`. An engine is a program that
        /// exists, or a command line such as "ssh -T attic stockfish", with its `arguments` and
        /// `options`; `protocol`, its language: "uci", "cecp" (xboard's) or "positions"
        /// (docs/own-player.md); `working_dir`, the folder in which it runs; `transcript`, a file for
        /// the conversation; and `stderr`, "quiet" or "log". Knowledge is letters ("n" alone
        /// with the net that comes with the engine, or another one as `net`), and what differs from the
        /// usual: `percentages` such as { k = 150 } (0 to 200), `contempt` (-200 to 200 centipawns),
        /// `selectivity` (10 to 400 per cent), `noise` (0 to 1000 centipawns) with its `seed`,
        /// `shares_table` (true searches with one table with electors that evaluate alike). Either may
        /// have its own `hash` (1 to 65536 MiB) and a `weight` in the vote.
        pub electors: Vec<ElectorSettings> = Vec::new(),
        /// Options of engines by the names of their electors, in addition to those of `electors`, such
        /// as
        ///
        /// ```toml
        /// [profiles.bullet.council.options.fish]
        /// "Move Overhead" = "300"
        /// ```
        pub options: BTreeMap<String, BTreeMap<String, OptionText>> = BTreeMap::new(),
        /// Advisers: instances with a part of the knowledge, as knowledge letters such as "mpar mbxp"
        /// or a roster by name, each with a table of its own. For the first part of a move (`split`)
        /// they search beside the electors, which search the advised moves first; they do not vote. Or
        /// "mates", which proves mates (docs/council.md). "auto" for what measured best beside the
        /// roster "auto", and none beside any other; empty for none.
        pub advisers: String = "auto".to_owned(),
        /// The advisers' part of the cores while they search. 0 to 0.5.
        #[serde(with = "Decimal::<0, 500>")]
        pub advice: f64 = 0.05,
        /// Election of one proposal. As published: "weights", "mean-weights", "depth", "relative-1",
        /// "relative-1-democratic", "relative-2" or "re-search" (a second search of the proposed
        /// moves). New: "majority", "optimistic" (the highest score), "score-margin" (votes that count
        /// more the better their scores).
        pub criterion: CriterionName = CriterionName::default(),
        /// Weights of the heuristics in the criterion "weights".
        pub weights: HeuristicWeights = HeuristicWeights::default(),
        /// Weight of the lowest score in the criterion "score-margin", centipawns. 0 to 100000.
        #[serde(with = "Decimal::<0, 100_000_000>")]
        pub margin: f64 = 14.0,
        /// The first search's share of the time where the criterion has a second one, and the part of a
        /// move in which advisers search. 0 to 1.
        #[serde(with = "Decimal::<0, 1000>")]
        pub split: f64 = 1.0 / 3.0,
        /// Use of the cores in the second search: "sequential" (one core), "static" (a process a move),
        /// "peer", "peer-score" (peers that share their best score), "pv-split", "shared" (one search
        /// on all cores), or "continued" (complete knowledge never stops, and the other cores join it).
        pub second_phase: SecondPhaseMode = SecondPhaseMode::default(),
        /// Search of groups of cores for one elector, with more cores than electors: "shared", "peer",
        /// "peer-score", "pv-split", or "none" for no groups.
        pub groups: GroupMode = GroupMode::default(),
        /// Cores for groups and for the second search; 0 takes all. 0 to 1024.
        #[serde(with = "WholeNumber::<0, 1024>")]
        pub cores: usize = 0,
        /// Transposition table of each elector, MiB. 1 to 65536.
        #[serde(with = "WholeNumber::<1, 65536>")]
        pub hash: usize = 16,
        /// Breaks ties, so that a run can be repeated. From 0 on.
        pub seed: u64 = 0,
    }
}

util::settings! {
    /// One elector of a custom roster: an instance of our own engine, or anybody's engine.
    pub struct ElectorSettings {
        /// Name in the vote; by default its knowledge or the engine's file name.
        pub name: Option<String> = None,
        /// Knowledge of the built-in engine in it.
        pub knowledge: Option<Knowledge> = None,
        /// Share of each heuristic, per cent from 0 to 200, by letter; 100 if absent.
        pub percentages: BTreeMap<char, u16> = BTreeMap::new(),
        /// The file of the net that it asks where its knowledge has `n`; by default the one that comes with the engine.
        pub net: Option<PathBuf> = None,
        /// Cost of a draw for the side that stands better, centipawns. -200 to 200.
        pub contempt: Option<i32> = None,
        /// Selectivity of its search, per cent of the usual. 10 to 400.
        pub selectivity: Option<u16> = None,
        /// The most that noise changes its evaluation, centipawns. 0 to 1000.
        pub noise: u16 = u16::default(),
        /// Tells the noise of one copy from another's.
        pub seed: u64 = u64::default(),
        /// Search with one table together with other electors that evaluate alike.
        pub shares_table: bool = false,
        /// The engine to run instead of our own: a program, or a command line such as `ssh -T attic stockfish`, whose words stand between
        /// blanks.
        pub engine: Option<PathBuf> = None,
        pub arguments: Vec<String> = Vec::new(),
        pub options: BTreeMap<String, OptionText> = BTreeMap::new(),
        pub protocol: EngineProtocol = EngineProtocol::default(),
        /// The folder in which the engine runs; empty is ours.
        pub working_dir: PathBuf = PathBuf::default(),
        /// The file to which all that is said between us and the engine is added; empty for none.
        pub transcript: PathBuf = PathBuf::default(),
        /// Treatment of the engine's standard error.
        pub stderr: ErrorOutput = ErrorOutput::default(),
        /// Its transposition table, MiB; by default the council's `hash`. 1 to 65536.
        #[serde(with = "WholeNumberOrNone::<1, 65536>")]
        pub hash: Option<usize> = None,
        /// Its weight in the vote, instead of the sum over the heuristics it knows.
        pub weight: Option<f64> = None,
    }
}

/// The value of an engine's option as engines read it. It may be written as a text, a number, or true or false.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct OptionText(pub String);

impl<'de> Deserialize<'de> for OptionText {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged, expecting = "a text, a number, true or false")]
        enum Written {
            Text(String),
            Whole(i64),
            Fraction(f64),
            Truth(bool),
        }
        Ok(Self(match Written::deserialize(deserializer)? {
            Written::Text(text) => text,
            Written::Whole(number) => number.to_string(),
            Written::Fraction(number) => number.to_string(),
            Written::Truth(truth) => truth.to_string(),
        }))
    }
}

impl ElectorSettings {
    /// The program of an engine, with its arguments. What names a file is that file, whatever blanks are in it.
    pub fn program(&self) -> Option<EngineProgram> {
        let engine = self.engine.as_ref()?;
        let command_line = engine.to_str().filter(|_| self.arguments.is_empty() && !engine.exists());
        let mut words = command_line.into_iter().flat_map(str::split_ascii_whitespace);
        let path = words.next().map_or_else(|| engine.clone(), PathBuf::from);
        let arguments = words.map(str::to_owned).chain(self.arguments.iter().cloned()).collect();
        Some(EngineProgram {
            path,
            arguments,
            options: self.options.iter().map(|(name, OptionText(text))| (name.clone(), text.clone())).collect(),
            protocol: self.protocol,
            working_dir: named(&self.working_dir).map(Path::to_owned),
            transcript: named(&self.transcript).map(Path::to_owned),
            stderr: self.stderr,
            game: None,
        })
    }
}

impl CouncilSettings {
    /// Returns a published player: `gnupar` or `chesspar` (docs/method.md §8). Both are the balanced seven with re-search.
    pub fn preset(name: &str) -> Option<Self> {
        let (split, second_phase, groups) = match name {
            // Santi 1993: a third of the time for proposing, the second phase on the master alone. 13.18 of 20 against its
            // sequential base.
            "gnupar" => (1.0 / 3.0, SecondPhaseMode::Sequential, GroupMode::None),
            // Castellani 2002: half of the time for proposing, PV-split within the groups of the first phase and by all in the
            // second. 12.95 of 20.
            "chesspar" => (0.5, SecondPhaseMode::PvSplit, GroupMode::PvSplit),
            _ => return None,
        };
        let (roster, criterion, advisers) = ("balanced-7".to_owned(), CriterionName::ReSearch, String::new());
        Some(Self { roster, criterion, split, second_phase, groups, advisers, ..Self::default() })
    }

    /// Iterates over the names of [`Self::preset`].
    pub fn presets() -> impl Iterator<Item = &'static str> {
        ["gnupar", "chesspar"].into_iter()
    }

    /// Returns the seed of ties after `ply` plies of a game: always the same.
    pub fn seed_at(&self, ply: usize) -> u64 {
        self.seed ^ (ply as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15)
    }
}

type Weight = Decimal<-1_000_000, 1_000_000>;

util::settings! {
    /// The weights of the heuristics in the criterion `weights` (docs/method.md §4); the defaults are
    /// the theses' hand-made ones.
    #[derive(Copy)]
    pub struct HeuristicWeights {
        /// Material, -1000 to 1000.
        #[serde(with = "Weight")]
        pub m: f64 = 30.0,
        /// Good placement of pieces, -1000 to 1000.
        #[serde(with = "Weight")]
        pub b: f64 = 8.0,
        /// Space and mobility, -1000 to 1000.
        #[serde(with = "Weight")]
        pub x: f64 = 1.0,
        /// King safety, -1000 to 1000.
        #[serde(with = "Weight")]
        pub k: f64 = 3.0,
        /// Centre control, -1000 to 1000.
        #[serde(with = "Weight")]
        pub c: f64 = 10.0,
        /// Pawn structure, -1000 to 1000.
        #[serde(with = "Weight")]
        pub p: f64 = 21.0,
        /// Attack chances, -1000 to 1000.
        #[serde(with = "Weight")]
        pub a: f64 = 15.0,
        /// Relations between pieces, -1000 to 1000.
        #[serde(with = "Weight")]
        pub r: f64 = 6.0,
    }
}

impl HeuristicWeights {
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
            // A net is a whole evaluation of its own: it weighs what the eight weigh together.
            Heuristic::Net => self.m + self.b + self.x + self.k + self.c + self.p + self.a + self.r,
        }
    }

    #[must_use]
    pub fn times(&self, factor: &dyn Fn(Heuristic) -> f64) -> Self {
        let times = |heuristic| self.of(heuristic) * factor(heuristic);
        Self {
            m: times(Heuristic::Material),
            b: times(Heuristic::Placement),
            x: times(Heuristic::Mobility),
            k: times(Heuristic::KingSafety),
            c: times(Heuristic::Centre),
            p: times(Heuristic::Pawns),
            a: times(Heuristic::Attack),
            r: times(Heuristic::Relations),
        }
    }
}

/// The search of a group's processes for one elector in the first phase, if there are more cores
/// than electors.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum GroupMode {
    /// No groups: one core an elector.
    None,
    /// Every process searches; the deepest exact result counts for the group.
    Peer,
    /// `Peer`, and the best score found sets the aspiration window of all.
    PeerScore,
    PvSplit,
    /// Threads of one search over one table (Lazy SMP).
    #[default]
    Shared,
}

util::words!(GroupMode::word {
    None = "none", Peer = "peer", PeerScore = "peer-score",
    PvSplit = "pv-split", Shared = "shared",
});

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_settings_use_the_same_words() {
        for mode in GroupMode::ALL {
            let value = toml::Value::try_from(mode).expect("a word");
            assert_eq!(value.as_str(), Some(mode.word()));
        }
    }
}
