//! Labels by a teacher, as a pass of its own over shards that are there.
//!
//! Positions that the teacher finds not quiet are left out: no static value does them justice. Shards that are there already are left
//! as they are, so a pass that was ended is taken up by the same call.

use std::{
    fs,
    num::NonZeroUsize,
    path::{Path, PathBuf},
    sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed},
};

use crate::training::{Record, Shard, ShardError, dataset::shards_of, shared_work::share};

/// The number of positions that a teacher is asked about at once.
const AT_ONCE: usize = 64;

pub trait Teacher {
    type Error: Send;

    /// Forgets everything, so that no shard depends on another.
    fn forget(&mut self) -> Result<(), Self::Error>;

    /// Returns centipawns for the player to move, for each position in order; `None` for one that
    /// is not quiet. The list is shorter if `stop` was set meanwhile.
    fn judge(&mut self, records: &[Record], stop: &AtomicBool) -> Result<Vec<Option<i16>>, Self::Error>;
}

#[derive(Debug, thiserror::Error)]
pub enum LabellingError<E> {
    #[error("teacher: {0}")]
    Teacher(E),
    /// A file of records cannot be read or written.
    #[error(transparent)]
    Shard(#[from] ShardError),
    /// The output would overwrite the input.
    #[error("{0}: the labelled positions need a folder of their own")]
    SameFolder(PathBuf),
    #[error("{0}: labelled by another teacher, or with another effort; name another folder")]
    OtherTeacher(PathBuf),
    /// The output has labels of other positions under this name.
    #[error("{target}: has the positions of another file than {source_file}; name another folder")]
    OtherPositions { target: PathBuf, source_file: PathBuf },
}

/// Labels every shard of `from` and writes it under the same name to `to`. Each thread starts a
/// teacher of its own; `described` is the teacher's description in the new shards. After every
/// shard `progress` receives the number of shards and of those done, including earlier calls.
pub fn label<T: Teacher>(
    start: impl Fn() -> Result<T, T::Error> + Sync,
    described: &str,
    (from, to): (&Path, &Path),
    threads: NonZeroUsize,
    stop: &AtomicBool,
    progress: impl Fn(usize, usize) + Sync,
) -> Result<(), LabellingError<T::Error>> {
    let paths = shards_of(from)?;
    fs::create_dir_all(to).map_err(|error| ShardError::File { path: to.to_owned(), error })?;
    if is_same(from, to) {
        return Err(LabellingError::SameFolder(to.to_owned()));
    }
    let by_teacher = format!("; teacher: {described}");
    for there in shards_of(to).unwrap_or_default() {
        let description = Shard::read_description(&there)?;
        if !description.ends_with(&by_teacher) {
            return Err(LabellingError::OtherTeacher(there));
        }
        // Files of two folders may have the same names.
        if let Some(source_file) = paths.iter().find(|path| path.file_name() == there.file_name())
            && description != format!("{}{by_teacher}", Shard::read_description(source_file)?)
        {
            return Err(LabellingError::OtherPositions { target: there, source_file: source_file.clone() });
        }
    }
    let done = AtomicUsize::new(0);
    let tell = || progress(paths.len(), done.fetch_add(1, Relaxed) + 1);
    let teacher = || start().map_err(LabellingError::Teacher);
    share(paths.len() as u64, threads, stop, teacher, |teacher, number| {
        let path = &paths[number as usize];
        let Some(target) = path.file_name().map(|name| to.join(name)).filter(|target| !target.exists()) else {
            tell();
            return Ok(());
        };
        let shard = Shard::read(path)?;
        teacher.forget().map_err(LabellingError::Teacher)?;
        let mut records = Vec::with_capacity(shard.records.len());
        for asked in shard.records.chunks(AT_ONCE) {
            let scores = teacher.judge(asked, stop).map_err(LabellingError::Teacher)?;
            if stop.load(Relaxed) {
                return Ok(());
            }
            let judged = asked.iter().zip(scores);
            records.extend(judged.filter_map(|(record, score)| Some(record.with_teacher(score?))));
        }
        Shard { description: format!("{}{by_teacher}", shard.description), records }.write(&target)?;
        tell();
        Ok(())
    })
}

/// Returns true if both paths are the same folder.
fn is_same(one: &Path, other: &Path) -> bool {
    matches!((one.canonicalize(), other.canonicalize()), (Ok(one), Ok(other)) if one == other)
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use engine::Position;

    use super::*;

    /// Finds every position worth as much as it has men, but for those without a pawn on its second rank.
    struct CountingTeacher;

    impl Teacher for CountingTeacher {
        type Error = std::convert::Infallible;

        fn forget(&mut self) -> Result<(), Self::Error> {
            Ok(())
        }

        fn judge(&mut self, records: &[Record], _: &AtomicBool) -> Result<Vec<Option<i16>>, Self::Error> {
            let judge = |record: &Record| record.to_fen().contains("PPPPPPPP").then(|| record.count() as i16);
            Ok(records.iter().map(judge).collect())
        }
    }

    #[test]
    fn only_quiet_positions_get_labels() {
        let folder = tempfile::tempdir().expect("a folder");
        let (from, to) = (folder.path().join("from"), folder.path().join("to"));
        std::fs::create_dir(&from).expect("a folder");
        let record = |moves: &[&str]| {
            let position = Position::from_line("startpos", false, moves.iter().copied()).expect("a line");
            Record::new(position.board()).expect("standard chess")
        };
        let records = vec![record(&[]), record(&["g1f3"]), record(&["e2e4"])];
        let shard = Shard { description: "made by hand".to_owned(), records };
        shard.write(&from.join("one.shard")).expect("writable");
        for _ in 0..2 {
            // The second call finds everything done.
            let done = Mutex::new(Vec::new());
            let progress = |all, count| done.lock().expect("no panic").push((all, count));
            let stop = AtomicBool::new(false);
            label(|| Ok(CountingTeacher), "by counting", (&from, &to), NonZeroUsize::MIN, &stop, progress)
                .expect("labels");
            assert_eq!(done.into_inner().expect("no panic"), [(1, 1)]);
        }
        let again = |described: &str, to: &Path| {
            let stop = AtomicBool::new(false);
            label(|| Ok(CountingTeacher), described, (&from, to), NonZeroUsize::MIN, &stop, |_, _| ())
        };
        assert!(matches!(again("by guessing", &to), Err(LabellingError::OtherTeacher(_))));
        assert!(matches!(again("by counting", &from), Err(LabellingError::SameFolder(_))));
        let labelled = Shard::read(&to.join("one.shard")).expect("a shard");
        assert_eq!(labelled.description, "made by hand; teacher: by counting");
        let labels: Vec<_> = labelled.records.iter().map(|record| record.teacher).collect();
        assert_eq!(labels, [Some(32), Some(32)]);
    }

    #[test]
    fn foreign_labels_are_refused() {
        let folder = tempfile::tempdir().expect("a folder");
        let to = folder.path().join("to");
        let labelled = |name: &str| {
            let from = folder.path().join(name);
            std::fs::create_dir_all(&from).expect("a folder");
            let shard = Shard { description: format!("of folder {name}"), records: Vec::new() };
            shard.write(&from.join("one.shard")).expect("writable");
            let stop = AtomicBool::new(false);
            label(|| Ok(CountingTeacher), "by counting", (&from, &to), NonZeroUsize::MIN, &stop, |_, _| ())
        };
        labelled("first").expect("labels");
        let error = labelled("second").expect_err("other positions").to_string();
        assert!(error.contains("second") && error.ends_with("name another folder"), "{error}");
        labelled("first").expect("the same positions");
    }
}
