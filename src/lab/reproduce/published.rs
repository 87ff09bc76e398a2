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

/// §7: a way to search in parallel; nodes a second over those of one process, and the share of the time in which a process was
/// busy; nodes over those of the base in the same time less one, and correct positions of 36.
type ParallelRow = (&'static str, [f64; 2], [Option<f64>; 2]);

/// §7: at 19 processes and half of the time for each phase.
pub(super) const PARALLEL_HALF: [ParallelRow; 5] = [
    ("sequential", [8.07, 0.52], [None, Some(13.0)]),
    ("static", [9.74, 0.61], [Some(0.02), Some(12.0)]),
    ("peer", [11.27, 0.69], [Some(0.26), None]),
    ("peer-score", [10.55, 0.66], [Some(0.21), Some(15.0)]),
    ("pv-split", [10.40, 0.65], [Some(0.17), Some(18.0)]),
];

/// §7: at 19 processes and a third of the time for the first phase.
pub(super) const PARALLEL_THIRD: [ParallelRow; 4] = [
    ("sequential", [6.03, 0.417], [None, None]),
    ("peer", [9.62, 0.606], [Some(0.602), None]),
    ("peer-score", [9.25, 0.587], [Some(0.555), None]),
    ("pv-split", [9.10, 0.559], [Some(0.530), None]),
];

/// §8: the published players in the order of the theses, and further ones beside them: name, text, published points of 20
/// against the sequential base, and true for a player that also plays with equal time for each elector, where specialists gain
/// by their speed. ChessPar's base and its second phases have a process for each of seven instances; PV-split inside groups
/// needs two for each.
pub(super) const PLAYERS: [(&str, &str, Option<f64>, bool); 17] = [
    ("Gnupar, weights, balanced seven", "council:balanced-7,criterion=weights", Some(10.56), true),
    ("Gnupar, weights, unbalanced seven", "council:unbalanced-7,criterion=weights", Some(10.80), true),
    ("Gnupar, depth, Tozzi's six", "council:tozzi-6,criterion=depth", Some(9.30), true),
    (
        "Gnupar, re-search 1/2–1/2, Tozzi's six",
        "council:tozzi-6,criterion=re-search,split=0.5,second_phase=sequential,cores=6",
        Some(7.60),
        true,
    ),
    (
        "Gnupar, weights by the genetic algorithm, balanced seven",
        "council:balanced-7,criterion=weights,weights.m=45,weights.b=24,weights.x=254,weights.k=194,weights.c=38,\
         weights.p=223,weights.a=15,weights.r=16",
        Some(14.01),
        true,
    ),
    ("Gnupar, re-search 1/3–2/3 (`gnupar`)", "council:preset=gnupar", Some(13.18), true),
    ("ChessPar base", "council:preset=chesspar,second_phase=sequential,groups=none,cores=7", Some(11.9), true),
    ("ChessPar static", "council:preset=chesspar,second_phase=static,groups=none,cores=7", Some(11.3), false),
    ("ChessPar peer", "council:preset=chesspar,second_phase=peer,groups=peer,cores=7", None, false),
    (
        "ChessPar peer + score",
        "council:preset=chesspar,second_phase=peer-score,groups=peer-score,cores=7",
        Some(12.5),
        false,
    ),
    ("ChessPar PV-split, second phase alone", "council:preset=chesspar,cores=7", None, false),
    ("ChessPar PV-split, 14 processes (`chesspar`)", "council:preset=chesspar,cores=14", Some(12.95), false),
    (
        "second phase `continued` 1/2–1/2",
        "council:preset=chesspar,second_phase=continued,groups=none,cores=7",
        None,
        false,
    ),
    ("score-margin, balanced seven", "council:balanced-7,criterion=score-margin", None, true),
    ("score-margin, seven complete with noise", "council:noise-7,criterion=score-margin", None, false),
    ("score-margin, seven complete over one table", "council:complete-7,criterion=score-margin", None, false),
    ("one search over one table, seven threads", "engine:threads=7", None, false),
];

/// §4: the weights that the genetic algorithm found for the balanced seven, in the order of their letters.
pub(super) const GENETIC_WEIGHTS: [u8; 8] = [45, 24, 254, 194, 38, 223, 15, 16];

/// §4: the hand-made weights.
pub(super) const HAND_MADE_WEIGHTS: [u8; 8] = [30, 8, 1, 3, 10, 21, 15, 6];
