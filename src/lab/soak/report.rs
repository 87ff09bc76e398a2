//! The results of a soak, and their output.

use std::{fmt, time::Duration};

use serde::{Serialize, Serializer};

use domain::Color;
use practice::{End, GameRefusal, GameReport};

/// The number of findings printed; all are counted.
const SHOWN: usize = 100;
/// The share of the last samples whose median is the memory at the end.
const LAST_SAMPLES: usize = 10;

/// The daemon's resident memory, KiB, if the system reports it. A killed daemon begins anew.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct SoakMemory {
    /// The memory after connecting, before the first game.
    pub begin: Option<u64>,
    /// The memory after the 200th game.
    pub warm: Option<u64>,
    /// The median of the last tenth of the games.
    pub end: Option<u64>,
    pub most: Option<u64>,
    #[serde(skip)]
    samples: Vec<u64>,
}

impl SoakMemory {
    pub(super) fn sample(&mut self, kibibytes: Option<u64>, is_warm: bool) {
        self.samples.extend(kibibytes);
        self.most = self.most.max(kibibytes);
        if is_warm {
            self.warm = self.warm.or(kibibytes);
        }
    }

    pub(super) fn settle(&mut self) {
        let last = self.samples.len().div_ceil(LAST_SAMPLES);
        let mut last = self.samples[self.samples.len() - last..].to_vec();
        last.sort_unstable();
        self.end = last.get(last.len() / 2).copied();
    }
}

/// The results. Wins and losses are the daemon's.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct SoakReport {
    /// Requested games that are over, or were given up.
    pub games: usize,
    pub won: usize,
    pub drawn: usize,
    pub lost: usize,
    /// Games without a result that ended before both sides had moved.
    pub aborted: usize,
    /// Games that wait at the end, on a server where none of them can go on.
    pub adjourned: usize,
    pub lost_on_time: usize,
    /// Games lost in another way than on the board, or broken off after both sides had moved.
    pub lost_by_us: usize,
    /// Games that did not begin or end in a quarter of an hour.
    pub unfinished: usize,
    /// Moves in the journal that neither a search nor a book, a tablebase or the rules gave.
    pub unsearched: usize,
    /// Moves that were sent although the server had them.
    pub sent_twice: usize,
    /// Moves that were against the rules.
    pub illegal: usize,
    /// Challenges of the daemon that were not ordered.
    pub unasked: usize,
    pub against_policy: usize,
    /// Places that could not be filled again at the end.
    pub places_leaked: usize,
    /// Times that the daemon opened the stream of a game, in the mean. On FICS, how often it sat down to one.
    pub openings_a_game: f64,
    pub openings_most: u32,
    pub kills: usize,
    pub journal_broken: usize,
    /// Moves that the server had acknowledged and a killed daemon's journal did not have.
    pub moves_missing: usize,
    /// Games whose journal or PGN file differs from the server's record.
    pub records_wrong: usize,
    pub memory: SoakMemory,
    /// The duration, seconds.
    #[serde(serialize_with = "seconds")]
    pub elapsed: Duration,
    pub findings: Vec<String>,
    #[serde(skip)]
    openings: u32,
    #[serde(skip)]
    counted: u32,
}

impl SoakReport {
    pub fn is_clean(&self) -> bool {
        self.findings.is_empty()
    }

    pub(super) fn find(&mut self, what: String) {
        self.findings.push(what);
    }

    pub(super) fn broken(&mut self, what: String) {
        self.journal_broken += 1;
        self.find(what);
    }

    pub(super) fn count(&mut self, game: &GameReport, ours: Color) {
        let openings = *game.streams_opened.get(ours);
        self.openings += openings;
        self.counted += 1;
        self.openings_a_game = f64::from(self.openings) / f64::from(self.counted);
        self.openings_most = self.openings_most.max(openings);
        for refused in game.refused.iter().filter(|refused| refused.color == ours) {
            // Its own last move, before or after the reply: the answer to the first was lost.
            if game.line.moves().iter().take(refused.ply).rev().take(2).any(|mv| *mv == refused.uci) {
                self.sent_twice += 1;
            } else if matches!(refused.refusal, GameRefusal::Illegal(_)) {
                self.illegal += 1;
                self.find(format!("{} ply {}: {} is illegal", game.id, refused.ply, refused.uci));
            }
        }
        self.adjourned += usize::from(game.is_adjourned);
        let Some(outcome) = &game.outcome else { return };
        match outcome.winner {
            Some(winner) if winner == ours => self.won += 1,
            Some(_) => self.lost += 1,
            None if outcome.end != End::Aborted => self.drawn += 1,
            None if game.line.ply() < 2 => self.aborted += 1,
            None => {}
        }
        let lost = outcome.loser() == Some(ours);
        let on_the_board = matches!(outcome.end, End::Checkmate | End::VariantRule);
        if lost && outcome.end == End::OutOfTime {
            self.lost_on_time += 1;
        } else if (lost && !on_the_board) || (outcome.end == End::Aborted && game.line.ply() >= 2) {
            self.lost_by_us += 1;
        } else {
            return;
        }
        self.find(format!("{} ({} - {}): {outcome} at ply {}", game.id, game.white, game.black, game.line.ply()));
    }
}

impl fmt::Display for SoakReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { games, won, drawn, lost, aborted, adjourned, kills, .. } = self;
        writeln!(
            f,
            "{games} games in {:.0} s: {won} won, {drawn} drawn, {lost} lost, {aborted} aborted, {adjourned} adjourned",
            self.elapsed.as_secs_f64()
        )?;
        let openings = format!("{:.2} in the mean, {} at most", self.openings_a_game, self.openings_most);
        let mebibytes = |kibibytes: Option<u64>| {
            kibibytes.map_or_else(|| "?".to_owned(), |kib| format!("{:.1}", kib as f64 / 1024.0))
        };
        let SoakMemory { begin, warm, end, most, .. } = &self.memory;
        let [begin, warm, end, most] = [begin, warm, end, most].map(|kibibytes| mebibytes(*kibibytes));
        for (what, figure) in [
            ("lost on time", self.lost_on_time.to_string()),
            ("lost by us otherwise", self.lost_by_us.to_string()),
            ("unfinished", self.unfinished.to_string()),
            ("unsearched moves", self.unsearched.to_string()),
            ("moves sent twice", self.sent_twice.to_string()),
            ("illegal moves", self.illegal.to_string()),
            ("challenges unasked", self.unasked.to_string()),
            ("games against policy", self.against_policy.to_string()),
            ("places leaked", self.places_leaked.to_string()),
            ("openings a game", openings),
            ("kills", kills.to_string()),
            ("journal not whole", self.journal_broken.to_string()),
            ("moves not in journal", self.moves_missing.to_string()),
            ("records not the server's", self.records_wrong.to_string()),
            (
                "resident memory, MiB",
                format!("{begin} at the beginning, {warm} after 200 games, {end} at the end, {most} at most"),
            ),
        ] {
            writeln!(f, "{what:<25} {figure}")?;
        }
        for finding in self.findings.iter().take(SHOWN) {
            writeln!(f, "! {finding}")?;
        }
        if self.findings.len() > SHOWN {
            writeln!(f, "! and {} more", self.findings.len() - SHOWN)?;
        }
        Ok(())
    }
}

fn seconds<S: Serializer>(time: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_f64(time.as_secs_f64())
}
