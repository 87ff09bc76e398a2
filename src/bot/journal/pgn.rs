//! A game as PGN (Edwards, *Portable Game Notation Specification*, 1994), with the clock, the time taken and the
//! bot's evaluation of each move in the usual comments.

use std::{
    fs,
    io::{self, Read as _, Seek as _, Write as _},
    path::{Path, PathBuf},
    time::Duration,
};

use super::{
    Archive, GameKey, GameRecord, GameResult, JournalError, JournalSettings, MoveRecord, PgnGrouping, private,
};
use domain::{Color, GameStatus, Line, LineError, PgnWriter, Player, Score, TimeControl, Variant};

/// Writes a finished game of chess to the file of its group; `None` if no PGN is wanted, or it is only adjourned.
pub(super) fn save(settings: &JournalSettings, key: &GameKey) -> Result<Option<PathBuf>, JournalError> {
    if settings.pgn_directory.as_os_str().is_empty() {
        return Ok(None);
    }
    let archive = Archive::open(&settings.path)?;
    // PGN is for chess: other games have texts of their own in their packages.
    let Some(game) = archive.game(key)? else { return Ok(None) };
    if game.ended_at.is_none() {
        return Ok(None);
    }
    let text = text(&game, &archive.moves(&game)?);
    let path = settings.pgn_directory.join(file_name(&game, settings.pgn_grouping));
    let written = fs::create_dir_all(&settings.pgn_directory).and_then(|()| match settings.pgn_grouping {
        PgnGrouping::Game => replace(&path, &text),
        // The server may report the end of a game twice; the game is added once.
        _ if game.pgn_path.is_some() => Ok(()),
        PgnGrouping::Opponent | PgnGrouping::All => append(&path, &text),
    });
    match written {
        Ok(()) => Ok(Some(path)),
        Err(error) => Err(JournalError::Pgn { path, reason: error.to_string() }),
    }
}

/// Replaces a file's text at once: it holds the old text or the new one, whatever happens.
fn replace(path: &Path, text: &str) -> io::Result<()> {
    let draft = path.with_extension("pgn.part");
    private::open().write(true).create(true).truncate(true).open(&draft)?.write_all(text.as_bytes())?;
    fs::rename(&draft, path)
}

/// Adds a game to a file, unless it is there: an earlier process may have been killed before its
/// record. A kill or a full disk may also have left a part of the game; that is removed first.
fn append(path: &Path, text: &str) -> io::Result<()> {
    let before = end_of(path).unwrap_or_default();
    if String::from_utf8_lossy(&before).contains(text) {
        return Ok(());
    }
    let mut file = private::open().create(true).append(true).open(path)?;
    let (whole, part) = (file.metadata()?.len(), part_of(text.as_bytes(), &before) as u64);
    let length = whole - part;
    if part > 0 {
        file.set_len(length)?;
    }
    file.write_all(text.as_bytes()).inspect_err(|_| {
        // If this fails as well, the next attempt finds the part.
        let _ = file.set_len(length);
    })
}

/// Returns the length of a beginning of `text`, of its first line at least, at the end of `before`.
fn part_of(text: &[u8], before: &[u8]) -> usize {
    let first_line = text.iter().position(|byte| *byte == b'\n').unwrap_or(text.len());
    let most = before.len().min(text.len());
    (first_line..most).rev().find(|length| before.ends_with(&text[..*length])).unwrap_or(0)
}

/// The last games of a file.
fn end_of(path: &Path) -> io::Result<Vec<u8>> {
    const LENGTH: u64 = 1 << 20;
    let mut file = fs::File::open(path)?;
    let start = file.metadata()?.len().saturating_sub(LENGTH);
    file.seek(io::SeekFrom::Start(start))?;
    let mut games = Vec::new();
    file.take(LENGTH).read_to_end(&mut games)?;
    Ok(games)
}

/// The most characters of a name in a path: four such names fit into a file's name anywhere.
const LONGEST_NAME: usize = 40;

/// Names of players and games come from a server: only harmless characters of them get into a path, and not too many.
fn file_name(game: &GameRecord, grouping: PgnGrouping) -> String {
    let plain = |name: &str| -> String {
        name.chars()
            .take(LONGEST_NAME)
            .map(|letter| if letter.is_ascii_alphanumeric() || letter == '_' { letter } else { '-' })
            .collect()
    };
    match grouping {
        PgnGrouping::Game => format!(
            "{}_{}_{}_vs_{}_{}.pgn",
            game.started_at.strftime("%Y-%m-%d"),
            plain(game.server.as_str()),
            plain(&game.white.name),
            plain(&game.black.name),
            plain(game.game.as_str()),
        ),
        PgnGrouping::Opponent => {
            format!("{}_{}.pgn", plain(game.server.as_str()), plain(&game.opponent().name.to_lowercase()))
        }
        PgnGrouping::All => "games.pgn".to_owned(),
    }
}

/// Returns the game's text, followed by an empty line. It has only the moves shown by the server.
pub(super) fn text(game: &GameRecord, moves: &[MoveRecord]) -> String {
    let played: Vec<&MoveRecord> = moves.iter().take_while(|played| played.confirmed).collect();
    let mut movetext = PgnWriter::begin(&pgn_tags(game, played.len()));
    if let Err(error) = write_moves(&mut movetext, game, &played) {
        tracing::warn!("PGN of {}: {error}; the rest of the game is omitted", game.key());
    }
    movetext.end(result(game))
}

pub fn pgn_tags(game: &GameRecord, plies: usize) -> Vec<(&'static str, String)> {
    let mut tags = vec![
        ("Event", event(game)),
        ("Site", game.url.clone().unwrap_or_else(|| game.server.to_string())),
        ("Date", game.started_at.strftime("%Y.%m.%d").to_string()),
        ("Round", "-".to_owned()),
        ("White", name(&game.white)),
        ("Black", name(&game.black)),
        ("Result", result(game).to_owned()),
        ("GameId", game.game.to_string()),
        ("UTCDate", game.started_at.strftime("%Y.%m.%d").to_string()),
        ("UTCTime", game.started_at.strftime("%H:%M:%S").to_string()),
    ];
    for (side, elo, title) in [(&game.white, "WhiteElo", "WhiteTitle"), (&game.black, "BlackElo", "BlackTitle")] {
        tags.extend(side.rating.map(|rating| (elo, rating.to_string())));
        tags.extend(side.title.clone().map(|words| (title, words)));
    }
    let difference = if game.our_color == Color::White { "WhiteRatingDiff" } else { "BlackRatingDiff" };
    tags.extend(game.rating_change.map(|change| (difference, format!("{change:+}"))));
    tags.push(("Variant", game.variant.pgn_name().to_owned()));
    tags.push(("TimeControl", time_control(game.time_control)));
    tags.push(("Termination", termination(game).to_owned()));
    tags.push(("PlyCount", plies.to_string()));
    // A Chess960 game names its start even if it is the usual one.
    let start = game
        .start_fen
        .clone()
        .or_else(|| (game.variant == Variant::Chess960).then(|| Line::start(Variant::Chess960).fen()));
    if let Some(fen) = start {
        tags.push(("SetUp", "1".to_owned()));
        tags.push(("FEN", fen));
    }
    tags
}

fn name(side: &Player) -> String {
    if side.name.is_empty() { "?".to_owned() } else { side.name.clone() }
}

/// `Rated blitz game`, or the tournament.
fn event(game: &GameRecord) -> String {
    game.tournament
        .clone()
        .unwrap_or_else(|| format!("{} {} game", if game.rated { "Rated" } else { "Casual" }, game.speed))
}

/// Returns `1-0`, `0-1`, `1/2-1/2`, or `*` without a result.
pub fn result(game: &GameRecord) -> &'static str {
    match (game.winner, game.result) {
        (Some(Color::White), _) => "1-0",
        (Some(Color::Black), _) => "0-1",
        (None, Some(GameResult::Drawn)) => "1/2-1/2",
        (None, _) => "*",
    }
}

/// Writes a time control by section 9.6.1 of the specification.
fn time_control(control: TimeControl) -> String {
    match control {
        TimeControl::RealTime { .. } => control.to_string(),
        TimeControl::Correspondence { days } => format!("1/{}", u64::from(days) * 86_400),
        TimeControl::Unlimited => "-".to_owned(),
    }
}

/// Returns the word of section 9.8.1 of the specification, in Lichess' capitals.
const fn termination(game: &GameRecord) -> &'static str {
    match &game.status {
        GameStatus::Created | GameStatus::Started | GameStatus::Adjourned => "Unterminated",
        GameStatus::OutOfTime => "Time forfeit",
        GameStatus::Aborted | GameStatus::NoStart | GameStatus::Timeout => "Abandoned",
        GameStatus::Cheat => "Rules infraction",
        GameStatus::Mate
        | GameStatus::Resign
        | GameStatus::Stalemate
        | GameStatus::Draw
        | GameStatus::InsufficientMaterialClaim
        | GameStatus::VariantEnd => "Normal",
        GameStatus::UnknownFinish | GameStatus::Other(_) => "Unknown",
    }
}

fn write_moves(movetext: &mut PgnWriter, game: &GameRecord, moves: &[&MoveRecord]) -> Result<(), LineError> {
    let mut line = Line::from_fen(game.variant, game.start_fen.as_deref().unwrap_or_default())?;
    let mut after_comment = true;
    for played in moves {
        let turn = line.turn();
        movetext.play(&mut line, played.uci, after_comment)?;
        let comment = comment(game.time_control, played, turn);
        after_comment = !comment.is_empty();
        movetext.comment(&comment);
    }
    Ok(())
}

/// Writes the known facts of a move: evaluation for White, clock after it, its time, its source if not the electors.
fn comment(control: TimeControl, played: &MoveRecord, turn: Color) -> Vec<String> {
    let mut words = Vec::new();
    let ours = played.ours.as_ref();
    words.extend(ours.and_then(|ours| ours.score).map(|score| {
        match if turn.is_white() { score } else { score.flipped() } {
            Score::Cp(centipawns) => format!("[%eval {:.2}]", f64::from(centipawns) / 100.0),
            Score::Mate(moves) => format!("[%eval #{moves}]"),
        }
    }));
    let mut taken = ours.map(|ours| ours.elapsed);
    if let TimeControl::RealTime { increment, .. } = control {
        words.extend(played.clock_after.map(|clock| format!("[%clk {}]", pgn_clock(clock))));
        if let (Some(before), Some(after)) = (played.clock_before, played.clock_after) {
            // The first move of either side costs nothing and earns no increment.
            let increment = if played.ply < 2 { Duration::ZERO } else { increment };
            taken = Some((before + increment).saturating_sub(after));
        }
    }
    words.extend(taken.map(|taken| format!("[%emt {}]", pgn_clock(taken))));
    words.extend(ours.map(|ours| ours.source.clone()).filter(|source| source != "council"));
    words
}

/// Writes a clock as PGN does, such as `1:02:03.45`, to the millisecond.
pub fn pgn_clock(time: Duration) -> String {
    let seconds = time.as_secs();
    let text = format!("{}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60);
    match time.subsec_millis() {
        0 => text,
        milliseconds => format!("{text}.{}", format!("{milliseconds:03}").trim_end_matches('0')),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Promise 5: a full disk or a kill in the middle of a game's text costs neither this game nor the next.
    #[test]
    fn partial_game_in_file_is_replaced() {
        let [other, game] = ["1. e4 {[%clk 0:01:00]} *", "1. d4 {[%clk 0:01:00] [%eval 0.1]} d5 1-0"]
            .map(|moves| format!("[Event \"Casual\"]\n[Site \"?\"]\n\n{moves}\n\n"));
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("all.pgn");
        for length in "[Event \"Casual\"]\n".len()..game.len() {
            fs::write(&path, format!("{other}{}", &game[..length])).expect("writable");
            for _ in 0..2 {
                append(&path, &game).expect("writable");
                assert_eq!(fs::read_to_string(&path).expect("readable"), format!("{other}{game}"), "{length} bytes");
            }
        }
    }
}
