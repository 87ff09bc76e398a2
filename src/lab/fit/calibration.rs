//! What an elector's scores are worth, learned from logged proposals: +50 from one who knows nothing of king safety promises less
//! than +50 from one who does. The maps ([`Calibration`]) are those of the criterion `calibrated`.
//!
//! Each map is a logistic regression of what the oracle expects from the proposed move on the score that it was proposed with. How
//! good the maps are, is told by cross-validation: each fold is elected, by the highest expectation, with maps that have seen
//! none of its games; beside it stands the election by the highest score, which knows no maps.

use super::selector::folds_of;
use crate::stats::{Clusters, Estimate, bootstrap};
use council::Calibration;

/// Newton's method needs no more steps than these, from anywhere.
const STEPS: usize = 30;
/// How hard a map is held to the usual one, in proposals.
const RIDGE: f64 = 5.0;
/// The scale of the usual map, centipawns.
const USUAL_SCALE: f64 = 200.0;
/// No score is worth so little that a map would be flat, or falling.
const LARGEST_SCALE: f64 = 2000.0;

/// What was proposed in one position.
#[derive(Clone, Debug, PartialEq)]
pub struct JudgedPosition {
    /// The game it comes from, where that is known.
    pub game: Option<String>,
    /// What each elector proposed, in the order of the roster.
    pub proposals: Vec<Said>,
}

/// A proposal, and what it is worth.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Said {
    /// The proposer's place in the roster.
    pub elector: usize,
    /// Its score, centipawns from the player to move.
    pub score: f64,
    /// What the oracle expects from the move, 0 to 1.
    pub worth: f64,
    /// What is lost by it beside the best move, 0 to 1.
    pub regret: f64,
}

/// What came of a fit.
#[derive(Clone, Debug, PartialEq)]
pub struct Calibrations {
    /// By place in the roster.
    pub maps: Vec<Calibration>,
    /// One map for all of them together.
    pub common: Calibration,
    /// The regret of the highest expectation, by maps that have not seen the games they are used in.
    pub cross_validated: Estimate,
    /// The regret of the highest score.
    pub raw: Estimate,
    /// What the maps lose less than the scores, position by position: below 0 they are better.
    pub difference: Estimate,
}

/// Fits a map for each of so many electors, and tells by so many folds how good they are. `None` without positions.
pub fn fit(positions: &[JudgedPosition], electors: usize, folds: usize, seed: u64) -> Option<Calibrations> {
    let folds = folds.max(2);
    let of = folds_of(positions.iter().map(|position| position.game.as_deref()), folds);
    let (mut mapped, mut raw, mut difference) = (Vec::new(), Vec::new(), Vec::new());
    for fold in 0..folds {
        let (held_out, training): (Vec<_>, Vec<_>) = positions.iter().zip(&of).partition(|(_, place)| **place == fold);
        let training: Vec<&JudgedPosition> = training.into_iter().map(|(position, _)| position).collect();
        let maps = maps(&training, electors);
        for (position, _) in held_out {
            let by_map = elected(position, |said| maps[said.elector].expectation(said.score));
            let by_score = elected(position, |said| said.score);
            let game = || position.game.clone();
            mapped.push((game(), by_map));
            raw.push((game(), by_score));
            difference.push((game(), by_map - by_score));
        }
    }
    let estimate = |samples| bootstrap(&Clusters::new(samples), seed);
    let every: Vec<&JudgedPosition> = positions.iter().collect();
    Some(Calibrations {
        maps: maps(&every, electors),
        common: map_of(every.iter().flat_map(|position| &position.proposals)),
        cross_validated: estimate(mapped)?,
        raw: estimate(raw)?,
        difference: estimate(difference)?,
    })
}

/// What is lost by electing the proposal of the highest value; of equals the first.
fn elected(position: &JudgedPosition, value: impl Fn(&Said) -> f64) -> f64 {
    let better = |best: Option<(f64, f64)>, said: &Said| match best {
        Some((highest, regret)) if highest >= value(said) => Some((highest, regret)),
        _ => Some((value(said), said.regret)),
    };
    position.proposals.iter().fold(None, better).map_or(0.0, |(_, regret)| regret)
}

fn maps(positions: &[&JudgedPosition], electors: usize) -> Vec<Calibration> {
    let said_by = |elector| positions.iter().flat_map(|p| &p.proposals).filter(move |said| said.elector == elector);
    (0..electors).map(|elector| map_of(said_by(elector))).collect()
}

/// The map of least cross-entropy, by Newton's method: with slope and height instead of scale and offset it is convex.
fn map_of<'a>(said: impl Iterator<Item = &'a Said> + Clone) -> Calibration {
    // Scores in units of the usual scale, so that both unknowns are of the order of 1.
    let (mut slope, mut height) = (1.0, 0.0);
    for _ in 0..STEPS {
        let (mut down_slope, mut down_height) = (RIDGE * (slope - 1.0), RIDGE * height);
        let (mut slope_slope, mut slope_height, mut height_height) = (RIDGE, 0.0, RIDGE);
        for said in said.clone() {
            let score = said.score / USUAL_SCALE;
            let expected = 1.0 / (1.0 + (-(slope * score + height)).exp());
            let (error, weight) = (expected - said.worth, expected * (1.0 - expected));
            down_slope += error * score;
            down_height += error;
            slope_slope += weight * score * score;
            slope_height += weight * score;
            height_height += weight;
        }
        // Positive, as the ridge makes both unknowns count.
        let determinant = slope_slope * height_height - slope_height * slope_height;
        slope -= (down_slope * height_height - down_height * slope_height) / determinant;
        height -= (down_height * slope_slope - down_slope * slope_height) / determinant;
    }
    let scale = USUAL_SCALE / slope.max(USUAL_SCALE / LARGEST_SCALE);
    Calibration { offset: height * scale, scale }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The second elector's scores are thrice as high as they should be, and it always proposes the worse move.
    fn positions(count: usize) -> Vec<JudgedPosition> {
        (0..count)
            .map(|i| {
                let real = (i * 7919 % 401) as f64 - 200.0;
                let said = |elector, loss: f64, factor: f64| {
                    let worth = Calibration { offset: 0.0, scale: 200.0 }.expectation(real - loss);
                    Said { elector, score: factor * (real - loss), worth, regret: loss / 1000.0 }
                };
                JudgedPosition {
                    game: Some(format!("game {}", i / 4)),
                    proposals: vec![said(0, 0.0, 1.0), said(1, 30.0, 3.0)],
                }
            })
            .collect()
    }

    #[test]
    fn each_elector_has_the_scale_of_its_scores() {
        let found = fit(&positions(800), 2, 5, 1).expect("positions");
        let [first, second] = found.maps[..] else { panic!("{found:?}") };
        assert!((first.scale - 200.0).abs() < 10.0 && first.offset.abs() < 5.0, "{first:?}");
        assert!((second.scale - 600.0).abs() < 40.0 && second.offset.abs() < 20.0, "{second:?}");
    }

    #[test]
    fn maps_tell_who_exaggerates() {
        let found = fit(&positions(800), 2, 5, 1).expect("positions");
        assert!(found.raw.value > 0.01 && found.cross_validated.value < 0.005, "{found:?}");
        assert!(found.difference.high < 0.0, "{found:?}");
        assert_eq!(fit(&[], 2, 5, 1), None);
    }

    #[test]
    fn an_elector_that_says_nothing_or_the_contrary_still_has_a_rising_map() {
        let backwards = |i: usize| {
            let score = (i % 200) as f64 - 100.0;
            Said { elector: 0, score, worth: if score > 0.0 { 0.0 } else { 1.0 }, regret: 0.0 }
        };
        let positions: Vec<JudgedPosition> =
            (0..400).map(|i| JudgedPosition { game: None, proposals: vec![backwards(i)] }).collect();
        let found = fit(&positions, 2, 5, 1).expect("positions");
        assert!(found.maps[0].scale > 0.0 && found.maps[0].scale <= LARGEST_SCALE, "{found:?}");
        assert_eq!(found.maps[1], Calibration { offset: 0.0, scale: USUAL_SCALE });
    }
}
