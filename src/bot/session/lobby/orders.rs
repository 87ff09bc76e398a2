//! The operator's orders to a lobby: games with a player, a pause, a blocked name.

use std::time::Duration;

use jiff::{Timestamp, Zoned};

use super::{Lobby, LobbyEffect, later};
use crate::{
    policy::{
        challenge::{self, Names},
        rate_limits::Spending,
    },
    session::AccountMode,
};
use domain::{Action, ActionError, ChallengeId, ChallengeRequest, Tournament, values::Kind};

/// The first and the longest pause after a failed challenge of an order; it doubles each time.
const AGAIN: (Duration, Duration) = (Duration::from_mins(1), Duration::from_mins(10));

/// Refusal of an account that is about to stop.
const STOPPING: &str = "the program is stopping and accepts no new games";

pub(super) struct Order {
    request: ChallengeRequest,
    /// The number of games still to begin; at least one.
    games: u32,
    /// The number of temporary failures of the challenge in a row.
    failures: u32,
    /// The start and length of the pause after a failure.
    rests: Option<(Timestamp, Duration)>,
}

impl Order {
    pub(super) const fn new(request: ChallengeRequest, games: u32) -> Self {
        Self { request, games, failures: 0, rests: None }
    }

    /// `opponent` is a name in lower case.
    fn is_with(&self, opponent: &str) -> bool {
        self.request.opponent.to_lowercase() == opponent
    }

    pub(super) fn rests_until(&self) -> Option<Timestamp> {
        self.rests.map(|(since, pause)| later(since, pause))
    }

    /// Adapts to a system clock set back to `now`: the pause began then at the latest.
    pub(super) fn clock_set_back(&mut self, now: Timestamp) {
        if let Some((since, _)) = &mut self.rests {
            *since = (*since).min(now);
        }
    }

    /// Records a made challenge; returns true if games are left.
    fn made(&mut self) -> bool {
        self.games = self.games.saturating_sub(1);
        self.failures = 0;
        self.rests = None;
        self.games > 0
    }

    fn failed(&mut self, error: &ActionError, now: Timestamp) {
        let named = match error {
            ActionError::Limited { retry_after, .. } => retry_after.unwrap_or_default(),
            _ => Duration::ZERO,
        };
        let usual = AGAIN.0.saturating_mul(1 << self.failures.min(10)).min(AGAIN.1);
        self.failures = self.failures.saturating_add(1);
        self.rests = Some((now, usual.max(named)));
    }
}

/// Returns true if the server refuses a challenge for good.
pub(super) const fn is_for_good(error: &ActionError) -> bool {
    matches!(error, ActionError::Refused(_) | ActionError::NotFound(_) | ActionError::Unsupported(_))
}

impl Lobby {
    pub(super) fn block(&mut self, name: &str) {
        self.forget_orders_to(&name.to_lowercase());
        self.memory.blocked.insert(name.to_lowercase());
        self.block_again();
        self.judge_waiting_now();
        self.effects.push(LobbyEffect::Save);
        self.effects.push(LobbyEffect::Answer(Ok(format!("{name} is blocked, also after a restart"))));
    }

    pub(super) fn pause(&mut self, pause: bool) {
        let wanted = if pause { AccountMode::Paused } else { AccountMode::Playing };
        if self.mode == AccountMode::Draining {
            return self.effects.push(LobbyEffect::Answer(Err(STOPPING.to_owned())));
        }
        self.mode = wanted;
        self.memory.paused = pause;
        self.effects.push(LobbyEffect::Save);
        self.judge_waiting_now();
        self.effects.push(LobbyEffect::Answer(Ok(wanted.words().to_owned())));
    }

    pub(super) fn order(&mut self, request: ChallengeRequest, games: u32) {
        let variant = request.terms.variant;
        let why = match (self.mode, &self.us) {
            (AccountMode::Paused, _) => "the account is paused; `concilio ctl resume` lets it play again",
            (AccountMode::Draining, _) => STOPPING,
            (AccountMode::Playing, None) => "the server is not connected; try again in a moment",
            (AccountMode::Playing, Some(us)) if us.player.id == request.opponent.to_lowercase() => {
                "that is the bot's own account"
            }
            (AccountMode::Playing, Some(_)) if !self.policy.variants.contains(&variant) => {
                &format!("no engine plays {variant}")
            }
            _ => return self.orders.push_back(Order::new(request, games)),
        };
        self.effects.push(LobbyEffect::Answer(Err(why.to_owned())));
    }

    pub(super) fn cancel_orders(&mut self) {
        // A challenge on its way may be pending in a moment; the queued ones are dropped.
        let followed = self.ordered.take().is_some_and(|order| order.games > 1);
        let ordered = std::mem::take(&mut self.orders).len() + usize::from(followed);
        let standing = self.memory.matchmaker.standing().map(|(id, opponent)| (id.clone(), opponent.to_owned()));
        let answer = match standing {
            Some((id, opponent)) => {
                self.effects.push(LobbyEffect::Do(Action::Cancel(id)));
                Ok(format!("challenge to {opponent} withdrawn"))
            }
            None if ordered > 0 => Ok("queued challenges dropped".to_owned()),
            None => Err("there is no open challenge".to_owned()),
        };
        self.effects.push(LobbyEffect::Answer(answer));
    }

    /// Makes the next ordered challenge, if there is a place for its game.
    pub(super) fn fulfil_orders(&mut self, now: &Zoned) {
        let places = self.taken();
        let ready = self.mode == AccountMode::Playing
            && self.us.is_some()
            && !self.looking
            && self.memory.matchmaker.standing().is_none()
            // The opponent may be a human: the operator may use every place.
            && challenge::has_place(Kind::Human, &self.policy.challenge, &places);
        if !ready {
            return;
        }
        let now = now.timestamp();
        let due = self.orders.iter().position(|order| order.rests_until().is_none_or(|until| until <= now));
        let Some(order) = due.and_then(|index| self.orders.remove(index)) else { return };
        let request = order.request.clone();
        self.ordered = Some(order);
        self.looking = true;
        self.asked = Some(request.opponent.to_lowercase());
        if self.policy.keep_limits {
            self.memory.rate_limits.spend(Spending::ChallengeToBot, now);
            self.effects.push(LobbyEffect::Save);
        }
        self.effects.push(LobbyEffect::Do(Action::Challenge(request)));
    }

    /// Returns true if this challenge, as ordered by the operator, is on its way to the server.
    pub(in crate::session) fn is_on_its_way(&self, request: &ChallengeRequest) -> bool {
        self.ordered.as_ref().is_some_and(|order| order.request == *request)
    }

    pub(in crate::session) fn is_made_again(&self, request: &ChallengeRequest, error: &ActionError) -> bool {
        self.is_on_its_way(request) && !is_for_good(error)
    }

    /// Records the server's answer to the challenge on its way. The rest of its order comes before the other orders.
    pub(super) fn order_answered(&mut self, now: Timestamp, error: Option<&ActionError>) {
        let Some(mut order) = self.ordered.take() else { return };
        let is_left = match error {
            None => order.made(),
            Some(error) if is_for_good(error) => false,
            Some(error) => {
                order.failed(error, now);
                true
            }
        };
        if is_left {
            self.orders.push_front(order);
        }
    }

    /// `opponent` is a name in lower case.
    pub(super) fn forget_orders_to(&mut self, opponent: &str) {
        self.orders.retain(|order| !order.is_with(opponent));
        self.ordered.take_if(|order| order.is_with(opponent));
    }

    pub(super) fn forget_orders_behind(&mut self, id: &ChallengeId) {
        if let Some(opponent) = self.opponent_of(id) {
            self.forget_orders_to(&opponent);
        }
    }

    /// Adds the operator's blocked names to the lists of the settings.
    pub(super) fn block_again(&mut self) {
        self.lists.block.extend(self.memory.blocked.iter().collect::<Names>());
    }

    pub(super) fn judge_waiting_now(&mut self) {
        self.waiting.iter_mut().for_each(|queued| queued.until = None);
    }

    pub(in crate::session) fn tournaments(&self) -> Vec<Tournament> {
        self.memory.participation.members().cloned().collect()
    }

    pub(super) fn limited_until(&self, spending: Spending, now: Timestamp) -> Option<Timestamp> {
        self.memory.rate_limits.may(spending, now).err().map(|limit| limit.until)
    }
}
