//! The table of the electors, and text that fits a terminal.

use std::fmt::Write as _;

use crossterm::style::Stylize;

use council::player::vote_report::{self, VoteEntry};
use util::printable;

/// At most `rows` rows of electors with their titles: in full where they fit, else without nodes and weights, and with short
/// names at last.
pub(super) fn table(entries: &[VoteEntry], columns: usize, rows: usize) -> Vec<String> {
    const NUMBERS: usize = 26;
    const NARROWEST: usize = 10;
    let in_full = vote_report::table(entries);
    if in_full.iter().all(|row| row.chars().count() < columns) {
        return mark(in_full.iter().map(|row| fit(&format!(" {row}"), columns)), entries, rows);
    }
    let widest = |names: &[&str]| names.iter().map(|name| name.chars().count()).fold(NARROWEST, usize::max);
    let mut names: Vec<&str> = entries.iter().map(|entry| entry.elector.as_str()).collect();
    if widest(&names) + NUMBERS > columns {
        names = entries.iter().map(|entry| entry.short.as_str()).collect();
    }
    let width = widest(&names);
    let titles = format!("   {:<width$}    move   score depth", "elector");
    let lines = entries.iter().zip(&names).map(|(entry, name)| {
        let elected = if entry.elected { '*' } else { ' ' };
        format!(" {elected} {name:<width$} {:>7} {:>7} {:>5}", entry.best, entry.score, entry.depth)
    });
    mark(std::iter::once(titles).chain(lines).map(|row| fit(&row, columns)), entries, rows)
}

/// The titles and at most `most` rows below them, those of the elected move in bold with a check mark.
fn mark(rows: impl Iterator<Item = String>, entries: &[VoteEntry], most: usize) -> Vec<String> {
    let elected = std::iter::once(false).chain(entries.iter().map(|entry| entry.elected));
    let rows = rows.zip(elected).take(1 + most).enumerate();
    rows.map(|(index, (row, elected))| match index {
        0 => row.dim().to_string(),
        _ if elected => row.replacen('*', "✔", 1).green().bold().to_string(),
        _ => row,
    })
    .collect()
}

/// A text in lines of at most `columns`, broken at blanks.
pub(super) fn wrapped(text: &str, columns: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in printable(text).split(' ') {
        match lines.last_mut().filter(|line| line.chars().count() + 1 + word.chars().count() <= columns) {
            Some(line) => _ = write!(line, " {word}"),
            None => lines.push(word.chars().take(columns).collect()),
        }
    }
    lines.retain(|line| !line.is_empty());
    lines
}

/// A line without styles as it may be shown, cut to the width of the terminal.
pub(super) fn fit(text: &str, columns: usize) -> String {
    printable(text).chars().take(columns).collect()
}
