//! The server's sentences and boards. Pure: views in, text out, lines separated by `\n`.

mod board;
mod diagram;
mod ending;
mod lists;

pub(crate) use board::{ViewerRole, holdings, style12};
pub(crate) use diagram::diagram;
pub(crate) use ending::{end_line, rating_lines};
pub(crate) use lists::{game_row, history_row, move_list, stored_row};

use std::time::Duration;

use super::lobby::{FicsLobby, Rank, Seek};
use crate::{
    dialect::Dialect,
    state::{ChallengeView, GameView, Pairing, PlayerView},
};
use domain::{Color, GameTerms, Line, TimeControl, Variant};

/// Wild 5 and 8: the positions that the core can set up without further rules.
pub(crate) const WILD_POSITIONS: [(&str, &str); 2] = [
    ("wild/5", "RNBKQBNR/PPPPPPPP/8/8/8/8/pppppppp/rnbkqbnr w - - 0 1"),
    ("wild/8", "rnbqkbnr/8/8/pppppppp/PPPPPPPP/8/8/RNBQKBNR w KQkq - 0 1"),
];

/// A rating as a line about a match shows it.
pub(crate) fn rating(seat: &PlayerView, lobby: &FicsLobby) -> String {
    match seat.rating {
        _ if lobby.is_guest(&seat.account) => "++++".to_owned(),
        rating if rating.games == 0 => "----".to_owned(),
        rating => format!("{:4}", rating.points()),
    }
}

/// Returns `Ann (1500)`.
fn rated_name(seat: &PlayerView, lobby: &FicsLobby) -> String {
    format!("{} ({})", seat.name, rating(seat, lobby))
}

/// Returns the time left, such as `5:00`, or `untimed`.
pub(crate) fn clock(view: &GameView, color: Color) -> String {
    let left = view.clocks.map(|clocks| clocks.of(color).remaining);
    left.map_or_else(|| "untimed".to_owned(), minutes_and_seconds)
}

fn minutes_and_seconds(time: Duration) -> String {
    format!("{}:{:02}", time.as_secs() / 60, time.as_secs() % 60)
}

/// Whole minutes and seconds, as the server counts: `0 1` is ten seconds and one.
pub(crate) fn minutes_and_increment(time_control: TimeControl) -> (u64, u64) {
    match time_control {
        TimeControl::RealTime { initial, increment } => {
            let increment = increment.as_millis().div_ceil(1000) as u64;
            let minutes =
                if increment > 0 && initial <= Duration::from_secs(10) { 0 } else { initial.as_secs().div_ceil(60) };
            (minutes, increment)
        }
        TimeControl::Correspondence { .. } | TimeControl::Unlimited => (0, 0),
    }
}

/// `lightning`, `blitz`, `standard` or `untimed`, by the time that forty moves would take.
fn speed(time_control: TimeControl) -> &'static str {
    match minutes_and_increment(time_control) {
        (0, 0) => "untimed",
        (minutes, increment) => match minutes as f64 + increment as f64 * 2.0 / 3.0 {
            minutes if minutes < 3.0 => "lightning",
            minutes if minutes < 15.0 => "blitz",
            _ => "standard",
        },
    }
}

/// Returns `blitz`, `wild/fr`, `crazyhouse`.
pub(crate) fn kind(terms: &GameTerms, start_fen: Option<&str>) -> String {
    match terms.variant {
        Variant::Standard => speed(terms.time_control).to_owned(),
        Variant::Chess960 => "wild/fr".to_owned(),
        Variant::FromPosition => {
            let known = WILD_POSITIONS.iter().find(|(_, fen)| Some(*fen) == start_fen);
            known.map_or("nonstandard", |(name, _)| name).to_owned()
        }
        variant => variant.key().to_lowercase(),
    }
}

/// `rated blitz 5 0`, `unrated wild 5 0 Loaded from wild/fr`.
pub(crate) fn terms(terms: &GameTerms, start_fen: Option<&str>) -> String {
    let rated = if terms.rated { "rated" } else { "unrated" };
    let kind = kind(terms, start_fen);
    let (minutes, increment) = minutes_and_increment(terms.time_control);
    if kind == "untimed" {
        return format!("{rated} untimed");
    }
    match kind.strip_prefix("wild/") {
        Some(_) => format!("{rated} wild {minutes} {increment} Loaded from {kind}"),
        None => format!("{rated} {kind} {minutes} {increment}"),
    }
}

/// `Ann (1500) [white] Bob (----) unrated blitz 5 0`.
pub(crate) fn challenge(view: &ChallengeView, lobby: &FicsLobby) -> String {
    let color = view.color.map_or("", |color| color.fold_wb("[white] ", "[black] "));
    let terms = terms(&view.terms, view.start.start_fen().as_deref());
    format!("{} {color}{} {terms}", rated_name(&view.challenger, lobby), rated_name(&view.dest, lobby))
}

/// Returns the same for an adjourned game that `by` wants to resume.
pub(crate) fn resumption(pairing: &Pairing, start: &Line, by: Color, lobby: &FicsLobby) -> String {
    let (first, second) = (pairing.players.get(by), pairing.players.get(!by));
    let terms = terms(&pairing.terms, start.start_fen().as_deref());
    format!("{} {} {terms} (adjourned)", rated_name(first, lobby), rated_name(second, lobby))
}

/// Returns `Creating: ...` and `{Game ...}`.
pub(crate) fn beginning(view: &GameView, number: u32, lobby: &FicsLobby, dialect: Dialect) -> String {
    let (pairing, resumed) = (&view.pairing, view.was_resumed);
    let (white, black) = (&pairing.players.white, &pairing.players.black);
    let start_fen = view.line.start_fen();
    let rated = if pairing.terms.rated { "rated" } else { "unrated" };
    let mut text = String::new();
    if dialect != Dialect::Uhlin {
        text.push_str(&format!(
            "Creating: {} {} {}{}\n",
            rated_name(white, lobby),
            rated_name(black, lobby),
            terms(&pairing.terms, start_fen.as_deref()),
            if resumed { " (adjourned)" } else { "" },
        ));
    }
    text.push_str(&format!(
        "{{Game {number} ({} vs. {}) {} {rated} {} match.}}",
        white.name,
        black.name,
        if resumed { "Continuing" } else { "Creating" },
        kind(&pairing.terms, start_fen.as_deref()),
    ));
    text
}

/// Returns `<g1> ...`; `sealed` has the sides that speak timeseal, as far as is known.
pub(crate) fn game_facts(view: &GameView, number: u32, sealed: [bool; 2], lobby: &FicsLobby) -> String {
    let pairing = &view.pairing;
    let players = [&pairing.players.white, &pairing.players.black];
    let (minutes, increment) = minutes_and_increment(pairing.terms.time_control);
    let seconds = if minutes == 0 && increment > 0 { 10 } else { minutes * 60 };
    let registered = players.map(|seat| u8::from(!lobby.is_guest(&seat.account)));
    let ratings = players.map(|seat| match seat.rating {
        rating if rating.games == 0 || lobby.is_guest(&seat.account) => "0".to_owned(),
        rating => format!("{}{}", rating.points(), if rating.is_provisional() { "P" } else { "" }),
    });
    format!(
        "<g1> {number} p=0 t={} r={} u={},{} it={seconds},{increment} i={seconds},{increment} pt=0 rt={},{} ts={},{}",
        kind(&pairing.terms, view.line.start_fen().as_deref()),
        u8::from(pairing.terms.rated),
        registered[0],
        registered[1],
        ratings[0],
        ratings[1],
        u8::from(sealed[0]),
        u8::from(sealed[1]),
    )
}

/// Returns a seek in the words of an advertisement.
pub(crate) fn seek(seek: &Seek, lobby: &FicsLobby) -> String {
    let (minutes, increment) = minutes_and_increment(seek.wanted.terms.game.time_control);
    let color = seek.wanted.terms.color.map_or("", |color| color.fold_wb(" [white]", " [black]"));
    format!(
        "{} ({}) seeking {minutes} {increment} {} {}{color}{}{} (\"play {}\" to respond)",
        seek.by.titled(),
        rating(&seek.seat, lobby),
        if seek.wanted.terms.game.rated { "rated" } else { "unrated" },
        kind(&seek.wanted.terms.game, seek.wanted.terms.fen.as_deref()),
        if seek.wanted.manual { " m" } else { "" },
        if seek.wanted.formula { " f" } else { "" },
        seek.index,
    )
}

/// Returns a seek for programs: `<s> 8 w=visar ti=02 ...`.
pub(crate) fn seek_for_programs(seek: &Seek) -> String {
    let (minutes, increment) = minutes_and_increment(seek.wanted.terms.game.time_control);
    let titles = match seek.by.rank {
        Rank::Guest => 1,
        Rank::Computer => 2,
        Rank::Registered => 0,
    };
    let rating = seek.seat.rating;
    let (points, suffix) = match rating.games {
        0 => (0, ' '),
        _ => (rating.points(), if rating.is_provisional() { 'P' } else { ' ' }),
    };
    format!(
        "<s> {} w={} ti={titles:02x} rt={points}{suffix} t={minutes} i={increment} r={} tp={} c={} rr={}-{} a={} f={}",
        seek.index,
        seek.by.name,
        if seek.wanted.terms.game.rated { 'r' } else { 'u' },
        kind(&seek.wanted.terms.game, seek.wanted.terms.fen.as_deref()),
        seek.wanted.terms.color.map_or('?', |color| color.fold_wb('W', 'B')),
        seek.wanted.range.0,
        seek.wanted.range.1,
        if seek.wanted.manual { 'f' } else { 't' },
        if seek.wanted.formula { 't' } else { 'f' },
    )
}

/// Breaks lines longer than `width` after a blank, which may be left out; the rest is marked by a backslash. Lines for
/// programs stay whole.
pub(crate) fn wrap(text: &str, width: usize, keep_blank: bool) -> String {
    let mut wrapped = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        let mut rest = line;
        let mut room = width;
        while rest.trim_end().len() > room && !line.starts_with('<') {
            let Some(blank) = rest[..rest.floor_char_boundary(room)].rfind(' ').filter(|blank| *blank > 0) else {
                break;
            };
            wrapped.push_str(&rest[..blank + usize::from(keep_blank)]);
            wrapped.push_str("\n\\   ");
            rest = &rest[blank + 1..];
            room = width.saturating_sub(4).max(1);
        }
        wrapped.push_str(rest);
    }
    wrapped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_lines_are_continued() {
        assert_eq!(wrap("one two three four\nfive\n", 10, true), "one two \n\\   three \n\\   four\nfive\n");
        assert_eq!(wrap("one two three four\nfive\n", 10, false), "one two\n\\   three\n\\   four\nfive\n");
        assert_eq!(wrap("<12> aaaaaaaa bbbbbbbb", 10, true), "<12> aaaaaaaa bbbbbbbb");
    }

    #[test]
    fn terms_are_counted_in_minutes() {
        let words = |time: &str, variant| {
            terms(&GameTerms { variant, time_control: time.parse().expect("a time control"), rated: false }, None)
        };
        assert_eq!(words("300+0", Variant::Standard), "unrated blitz 5 0");
        assert_eq!(words("10+1", Variant::Standard), "unrated lightning 0 1");
        assert_eq!(words("900+5", Variant::Standard), "unrated standard 15 5");
        assert_eq!(words("300+0", Variant::Chess960), "unrated wild 5 0 Loaded from wild/fr");
        assert_eq!(words("300+0", Variant::Crazyhouse), "unrated crazyhouse 5 0");
    }
}
