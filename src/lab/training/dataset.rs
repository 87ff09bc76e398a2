//! The positions of a training: which are taken, what they should be worth, and which are kept back for validation.

use std::{
    fmt, io,
    path::{Path, PathBuf},
    str::FromStr,
};

use engine::evaluation::{Recipe, evaluate};

use crate::training::{Record, Shard, ShardError, random::mix};

/// The mixture of a position's labels into one number: the expectation of the player to move, 0 to
/// 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mixture {
    /// Weight of our own search's score.
    pub own: f32,
    pub teacher: f32,
    pub result: f32,
    /// Centipawns for which 73 % are expected: the unit of the sigmoid, for labels and for what is trained.
    pub scale: f32,
}

impl Default for Mixture {
    fn default() -> Self {
        Self { own: 0.5, teacher: 2.0, result: 0.1, scale: 200.0 }
    }
}

impl Mixture {
    /// Returns the expectation; `None` without any label that counts. Missing labels leave their
    /// weight to the others.
    pub fn target(&self, record: &Record) -> Option<f32> {
        let expected = |score: Option<i16>| score.map(|score| sigmoid(f32::from(score) / self.scale));
        let parts = [
            (self.own, expected(record.own)),
            (self.teacher, expected(record.teacher)),
            (self.result, record.result.map(|result| result.points(record.turn()))),
        ];
        let (mut sum, mut weights) = (0.0, 0.0);
        for (weight, value) in parts {
            if let Some(value) = value.filter(|_| weight > 0.0) {
                sum += weight * value;
                weights += weight;
            }
        }
        (weights > 0.0).then(|| sum / weights)
    }
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is no weight of a label (accepted: own, teacher, result and scale, each =NUMBER, separated by commas)")]
pub struct MixtureError(String);

impl FromStr for Mixture {
    type Err = MixtureError;

    /// Reads `own=0.5,teacher=2,result=0.1,scale=200`; what is not named is as usual.
    fn from_str(text: &str) -> Result<Self, MixtureError> {
        let mut mixture = Self::default();
        for part in text.split(',') {
            let wrong = || MixtureError(part.to_owned());
            let (name, value) = part.split_once('=').ok_or_else(wrong)?;
            let value: f32 = value.parse().map_err(|_| wrong())?;
            let place = match name {
                "own" => &mut mixture.own,
                "teacher" => &mut mixture.teacher,
                "result" => &mut mixture.result,
                "scale" if value > 0.0 => &mut mixture.scale,
                _ => return Err(wrong()),
            };
            *place = Some(value).filter(|value| value.is_finite() && *value >= 0.0).ok_or_else(wrong)?;
        }
        Ok(mixture)
    }
}

impl fmt::Display for Mixture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { own, teacher, result, scale } = self;
        write!(f, "own={own},teacher={teacher},result={result},scale={scale}")
    }
}

pub(crate) fn sigmoid(x: f32) -> f32 {
    1.0 / (1.0 + (-x).exp())
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sample {
    pub record: Record,
    /// The expectation of the player to move, 0 to 1.
    pub target: f32,
    /// The base's value, centipawns for the player to move.
    pub base: f32,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DatasetSelection {
    /// The score in centipawns beyond which a position is decided and teaches little, by any of its
    /// scores.
    pub decided: i16,
    /// The share of games that are kept back for validation, 0 to 1.
    pub validation: f64,
    /// The largest number of positions.
    pub most: usize,
}

impl Default for DatasetSelection {
    fn default() -> Self {
        Self { decided: 1500, validation: 0.02, most: usize::MAX }
    }
}

impl DatasetSelection {
    /// Returns true if one of its scores says that a side has won.
    pub fn is_decided(&self, record: &Record) -> bool {
        [record.own, record.teacher]
            .into_iter()
            .flatten()
            .any(|score| score.unsigned_abs() > self.decided.unsigned_abs())
    }
}

/// Positions to learn from, and others of other games to see how well.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Dataset {
    pub training: Vec<Sample>,
    /// Positions of games of which none is in `training`.
    pub validation: Vec<Sample>,
}

impl Dataset {
    /// Selects among `records`: of equal positions only the first, none that is decided, none without a label that counts.
    /// What the net is to complete is `base`.
    pub fn new(records: Vec<Record>, mixture: &Mixture, selection: &DatasetSelection, base: &Recipe) -> Self {
        let mut dataset = Self::default();
        for record in without_duplicates(records) {
            if selection.is_decided(&record) {
                continue;
            }
            let (Some(target), Ok(board)) = (mixture.target(&record), record.board()) else { continue };
            let sample = Sample { record, target, base: evaluate(&board, base) as f32 };
            let kept_back = (mix(u64::from(record.game)) >> 11) as f64 / (1_u64 << 53) as f64;
            if kept_back < selection.validation {
                dataset.validation.push(sample);
            } else if dataset.training.len() < selection.most {
                dataset.training.push(sample);
            }
        }
        dataset
    }
}

/// The shards in `folder`, in the order of their names.
pub(crate) fn shards_of(folder: &Path) -> Result<Vec<PathBuf>, ShardError> {
    let unreadable = |error| ShardError::File { path: folder.to_owned(), error };
    let mut paths: Vec<PathBuf> = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(unreadable)? {
        let path = entry.map_err(unreadable)?.path();
        if path.extension().is_some_and(|extension| extension == "shard") {
            paths.push(path);
        }
    }
    if paths.is_empty() {
        return Err(unreadable(io::Error::other("there is no shard in this folder (`concilio-lab data` makes them)")));
    }
    paths.sort();
    Ok(paths)
}

/// The records of all shards in `folder`, in the order of their names.
pub fn read_folder(folder: &Path) -> Result<Vec<Record>, ShardError> {
    let mut records = Vec::new();
    for path in shards_of(folder)? {
        records.extend(Shard::read(&path)?.records);
    }
    Ok(records)
}

/// The first record of every position, in the order in which they came.
fn without_duplicates(records: Vec<Record>) -> Vec<Record> {
    let mut keys: Vec<(u64, usize)> = records.iter().enumerate().map(|(i, record)| (record.key(), i)).collect();
    keys.sort_unstable();
    keys.dedup_by_key(|(key, _)| *key);
    let mut first: Vec<usize> = keys.into_iter().map(|(_, i)| i).collect();
    first.sort_unstable();
    first.into_iter().map(|i| records[i]).collect()
}

#[cfg(test)]
mod tests {
    use engine::{IN_FULL, Knowledge, Position};

    use super::*;
    use crate::training::{GameResult, SplitMix};

    fn record(line: &str, own: i16, game: u32) -> Record {
        let position = Position::from_line("startpos", false, line.split_whitespace()).expect("a line");
        let mut record = Record::new(position.board()).expect("standard chess");
        record.own = Some(own);
        record.result = Some(GameResult::White);
        record.game = game;
        record
    }

    #[test]
    fn mixtures_round_trip() {
        let mixture = Mixture { teacher: 0.0, scale: 140.0, ..Mixture::default() };
        assert_eq!(mixture.to_string().parse(), Ok(mixture));
        assert_eq!("teacher=0,scale=140".parse(), Ok(mixture));
        for wrong in ["", "own", "own=x", "own=-1", "scale=0", "own=inf", "others=1"] {
            assert_eq!(wrong.parse::<Mixture>(), Err(MixtureError(wrong.to_owned())));
        }
    }

    #[test]
    fn a_target_is_between_its_labels() {
        let mixture = Mixture { own: 0.75, teacher: 0.0, result: 0.25, scale: 200.0 };
        let target = |record: &Record| mixture.target(record).expect("it has labels");
        assert!((target(&record("", 0, 0)) - 0.625).abs() < 1e-6);
        assert!((target(&record("e2e4", 0, 0)) - 0.375).abs() < 1e-6, "black to move has lost");
        let mut unlabelled = record("", 0, 0);
        unlabelled.own = None;
        assert!((target(&unlabelled) - 1.0).abs() < 1e-6, "the result alone");
        unlabelled.result = None;
        assert_eq!(mixture.target(&unlabelled), None);
    }

    #[test]
    fn duplicate_positions_are_dropped() {
        let records = vec![record("", 10, 0), record("e2e4", 2000, 0), record("d2d4", 5, 1), record("", 99, 1)];
        let all = DatasetSelection { validation: 0.0, ..DatasetSelection::default() };
        let base = Recipe::new(Knowledge::NONE, IN_FULL);
        let dataset = Dataset::new(records, &Mixture::default(), &all, &base);
        let own: Vec<_> = dataset.training.iter().map(|sample| sample.record.own).collect();
        assert_eq!(own, [Some(10), Some(5)]);
        assert!(dataset.validation.is_empty());
        assert!(dataset.training.iter().all(|sample| sample.base > 0.0), "the right to move is in every base");
    }

    #[test]
    fn whole_games_are_kept_back() {
        let mut random = SplitMix::new(1);
        let mut records = Vec::new();
        for game in 0..40 {
            let mut position = Position::from_line("startpos", false, []).expect("a line");
            for _ in 0..10 {
                let moves = position.legal_moves();
                position.play(moves[random.below(moves.len())]);
                let mut record = Record::new(position.board()).expect("standard chess");
                (record.own, record.game) = (Some(0), game);
                records.push(record);
            }
        }
        let half = DatasetSelection { validation: 0.5, ..DatasetSelection::default() };
        let base = Recipe::new(Knowledge::NONE, IN_FULL);
        let dataset = Dataset::new(records, &Mixture::default(), &half, &base);
        let games = |samples: &[Sample]| samples.iter().map(|sample| sample.record.game).collect::<Vec<_>>();
        let kept_back = games(&dataset.validation);
        assert!(!dataset.training.is_empty() && !kept_back.is_empty());
        assert!(games(&dataset.training).iter().all(|game| !kept_back.contains(game)));
    }
}
