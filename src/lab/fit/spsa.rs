//! Simultaneous perturbation stochastic approximation (Spall 1992) of settings, on pairs of games, with the
//! schedule that the testing frameworks of chess engines use: `a/(A + k)^0.602`, `c/k^0.101`, `A` a tenth of all iterations.
//!
//! In an iteration all parameters are moved at once, each up or down by lot, and the player with these settings plays the one
//! with the opposite ones. What is known after each iteration follows from the results alone, so those are all that is kept.

use rand::{RngExt, SeedableRng, rngs::StdRng};

#[derive(Clone, Debug, PartialEq)]
pub struct Parameter {
    /// Its key in the council's table, dots leading into tables; or its name in the search.
    pub key: String,
    pub start: f64,
    pub low: f64,
    pub high: f64,
}

impl std::str::FromStr for Parameter {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let error = || {
            let accepted =
                "KEY=START:LOWEST:HIGHEST, such as split=0.33:0:0.9, or the name of a parameter of the search";
            format!("{text:?}: expected {accepted}")
        };
        let of_search = || Self::of_search().find(|parameter| parameter.key == text.trim());
        let Some((key, values)) = text.split_once('=') else { return of_search().ok_or_else(error) };
        let values: Vec<f64> =
            values.split(':').map(|value| value.trim().parse().map_err(|_| error())).collect::<Result<_, _>>()?;
        match values.as_slice() {
            &[start, low, high] if low < high && (low..=high).contains(&start) => {
                Ok(Self { key: key.trim().to_owned(), start, low, high })
            }
            _ => Err(error()),
        }
    }
}

impl Parameter {
    /// Returns the parameters of the search, each with its current value and range.
    pub fn of_search() -> impl Iterator<Item = Self> {
        engine::Parameters::ALL.iter().map(|parameter| {
            let [start, low, high] = [parameter.default, parameter.low, parameter.high].map(f64::from);
            Self { key: parameter.name.to_owned(), start, low, high }
        })
    }
}

/// Perturbation of a parameter in the last trial, as a share of its range.
const LAST_PERTURBATION: f64 = 0.05;
/// Step of a parameter in the last iteration for a decided pair, as a share of the perturbation,
/// times the root of all iterations: a longer fit has shorter steps. At this value chance alone
/// moves a parameter about one and a half perturbations from its start.
const WALK: f64 = 0.7;

#[derive(Clone, Debug)]
pub struct Spsa {
    pub parameters: Vec<Parameter>,
    iterations: usize,
    seed: u64,
    pub values: Vec<f64>,
    /// The sum of the squares of each parameter's steps.
    steps: Vec<f64>,
    done: usize,
}

impl Spsa {
    pub fn new(parameters: Vec<Parameter>, iterations: usize, seed: u64) -> Self {
        let values = parameters.iter().map(|parameter| parameter.start).collect();
        let steps = vec![0.0; parameters.len()];
        Self { parameters, iterations, seed, values, steps, done: 0 }
    }

    /// The standard error of each value: how far chance alone would have led it from its start.
    pub fn errors(&self) -> impl Iterator<Item = f64> {
        self.steps.iter().map(|squares| squares.sqrt())
    }

    /// The values of the two players of the pair of games that comes `ahead` pairs after the next one, by what is known now.
    pub fn trial(&self, ahead: usize) -> [Vec<f64>; 2] {
        let signs = self.signs(ahead);
        [1.0, -1.0].map(|side| {
            let moved = self.parameters.iter().zip(&self.values).zip(&signs).map(|((parameter, value), sign)| {
                (value + side * sign * self.perturbation(parameter)).clamp(parameter.low, parameter.high)
            });
            moved.collect()
        })
    }

    /// Takes the score of the first player of the trial against the second, 0 to 1.
    pub fn learn(&mut self, score: f64) {
        let signs = self.signs(0);
        let stability = 0.1 * self.iterations as f64;
        let k = self.done as f64 + 1.0;
        let all = self.iterations as f64;
        let moving = self.values.iter_mut().zip(&mut self.steps);
        for ((parameter, (value, squares)), sign) in self.parameters.iter().zip(moving).zip(&signs) {
            let last = LAST_PERTURBATION * (parameter.high - parameter.low);
            let gain = WALK / all.sqrt() * last * ((stability + all) / (stability + k)).powf(0.602);
            let decided = 2.0 * (2.0 * score - 1.0);
            *value = (*value + gain * sign * decided).clamp(parameter.low, parameter.high);
            *squares += (gain * decided).powi(2);
        }
        self.done += 1;
    }

    fn perturbation(&self, parameter: &Parameter) -> f64 {
        let k = self.done as f64 + 1.0;
        LAST_PERTURBATION * (parameter.high - parameter.low) * (self.iterations as f64 / k).powf(0.101)
    }

    fn signs(&self, ahead: usize) -> Vec<f64> {
        let pair = (self.done + ahead) as u64;
        let mut random = StdRng::seed_from_u64(self.seed ^ pair.wrapping_mul(0x9E37_79B9_7F4A_7C15));
        self.parameters.iter().map(|_| if random.random_bool(0.5) { 1.0 } else { -1.0 }).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parameter(text: &str) -> Parameter {
        text.parse().unwrap_or_else(|error| panic!("{error}"))
    }

    #[test]
    fn it_climbs_where_games_are_won() {
        let mut spsa = Spsa::new(vec![parameter("split=0.2:0:1"), parameter("margin=80:0:100")], 2000, 3);
        // The better council is the one nearer to (0.7, 20); games are noisy.
        let mut random = StdRng::seed_from_u64(9);
        let worth = |values: &[f64]| -((values[0] - 0.7).powi(2) + ((values[1] - 20.0) / 100.0).powi(2));
        for _ in 0..2000 {
            let [first, second] = spsa.trial(0);
            let expected = 1.0 / (1.0 + (-8.0 * (worth(&first) - worth(&second))).exp());
            spsa.learn(if random.random_bool(expected) { 0.75 } else { 0.25 });
        }
        let values = &spsa.values;
        let errors: Vec<f64> = spsa.errors().collect();
        assert!(errors[0] > 0.0 && errors[0] < 0.5 && (errors[1] - 100.0 * errors[0]).abs() < 1e-6, "{errors:?}");
        assert!((values[0] - 0.7).abs() < 0.2 && (values[1] - 20.0).abs() < 20.0, "{values:?}");
    }

    #[test]
    fn later_pairs_have_directions_of_their_own() {
        let parameters: Vec<Parameter> = (0..16).map(|i| parameter(&format!("p{i}=0.5:0:1"))).collect();
        let mut spsa = Spsa::new(parameters, 1000, 1);
        let directions = |trial: [Vec<f64>; 2]| trial[0].iter().map(|value| *value > 0.5).collect::<Vec<_>>();
        let ahead = [1, 2].map(|ahead| directions(spsa.trial(ahead)));
        assert_ne!(ahead[0], ahead[1]);
        for expected in ahead {
            // A drawn pair moves nothing.
            spsa.learn(0.5);
            assert_eq!(directions(spsa.trial(0)), expected, "those that are learnt from later");
        }
    }

    #[test]
    fn spsa_is_bounded_and_repeatable() {
        let run = || {
            let mut spsa = Spsa::new(vec![parameter("split=0.95:0:1")], 100, 1);
            for _ in 0..100 {
                let trial = spsa.trial(0);
                assert!(trial.iter().flatten().all(|value| (0.0..=1.0).contains(value)));
                spsa.learn(if trial[0][0] > trial[1][0] { 1.0 } else { 0.0 });
            }
            spsa.values
        };
        assert_eq!(run(), run());
        assert!(run()[0] > 0.95);
    }

    #[test]
    fn parameter_is_a_key_and_three_numbers() {
        assert_eq!(parameter("weights.m=30:0:255").key, "weights.m");
        let razor = parameter("razor_slope");
        assert!(razor.low < razor.start && razor.start < razor.high);
        for text in ["", "split", "split=0.5", "split=2:0:1", "split=0.5:1:0", "split=a:b:c"] {
            assert!(text.parse::<Parameter>().is_err(), "{text:?}");
        }
    }
}
