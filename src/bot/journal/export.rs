//! Games for people and for programs: a table, JSON lines, CSV, PGN.

use std::{
    fmt::Display,
    io::{self, Write},
};

use jiff::tz::TimeZone;
use serde::Serialize;

use super::{
    Archive, GameRecord, GameResult, JournalError, MoveRecord, ProposalRecord, RecordedRules, pgn, vote_in_words,
};
use domain::{Line, UciMove, vote_words::VoteInWords};
use util::printable;

#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// The output fails; of kind [`io::ErrorKind::BrokenPipe`] if the reader has closed it.
    #[error("cannot write the export: {0}")]
    Output(#[from] io::Error),
}

const COLUMNS: [&str; 10] = ["DATE", "SERVER", "GAME", "COLOUR", "OPPONENT", "CLOCK", "MODE", "RESULT", "END", "MOVES"];

/// A table for people, one line a game; `in_color` for a terminal.
pub fn write_table<V: RecordedRules>(games: &[GameRecord<V>], in_color: bool, out: &mut impl Write) -> io::Result<()> {
    let rows: Vec<[String; COLUMNS.len()]> = games.iter().map(table_row).collect();
    let widths: Vec<usize> = COLUMNS
        .iter()
        .enumerate()
        .map(|(column, title)| {
            let widest = rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max();
            widest.unwrap_or(0).max(title.len())
        })
        .collect();
    let line = |cells: &[String]| -> String {
        let padded = cells.iter().zip(&widths).map(|(cell, &width)| format!("{cell:width$}"));
        padded.collect::<Vec<_>>().join("  ").trim_end().to_owned()
    };
    if games.is_empty() {
        return Ok(());
    }
    let titles = line(&COLUMNS.map(str::to_owned));
    writeln!(out, "{}", if in_color { format!("\x1b[1m{titles}\x1b[0m") } else { titles })?;
    for (game, row) in games.iter().zip(&rows) {
        let line = line(row);
        match game.result.filter(|_| in_color) {
            Some(GameResult::Won) => writeln!(out, "\x1b[32m{line}\x1b[0m")?,
            Some(GameResult::Lost) => writeln!(out, "\x1b[31m{line}\x1b[0m")?,
            _ => writeln!(out, "{line}")?,
        }
    }
    Ok(())
}

fn table_row<V: RecordedRules>(game: &GameRecord<V>) -> [String; COLUMNS.len()] {
    let opponent = game.opponent();
    let words = [
        opponent.title.as_deref().map(shown),
        Some(shown(&opponent.name)),
        opponent.rating.map(|rating| format!("({rating})")),
    ];
    [
        // In the time zone of `--since` and `--until`.
        game.started_at.to_zoned(TimeZone::system()).strftime("%Y-%m-%d %H:%M").to_string(),
        game.server.to_string(),
        shown(game.game.as_str()),
        domain::color_word(game.our_color).to_owned(),
        words.into_iter().flatten().collect::<Vec<_>>().join(" "),
        format!("{} {}", game.time_control, game.speed),
        format!("{} {}", if game.rated { "rated" } else { "casual" }, game.variant),
        game.result.map_or("-", GameResult::word).to_owned(),
        shown(game.status.name()),
        game.plies.div_ceil(2).to_string(),
    ]
}

/// Texts from a server must not steer the terminal.
fn shown(text: &str) -> String {
    printable(text).into_owned()
}

#[derive(Serialize)]
#[serde(bound = "")]
struct GameJson<'a, V: RecordedRules> {
    #[serde(flatten)]
    game: &'a GameRecord<V>,
    moves: Vec<MoveLine<V::Move>>,
}

#[derive(Serialize)]
#[serde(bound = "")]
struct MoveLine<M: Display> {
    #[serde(flatten)]
    played: MoveRecord<M>,
    proposals: Vec<ProposalRecord>,
    /// The vote in a sentence; only for votes of the bot in chess.
    #[serde(skip_serializing_if = "Option::is_none")]
    sentence: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<String>,
}

/// Writes one JSON object a line and game, with all moves and their proposals. Times are in seconds.
pub fn write_json<V: RecordedRules>(
    archive: &Archive,
    games: &[GameRecord<V>],
    out: &mut impl Write,
) -> Result<(), ExportError> {
    for game in games {
        let mut line = chess_line(game);
        let moves = archive.moves(game)?.into_iter().map(|played| {
            let proposals = if played.ours.is_some() { archive.proposals(&played)? } else { Vec::new() };
            let words = line.as_mut().and_then(|line| in_words(line, &played, &proposals));
            let (sentence, why) = words.map(|words| (words.sentence, words.why)).unzip();
            Ok(MoveLine { played, proposals, sentence, why })
        });
        let moves = moves.collect::<Result<_, ExportError>>()?;
        let line = serde_json::to_string(&GameJson { game, moves }).map_err(io::Error::from)?;
        writeln!(out, "{line}")?;
    }
    Ok(())
}

/// The start of a game of chess; `None` of another game.
fn chess_line<V: RecordedRules>(game: &GameRecord<V>) -> Option<Line> {
    let variant = game.variant.to_string().parse().ok()?;
    Line::from_fen(variant, game.start_fen.as_deref().unwrap_or_default()).ok()
}

/// The vote on a move in words, if there was one. Plays the move.
fn in_words<M: Display>(line: &mut Line, played: &MoveRecord<M>, proposals: &[ProposalRecord]) -> Option<VoteInWords> {
    let uci: UciMove = played.uci.to_string().parse().ok()?;
    let voted = played.ours.as_ref().filter(|_| !proposals.is_empty() && line.is_legal(uci));
    let words = voted.map(|ours| vote_in_words(line, uci, ours, proposals));
    line.play(uci).ok()?;
    words
}

/// A line of titles and one a game (RFC 4180, but with plain line ends).
pub fn write_csv<V: RecordedRules>(games: &[GameRecord<V>], out: &mut impl Write) -> io::Result<()> {
    const TITLES: &str = "started_at,ended_at,server,game,our_color,white,white_title,white_rating,black,black_title,\
                          black_rating,variant,time_control,speed,rated,result,status,winner,plies,url,rating_change";
    writeln!(out, "{TITLES}")?;
    for game in games {
        let number = |number: Option<u32>| number.map(|number| number.to_string()).unwrap_or_default();
        let cells = [
            game.started_at.to_string(),
            game.ended_at.map(|time| time.to_string()).unwrap_or_default(),
            game.server.to_string(),
            shown(game.game.as_str()),
            domain::color_word(game.our_color).to_owned(),
            game.white.name.clone(),
            game.white.title.clone().unwrap_or_default(),
            number(game.white.rating),
            game.black.name.clone(),
            game.black.title.clone().unwrap_or_default(),
            number(game.black.rating),
            game.variant.to_string(),
            game.time_control.to_string(),
            game.speed.to_string(),
            game.rated.to_string(),
            game.result.map(GameResult::word).unwrap_or_default().to_owned(),
            game.status.name().to_owned(),
            game.winner.map(domain::color_word).unwrap_or_default().to_owned(),
            game.plies.to_string(),
            game.url.clone().unwrap_or_default(),
            game.rating_change.map(|change| change.to_string()).unwrap_or_default(),
        ];
        writeln!(out, "{}", cells.map(quoted).join(","))?;
    }
    Ok(())
}

fn quoted(cell: String) -> String {
    if cell.contains([',', '"', '\n', '\r']) { format!("\"{}\"", cell.replace('"', "\"\"")) } else { cell }
}

/// The games as PGN.
pub fn write_pgn(archive: &Archive, games: &[GameRecord], out: &mut impl Write) -> Result<(), ExportError> {
    for game in games {
        out.write_all(pgn::text(game, &archive.moves(game)?).as_bytes())?;
    }
    Ok(())
}
