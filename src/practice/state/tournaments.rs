//! The tournaments: begun, paired and ended at their times; their games are games like any other.

use std::{collections::BTreeSet, time::Duration};

use super::{Denied, GameView, ServerState, rate_limits::Gauge, server_state::Due};
use crate::{
    account::{AccountId, Category},
    tournament::{PracticeTournament, TournamentPlan},
};
use domain::{GameTerms, TimeControl, Tournament, TournamentKind, Variant};

impl ServerState {
    /// Announces an open tournament of three minutes a game that begins in an hour.
    pub fn announce_tournament(&mut self, kind: TournamentKind, id: &str) {
        let time_control = TimeControl::real_time(Duration::from_mins(3), Duration::ZERO);
        let terms = GameTerms { variant: Variant::Standard, time_control, rated: true };
        let begins_after = Duration::from_hours(1);
        self.hold_tournament(TournamentPlan { begins_after, ..TournamentPlan::new(kind, id, terms) });
    }

    /// Announces a tournament. Players inside the server are entered by [`enter`](Self::enter).
    pub fn hold_tournament(&mut self, plan: TournamentPlan) {
        let name = Tournament { id: plan.id.clone(), kind: Some(plan.kind) };
        self.tournaments.insert(name.clone(), PracticeTournament::new(plan, self.now));
        self.tournament_is_due(&name);
    }

    pub fn tournament(&self, kind: TournamentKind, id: &str) -> Option<&PracticeTournament> {
        self.tournaments.get(&Tournament { id: id.to_owned(), kind: Some(kind) })
    }

    /// Returns the participants who have not withdrawn; `None` without such a tournament.
    pub fn participants(&self, kind: TournamentKind, id: &str) -> Option<BTreeSet<AccountId>> {
        self.tournament(kind, id).map(PracticeTournament::present)
    }

    /// The tournaments of a team, those that begin last first.
    pub(crate) fn tournaments_of_team(&self, kind: TournamentKind, team: &str) -> Vec<&PracticeTournament> {
        let theirs = |held: &&PracticeTournament| held.plan.kind == kind && held.plan.team == team;
        let mut held: Vec<_> = self.tournaments.values().filter(theirs).collect();
        held.sort_by_key(|held| std::cmp::Reverse(held.times().0));
        held
    }

    /// Enters a player that lives in the server: it is always there to be paired.
    pub fn enter(&mut self, account: &AccountId, kind: TournamentKind, id: &str) -> Result<(), Denied> {
        self.residents.insert(account.clone());
        let name = Tournament { id: id.to_owned(), kind: Some(kind) };
        let password = self.tournaments.get(&name).and_then(|held| held.plan.password.clone());
        self.take_part(account, &name, password.as_deref(), true)
    }

    pub(crate) fn take_part(
        &mut self,
        account: &AccountId,
        name: &Tournament,
        password: Option<&str>,
        pair_now: bool,
    ) -> Result<(), Denied> {
        self.count(account, Gauge::TournamentEntries)?;
        let bot = self.accounts.get(account).is_some_and(|known| known.bot);
        let now = self.now;
        let held = self.tournaments.get_mut(name).ok_or(Denied::NoSuchTournament)?;
        held.join(account, bot, password, pair_now, now)?;
        self.tournament_is_due(name);
        Ok(())
    }

    /// Lets an account take part no more, or not for now.
    pub(crate) fn withdraw(&mut self, account: &AccountId, name: &Tournament) -> Result<(), Denied> {
        self.tournaments.get_mut(name).ok_or(Denied::NoSuchTournament)?.withdraw(account);
        self.tournament_is_due(name);
        Ok(())
    }

    /// Lets a tournament go on: begins and ends it, and pairs who can be paired.
    pub(super) fn tournament_is_due(&mut self, name: &Tournament) {
        let Some(held) = self.tournaments.get_mut(name) else { return };
        held.advance(self.now);
        let residents = &self.residents;
        let pairs = held.pair(self.now, |account| residents.contains(account));
        let terms = held.plan.terms;
        if let Some(at) = held.next_deadline() {
            self.deadlines.insert((at, Due::Tournament(name.clone())));
        }
        for (white, black) in pairs {
            let category = Category::of(&terms);
            let seats = (self.seat(&white, category), self.seat(&black, category));
            let start = self.starting_line(terms.variant, None);
            let ((Ok(white_seat), Ok(black_seat)), Ok(start)) = (seats, start) else { continue };
            let game = self.fresh_id();
            if let Some(held) = self.tournaments.get_mut(name) {
                held.began(&white, &black, &game);
            }
            self.start_game(game, terms, start, white_seat, black_seat, Some(name.clone()));
        }
    }

    /// A game is over: its tournament, if it belongs to one, counts it and goes on.
    pub(super) fn count_for_tournament(&mut self, game: &GameView) {
        let Some(name) = game.pairing.tournament.clone() else { return };
        let winner = game.winner().map(|color| &game.pairing.players.get(color).account);
        if let Some(held) = self.tournaments.get_mut(&name) {
            held.finished(&game.pairing.id, winner);
        }
        self.tournament_is_due(&name);
    }
}
