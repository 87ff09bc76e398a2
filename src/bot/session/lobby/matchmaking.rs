//! Challenges of an idle bot: decisions of [`policy`](crate::policy::matchmaking), turned into
//! actions.

use jiff::{Timestamp, Zoned};

use super::{EarlyDecline, Lobby, LobbyEffect, orders::is_for_good};
use crate::{
    policy::{
        challenge,
        matchmaking::{MatchmakingLists, MatchmakingStep, Situation},
        rate_limits::Spending,
    },
    session::AccountMode,
};
use domain::{
    Account, Action, ActionError, ChallengeId, ChallengeRequest, DeclineReason, GameId, GameTerms, values::Kind,
};

impl Lobby {
    pub(super) fn matchmaking_step(&mut self, now: &Zoned) -> MatchmakingStep {
        let places = self.taken();
        let situation = Situation {
            now,
            idle_since: self.idle_since,
            games: self.real_time_games(),
            place_free: challenge::has_place(Kind::Bot, &self.policy.challenge, &places),
            others_wait: !self.waiting.is_empty(),
            draining: self.mode != AccountMode::Playing || self.us.is_none(),
            rate_limits: &self.memory.rate_limits,
        };
        self.memory.matchmaker.step(&self.policy.matchmaking, &situation)
    }

    pub(super) fn matchmaking(&mut self, now: &Zoned, effects: &mut Vec<LobbyEffect>) {
        if self.looking {
            return;
        }
        match self.matchmaking_step(now) {
            MatchmakingStep::Wait(_) => (),
            MatchmakingStep::Cancel(id) => {
                self.memory.matchmaker.cancelling(now.timestamp());
                effects.push(LobbyEffect::Do(Action::Cancel(id)));
            }
            MatchmakingStep::FetchBots => {
                self.looking = true;
                effects.push(LobbyEffect::FetchBots);
            }
        }
    }

    pub(super) fn choose(&mut self, now: &Zoned, bots: &[Account], effects: &mut Vec<LobbyEffect>) {
        // The last free place may be taken since the list was requested.
        if self.matchmaking_step(now) != MatchmakingStep::FetchBots {
            self.looking = false;
            return;
        }
        let now = now.timestamp();
        let Some(us) = &self.us else { return };
        let opponents = self.places.values().filter_map(|place| place.opponent.as_ref());
        let lists = MatchmakingLists {
            us: &us.player.id,
            playing: &opponents.map(|player| player.id.clone()).collect::<Vec<_>>(),
            names: &self.lists,
            variants: &self.policy.variants,
        };
        let matchmaker = &mut self.memory.matchmaker;
        match matchmaker.choose(&self.policy.matchmaking, &lists, &us.ratings, bots, now, &mut self.random) {
            Some(request) => {
                self.asked = Some(request.opponent.to_lowercase());
                if self.policy.keep_limits {
                    self.memory.rate_limits.spend(Spending::ChallengeToBot, now);
                }
                effects.push(LobbyEffect::Do(Action::Challenge(request)));
                effects.push(LobbyEffect::Save);
            }
            None => self.looking = false,
        }
    }

    pub(super) fn challenged(
        &mut self,
        now: Timestamp,
        request: &ChallengeRequest,
        outcome: Result<ChallengeId, ActionError>,
        effects: &mut Vec<LobbyEffect>,
    ) {
        self.looking = false;
        self.asked = None;
        self.order_answered(now, outcome.as_ref().err());
        match outcome {
            Ok(id) => match self.declined_early.take().filter(|early| early.id == id) {
                Some(EarlyDecline { stood: true, .. }) => (),
                Some(EarlyDecline { reason, .. }) => {
                    self.made(id.clone(), &request.opponent, request.terms, now);
                    self.declined(now, &id, reason, effects);
                }
                None => self.made(id, &request.opponent, request.terms, now),
            },
            Err(error) => {
                if is_for_good(&error) {
                    self.forget_orders_to(&request.opponent.to_lowercase());
                }
                self.memory.matchmaker.failed(&request.opponent, &error, &self.policy.matchmaking, now);
                self.memory.rate_limits.answered(Spending::ChallengeToBot, &error, now);
                effects.push(LobbyEffect::Save);
                let is_limit = matches!(error, ActionError::Limited { opponent: false, .. });
                let until = self.limited_until(Spending::ChallengeToBot, now).filter(|_| is_limit);
                effects.extend(until.map(|until| LobbyEffect::Limited("no challenges are sent", until)));
            }
        }
    }

    pub(super) fn declined(
        &mut self,
        now: Timestamp,
        id: &ChallengeId,
        reason: DeclineReason,
        effects: &mut Vec<LobbyEffect>,
    ) {
        self.forget_orders_behind(id);
        self.memory.matchmaker.declined(id, reason, &self.policy.matchmaking, now);
        effects.push(LobbyEffect::Save);
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
