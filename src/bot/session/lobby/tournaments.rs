//! Tournaments: the steps of [`policy`](crate::policy::tournament) as actions, and a place for the next game.

use std::collections::BTreeSet;

use jiff::Zoned;

use super::{Lobby, LobbyEffect};
use crate::{
    policy::tournament::{Participation, TournamentNews, TournamentSituation, TournamentStep},
    session::AccountMode,
};
use domain::Action;

impl Lobby {
    /// Tells the news of tournaments, and saves a change of the participation.
    pub(super) fn tell_news(&mut self, news: impl IntoIterator<Item = (String, TournamentNews)>) {
        for (name, what) in news {
            if !matches!(what, TournamentNews::NotJoined(_)) {
                self.effects.push(LobbyEffect::Save);
            }
            self.effects.push(LobbyEffect::TournamentNews(name, what));
        }
    }

    pub(super) fn tournament_steps(&mut self, now: &Zoned) {
        let steps = self.with_tournaments(now, Participation::due);
        self.effects.extend(steps.into_iter().map(|step| match step {
            TournamentStep::Look { teams, named } => LobbyEffect::FetchTournaments { teams, named },
            TournamentStep::Ask(tournament) => LobbyEffect::AskTournament(tournament),
            TournamentStep::Join(entry) => LobbyEffect::Do(Action::Join(entry)),
            TournamentStep::Withdraw(tournament) => LobbyEffect::Do(Action::Leave(tournament)),
        }));
    }

    /// Calls `ask` with the participation in the current situation.
    pub(super) fn with_tournaments<T>(
        &mut self,
        now: &Zoned,
        ask: impl FnOnce(&mut Participation, &TournamentSituation) -> T,
    ) -> T {
        let playing = self.tournaments_played();
        let situation = TournamentSituation {
            now,
            policy: &self.policy.tournament,
            open: self.mode == AccountMode::Playing && self.us.is_some(),
            playing: &playing,
            variants: &self.policy.variants,
            ratings: self.us.as_ref().map_or(&[], |us| &us.ratings),
        };
        ask(&mut self.memory.participation, &situation)
    }

    pub(super) fn tournaments_played(&self) -> BTreeSet<String> {
        self.places.values().filter_map(|place| place.tournament.clone()).collect()
    }

    /// Withdraws before an immediate stop: no opponent is paired with the bot in vain.
    pub(super) fn withdraw_from_tournaments(&mut self, now: &Zoned) {
        let mode = std::mem::replace(&mut self.mode, AccountMode::Draining);
        self.tournament_steps(now);
        self.mode = mode;
    }
}
