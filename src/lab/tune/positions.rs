//! Labelled positions as the fit sees them: each is traced once and is from then on a few coefficients.

use std::{
    hash::{DefaultHasher, Hash, Hasher},
    io::{self, BufRead},
};

use crate::{
    epd::BadLine,
    training::{Record, dataset::Mixture},
};
use engine::{
    board::{Board, Color},
    evaluation::{self, FULL_PHASE, FULL_SCALE, Packed, Recipe, Trace, WEIGHTS, Weights},
};

/// A middlegame and an endgame value in centipawns that may lie between two integers.
pub(super) type TaperedPair = [f64; 2];

/// A position reduced to what does not change while the weights do.
pub(super) struct TracedPosition {
    /// Weights, each with its count for White less that for Black.
    terms: Box<[(u16, i16)]>,
    /// The part of the middlegame value that counts, 0 to 1.
    middlegame: f64,
    /// The part of the endgame value that counts when white is ahead, and when black is, 0 to 1.
    endgame: [f64; 2],
    /// The terms without weights, centipawns for White.
    offset: f64,
    /// White's expectation, 0 to 1.
    pub(super) label: f64,
}

impl TracedPosition {
    fn new(board: &Board, recipe: &Recipe, label: f64) -> Self {
        let mut counts = Counts(vec![0; Weights::COUNT]);
        evaluation::traced(board, recipe, &WEIGHTS, &mut counts);
        let terms = counts.0.iter().zip(0..).filter(|(count, _)| **count != 0);
        let middlegame = f64::from(evaluation::phase(board)) / f64::from(FULL_PHASE);
        let endgame = [Packed::ZERO, Packed::new(0, -1)].map(|sum| {
            let scale = f64::from(evaluation::scale(board, sum)) / f64::from(FULL_SCALE);
            scale * (1.0 - middlegame)
        });
        Self {
            terms: terms.map(|(&count, weight)| (weight, count)).collect(),
            middlegame,
            endgame,
            offset: f64::from(evaluation::offset(board)),
            label,
        }
    }

    fn sums(&self, weights: &[TaperedPair]) -> TaperedPair {
        self.terms.iter().fold([0.0; 2], |[middlegame, endgame], (weight, count)| {
            let weight = weights[usize::from(*weight)];
            let count = f64::from(*count);
            [middlegame + weight[0] * count, endgame + weight[1] * count]
        })
    }

    /// Returns the shares of the middlegame and endgame values, which depend on the side ahead.
    fn shares(&self, sums: TaperedPair) -> TaperedPair {
        [self.middlegame, self.endgame[usize::from(sums[1] < 0.0)]]
    }

    /// The evaluation with these weights, centipawns from white's side.
    pub(super) fn value(&self, weights: &[TaperedPair]) -> f64 {
        let sums = self.sums(weights);
        let shares = self.shares(sums);
        sums[0] * shares[0] + sums[1] * shares[1] + self.offset
    }

    /// Adds to `gradient` what half the squared error changes by with each weight, but for the constant factor `scaling`.
    pub(super) fn add_gradient(&self, weights: &[TaperedPair], scaling: f64, gradient: &mut [TaperedPair]) {
        let sums = self.sums(weights);
        let shares = self.shares(sums);
        let expected = sigmoid(scaling * (sums[0] * shares[0] + sums[1] * shares[1] + self.offset));
        let slope = (expected - self.label) * expected * (1.0 - expected);
        for (weight, count) in &self.terms {
            let sum = &mut gradient[usize::from(*weight)];
            let count = f64::from(*count) * slope;
            sum[0] += count * shares[0];
            sum[1] += count * shares[1];
        }
    }
}

pub(super) fn sigmoid(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

/// Counts by weight, white's less black's.
struct Counts(Vec<i16>);

impl Trace for Counts {
    fn note(&mut self, index: usize, color: Color, count: i32) {
        // No weight counts more than a few hundred times on 64 squares.
        self.0[index] += (color.sign() * count) as i16;
    }
}

/// Labelled positions in the order of the file.
///
/// The last tenth is held out: the fit never sees it. As games follow each other in the file, at
/// most one is on both sides of the cut.
pub struct LabelledPositions {
    pub(super) samples: Vec<TracedPosition>,
    /// A fingerprint of the positions and the recipe, so that a state is not resumed with others.
    pub(super) fingerprint: u64,
}

impl LabelledPositions {
    /// Reads one position a line: a FEN, `;`, and the score white is expected to get, from 0 to 1 (the result of the game
    /// or a probability). What follows `#` is a comment. Lines that are wrong are left out and returned beside. Only what
    /// `recipe` has in full is fitted; the rest must count nothing in it.
    pub fn read(input: impl BufRead, recipe: &Recipe) -> io::Result<(Self, Vec<BadLine>)> {
        let (mut samples, mut skipped) = (Vec::new(), Vec::new());
        let mut hasher = hasher_of(recipe);
        for (number, line) in (1..).zip(input.split(b'\n')) {
            let line = line?;
            let text = String::from_utf8_lossy(&line);
            let text = text.split('#').next().unwrap_or_default().trim();
            if text.is_empty() {
                continue;
            }
            text.hash(&mut hasher);
            match labelled(text) {
                Ok((board, label)) => samples.push(TracedPosition::new(&board, recipe, label)),
                Err(reason) => skipped.push(BadLine { number, reason }),
            }
        }
        Ok((Self { samples, fingerprint: hasher.finish() }, skipped))
    }

    /// Takes positions of own games, each with the mixture of its labels.
    pub fn of_records(records: &[Record], mixture: &Mixture, recipe: &Recipe) -> Self {
        let mut hasher = hasher_of(recipe);
        let labelled = records.iter().filter_map(|record| {
            let (board, expected) = (record.board()?, f64::from(mixture.target(record)?));
            (record.key(), expected.to_bits()).hash(&mut hasher);
            let white = if board.turn() == Color::White { expected } else { 1.0 - expected };
            Some(TracedPosition::new(&board, recipe, white))
        });
        Self { samples: labelled.collect(), fingerprint: hasher.finish() }
    }

    pub fn len(&self) -> usize {
        self.samples.len()
    }

    pub fn is_empty(&self) -> bool {
        self.samples.is_empty()
    }

    /// Returns the positions to fit to, and the held-out ones.
    pub(super) fn split(&self) -> (&[TracedPosition], &[TracedPosition]) {
        self.samples.split_at(self.len() - self.len() / 10)
    }
}

fn hasher_of(recipe: &Recipe) -> DefaultHasher {
    let mut hasher = DefaultHasher::new();
    format!("{recipe:?}").hash(&mut hasher);
    hasher
}

fn labelled(text: &str) -> Result<(Board, f64), String> {
    let (fen, label) = text.split_once(';').ok_or("no ; between the FEN and white's expected score")?;
    let label = label.trim();
    let score = label.parse().ok().filter(|score| (0.0..=1.0).contains(score));
    let wrong = || format!("{label:?} is no expected score (accepted: 0 to 1, 1 a win for white)");
    Ok((Board::from_fen(fen).map_err(|error| error.to_string())?, score.ok_or_else(wrong)?))
}
