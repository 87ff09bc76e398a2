//! Challenges to the bot: judgement, queue, answers, and the start of an accepted challenge's game.

use jiff::{Timestamp, Zoned};

use super::{
    ATTEMPTS, LONGEST_LIMIT, Lobby, LobbyEffect, Queued, RESERVED, Reservation, ReservedPlace, later, pause_after,
};
use crate::{
    journal::ChallengeOutcome,
    policy::{
        ChallengeVerdict,
        challenge::{self, ChallengeContext},
        rate_limits::Spending,
    },
};
use domain::{Action, ActionError, Challenge, ChallengeId, DeclineReason, GameId, Player};

/// The server's name for its limit on games between bots in a day.
const GAMES_BETWEEN_BOTS: &str = "bot.vsBot.day";

fn is_limit_for_long(error: &ActionError) -> bool {
    let ActionError::Limited { key: Some(key), retry_after, .. } = error else { return false };
    key == GAMES_BETWEEN_BOTS || retry_after.is_some_and(|wait| wait > LONGEST_LIMIT)
}

impl Lobby {
    pub(super) fn challenge(&mut self, now: &Zoned, challenge: Challenge) {
        if !challenge.incoming {
            let opponent = challenge.opponent.as_ref().map_or("", |player| player.id.as_str());
            self.made(challenge.id.clone(), opponent, challenge.terms, now.timestamp());
            return;
        }
        let known = self.waiting.iter().any(|queued| queued.challenge.id == challenge.id);
        if known || self.places.contains_key(&GameId::from(&challenge.id)) {
            return;
        }
        self.serial += 1;
        let queued = Queued { challenge, serial: self.serial, until: None, attempts: 0 };
        self.judge(now, queued, true);
    }

    /// Judges one challenge; it goes (back) to the queue if it has to wait.
    pub(super) fn judge(&mut self, now: &Zoned, mut queued: Queued, first: bool) {
        let challenge = &queued.challenge;
        let places = self.taken();
        let context = ChallengeContext {
            now,
            variants: &self.policy.variants,
            lists: &self.lists,
            places: &places,
            last_start: self.last_start,
            opponents: &self.memory.opponents,
            rate_limits: &self.memory.rate_limits,
            waiting: self.waiting.len(),
            closed: self.mode.closed(),
        };
        let record = |outcome, why: String| LobbyEffect::Record(Box::new(challenge.clone()), outcome, why);
        match challenge::judge(challenge, &self.policy.challenge, &context) {
            ChallengeVerdict::Ignore => (),
            ChallengeVerdict::Decline { reason, why } => {
                self.effects.push(record(ChallengeOutcome::Declined, why));
                self.effects.push(LobbyEffect::Do(Action::Decline(challenge.id.clone(), reason)));
            }
            ChallengeVerdict::Wait { until, why } => {
                if first {
                    self.effects.push(record(ChallengeOutcome::Queued, why));
                }
                queued.until = until;
                self.waiting.push(queued);
            }
            ChallengeVerdict::Accept => {
                self.effects.push(record(ChallengeOutcome::Accepted, "it suits".to_owned()));
                self.effects.push(LobbyEffect::Do(Action::Accept(challenge.id.clone())));
                self.last_start = Some(now.timestamp());
                let reserved = Reservation {
                    challenge: Box::new(challenge.clone()),
                    until: later(now.timestamp(), RESERVED),
                    attempts: queued.attempts + 1,
                    again: None,
                };
                let opponent = challenge.opponent.clone();
                let correspondence = !challenge.terms.time_control.is_real_time();
                let place =
                    ReservedPlace { opponent, correspondence, reserved: Some(reserved), ..ReservedPlace::default() };
                self.places.insert(GameId::from(&challenge.id), place);
            }
        }
    }

    /// Judges waiting challenges again, in the order of the settings.
    pub(super) fn try_waiting(&mut self, now: &Zoned) {
        let due = |queued: &Queued| queued.until.is_none_or(|until| until <= now.timestamp());
        if !self.waiting.iter().any(due) {
            return;
        }
        let mut queue = std::mem::take(&mut self.waiting);
        queue.sort_by_cached_key(|queued| {
            (challenge::precedence(&queued.challenge, &self.policy.challenge, &self.lists), queued.serial)
        });
        for queued in queue {
            if due(&queued) {
                self.judge(now, queued, false);
            } else {
                self.waiting.push(queued);
            }
        }
    }

    pub(super) fn cancelled(&mut self, now: Timestamp, id: &ChallengeId) {
        let is_ours = self.opponent_of(id).is_some();
        self.forget_orders_behind(id);
        self.memory.matchmaker.unanswered(id, &self.policy.matchmaking, now);
        self.effects.extend(is_ours.then_some(LobbyEffect::Save));
        if let Some(index) = self.waiting.iter().position(|queued| queued.challenge.id == *id) {
            let queued = self.waiting.remove(index);
            let why = "withdrawn by the challenger".to_owned();
            self.effects.push(LobbyEffect::Record(Box::new(queued.challenge), ChallengeOutcome::Cancelled, why));
        }
        if self.places.get(&GameId::from(id)).is_some_and(|place| place.reserved.is_some()) {
            self.places.remove(&GameId::from(id));
        }
    }

    pub(super) fn accepted(&mut self, now: Timestamp, id: &ChallengeId, outcome: Result<(), ActionError>) {
        let game = GameId::from(id);
        // An answer after the start of the game is not new.
        let Some(place) = self.places.get_mut(&game) else { return };
        let Some(reserved) = &mut place.reserved else { return };
        let error = match outcome {
            Ok(()) => {
                self.effects.push(LobbyEffect::Watch(game));
                return;
            }
            // The game may have begun all the same, so the place stays taken. A server in trouble may reject a valid token for a while.
            Err(ActionError::Unavailable(_) | ActionError::Unauthorised(_)) if reserved.attempts < ATTEMPTS => {
                reserved.again = Some(later(now, pause_after(reserved.attempts)));
                reserved.until = later(now, RESERVED);
                return;
            }
            Err(error) => error,
        };
        let bot = place.opponent.as_ref().is_some_and(Player::is_bot);
        let limited_for_long = is_limit_for_long(&error);
        if bot && limited_for_long {
            self.memory.rate_limits.answered(Spending::GameAgainstBot, &error, now);
            self.effects.push(LobbyEffect::Save);
            let until = self.limited_until(Spending::GameAgainstBot, now);
            self.effects.extend(until.map(|until| LobbyEffect::Limited("no game against a bot is possible", until)));
        }
        let Some(ReservedPlace { reserved: Some(reserved), .. }) = self.places.remove(&game) else { return };
        let Reservation { challenge, attempts, .. } = reserved;
        match &error {
            ActionError::Limited { retry_after, opponent: false, .. } if !limited_for_long && attempts < ATTEMPTS => {
                self.serial += 1;
                let until = Some(later(now, retry_after.unwrap_or(pause_after(attempts))));
                self.waiting.push(Queued { challenge: *challenge, serial: self.serial, until, attempts });
            }
            // It may still be pending, and no action is possible.
            ActionError::Limited { opponent: false, .. }
            | ActionError::Unavailable(_)
            | ActionError::Unauthorised(_) => {
                let id = challenge.id.clone();
                self.effects.push(LobbyEffect::Record(challenge, ChallengeOutcome::Declined, error.to_string()));
                self.effects.push(LobbyEffect::Do(Action::Decline(id, DeclineReason::Later)));
            }
            _ => self.effects.push(LobbyEffect::Record(challenge, ChallengeOutcome::Cancelled, error.to_string())),
        }
    }

    pub(super) fn accept_again(&mut self, now: Timestamp) {
        for reserved in self.places.values_mut().filter_map(|place| place.reserved.as_mut()) {
            if reserved.again.take_if(|at| *at <= now).is_some() {
                reserved.attempts += 1;
                reserved.until = later(now, RESERVED);
                self.effects.push(LobbyEffect::Do(Action::Accept(reserved.challenge.id.clone())));
            }
        }
    }
}
