//! The daemon's journal and PGN files, held against the server's record.

use std::{fs, path::Path};

use rusqlite::Connection;

use super::{report::SoakReport, stage::SoakStage};
use crate::openings::opening_of_game;
use bot::journal::{Archive, Filter, GameRecord, JournalError, MoveRecord};
use domain::{Color, GameStatus, ServerName, UciMove};
use practice::{GameOutcome, GameReport};

/// Sources of moves that need no search: a book, the games of others, a tablebase, the only legal
/// move, and the journal of a daemon that was killed between the decision and the server's answer
/// (which has the search).
const UNSEARCHED_SOURCES: [&str; 5] = ["book", "explorer", "tablebase", "forced", "journal"];

type JournalGame = (GameRecord, Vec<MoveRecord>);

/// Checks the file of a killed daemon, and that it has every own move which the server knows.
pub(super) fn after_kill(stage: &SoakStage, running: &[GameReport], report: &mut SoakReport) {
    let path = stage.journal_path();
    if !path.exists() {
        // The daemon was killed before it first opened its journal.
        return;
    }
    match integrity(&path) {
        Ok(said) if said == "ok" => {}
        Ok(said) => report.broken(format!("the journal after kill {}: {said}", report.kills)),
        Err(error) => report.broken(format!("the journal after kill {}: {error}", report.kills)),
    }
    let journal = match read(&path) {
        Ok(journal) => journal,
        Err(error) => return report.broken(format!("the journal after kill {}: {error}", report.kills)),
    };
    for game in running {
        let Some((place, color)) = stage.ours(game) else { continue };
        let ours = our_moves(game, color);
        let known = game_of(&journal, game, &place.server).map_or(&[][..], |(_, moves)| moves);
        let has = |(ply, uci): &(usize, UciMove)| known.iter().any(|mv| mv.ply as usize == *ply && mv.uci == *uci);
        let missing = ours.iter().filter(|mv| !has(mv)).count();
        if missing > 0 {
            report.moves_missing += missing;
            let kill = report.kills;
            report.find(format!("{}: {missing} acknowledged moves are not in the journal after kill {kill}", game.id));
        }
    }
}

/// Compares every finished game with its journal and PGN file, and finds unsearched moves.
pub(super) fn at_end(stage: &SoakStage, games: &[GameReport], report: &mut SoakReport) {
    let path = stage.journal_path();
    let journal = match integrity(&path).map_err(JournalError::from).and_then(|said| Ok((said, read(&path)?))) {
        Ok((said, journal)) if said == "ok" => journal,
        Ok((said, _)) => return report.broken(format!("the journal at the end: {said}")),
        Err(error) => return report.broken(format!("the journal at the end: {error}")),
    };
    for (record, moves) in &journal {
        for mv in moves {
            let Some(ours) = &mv.ours else { continue };
            if ours.score.is_none() && !UNSEARCHED_SOURCES.contains(&ours.source.as_str()) {
                report.unsearched += 1;
                report.find(format!("{} ply {}: {} was not searched ({})", record.game, mv.ply, mv.uci, ours.source));
            }
        }
    }
    for game in games {
        let Some((place, _)) = stage.ours(game) else { continue };
        let known = game_of(&journal, game, &place.server);
        let fault = match (&game.outcome, known) {
            _ if game.line.ply() < 2 => None,
            (Some(outcome), Some(known)) => differs(known, game, outcome),
            (None, Some((record, _))) if game.is_adjourned && record.status != GameStatus::Adjourned => {
                Some(format!("it is adjourned, and in the journal: {}", record.status.name()))
            }
            (None, Some(_)) => None,
            (_, None) => Some("it is not in the journal".to_owned()),
        };
        if let Some(fault) = fault {
            report.records_wrong += 1;
            report.find(format!("{}: {fault}", game.id));
        }
    }
}

fn read(path: &Path) -> Result<Vec<JournalGame>, JournalError> {
    let archive = Archive::open(path)?;
    let games = archive.games(&Filter::default())?.into_iter();
    games.map(|record| archive.moves(&record).map(|moves| (record, moves))).collect()
}

/// The journal's record of a game. Lichess names its games; a game of FICS has no name, so it is known by its players and its moves.
fn game_of<'a>(journal: &'a [JournalGame], game: &GameReport, server: &str) -> Option<&'a JournalGame> {
    let server = ServerName::from(server);
    let on_server = || journal.iter().filter(|(record, _)| record.server == server);
    on_server().find(|(record, _)| record.game == game.id).or_else(|| {
        let sides = on_server().filter(|(record, _)| {
            record.white.name.eq_ignore_ascii_case(&game.white) && record.black.name.eq_ignore_ascii_case(&game.black)
        });
        // Several games may share as many moves; the latest counts.
        sides.max_by_key(|(_, moves)| shared(moves, game))
    })
}

/// Returns the number of first moves equal to the server's record.
fn shared(moves: &[MoveRecord], game: &GameReport) -> usize {
    moves.iter().zip(game.line.moves()).take_while(|(known, played)| known.uci == **played).count()
}

/// Returns the differences to the server's record of a finished game.
fn differs((record, moves): &JournalGame, game: &GameReport, outcome: &GameOutcome) -> Option<String> {
    let confirmed: Vec<UciMove> = moves.iter().filter(|mv| mv.confirmed).map(|mv| mv.uci).collect();
    let played = game.line.ply();
    if confirmed != game.line.moves() {
        let (known, confirmed, shared) = (moves.len(), confirmed.len(), shared(moves, game));
        return Some(format!("the journal has {known} moves, {confirmed} confirmed, {shared} as played, of {played}"));
    }
    if record.ended_at.is_none() {
        return Some(format!("the journal does not know that it ended: {outcome}"));
    }
    let Some(path) = &record.pgn_path else { return Some("it has no PGN file".to_owned()) };
    let text = match fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) => return Some(format!("its PGN file {path}: {error}")),
    };
    if !text.contains(&format!("[Result \"{}\"]", outcome.result())) {
        return Some(format!("its PGN file does not say {}", outcome.result()));
    }
    match opening_of_game(&text, usize::MAX) {
        Ok(line) if line.moves() == game.line.moves() => None,
        Ok(line) => Some(format!("its PGN file has {} moves of {played}", line.ply())),
        Err(error) => Some(format!("its PGN file: {error}")),
    }
}

/// The moves of a colour, with the number of moves before each.
fn our_moves(game: &GameReport, color: Color) -> Vec<(usize, UciMove)> {
    let first = usize::from(color.is_black());
    game.line.moves().iter().copied().enumerate().skip(first).step_by(2).collect()
}

/// Returns SQLite's verdict on the file: `ok`, or the damage.
fn integrity(path: &Path) -> rusqlite::Result<String> {
    Connection::open(path)?.query_row("PRAGMA integrity_check", [], |row| row.get(0))
}
