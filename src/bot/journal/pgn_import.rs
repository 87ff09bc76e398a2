//! Games of a PGN file as games of the journal: an owner's games from before, as Lichess exports them, or any others.

use std::{
    collections::HashMap,
    fs::File,
    io::{self, BufReader},
    ops::ControlFlow,
    path::{Path, PathBuf},
};

use jiff::{civil::DateTime, tz::TimeZone};
use pgn_reader::{RawTag, Reader, SanPlus, Skip, Visitor};

use super::{GameKey, Journal, JournalError, StartedGame};
use domain::{Color, GameId, GameStatus, Line, Player, ServerName, TimeControl, Variant};

/// The player and the account of imported games.
#[derive(Clone, Debug, Default)]
pub struct PgnImport {
    /// The name of the bot in the file; `None` is the player of the most games.
    pub player: Option<String>,
    /// The account that the games count for.
    pub account: String,
}

/// The result of an import.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImportedGames {
    /// The name of the bot in the file.
    pub player: String,
    /// Games in the journal now, some of them perhaps from an earlier import.
    pub games: usize,
    /// Games left out: of other players, or with moves or rules that are not understood.
    pub left_out: usize,
}

/// A file whose games cannot be imported.
#[derive(Debug, thiserror::Error)]
pub enum PgnImportError {
    #[error("{}: {error}", path.display())]
    Unreadable { path: PathBuf, error: io::Error },
    #[error("{}: no game of a named player", .0.display())]
    Empty(PathBuf),
    #[error(transparent)]
    Journal(#[from] JournalError),
}

impl Journal {
    /// Adds the games of a PGN file. A game that is there already stays as it is.
    ///
    /// # Errors
    /// [`PgnImportError`]; the games before the fault are there.
    pub async fn import_pgn(&self, path: &Path, import: &PgnImport) -> Result<ImportedGames, PgnImportError> {
        let player = match &import.player {
            Some(player) => player.clone(),
            None => most_frequent(path)?.ok_or_else(|| PgnImportError::Empty(path.to_owned()))?,
        };
        let server = ServerName::new(&import.account);
        let file = path.display().to_string();
        let mut done = ImportedGames { player, games: 0, left_out: 0 };
        let mut reader = open(path)?;
        while let Some(game) = read(path, reader.read_game(&mut Games))? {
            let Some(game) = game.for_player(&done.player) else {
                done.left_out += 1;
                continue;
            };
            let (server, file) = (server.clone(), file.clone());
            let stored = self.writer.call(move |store| {
                let key = GameKey::new(&server, &game.started.id);
                store.game_started(&server, &game.started, game.at)?;
                store.line_seen(&key, game.line.moves(), None, game.at)?;
                store.game_over(&key, &game.status, game.winner, game.at)?;
                // It has its PGN already.
                store.pgn_written(&key, &file)
            });
            stored.await?;
            done.games += 1;
        }
        Ok(done)
    }
}

fn open(path: &Path) -> Result<Reader<BufReader<File>>, PgnImportError> {
    read(path, File::open(path)).map(|file| Reader::new(BufReader::new(file)))
}

fn read<T>(path: &Path, outcome: io::Result<T>) -> Result<T, PgnImportError> {
    outcome.map_err(|error| PgnImportError::Unreadable { path: path.to_owned(), error })
}

/// The player of the most games, the first of several.
fn most_frequent(path: &Path) -> Result<Option<String>, PgnImportError> {
    let (mut counts, mut names) = (HashMap::<String, usize>::new(), Vec::new());
    let mut reader = open(path)?;
    while let Some(players) = read(path, reader.read_game(&mut Names))? {
        for name in players.into_iter().filter(|name| !name.is_empty() && name != "?") {
            let count = counts.entry(name.to_lowercase()).or_default();
            *count += 1;
            if *count == 1 {
                names.push(name);
            }
        }
    }
    // Of equals the last one is the greatest to `max_by_key`.
    Ok(names.into_iter().rev().max_by_key(|name| counts.get(&name.to_lowercase()).copied()))
}

/// Reads who played, and no move.
struct Names;

impl Visitor for Names {
    type Tags = [String; 2];
    type Movetext = [String; 2];
    type Output = [String; 2];

    fn begin_tags(&mut self) -> ControlFlow<Self::Output, Self::Tags> {
        ControlFlow::Continue(Default::default())
    }

    fn tag(&mut self, names: &mut Self::Tags, name: &[u8], value: RawTag<'_>) -> ControlFlow<Self::Output> {
        let [white, black] = names;
        match name {
            b"White" => *white = value.decode_utf8_lossy().into_owned(),
            b"Black" => *black = value.decode_utf8_lossy().into_owned(),
            _ => (),
        }
        ControlFlow::Continue(())
    }

    fn begin_movetext(&mut self, names: Self::Tags) -> ControlFlow<Self::Output, Self::Movetext> {
        ControlFlow::Break(names)
    }

    fn end_game(&mut self, names: Self::Movetext) -> Self::Output {
        names
    }
}

/// Reads whole games.
struct Games;

/// A game of the file.
#[derive(Default)]
struct FileGame {
    tags: HashMap<String, String>,
    /// `None` where rules, position or a move are not understood.
    line: Option<Line>,
}

/// A game as the journal takes it.
struct JournalGame {
    started: StartedGame,
    at: i64,
    line: Line,
    status: GameStatus,
    winner: Option<Color>,
}

impl Visitor for Games {
    type Tags = FileGame;
    type Movetext = FileGame;
    type Output = FileGame;

    fn begin_tags(&mut self) -> ControlFlow<FileGame, FileGame> {
        ControlFlow::Continue(FileGame::default())
    }

    fn tag(&mut self, game: &mut FileGame, name: &[u8], value: RawTag<'_>) -> ControlFlow<FileGame> {
        let name = String::from_utf8_lossy(name).into_owned();
        game.tags.insert(name, value.decode_utf8_lossy().into_owned());
        ControlFlow::Continue(())
    }

    fn begin_movetext(&mut self, game: FileGame) -> ControlFlow<FileGame, FileGame> {
        let line = game.variant().and_then(|variant| Line::from_fen(variant, game.tag("FEN")).ok());
        ControlFlow::Continue(FileGame { line, ..game })
    }

    fn san(&mut self, game: &mut FileGame, san: SanPlus) -> ControlFlow<FileGame> {
        game.line = game.line.take().and_then(|mut line| {
            let mv = san.san.to_move(line.position()).ok()?;
            line.play(mv.to_uci(line.castling_mode())).ok()?;
            Some(line)
        });
        ControlFlow::Continue(())
    }

    fn begin_variation(&mut self, _: &mut FileGame) -> ControlFlow<FileGame, Skip> {
        ControlFlow::Continue(Skip(true))
    }

    fn end_game(&mut self, game: FileGame) -> FileGame {
        game
    }
}

impl FileGame {
    fn tag(&self, name: &str) -> &str {
        self.tags.get(name).map_or("", String::as_str)
    }

    /// The rules, by any of the names that servers give them, such as `King of the Hill` or `Three-check`.
    fn variant(&self) -> Option<Variant> {
        let name: String = self.tag("Variant").chars().filter(char::is_ascii_alphanumeric).collect();
        match name.to_ascii_lowercase().as_str() {
            "" | "chess" | "normal" => Some(Variant::Standard),
            "fischerandom" => Some(Variant::Chess960),
            name => name.parse().ok(),
        }
    }

    fn for_player(self, player: &str) -> Option<JournalGame> {
        let (white, black) = (self.player("White"), self.player("Black"));
        let is_player = |side: &Player| side.name.eq_ignore_ascii_case(player);
        let our_color = match (is_player(&white), is_player(&black)) {
            (true, _) => Color::White,
            (false, true) => Color::Black,
            (false, false) => return None,
        };
        let (status, winner, at) = (self.status(), self.winner(), self.time());
        let line = self.line.clone()?;
        let site = Some(self.tag("Site")).filter(|site| site.starts_with("http")).map(str::to_owned);
        let started = StartedGame {
            id: self.id(&line),
            variant: line.variant().to_string(),
            start: line.start_fen(),
            time_control: time_control(self.tag("TimeControl")),
            rated: self.tag("Event").to_ascii_lowercase().starts_with("rated"),
            white,
            black,
            our_color,
            tournament: None,
            url: site,
        };
        Some(JournalGame { started, at, line, status, winner })
    }

    fn player(&self, side: &str) -> Player {
        let title = Some(self.tag(&format!("{side}Title"))).filter(|title| !title.is_empty());
        let rating = self.tag(&format!("{side}Elo")).parse().ok();
        Player { title: title.map(str::to_owned), rating, ..Player::named(self.tag(side)) }
    }

    /// The server's name for the game, or one made of what the file tells: the same game again has the same.
    fn id(&self, line: &Line) -> GameId {
        let at_lichess = self.tag("Site").strip_prefix("https://lichess.org/");
        let at_lichess =
            at_lichess.and_then(|id| id.get(..8)).filter(|id| id.bytes().all(|b| b.is_ascii_alphanumeric()));
        if let Some(id) = at_lichess {
            return GameId::new(id);
        }
        let told = ["Event", "Site", "Date", "UTCTime", "Round", "White", "Black"].map(|tag| self.tag(tag)).join("\n");
        let moves = domain::moves_text(line.moves());
        // FNV-1a: the name of a game must not change with the program.
        let hash = told
            .bytes()
            .chain(moves.bytes())
            .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
        GameId::new(format!("{hash:016x}"))
    }

    fn winner(&self) -> Option<Color> {
        match self.tag("Result") {
            "1-0" => Some(Color::White),
            "0-1" => Some(Color::Black),
            _ => None,
        }
    }

    fn status(&self) -> GameStatus {
        let is_mate = self.line.as_ref().is_some_and(Line::is_checkmate);
        match (self.tag("Termination"), self.tag("Result")) {
            _ if is_mate => GameStatus::Mate,
            ("Time forfeit" | "time forfeit", _) => GameStatus::OutOfTime,
            ("Abandoned" | "abandoned", _) => GameStatus::Timeout,
            ("Rules infraction" | "rules infraction", _) => GameStatus::Cheat,
            (_, "1-0" | "0-1") => GameStatus::Resign,
            (_, "1/2-1/2") => GameStatus::Draw,
            _ => GameStatus::UnknownFinish,
        }
    }

    /// When it was played, in the journal's milliseconds; 0 where the file does not say.
    fn time(&self) -> i64 {
        let day = [self.tag("UTCDate"), self.tag("Date")].into_iter().find(|day| !day.is_empty() && !day.contains('?'));
        let time = Some(self.tag("UTCTime")).filter(|time| !time.is_empty()).unwrap_or("00:00:00");
        let text = day.map(|day| format!("{}T{time}", day.replace('.', "-")));
        let played = text.and_then(|text| text.parse::<DateTime>().ok()?.to_zoned(TimeZone::UTC).ok());
        played.map_or(0, |played| played.timestamp().as_millisecond())
    }
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
        let import = PgnImport { player: None, account: "lichess".to_owned() };
        for _ in 0..2 {
            let done = journal.import_pgn(&file, &import).await.expect("readable");
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
