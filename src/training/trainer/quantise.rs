//! A net in whole numbers, and what that costs.

use engine::{
    Net, NetError,
    net::{Header, INPUTS, Row, WIDTH, Weights},
};

use super::{
    Trained,
    model::{BIAS, OUTPUT_BIAS, one, output},
};
use crate::dataset::Sample;

/// A net as it is played, and how far it is from the one that was trained.
#[derive(Debug)]
pub struct Quantised {
    /// To be written to a file.
    pub net: Net,
    /// Over the positions it was compared on.
    pub error: QuantisationError,
}

/// Differences between the trained net and the one in whole numbers, in centipawns.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct QuantisationError {
    /// The root of the mean square, in centipawns.
    pub root_mean_square: f64,
    /// The largest of all samples, in centipawns.
    pub largest: f64,
}

/// Rounds a trained net and compares both on `samples`.
///
/// # Errors
/// [`NetError`] if the header or the numbers are refused.
pub fn quantise(trained: &Trained, header: Header, samples: &[Sample]) -> Result<Quantised, NetError> {
    let rounded = |at: usize| (trained.numbers[at] * one(at)).round();
    let row = |at: usize| -> Row { std::array::from_fn(|i| rounded(at + i) as i16) };
    let mut weights = Weights::zero();
    for i in 0..INPUTS {
        weights.input[i] = row(i * WIDTH);
    }
    weights.bias = row(BIAS);
    weights.output = std::array::from_fn(|stage| [0, 1].map(|side| row(output(stage, side))));
    weights.output_bias = std::array::from_fn(|stage| rounded(OUTPUT_BIAS + stage) as i32);
    let net = Net::new(Header { mask: trained.mask, ..header }, weights)?;
    let mut error = QuantisationError::default();
    for sample in samples {
        let Ok(board) = sample.record.board() else { continue };
        let difference = f64::from(trained.value(&sample.record) - net.evaluate(&board) as f32).abs();
        error.root_mean_square += difference * difference;
        error.largest = error.largest.max(difference);
    }
    error.root_mean_square = (error.root_mean_square / samples.len().max(1) as f64).sqrt();
    Ok(Quantised { net, error })
}
