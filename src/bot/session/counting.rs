//! Counts events of accounts and games.

use std::{
    collections::HashMap,
    sync::{Mutex, PoisonError},
};

use metrics::{Counter, Histogram, counter, gauge, histogram};

use super::{AccountEvent, BotEvent, GameEvent, event::is_late};
use crate::{
    journal::GameResult,
    metrics::{
        CHALLENGES, CONNECTED, DECISION_SECONDS, DECISION_SHARE, ELECTORS_SILENT, FAULTS, GAMES, LATE_DECISIONS,
        LIMITS, MOVE_LAG_SECONDS, MOVES, NODES, RECONNECTIONS,
    },
};
use council::clock::Budget;
use domain::{Decision, ServerName};

/// Measurements of one account. Those of every move are looked up in the recorder once: each look-up
/// costs more than the rest of an announcement.
pub(super) struct AccountMetrics {
    account: String,
    /// Moves by the word of their source.
    moves: Mutex<HashMap<&'static str, Counter>>,
    nodes: Counter,
    late: Counter,
    electors_silent: Counter,
    decision_seconds: Histogram,
    decision_share: Histogram,
    lag: Histogram,
}

impl AccountMetrics {
    /// Registers the measurements in the recorder that is installed now.
    pub(super) fn new(account: &ServerName) -> Self {
        // Accounts are few and named by their operator.
        let account = account.to_string();
        let count = |name: &'static str| counter!(name, "account" => account.clone());
        let distribution = |name: &'static str| histogram!(name, "account" => account.clone());
        Self {
            moves: Mutex::default(),
            nodes: count(NODES),
            late: count(LATE_DECISIONS),
            electors_silent: count(ELECTORS_SILENT),
            decision_seconds: distribution(DECISION_SECONDS),
            decision_share: distribution(DECISION_SHARE),
            lag: distribution(MOVE_LAG_SECONDS),
            account,
        }
    }

    pub(super) fn count(&self, event: &BotEvent) {
        match event {
            BotEvent::Account(_, event) => self.of_account(event),
            BotEvent::Game(_, event) => self.in_game(event),
        }
    }

    /// Counts the electors without a proposal at the decision of their council.
    pub(super) fn electors_silent(&self, electors: usize) {
        self.electors_silent.increment(electors as u64);
    }

    fn of_account(&self, event: &AccountEvent) {
        let account = self.account.clone();
        match event {
            AccountEvent::Connected { away, .. } => {
                gauge!(CONNECTED, "account" => account.clone()).set(1.0);
                counter!(RECONNECTIONS, "account" => account).increment(u64::from(away.is_some()));
            }
            AccountEvent::Disconnected { .. } | AccountEvent::Rejected { .. } | AccountEvent::Closed => {
                gauge!(CONNECTED, "account" => account).set(0.0);
            }
            AccountEvent::Challenge { outcome, .. } => {
                counter!(CHALLENGES, "account" => account, "outcome" => outcome.word()).increment(1);
            }
            AccountEvent::Limited { .. } => counter!(LIMITS, "account" => account).increment(1),
            AccountEvent::Fault(_) => counter!(FAULTS, "account" => account).increment(1),
            AccountEvent::Mode(_)
            | AccountEvent::Challenged { .. }
            | AccountEvent::Declined { .. }
            | AccountEvent::Tournament { .. }
            | AccountEvent::Tell { .. }
            | AccountEvent::Commanded { .. } => (),
        }
    }

    fn in_game(&self, event: &GameEvent) {
        match event {
            GameEvent::Decided { decision, budget, .. } => self.decided(decision, *budget),
            GameEvent::Sent { lag } => self.lag.record(lag.as_secs_f64()),
            GameEvent::Fault(_) => counter!(FAULTS, "account" => self.account.clone()).increment(1),
            GameEvent::Over { info, status, winner, .. } => {
                let result = info.as_ref().and_then(|info| GameResult::of(info.our_color, status, *winner));
                let result = result.map_or("unplayed", GameResult::word);
                counter!(GAMES, "account" => self.account.clone(), "result" => result).increment(1);
            }
            GameEvent::Started { .. }
            | GameEvent::Position { .. }
            | GameEvent::Proposal(_)
            | GameEvent::Chat { .. }
            | GameEvent::OpponentGone { .. }
            | GameEvent::Rated { .. } => (),
        }
    }

    fn decided(&self, decision: &Decision, budget: Option<Budget>) {
        let source = decision.source.word();
        let moves = || counter!(MOVES, "account" => self.account.clone(), "source" => source);
        self.moves.lock().unwrap_or_else(PoisonError::into_inner).entry(source).or_insert_with(moves).increment(1);
        self.nodes.increment(decision.nodes());
        let Some(budget) = budget else { return };
        let (took, given) = (decision.elapsed.as_secs_f64(), budget.response.as_secs_f64());
        self.decision_seconds.record(took);
        if given > 0.0 {
            self.decision_share.record(took / given);
        }
        self.late.increment(u64::from(is_late(decision, budget)));
    }
}
