//! Puts games of a PGN file into a journal, to be studied: `cargo run --release -p concilio-report
//! --example record_pgn GAMES.pgn JOURNAL [COUNT]`.
//!
//! Takes the first COUNT (200) games of standard chess with twenty plies or more, White as the bot.
//! Then `concilio report --journal JOURNAL` studies them.

use std::{env, fs::File, io::BufReader, sync::Arc, time::Duration};

use bot::journal::{GameKey, Journal, JournalSettings};
use domain::{Color, GameInfo, GameStatus, GameTerms, Line, PgnGame, Player, ServerName, TimeControl, Variant};

const FEWEST_PLIES: usize = 20;

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = env::args().skip(1);
    let (Some(games), Some(journal)) = (arguments.next(), arguments.next()) else {
        return Err("usage: record_pgn GAMES.pgn JOURNAL [COUNT]".into());
    };
    let count: usize = arguments.next().map_or(Ok(200), |count| count.parse())?;
    let settings = JournalSettings { path: journal.into(), pgn_directory: "".into(), ..JournalSettings::default() };
    let journal = Journal::open(&settings)?;
    let start = |game: &PgnGame| match (game.tag("FEN"), game.tag("Variant")) {
        ("", "" | "Standard") => Ok(Line::start(Variant::Standard)),
        _ => Err("not from the usual start".to_owned()),
    };
    let mut played = PgnGame::read_all(BufReader::new(File::open(games)?), usize::MAX, start);
    let mut recorded = 0;
    while recorded < count
        && let Some(game) = played.next().transpose()?
    {
        if let Some(line) = game.line.as_ref().ok().filter(|line| line.ply() >= FEWEST_PLIES) {
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
    game: &PgnGame,
    line: &Line,
) -> Result<(), Box<dyn std::error::Error>> {
    let server = ServerName::from("file");
    let time_control = TimeControl::real_time(Duration::from_secs(180), Duration::ZERO);
    let info = GameInfo::from_start(
        format!("file{number:04}").as_str(),
        GameTerms { variant: Variant::Standard, time_control, rated: false },
        Player::named(game.tag("White")),
        Player::named(game.tag("Black")),
    );
    let key = GameKey::new(&server, &info.id);
    journal.game_started(&server, &info);
    journal.line_seen(&key, &Arc::new(line.clone()), None);
    let (status, winner) = match game.tag("Result") {
        "1-0" => (GameStatus::Resign, Some(Color::White)),
        "0-1" => (GameStatus::Resign, Some(Color::Black)),
        "1/2-1/2" => (GameStatus::Draw, None),
        _ => (GameStatus::UnknownFinish, None),
    };
    let status = if line.is_checkmate() { GameStatus::Mate } else { status };
    journal.game_over(&key, &status, winner).await?;
    Ok(())
}
