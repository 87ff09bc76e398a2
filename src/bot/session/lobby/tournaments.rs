//! Tournaments: what [`policy`](crate::policy::tournament) wants done, turned into actions, and a place kept for the next game.

use std::collections::BTreeSet;

use jiff::Zoned;

use super::{Lobby, LobbyEffect};
use crate::{
    policy::tournament::{Participation, TournamentNews, TournamentPolicy, TournamentSituation, TournamentStep},
    session::AccountMode,
};
use domain::{Action, ActionError, Tournament, TournamentInfo};

#[derive(Debug)]
pub(in crate::session) enum TournamentAnswer {
    /// Tournaments found; `true` if the list is complete.
    Found(Vec<TournamentInfo>, bool),
    /// The state of one.
    Described(Tournament, Result<TournamentInfo, ActionError>),
    Joined(Tournament, Result<(), ActionError>),
}

impl Lobby {
    pub(super) fn tournament_answer(&mut self, now: &Zoned, answer: TournamentAnswer, effects: &mut Vec<LobbyEffect>) {
        let news = match answer {
            TournamentAnswer::Found(found, all) => {
                self.with_tournaments(now, |known, policy, situation| known.found(found, all, policy, situation))
            }
            TournamentAnswer::Described(asked, Ok(info)) => {
                self.memory.participation.described(&asked, info).into_iter().collect()
            }
            TournamentAnswer::Described(asked, Err(error)) => {
                self.memory.participation.not_described(&asked, &error, now.timestamp()).into_iter().collect()
            }
            TournamentAnswer::Joined(tournament, outcome) => {
                self.memory.participation.answered(&tournament, outcome, now.timestamp()).into_iter().collect()
            }
        };
        if news.iter().any(|(_, what)| !matches!(what, TournamentNews::NotJoined(_))) {
            effects.push(LobbyEffect::Save);
        }
        effects.extend(news.into_iter().map(|(name, what)| LobbyEffect::TournamentNews(name, what)));
    }

    pub(super) fn tournament_steps(&mut self, now: &Zoned, effects: &mut Vec<LobbyEffect>) {
        let steps = self.with_tournaments(now, Participation::due);
        effects.extend(steps.into_iter().map(|step| match step {
            TournamentStep::Look { teams, named } => LobbyEffect::FetchTournaments { teams, named },
            TournamentStep::Ask(tournament) => LobbyEffect::AskTournament(tournament),
            TournamentStep::Join(entry) => LobbyEffect::Do(Action::Join(entry)),
            TournamentStep::Withdraw(tournament) => LobbyEffect::Do(Action::Leave(tournament)),
        }));
    }

    /// Runs `job` on the participation in the current situation.
    pub(super) fn with_tournaments<T>(
        &mut self,
        now: &Zoned,
        ask: impl FnOnce(&mut Participation, &TournamentPolicy, &TournamentSituation) -> T,
    ) -> T {
        let playing = self.tournaments_played();
        let situation = TournamentSituation {
            now,
            open: self.mode == AccountMode::Playing && self.us.is_some(),
            playing: &playing,
            variants: &self.policy.variants,
            ratings: self.us.as_ref().map_or(&[], |us| &us.ratings),
        };
        ask(&mut self.memory.participation, &self.policy.tournament, &situation)
    }

    /// Returns the tournaments with a running game of the bot.
    pub(super) fn tournaments_played(&self) -> BTreeSet<String> {
        self.places.values().filter_map(|place| place.tournament.clone()).collect()
    }

    /// Withdraws before an immediate stop, so that no opponent is paired with the bot.
    pub(super) fn withdraw_from_tournaments(&mut self, now: &Zoned) -> Vec<LobbyEffect> {
        let mode = std::mem::replace(&mut self.mode, AccountMode::Draining);
        let mut effects = Vec::new();
        self.tournament_steps(now, &mut effects);
        self.mode = mode;
        effects
    }
}
