//! What all pairs of a fit say of each parameter: a parabola for each, drawn by least squares through the results of all trials
//! at once (a response surface; Box and Wilson, *On the Experimental Attainment of Optimum Conditions*, 1951).
//!
//! Where a fit has gone is one walk through noise; this looks at everything that was played on the way, and says how sure it is.

use super::spsa::Parameter;

/// Draws every coefficient towards nothing, as so many pairs would that differ by a whole range and were drawn.
const PULL: f64 = 3.0;

/// The trials so far, as the sums that least squares need.
#[derive(Clone, Debug)]
pub struct Surface {
    parameters: Vec<Parameter>,
    /// Of each two columns, the slopes first and then the curvatures; and of each column with the result.
    products: Vec<Vec<f64>>,
    with_result: Vec<f64>,
    pairs: u32,
    result_squared: f64,
}

/// The best value of one parameter, the others being what they are.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Optimum {
    /// Within the parameter's range.
    pub value: f64,
    /// What it scores more than the value at which the fit began, as a part of a game, and the standard error of that.
    pub gain: f64,
    /// See `gain`.
    pub error: f64,
}

impl Surface {
    /// Before the first trial.
    pub fn new(parameters: &[Parameter]) -> Self {
        let columns = 2 * parameters.len();
        Self {
            parameters: parameters.to_vec(),
            products: vec![vec![0.0; columns]; columns],
            with_result: vec![0.0; columns],
            pairs: 0,
            result_squared: 0.0,
        }
    }

    /// Takes the values of the two players of a pair of games, and the score of the first, 0 to 1.
    pub fn take(&mut self, [first, second]: &[Vec<f64>; 2], score: f64) {
        let distances = |values: &[f64]| -> Vec<f64> {
            self.parameters.iter().zip(values).map(|(parameter, value)| distance(parameter, *value)).collect()
        };
        let (first, second) = (distances(first), distances(second));
        let slopes = first.iter().zip(&second).map(|(one, other)| one - other);
        let curvatures = first.iter().zip(&second).map(|(one, other)| one * one - other * other);
        let columns: Vec<f64> = slopes.chain(curvatures).collect();
        let result = score - 0.5;
        for (column, value) in columns.iter().enumerate() {
            self.with_result[column] += value * result;
            self.products[column].iter_mut().zip(&columns).for_each(|(sum, other)| *sum += value * other);
        }
        self.pairs += 1;
        self.result_squared += result * result;
    }

    /// The best value of each parameter.
    pub fn optima(&self) -> Vec<Optimum> {
        let mut pulled = self.products.clone();
        pulled.iter_mut().enumerate().for_each(|(column, row)| row[column] += PULL);
        let spread = inverse(pulled);
        let noise = self.result_squared / f64::from(self.pairs.max(1));
        let count = self.parameters.len();
        let coefficient =
            |column: usize| -> f64 { spread[column].iter().zip(&self.with_result).map(|(s, r)| s * r).sum() };
        let optimum = |(number, parameter): (usize, &Parameter)| {
            let (slope, curvature) = (coefficient(number), coefficient(count + number));
            let gain = |at: f64| slope * at + curvature * at * at;
            let ends = [parameter.low, parameter.high].map(|end| distance(parameter, end));
            let top = (curvature < 0.0).then(|| (-slope / (2.0 * curvature)).clamp(ends[0], ends[1]));
            let best =
                top.into_iter().chain(ends).max_by(|one, other| gain(*one).total_cmp(&gain(*other))).unwrap_or(0.0);
            let weights = [(number, best), (count + number, best * best)];
            let pairs = weights.iter().flat_map(|one| weights.iter().map(move |other| (one, other)));
            let variance: f64 = pairs.map(|(one, other)| one.1 * other.1 * spread[one.0][other.0]).sum();
            let value = parameter.start + best * (parameter.high - parameter.low);
            Optimum { value, gain: gain(best), error: (variance.max(0.0) * noise).sqrt() }
        };
        self.parameters.iter().enumerate().map(optimum).collect()
    }
}

/// How far a value is from the parameter's beginning, as a part of its range.
fn distance(parameter: &Parameter, value: f64) -> f64 {
    (value - parameter.start) / (parameter.high - parameter.low)
}

/// The inverse of a symmetric positive definite matrix, by Gauss and Jordan: such a one needs no other order of its rows.
fn inverse(mut matrix: Vec<Vec<f64>>) -> Vec<Vec<f64>> {
    let size = matrix.len();
    let unit = |row: usize| (0..size).map(move |column| f64::from(u8::from(row == column)));
    matrix.iter_mut().enumerate().for_each(|(row, values)| values.extend(unit(row)));
    for pivot in 0..size {
        let by = matrix[pivot][pivot];
        matrix[pivot].iter_mut().for_each(|value| *value /= by);
        let reduced = matrix[pivot].clone();
        for (_, row) in matrix.iter_mut().enumerate().filter(|(row, _)| *row != pivot) {
            let times = row[pivot];
            row.iter_mut().zip(&reduced).for_each(|(value, other)| *value -= times * other);
        }
    }
    matrix.into_iter().map(|row| row[size..].to_vec()).collect()
}

#[cfg(test)]
mod tests {
    use rand::{RngExt, SeedableRng, rngs::StdRng};

    use super::*;

    #[test]
    fn it_finds_what_games_are_won_with_and_how_sure_that_is() {
        let parameters: Vec<Parameter> =
            ["split=0.2:0:1", "margin=80:0:100", "idle=5:0:10"].map(|text| text.parse().expect("a parameter")).into();
        let mut surface = Surface::new(&parameters);
        let mut random = StdRng::seed_from_u64(9);
        let worth = |values: &[f64]| -((values[0] - 0.7).powi(2) + ((values[1] - 20.0) / 100.0).powi(2)) / 2.0;
        for _ in 0..4000 {
            let mut trial = || {
                let within = |parameter: &Parameter| random.random_range(parameter.low..parameter.high);
                parameters.iter().map(within).collect::<Vec<f64>>()
            };
            let trial = [trial(), trial()];
            let expected = 0.5 + worth(&trial[0]) - worth(&trial[1]);
            surface.take(&trial, if random.random_bool(expected.clamp(0.0, 1.0)) { 0.75 } else { 0.25 });
        }
        let [split, margin, idle] = surface.optima().try_into().expect("three");
        assert!((split.value - 0.7).abs() < 0.1 && (margin.value - 20.0).abs() < 15.0, "{split:?} {margin:?}");
        assert!(split.gain > 4.0 * split.error && (split.gain - 0.0625).abs() < 4.0 * split.error, "{split:?}");
        assert!(idle.gain < 3.0 * idle.error, "{idle:?}");
    }
}
