//! The theses' figures, as docs/method.md has them.

use council::CriterionName;

/// §2: the order of the heuristics, and the best moves of 500 with each and those before it. Material alone has no figure.
pub(super) const HEURISTICS: [(char, Option<u32>); 8] = [
    ('m', None),
    ('p', Some(85)),
    ('a', Some(95)),
    ('c', Some(101)),
    ('b', Some(104)),
    ('r', Some(106)),
    ('k', Some(107)),
    ('x', Some(100)),
];

/// §3: rosters with their union and intersection, of 500.
pub(super) const ROSTERS: [(&str, u32, u32); 16] = [
    ("common-core-4", 140, 56),
    ("common-core-5", 151, 53),
    ("common-core-6", 158, 41),
    ("common-core-7", 172, 20),
    ("balanced-4", 164, 34),
    ("balanced-5", 176, 26),
    ("balanced-6", 183, 25),
    ("balanced-7", 186, 24),
    ("unbalanced-4", 159, 43),
    ("unbalanced-5", 172, 41),
    ("unbalanced-6", 185, 31),
    ("unbalanced-7", 191, 30),
    ("incremental-4", 136, 72),
    ("incremental-5", 142, 65),
    ("incremental-6", 152, 61),
    ("incremental-7", 161, 53),
];

/// §4: best moves of 500 by GNU Chess itself.
pub(super) const GNU_CHESS: u32 = 100;

pub(super) const CRITERIA: [CriterionName; 6] = [
    CriterionName::Weights,
    CriterionName::Depth,
    CriterionName::Relative1,
    CriterionName::Relative1Democratic,
    CriterionName::Relative2,
    CriterionName::ReSearch,
];

/// §4: best and worst moves of 500, for each of [`CRITERIA`]. Re-search had twice the time.
pub(super) const BY_CRITERION: [(&str, [(u32, u32); 6]); 3] = [
    ("balanced-7", [(88, 13), (91, 13), (75, 9), (88, 13), (81, 9), (102, 12)]),
    ("unbalanced-7", [(100, 10), (102, 11), (87, 7), (100, 11), (90, 7), (109, 10)]),
    ("incremental-6", [(113, 10), (114, 8), (104, 8), (111, 8), (100, 7), (105, 11)]),
];

/// The figures of a way to search in parallel, from docs/method.md §7.
pub(super) struct Parallel {
    pub(super) mode: &'static str,
    /// Nodes a second over those of one process.
    pub(super) svr: f64,
    /// The part of the time in which a process was busy.
    pub(super) fpm: f64,
    /// Nodes over those of the base in the same time, less one.
    pub(super) os: Option<f64>,
    /// Correct of 36 positions.
    pub(super) correct: Option<u32>,
}

/// §7: at 19 processes and half of the time for each phase.
pub(super) const PARALLEL_HALF: [Parallel; 5] = [
    Parallel { mode: "sequential", svr: 8.07, fpm: 0.52, os: None, correct: Some(13) },
    Parallel { mode: "static", svr: 9.74, fpm: 0.61, os: Some(0.02), correct: Some(12) },
    Parallel { mode: "peer", svr: 11.27, fpm: 0.69, os: Some(0.26), correct: None },
    Parallel { mode: "peer-score", svr: 10.55, fpm: 0.66, os: Some(0.21), correct: Some(15) },
    Parallel { mode: "pv-split", svr: 10.40, fpm: 0.65, os: Some(0.17), correct: Some(18) },
];

/// §7: at 19 processes and a third of the time for the first phase.
pub(super) const PARALLEL_THIRD: [Parallel; 4] = [
    Parallel { mode: "sequential", svr: 6.03, fpm: 0.417, os: None, correct: None },
    Parallel { mode: "peer", svr: 9.62, fpm: 0.606, os: Some(0.602), correct: None },
    Parallel { mode: "peer-score", svr: 9.25, fpm: 0.587, os: Some(0.555), correct: None },
    Parallel { mode: "pv-split", svr: 9.10, fpm: 0.559, os: Some(0.530), correct: None },
];

pub(super) struct Player {
    pub(super) name: &'static str,
    pub(super) spec: &'static str,
    /// Published points of 20 against the sequential base; `None` if not published.
    pub(super) points: Option<f64>,
    /// True to play it also with equal time for each elector, where specialists gain by their
    /// speed.
    pub(super) in_equal_time: bool,
}

impl Player {
    const fn published(name: &'static str, spec: &'static str, points: f64) -> Self {
        Self { name, spec, points: Some(points), in_equal_time: false }
    }

    const fn ours(name: &'static str, spec: &'static str) -> Self {
        Self { name, spec, points: None, in_equal_time: false }
    }

    const fn also_in_equal_time(self) -> Self {
        Self { in_equal_time: true, ..self }
    }
}

/// §8: the published players in the order of the theses, and further ones beside them. ChessPar's
/// base and its second phases have a process for each of seven instances; PV-split inside groups
/// needs two for each.
pub(super) const PLAYERS: [Player; 17] = [
    Player::published("Gnupar, weights, balanced seven", "council:balanced-7,criterion=weights", 10.56)
        .also_in_equal_time(),
    Player::published("Gnupar, weights, unbalanced seven", "council:unbalanced-7,criterion=weights", 10.80)
        .also_in_equal_time(),
    Player::published("Gnupar, depth, Tozzi's six", "council:tozzi-6,criterion=depth", 9.30).also_in_equal_time(),
    Player::published(
        "Gnupar, re-search 1/2–1/2, Tozzi's six",
        "council:tozzi-6,criterion=re-search,split=0.5,second_phase=sequential,cores=6",
        7.60,
    )
    .also_in_equal_time(),
    Player::published(
        "Gnupar, weights by the genetic algorithm, balanced seven",
        "council:balanced-7,criterion=weights,weights.m=45,weights.b=24,weights.x=254,weights.k=194,weights.c=38,\
         weights.p=223,weights.a=15,weights.r=16",
        14.01,
    )
    .also_in_equal_time(),
    Player::published("Gnupar, re-search 1/3–2/3 (`gnupar`)", "council:preset=gnupar", 13.18).also_in_equal_time(),
    Player::published("ChessPar base", "council:preset=chesspar,second_phase=sequential,groups=none,cores=7", 11.9)
        .also_in_equal_time(),
    Player::published("ChessPar static", "council:preset=chesspar,second_phase=static,groups=none,cores=7", 11.3),
    Player::ours("ChessPar peer", "council:preset=chesspar,second_phase=peer,groups=peer,cores=7"),
    Player::published(
        "ChessPar peer + score",
        "council:preset=chesspar,second_phase=peer-score,groups=peer-score,cores=7",
        12.5,
    ),
    Player::ours("ChessPar PV-split, second phase alone", "council:preset=chesspar,cores=7"),
    Player::published("ChessPar PV-split, 14 processes (`chesspar`)", "council:preset=chesspar,cores=14", 12.95),
    Player::ours(
        "second phase `continued` 1/2–1/2",
        "council:preset=chesspar,second_phase=continued,groups=none,cores=7",
    ),
    Player::ours("score-margin, balanced seven", "council:balanced-7,criterion=score-margin").also_in_equal_time(),
    Player::ours("score-margin, seven complete with noise", "council:noise-7,criterion=score-margin"),
    Player::ours("score-margin, seven complete over one table", "council:complete-7,criterion=score-margin"),
    Player::ours("one search over one table, seven threads", "engine:threads=7"),
];

/// §4: the weights that the genetic algorithm found for the balanced seven, in the order of their letters.
pub(super) const GENETIC_WEIGHTS: [u8; 8] = [45, 24, 254, 194, 38, 223, 15, 16];

/// §4: the hand-made weights.
pub(super) const HAND_MADE_WEIGHTS: [u8; 8] = [30, 8, 1, 3, 10, 21, 15, 6];
