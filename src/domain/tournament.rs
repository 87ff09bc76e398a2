use std::{fmt, str::FromStr};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::GameTerms;
use util::{Secret, from_text};

#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Tournament {
    /// Lichess: eight letters and digits. FICS: a number.
    pub id: String,
    /// `None` where only the name was given.
    pub kind: Option<TournamentKind>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TournamentKind {
    /// Free players are paired at once.
    Arena,
    /// Players are paired in rounds.
    Swiss,
}

util::words!(TournamentKind::key { Arena = "arena", Swiss = "swiss" });

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TournamentEntry {
    pub tournament: Tournament,
    /// The team we play for, where teams play each other.
    pub team: Option<String>,
    pub password: Option<Secret>,
    /// True to be paired at once in a running tournament that pairs waiting players. Valid for a
    /// minute.
    pub pair_now: bool,
}

impl TournamentEntry {
    /// Takes part without a team or a password.
    pub const fn open(tournament: Tournament) -> Self {
        Self { tournament, team: None, password: None, pair_now: false }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TournamentInfo {
    pub tournament: Tournament,
    pub name: String,
    pub terms: GameTerms,
    pub stage: TournamentStage,
    pub starts_at: Option<Timestamp>,
    pub ends_at: Option<Timestamp>,
    pub players: u32,
    pub bots_allowed: bool,
    pub has_password: bool,
    pub min_rating: Option<u32>,
    pub max_rating: Option<u32>,
    /// The missing condition for taking part, in the server's words; `None` if the server names
    /// none.
    pub refusal: Option<String>,
    pub standing: Option<Standing>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TournamentStage {
    Announced,
    Running,
    Over,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Standing {
    /// The rank, from 1 on.
    pub rank: u32,
    pub points: u32,
}

impl FromStr for Tournament {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let error = || {
            format!(
                "{text:?} names no tournament: expected its page's address, such as https://lichess.org/tournament/abcd1234 or \
                 https://lichess.org/swiss/abcd1234, or the last word of that alone; on FICS its number"
            )
        };
        let path = text.trim().trim_end_matches('/');
        let path = path.split(['?', '#']).next().unwrap_or_default();
        let mut words = path.rsplit('/');
        let id = words.next().unwrap_or_default();
        let kind = match words.next() {
            Some("tournament" | "arena") => Some(TournamentKind::Arena),
            Some("swiss") => Some(TournamentKind::Swiss),
            None => None,
            Some(_) => return Err(error()),
        };
        let plausible = (1..=32).contains(&id.len()) && id.bytes().all(|byte| byte.is_ascii_alphanumeric());
        if plausible { Ok(Self { id: id.to_owned(), kind }) } else { Err(error()) }
    }
}

from_text!(Tournament);

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
    fn tournaments_are_parsed_from_links() {
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
