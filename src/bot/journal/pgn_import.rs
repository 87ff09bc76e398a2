//! Games of a PGN file as games of the journal: an owner's games from before, as Lichess exports them, or any others.

use std::{
    collections::HashMap,
    fs::File,
    io::{self, BufReader},
    path::Path,
};

use jiff::{civil::DateTime, tz::TimeZone};

use super::{GameKey, Journal, StartedGame};
use domain::{Color, GameId, GameStatus, Line, PgnGame, Player, ServerName, TimeControl, Variant};
use util::Failure;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImportedGames {
    /// The name of the bot in the file.
    pub player: String,
    /// Games in the journal now, some of them perhaps from an earlier import.
    pub games: usize,
    /// Games left out: other players', or with unknown rules or illegal moves.
    pub left_out: usize,
}

impl Journal {
    /// Adds the games of a PGN file to those of `account`; `player` is the name of the bot in the file, by default the player of
    /// the most games. A known game stays unchanged. After a failure the journal has the games before the fault.
    pub async fn import_pgn(
        &self,
        path: &Path,
        player: Option<String>,
        account: &str,
    ) -> Result<ImportedGames, Failure> {
        let player = match player {
            Some(player) => player,
            None => most_frequent(path)?
                .ok_or_else(|| Failure::failed(format_args!("{}: no game of a named player", path.display())))?,
        };
        let server = ServerName::new(account);
        let file = path.display().to_string();
        let mut done = ImportedGames { player, games: 0, left_out: 0 };
        let start = |game: &PgnGame| {
            let variant = variant(game).ok_or_else(|| "unknown rules".to_owned())?;
            Line::from_fen(variant, game.tag("FEN")).map_err(|error| error.to_string())
        };
        for game in PgnGame::read_all(open(path)?, usize::MAX, start) {
            let game = read(path, game)?;
            let Some((started, line)) = for_player(&game, &done.player) else {
                done.left_out += 1;
                continue;
            };
            let (status, winner) = end(&game, &line);
            let (server, file, at) = (server.clone(), file.clone(), time(&game));
            let stored = self.writer.call(move |store| {
                let key = GameKey::new(&server, &started.id);
                store.game_started(&server, &started, at)?;
                store.line_seen(&key, line.moves(), None, at)?;
                store.game_over(&key, &status, winner, at)?;
                // It has its PGN already.
                store.pgn_written(&key, &file)
            });
            stored.await?;
            done.games += 1;
        }
        Ok(done)
    }
}

fn open(path: &Path) -> Result<BufReader<File>, Failure> {
    read(path, File::open(path)).map(BufReader::new)
}

fn read<T>(path: &Path, outcome: io::Result<T>) -> Result<T, Failure> {
    outcome.map_err(|error| Failure::failed(format_args!("{}: {error}", path.display())))
}

/// The player of the most games, the first of several.
fn most_frequent(path: &Path) -> Result<Option<String>, Failure> {
    let (mut counts, mut names) = (HashMap::<String, usize>::new(), Vec::new());
    for game in PgnGame::read_all(open(path)?, 0, |_| Ok(Line::start(Variant::Standard))) {
        let game = read(path, game)?;
        for name in ["White", "Black"].map(|side| game.tag(side)).into_iter().filter(|name| !["", "?"].contains(name)) {
            let count = counts.entry(name.to_lowercase()).or_default();
            *count += 1;
            if *count == 1 {
                names.push(name.to_owned());
            }
        }
    }
    // Among equals `max_by_key` takes the last one.
    Ok(names.into_iter().rev().max_by_key(|name| counts.get(&name.to_lowercase()).copied()))
}

/// Returns the rules, by any server's name for them, such as `King of the Hill` or `Three-check`.
fn variant(game: &PgnGame) -> Option<Variant> {
    let name: String = game.tag("Variant").chars().filter(char::is_ascii_alphanumeric).collect();
    match name.to_ascii_lowercase().as_str() {
        "" | "chess" | "normal" => Some(Variant::Standard),
        "fischerandom" => Some(Variant::Chess960),
        name => name.parse().ok(),
    }
}

/// Returns the game's start and moves; `None` if the player did not play it, or its rules, position or moves are not understood.
fn for_player(game: &PgnGame, player: &str) -> Option<(StartedGame, Line)> {
    let [white, black] = ["White", "Black"].map(|side| {
        let title = Some(game.tag(&format!("{side}Title"))).filter(|title| !title.is_empty());
        let rating = game.tag(&format!("{side}Elo")).parse().ok();
        Player { title: title.map(str::to_owned), rating, ..Player::named(game.tag(side)) }
    });
    let is_player = |side: &Player| side.name.eq_ignore_ascii_case(player);
    let our_color = match (is_player(&white), is_player(&black)) {
        (true, _) => Color::White,
        (false, true) => Color::Black,
        (false, false) => return None,
    };
    let line = game.line.as_ref().ok()?;
    let started = StartedGame {
        id: id(game, line),
        variant: line.variant().to_string(),
        start: line.start_fen(),
        time_control: time_control(game.tag("TimeControl")),
        rated: game.tag("Event").to_ascii_lowercase().starts_with("rated"),
        white,
        black,
        our_color,
        tournament: None,
        url: Some(game.tag("Site")).filter(|site| site.starts_with("http")).map(str::to_owned),
    };
    Some((started, line.clone()))
}

/// Returns the server's name for the game, or a hash of its tags and moves: the same game gets the same name again.
fn id(game: &PgnGame, line: &Line) -> GameId {
    let at_lichess = game.tag("Site").strip_prefix("https://lichess.org/");
    let at_lichess = at_lichess.and_then(|id| id.get(..8)).filter(|id| id.bytes().all(|b| b.is_ascii_alphanumeric()));
    if let Some(id) = at_lichess {
        return GameId::new(id);
    }
    let told = ["Event", "Site", "Date", "UTCTime", "Round", "White", "Black"].map(|tag| game.tag(tag)).join("\n");
    let moves = domain::moves_text(line.moves());
    // FNV-1a: the name of a game must not change with the program.
    let hash = told
        .bytes()
        .chain(moves.bytes())
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
    GameId::new(format!("{hash:016x}"))
}

fn end(game: &PgnGame, line: &Line) -> (GameStatus, Option<Color>) {
    let status = match (game.tag("Termination"), game.tag("Result")) {
        _ if line.is_checkmate() => GameStatus::Mate,
        ("Time forfeit" | "time forfeit", _) => GameStatus::OutOfTime,
        ("Abandoned" | "abandoned", _) => GameStatus::Timeout,
        ("Rules infraction" | "rules infraction", _) => GameStatus::Cheat,
        (_, "1-0" | "0-1") => GameStatus::Resign,
        (_, "1/2-1/2") => GameStatus::Draw,
        _ => GameStatus::UnknownFinish,
    };
    let winner = match game.tag("Result") {
        "1-0" => Some(Color::White),
        "0-1" => Some(Color::Black),
        _ => None,
    };
    (status, winner)
}

/// Returns the time of the game in milliseconds since 1970; 0 if the file has none.
fn time(game: &PgnGame) -> i64 {
    let day = [game.tag("UTCDate"), game.tag("Date")].into_iter().find(|day| !day.is_empty() && !day.contains('?'));
    let time = Some(game.tag("UTCTime")).filter(|time| !time.is_empty()).unwrap_or("00:00:00");
    let text = day.map(|day| format!("{}T{time}", day.replace('.', "-")));
    let played = text.and_then(|text| text.parse::<DateTime>().ok()?.to_zoned(TimeZone::UTC).ok());
    played.map_or(0, |played| played.timestamp().as_millisecond())
}

/// A clock as PGN writes it: `180+2`, `1/86400` for a day a move; anything else is none.
fn time_control(text: &str) -> TimeControl {
    const DAY: u32 = 24 * 60 * 60;
    let days = text.strip_prefix("1/").and_then(|seconds| seconds.parse::<u32>().ok());
    match days {
        Some(seconds) => TimeControl::Correspondence { days: (seconds / DAY).clamp(1, 365) },
        None => text.parse().unwrap_or(TimeControl::Unlimited),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::journal::{Archive, Filter, GameResult, JournalSettings};

    const LICHESS: &str = r#"[Event "Rated Blitz game"]
[Site "https://lichess.org/abcd1234"]
[Date "2025.03.01"]
[White "OurBot"]
[Black "ann"]
[Result "0-1"]
[UTCDate "2025.03.01"]
[UTCTime "12:34:56"]
[WhiteElo "2100"]
[BlackElo "1900"]
[WhiteTitle "BOT"]
[Variant "Standard"]
[TimeControl "180+2"]
[Termination "Normal"]

1. f3 { [%eval 0.0] [%clk 0:03:00] } 1... e5 { [%clk 0:03:00] } 2. g4 (2. e4 d5) 2... Qh4# 0-1

[Event "Casual King of the Hill game"]
[Site "https://lichess.org/efgh5678"]
[White "bob"]
[Black "ourbot"]
[Result "1/2-1/2"]
[Variant "King of the Hill"]
[TimeControl "-"]

1. e4 e5 1/2-1/2

[Event "Of other players"]
[White "bob"]
[Black "eve"]
[Result "*"]

1. e4 *

[Event "Broken"]
[White "OurBot"]
[Black "eve"]
[Result "1-0"]

1. e4 e4 1-0
"#;

    #[tokio::test]
    async fn exports_of_lichess_become_games() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("games.pgn");
        std::fs::write(&file, LICHESS).expect("written");
        let journal = Journal::open(&JournalSettings::in_folder(folder.path())).expect("a journal");
        for _ in 0..2 {
            let done = journal.import_pgn(&file, None, "lichess").await.expect("readable");
            assert_eq!(done, ImportedGames { player: "OurBot".to_owned(), games: 2, left_out: 2 });
        }
        let archive = Archive::open(journal.path()).expect("a journal");
        let games = archive.games(&Filter::default()).expect("readable");
        assert_eq!(games.len(), 2, "the second import adds nothing");
        let lost = games.iter().find(|game| game.game.as_str() == "abcd1234").expect("the game");
        assert_eq!((lost.result, &lost.status), (Some(GameResult::Lost), &GameStatus::Mate));
        assert_eq!((lost.plies, lost.rated, lost.us().rating), (4, true, Some(2100)));
        assert_eq!(lost.started_at.to_string(), "2025-03-01T12:34:56Z");
        let drawn = games.iter().find(|game| game.game.as_str() == "efgh5678").expect("the game");
        assert_eq!((drawn.variant, drawn.our_color), (Variant::KingOfTheHill, Color::Black));
        assert_eq!(drawn.result, Some(GameResult::Drawn));
    }
}
