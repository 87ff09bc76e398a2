//! A log with a file for every day, of which the newest are kept.

use std::{
    fmt,
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
};

use jiff::{Timestamp, civil::Date, tz::TimeZone};
use tracing_appender::rolling::{RollingFileAppender, Rotation};
use tracing_subscriber::fmt::MakeWriter;

use super::Failure;

/// Writes into the file of the day: `concilio.log` becomes `concilio.2026-11-22.log`.
pub(super) struct DailyLog {
    appender: RollingFileAppender,
    /// As the settings name it, without a date.
    file: PathBuf,
    days: usize,
    /// The day on which old files were deleted last.
    pruned: Mutex<Option<Date>>,
}

impl DailyLog {
    /// Of which the newest `days` files are kept.
    ///
    /// # Errors
    /// Where the file cannot be written.
    pub(super) fn open(file: &Path, days: usize) -> Result<Self, Failure> {
        let failed = |reason: &dyn fmt::Display| Failure::usage(format_args!("log.file {}: {reason}", file.display()));
        let part = |part: Option<&std::ffi::OsStr>| part.and_then(|part| part.to_str()).unwrap_or_default().to_owned();
        let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        std::fs::create_dir_all(folder).map_err(|error| failed(&error))?;
        let appender = RollingFileAppender::builder()
            .rotation(Rotation::DAILY)
            .filename_prefix(part(file.file_stem()))
            .filename_suffix(part(file.extension()))
            .build(folder)
            .map_err(|error| failed(&error))?;
        let file = folder.join(file.file_name().unwrap_or_default());
        Ok(Self { appender, file, days, pruned: Mutex::default() })
    }
}

impl<'a> MakeWriter<'a> for DailyLog {
    type Writer = <RollingFileAppender as MakeWriter<'a>>::Writer;

    fn make_writer(&'a self) -> Self::Writer {
        let writer = self.appender.make_writer();
        // The files' days are those of UTC.
        let today = Timestamp::now().to_zoned(TimeZone::UTC).date();
        let last = self.pruned.lock().unwrap_or_else(PoisonError::into_inner).replace(today);
        if last != Some(today) {
            prune(&self.file, self.days);
        }
        writer
    }
}

/// Deletes all but the newest files of a log. Those of other logs, and whatever else lies beside them, stay.
fn prune(log: &Path, days: usize) {
    let Some(entries) = log.parent().and_then(|folder| std::fs::read_dir(folder).ok()) else { return };
    let dated = entries.filter_map(|entry| {
        let path = entry.ok()?.path();
        Some((date_of(&path, log)?, path))
    });
    let mut dated: Vec<(Date, PathBuf)> = dated.collect();
    dated.sort();
    let old = dated.len().saturating_sub(days);
    for (_, path) in &dated[..old] {
        // What cannot be deleted today is tried again tomorrow.
        let _ = std::fs::remove_file(path);
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
    use std::io::Write as _;

    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let entries = std::fs::read_dir(folder).expect("a folder");
        let mut names: Vec<String> =
            entries.map(|entry| entry.expect("an entry").file_name().into_string().expect("a name")).collect();
        names.sort();
        names
    }

    #[test]
    fn a_day_has_a_file_of_its_own() {
        let folder = tempfile::tempdir().expect("a folder");
        let log = DailyLog::open(&folder.path().join("deep/concilio.log"), 2).expect("writable");
        log.make_writer().write_all(b"a line\n").expect("written");
        let names = names(&folder.path().join("deep"));
        assert!(
            matches!(names.as_slice(), [name] if name.starts_with("concilio.20") && name.ends_with(".log")),
            "{names:?}"
        );
    }

    #[test]
    fn old_files_go_and_those_of_others_stay() {
        let others = ["concilio", "concilio.db", "concilio.toml", "bot-fics.2001-01-01.log", "bot.old.log", "bot.log"];
        let days = ["2001-01-01", "2001-01-02", "2001-01-03"];
        for (name, of_a_day) in [("bot.log", "bot.DAY.log"), ("concilio", "concilio.DAY")] {
            let folder = tempfile::tempdir().expect("a folder");
            let dated = days.map(|day| of_a_day.replace("DAY", day));
            for file in others.iter().copied().chain(dated.iter().map(String::as_str)) {
                std::fs::write(folder.path().join(file), file).expect("writable");
            }
            let log = DailyLog::open(&folder.path().join(name), 3).expect("writable");
            log.make_writer().write_all(b"a line\n").expect("written");
            let names = names(folder.path());
            assert!(others.iter().all(|other| names.iter().any(|name| name == other)), "{names:?}");
            let kept = dated.iter().filter(|file| names.contains(file)).count();
            assert_eq!((kept, names.len()), (2, others.len() + 3), "with the one of today: {names:?}");
        }
    }
}
