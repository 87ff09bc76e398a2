//! The positions of a training: what they should be worth, in what order they are seen, and which are kept back for
//! validation.

use std::{
    fmt,
    path::{Path, PathBuf},
    str::FromStr,
    sync::mpsc::{Receiver, sync_channel},
    thread,
};

use util::Failure;

use crate::training::{
    Record, SplitMix,
    data_file::{DataHead, DataKind, files_of},
    game::Games,
    random::mix,
    shuffle::{files_of_shuffle, read_positions},
};

/// The mixture of a position's labels into the expectation of the player to move, 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mixture {
    /// Weight of our own search's score.
    pub own: f32,
    pub teacher: f32,
    pub result: f32,
    /// Centipawns for which 73 % are expected: the unit of the sigmoid, for labels and for the net.
    pub scale: f32,
}

impl Default for Mixture {
    fn default() -> Self {
        Self { own: 0.0, teacher: 1.0, result: 0.1, scale: 110.0 }
    }
}

impl Mixture {
    /// Returns the expectation; missing labels leave their weight to the others, `None` if none counts.
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

impl FromStr for Mixture {
    type Err = String;

    /// Reads `own=0,teacher=1,result=0.1,scale=110`; parts that are not named have their defaults.
    fn from_str(text: &str) -> Result<Self, String> {
        let mut mixture = Self::default();
        for part in text.split(',') {
            let wrong = || {
                let accepted = "own, teacher, result and scale, each =NUMBER, separated by commas";
                format!("{part:?} is no weight of a label (accepted: {accepted})")
            };
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
}

/// Reads the first `count` positions of a file.
fn read(path: &Path, count: usize, mixture: &Mixture) -> Result<Vec<Sample>, Failure> {
    let sample = |record: Record| {
        let target = mixture.target(&record).ok_or_else(|| {
            let path = path.display();
            Failure::failed(format_args!("{path}: a position without a label that counts; give another label a weight"))
        })?;
        Ok(Sample { record, target })
    };
    read_positions(path)?.into_iter().take(count).map(sample).collect()
}

/// Positions on disk to learn from, and others of other games to see how well.
#[derive(Clone, Debug)]
pub struct Dataset {
    /// The files, and the number of positions that are used of each.
    parts: Vec<(PathBuf, usize)>,
    mixture: Mixture,
    pub positions: u64,
    /// Positions of games of which none is learnt from.
    pub validation: Vec<Sample>,
    /// Identifies the positions and the targets.
    pub fingerprint: u64,
}

impl Dataset {
    /// Opens a folder that [`shuffle()`](crate::training::shuffle()) has filled and takes `most` positions of it.
    pub fn open(folder: &Path, mixture: &Mixture, most: u64) -> Result<Self, Failure> {
        let [training, validation] = files_of_shuffle(folder)?;
        let (mut parts, mut positions, mut text) = (Vec::new(), 0, mixture.to_string());
        for path in training {
            let head = DataHead::read(DataKind::POSITIONS, &path)?;
            let count = head.count.min(most - positions);
            positions += count;
            text += &format!(" {:016x} {count}", head.checksum);
            parts.push((path, count as usize));
        }
        let mut kept_back = Vec::new();
        for path in validation {
            kept_back.extend(read(&path, usize::MAX, mixture)?);
        }
        let fingerprint = engine::checksum(text.as_bytes());
        Ok(Self { parts, mixture: *mixture, positions, validation: kept_back, fingerprint })
    }

    /// Returns the samples of a pass in its order, without the first `skipped`. The files come in an order of their own in
    /// each pass, and so do the samples of a file; no more than two files are held at a time.
    pub(super) fn pass(&self, seed: u64, pass: u64, skipped: u64) -> Samples {
        let seed = mix(seed) ^ pass;
        let mut parts: Vec<(usize, (PathBuf, usize))> = self.parts.iter().cloned().enumerate().collect();
        SplitMix::new(seed).shuffle(&mut parts);
        let mut skipped = skipped as usize;
        parts.retain(|(_, (_, count))| {
            let is_seen = skipped >= *count;
            skipped -= if is_seen { *count } else { 0 };
            !is_seen
        });
        let mixture = self.mixture;
        let mut samples = Samples::new(parts, move |(number, (path, count))| {
            let mut samples = read(&path, count, &mixture)?;
            SplitMix::new(mix(seed ^ mix(number as u64))).shuffle(&mut samples);
            Ok(samples)
        });
        samples.next = skipped;
        samples
    }
}

/// Samples of files in turn. A thread reads the next file while the one before is used.
pub(super) struct Samples {
    current: Vec<Sample>,
    /// The place of the next sample in the current file.
    next: usize,
    files: Receiver<Result<Vec<Sample>, Failure>>,
}

impl Samples {
    fn new<P: Send + 'static>(
        parts: Vec<P>,
        read: impl Fn(P) -> Result<Vec<Sample>, Failure> + Send + 'static,
    ) -> Self {
        // The channel holds nothing, so that the reader waits with one file until that is taken.
        let (sender, files) = sync_channel(0);
        thread::spawn(move || parts.into_iter().try_for_each(|part| sender.send(read(part))));
        Self { current: Vec::new(), next: 0, files }
    }

    /// Fills `batch` with the next samples, `size` unless the pass ends before.
    pub(super) fn fill(&mut self, batch: &mut Vec<Sample>, size: usize) -> Result<(), Failure> {
        batch.clear();
        while batch.len() < size {
            if self.next >= self.current.len() {
                // Samples left out at the start are those of the first file.
                self.next -= self.current.len();
                self.current = Vec::new();
                let Ok(file) = self.files.recv() else { break };
                self.current = file?;
                continue;
            }
            let end = self.current.len().min(self.next + size - batch.len());
            batch.extend_from_slice(&self.current[self.next..end]);
            self.next = end;
        }
        Ok(())
    }
}

/// The positions of all games in `folder` that teach something, in the order of the files.
pub fn read_folder(folder: &Path) -> Result<Vec<Record>, Failure> {
    let mut records = Vec::new();
    for path in files_of(DataKind::GAMES, folder)? {
        records.extend(Games::read(&path)?.records().filter(|record| !record.is_decided()));
    }
    Ok(records)
}

#[cfg(test)]
mod tests {
    use std::sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed},
    };

    use engine::Position;

    use super::*;
    use crate::training::{GameResult, game::tests::random_game, shuffle, shuffle::ShufflePlan};

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
            let error = wrong.parse::<Mixture>().expect_err(wrong);
            assert!(error.starts_with(&format!("{wrong:?} is no weight")), "{error}");
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

    fn open(folder: &Path, most: u64) -> Dataset {
        Dataset::open(folder, &Mixture { own: 1.0, ..Mixture::default() }, most).expect("a finished shuffle")
    }

    fn shuffled(folder: &Path) -> PathBuf {
        let (from, to) = (folder.join("from"), folder.join("to"));
        std::fs::create_dir(&from).expect("a folder");
        let games = (0..60).map(|id| random_game(id, "startpos", 60)).collect();
        let games = Games { description: "by chance".to_owned(), games };
        games.write(&from.join("some.games")).expect("writable");
        let plan = ShufflePlan { bytes_a_file: 1500, ..ShufflePlan::default() };
        shuffle(&plan, &[from], &to, &AtomicBool::new(false), |_, _| ()).expect("positions").expect("not stopped");
        to
    }

    fn batches(mut samples: Samples, size: usize) -> Vec<Vec<Sample>> {
        let (mut batches, mut batch) = (Vec::new(), Vec::new());
        loop {
            samples.fill(&mut batch, size).expect("positions");
            if batch.is_empty() {
                return batches;
            }
            batches.push(batch.clone());
        }
    }

    #[test]
    fn streamed_pass_equals_one_in_memory() {
        let folder = tempfile::tempdir().expect("a folder");
        let dataset = open(&shuffled(folder.path()), u64::MAX);
        assert!(dataset.parts.len() > 4 && !dataset.validation.is_empty());
        // The whole pass in memory: the files in the pass's order, each in its own.
        let mut files: Vec<(usize, Vec<Sample>)> = dataset
            .parts
            .iter()
            .map(|(path, _)| read(path, usize::MAX, &dataset.mixture).expect("positions"))
            .enumerate()
            .collect();
        let seed = mix(7) ^ 2;
        SplitMix::new(seed).shuffle(&mut files);
        for (number, samples) in &mut files {
            SplitMix::new(mix(seed ^ mix(*number as u64))).shuffle(samples);
        }
        let whole: Vec<Sample> = files.into_iter().flat_map(|(_, samples)| samples).collect();
        assert_eq!(whole.len() as u64, dataset.positions);
        for (size, skipped) in [(64, 0), (64, 64), (10_000, 0), (50, 350), (7, whole.len() - 3), (7, whole.len())] {
            let streamed = batches(dataset.pass(7, 2, skipped as u64), size);
            let expected: Vec<Vec<Sample>> = whole[skipped..].chunks(size).map(<[Sample]>::to_vec).collect();
            assert!(streamed == expected, "batches of {size} behind {skipped}");
        }
        assert!(batches(dataset.pass(7, 3, 0), 64) != batches(dataset.pass(7, 2, 0), 64), "each pass has its order");
    }

    #[test]
    fn two_files_are_held_at_most() {
        let sample = Sample { record: record("", 0, 0), target: 0.5 };
        let read = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&read);
        let mut samples = Samples::new((0..50).collect(), move |_: usize| {
            counted.fetch_add(1, Relaxed);
            Ok(vec![sample; 10])
        });
        let mut batch = Vec::new();
        for taken in 1..=100 {
            samples.fill(&mut batch, 5).expect("samples");
            let used_up = (taken * 5 - 1) / 10;
            let held = read.load(Relaxed) - used_up;
            assert!(batch.len() == 5 && held <= 2, "{held} files after {taken} batches");
        }
    }

    #[test]
    fn most_positions_are_those_of_the_first_files() {
        let folder = tempfile::tempdir().expect("a folder");
        let to = shuffled(folder.path());
        let (whole, few) = (open(&to, u64::MAX), open(&to, 300));
        assert_eq!(few.positions, 300);
        let keys = |dataset: &Dataset| {
            let samples = batches(dataset.pass(1, 0, 0), 64).concat();
            samples.iter().map(|sample| sample.record.key()).collect::<std::collections::HashSet<_>>()
        };
        assert!(keys(&few).len() == 300 && keys(&few).is_subset(&keys(&whole)));
        assert_ne!(few.fingerprint, whole.fingerprint);
    }

    #[test]
    fn position_without_a_label_is_one_clear_error() {
        let folder = tempfile::tempdir().expect("a folder");
        let to = shuffled(folder.path());
        let mixture = Mixture { own: 0.0, result: 0.0, ..Mixture::default() };
        let failed = Dataset::open(&to, &mixture, u64::MAX);
        let error = failed.expect_err("not all have a teacher's").to_string();
        assert!(error.contains("without a label that counts") && error.lines().count() == 1, "{error}");
    }
}
