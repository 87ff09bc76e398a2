//! Scripts of hostile workers: sequences of claims, drawn from a seed. The property tests of the
//! vote, the tests over a server and the example program `hostile_worker` share them.

use std::time::Duration;

use domain::{Bound, Score};
use rand::{RngExt, SeedableRng, rngs::StdRng};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Attack {
    /// An honest score for the worst move, searched deeper than anything.
    FalseDepth,
    /// The worst move, two pawns better than it is.
    TwoPawns,
    Mate,
    /// The worst move mates, as a bound.
    MateAsBound,
    Queen,
    /// The worst move is just within what an honest search may differ by.
    JustPlausible,
    /// Honest until shortly before the end, then the worst move.
    TruthThenLie,
    /// Honest for one search, a lie for the next.
    EverySecond,
    EveryMove,
    /// All moves lose, which shifts the scale of all other votes.
    LowestScore,
    /// Agrees with everybody, deeper than anybody.
    DeepAgreement,
    /// Any of the moves, with any numbers.
    Noise,
    BeyondBounds,
    Illegal,
    /// A made-up variation that wins everything at its end.
    MadeUpVariation,
    RootMovesDone,
    /// Nodes beyond what any machine can visit.
    Nodes,
    Proposals,
    FinishAtOnce,
    Fail,
    GiveBack,
    /// Proposes nothing, and counts nodes in its heartbeats.
    Silence,
    Stale,
    /// Proposes only when the time is nearly up.
    LastMoment,
}

impl Attack {
    pub const ALL: [Self; 24] = [
        Self::FalseDepth,
        Self::TwoPawns,
        Self::Mate,
        Self::MateAsBound,
        Self::Queen,
        Self::JustPlausible,
        Self::TruthThenLie,
        Self::EverySecond,
        Self::EveryMove,
        Self::LowestScore,
        Self::DeepAgreement,
        Self::Noise,
        Self::BeyondBounds,
        Self::Illegal,
        Self::MadeUpVariation,
        Self::RootMovesDone,
        Self::Nodes,
        Self::Proposals,
        Self::FinishAtOnce,
        Self::Fail,
        Self::GiveBack,
        Self::Silence,
        Self::Stale,
        Self::LastMoment,
    ];

    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|attack| format!("{attack:?}").eq_ignore_ascii_case(name))
    }
}

/// One thing that a worker says of a search, with the delay after the claim before, or after the command.
pub type Claim = (Duration, Says);

#[derive(Clone, Debug)]
pub enum Says {
    Proposal(Proposed),
    Text(String),
    /// The search before this one is told of as if it were this one.
    Stale,
    Finished(u64),
    Failed,
    GivenBack,
}

/// A proposal. The move is the one of this place among the legal moves, from the best to the worst; its variation follows.
#[derive(Clone, Debug)]
pub struct Proposed {
    pub place: usize,
    pub score: Score,
    pub bound: Bound,
    pub depth: u32,
    pub nodes: u64,
    pub root_moves_done: u32,
    pub variation: Vec<usize>,
}

/// Facts about the position that a hostile worker knows.
#[derive(Clone, Copy, Debug)]
pub struct Knows {
    /// Number of legal moves, ordered from the best to the worst.
    pub moves: usize,
    /// Value of the best move, centipawns.
    pub best: i32,
    pub worst: i32,
    pub time: Duration,
    pub asked: u64,
}

pub fn claims(attack: Attack, seed: u64, knows: Knows) -> Vec<Claim> {
    let random = &mut StdRng::seed_from_u64(seed);
    let (best, worst, last) = (knows.best, knows.worst, knows.moves.saturating_sub(1));
    let honest = proposal(0, Score::Cp(best), 9);
    let lie = |score, depth| proposal(last, score, depth);
    let said = |says| vec![(Duration::ZERO, says)];
    let at_once = |proposed| said(Says::Proposal(proposed));
    let late = |proposed, part: f64| vec![(knows.time.mul_f64(part), Says::Proposal(proposed))];
    match attack {
        Attack::FalseDepth => at_once(lie(Score::Cp(worst), 37 + random.random_range(0..17))),
        Attack::TwoPawns => at_once(lie(Score::Cp(worst + 200), 12)),
        Attack::Mate => at_once(lie(Score::Mate(3), 20)),
        Attack::MateAsBound => at_once(Proposed { bound: Bound::Lower, ..lie(Score::Mate(2), 20) }),
        Attack::Queen => at_once(lie(Score::Cp(best + 900), 30)),
        Attack::JustPlausible => at_once(lie(Score::Cp(best + 199), 14)),
        Attack::TruthThenLie => [at_once(honest), late(lie(Score::Cp(best + 60), 30), 0.9)].concat(),
        Attack::EverySecond if knows.asked.is_multiple_of(2) => at_once(honest),
        Attack::EverySecond => at_once(lie(Score::Cp(best + 150), 24)),
        Attack::EveryMove => {
            let all = (0..knows.moves).map(|place| proposal(place, Score::Cp(best + 50), 20));
            all.map(|proposed| (knows.time / 40, Says::Proposal(proposed))).collect()
        }
        Attack::LowestScore => at_once(lie(Score::Cp(-900_000), 30)),
        Attack::DeepAgreement => at_once(proposal(0, Score::Cp(best), 900)),
        Attack::Noise => (0..random.random_range(0..12)).map(|_| noise(random, knows)).collect(),
        Attack::BeyondBounds => at_once(lie(Score::Cp(2_000_000), 100_000)),
        Attack::Illegal => said(Says::Text(["a1a8", "", "e9e9", "0000"][random.random_range(0..4)].to_owned())),
        Attack::MadeUpVariation => {
            let variation = (0..random.random_range(1..40)).map(|_| random.random_range(0..40)).collect();
            at_once(Proposed { variation, ..lie(Score::Cp(best + 190), 40) })
        }
        Attack::RootMovesDone => at_once(Proposed { nodes: 1, root_moves_done: 1_000, ..lie(Score::Cp(worst), 11) }),
        Attack::Nodes => at_once(Proposed { nodes: 1 << 49, ..lie(Score::Cp(best + 30), 60) }),
        Attack::Proposals => {
            (0..2_000).map(|depth| lie(Score::Cp(best + 20), 1 + depth % 60)).flat_map(at_once).collect()
        }
        Attack::FinishAtOnce => said(Says::Finished(1 << 40)),
        Attack::Fail => said(Says::Failed),
        Attack::GiveBack => said(Says::GivenBack),
        Attack::Silence => Vec::new(),
        Attack::Stale => [said(Says::Stale), at_once(lie(Score::Cp(best + 40), 18))].concat(),
        Attack::LastMoment => late(lie(Score::Cp(best + 40), 18), 0.95),
    }
}

fn proposal(place: usize, score: Score, depth: u32) -> Proposed {
    let (bound, nodes, root_moves_done, variation) = (Bound::Exact, 400_000, 0, Vec::new());
    Proposed { place, score, bound, depth, nodes, root_moves_done, variation }
}

/// Anything that can be said, truth mixed with lies.
fn noise(random: &mut StdRng, knows: Knows) -> Claim {
    let score = match random.random_range(0..4) {
        0 => Score::Mate([-900, -3, -1, 1, 2, 5, 900][random.random_range(0..7)]),
        1 => Score::Cp(random.random_range(-30_000..30_000)),
        _ => Score::Cp(knows.best + random.random_range(-300..300)),
    };
    let says = match random.random_range(0..20) {
        0 => Says::Finished(random.random_range(0..1 << 50)),
        1 => Says::Failed,
        2 => Says::Stale,
        _ => Says::Proposal(Proposed {
            place: random.random_range(0..knows.moves.max(1)),
            score,
            bound: [Bound::Exact, Bound::Lower, Bound::Upper][random.random_range(0..3)],
            depth: [0, 1, 8, 12, 37, 1_000][random.random_range(0..6)],
            nodes: random.random_range(0..1 << 50),
            root_moves_done: random.random_range(0..200),
            variation: (0..random.random_range(0..6)).map(|_| random.random_range(0..40)).collect(),
        }),
    };
    (knows.time.mul_f64(random.random_range(0.0..0.2)), says)
}
