//! Labels by a teacher, as a pass of its own over games that are there.
//!
//! Positions that the teacher finds not quiet get none: no static value does them justice. Files that are there already are left
//! as they are, so a pass that was ended is taken up by the same call. Labelled games can be labelled anew by another teacher.

use std::{
    fs,
    num::NonZeroUsize,
    path::{Path, PathBuf},
    sync::atomic::{AtomicBool, Ordering::Relaxed},
};

use council::electors::ElectorFailure;
use experiment::in_parallel;
use util::Failure;

use crate::training::{
    Record,
    data_file::{DataHead, DataKind, files_of, unreadable},
    game::{Games, labelled_by},
};

/// The number of positions that a teacher is asked about at once.
const AT_ONCE: usize = 64;

pub trait Teacher {
    /// Forgets everything, so that no file depends on another.
    fn forget(&mut self) -> Result<(), ElectorFailure>;

    /// Returns centipawns for the player to move, for each position in order; `None` for one that
    /// is not quiet. The list is shorter if `stop` was set meanwhile.
    fn judge(&mut self, records: &[Record], stop: &AtomicBool) -> Result<Vec<Option<i16>>, ElectorFailure>;
}

/// Labels every file of `from` and writes it under the same name to `to`. Each thread starts a
/// teacher of its own; `described` is the teacher's description in the new files. After every
/// file `progress` receives the number of files and of those done, including earlier calls.
pub fn label<T: Teacher>(
    start: impl Fn() -> Result<T, ElectorFailure> + Sync,
    described: &str,
    (from, to): (&Path, &Path),
    threads: NonZeroUsize,
    stop: &AtomicBool,
    mut progress: impl FnMut(usize, usize),
) -> Result<(), Failure> {
    let paths = files_of(DataKind::GAMES, from)?;
    fs::create_dir_all(to).map_err(unreadable(to))?;
    if from.canonicalize().ok().is_some_and(|from| to.canonicalize().is_ok_and(|to| to == from)) {
        return Err(Failure::failed(format_args!("{}: the labelled games need a folder of their own", to.display())));
    }
    let description_of = |path: &Path| DataHead::read(DataKind::GAMES, path).map(|head| head.description);
    for there in files_of(DataKind::GAMES, to).unwrap_or_default() {
        let description = description_of(&there)?;
        if description != labelled_by(&description, described) {
            return Err(Failure::failed(format_args!(
                "{}: labelled by another teacher, or with another effort; name another folder",
                there.display()
            )));
        }
        // Files of two folders may have the same names.
        if let Some(source_file) = paths.iter().find(|path| path.file_name() == there.file_name())
            && description != labelled_by(&description_of(source_file)?, described)
        {
            let (there, source_file) = (there.display(), source_file.display());
            return Err(Failure::failed(format_args!(
                "{there}: has the games of another file than {source_file}; name another folder"
            )));
        }
    }
    let failed = |failure: ElectorFailure| Failure::failed(format_args!("teacher: {failure}"));
    let one = |teacher: &mut Option<T>, path: &PathBuf| {
        let Some(target) = path.file_name().map(|name| to.join(name)).filter(|target| !target.exists()) else {
            return Ok(true);
        };
        let teacher = match teacher {
            Some(teacher) => teacher,
            none => none.insert(start().map_err(failed)?),
        };
        let mut games = Games::read(path)?;
        teacher.forget().map_err(failed)?;
        let (mut plies, mut records) = (Vec::new(), Vec::new());
        for game in &mut games.games {
            game.plies.iter_mut().for_each(|ply| ply.teacher = None);
            let quiet = game.quiet();
            let mut numbered = game.plies.iter_mut().enumerate();
            for (number, record) in quiet {
                plies.extend(numbered.find(|(i, _)| *i == number).map(|(_, ply)| ply));
                records.push(record);
            }
        }
        for (plies, asked) in plies.chunks_mut(AT_ONCE).zip(records.chunks(AT_ONCE)) {
            let scores = teacher.judge(asked, stop).map_err(failed)?;
            if stop.load(Relaxed) {
                return Ok(false);
            }
            plies.iter_mut().zip(scores).for_each(|(ply, score)| ply.teacher = score);
        }
        games.description = labelled_by(&games.description, described);
        games.write(&target)?;
        Ok(true)
    };
    let (halted, mut done) = (|| stop.load(Relaxed), 0);
    in_parallel(&paths, threads, halted, Option::default, one, |_, is_labelled| {
        if is_labelled {
            done += 1;
            progress(paths.len(), done);
        }
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::training::game::{Game, tests::random_game};

    /// Finds every position worth as much as it has men, but for those without three white pawns side by side.
    struct CountingTeacher;

    impl Teacher for CountingTeacher {
        fn forget(&mut self) -> Result<(), ElectorFailure> {
            Ok(())
        }

        fn judge(&mut self, records: &[Record], _: &AtomicBool) -> Result<Vec<Option<i16>>, ElectorFailure> {
            Ok(records.iter().map(counted).collect())
        }
    }

    fn counted(record: &Record) -> Option<i16> {
        record.to_fen().contains("PPP").then(|| record.count() as i16)
    }

    fn write(path: &Path, description: &str, games: Vec<Game>) {
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        Games { description: description.to_owned(), games }.write(path).expect("writable");
    }

    fn run(described: &str, from: &Path, to: &Path) -> Result<Vec<(usize, usize)>, String> {
        let (stop, mut done) = (AtomicBool::new(false), Vec::new());
        let progress = |all, count| done.push((all, count));
        label(|| Ok(CountingTeacher), described, (from, to), NonZeroUsize::MIN, &stop, progress)
            .map_err(|error| error.to_string())?;
        Ok(done)
    }

    #[test]
    fn only_quiet_positions_get_labels() {
        let folder = tempfile::tempdir().expect("a folder");
        let [from, to, anew] = ["from", "to", "anew"].map(|name| folder.path().join(name));
        write(&from.join("one.games"), "made by hand", (1..40).map(|id| random_game(id, "startpos", 60)).collect());
        for _ in 0..2 {
            // The second call finds everything done.
            assert_eq!(run("by counting", &from, &to), Ok(vec![(1, 1)]));
        }
        let error = run("by guessing", &from, &to).expect_err("another teacher");
        assert!(error.contains("another teacher"), "{error}");
        assert!(run("by counting", &from, &from).is_err_and(|error| error.contains("a folder of their own")));
        let labelled = Games::read(&to.join("one.games")).expect("games");
        assert_eq!(labelled.description, "made by hand; teacher: by counting");
        let quiet: Vec<Record> = labelled.games.iter().flat_map(Game::quiet).map(|(_, record)| record).collect();
        assert!(quiet.len() > AT_ONCE, "{}", quiet.len());
        for record in &quiet {
            assert_eq!(record.teacher, counted(record), "{}", record.to_fen());
        }
        let labels = labelled.games.iter().flat_map(|game| &game.plies).filter(|ply| ply.teacher.is_some()).count();
        assert_eq!(labels, quiet.iter().filter(|record| record.teacher.is_some()).count());
        // From the archive or from labelled games: another teacher's labels are the same.
        run("by counting anew", &to, &anew).expect("labels");
        let again = Games::read(&anew.join("one.games")).expect("games");
        assert_eq!(again.description, "made by hand; teacher: by counting anew");
        assert_eq!(again.games[0].plies, labelled.games[0].plies);
    }

    #[test]
    fn foreign_labels_are_refused() {
        let folder = tempfile::tempdir().expect("a folder");
        let to = folder.path().join("to");
        let labelled = |name: &str| {
            let from = folder.path().join(name);
            write(&from.join("one.games"), &format!("of folder {name}"), Vec::new());
            run("by counting", &from, &to)
        };
        labelled("first").expect("labels");
        let error = labelled("second").expect_err("other games");
        assert!(error.contains("second") && error.ends_with("name another folder"), "{error}");
        labelled("first").expect("the same games");
    }
}
