//! Answers of several lines: a game's moves, and the games that wait to be resumed.
//!
//! Every line is read by itself, so that a list may be interrupted by anything.

use jiff::civil::{Date, DateTime, Time};
use shakmaty::Color;

use super::{FicsMessage, RowTerms, is_name};
use domain::{GameInfo, GameStatus};

/// Lists cut long names off, that of past games after 13 letters or more, others after 15.
const SHORTEST_CUT: usize = 13;

/// True if a list that shows `listed` may mean the player `name`.
pub(in crate::fics) fn may_name(listed: &str, name: &str) -> bool {
    let shown = if listed.len() < SHORTEST_CUT { name } else { name.get(..listed.len()).unwrap_or(name) };
    listed.eq_ignore_ascii_case(shown)
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedTime {
    pub at: DateTime,
    pub zone: Option<String>,
}

impl ListedTime {
    /// Reads the end of a line: `Wed Dec 23, 06:58 PST 2009`, `Fri Nov 20 21:00:33 2026`, `2026-11-20 21:10 UTC`.
    pub(super) fn read(line: &str) -> Option<Self> {
        let words: Vec<&str> = line.split_ascii_whitespace().collect();
        let date = date(&words)?;
        let time = words.iter().rev().find_map(|word| time_of_day(word))?;
        let is_zone =
            |word: &&&str| (2..=5).contains(&word.len()) && word.bytes().all(|byte| byte.is_ascii_uppercase());
        let clock = words.iter().rposition(|word| time_of_day(word).is_some())?;
        let zone = words.get(clock + 1).filter(is_zone).map(|zone| (*zone).to_owned());
        Some(Self { at: date.to_datetime(time), zone })
    }
}

fn time_of_day(word: &str) -> Option<Time> {
    let mut parts = word.split(':').map(|part| part.parse::<i8>().ok());
    let (hour, minute) = (parts.next()??, parts.next()??);
    let second = parts.next().unwrap_or(Some(0))?;
    Time::new(hour, minute, second, 0).ok()
}

/// A line of the answer to `moves`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ListedMoves {
    /// `Ann (1137) vs. Bob (UNR) --- Wed Nov  5, 20:56 PST 2008`
    Players { white: String, black: String },
    /// `  1.  e4      (0:00)     e5      (0:00)`
    Row {
        number: u32,
        /// One or two moves in short algebraic notation; White's is `...` where Black began.
        moves: Vec<String>,
    },
    /// `      {Still in progress} *`
    End,
}

/// A line of the answer to `stored`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredGame {
    /// Name of the other player, perhaps cut off; of some servers both names, with a blank between.
    pub opponent: String,
    /// Our colour, where the server says.
    pub our_color: Option<Color>,
    /// True if the opponent is logged in, where the server says.
    pub online: Option<bool>,
    pub date: Option<Date>,
    pub terms: Option<RowTerms>,
}

/// A line of the answer to `history`, which lists games that are over, the newest last.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PastGame {
    /// Its number in the list, by which its moves are asked for.
    pub number: u32,
    /// Name of the other player, perhaps cut off.
    pub opponent: String,
    pub our_color: Color,
    pub status: GameStatus,
    pub winner: Option<Color>,
    pub terms: Option<RowTerms>,
    pub ended: Option<ListedTime>,
    /// The line, which tells it from every other.
    pub line: String,
}

impl PastGame {
    pub fn is_with(&self, name: &str) -> bool {
        may_name(&self.opponent, name)
    }

    /// True if it may be this game: the same opponent, colour, clock and rules, rated or not.
    pub fn may_be(&self, game: &GameInfo) -> bool {
        self.is_with(&game.opponent().name)
            && self.our_color == game.our_color
            && self.terms.as_ref().is_none_or(|terms| terms.allow(&game.terms))
    }
}

/// Lines that begin with a blank or a digit.
pub(super) fn read(line: &str) -> Option<FicsMessage> {
    let text = line.trim_start();
    if text.starts_with('{') {
        return Some(FicsMessage::Moves(ListedMoves::End));
    }
    if let Some(rest) = text.strip_suffix('.').and_then(|text| text.split_once(' ')).map(|(_, rest)| rest)
        && rest.starts_with("stored game")
    {
        return Some(FicsMessage::StoredEnd);
    }
    if let Some((white, black)) = text.split_once(" vs. ")
        && line.starts_with("   ")
        && is_name(white)
        && is_name(black)
    {
        // Some servers name only the players, ours among them.
        let stored =
            StoredGame { opponent: format!("{white} {black}"), our_color: None, online: None, date: None, terms: None };
        return Some(FicsMessage::Stored(stored));
    }
    let mut words = text.split_ascii_whitespace();
    let number = words.next()?;
    if let Some(number) = number.strip_suffix('.') {
        let number = number.parse().ok()?;
        let moves = words.filter(|word| !word.starts_with('(')).map(str::to_owned).collect();
        return Some(FicsMessage::Moves(ListedMoves::Row { number, moves }));
    }
    let number = number.strip_suffix(':')?.parse().ok()?;
    if let Some(past) = past(number, text) {
        return Some(FicsMessage::Past(past));
    }
    let our_color = Some(color_of(words.next()?)?);
    let opponent = words.next().filter(|name| is_name(name))?.to_owned();
    let online = match words.next()? {
        "Y" => Some(true),
        "N" => Some(false),
        _ => None,
    };
    let date = date(&text.split_ascii_whitespace().collect::<Vec<_>>());
    Some(FicsMessage::Stored(StoredGame { opponent, our_color, online, date, terms: RowTerms::read(text) }))
}

/// `9: + 1500 B ---- Ann      [ br  3   0] C20 Dis Fri Nov 20, 21:11 UTC 2026`
fn past(number: u32, text: &str) -> Option<PastGame> {
    let mut words = text.split_ascii_whitespace().skip(1);
    let sign = words.next()?;
    let _our_rating = words.next()?;
    let our_color = color_of(words.next()?)?;
    let _their_rating = words.next()?;
    // Right behind a name that fills its column stands the next one.
    let opponent = words.next()?.split('[').next().filter(|name| is_name(name))?.to_owned();
    let winner = match sign {
        "+" => Some(our_color),
        "-" => Some(our_color.other()),
        "=" => None,
        _ => return None,
    };
    let (_, after) = text.split_once(']')?;
    let status = match after.split_ascii_whitespace().nth(1)? {
        "Mat" => GameStatus::Mate,
        "Res" => GameStatus::Resign,
        "Fla" => GameStatus::OutOfTime,
        "Dis" => GameStatus::Timeout,
        "Sta" => GameStatus::Stalemate,
        _ if winner.is_none() => GameStatus::Draw,
        _ => GameStatus::UnknownFinish,
    };
    let (terms, ended) = (RowTerms::read(text), ListedTime::read(after));
    Some(PastGame { number, opponent, our_color, status, winner, terms, ended, line: text.to_owned() })
}

fn color_of(letter: &str) -> Option<Color> {
    match letter {
        "W" => Some(Color::White),
        "B" => Some(Color::Black),
        _ => None,
    }
}

/// `Wed Dec 23, 06:58 PST 2009` or `2026-11-20 21:10 UTC` at the end of a line.
fn date(words: &[&str]) -> Option<Date> {
    const MONTHS: [&str; 12] = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    if let Some(date) = words.iter().rev().find_map(|word| word.parse().ok()) {
        return Some(date);
    }
    let month = words.iter().position(|word| MONTHS.contains(word))?;
    let number = MONTHS.iter().position(|name| Some(name) == words.get(month))? + 1;
    let day = words.get(month + 1)?.trim_end_matches(',').parse().ok()?;
    Date::new(words.last()?.parse().ok()?, i8::try_from(number).ok()?, day).ok()
}

/// `Ann (1137) vs. Bob (UNR) --- ...`; the line begins with a name.
pub(super) fn players(line: &str) -> Option<FicsMessage> {
    let (players, _) = line.split_once(" --- ")?;
    let (white, black) = players.split_once(" vs. ")?;
    let name = |player: &str| player.split([' ', '(']).next().filter(|name| is_name(name)).map(str::to_owned);
    Some(FicsMessage::Moves(ListedMoves::Players { white: name(white)?, black: name(black)? }))
}

#[cfg(test)]
mod tests {
    use domain::Variant;

    use super::{super::ToldRules, *};

    #[test]
    fn stored_games_of_several_servers() {
        let stored = |line: &str| match read(line) {
            Some(FicsMessage::Stored(game)) => game,
            other => panic!("{line}: {other:?}"),
        };
        let game = stored(" 1: W gbtami         N [ wr  2   2] 31-31 W18  --- Wed Dec 23, 06:58 PST 2009");
        assert_eq!((game.opponent.as_str(), game.our_color, game.online), ("gbtami", Some(Color::White), Some(false)));
        assert_eq!(game.date, Some(jiff::civil::date(2009, 12, 23)));
        let game = stored(" 1: B Ann  Y [  u 15   0] 39-39 W7   C88 2026-11-20 21:10 UTC");
        assert_eq!((game.online, game.date), (Some(true), Some(jiff::civil::date(2026, 11, 20))));
        assert_eq!(read("1 stored game found."), Some(FicsMessage::StoredEnd));
        stored("   ann vs. bob");
    }

    #[test]
    fn games_that_are_over() {
        for (line, expected) in [
            (
                " 9: + ---- B ---- BotAlpha      [bnr  3   0] C20 Dis 2026-11-20 21:11 UTC",
                "9 BotAlpha Black Timeout Some(Black)",
            ),
            (
                " 0: -    0 B    0 GuestRGPW     [ bu  5   0] C40 Res Fri Nov 20 21:00:33 2026",
                "0 GuestRGPW Black Resign Some(White)",
            ),
            (" 4: = 1500 W 1600 Ann           [snu 15   0] C88 Agr 2026-11-20 21:11 UTC", "4 Ann White Draw None"),
            (
                " 5: + ---- W ---- Annabellatheel[bnu  3  12] C23 Mat 2026-11-20 20:56 UTC",
                "5 Annabellatheel White Mate Some(White)",
            ),
        ] {
            let Some(FicsMessage::Past(game)) = read(line) else { panic!("{line}") };
            let PastGame { number, opponent, our_color, status, winner, .. } = game;
            assert_eq!(format!("{number} {opponent} {our_color:?} {status:?} {winner:?}"), expected, "{line}");
        }
    }

    #[test]
    fn listed_names_may_be_cut_off() {
        for (listed, name, is_meant) in [
            ("Ann", "ann", true),
            ("Ann", "Annabella", false),
            ("Annabellathee", "annabellatheelder", true),
            ("Annabellatheel", "Annabellatheelder", true),
            ("Annabellathee", "Annabellathe", false),
            ("Annabellathee", "Annabellatherest", false),
        ] {
            assert_eq!(may_name(listed, name), is_meant, "{listed}, {name}");
        }
    }

    #[test]
    fn kinds_of_games_in_rows() {
        let known = |variant| ToldRules::Known(variant);
        for (row, rated, time, rules) in [
            ("Ann [ br  3   0] C20", true, (3, 0), known(Variant::Standard)),
            ("Ann [bnu  3  12] C20", false, (3, 12), known(Variant::Standard)),
            ("Ann [  u 15   0] C20", false, (15, 0), ToldRules::Untold),
            ("Ann[psr120  12] C20", true, (120, 12), known(Variant::Standard)),
            ("Ann [ wr  2   2] C20", true, (2, 2), ToldRules::Wild),
            ("Ann [bzr  2   2] C20", true, (2, 2), known(Variant::Crazyhouse)),
            ("Ann [b9u  2   2] C20", false, (2, 2), known(Variant::Chess960)),
            ("Ann [ Sr  5   0] C20", true, (5, 0), ToldRules::Unknown("S".to_owned())),
        ] {
            assert_eq!(RowTerms::read(row), Some(RowTerms { rated, time, rules }), "{row}");
        }
        assert_eq!(RowTerms::read("Ann [ b] C20"), None);
    }

    #[test]
    fn times_of_rows() {
        let time = |zone: Option<&str>, second| {
            let at = jiff::civil::date(2026, 11, 20).at(21, 10, second, 0);
            Some(ListedTime { at, zone: zone.map(str::to_owned) })
        };
        assert_eq!(ListedTime::read("C20 Res Fri Nov 20, 21:10 UTC 2026"), time(Some("UTC"), 0));
        assert_eq!(ListedTime::read("C40 Res Fri Nov 20 21:10:33 2026"), time(None, 33));
        assert_eq!(ListedTime::read("C20 Dis 2026-11-20 21:10 UTC"), time(Some("UTC"), 0));
        assert_eq!(ListedTime::read("C20 Dis"), None);
    }

    #[test]
    fn rows_of_moves() {
        let row = |line: &str| match read(line) {
            Some(FicsMessage::Moves(ListedMoves::Row { number, moves })) => (number, moves.join(" ")),
            other => panic!("{line}: {other:?}"),
        };
        assert_eq!(row("  1.  e4      (0:00.000)     e5      (0:00.000)"), (1, "e4 e5".to_owned()));
        assert_eq!(row(" 12.  O-O-O   (1:00:01)"), (12, "O-O-O".to_owned()));
        assert_eq!(row("  1.  ...     (0:00)     e5      (0:00)"), (1, "... e5".to_owned()));
        assert_eq!(read("      {Still in progress} *"), Some(FicsMessage::Moves(ListedMoves::End)));
        let header = players("Ann (1137) vs. Bob (UNR) --- Wed Nov  5, 20:56 PST 2008");
        let (white, black) = ("Ann".to_owned(), "Bob".to_owned());
        assert_eq!(header, Some(FicsMessage::Moves(ListedMoves::Players { white, black })));
    }
}
