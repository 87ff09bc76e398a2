//! The current state of the bot: a pure fold of its events, without a clock and without access to the
//! bot.
//!
//! Everything is bounded: running games by the accounts' limits; ended games, challenges and lines of
//! the log by the constants below.

mod game;
mod rows;
#[cfg(test)]
mod tests;

use std::{
    collections::{BTreeMap, BTreeSet, VecDeque},
    time::Instant,
};

use jiff::Timestamp;
use serde::Serialize;
use tracing::Level;

use bot::{
    journal::GameKey,
    session::{AccountEvent, BotEvent, GameEvent},
};
use domain::ServerName;
use game::GameOverview;

pub use game::GameFrame;
pub(crate) use game::ending;
pub use rows::{
    AccountRow, AccountState, BoardRow, ChallengeRow, ChatRow, DecisionRow, ElectorRow, GameHead, LineMove, LogRow,
    OverRow, PlayerRow, VoteRow,
};

const MOST_ENDED: usize = 8;
const MOST_CHALLENGES: usize = 40;
const MOST_LINES: usize = 200;

#[derive(Debug, Default)]
pub struct Overview {
    accounts: BTreeMap<ServerName, AccountRow>,
    games: BTreeMap<GameKey, GameOverview>,
    ended: VecDeque<GameKey>,
    challenges: VecDeque<ChallengeRow>,
    log: VecDeque<LogRow>,
    /// The last number given to a challenge or a line.
    serial: u64,
    changed_accounts: BTreeSet<ServerName>,
    removed: Vec<GameKey>,
    /// Challenges and lines with higher numbers are new.
    shown_serial: u64,
}

#[derive(Debug, Serialize)]
pub struct OverviewFrame<'a> {
    accounts: BTreeMap<&'a str, &'a AccountRow>,
    games: BTreeMap<String, GameFrame<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    removed: Vec<String>,
    challenges: Vec<&'a ChallengeRow>,
    log: Vec<&'a LogRow>,
}

impl Overview {
    /// Takes an event of the bot, received `now`; `time` is the time of day.
    pub fn take(&mut self, event: &BotEvent, now: Instant, time: Timestamp) {
        match event {
            BotEvent::Account(server, event) => self.account(server, event, time),
            BotEvent::Game(key, event) => self.game(key, event, now, time),
        }
        if let Some(sentence) = event.sentence_up_to(Level::INFO) {
            let level = match sentence.level {
                Level::ERROR => "error",
                Level::WARN => "warn",
                _ => "info",
            };
            self.write(level, sentence.kind, sentence.text, time);
        }
    }

    /// Records that `events` events were missed, because there were too many at once.
    pub fn missed(&mut self, events: u64, time: Timestamp) {
        self.write("warn", "missed", format!("this page missed {events} events; some of it may be out of date"), time);
    }

    fn write(&mut self, level: &'static str, kind: &'static str, text: String, at: Timestamp) {
        self.serial += 1;
        self.log.push_back(LogRow { serial: self.serial, at, level, kind, text: rows::short(&text) });
        if self.log.len() > MOST_LINES {
            self.log.pop_front();
        }
    }

    fn account(&mut self, server: &ServerName, event: &AccountEvent, time: Timestamp) {
        let row = self.accounts.entry(server.clone()).or_default();
        let stands = |row: &mut AccountRow, state, reason: Option<&String>| {
            (row.state, row.since) = (state, Some(time));
            (row.reason, row.until) = (reason.map(|text| rows::short(text)), None);
        };
        match event {
            AccountEvent::Connected { account, away } => {
                let reconnections = row.reconnections + u32::from(away.is_some());
                *row = AccountRow {
                    mode: row.mode,
                    mode_since: row.mode_since,
                    reconnections,
                    since: Some(time),
                    ..AccountRow::of(account)
                };
            }
            AccountEvent::Disconnected { reason } => stands(row, AccountState::Disconnected, Some(reason)),
            AccountEvent::Rejected { reason } => stands(row, AccountState::Rejected, Some(reason)),
            AccountEvent::Closed => stands(row, AccountState::Closed, None),
            AccountEvent::Mode(mode) => (row.mode, row.mode_since) = (*mode, Some(time)),
            AccountEvent::Limited { what, until } => (row.reason, row.until) = (Some(what.clone()), Some(*until)),
            AccountEvent::Challenge { challenge, outcome, why } => {
                let opponent = challenge.opponent.clone().unwrap_or_default();
                self.serial += 1;
                self.challenges.push_back(ChallengeRow {
                    serial: self.serial,
                    server: server.to_string(),
                    opponent: (&opponent).into(),
                    terms: {
                        let terms = challenge.terms;
                        let rated = if terms.rated { "rated" } else { "casual" };
                        format!("{} {rated} {}", terms.time_control.in_minutes(), terms.variant)
                    },
                    outcome: outcome.word(),
                    why: rows::short(why),
                    at: time,
                });
                if self.challenges.len() > MOST_CHALLENGES {
                    self.challenges.pop_front();
                }
                return;
            }
            AccountEvent::Challenged { .. }
            | AccountEvent::Declined { .. }
            | AccountEvent::Tournament { .. }
            | AccountEvent::Tell { .. }
            | AccountEvent::Commanded { .. }
            | AccountEvent::Fault(_) => return,
        }
        self.changed_accounts.insert(server.clone());
    }

    fn game(&mut self, key: &GameKey, event: &GameEvent, now: Instant, time: Timestamp) {
        if let GameEvent::Started { info, electors, .. } = event {
            self.ended.retain(|known| known != key);
            self.removed.retain(|known| known != key);
            let game = GameOverview::new(key.server.as_str(), info, electors, now, time);
            self.games.insert(key.clone(), game);
            return;
        }
        let Some(game) = self.games.get_mut(key) else { return };
        let was_over = game.is_over();
        game.take(event, now, time);
        if game.is_over() && !was_over {
            self.ended.push_back(key.clone());
            if self.ended.len() > MOST_ENDED
                && let Some(oldest) = self.ended.pop_front()
            {
                self.games.remove(&oldest);
                self.removed.push(oldest);
            }
        }
    }

    pub fn has_changed(&mut self) -> bool {
        self.digest();
        !self.changed_accounts.is_empty()
            || !self.removed.is_empty()
            || self.serial > self.shown_serial
            || self.games.values().any(GameOverview::has_changed)
    }

    fn digest(&mut self) {
        self.games.values_mut().for_each(GameOverview::digest);
    }

    pub fn forget_changes(&mut self) {
        self.changed_accounts.clear();
        self.removed.clear();
        self.shown_serial = self.serial;
        self.games.values_mut().for_each(GameOverview::forget_changes);
    }

    pub fn whole(&mut self, now: Instant) -> OverviewFrame<'_> {
        self.frame(true, now)
    }

    /// Returns the changes since they were last forgotten.
    pub fn changes(&mut self, now: Instant) -> OverviewFrame<'_> {
        self.frame(false, now)
    }

    fn frame(&mut self, whole: bool, now: Instant) -> OverviewFrame<'_> {
        self.digest();
        let accounts = self.accounts.iter().filter(|(name, _)| whole || self.changed_accounts.contains(*name));
        let games = self.games.iter_mut().filter(|(_, game)| whole || game.has_changed());
        let removed = self.removed.iter().filter(|_| !whole);
        let shown = if whole { 0 } else { self.shown_serial };
        OverviewFrame {
            accounts: accounts.map(|(name, row)| (name.as_str(), row)).collect(),
            games: games.map(|(key, game)| (key.to_string(), game.frame(whole, now))).collect(),
            removed: removed.map(ToString::to_string).collect(),
            challenges: self.challenges.iter().filter(|row| row.serial > shown).collect(),
            log: self.log.iter().filter(|row| row.serial > shown).collect(),
        }
    }
}
