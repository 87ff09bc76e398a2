//! A log with a file for every day. The newest files are kept.

use std::{
    ffi::OsStr,
    fs::{self, File},
    io::{self, Write},
    path::{Path, PathBuf},
};

use jiff::{Timestamp, civil::Date, tz::TimeZone};

use super::Failure;
use util::values::named;

/// Writes into the file of the day: `concilio.log` becomes `concilio.2026-11-22.log`.
pub(super) struct DailyLog {
    /// Path of the settings, without a date.
    path: PathBuf,
    days: usize,
    day: Date,
    file: File,
}

impl DailyLog {
    /// Opens the file of today and keeps the newest `days` files.
    pub(super) fn open(file: &Path, days: usize) -> Result<Self, Failure> {
        let failed = |error: io::Error| Failure::usage(format_args!("log.file {}: {error}", file.display()));
        let folder = file.parent().and_then(named).unwrap_or(Path::new("."));
        fs::create_dir_all(folder).map_err(failed)?;
        let path = folder.join(file.file_name().unwrap_or_default());
        let day = today();
        let opened = open(&path, day).map_err(failed)?;
        prune(&path, days);
        Ok(Self { path, days, day, file: opened })
    }

    /// Goes on with the file of `day`, or with the old one if a new one cannot be opened.
    fn turn_to(&mut self, day: Date) {
        if self.day != day
            && let Ok(file) = open(&self.path, day)
        {
            (self.day, self.file) = (day, file);
            prune(&self.path, self.days);
        }
    }
}

impl Write for DailyLog {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.turn_to(today());
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

/// The days of the files are those of UTC.
fn today() -> Date {
    Timestamp::now().to_zoned(TimeZone::UTC).date()
}

/// Opens the file of a day, to be written at its end.
fn open(log: &Path, day: Date) -> io::Result<File> {
    let mut name = log.file_stem().unwrap_or_default().to_owned();
    name.push(format!(".{day}"));
    if let Some(ending) = log.extension() {
        name.push(OsStr::new("."));
        name.push(ending);
    }
    let mut options = File::options();
    options.append(true).create(true);
    // The log has names of players, and paths.
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(log.with_file_name(name))
}

/// Deletes all but the newest files of a log. All other files beside them stay.
fn prune(log: &Path, days: usize) {
    let Some(entries) = log.parent().and_then(|folder| fs::read_dir(folder).ok()) else { return };
    let dated = entries.filter_map(|entry| {
        let path = entry.ok()?.path();
        Some((date_of(&path, log)?, path))
    });
    let mut dated: Vec<(Date, PathBuf)> = dated.collect();
    dated.sort();
    let old = dated.len().saturating_sub(days);
    for (_, path) in &dated[..old] {
        // If this fails, it is tried again tomorrow.
        let _ = fs::remove_file(path);
    }
}

/// The day of a file of this log; `None` for any other file.
fn date_of(path: &Path, log: &Path) -> Option<Date> {
    let name = path.file_name()?.to_str()?.strip_prefix(log.file_stem()?.to_str()?)?.strip_prefix('.')?;
    let date = match log.extension() {
        Some(ending) => name.strip_suffix(ending.to_str()?)?.strip_suffix('.')?,
        None => name,
    };
    date.parse().ok().filter(|parsed: &Date| parsed.to_string() == date)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).expect("a folder");
        let mut names: Vec<String> =
            entries.map(|entry| entry.expect("an entry").file_name().into_string().expect("a name")).collect();
        names.sort();
        names
    }

    #[test]
    fn a_day_has_a_file_of_its_own() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut log = DailyLog::open(&folder.path().join("deep/concilio.log"), 2).expect("writable");
        log.write_all(b"a line\n").expect("written");
        let names = names(&folder.path().join("deep"));
        assert!(
            matches!(names.as_slice(), [name] if name.starts_with("concilio.20") && name.ends_with(".log")),
            "{names:?}"
        );
    }

    #[test]
    fn next_day_starts_a_new_file() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut log = DailyLog::open(&folder.path().join("bot.log"), 2).expect("writable");
        let days = ["2199-01-01", "2199-01-02", "2199-01-02"].map(|day| day.parse::<Date>().expect("a day"));
        for day in days {
            log.turn_to(day);
            log.file.write_all(b"a line\n").expect("written");
        }
        assert_eq!(names(folder.path()), ["bot.2199-01-01.log", "bot.2199-01-02.log"], "the newest two");
        let last = fs::read_to_string(folder.path().join("bot.2199-01-02.log")).expect("a file");
        assert_eq!(last.lines().count(), 2);
    }

    #[test]
    fn only_own_old_files_are_deleted() {
        let others = ["concilio", "concilio.db", "concilio.toml", "bot-fics.2001-01-01.log", "bot.old.log", "bot.log"];
        let days = ["2001-01-01", "2001-01-02", "2001-01-03"];
        for (name, of_a_day) in [("bot.log", "bot.DAY.log"), ("concilio", "concilio.DAY")] {
            let folder = tempfile::tempdir().expect("a folder");
            let dated = days.map(|day| of_a_day.replace("DAY", day));
            for file in others.iter().copied().chain(dated.iter().map(String::as_str)) {
                fs::write(folder.path().join(file), file).expect("writable");
            }
            let mut log = DailyLog::open(&folder.path().join(name), 3).expect("writable");
            log.write_all(b"a line\n").expect("written");
            let names = names(folder.path());
            assert!(others.iter().all(|other| names.iter().any(|name| name == other)), "{names:?}");
            let kept = dated.iter().filter(|file| names.contains(file)).count();
            assert_eq!((kept, names.len()), (2, others.len() + 3), "with the one of today: {names:?}");
        }
    }
}
