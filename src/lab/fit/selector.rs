//! A rule learned from logged proposals: a weighted sum of what is known about a proposal (the features of the criterion
//! `learned`), fitted so that the expected regret is least.
//!
//! A soft-max over the proposals of a position turns sums into probabilities of being elected; the loss is the regret to be
//! expected under them, `Σ p(m) · regret(m)`, which unlike the best move alone forgives what hardly loses anything. Its
//! gradient is exact, and Adam makes it small. How good the rule is, is told by cross-validation: each fold is elected by a
//! rule that has seen none of its games.

use crate::stats::{Clusters, Estimate, bootstrap};

/// Passes over all positions.
const EPOCHS: usize = 400;
/// The first step of a weight.
const RATE: f64 = 0.05;
/// How hard weights are held to zero.
const RIDGE: f64 = 1e-4;

/// What is known of the proposals of one position, one row an elector.
#[derive(Clone, Debug, PartialEq)]
pub struct Example {
    /// The game it comes from, where that is known.
    pub game: Option<String>,
    /// A proposal's features and what its move loses, 0 to 1.
    pub proposals: Vec<(Vec<f64>, f64)>,
}

impl Example {
    /// What is lost by electing by these weights; of equals the first.
    fn regret(&self, weights: &[f64]) -> f64 {
        let mut elected: Option<(f64, f64)> = None;
        for (features, regret) in &self.proposals {
            let sum = dot(features, weights);
            if elected.is_none_or(|(most, _)| sum > most) {
                elected = Some((sum, *regret));
            }
        }
        elected.map_or(0.0, |(_, regret)| regret)
    }

    /// Adds the gradient of the expected regret.
    fn add_gradient(&self, weights: &[f64], gradient: &mut [f64]) {
        let sums: Vec<f64> = self.proposals.iter().map(|(features, _)| dot(features, weights)).collect();
        let most = sums.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let shares: Vec<f64> = sums.iter().map(|sum| (sum - most).exp()).collect();
        let whole: f64 = shares.iter().sum();
        let expected: f64 = shares.iter().zip(&self.proposals).map(|(share, (_, regret))| share / whole * regret).sum();
        for (share, (features, regret)) in shares.iter().zip(&self.proposals) {
            let pull = share / whole * (regret - expected);
            for (slope, feature) in gradient.iter_mut().zip(features) {
                *slope += pull * feature;
            }
        }
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// What came of a fit.
#[derive(Clone, Debug, PartialEq)]
pub struct Selector {
    /// One weight a feature, fitted to all examples.
    pub weights: Vec<f64>,
    /// The regret of rules that have not seen the games they elect in.
    pub cross_validated: Estimate,
}

/// Fits to all examples, and tells by so many folds how good that is. `None` without examples.
pub fn fit(examples: &[Example], folds: usize, seed: u64) -> Option<Selector> {
    let every: Vec<&Example> = examples.iter().collect();
    let weights = fitted(&every);
    let of = folds_of(examples.iter().map(|example| example.game.as_deref()), folds.max(2));
    let mut samples = Vec::with_capacity(examples.len());
    for fold in 0..folds.max(2) {
        let (held_out, training): (Vec<_>, Vec<_>) = examples.iter().zip(&of).partition(|(_, place)| **place == fold);
        let training: Vec<&Example> = training.into_iter().map(|(example, _)| example).collect();
        let rule = fitted(&training);
        samples.extend(held_out.into_iter().map(|(example, _)| (example.game.clone(), example.regret(&rule))));
    }
    let cross_validated = bootstrap(&Clusters::new(samples), seed)?;
    Some(Selector { weights, cross_validated })
}

/// The fold of each position, by the game it comes from: those of one game are in one fold.
pub(super) fn folds_of<'a>(of_games: impl Iterator<Item = Option<&'a str>>, folds: usize) -> Vec<usize> {
    let mut games = std::collections::BTreeMap::new();
    let mut next = 0;
    let mut new_place = || {
        next += 1;
        (next - 1) % folds
    };
    of_games
        .map(|game| match game {
            Some(game) => *games.entry(game).or_insert_with(&mut new_place),
            None => new_place(),
        })
        .collect()
}

/// The weights of least expected regret, by Adam from zero.
fn fitted(examples: &[&Example]) -> Vec<f64> {
    let width = examples.iter().flat_map(|example| &example.proposals).map(|(features, _)| features.len()).max();
    let width = width.unwrap_or_default();
    let (mut weights, mut first, mut second) = (vec![0.0; width], vec![0.0; width], vec![0.0; width]);
    for epoch in 1..=EPOCHS {
        let mut gradient: Vec<f64> = weights.iter().map(|weight| RIDGE * examples.len() as f64 * weight).collect();
        examples.iter().for_each(|example| example.add_gradient(&weights, &mut gradient));
        let rate = RATE * (1.0 - 0.9 * epoch as f64 / EPOCHS as f64);
        let (whole_first, whole_second) = (1.0 - 0.9_f64.powi(epoch as i32), 1.0 - 0.999_f64.powi(epoch as i32));
        let moments = first.iter_mut().zip(&mut second);
        for ((weight, slope), (first, second)) in weights.iter_mut().zip(&gradient).zip(moments) {
            let slope = slope / examples.len() as f64;
            *first = 0.9 * *first + 0.1 * slope;
            *second = 0.999 * *second + 0.001 * slope * slope;
            *weight -= rate * (*first / whole_first) / ((*second / whole_second).sqrt() + 1e-8);
        }
    }
    weights
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The second feature tells the better proposal, the first one misleads, in games of four positions.
    fn examples(count: usize) -> Vec<Example> {
        (0..count)
            .map(|i| {
                let noise = (i * 7919 % 101) as f64 / 101.0;
                let proposals = vec![(vec![1.0, noise], 0.2), (vec![0.0, 1.0 + noise], 0.0), (vec![0.5, 0.0], 0.3)];
                Example { game: Some(format!("game {}", i / 4)), proposals }
            })
            .collect()
    }

    #[test]
    fn it_learns_what_tells_the_better_proposal() {
        let selector = fit(&examples(80), 5, 1).expect("examples");
        assert!(selector.weights[1] > selector.weights[0], "{selector:?}");
        assert!(selector.cross_validated.value < 1e-9, "{selector:?}");
        assert_eq!(fit(&[], 5, 1), None);
    }

    #[test]
    fn the_gradient_is_that_of_the_expected_regret() {
        let example = &examples(1)[0];
        let expected = |weights: &[f64]| -> f64 {
            let shares: Vec<f64> = example.proposals.iter().map(|(features, _)| dot(features, weights).exp()).collect();
            let whole: f64 = shares.iter().sum();
            shares.iter().zip(&example.proposals).map(|(share, (_, regret))| share / whole * regret).sum()
        };
        let weights = [0.3, -0.2];
        let mut gradient = [0.0; 2];
        example.add_gradient(&weights, &mut gradient);
        for index in 0..2 {
            let mut moved = weights;
            moved[index] += 1e-6;
            let slope = (expected(&moved) - expected(&weights)) / 1e-6;
            assert!((slope - gradient[index]).abs() < 1e-5, "{slope} {gradient:?}");
        }
    }

    #[test]
    fn a_game_is_never_on_both_sides_of_a_fold() {
        let examples = examples(40);
        let folds = folds_of(examples.iter().map(|example| example.game.as_deref()), 3);
        for (a, fold) in examples.iter().zip(&folds) {
            for (b, other) in examples.iter().zip(&folds) {
                assert!(a.game != b.game || fold == other);
            }
        }
    }
}
