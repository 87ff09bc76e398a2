//! The positions of games in random order on disk, each once, for trainings of any size.
//!
//! An external shuffle: the positions are dealt to as many files as keep each small, by a hash of the position, so that equal
//! ones meet; then each file is put in order by itself. Positions of the games that are kept back go to files of their own.
//! A shuffle that was ended while it dealt begins anew, afterwards it goes on with the files that are left.

use std::{
    collections::{BTreeMap, HashSet},
    fs::{self, File},
    io::{self, BufWriter, Write},
    num::NonZeroUsize,
    path::{Path, PathBuf},
    sync::atomic::{AtomicBool, Ordering::Relaxed},
};

use engine::checksum;
use experiment::in_parallel;
use util::{Failure, replace_file};

use crate::training::{
    Around, Record, SplitMix,
    data_file::{DataFile, DataHead, DataKind, files_of, unfilled, unreadable, unusable},
    game::Games,
    random::mix,
    value_net::Valuer,
};

/// The most files that are dealt to: each is open, and a process may have about a thousand.
const MOST_FILES: u64 = 500;
/// The games that are kept back: a fiftieth, but no more than about this many positions.
const KEPT_BACK: (f64, f64) = (0.02, 200_000.0);
/// Bytes of labelled games for each position, about.
const BYTES_A_POSITION: f64 = 5.0;
/// The file that says what was dealt.
const DEALT: &str = "dealt";

pub struct ShufflePlan {
    pub seed: u64,
    /// Bytes of games for each file of positions: 4 MB are about a million positions.
    pub bytes_a_file: u64,
    /// The largest share of games that is kept back for validation, 0 to 1.
    pub validation: f64,
    /// Positions around those of the games, with the labels of a net; without it the games need labels.
    pub around: Option<Around>,
    pub threads: NonZeroUsize,
}

impl Default for ShufflePlan {
    fn default() -> Self {
        Self { seed: 1, bytes_a_file: 4_000_000, validation: KEPT_BACK.0, around: None, threads: NonZeroUsize::MIN }
    }
}

/// Shuffles the positions of the games in `folders` into the folder `to`. Of equal positions the first counts; decided ones
/// are left out. `progress` receives the number of files to be read or written, and of those done. Returns the numbers of
/// positions to learn from and of those kept back; `None` if stopped.
pub fn shuffle(
    plan: &ShufflePlan,
    folders: &[PathBuf],
    to: &Path,
    stop: &AtomicBool,
    mut progress: impl FnMut(usize, usize),
) -> Result<Option<[u64; 2]>, Failure> {
    let (paths, mut bytes, mut description) = sources(folders)?;
    if let Some(around) = &plan.around {
        bytes *= 1 + u64::from(around.count);
        description += &around.description();
    }
    let files = (bytes / plan.bytes_a_file.max(1)).clamp(1, MOST_FILES) as usize;
    let description = format!("{description}; seed {} into {files} files", plan.seed);
    fs::create_dir_all(to).map_err(unreadable(to))?;
    let dealt = to.join(DEALT);
    let all = paths.len() + files;
    match fs::read_to_string(&dealt) {
        Ok(text) if text == description => (),
        Ok(_) => {
            let to = to.display();
            return Err(Failure::failed(format_args!(
                "{to}: made of other games, or with another seed; name another folder"
            )));
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let read = |count| progress(all, count);
            if !deal(plan, &paths, to, files, stop, read)? {
                return Ok(None);
            }
            replace_file(&dealt, &description).map_err(unreadable(&dealt))?;
        }
        Err(error) => return Err(unreadable(&dealt)(error)),
    }
    let share = plan.validation.min(KEPT_BACK.1 * BYTES_A_POSITION / bytes.max(1) as f64);
    let one = |(): &mut (), number: &usize| {
        let [part, training, validation] = ["part", "training", "validation"].map(|name| named(to, name, *number));
        if part.exists() {
            let (learnt, kept_back) = order(plan.seed ^ *number as u64, &part, share)?;
            write(&validation, &description, &kept_back)?;
            write(&training, &description, &learnt)?;
            fs::remove_file(&part).map_err(unreadable(&part))?;
        }
        let count = |path: &Path| DataHead::read(DataKind::POSITIONS, path).map(|head| head.count);
        Ok::<_, Failure>([count(&training)?, count(&validation)?])
    };
    let (mut counts, mut done) = ([0; 2], 0);
    let numbers: Vec<usize> = (0..files).collect();
    in_parallel(
        &numbers,
        plan.threads,
        || stop.load(Relaxed),
        || (),
        one,
        |_, [learnt, kept_back]| {
            counts = [counts[0] + learnt, counts[1] + kept_back];
            done += 1;
            progress(all, paths.len() + done);
            Ok(())
        },
    )?;
    if done < files {
        return Ok(None);
    }
    Ok(Some(counts))
}

/// The files to learn from and those kept back of a finished shuffle, in the order of their numbers.
pub(super) fn files_of_shuffle(folder: &Path) -> Result<[Vec<PathBuf>; 2], Failure> {
    let mut parts = fs::read_dir(folder).map_err(unreadable(folder))?.filter_map(Result::ok);
    if parts.any(|entry| entry.path().extension().is_some_and(|extension| extension == "part")) {
        return Err(unfilled(DataKind::POSITIONS, folder));
    }
    let all = files_of(DataKind::POSITIONS, folder)?;
    let is_training =
        |path: &PathBuf| path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"training"));
    let (training, validation) = all.into_iter().partition(is_training);
    Ok([training, validation])
}

/// Returns the files of games to be shuffled, their bytes, and a description of everything that the positions depend on.
fn sources(folders: &[PathBuf]) -> Result<(Vec<PathBuf>, u64, String), Failure> {
    let (mut paths, mut bytes, mut sums, mut kinds) = (Vec::new(), 0, Vec::new(), Vec::new());
    for folder in folders {
        for path in files_of(DataKind::GAMES, folder)? {
            let head = DataHead::read(DataKind::GAMES, &path)?;
            bytes += fs::metadata(&path).map_err(unreadable(&path))?.len();
            sums.extend_from_slice(&head.checksum.to_le_bytes());
            if !kinds.contains(&head.description) {
                kinds.push(head.description);
            }
            paths.push(path);
        }
    }
    let description = format!("{} files ({:016x}): {}", paths.len(), checksum(&sums), kinds.join(" | "));
    Ok((paths, bytes, description))
}

fn named(folder: &Path, name: &str, number: usize) -> PathBuf {
    match name {
        "part" => folder.join(format!("{number:03}.part")),
        _ => folder.join(format!("{name}-{number:03}.{}", DataKind::POSITIONS.extension)),
    }
}

/// Deals the positions to files; false if stopped.
fn deal(
    plan: &ShufflePlan,
    paths: &[PathBuf],
    to: &Path,
    files: usize,
    stop: &AtomicBool,
    mut progress: impl FnMut(usize),
) -> Result<bool, Failure> {
    let mut parts = Vec::new();
    for number in 0..files {
        let path = named(to, "part", number);
        let file = File::create(&path).map_err(unreadable(&path))?;
        parts.push((BufWriter::new(file), path));
    }
    let begin = || plan.around.as_ref().map(|around| (around, Valuer::new(&around.net)));
    let records = |worker: &mut Option<(&Around, Valuer)>, (number, path): &(usize, &PathBuf)| {
        let games = Games::read(path)?;
        let records: Vec<Record> = match worker {
            Some((around, valuer)) => games.games.iter().flat_map(|game| around.records(valuer, game)).collect(),
            None => games.records().collect(),
        };
        Ok::<_, Failure>((*number, records))
    };
    let numbered: Vec<(usize, &PathBuf)> = paths.iter().enumerate().collect();
    // Of equal positions the first counts, so files that are ready too early wait.
    let (mut read, mut early) = (0, BTreeMap::new());
    in_parallel(
        &numbered,
        plan.threads,
        || stop.load(Relaxed),
        begin,
        records,
        |_, (number, records)| {
            early.insert(number, records);
            while let Some(records) = early.remove(&read) {
                for record in records.iter().filter(|record| !record.is_decided()) {
                    let place = (u128::from(mix(record.key() ^ mix(plan.seed))) * files as u128) >> 64;
                    let (part, path) = &mut parts[place as usize];
                    part.write_all(&record.to_bytes()).map_err(unreadable(path))?;
                }
                read += 1;
                progress(read);
            }
            Ok(())
        },
    )?;
    if read < paths.len() {
        return Ok(false);
    }
    for (part, path) in &mut parts {
        part.flush().map_err(unreadable(path))?;
    }
    Ok(true)
}

/// Returns the positions of a dealt file in random order, each once: those to learn from, and those kept back.
fn order(seed: u64, part: &Path, share: f64) -> Result<(Vec<Record>, Vec<Record>), Failure> {
    let bytes = fs::read(part).map_err(unreadable(part))?;
    let mut known = HashSet::new();
    let mut records = records_of(part, &bytes)?;
    records.retain(|record| known.insert(record.key()));
    SplitMix::new(mix(seed)).shuffle(&mut records);
    let is_learnt = |record: &Record| (mix(u64::from(record.game)) >> 11) as f64 / (1_u64 << 53) as f64 >= share;
    Ok(records.into_iter().partition(is_learnt))
}

fn write(path: &Path, description: &str, records: &[Record]) -> Result<(), Failure> {
    let body = records.iter().flat_map(Record::to_bytes).collect();
    let file = DataFile { description: description.to_owned(), count: records.len() as u64, body };
    file.write(DataKind::POSITIONS, path)
}

fn records_of(path: &Path, bytes: &[u8]) -> Result<Vec<Record>, Failure> {
    let (rows, rest) = bytes.as_chunks::<{ Record::SIZE }>();
    let records = if rest.is_empty() { rows.iter().map(Record::from_bytes).collect() } else { None };
    records.ok_or("a position that is none").map_err(unusable(path))
}

pub(super) fn read_positions(path: &Path) -> Result<Vec<Record>, Failure> {
    records_of(path, &DataFile::read(DataKind::POSITIONS, path)?.body)
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::training::game::{Game, tests::random_game};

    const FEW: ShufflePlan =
        ShufflePlan { seed: 3, bytes_a_file: 2000, validation: 0.2, around: None, threads: NonZeroUsize::MIN };

    fn games(folder: &Path, ids: std::ops::Range<u32>) -> Vec<Game> {
        let games: Vec<Game> = ids.map(|id| random_game(id, "startpos", 80)).collect();
        fs::create_dir_all(folder).expect("a folder");
        for (number, games) in games.chunks(10).enumerate() {
            let file = Games { description: "by chance".to_owned(), games: games.to_vec() };
            file.write(&folder.join(format!("{number}.games"))).expect("writable");
        }
        games
    }

    fn run(folders: &[PathBuf], to: &Path) -> Result<Option<[u64; 2]>, Failure> {
        shuffle(&FEW, folders, to, &AtomicBool::new(false), |_, _| ())
    }

    fn all(folder: &Path) -> [Vec<Record>; 2] {
        let files = files_of_shuffle(folder).expect("a finished shuffle");
        files.map(|paths| paths.iter().flat_map(|path| read_positions(path).expect("positions")).collect())
    }

    #[test]
    fn shuffle_keeps_every_position_once() {
        let folder = tempfile::tempdir().expect("a folder");
        let (from, to) = (folder.path().join("from"), folder.path().join("to"));
        let mut games = games(&from, 0..40);
        // The same games twice: everything in the second folder is there already.
        let twice = [from.clone(), from];
        let shuffled = run(&twice, &to).expect("positions").expect("not stopped");
        let [training, validation] = all(&to);
        assert_eq!([training.len() as u64, validation.len() as u64], shuffled);
        assert!(training.len() > validation.len() && !validation.is_empty());

        games.retain(|game| !game.plies.is_empty());
        let mut expected = HashSet::new();
        let records = games.iter().flat_map(Game::quiet).map(|(_, record)| record);
        let mut expected: Vec<Record> =
            records.filter(|record| !record.is_decided() && expected.insert(record.key())).collect();
        let unsorted = expected.clone();
        let mut found = [training.clone(), validation.clone()].concat();
        assert!(found[..50] != unsorted[..50], "in another order");
        for records in [&mut expected, &mut found] {
            records.sort_by_key(Record::to_bytes);
        }
        assert_eq!(found, expected);
        let kept_back: HashSet<u32> = validation.iter().map(|record| record.game).collect();
        assert!(training.iter().all(|record| !kept_back.contains(&record.game)), "whole games are kept back");
    }

    #[test]
    fn stopped_shuffle_goes_on_to_the_same_files() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = |name: &str| folder.path().join(name);
        games(&path("from"), 0..40);
        let from = [path("from")];
        run(&from, &path("whole")).expect("positions").expect("not stopped");
        let several = ShufflePlan { threads: NonZeroUsize::new(3).expect("three"), ..FEW };
        shuffle(&several, &from, &path("by several"), &AtomicBool::new(false), |_, _| ()).expect("positions");
        assert_eq!(all(&path("by several")), all(&path("whole")), "threads change nothing");
        for after in [2, 9] {
            // Ended while it deals, and while it orders.
            let (stop, to) = (AtomicBool::new(false), path(&format!("in two, {after}")));
            let stopped = shuffle(&FEW, &from, &to, &stop, |_, done| stop.store(done >= after, Relaxed));
            assert_eq!(stopped.expect("no error"), None);
            let unfinished = files_of_shuffle(&to).expect_err("it is not finished").to_string();
            assert!(unfinished.contains("no shuffled positions"), "{unfinished}");
            run(&from, &to).expect("positions").expect("not stopped");
            assert_eq!(all(&to), all(&path("whole")));
        }
        games(&path("others"), 50..60);
        let error = run(&[path("others")], &path("whole")).expect_err("other games").to_string();
        assert!(error.contains("other games") && error.lines().count() == 1, "{error}");
    }

    #[test]
    fn positions_cut_off_are_one_clear_error() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = |name: &str| folder.path().join(name);
        games(&path("from"), 0..10);
        run(&[path("from")], &path("to")).expect("positions");
        let [training, _] = files_of_shuffle(&path("to")).expect("a finished shuffle");
        let bytes = fs::read(&training[0]).expect("a file");
        fs::write(&training[0], &bytes[..bytes.len() / 2]).expect("writable");
        let error = read_positions(&training[0]).expect_err("half a file").to_string();
        assert!(error.contains("cut off; make it again") && error.lines().count() == 1, "{error}");
    }
}
