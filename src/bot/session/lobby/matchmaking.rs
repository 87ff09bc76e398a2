//! Challenges of an idle bot: decisions of [`policy`](crate::policy::matchmaking), turned into
//! actions.

use jiff::{Timestamp, Zoned};

use rand::rngs::StdRng;

use super::{Lobby, LobbyEffect, orders::is_for_good};
use crate::{
    policy::{
        Matchmaker, MatchmakingSettings, challenge,
        matchmaking::{MatchmakingStep, Situation},
        rate_limits::Spending,
    },
    session::AccountMode,
};
use domain::{
    Account, Action, ActionError, ChallengeId, ChallengeRequest, DeclineReason, GameId, GameTerms, values::Kind,
};

impl Lobby {
    pub(super) fn matchmaking_step(&mut self, now: &Zoned) -> MatchmakingStep {
        self.with_matchmaker(now, |matchmaker, settings, situation, _| matchmaker.step(settings, situation))
    }

    /// Calls `ask` with the matchmaker in the current situation.
    fn with_matchmaker<T>(
        &mut self,
        now: &Zoned,
        ask: impl FnOnce(&mut Matchmaker, &MatchmakingSettings, &Situation<'_>, &mut StdRng) -> T,
    ) -> T {
        let places = self.taken();
        let situation = Situation {
            now,
            idle_since: self.idle_since,
            games: self.real_time_games(),
            place_free: challenge::has_place(Kind::Bot, &self.policy.challenge, &places),
            others_wait: !self.waiting.is_empty(),
            draining: self.mode != AccountMode::Playing || self.us.is_none(),
            rate_limits: &self.memory.rate_limits,
            us: self.us.as_ref(),
            places: &places,
            names: &self.lists,
            variants: &self.policy.variants,
        };
        ask(&mut self.memory.matchmaker, &self.policy.matchmaking, &situation, &mut self.random)
    }

    pub(super) fn matchmaking(&mut self, now: &Zoned) {
        if self.looking {
            return;
        }
        match self.matchmaking_step(now) {
            MatchmakingStep::Wait(_) => (),
            MatchmakingStep::Cancel(id) => {
                self.memory.matchmaker.cancelling(now.timestamp());
                self.effects.push(LobbyEffect::Do(Action::Cancel(id)));
            }
            MatchmakingStep::FetchBots => {
                self.looking = true;
                self.effects.push(LobbyEffect::FetchBots);
            }
        }
    }

    pub(super) fn choose(&mut self, now: &Zoned, bots: &[Account]) {
        let chosen = self.with_matchmaker(now, |matchmaker, settings, situation, random| {
            // The last free place may be taken since the list was requested.
            let may_challenge = matchmaker.step(settings, situation) == MatchmakingStep::FetchBots;
            may_challenge.then(|| matchmaker.choose(settings, situation, bots, random)).flatten()
        });
        let Some(request) = chosen else {
            self.looking = false;
            return;
        };
        self.asked = Some(request.opponent.to_lowercase());
        if self.policy.keep_limits {
            self.memory.rate_limits.spend(Spending::ChallengeToBot, now.timestamp());
        }
        self.effects.push(LobbyEffect::Do(Action::Challenge(request)));
        self.effects.push(LobbyEffect::Save);
    }

    pub(super) fn challenged(
        &mut self,
        now: Timestamp,
        request: &ChallengeRequest,
        outcome: Result<ChallengeId, ActionError>,
    ) {
        self.looking = false;
        self.asked = None;
        self.order_answered(now, outcome.as_ref().err());
        match outcome {
            Ok(id) => match self.declined_early.take().filter(|(early, _)| *early == id) {
                Some((_, None)) => (),
                Some((_, Some(reason))) => {
                    self.made(id.clone(), &request.opponent, request.terms, now);
                    self.declined(now, &id, reason);
                }
                None => self.made(id, &request.opponent, request.terms, now),
            },
            Err(error) => {
                if is_for_good(&error) {
                    self.forget_orders_to(&request.opponent.to_lowercase());
                }
                self.memory.matchmaker.failed(&request.opponent, &error, &self.policy.matchmaking, now);
                self.memory.rate_limits.answered(Spending::ChallengeToBot, &error, now);
                self.effects.push(LobbyEffect::Save);
                let is_limit = matches!(error, ActionError::Limited { opponent: false, .. });
                let until = self.limited_until(Spending::ChallengeToBot, now).filter(|_| is_limit);
                self.effects.extend(until.map(|until| LobbyEffect::Limited("no challenges are sent", until)));
            }
        }
    }

    pub(super) fn declined(&mut self, now: Timestamp, id: &ChallengeId, reason: DeclineReason) {
        self.forget_orders_behind(id);
        self.memory.matchmaker.declined(id, reason, &self.policy.matchmaking, now);
        self.effects.push(LobbyEffect::Save);
    }

    /// Records the pending challenge, or its game if that began before the answer.
    pub(super) fn made(&mut self, id: ChallengeId, opponent: &str, terms: GameTerms, now: Timestamp) {
        let matchmaker = &mut self.memory.matchmaker;
        let Some(place) = self.places.get_mut(&GameId::from(&id)) else {
            return matchmaker.made(id, opponent, terms, now);
        };
        if !std::mem::replace(&mut place.is_ours, true) {
            matchmaker.made(id.clone(), opponent, terms, now);
            matchmaker.accepted(&id, &self.policy.matchmaking, now);
            self.last_start = Some(now);
        }
    }
}
