//! Challenges: made, withdrawn, declined, accepted, or left lying.

use std::{sync::Arc, time::Duration};

use rand::RngExt;

use super::{
    hosted::{ChallengeTerms, OpenChallenge},
    rate_limits::Gauge,
    server_state::{Denied, Due, ServerState, ai_account},
    views::{ChallengeState, ChallengeView, GameView, PracticeAccountEvent},
};
use crate::account::{AccountId, Category};
use domain::{ChallengeId, Color, DeclineReason, GameId, Line, Variant};

/// The time after which an unanswered challenge counts as offline. It can still be accepted.
const GOES_OFFLINE_AFTER: Duration = Duration::from_secs(20);
/// A challenge that is offline or was answered is forgotten after this time.
const FORGOTTEN_AFTER: Duration = Duration::from_hours(3);
/// An open challenge that has not become a game is forgotten after this time.
const OPEN_FORGOTTEN_AFTER: Duration = Duration::from_hours(24);

impl ServerState {
    /// Challenges a player. With `keep_alive` the challenge stays until
    /// [`ServerState::release_challenge`].
    pub fn challenge(
        &mut self,
        from: &AccountId,
        to: &AccountId,
        terms: ChallengeTerms,
        keep_alive: bool,
    ) -> Result<Arc<ChallengeView>, Denied> {
        if from == to {
            return Err(Denied::SelfChallenge);
        }
        let category = Category::of(&terms.game);
        let (challenger, dest) = (self.seat(from, category)?, self.seat(to, category)?);
        let start = self.starting_line(terms.game.variant, terms.fen.as_deref())?;
        if self.solo.contains(to) {
            // On the Internet chess servers a player's newer challenge to the same one replaces the
            // older.
            for challenge in self.challenges_of(from).iter().filter(|challenge| challenge.dest.account == *to) {
                self.cancel(&challenge.id, from)?;
            }
        }
        self.charge_challenge(from, dest.bot)?;
        if challenger.bot && dest.bot {
            self.check_bot_games(from, to)?;
        }
        let final_color = terms.color.unwrap_or_else(|| self.random_color());
        let id = ChallengeId::new(self.fresh_id().as_str());
        let due = (!keep_alive).then(|| self.now + GOES_OFFLINE_AFTER);
        let challenge = ChallengeView {
            id: id.clone(),
            challenger,
            dest,
            online: (false, false),
            terms: terms.game,
            color: terms.color,
            final_color,
            start,
            state: ChallengeState::Created,
            number: self.next_number(),
            due,
        };
        if let Some(at) = due {
            self.deadlines.insert((at, Due::Challenge(id.clone())));
        }
        let view = self.view_challenge(&challenge);
        self.challenges.insert(id, challenge);
        self.tell_both(&view, PracticeAccountEvent::Challenge);
        Ok(view)
    }

    fn charge_challenge(&mut self, from: &AccountId, to_bot: bool) -> Result<(), Denied> {
        let cost = if to_bot { 1 } else { 5 };
        for gauge in [Gauge::ChallengesOfMinute, Gauge::ChallengesOfDay] {
            self.check_limit(from, gauge, cost, false)?;
        }
        for gauge in [Gauge::ChallengesOfMinute, Gauge::ChallengesOfDay] {
            self.rate_limiter.spend(from, gauge, cost, self.now);
        }
        Ok(())
    }

    pub(super) fn check_bot_games(&mut self, asking: &AccountId, other: &AccountId) -> Result<(), Denied> {
        self.check_limit(asking, Gauge::GamesAgainstBots, 1, false)?;
        self.check_limit(other, Gauge::GamesAgainstBots, 1, true)
    }

    pub(super) fn starting_line(&mut self, variant: Variant, fen: Option<&str>) -> Result<Line, Denied> {
        Ok(match fen {
            Some(fen) => Line::from_fen(variant, fen)?,
            None if variant == Variant::Chess960 => {
                Line::from_fen(variant, &chess960_start(self.rng.random_range(0..960)))?
            }
            None => Line::start(variant),
        })
    }

    pub(super) fn random_color(&mut self) -> Color {
        Color::from_white(self.rng.random())
    }

    /// The challenger no longer keeps it alive.
    pub fn release_challenge(&mut self, id: &ChallengeId) {
        if self.challenges.get(id).is_some_and(|challenge| challenge.state == ChallengeState::Created) {
            self.plan_challenge(id, GOES_OFFLINE_AFTER);
        }
    }

    pub(super) fn challenge_is_due(&mut self, id: &ChallengeId) {
        // Open challenges are in another map.
        self.open_challenges.remove(id);
        let now = self.now;
        let Some(challenge) = self.challenges.get_mut(id) else { return };
        if challenge.due.is_none_or(|at| now < at) {
            return;
        }
        if challenge.state == ChallengeState::Created {
            challenge.state = ChallengeState::Offline;
            self.plan_challenge(id, FORGOTTEN_AFTER);
        } else {
            self.challenges.remove(id);
        }
    }

    fn plan_challenge(&mut self, id: &ChallengeId, after: Duration) {
        let at = self.now + after;
        if let Some(challenge) = self.challenges.get_mut(id) {
            challenge.due = Some(at);
            self.deadlines.insert((at, Due::Challenge(id.clone())));
        }
    }

    /// Accepts a challenge, which becomes a game of the same name.
    pub fn accept(&mut self, id: &ChallengeId, by: &AccountId) -> Result<GameId, Denied> {
        let challenge = self.open_challenge(id)?;
        if challenge.dest.account != *by {
            return Err(Denied::NoSuchChallenge);
        }
        let ChallengeView { challenger, dest, terms, start, final_color, .. } = challenge.clone();
        for account in [by, &challenger.account] {
            self.check_free(account)?;
        }
        if challenger.bot && dest.bot {
            self.check_bot_games(by, &challenger.account)?;
        }
        self.close_challenge(id, ChallengeState::Accepted);
        let (white, black) = final_color.fold_wb((challenger.clone(), dest.clone()), (dest, challenger));
        let game = GameId::from(id);
        self.start_game(game.clone(), terms, start, white, black, None);
        Ok(game)
    }

    /// Begins a game against the server's own engine. Returns it and the challenger's colour.
    pub fn play_ai(
        &mut self,
        by: &AccountId,
        level: u8,
        terms: ChallengeTerms,
    ) -> Result<(Arc<GameView>, Color), Denied> {
        let category = Category::of(&terms.game);
        let (player, engine) = (self.seat(by, category)?, self.seat(&ai_account(level), category)?);
        let start = self.starting_line(terms.game.variant, terms.fen.as_deref())?;
        let color = terms.color.unwrap_or_else(|| self.random_color());
        let (white, black) = color.fold_wb((player.clone(), engine.clone()), (engine, player));
        let id = self.fresh_id();
        self.start_game(id.clone(), terms.game, start, white, black, None);
        let view = self.game_view(&id).ok_or(Denied::NoSuchGame)?;
        Ok((view, color))
    }

    pub fn decline(&mut self, id: &ChallengeId, by: &AccountId, reason: DeclineReason) -> Result<(), Denied> {
        if self.open_challenge(id)?.dest.account != *by {
            return Err(Denied::NoSuchChallenge);
        }
        if let Some(view) = self.close_challenge(id, ChallengeState::Declined(reason)) {
            self.tell_both(&view, PracticeAccountEvent::ChallengeDeclined);
        }
        Ok(())
    }

    /// Withdraws a challenge; aborts the game it has become, if that can still be aborted.
    pub fn cancel(&mut self, id: &ChallengeId, by: &AccountId) -> Result<(), Denied> {
        let game = GameId::from(id);
        if self.games.contains_key(&game) {
            return self.abort(&game, by);
        }
        if self.open_challenge(id)?.challenger.account != *by {
            return Err(Denied::NoSuchChallenge);
        }
        if let Some(view) = self.close_challenge(id, ChallengeState::Cancelled) {
            self.tell_both(&view, PracticeAccountEvent::ChallengeCancelled);
        }
        Ok(())
    }

    fn open_challenge(&self, id: &ChallengeId) -> Result<&ChallengeView, Denied> {
        let challenge = self.challenges.get(id).ok_or(Denied::NoSuchChallenge)?;
        if challenge.state.is_open() { Ok(challenge) } else { Err(Denied::ChallengeClosed(challenge.state)) }
    }

    pub(super) fn close_challenge(&mut self, id: &ChallengeId, state: ChallengeState) -> Option<Arc<ChallengeView>> {
        self.challenges.get_mut(id)?.state = state;
        self.plan_challenge(id, FORGOTTEN_AFTER);
        self.challenge_view(id)
    }

    pub(super) fn tell_both(&self, view: &Arc<ChallengeView>, event: fn(Arc<ChallengeView>) -> PracticeAccountEvent) {
        for seat in [&view.challenger, &view.dest] {
            self.tell(&seat.account, &event(Arc::clone(view)));
        }
    }

    fn view_challenge(&self, challenge: &ChallengeView) -> Arc<ChallengeView> {
        let online = (self.is_online(&challenge.challenger.account), self.is_online(&challenge.dest.account));
        Arc::new(ChallengeView { online, ..challenge.clone() })
    }

    pub fn challenge_view(&self, id: &ChallengeId) -> Option<Arc<ChallengeView>> {
        self.challenges.get(id).map(|challenge| self.view_challenge(challenge))
    }

    /// The challenges that wait for an answer, by or to an account, oldest first.
    pub fn challenges_of(&self, account: &AccountId) -> Vec<Arc<ChallengeView>> {
        let stands = |challenge: &&ChallengeView| {
            let players = [&challenge.challenger, &challenge.dest];
            challenge.state == ChallengeState::Created && players.into_iter().any(|seat| seat.account == *account)
        };
        let mut standing: Vec<_> = self.challenges.values().filter(stands).collect();
        standing.sort_by_key(|challenge| challenge.number);
        standing.into_iter().map(|challenge| self.view_challenge(challenge)).collect()
    }

    /// Makes a challenge that anybody may join.
    pub fn challenge_anybody(&mut self, terms: ChallengeTerms) -> Result<OpenChallenge, Denied> {
        let start = self.starting_line(terms.game.variant, terms.fen.as_deref())?;
        let id = ChallengeId::new(self.fresh_id().as_str());
        let challenge = OpenChallenge { id: id.clone(), terms: terms.game, start, first: None };
        self.deadlines.insert((self.now + OPEN_FORGOTTEN_AFTER, Due::Challenge(id.clone())));
        self.open_challenges.insert(id, challenge.clone());
        Ok(challenge)
    }

    pub fn is_open_to_anybody(&self, id: &ChallengeId) -> bool {
        self.open_challenges.contains_key(id)
    }

    /// Joins an open challenge; with the second player the game begins. A colour that is taken is not given again.
    pub fn join_open_challenge(
        &mut self,
        id: &ChallengeId,
        by: &AccountId,
        color: Option<Color>,
    ) -> Result<Option<GameId>, Denied> {
        let challenge = self.open_challenges.get_mut(id).ok_or(Denied::NoSuchChallenge)?;
        let (first, wanted) = match &challenge.first {
            Some((first, wanted)) if first != by => (first.clone(), *wanted),
            _ => {
                challenge.first = Some((by.clone(), color));
                return Ok(None);
            }
        };
        let (terms, start) = (challenge.terms, challenge.start.clone());
        let category = Category::of(&terms);
        for account in [&first, by] {
            self.check_free(account)?;
        }
        let (one, other) = (self.seat(&first, category)?, self.seat(by, category)?);
        let first_has = wanted.or(color.map(|color| !color)).unwrap_or_else(|| self.random_color());
        let (white, black) = first_has.fold_wb((one.clone(), other.clone()), (other, one));
        self.open_challenges.remove(id);
        let game = GameId::from(id);
        self.start_game(game.clone(), terms, start, white, black, None);
        Ok(Some(game))
    }
}

/// The Chess960 starting position of a number below 960, by Reinhard Scharnagl's numbering.
fn chess960_start(number: u32) -> String {
    const KNIGHTS: [(usize, usize); 10] =
        [(0, 1), (0, 2), (0, 3), (0, 4), (1, 2), (1, 3), (1, 4), (2, 3), (2, 4), (3, 4)];
    let number = number as usize;
    let mut rank = [' '; 8];
    let (number, light_bishop) = (number / 4, number % 4);
    rank[2 * light_bishop + 1] = 'b';
    let (number, dark_bishop) = (number / 4, number % 4);
    rank[2 * dark_bishop] = 'b';
    let (number, queen) = (number / 6, number % 6);
    let free = |rank: &[char; 8]| -> Vec<usize> { (0..8).filter(|file| rank[*file] == ' ').collect() };
    rank[free(&rank)[queen]] = 'q';
    let places = free(&rank);
    let (first, second) = KNIGHTS[number % KNIGHTS.len()];
    rank[places[first]] = 'n';
    rank[places[second]] = 'n';
    for (place, piece) in free(&rank).into_iter().zip(['r', 'k', 'r']) {
        rank[place] = piece;
    }
    let black: String = rank.iter().collect();
    format!("{black}/pppppppp/8/8/8/8/PPPPPPPP/{} w KQkq - 0 1", black.to_uppercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chess960_numbers_are_scharnagls() {
        assert!(chess960_start(518).starts_with("rnbqkbnr/"), "518 is the usual position");
        assert!(chess960_start(0).starts_with("bbqnnrkr/"));
        assert!(chess960_start(959).starts_with("rkrnnqbb/"));
        for number in 0..960 {
            let fen = chess960_start(number);
            assert!(Line::from_fen(Variant::Chess960, &fen).is_ok(), "{number}: {fen}");
        }
    }
}
