//! A small server of this family, in each of its dialects: one table, one opponent, offers, and games that wait.

use super::ENDS;

/// The kind of games that the policy of the tests takes.
pub(super) const PLAYED: &str = "blitz";

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Dialect {
    #[default]
    Freechess,
    Fatics,
    Capablanca,
    /// A match proposes a new game although one waits.
    Uhlin,
    /// The same server, when it can read back what it has adjourned.
    Uhlin2,
}

pub(super) const DIALECTS: [Dialect; 5] =
    [Dialect::Freechess, Dialect::Fatics, Dialect::Capablanca, Dialect::Uhlin, Dialect::Uhlin2];

impl Dialect {
    pub(super) const fn numbers_offers(self) -> bool {
        matches!(self, Self::Freechess | Self::Fatics)
    }
}

#[derive(Clone, Debug)]
pub(super) struct Table {
    pub(super) number: u32,
    pub(super) we_are_white: bool,
    pub(super) terms: String,
    pub(super) ply: usize,
}

#[derive(Clone, Debug)]
struct Offer {
    index: u32,
    ours: bool,
    terms: String,
    resumes: bool,
}

/// The server, with us and one opponent on it.
#[derive(Default)]
pub(super) struct SmallServer {
    dialect: Dialect,
    us: String,
    pub(super) opponent: String,
    offers: Vec<Offer>,
    serial: u32,
    pub(super) stored: Option<Table>,
    pub(super) game: Option<Table>,
    /// True if the opponent accepts whatever we offer at once.
    pub(super) is_eager: bool,
    pub(super) sent: Vec<String>,
}

impl SmallServer {
    pub(super) fn new(dialect: Dialect, us: &str, opponent: &str) -> Self {
        Self { dialect, us: us.to_owned(), opponent: opponent.to_owned(), ..Self::default() }
    }

    pub(super) fn board(&self, table: &Table) -> String {
        const PLACEMENTS: [&str; 4] = [
            "rnbqkbnr pppppppp -------- -------- -------- -------- PPPPPPPP RNBQKBNR W -1",
            "rnbqkbnr pppppppp -------- -------- ----P--- -------- PPPP-PPP RNBQKBNR B 4",
            "rnbqkbnr pppp-ppp -------- ----p--- ----P--- -------- PPPP-PPP RNBQKBNR W 4",
            "rnbqkbnr pppp-ppp -------- ----p--- ----P--- -----N-- PPPP-PPP RNBQKB-R B -1",
        ];
        const LAST: [&str; 4] = ["none (0:00) none", "P/e2-e4 (0:00) e4", "P/e7-e5 (0:00) e5", "N/g1-f3 (0:00) Nf3"];
        let [white, black] = self.seats(table);
        let relation = if table.ply.is_multiple_of(2) == table.we_are_white { 1 } else { -1 };
        format!(
            "<12> {} 1 1 1 1 0 {} {white} {black} {relation} 5 0 39 39 300 300 {} {} 1 0",
            PLACEMENTS[table.ply],
            table.number,
            table.ply / 2 + 1,
            LAST[table.ply],
        )
    }

    fn seats(&self, table: &Table) -> [&str; 2] {
        if table.we_are_white { [&self.us, &self.opponent] } else { [&self.opponent, &self.us] }
    }

    /// A new offer, with the lines that tell it.
    fn offer(&mut self, ours: bool, terms: &str, resumes: bool) -> (Offer, Vec<String>) {
        self.serial += 1;
        let offer = Offer { index: self.serial, ours, terms: terms.to_owned(), resumes };
        let mark = if resumes { " (adjourned)" } else { "" };
        let (by, to) = if ours { (&self.us, &self.opponent) } else { (&self.opponent, &self.us) };
        let said = format!("{by} (----) {to} (----) {terms}{mark}");
        let mut lines =
            if ours { vec![format!("Issuing: {said}.")] } else { vec![format!("Challenge: {said}."), ENDS.to_owned()] };
        if self.dialect.numbers_offers() {
            let kind = if ours { "<pt>" } else { "<pf>" };
            lines.push(format!("{kind} {} w={} t=match p={said}", offer.index, self.opponent));
        }
        (offer, lines)
    }

    pub(super) fn challenges(&mut self, terms: &str, resumes: bool) -> Vec<String> {
        let (offer, lines) = self.offer(false, terms, resumes);
        self.offers.retain(|offer| offer.ours);
        self.offers.push(offer);
        lines
    }

    fn issue(&mut self, terms: &str, resumes: bool) -> Vec<String> {
        let (offer, mut lines) = self.offer(true, terms, resumes);
        if self.is_eager {
            lines.push(format!("{} accepts the match offer.", self.opponent));
            lines.extend(self.begin(&offer, true));
        } else {
            self.offers.push(offer);
        }
        lines
    }

    fn begin(&mut self, offer: &Offer, we_are_white: bool) -> Vec<String> {
        self.serial += 1;
        let stored = self.stored.take_if(|_| offer.resumes);
        let table = match stored {
            Some(table) => Table { number: self.serial, ..table },
            None => Table { number: self.serial, we_are_white, terms: offer.terms.clone(), ply: 0 },
        };
        self.offers.clear();
        let [white, black] = self.seats(&table);
        let (rated, kind) = table.terms.split_once(' ').expect("rated or not");
        let kind = kind.trim_end_matches(" 5 0").trim_end_matches(" 2 12");
        let verb = if offer.resumes { "Continuing" } else { "Creating" };
        let mut lines = Vec::new();
        if !matches!(self.dialect, Dialect::Uhlin | Dialect::Uhlin2) {
            lines.push(format!("Creating: {white} (0) {black} (0) {}", table.terms));
        }
        lines.push(format!("{{Game {} ({white} vs. {black}) {verb} {rated} {kind} match.}}", table.number));
        lines.push(self.board(&table));
        self.game = Some(table);
        lines
    }

    /// The line that ends the game on the board; `NAME` is the opponent's.
    pub(super) fn ends(&mut self, reason: &str, result: &str) -> Vec<String> {
        let Some(table) = self.game.take() else { return Vec::new() };
        let [white, black] = self.seats(&table);
        let reason = reason.replace("NAME", &self.opponent).replace("US", &self.us);
        let line = format!("{{Game {} ({white} vs. {black}) {reason}}} {result}", table.number);
        if reason.contains("adjourned") && !reason.ends_with("resigns") {
            self.stored = Some(table);
        }
        if self.dialect == Dialect::Fatics { vec![line] } else { vec![line, "No ratings adjustment done.".to_owned()] }
    }

    /// Returns true if `name` means the opponent: exactly, or as a beginning.
    fn is_opponent(&self, name: &str) -> bool {
        self.opponent.to_lowercase().starts_with(&name.to_lowercase()) && !name.is_empty()
    }

    fn offer_by(&self, handle: &str, ours: bool) -> Option<Offer> {
        const KINDS_OF_OFFERS: [&str; 8] = ["match", "draw", "abort", "adjourn", "takeback", "switch", "pause", "all"];
        let is_meant = |offer: &&Offer| match handle.parse::<u32>() {
            Ok(index) => offer.index == index,
            Err(_) => !KINDS_OF_OFFERS.contains(&handle.to_lowercase().as_str()) && self.is_opponent(handle),
        };
        self.offers.iter().filter(|offer| offer.ours == ours).find(is_meant).cloned()
    }

    pub(super) fn answers(&mut self, command: &str) -> Vec<String> {
        self.sent.push(command.to_owned());
        let (word, rest) = command.split_once(' ').unwrap_or((command, ""));
        let target = rest.split(' ').next().unwrap_or_default();
        if matches!(word, "match" | "resume" | "tell" | "accept" | "decline" | "withdraw" | "finger") {
            let is_index = self.dialect.numbers_offers() && target.parse::<u32>().is_ok();
            assert!(is_index || self.is_opponent(target), "{command:?} reaches another player");
        }
        let unknown = || match self.dialect {
            Dialect::Uhlin | Dialect::Uhlin2 => vec![format!("{word}: Command has failed.")],
            _ => vec![format!("{word}: Command not found.")],
        };
        let say = |line: &str| vec![line.to_owned()];
        let resumes = self.stored.is_some() && self.dialect != Dialect::Uhlin;
        match word {
            "stored" => match (&self.stored, self.dialect) {
                (None, Dialect::Capablanca) => say("0 stored games found."),
                (None, _) => vec![format!("{} has no adjourned games.", self.us)],
                (Some(_), Dialect::Capablanca) => {
                    vec![format!("   {} vs. {}", self.us, self.opponent), "1 stored game found.".to_owned()]
                }
                (Some(table), _) => {
                    let rated = if table.terms.starts_with("rated") { 'r' } else { 'u' };
                    let kind = if table.terms.contains(PLAYED) { 'b' } else { 'S' };
                    let color = if table.we_are_white { 'W' } else { 'B' };
                    let opponent = &self.opponent;
                    vec![format!(
                        " 1: {color} {opponent:<15.15} Y [ {kind}{rated}  5   0] 39-39 W2 C20 Fri Nov 20, 21:10 UTC 2026"
                    )]
                }
            },
            "history" => vec![format!("{} has no history games.", self.us)],
            "date" => say("Local time     - Fri Nov 20, 21:12 UTC 2026"),
            "resume" if self.dialect != Dialect::Freechess => unknown(),
            "resume" if !resumes => vec![format!("{target} has no adjourned games.")],
            "match" if resumes && self.dialect == Dialect::Fatics && rest.contains(' ') => vec![format!(
                "You have an adjourned game with {}.  You cannot start a new game until you finish it.",
                self.opponent
            )],
            "resume" | "match" if resumes => {
                let terms = self.stored.as_ref().map(|table| table.terms.clone()).unwrap_or_default();
                self.issue(&terms, true)
            }
            "match" => {
                let terms = if rest.contains("unrated") { "unrated blitz 5 0" } else { "rated blitz 2 12" };
                self.issue(terms, false)
            }
            "withdraw" => match self.offer_by(target, true) {
                Some(offer) => {
                    self.offers.retain(|other| other.index != offer.index);
                    vec![format!("You withdraw the match offer to {}.", self.opponent)]
                }
                None => say("You have no offers to withdraw."),
            },
            "accept" => match self.offer_by(target, false) {
                Some(offer) => {
                    let mut lines = vec![format!("You accept the challenge of {}.", self.opponent)];
                    if self.dialect.numbers_offers() {
                        lines.push(format!("<pr> {}", offer.index));
                    }
                    lines.extend(self.begin(&offer, false));
                    lines
                }
                None => say("You have no offers to accept."),
            },
            "decline" => {
                self.offers.retain(|offer| offer.ours);
                vec![format!("You decline the match offer from {}.", self.opponent)]
            }
            "refresh" => match &self.game {
                Some(table) => vec![self.board(table)],
                None => say("You are neither playing, observing nor examining a game."),
            },
            "e2e4" | "e7e5" | "g1f3" => match &mut self.game {
                Some(table) => {
                    table.ply += 1;
                    let table = table.clone();
                    vec![self.board(&table)]
                }
                None => say("You are not playing or examining a game."),
            },
            "abort" if self.game.as_ref().is_some_and(|table| table.ply < 2) && self.dialect.numbers_offers() => {
                self.ends("Game aborted on move 1", "*")
            }
            "resign" if self.game.is_some() => self.ends("US resigns", "1-0"),
            "abort" | "adjourn" if self.game.is_some() => say("Abort request sent."),
            "abort" | "resign" | "moves" | "flag" | "draw" | "adjourn" if self.game.is_none() => {
                say("You are not playing a game.")
            }
            "tell" | "say" | "set" | "flag" | "draw" => say("Done."),
            _ => unknown(),
        }
    }
}
