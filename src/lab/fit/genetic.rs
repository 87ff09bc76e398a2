//! The genetic algorithm for the weights of the heuristics, exactly as published (docs/method.md §8).
//!
//! An individual is 64 bits: eight weights of 0 to 255 in the order of their letters, the first in its highest bits. It elects by the criterion `weights`
//! among logged proposals; the more best moves it elects, the fitter it is. Everything is decided by a seed, and a generation
//! is a plain value, so that it can be kept and taken up again.

use std::collections::BTreeMap;

use rand::{RngExt, SeedableRng, rngs::StdRng};
use serde::{Deserialize, Serialize};

use council::HeuristicWeights;
use domain::{Heuristic, Knowledge};

pub const INDIVIDUALS: usize = 30;
/// The probability that two parents exchange a segment.
const CROSSOVER: f64 = 0.6;
/// The probability that a bit turns over.
const MUTATION: f64 = 0.01;
/// Best moves of 500 that make an individual no fitter than another.
const THRESHOLD: f64 = 70.0;

/// The proposed moves of one position, as the criterion `weights` sees them: the number of proposers that know each heuristic,
/// with a net for all eight, and true for a best move.
pub type LoggedBallot = Vec<([u32; 8], bool)>;

/// Creates the ballot of one position from proposals: the move, its proposer's knowledge, and true for a best move.
pub fn ballot<M: PartialEq>(proposals: impl IntoIterator<Item = (M, Knowledge, bool)>) -> LoggedBallot {
    let (mut proposed, mut moves) = (Vec::new(), LoggedBallot::new());
    for (mv, knowledge, is_best) in proposals {
        let place = proposed.iter().position(|known| *known == mv).unwrap_or_else(|| {
            proposed.push(mv);
            moves.push(([0; 8], is_best));
            moves.len() - 1
        });
        for heuristic in knowledge.heuristics() {
            for (of_eight, count) in Heuristic::ALL.into_iter().zip(&mut moves[place].0) {
                // A net weighs what the eight weigh together, as in the criterion.
                *count += u32::from(heuristic == of_eight || heuristic == Heuristic::Net);
            }
        }
    }
    moves
}

/// Returns true if a best move is elected. The first proposed move wins ties.
fn elects_best(ballot: &LoggedBallot, weights: [u8; 8]) -> bool {
    let weight = |known: &[u32; 8]| -> u32 { known.iter().zip(weights).map(|(count, w)| count * u32::from(w)).sum() };
    let heaviest = ballot.iter().map(|(known, _)| weight(known)).max();
    ballot.iter().find(|(known, _)| Some(weight(known)) == heaviest).is_some_and(|(_, is_best)| *is_best)
}

/// Returns weights, in the order of the letters `mbxkcpar`, as the council's settings have them.
pub fn settings(weights: [u8; 8]) -> HeuristicWeights {
    let [m, b, x, k, c, p, a, r] = Heuristic::ALL.map(|heuristic| f64::from(weights[heuristic as usize]));
    HeuristicWeights { m, b, x, k, c, p, a, r }
}

/// Returns the number of positions in which these weights elect a best move.
pub fn best_moves(weights: [u8; 8], ballots: &[LoggedBallot]) -> usize {
    ballots.iter().filter(|ballot| elects_best(ballot, weights)).count()
}

/// The published fitness: 1 below 70 best moves of 500, else `(n − 70)³ / 500 + 1`. Other numbers of positions are taken to 500.
fn fitness(best_moves: usize, positions: usize) -> f64 {
    let of_500 = 500.0 * best_moves as f64 / positions.max(1) as f64;
    if of_500 < THRESHOLD { 1.0 } else { (of_500 - THRESHOLD).powi(3) / 500.0 + 1.0 }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Generation {
    /// Number of earlier generations.
    pub number: u32,
    individuals: Vec<u64>,
    /// The best so far and its best moves.
    pub champion: (u64, usize),
}

impl Generation {
    pub fn first(ballots: &[LoggedBallot], seed: u64) -> Self {
        let mut random = StdRng::seed_from_u64(seed);
        let individuals = (0..INDIVIDUALS).map(|_| random.random()).collect();
        Self { number: 0, individuals, champion: (0, 0) }.judged(ballots)
    }

    #[must_use]
    pub fn next(&self, ballots: &[LoggedBallot], seed: u64) -> Self {
        let mut random = StdRng::seed_from_u64(seed ^ (u64::from(self.number) + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15));
        let fitness = |individual: &u64| fitness(best_moves(individual.to_be_bytes(), ballots), ballots.len());
        let fitness: Vec<f64> = self.individuals.iter().map(fitness).collect();
        let mut individuals = Vec::with_capacity(INDIVIDUALS);
        while individuals.len() < INDIVIDUALS {
            let parents = [0, 1].map(|_| self.individuals[roulette(&fitness, &mut random)]);
            individuals.extend(cross(parents, &mut random).map(|child| mutate(child, &mut random)));
        }
        Self { number: self.number + 1, individuals, champion: self.champion }.judged(ballots)
    }

    /// The last of those that were kept, by their numbers, that is not beyond `number`.
    pub fn latest(kept: &BTreeMap<usize, Self>, number: u32) -> Option<&Self> {
        kept.range(..=number as usize).next_back().map(|(_, generation)| generation)
    }

    fn judged(mut self, ballots: &[LoggedBallot]) -> Self {
        for individual in &self.individuals {
            let best_moves = best_moves(individual.to_be_bytes(), ballots);
            if best_moves > self.champion.1 {
                self.champion = (*individual, best_moves);
            }
        }
        self
    }
}

/// Draws a place, each in proportion to its fitness.
fn roulette(fitness: &[f64], random: &mut StdRng) -> usize {
    let mut left = random.random_range(0.0..1.0) * fitness.iter().sum::<f64>();
    for (place, share) in fitness.iter().enumerate() {
        left -= share;
        if left < 0.0 {
            return place;
        }
    }
    fitness.len().saturating_sub(1)
}

/// Two parents exchange one segment of their bits, or none.
fn cross([a, b]: [u64; 2], random: &mut StdRng) -> [u64; 2] {
    if !random.random_bool(CROSSOVER) {
        return [a, b];
    }
    let (from, to) = (random.random_range(0..64_u32), random.random_range(0..64_u32));
    let (from, to) = (from.min(to), from.max(to));
    let segment = (u64::MAX >> (63 - (to - from))) << from;
    [a & !segment | b & segment, b & !segment | a & segment]
}

fn mutate(individual: u64, random: &mut StdRng) -> u64 {
    let turned = (0..64).filter(|_| random.random_bool(MUTATION)).fold(0, |bits, bit| bits | 1_u64 << bit);
    individual ^ turned
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn knowledge(letters: &str) -> Knowledge {
        letters.parse().expect("letters")
    }

    /// Returns ballots in which the elector that knows pawns is right and the two others are wrong.
    fn pawns_are_right(count: usize) -> Vec<LoggedBallot> {
        let (p, a, c) = (knowledge("mp"), knowledge("ma"), knowledge("mc"));
        vec![ballot([("e2e4", a, false), ("e2e4", c, false), ("d2d4", p, true)]); count]
    }

    #[test]
    fn the_fitness_is_the_published_one() {
        assert_eq!((fitness(69, 500), fitness(70, 500)), (1.0, 1.0));
        assert!((fitness(100, 500) - 55.0).abs() < 1e-9);
        assert!((fitness(20, 100) - 55.0).abs() < 1e-9, "of other numbers the share counts");
    }

    #[test]
    fn genetic_fit_finds_the_right_heuristic() {
        let ballots = pawns_are_right(100);
        assert_eq!(super::best_moves([30, 8, 1, 3, 10, 21, 15, 6], &ballots), 0, "the hand-made weights do not");
        let mut generation = Generation::first(&ballots, 1);
        for _ in 0..30 {
            generation = generation.next(&ballots, 1);
        }
        let (champion, best_moves) = generation.champion;
        assert_eq!(best_moves, 100, "{:?}", champion.to_be_bytes());
        let weights = settings(champion.to_be_bytes());
        assert!(weights.p > weights.a + weights.c + weights.m, "{weights:?}");
    }

    #[test]
    fn net_weighs_as_much_as_all_heuristics() {
        let weights = [30, 8, 1, 3, 10, 21, 15, 6];
        let net_against = |letters: &str| ballot([("e2e4", knowledge(letters), false), ("d2d4", knowledge("n"), true)]);
        assert!(elects_best(&net_against("mbxkcpa"), weights));
        assert!(!elects_best(&net_against("mbxkcpar"), weights), "as heavy, and proposed first");
        let settings = settings(weights);
        assert_eq!(settings.of(Heuristic::Net), f64::from(weights.map(u32::from).iter().sum::<u32>()));
    }

    #[test]
    fn resumed_fit_equals_uninterrupted_fit() {
        let ballots = pawns_are_right(50);
        let first = Generation::first(&ballots, 7);
        let text = serde_json::to_string(&first).expect("JSON");
        let kept: Generation = serde_json::from_str(&text).expect("the same");
        assert_eq!(kept.next(&ballots, 7), first.next(&ballots, 7));
    }

    #[test]
    fn fewer_generations_return_an_earlier_one() {
        let ballots = pawns_are_right(10);
        let mut generation = Generation::first(&ballots, 3);
        let mut kept = BTreeMap::new();
        for _ in 0..4 {
            generation = generation.next(&ballots, 3);
            kept.insert(generation.number as usize, generation.clone());
        }
        let number = |wanted| Generation::latest(&kept, wanted).map(|generation| generation.number);
        assert_eq!([0, 2, 4, 9].map(number), [None, Some(2), Some(4), Some(4)]);
    }

    proptest! {
        #[test]
        fn crossover_preserves_bits(a: u64, b: u64, seed: u64) {
            let [c, d] = cross([a, b], &mut StdRng::seed_from_u64(seed));
            prop_assert_eq!(a ^ b, c ^ d);
            prop_assert_eq!(a & b, c & d);
        }
    }
}
