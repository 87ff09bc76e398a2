//! What was learnt about electors and positions, for the criteria that need it: one readable file.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    sync::LazyLock,
};

use serde::{Deserialize, Serialize};

use super::position_class::PositionClass;
use chess::{ElectorName, Heuristic};

/// What is looked at, in the order of [`features`](super::features). All are of the order of 1.
pub const FEATURES: [&str; 9] = [
    // The share of the electors that propose the same move, 0 to 1.
    "votes",
    // The share of the hand-made weights of those that do, 0 to 1.
    "weights",
    // The score less the highest one proposed, in pawns, -3 to 0.
    "below_best",
    // The score less the mean of all, in pawns, -3 to 3.
    "above_mean",
    // The score less the proposer's own static value, in pawns, -3 to 3.
    "gain",
    // What the proposer expects to score by its calibration, 0 to 1.
    "expectation",
    // How many plies the proposer is behind the deepest, in tens, 0 to 3.
    "behind",
    // The share of the eight heuristics that the proposer knows, 0 to 1.
    "knowledge",
    // 1 if an elector of complete knowledge proposes the same move.
    "complete_agrees",
];

/// The tables of `model.toml`. In the settings it is the path of such a file; the empty path is what is built in.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(try_from = "PathBuf", into = "PathBuf")]
pub struct Model {
    path: PathBuf,
    tables: Tables,
}

#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Tables {
    learned: BTreeMap<String, f64>,
    calibration: BTreeMap<String, Calibration>,
    routing: BTreeMap<PositionClass, BTreeMap<char, f64>>,
}

/// How an elector's scores become expectations: `1 / (1 + exp(-(score + offset) / scale))`.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Calibration {
    /// Added to the score, centipawns.
    pub offset: f64,
    /// The score, in centipawns, at which 73 % are expected.
    pub scale: f64,
}

impl Calibration {
    /// What is expected at a score in centipawns, 0 to 1.
    pub fn expectation(&self, score: f64) -> f64 {
        1.0 / (1.0 + (-(score + self.offset) / self.scale).exp())
    }
}

/// What is wrong with a model file.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("a readable model file ({path}: {reason})", path = path.display())]
pub struct ModelError {
    path: PathBuf,
    reason: String,
}

/// What is built in.
static BUILT_IN: LazyLock<Tables> =
    LazyLock::new(|| read(include_str!("model.toml")).unwrap_or_else(|reason| unreachable!("model.toml: {reason}")));

fn read(text: &str) -> Result<Tables, String> {
    let tables: Tables = toml::from_str(text).map_err(|error| error.message().to_owned())?;
    if let Some(name) = tables.learned.keys().find(|name| !FEATURES.contains(&name.as_str())) {
        return Err(format!("no feature is called {name}; there are {}", FEATURES.join(", ")));
    }
    let letters = Heuristic::ALL.map(Heuristic::letter);
    if let Some(letter) = tables.routing.values().flat_map(BTreeMap::keys).find(|letter| !letters.contains(letter)) {
        return Err(format!("no heuristic has the letter {letter}"));
    }
    if tables.calibration.values().any(|calibration| calibration.scale <= 0.0) {
        return Err("the scale of a calibration is above 0".to_owned());
    }
    Ok(tables)
}

impl Model {
    /// Reads a file. Tables that it does not have are the built-in ones.
    ///
    /// # Errors
    /// [`ModelError`] if it cannot be read or understood.
    pub fn open(path: &Path) -> Result<Self, ModelError> {
        let error = |reason| ModelError { path: path.to_owned(), reason };
        let text = fs::read_to_string(path).map_err(|reason| error(reason.to_string()))?;
        let mut tables = read(&text).map_err(error)?;
        if tables.learned.is_empty() {
            tables.learned.clone_from(&BUILT_IN.learned);
        }
        if tables.calibration.is_empty() {
            tables.calibration.clone_from(&BUILT_IN.calibration);
        }
        if tables.routing.is_empty() {
            tables.routing.clone_from(&BUILT_IN.routing);
        }
        Ok(Self { path: path.to_owned(), tables })
    }

    /// The weights of the features, in their order.
    pub(super) fn learned(&self) -> [f64; FEATURES.len()] {
        FEATURES.map(|name| self.tables.learned.get(name).copied().unwrap_or_default())
    }

    pub(super) fn calibration_of(&self, elector: &ElectorName) -> Calibration {
        let named = |name: &str| self.tables.calibration.get(name).copied();
        named(elector.as_str()).or_else(|| named("default")).unwrap_or(Calibration { offset: 0.0, scale: 200.0 })
    }

    /// By heuristic, what its weight is multiplied with in a class of position.
    pub(super) fn factors_of(&self, class: PositionClass) -> impl Fn(Heuristic) -> f64 {
        let factors = self.tables.routing.get(&class);
        move |heuristic| factors.and_then(|factors| factors.get(&heuristic.letter())).copied().unwrap_or(1.0)
    }
}

impl Default for Model {
    fn default() -> Self {
        Self { path: PathBuf::new(), tables: BUILT_IN.clone() }
    }
}

impl TryFrom<PathBuf> for Model {
    type Error = ModelError;

    fn try_from(path: PathBuf) -> Result<Self, ModelError> {
        if path.as_os_str().is_empty() { Ok(Self::default()) } else { Self::open(&path) }
    }
}

impl From<Model> for PathBuf {
    fn from(model: Model) -> Self {
        model.path
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_feature_has_a_weight_in_the_built_in_model() {
        for name in FEATURES {
            assert!(BUILT_IN.learned.contains_key(name), "{name}");
        }
    }

    #[test]
    fn a_mistake_in_a_model_is_named() {
        for (text, part) in [
            ("[learned]\nvoices = 1.0", "voices"),
            ("[routing.endgame]\nq = 1.0", "letter q"),
            ("[calibration.mp]\noffset = 0.0\nscale = 0.0", "scale"),
            ("[lerned]", "lerned"),
        ] {
            let error = read(text).expect_err("refused");
            assert!(error.contains(part), "{error}");
        }
    }

    #[test]
    fn two_hundred_centipawns_expect_nearly_three_quarters() {
        let calibration = Calibration { offset: 0.0, scale: 200.0 };
        assert!((calibration.expectation(0.0) - 0.5).abs() < 1e-9);
        assert!((calibration.expectation(200.0) - 0.731).abs() < 1e-3);
    }
}
