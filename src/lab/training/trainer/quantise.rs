//! A net in whole numbers.

use engine::{
    Net, NetError,
    net::{BUCKETS, CENTIPAWNS, Header, Weights, bucket},
};

use super::Trained;
use crate::training::dataset::Sample;

/// Rounds a trained net. What rounding adds to the outputs of a bucket on average over `samples`, its bias takes off.
pub fn quantise(trained: &Trained, header: Header, samples: &[Sample]) -> Result<Net, NetError> {
    let shape = trained.shape;
    let rounded = trained.numbers.iter().enumerate().map(|(i, number)| (number * shape.one(i)).round());
    let mut weights = Weights::zero(shape.width).ok_or(NetError::Weights)?;
    weights.numbers_mut().zip(rounded.clone()).for_each(|(weight, number)| *weight = number as i16);
    for (bias, number) in weights.output_bias.iter_mut().zip(rounded.skip(shape.output_bias())) {
        *bias = number as i32;
    }
    let first = Net::new(header.clone(), weights.clone())?;
    let mut added = [(0.0, 0.0); BUCKETS];
    for (sample, difference) in differences(trained, &first, samples) {
        let (sum, count) = &mut added[bucket(sample.record.count())];
        *sum += difference;
        *count += 1.0;
    }
    let unit = f64::from(shape.one(shape.output_bias())) / f64::from(CENTIPAWNS);
    for (bias, (sum, count)) in weights.output_bias.iter_mut().zip(added) {
        *bias += (sum / f64::max(count, 1.0) * unit).round() as i32;
    }
    Net::new(header, weights)
}

/// Returns the trained net's value less that of its integer version, in centipawns.
pub(super) fn differences<'a>(
    trained: &'a Trained,
    net: &'a Net,
    samples: &'a [Sample],
) -> impl Iterator<Item = (&'a Sample, f64)> {
    samples.iter().filter_map(|sample| {
        let board = sample.record.board()?;
        Some((sample, f64::from(trained.value(&sample.record) - net.evaluate(&board) as f32)))
    })
}
