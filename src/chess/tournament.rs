//! Tournaments, as their operator names them.

use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

/// A tournament on a server: its name there, with its kind where that is known.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Tournament {
    /// Lichess: eight letters and digits. FICS: a number.
    pub id: String,
    /// `None` where only the name was given.
    pub kind: Option<TournamentKind>,
}

/// The kinds of tournament that Lichess has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum TournamentKind {
    /// Whoever is free is paired at once.
    Arena,
    /// All play a round, then the next.
    Swiss,
}

/// A text that names no tournament.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{0:?} names no tournament: expected its page's address, such as https://lichess.org/tournament/abcd1234 or \
         https://lichess.org/swiss/abcd1234, or the last word of that alone; on FICS its number"
)]
pub struct TournamentError(String);

impl FromStr for Tournament {
    type Err = TournamentError;

    fn from_str(text: &str) -> Result<Self, TournamentError> {
        let path = text.trim().trim_end_matches('/');
        let path = path.split(['?', '#']).next().unwrap_or_default();
        let mut words = path.rsplit('/');
        let id = words.next().unwrap_or_default();
        let kind = match words.next() {
            Some("tournament" | "arena") => Some(TournamentKind::Arena),
            Some("swiss") => Some(TournamentKind::Swiss),
            None => None,
            Some(_) => return Err(TournamentError(text.to_owned())),
        };
        let plausible = (1..=32).contains(&id.len()) && id.bytes().all(|byte| byte.is_ascii_alphanumeric());
        if plausible { Ok(Self { id: id.to_owned(), kind }) } else { Err(TournamentError(text.to_owned())) }
    }
}

impl TryFrom<String> for Tournament {
    type Error = TournamentError;

    fn try_from(text: String) -> Result<Self, TournamentError> {
        text.parse()
    }
}

impl From<Tournament> for String {
    fn from(tournament: Tournament) -> Self {
        tournament.to_string()
    }
}

impl fmt::Display for Tournament {
    /// `swiss/abcd1234`, or the bare name where the kind is not known.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.kind {
            Some(TournamentKind::Arena) => f.write_str("tournament/")?,
            Some(TournamentKind::Swiss) => f.write_str("swiss/")?,
            None => (),
        }
        f.write_str(&self.id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tournament_is_named_by_its_page_or_its_last_word() {
        let read = |text: &str| text.parse::<Tournament>().map(|tournament| tournament.to_string());
        assert_eq!(read("https://lichess.org/tournament/abcd1234").as_deref(), Ok("tournament/abcd1234"));
        assert_eq!(read("lichess.org/swiss/abcd1234?x=1").as_deref(), Ok("swiss/abcd1234"));
        assert_eq!(read("swiss/abcd1234").as_deref(), Ok("swiss/abcd1234"));
        assert_eq!(read("abcd1234").as_deref(), Ok("abcd1234"));
        assert_eq!(read("12").as_deref(), Ok("12"));
        for wrong in ["", "../account", "lichess.org/team/abcd", "a b", "x\ny", "é"] {
            assert!(read(wrong).is_err(), "{wrong:?} must be refused");
        }
    }
}
