//! Tables: the moves of a game, games that run, games that wait.

use jiff::{Timestamp, tz::TimeZone};

use super::{
    board::{coordinates, start_board, taken, time_taken},
    ending::list_ending,
    kind, minutes_and_increment, rating, speed,
};
use crate::{
    fics::lobby::FicsLobby,
    game::End,
    state::{GameView, PlayerView},
};
use domain::{Color, GameTerms, Line, Variant};

fn date(millis: u64) -> String {
    let stamp = i64::try_from(millis).ok().and_then(|millis| Timestamp::from_millisecond(millis).ok());
    stamp.unwrap_or_default().to_zoned(TimeZone::UTC).strftime("%a %b %e, %H:%M UTC %Y").to_string()
}

/// The answer to `moves`; without a number to `smoves`. With `long` the moves are coordinates.
pub(crate) fn move_list(
    view: &GameView,
    number: Option<u32>,
    exact: bool,
    with_start: bool,
    long: bool,
    lobby: &FicsLobby,
) -> String {
    let pairing = &view.pairing;
    let player = |seat: &PlayerView| match rating(seat, lobby).as_str() {
        "----" | "++++" => format!("{} (UNR)", seat.name),
        rating => format!("{} ({})", seat.name, rating.trim()),
    };
    let (minutes, increment) = minutes_and_increment(pairing.terms.time_control);
    let start_fen = view.line.start_fen();
    let mut text = number.map_or_else(String::new, |number| format!("Movelist for game {number}:\n\n"));
    if with_start && start_fen.is_some() {
        text.push_str(&start_board(view, number.unwrap_or(0), exact));
        text.push_str("\n\n");
    }
    text.push_str(&format!(
        "{} vs. {} --- {}\n{} {} match, initial time: {minutes} minutes, increment: {increment} seconds.\n\n\
         Move  {:<23} {}\n----  ---------------------   ---------------------\n",
        player(&pairing.players.white),
        player(&pairing.players.black),
        date(pairing.created_at),
        if pairing.terms.rated { "Rated" } else { "Unrated" },
        kind(&pairing.terms, start_fen.as_deref()),
        pairing.players.white.name,
        pairing.players.black.name,
    ));
    text.push_str(&rows(view, exact, long));
    text.push_str(&format!("      {{{}", list_ending(view)));
    text
}

/// The letter for what is played: by the speed, or by the rules where they are others.
fn letter(terms: &GameTerms) -> &'static str {
    match terms.variant {
        Variant::Standard => &speed(terms.time_control)[..1],
        Variant::Chess960 | Variant::FromPosition => "w",
        Variant::Crazyhouse => "z",
        Variant::Atomic => "x",
        _ => "n",
    }
}

/// The kind and the clock of a game in a row of a list: `[ br  5   0]`.
fn type_column(terms: &GameTerms) -> String {
    let (minutes, increment) = minutes_and_increment(terms.time_control);
    format!("[ {}{}{minutes:3} {increment:3}]", letter(terms), if terms.rated { 'r' } else { 'u' })
}

fn rows(view: &GameView, exact: bool, long: bool) -> String {
    let mut line: Line = view.line.prefix(0);
    let mut text = String::new();
    for (ply, uci) in view.line.moves().iter().enumerate() {
        let Ok(mv) = uci.to_move(line.position()) else { break };
        let written = if long { coordinates(mv) } else { line.san(*uci) };
        let number = shakmaty::Position::fullmoves(line.position());
        let cell = format!("{written:<7} ({})", time_taken(taken(view, ply), exact));
        match line.turn() {
            Color::White => text.push_str(&format!("{number:3}.  {cell:<22} ")),
            Color::Black if ply == 0 => text.push_str(&format!("{number:3}.  {:<22} {cell}\n", "...")),
            Color::Black => text.push_str(&format!("{cell}\n")),
        }
        if line.play(*uci).is_err() {
            break;
        }
    }
    if text.ends_with(' ') {
        text.truncate(text.trim_end().len());
        text.push('\n');
    }
    text
}

/// ` 12 1500 Ann        1500 Bob        [ br  5   0]   4:50 -  4:30 (39-39) W:  5`.
pub(crate) fn game_row(view: &GameView, number: u32, lobby: &FicsLobby) -> String {
    let pairing = &view.pairing;
    let clock = |color: Color| {
        let seconds = view.clocks.map_or(0, |clocks| clocks.of(color).remaining.as_secs());
        format!("{:3}:{:02}", seconds / 60, seconds % 60)
    };
    format!(
        "{number:3} {:>4} {:<11}{:>4} {:<11}{} {} -{} {}:{:3}",
        rating(&pairing.players.white, lobby).trim(),
        pairing.players.white.name,
        rating(&pairing.players.black, lobby).trim(),
        pairing.players.black.name,
        type_column(&pairing.terms),
        clock(Color::White),
        clock(Color::Black),
        view.line.turn().fold_wb('W', 'B'),
        shakmaty::Position::fullmoves(view.line.position()),
    )
}

/// Returns `+ ---- W ---- Ann [ bu 5 0] --- Mat Wed Dec 23, 06:58 UTC 2009`; `None` for a game that
/// is running, aborted or not `name`'s. The first column is the result for `name`. Names are cut to
/// thirteen letters.
pub(crate) fn history_row(view: &GameView, name: &str) -> Option<String> {
    let players = &view.pairing.players;
    let ours = Color::ALL.into_iter().find(|color| players.get(*color).name.eq_ignore_ascii_case(name))?;
    let outcome = view.outcome?;
    let how = match outcome.end {
        End::Checkmate => "Mat",
        End::Stalemate => "Sta",
        End::VariantRule => "Var",
        End::Repetition => "Rep",
        End::FiftyMoves => "50",
        End::InsufficientMaterial => "NM",
        End::Agreement => "Agr",
        End::Resignation => "Res",
        End::OutOfTime => "Fla",
        End::Abandoned => "Dis",
        End::Aborted => return None,
    };
    Some(format!(
        "{} ---- {} ---- {:<13.13} {} --- {how:<3} {}",
        match outcome.winner {
            Some(winner) if winner == ours => '+',
            Some(_) => '-',
            None => '=',
        },
        ours.fold_wb('W', 'B'),
        players.get(!ours).name,
        type_column(&view.pairing.terms),
        date(view.changed_at),
    ))
}

/// Returns ` 1: W Ann N [ br 5 0] W18 --- Wed Dec 23, 06:58 UTC 2009`. Names are cut to fifteen
/// letters.
pub(crate) fn stored_row(view: &GameView, number: usize, ours: Color, online: bool) -> String {
    format!(
        "{number:2}: {} {:<15.15} {} {} {}{:<3} --- {}",
        ours.fold_wb('W', 'B'),
        view.pairing.players.get(!ours).name,
        if online { 'Y' } else { 'N' },
        type_column(&view.pairing.terms),
        view.line.turn().fold_wb('W', 'B'),
        shakmaty::Position::fullmoves(view.line.position()),
        date(view.changed_at),
    )
}
