//! Terms of a game, in the words that challenges, seeks and new games share: `Ann (1500) [white]
//! Bob (++++) unrated blitz 5 0 Loaded from wild/fr (adjourned)`.

use std::time::Duration;

use shakmaty::Color;

use super::is_name;
use domain::{GameTerms, Player, TimeControl, Variant};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ShownRating {
    pub value: Option<u32>,
    /// Estimated (`E`) or provisional (`P`).
    pub provisional: bool,
    /// `++++`: a player without an account.
    pub guest: bool,
}

impl ShownRating {
    /// Reads `1500`, ` 943`, `1671E`, `0P`, `----`, `++++`, `UNR`.
    pub fn read(text: &str) -> Self {
        let text = text.trim();
        let digits = text.trim_end_matches(['E', 'P']);
        let value = digits.parse().ok().filter(|rating| *rating > 0);
        Self { value, provisional: value.is_some() && digits.len() < text.len(), guest: text == "++++" }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MatchSide {
    pub name: String,
    /// The rating in this kind of game.
    pub rating: ShownRating,
}

impl MatchSide {
    /// Returns the player; guests carry the title `U`, as the server writes it.
    pub fn player(&self, is_computer: bool) -> Player {
        Player {
            rating: self.rating.value,
            provisional: self.rating.provisional,
            title: if is_computer { Some("C".to_owned()) } else { self.rating.guest.then(|| "U".to_owned()) },
            ..Player::named(&self.name)
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MatchTerms {
    /// Challenger; in a game that begins, White.
    pub first: MatchSide,
    /// Challenged player; in a game that begins, Black.
    pub second: MatchSide,
    /// The colour the first one takes, if it was asked for.
    pub first_color: Option<Color>,
    pub rated: bool,
    /// The server's words for what is played: `blitz`, `wild`, `standard crazyhouse`.
    pub kind: String,
    /// Minutes and seconds a move; `None` is untimed.
    pub time: Option<(u32, u32)>,
    /// The second player's own time where it differs.
    pub second_time: Option<(u32, u32)>,
    /// The position the game is loaded from, such as `wild/fr`.
    pub loaded: Option<String>,
    pub adjourned: bool,
}

impl MatchTerms {
    /// Reads them from a challenge, an offer (`<pf>`) or a `Creating:` line, without its first word.
    pub fn read(text: &str) -> Option<Self> {
        let mut text = text.trim().trim_end_matches('.');
        let unadjourned = text.strip_suffix("(adjourned)");
        let adjourned = unadjourned.is_some();
        text = unadjourned.unwrap_or(text).trim_end().trim_end_matches('.');

        let (first, color, rest) = read_seat(text)?;
        let (second, other_color, rest) = read_seat(rest)?;
        let first_color = color.or(other_color.map(Color::other));

        let mut words = rest.split_ascii_whitespace().peekable();
        let rated = match words.next()? {
            "rated" => true,
            "unrated" => false,
            _ => return None,
        };
        let mut kind = String::new();
        let mut time = None;
        let mut second_time = None;
        let mut loaded = None;
        while let Some(word) = words.next() {
            if let Ok(minutes) = word.parse() {
                time = Some((minutes, words.next()?.parse().ok()?));
            } else if word == ":" {
                second_time = Some((words.next()?.parse().ok()?, words.next()?.parse().ok()?));
            } else if word == "Loaded" {
                words.next();
                loaded = Some(words.next()?.to_owned());
            } else {
                if !kind.is_empty() {
                    kind.push(' ');
                }
                kind.push_str(word);
            }
        }
        (!kind.is_empty()).then_some(Self {
            first,
            second,
            first_color,
            rated,
            kind,
            time,
            second_time,
            loaded,
            adjourned,
        })
    }

    /// Returns the terms of a stored game, as a list of such games shows them.
    pub fn of_stored(opponent: &str, us: &str, our_color: Option<Color>, row: &RowTerms) -> Self {
        let side = |name: &str| MatchSide { name: name.to_owned(), rating: ShownRating::default() };
        let kind = match &row.rules {
            ToldRules::Known(Variant::Standard) => "standard",
            ToldRules::Known(Variant::Chess960) => "wild/fr",
            ToldRules::Known(Variant::Crazyhouse) => "crazyhouse",
            ToldRules::Known(Variant::Atomic) => "atomic",
            ToldRules::Known(_) | ToldRules::Untold | ToldRules::Wild => "wild",
            ToldRules::Unknown(word) => word,
        };
        Self {
            first: side(opponent),
            second: side(us),
            first_color: our_color.map(Color::other),
            rated: row.rated,
            kind: kind.to_owned(),
            time: Some(row.time),
            second_time: None,
            loaded: None,
            adjourned: true,
        }
    }

    pub fn other_than(&self, name: &str) -> &MatchSide {
        if self.first.name.eq_ignore_ascii_case(name) { &self.second } else { &self.first }
    }

    pub fn seat_of(&self, name: &str) -> Option<&MatchSide> {
        [&self.first, &self.second].into_iter().find(|seat| seat.name.eq_ignore_ascii_case(name))
    }

    /// The variant, by the server's words; `None` if it is one that has no name with us.
    pub fn variant(&self) -> Option<Variant> {
        match self.rules() {
            ToldRules::Known(variant) => Some(variant),
            ToldRules::Untold | ToldRules::Wild | ToldRules::Unknown(_) => None,
        }
    }

    pub fn rules(&self) -> ToldRules {
        let kind = ToldRules::of(&self.kind);
        match &self.loaded {
            // Whatever the time is called, the position decides.
            Some(position) => match kind {
                ToldRules::Known(Variant::Standard) | ToldRules::Untold | ToldRules::Wild => ToldRules::of(position),
                kind => kind.and(ToldRules::of(position)),
            },
            None => kind,
        }
    }

    /// Variant (where unknown: standard), clock and rating.
    pub fn game_terms(&self) -> GameTerms {
        GameTerms {
            variant: self.variant().unwrap_or_default(),
            time_control: self
                .time
                .map_or(TimeControl::Unlimited, |(minutes, increment)| time_control(minutes, increment)),
            rated: self.rated,
        }
    }
}

/// The clock of `minutes` and `increment` seconds. Nothing and nothing is no clock; no minutes but an increment means
/// ten seconds to begin with.
pub fn time_control(minutes: u32, increment: u32) -> TimeControl {
    let seconds = match (minutes, increment) {
        (0, 0) => return TimeControl::Unlimited,
        (0, _) => 10,
        _ => u64::from(minutes) * 60,
    };
    TimeControl::real_time(Duration::from_secs(seconds), Duration::from_secs(increment.into()))
}

/// The kind of a game in a row of a list: `[ br  3   0]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RowTerms {
    pub rated: bool,
    /// Minutes and seconds a move.
    pub time: (u32, u32),
    pub rules: ToldRules,
}

impl RowTerms {
    /// Reads what stands in brackets: letters for the kind, and `r` or `u`; minutes and seconds.
    pub(super) fn read(row: &str) -> Option<Self> {
        let inside = row.split_once('[')?.1.split_once(']')?.0;
        let (letters, numbers) = inside.split_at(inside.find(|character: char| character.is_ascii_digit())?);
        // FatICS writes chess960 as a digit.
        let (letters, numbers) = match numbers.strip_prefix("9r").or(numbers.strip_prefix("9u")) {
            Some(_) => inside.split_at(letters.len() + 2),
            None => (letters, numbers),
        };
        let letters = letters.trim();
        let kind = letters.strip_suffix('r').or(letters.strip_suffix('u'))?.trim();
        let mut numbers = numbers.split_ascii_whitespace();
        let time = (numbers.next()?.parse().ok()?, numbers.next()?.parse().ok()?);
        Some(Self { rated: letters.ends_with('r'), time, rules: rules_of_letters(kind) })
    }

    /// True if a game of these `terms` may be meant.
    pub fn allow(&self, terms: &GameTerms) -> bool {
        let told = time_control(self.time.0, self.time.1);
        // Where an increment alone is no clock, the row shows it all the same.
        let is_time = told == terms.time_control || self.time.0 == 0 && terms.time_control == TimeControl::Unlimited;
        self.rated == terms.rated && is_time && self.rules.allow(terms.variant)
    }
}

/// One letter for the kind (`b`, `w`), or two for the speed and the variant (`bn`, `sz`), after a `p` for a private game.
fn rules_of_letters(letters: &str) -> ToldRules {
    let letters = letters.strip_prefix('p').unwrap_or(letters).trim();
    match letters.chars().last() {
        None => ToldRules::Untold,
        Some('w') => ToldRules::Wild,
        Some('b' | 'l' | 's' | 'u') if letters.len() == 1 => ToldRules::Known(Variant::Standard),
        Some('n') if letters.len() == 1 => ToldRules::Untold,
        Some('n') => ToldRules::Known(Variant::Standard),
        Some('z') => ToldRules::Known(Variant::Crazyhouse),
        Some('x') => ToldRules::Known(Variant::Atomic),
        Some('9') => ToldRules::Known(Variant::Chess960),
        Some(_) => ToldRules::Unknown(letters.to_owned()),
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ToldRules {
    Untold,
    /// No more than `wild`, which may be any of several, but never standard chess.
    Wild,
    Known(Variant),
    /// A variant that has no name with us, in the server's words. Such a game is never played as another one.
    Unknown(String),
}

impl ToldRules {
    /// Reads the words for a kind of game: `blitz`, `blitz crazyhouse`, `wild/fr`. A word that is not known is a variant that is not known.
    pub fn of(kind: &str) -> Self {
        let words = kind.split_ascii_whitespace().map(|word| match (word, variant_of(word)) {
            ("wild", _) => Self::Wild,
            (_, Some(variant)) => Self::Known(variant),
            (_, None) => Self::Unknown(word.to_owned()),
        });
        words.fold(Self::Untold, Self::and)
    }

    /// Combines two statements about a game. A word for the speed is no objection to a variant.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::Unknown(word), _) | (_, Self::Unknown(word)) => Self::Unknown(word),
            (Self::Untold, rules) | (rules, Self::Untold) => rules,
            (Self::Known(Variant::Standard), rules) | (rules, Self::Known(Variant::Standard)) => rules,
            (Self::Wild, rules) | (rules, Self::Wild) => rules,
            (Self::Known(one), Self::Known(other)) if one == other => Self::Known(one),
            (Self::Known(one), Self::Known(other)) => Self::Unknown(format!("{} {}", one.key(), other.key())),
        }
    }

    /// True if a game of this variant may be meant.
    pub fn allow(&self, variant: Variant) -> bool {
        let is_standard = |variant| matches!(variant, Variant::Standard | Variant::FromPosition);
        match self {
            Self::Untold => true,
            Self::Wild => variant != Variant::Standard,
            Self::Known(told) => *told == variant || is_standard(*told) && is_standard(variant),
            Self::Unknown(_) => false,
        }
    }
}

/// Returns the variant of one of the server's words. Suicide and losers chess have no counterpart
/// on Lichess, and the positions of wild 0 and 1 have castling rules of their own.
fn variant_of(word: &str) -> Option<Variant> {
    match word {
        "lightning" | "blitz" | "standard" | "slow" | "untimed" | "nonstandard" | "non-standard" => {
            Some(Variant::Standard)
        }
        "wild/fr" | "fr" | "chess960" => Some(Variant::Chess960),
        "crazyhouse" | "crazyhouse/0" => Some(Variant::Crazyhouse),
        "atomic" | "wild/atomic" => Some(Variant::Atomic),
        "wild/2" | "wild/3" | "wild/4" | "wild/5" | "wild/8" | "wild/8a" => Some(Variant::FromPosition),
        _ => None,
    }
}

/// `Ann (1500) [white] ` and what follows.
fn read_seat(text: &str) -> Option<(MatchSide, Option<Color>, &str)> {
    let text = text.trim_start();
    let (name, rest) = text.split_once('(')?;
    let (rating, rest) = rest.split_once(')')?;
    let name = name.trim_end();
    if !is_name(name) {
        return None;
    }
    let rest = rest.trim_start();
    let (color, rest) = match (rest.strip_prefix("[white]"), rest.strip_prefix("[black]")) {
        (Some(rest), _) => (Some(Color::White), rest),
        (_, Some(rest)) => (Some(Color::Black), rest),
        _ => (None, rest),
    };
    Some((MatchSide { name: name.to_owned(), rating: ShownRating::read(rating) }, color, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terms_of_every_kind() {
        let terms = MatchTerms::read("Ann (1671E) [black] Bob (++++) unrated blitz 5 12.").expect("terms");
        assert_eq!((terms.first.rating.value, terms.first.rating.provisional), (Some(1671), true));
        assert!(terms.second.rating.guest && !terms.rated && !terms.adjourned);
        assert_eq!((terms.first_color, terms.time), (Some(Color::Black), Some((5, 12))));
        assert_eq!(terms.game_terms().time_control.to_string(), "300+12");

        let terms =
            MatchTerms::read("Ann ( 943) Bob (----) rated wild 6 1 Loaded from wild/4 (adjourned)").expect("terms");
        assert_eq!((terms.first.rating.value, terms.loaded.as_deref()), (Some(943), Some("wild/4")));
        assert!(terms.adjourned && terms.variant() == Some(Variant::FromPosition));

        let terms = MatchTerms::read("Ann (0) Bob (UNR) unrated non-standard 5 0 : 3 12.").expect("terms");
        assert_eq!((terms.time, terms.second_time), (Some((5, 0)), Some((3, 12))));

        let terms = MatchTerms::read("Ann (1) Bob (2) unrated untimed.").expect("terms");
        assert_eq!((terms.time, terms.game_terms().time_control), (None, TimeControl::Unlimited));

        for (text, variant) in [
            ("Ann (1) Bob (2) rated blitz crazyhouse 3 0", Some(Variant::Crazyhouse)),
            ("Ann (1) Bob (2) rated wild/fr 3 0", Some(Variant::Chess960)),
            ("Ann (1) Bob (2) rated wild 3 0 Loaded from wild/fr", Some(Variant::Chess960)),
            ("Ann (1) Bob (2) rated slow 90 30", Some(Variant::Standard)),
            ("Ann (1) Bob (2) rated suicide 3 0", None),
            ("Ann (1) Bob (2) rated wild 3 0 Loaded from wild/1", None),
            ("Ann (1) Bob (2) rated blitz suicide 3 0", None),
            ("Ann (1) Bob (2) rated blitz 3 0 Loaded from wild/1", None),
            ("Ann (1) Bob (2) rated suicide 3 0 Loaded from wild/fr", None),
            ("Ann (1) Bob (2) rated crazyhouse 3 0 Loaded from wild/fr", None),
            ("Ann (1) Bob (2) rated bughouse 3 0", None),
            ("Ann (1) Bob (2) rated wild 3 0", None),
            ("Ann (1) Bob (2) rated blitz 3 0 (adjourned).", Some(Variant::Standard)),
        ] {
            assert_eq!(MatchTerms::read(text).map(|terms| terms.variant()), Some(variant), "{text}");
        }
        for text in ["", "Ann", "Ann (1)", "Ann (1) Bob (2)", "Ann (1) Bob (2) rated", "An n (1) Bob (2) rated blitz"] {
            assert_eq!(MatchTerms::read(text), None, "{text}");
        }
    }
}
