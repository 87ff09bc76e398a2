//! The games of a match as PGN.

use std::fmt::Write;

use shakmaty::{CastlingMode, Position};

use super::{GamePair, MatchPlan};
use crate::{
    game::{GameEnding, MatchGame, PlayedMove},
    openings::OpeningBookError,
};
use domain::{Line, Score, Variant};
use util::printable;

/// Lines of the movetext are shorter than this, as the specification asks of exported games.
const WIDTH: usize = 80;

/// All games of the pairs given, in their order. There is no date in them: the same match gives the same text.
pub fn pgn<'a>(
    plan: &MatchPlan,
    pairs: impl IntoIterator<Item = (usize, &'a GamePair)>,
) -> Result<String, OpeningBookError> {
    let mut text = String::new();
    for (index, pair) in pairs {
        let opening = plan.book.opening(index)?;
        for (number, game) in pair.games.iter().enumerate() {
            let [first, second] = plan.players.each_ref().map(|contender| contender.spec.name());
            let (white, black) = if number == 0 { (first, second) } else { (second, first) };
            write_game(&mut text, &opening, game, &format!("{}.{}", index + 1, number + 1), [white, black]);
        }
    }
    Ok(text)
}

/// Writing to a string cannot fail.
fn write_game(text: &mut String, opening: &Line, game: &MatchGame, round: &str, players: [&str; 2]) {
    let result = match game.white {
        1.0 => "1-0",
        0.0 => "0-1",
        0.5 => "1/2-1/2",
        _ => "*",
    };
    let mut tag = |name: &str, value: &str| {
        // What a program has said may be anything; an end of a line would end the tags.
        let value = printable(value).replace('\\', "\\\\").replace('"', "\\\"");
        let _ = writeln!(text, "[{name} \"{value}\"]");
    };
    tag("Event", "concilio-lab match");
    tag("Site", "?");
    tag("Date", "????.??.??");
    tag("Round", round);
    tag("White", players[0]);
    tag("Black", players[1]);
    tag("Result", result);
    if opening.castling_mode() == CastlingMode::Chess960 {
        tag("Variant", Variant::Chess960.pgn_name());
    }
    if let Some(fen) = opening.start_fen() {
        tag("SetUp", "1");
        tag("FEN", &fen);
    }
    tag("Termination", &game.ending.to_string());
    if let GameEnding::Truncated(_) = game.ending {
        tag("WhitePoints", &format!("{:.4}", game.white));
    }
    let mut column = 0;
    text.push('\n');
    for word in movetext(opening, game).into_iter().chain([result.to_owned()]) {
        if column > 0 {
            let fits = column + 1 + word.len() < WIDTH;
            text.push(if fits { ' ' } else { '\n' });
            column = if fits { column + 1 } else { 0 };
        }
        column += word.len();
        text.push_str(&word);
    }
    text.push_str("\n\n");
}

fn movetext(opening: &Line, game: &MatchGame) -> Vec<String> {
    let mut line = opening.prefix(0);
    let booked = opening.moves().iter().map(|uci| (*uci, None));
    let played = game.moves.iter().map(|played| (played.uci, Some(played)));
    let mut words = Vec::new();
    for (ply, (uci, played)) in booked.chain(played).enumerate() {
        let number = line.position().fullmoves();
        if line.turn().is_white() {
            words.push(format!("{number}."));
        } else if ply == 0 || played.is_some() {
            words.push(format!("{number}..."));
        }
        words.push(line.san(uci));
        words.extend(played.map(comment));
        if line.play(uci).is_err() {
            break;
        }
    }
    words
}

/// `{+0.34/12 0.103s}`: the score from the player's side, depth, and time where it was measured, as match runners write them.
fn comment(played: &PlayedMove) -> String {
    let score = match played.score {
        Some(Score::Cp(centipawns)) => format!("{:+.2}", f64::from(centipawns) / 100.0),
        Some(Score::Mate(moves)) => format!("{}M{}", if moves > 0 { '+' } else { '-' }, moves.abs()),
        None => "?".to_owned(),
    };
    let time = played.microseconds.map(|time| format!(" {:.3}s", time as f64 / 1e6)).unwrap_or_default();
    format!("{{{score}/{}{time}}}", played.depth)
}
