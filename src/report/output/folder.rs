//! The folder of a report, written game by game, so that ten thousand games need little memory.

use std::{
    collections::HashMap,
    fs::{self, File},
    io::{self, BufWriter, Write},
    path::{Path, PathBuf},
    process,
    sync::atomic::{AtomicUsize, Ordering::Relaxed},
    time::Duration,
};

use bot::journal::{GameRecord, GameResult, pgn_result};
use serde_json::Value;

use super::{
    Report, annotated_pgn, csv, file_stem,
    game_page::game_page,
    html::{STYLE, escaped, optional},
    pages,
};
use crate::{formulas::MoveLabel, study::GameStudy};
use util::Failure;

const ROWS: usize = 200;

const NEWEST: usize = 20;

fn unwritten(path: &Path, error: &io::Error) -> Failure {
    Failure::failed(format_args!("report {}: {error}", path.display()))
}

/// A file that grows game by game. It takes its place when it is complete, so that an interrupted
/// report keeps the earlier one's; an incomplete file is removed.
struct GrowingFile {
    file: BufWriter<File>,
    path: PathBuf,
    /// Its name until it is complete, different from every other report's, even in the same folder.
    unfinished: PathBuf,
}

impl GrowingFile {
    fn create(folder: &Path, name: &str) -> Result<Self, Failure> {
        static BEGUN: AtomicUsize = AtomicUsize::new(0);
        let (process, number) = (process::id(), BEGUN.fetch_add(1, Relaxed));
        let unfinished = folder.join(format!("{name}.{process}-{number}.unfinished"));
        match File::create(&unfinished) {
            Ok(file) => Ok(Self { file: BufWriter::new(file), path: folder.join(name), unfinished }),
            Err(error) => Err(unwritten(&unfinished, &error)),
        }
    }

    fn write(&mut self, text: &str) -> Result<(), Failure> {
        self.file.write_all(text.as_bytes()).map_err(|error| unwritten(&self.path, &error))
    }

    fn flush(&mut self) -> Result<(), Failure> {
        self.file.flush().map_err(|error| unwritten(&self.path, &error))
    }

    fn take_place(&mut self) -> Result<(), Failure> {
        fs::rename(&self.unfinished, &self.path).map_err(|error| unwritten(&self.path, &error))
    }
}

impl Drop for GrowingFile {
    fn drop(&mut self) {
        // Does nothing after `take_place`.
        let _ = fs::remove_file(&self.unfinished);
    }
}

/// Removes files of a killed report, once they are old enough.
fn remove_abandoned(folder: &Path) {
    const OLD: Duration = Duration::from_hours(24);
    let entries = fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok);
    for entry in entries.filter(|entry| entry.file_name().to_string_lossy().ends_with(".unfinished")) {
        let age = entry.metadata().and_then(|data| data.modified()).ok().and_then(|time| time.elapsed().ok());
        if age.is_some_and(|age| age > OLD) {
            let _ = fs::remove_file(entry.path());
        }
    }
}

pub struct ReportFolder {
    folder: PathBuf,
    judge: String,
    pgn: GrowingFile,
    games: GrowingFile,
    moves: GrowingFile,
    /// Rows of the list, the oldest game first.
    rows: Vec<String>,
    links: HashMap<String, String>,
    earlier: Option<Value>,
}

impl ReportFolder {
    /// Begins a report in a folder, created if needed; an earlier report in it is replaced.
    pub fn begin(folder: &Path, judge: &str) -> Result<Self, Failure> {
        let pages = folder.join("game");
        fs::create_dir_all(&pages).map_err(|error| unwritten(&pages, &error))?;
        remove_abandoned(folder);
        let earlier = fs::read_to_string(folder.join("report.json")).ok();
        let mut report = Self {
            folder: folder.to_owned(),
            judge: judge.to_owned(),
            pgn: GrowingFile::create(folder, "games.pgn")?,
            games: GrowingFile::create(folder, "games.csv")?,
            moves: GrowingFile::create(folder, "moves.csv")?,
            rows: Vec::new(),
            links: HashMap::new(),
            earlier: earlier.and_then(|text| serde_json::from_str(&text).ok()),
        };
        report.games.write(csv::GAME_TITLES)?;
        report.moves.write(csv::MOVE_TITLES)?;
        Ok(report)
    }

    /// Returns the totals of the earlier report in the folder, as written.
    pub fn earlier_totals(&self) -> Option<&Value> {
        self.earlier.as_ref()?.get("totals")
    }

    /// Adds a game: its page, its text, its lines in the tables. Without a study it is only listed.
    pub fn add(&mut self, record: &GameRecord, study: Option<&GameStudy>) -> Result<(), Failure> {
        let mut link = None;
        if let Some(study) = study {
            let name = format!("game/{}.html", file_stem(record));
            self.write(&name, &game_page(study, &self.judge))?;
            self.pgn.write(&annotated_pgn(study, &self.judge))?;
            self.games.write(&csv::game_line(study))?;
            for played in &study.moves {
                self.moves.write(&csv::move_line(study, played))?;
            }
            self.links.insert(record.key().to_string(), name.clone());
            link = Some(name);
        }
        self.rows.push(row(record, study, link.as_deref()));
        Ok(())
    }

    /// Writes the pages on all games; returns the path of the first one.
    pub fn finish(mut self, report: &Report) -> Result<PathBuf, Failure> {
        let mut growing = [&mut self.pgn, &mut self.games, &mut self.moves];
        growing.iter_mut().try_for_each(|file| file.flush())?;
        growing.iter_mut().try_for_each(|file| file.take_place())?;
        self.rows.reverse();
        let pages = self.rows.len().div_ceil(ROWS).max(1);
        for number in 1..=pages {
            let from = (number - 1) * ROWS;
            let rows = &self.rows[from..self.rows.len().min(from + ROWS)];
            self.write(&format!("games-{number}.html"), &pages::list(rows, number, pages))?;
        }
        // An earlier report may have had more.
        let left_over = (pages + 1..).map(|number| self.folder.join(format!("games-{number}.html")));
        for path in left_over.take_while(|path| path.exists()).chain([self.folder.join("suggestion.toml")]) {
            let _ = fs::remove_file(path);
        }
        let newest = pages::list_table(&self.rows[..self.rows.len().min(NEWEST)]);
        self.write("council.html", &pages::council(report, |game| self.links.get(game).cloned()))?;
        self.write("report.json", &serde_json::to_string_pretty(report).unwrap_or_default())?;
        self.write("style.css", STYLE)?;
        self.write("index.html", &pages::index(report, self.rows.len(), &newest))?;
        Ok(self.folder.join("index.html"))
    }

    fn write(&self, name: &str, text: &str) -> Result<(), Failure> {
        let path = self.folder.join(name);
        fs::write(&path, text).map_err(|error| unwritten(&path, &error))
    }
}

fn row(record: &GameRecord, study: Option<&GameStudy>, link: Option<&str>) -> String {
    let opponent = record.opponent();
    let title = opponent.title.as_deref().map_or_else(String::new, |title| format!("{} ", escaped(title)));
    let rating = opponent.rating.map_or_else(String::new, |rating| format!(" ({rating})"));
    let us = record.our_color;
    let count = |label| study.map_or_else(|| "-".to_owned(), |study| study.labels(us, label).to_string());
    let [inaccuracies, mistakes, blunders] = MoveLabel::ALL.map(count);
    let opening = study.and_then(|study| study.opening).map(|opening| format!("{} {}", opening.eco, opening.name));
    let class = record.result.map_or("", |result| match result {
        GameResult::Won => "won",
        GameResult::Lost => "lost",
        GameResult::Drawn => "",
    });
    let page = link.map_or_else(|| "not studied".to_owned(), |page| format!("<a href=\"{page}\">moves</a>"));
    format!(
        "<tr><td>{}</td><td>{title}{}{rating}</td><td>{}</td><td>{}</td><td class=\"{class}\">{}</td><td class=\"n\">{}</td>\
         <td class=\"n\">{inaccuracies}</td><td class=\"n\">{mistakes}</td><td class=\"n\">{blunders}</td><td>{}</td><td>{page}</td></tr>\n",
        record.started_at.strftime("%Y-%m-%d %H:%M"),
        escaped(&opponent.name),
        us,
        escaped(&record.time_control.to_string()),
        pgn_result(record),
        optional(study.and_then(GameStudy::our_accuracy), 1),
        escaped(&opening.unwrap_or_default()),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").file_name());
        let mut names: Vec<String> = entries.map(|name| name.to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }

    #[test]
    fn reports_share_a_folder() {
        let folder = tempfile::tempdir().expect("a folder");
        let [mut one, mut other] =
            [(); 2].map(|()| GrowingFile::create(folder.path(), "games.csv").unwrap_or_else(|error| panic!("{error}")));
        let written = one.write("one").and_then(|()| other.write("other")).and_then(|()| one.flush());
        written.and_then(|()| one.take_place()).unwrap_or_else(|error| panic!("{error}"));
        let text = fs::read_to_string(folder.path().join("games.csv")).expect("the first");
        assert_eq!(text, "one");
        other.flush().and_then(|()| other.take_place()).unwrap_or_else(|error| panic!("{error}"));
        let text = fs::read_to_string(folder.path().join("games.csv")).expect("the second");
        assert_eq!(text, "other");
        drop((one, other));
        assert_eq!(names(folder.path()), ["games.csv"]);
    }

    #[test]
    fn interrupted_report_is_removed() {
        let folder = tempfile::tempdir().expect("a folder");
        let report = ReportFolder::begin(folder.path(), "a judge").unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(names(folder.path()).len(), 4, "three files that grow, and the folder of games");
        drop(report);
        assert_eq!(names(folder.path()), ["game"]);
    }
}
