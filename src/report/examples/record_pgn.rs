//! Puts games of a PGN file into a journal, to be studied: `cargo run --release -p concilio-report
//! --example record_pgn GAMES.pgn JOURNAL [COUNT]`.
//!
//! Takes the first COUNT (200) games of standard chess with twenty plies or more, White as the bot.
//! Then `concilio report --journal JOURNAL` studies them.

use std::{env, fs::File, io::BufReader, ops::ControlFlow, sync::Arc, time::Duration};

use bot::journal::{GameKey, Journal, JournalSettings};
use domain::{Color, GameId, GameInfo, GameStatus, GameTerms, Line, Player, ServerName, TimeControl, Variant};
use pgn_reader::{
    RawTag, Reader, SanPlus, Skip, Visitor,
    shakmaty::{CastlingMode, Position as _},
};

/// The length below which games are skipped.
const FEWEST_PLIES: usize = 20;

#[derive(Default)]
struct FileGame {
    white: String,
    black: String,
    winner: Option<Color>,
    drawn: bool,
    /// True if it starts from the usual position in standard chess.
    usual: bool,
    line: Option<Line>,
}

struct Games;

impl Visitor for Games {
    type Tags = FileGame;
    type Movetext = FileGame;
    type Output = FileGame;

    fn begin_tags(&mut self) -> ControlFlow<FileGame, FileGame> {
        ControlFlow::Continue(FileGame { usual: true, ..FileGame::default() })
    }

    fn tag(&mut self, game: &mut FileGame, name: &[u8], value: RawTag<'_>) -> ControlFlow<FileGame> {
        let value = value.decode_utf8_lossy().into_owned();
        match name {
            b"White" => game.white = value,
            b"Black" => game.black = value,
            b"Result" if value == "1-0" => game.winner = Some(Color::White),
            b"Result" if value == "0-1" => game.winner = Some(Color::Black),
            b"Result" if value == "1/2-1/2" => game.drawn = true,
            b"FEN" | b"Variant" => game.usual &= value == "Standard",
            _ => (),
        }
        ControlFlow::Continue(())
    }

    fn begin_movetext(&mut self, game: FileGame) -> ControlFlow<FileGame, FileGame> {
        ControlFlow::Continue(FileGame { line: Some(Line::start(Variant::Standard)), ..game })
    }

    fn san(&mut self, game: &mut FileGame, san: SanPlus) -> ControlFlow<FileGame> {
        let played = game.line.as_mut().and_then(|line| {
            let mv = san.san.to_move(line.position()).ok()?;
            line.play(mv.to_uci(CastlingMode::Standard)).ok()
        });
        game.usual &= played.is_some();
        ControlFlow::Continue(())
    }

    fn begin_variation(&mut self, _: &mut FileGame) -> ControlFlow<FileGame, Skip> {
        ControlFlow::Continue(Skip(true))
    }

    fn end_game(&mut self, game: FileGame) -> FileGame {
        game
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = env::args().skip(1);
    let (Some(games), Some(journal)) = (arguments.next(), arguments.next()) else {
        return Err("usage: record_pgn GAMES.pgn JOURNAL [COUNT]".into());
    };
    let count: usize = arguments.next().map_or(Ok(200), |count| count.parse())?;
    let settings = JournalSettings { path: journal.into(), pgn_directory: "".into(), ..JournalSettings::default() };
    let journal = Journal::open(&settings)?;
    let mut reader = Reader::new(BufReader::new(File::open(games)?));
    let mut recorded = 0;
    while recorded < count
        && let Some(game) = reader.read_game(&mut Games)?
    {
        if let Some(line) = game.line.as_ref().filter(|line| game.usual && line.ply() >= FEWEST_PLIES) {
            recorded += 1;
            record(&journal, recorded, &game, line).await?;
        }
    }
    journal.flush().await?;
    println!("{recorded} games recorded");
    Ok(())
}

async fn record(
    journal: &Journal,
    number: usize,
    game: &FileGame,
    line: &Line,
) -> Result<(), Box<dyn std::error::Error>> {
    let server = ServerName::from("file");
    let time_control = TimeControl::real_time(Duration::from_secs(180), Duration::ZERO);
    let info = GameInfo {
        id: GameId::from(format!("file{number:04}").as_str()),
        terms: GameTerms { variant: Variant::Standard, time_control, rated: false },
        white: Player::named(&game.white),
        black: Player::named(&game.black),
        our_color: Color::White,
        start: Line::start(Variant::Standard),
        tournament: None,
        url: None,
    };
    let key = GameKey::new(&server, &info.id);
    journal.game_started(&server, &info);
    journal.line_seen(&key, &Arc::new(line.clone()), None);
    let status = match game.winner {
        _ if line.position().is_checkmate() => GameStatus::Mate,
        Some(_) => GameStatus::Resign,
        None if game.drawn => GameStatus::Draw,
        None => GameStatus::UnknownFinish,
    };
    journal.game_over(&key, &status, game.winner).await?;
    Ok(())
}
