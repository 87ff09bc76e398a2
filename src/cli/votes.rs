//! The votes of games in the journal, move by move, as they were shown when they were cast.

use std::io::Write;

use super::other_games;
use bot::journal::{Archive, ExportError, GameRecord, recorded_votes};
use domain::{GameLine, Line, Variant};
use util::printable;

/// Writes every vote of these games. Of a game that this program cannot play there is only its heading.
pub(super) fn write_votes(
    archive: &Archive,
    games: &[GameRecord<String>],
    out: &mut impl Write,
) -> Result<(), ExportError> {
    for game in games {
        writeln!(out, "{}  {} against {}", game.key(), game.time_control, printable(&game.opponent().name))?;
        if let Ok(variant) = game.variant.parse::<Variant>() {
            let Ok(line) = Line::from_fen(variant, game.start_fen.as_deref().unwrap_or_default()) else { continue };
            write_game(archive, game, line, out)?;
        } else if let Some(line) = other_games::line_of(game) {
            write_game(archive, game, line, out)?;
        }
    }
    Ok(())
}

/// Writes the votes of a game, move by move, up to the first that cannot be played.
fn write_game<L: GameLine>(
    archive: &Archive,
    game: &GameRecord<String>,
    mut line: L,
    out: &mut impl Write,
) -> Result<(), ExportError> {
    for played in archive.moves(game)? {
        if let Some(votes) = recorded_votes(archive, &line, &played)? {
            votes.write(out)?;
        }
        if !line.recorded_move(&played.uci).is_some_and(|mv| line.advance(mv)) {
            break;
        }
    }
    Ok(())
}
