//! The meaning of scores, by the public formulas of Lichess: players know these figures.
//!
//! Sources: the page <https://lichess.org/page/accuracy> and the program behind it
//! (github.com/lichess-org/lila, module `analyse`: `WinPercent`, `AccuracyPercent`, `AccuracyCP`,
//! `Advice`). Only the formulas are theirs, the code is ours.

use domain::{BySide, Color, Score};
use serde::{Deserialize, Serialize};

/// The value of the starting position for White.
pub const START_VALUE: Score = Score::Cp(15);

/// The bound of scores, in centipawns; a mate counts as much.
const CEILING: i32 = 1000;

const STEEPNESS: f64 = 0.003_682_08;

/// Returns centipawns within the ceiling, mates at it.
pub fn bounded_centipawns(score: Score) -> i32 {
    match score {
        Score::Cp(centipawns) => centipawns.clamp(-CEILING, CEILING),
        // Mated already counts as being mated.
        Score::Mate(moves) if moves > 0 => CEILING,
        Score::Mate(_) => -CEILING,
    }
}

/// Returns winning chances from -1 (lost) to 1 (won), for the side of the score.
fn winning_chances(score: Score) -> f64 {
    2.0 / (1.0 + (-STEEPNESS * f64::from(bounded_centipawns(score))).exp()) - 1.0
}

/// Returns the expectation of a score, per cent of a point from 0 to 100, for the side of the score.
pub fn expectation(score: Score) -> f64 {
    50.0 + 50.0 * winning_chances(score)
}

/// Returns the accuracy of a move, 0 to 100, from the expectation before and after it, both for the
/// mover.
pub fn move_accuracy(before: f64, after: f64) -> f64 {
    if after >= before {
        return 100.0;
    }
    let raw = 103.166_810_071_164_9 * (-0.043_544_153_867_539_51 * (before - after)).exp() - 3.166_924_740_191_411;
    // One per cent for the imperfection of the analysis.
    (raw + 1.0).clamp(0.0, 100.0)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum MoveLabel {
    /// It costs a tenth of the winning chances (they range over two from lost to won).
    Inaccuracy,
    /// Two tenths.
    Mistake,
    /// Three tenths and more.
    Blunder,
}

impl MoveLabel {
    pub const ALL: [Self; 3] = [Self::Inaccuracy, Self::Mistake, Self::Blunder];

    /// Returns the word, the sign in a game's text, and the Numeric Annotation Glyph of the PGN specification.
    const fn notations(self) -> (&'static str, &'static str, u8) {
        match self {
            Self::Inaccuracy => ("inaccuracy", "?!", 6),
            Self::Mistake => ("mistake", "?", 2),
            Self::Blunder => ("blunder", "??", 4),
        }
    }

    pub const fn word(self) -> &'static str {
        self.notations().0
    }

    pub const fn sign(self) -> &'static str {
        self.notations().1
    }

    pub const fn nag(self) -> u8 {
        self.notations().2
    }

    /// Returns the label of a move by the values before and after it, both for the mover. The
    /// judge's own move has no label, whatever the values; the caller excludes it.
    pub fn of(before: Score, after: Score) -> Option<Self> {
        match (before, after) {
            (Score::Cp(_), Score::Cp(_)) => Self::of_loss(winning_chances(before) - winning_chances(after)),
            (Score::Cp(before), Score::Mate(..=0)) => Some(Self::of_mate_at(-before)),
            (Score::Mate(1..), Score::Cp(after)) => Some(Self::of_mate_at(after)),
            (Score::Mate(1..), Score::Mate(..=0)) => Some(Self::Blunder),
            _ => None,
        }
    }

    fn of_loss(chances: f64) -> Option<Self> {
        match chances {
            0.3.. => Some(Self::Blunder),
            0.2.. => Some(Self::Mistake),
            0.1.. => Some(Self::Inaccuracy),
            _ => None,
        }
    }

    /// Returns the label of a mate given away or allowed. Such a mate matters less in a game decided
    /// by `decided` centipawns.
    fn of_mate_at(decided: i32) -> Self {
        match decided {
            1000.. => Self::Inaccuracy,
            701.. => Self::Mistake,
            _ => Self::Blunder,
        }
    }
}

/// Returns the accuracy of a whole game: for each side the mean of two means of its moves' accuracies,
/// one weighted by the volatility around each move, the other harmonic. `after` are the values after
/// every move, from White's side; `first` had the first move.
pub fn game_accuracy(first: Color, after: &[Score]) -> BySide<Option<f64>> {
    let values: Vec<f64> = std::iter::once(START_VALUE).chain(after.iter().copied()).map(expectation).collect();
    let weights = volatility(&values, after.len());
    let side = |color: Color| {
        let moves = values.windows(2).zip(&weights).enumerate().filter_map(|(ply, (pair, weight))| {
            let mover = if ply % 2 == 0 { first } else { !first };
            let (before, after) = if color.is_white() { (pair[0], pair[1]) } else { (pair[1], pair[0]) };
            (mover == color).then(|| (move_accuracy(before, after), *weight))
        });
        let moves: Vec<(f64, f64)> = moves.collect();
        // Rounding may lead beyond the best value.
        Some(f64::midpoint(weighted_mean(&moves)?, harmonic_mean(&moves)?).min(100.0))
    };
    BySide { white: side(Color::White), black: side(Color::Black) }
}

/// Returns the change of the expectations (`values`, one more than there are `moves`) around each
/// move: the standard deviation over a window up to it, or from the start of the game.
fn volatility(values: &[f64], moves: usize) -> Vec<f64> {
    let size = (moves / 10).clamp(2, 8).min(values.len());
    let first = values.get(..size).unwrap_or(values);
    let begun = std::iter::repeat_n(first, size.saturating_sub(2));
    begun.chain(values.windows(size.max(1))).map(|window| standard_deviation(window).clamp(0.5, 12.0)).collect()
}

fn standard_deviation(values: &[f64]) -> f64 {
    let count = values.len().max(1) as f64;
    let mean = values.iter().sum::<f64>() / count;
    (values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / count).sqrt()
}

fn weighted_mean(values: &[(f64, f64)]) -> Option<f64> {
    let weight: f64 = values.iter().map(|(_, weight)| weight).sum();
    (weight > 0.0).then(|| values.iter().map(|(value, weight)| value * weight).sum::<f64>() / weight)
}

/// Values under 1 count as 1, so that one move does not decide all.
fn harmonic_mean(values: &[(f64, f64)]) -> Option<f64> {
    let inverse: f64 = values.iter().map(|(value, _)| 1.0 / value.max(1.0)).sum();
    (!values.is_empty()).then(|| values.len() as f64 / inverse)
}

/// Returns the centipawns lost by a move, at least 0, from the bounded values before and after it,
/// both from the mover's side.
pub fn centipawn_loss(before: Score, after: Score) -> u32 {
    (bounded_centipawns(before) - bounded_centipawns(after)).max(0).unsigned_abs()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chances_follow_a_published_curve() {
        // Lichess' page gives these: a pawn is 59 %, three are 75 %.
        assert!((expectation(Score::Cp(0)) - 50.0).abs() < 1e-9);
        assert!((expectation(Score::Cp(100)) - 59.1).abs() < 0.1);
        assert!((expectation(Score::Cp(300)) - 75.1).abs() < 0.1);
        assert_eq!(expectation(Score::Mate(3)), expectation(Score::Cp(2000)));
        assert_eq!(expectation(Score::Mate(0)), expectation(Score::Mate(-1)), "mated is lost");
    }

    #[test]
    fn labels_follow_lost_chances() {
        let label = |before, after| MoveLabel::of(Score::Cp(before), Score::Cp(after));
        assert_eq!(label(0, -50), None);
        assert_eq!(label(0, -60), Some(MoveLabel::Inaccuracy));
        assert_eq!(label(0, -120), Some(MoveLabel::Mistake));
        assert_eq!(label(0, -180), Some(MoveLabel::Blunder));
        assert_eq!(label(900, 700), None, "what is won stays won");
    }

    #[test]
    fn mate_label_needs_an_alternative() {
        let of = MoveLabel::of;
        assert_eq!(of(Score::Mate(2), Score::Cp(300)), Some(MoveLabel::Blunder));
        assert_eq!(of(Score::Mate(2), Score::Cp(800)), Some(MoveLabel::Mistake));
        assert_eq!(of(Score::Mate(2), Score::Cp(1200)), Some(MoveLabel::Inaccuracy));
        assert_eq!(of(Score::Cp(-1200), Score::Mate(-4)), Some(MoveLabel::Inaccuracy));
        assert_eq!(of(Score::Cp(0), Score::Mate(-4)), Some(MoveLabel::Blunder));
        assert_eq!(of(Score::Mate(5), Score::Mate(3)), None);
        assert_eq!(of(Score::Mate(2), Score::Mate(-2)), Some(MoveLabel::Blunder));
    }

    #[test]
    fn accuracy_reflects_a_blunder() {
        let quiet = vec![Score::Cp(15); 40];
        let exact = game_accuracy(Color::White, &quiet);
        assert_eq!((exact.white, exact.black), (Some(100.0), Some(100.0)));
        let mut blundered = quiet.clone();
        blundered[21..].fill(Score::Cp(600));
        let accuracy = game_accuracy(Color::White, &blundered);
        assert_eq!(accuracy.white, Some(100.0));
        assert!(accuracy.black.is_some_and(|black| black < 85.0), "{accuracy:?}");
    }

    #[test]
    fn side_without_moves_has_no_accuracy() {
        let accuracy = game_accuracy(Color::White, &[Score::Cp(20)]);
        assert!(accuracy.white.is_some() && accuracy.black.is_none());
        assert_eq!(game_accuracy(Color::White, &[]).white, None);
    }

    proptest::proptest! {
        #[test]
        fn accuracies_stay_within_bounds(scores in proptest::collection::vec(-3000i32..3000, 0..200)) {
            let after: Vec<Score> = scores.into_iter().map(Score::Cp).collect();
            let accuracy = game_accuracy(Color::Black, &after);
            for value in [accuracy.white, accuracy.black].into_iter().flatten() {
                proptest::prop_assert!((0.0..=100.0).contains(&value), "{value}");
            }
        }
    }
}
