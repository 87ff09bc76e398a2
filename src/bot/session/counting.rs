//! Counts events of accounts and games.

use metrics::{counter, gauge, histogram};

use super::{AccountEvent, BotEvent, GameEvent, event::is_late};
use crate::{
    journal::GameResult,
    metrics::{
        CHALLENGES, CONNECTED, DECISION_SECONDS, DECISION_SHARE, FAULTS, GAMES, LATE_DECISIONS, LIMITS,
        MOVE_LAG_SECONDS, MOVES, NODES, RECONNECTIONS,
    },
};
use council::clock::Budget;
use domain::Decision;

pub(crate) fn count(event: &BotEvent) {
    // Accounts are few and named by their operator.
    let account = event.server().to_string();
    match event {
        BotEvent::Account(_, event) => of_account(account, event),
        BotEvent::Game(_, event) => in_game(account, event),
    }
}

fn of_account(account: String, event: &AccountEvent) {
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
        _ => (),
    }
}

fn in_game(account: String, event: &GameEvent) {
    match event {
        GameEvent::Decided { decision, budget, .. } => decided(account, decision, *budget),
        GameEvent::Sent { lag } => histogram!(MOVE_LAG_SECONDS, "account" => account).record(lag.as_secs_f64()),
        GameEvent::Fault(_) => counter!(FAULTS, "account" => account).increment(1),
        GameEvent::Over { info, status, winner, .. } => {
            let result = info.as_ref().and_then(|info| GameResult::of(info.our_color, status, *winner));
            let result = result.map_or("unplayed", GameResult::word);
            counter!(GAMES, "account" => account, "result" => result).increment(1);
        }
        _ => (),
    }
}

fn decided(account: String, decision: &Decision, budget: Option<Budget>) {
    counter!(MOVES, "account" => account.clone(), "source" => decision.source.word()).increment(1);
    counter!(NODES, "account" => account.clone()).increment(decision.nodes());
    let Some(budget) = budget else { return };
    let (took, given) = (decision.elapsed.as_secs_f64(), budget.response.as_secs_f64());
    histogram!(DECISION_SECONDS, "account" => account.clone()).record(took);
    if given > 0.0 {
        histogram!(DECISION_SHARE, "account" => account.clone()).record(took / given);
    }
    counter!(LATE_DECISIONS, "account" => account).increment(u64::from(is_late(decision, budget)));
}
