//! A tournament by itself: participants, pairings, points. It gets the time and the results, and
//! knows no server.
//!
//! An arena pairs waiting players at once, and gives 2 points for a win and 1 for a draw, twice
//! that after two wins in a row or more; it ends at its time, whatever is still being played. A
//! Swiss tournament pairs all players for each of its rounds, players with equal points with each
//! other; its points are doubled here, so that a draw is 1.

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use super::account::AccountId;
use domain::{GameId, GameTerms, TournamentKind, TournamentStage};

/// The time for which an arena remembers a player who wants to be paired.
const WAITS: Duration = Duration::from_secs(60);
/// The number of wins in a row after which results count twice.
const STREAK: u32 = 2;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TournamentPlan {
    pub kind: TournamentKind,
    /// Eight letters and digits.
    pub id: String,
    pub name: String,
    pub team: String,
    pub terms: GameTerms,
    pub begins_after: Duration,
    pub lasts: Duration,
    pub rounds: u32,
    pub bots_allowed: bool,
    pub password: Option<String>,
}

impl TournamentPlan {
    /// An arena of an hour, or a Swiss tournament of three rounds, for bots, which begins at once.
    pub fn new(kind: TournamentKind, id: &str, terms: GameTerms) -> Self {
        Self {
            kind,
            id: id.to_owned(),
            name: format!("Practice {} {id}", kind.key()),
            team: "practice".to_owned(),
            terms,
            begins_after: Duration::ZERO,
            lasts: Duration::from_hours(1),
            rounds: 3,
            bots_allowed: true,
            password: None,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TournamentRefusal {
    #[error("This tournament is over")]
    Over,
    #[error("Bots are not allowed in this tournament")]
    NoBots,
    #[error("Wrong entry code")]
    WrongPassword,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Participant {
    /// The points so far; in a Swiss tournament doubled.
    pub points: u32,
    /// The results, the first one first, in points.
    pub sheet: Vec<u32>,
    /// True if no games are wanted for now.
    pub withdrawn: bool,
    streak: u32,
    /// The end of waiting for a game.
    waits_until: Duration,
    game: Option<GameId>,
    last_opponent: Option<AccountId>,
    /// Games with White, less those with Black.
    whites: i32,
}

#[derive(Clone, Debug)]
pub struct PracticeTournament {
    pub plan: TournamentPlan,
    begins: Duration,
    /// The round of a Swiss tournament, from 1 on; 0 before it begins.
    pub round: u32,
    pub stage: TournamentStage,
    participants: BTreeMap<AccountId, Participant>,
}

impl PracticeTournament {
    pub(crate) fn new(plan: TournamentPlan, now: Duration) -> Self {
        let begins = now + plan.begins_after;
        Self { plan, begins, round: 0, stage: TournamentStage::Announced, participants: BTreeMap::new() }
    }

    /// Returns its start and, for an arena, its end; in the server's time.
    pub(crate) fn times(&self) -> (Duration, Option<Duration>) {
        (self.begins, (self.plan.kind == TournamentKind::Arena).then(|| self.begins + self.plan.lasts))
    }

    pub(crate) fn games_running(&self) -> usize {
        self.participants.values().filter(|one| one.game.is_some()).count() / 2
    }

    /// Returns the players who want games, by name.
    pub fn present(&self) -> BTreeSet<AccountId> {
        self.participants.iter().filter(|(_, one)| !one.withdrawn).map(|(account, _)| account.clone()).collect()
    }

    /// Everybody who took part, the best first.
    pub fn standing(&self) -> Vec<(&AccountId, &Participant)> {
        let mut standing: Vec<_> = self.participants.iter().collect();
        standing.sort_by_key(|(_, one)| std::cmp::Reverse(one.points));
        standing
    }

    /// Returns the time of the next action without other events.
    pub(crate) fn next_deadline(&self) -> Option<Duration> {
        match self.stage {
            TournamentStage::Announced => Some(self.begins),
            TournamentStage::Running => self.times().1,
            TournamentStage::Over => None,
        }
    }

    /// Adds a participant. `pair_now` is how an API client says that it is there; a Swiss
    /// tournament needs no such word.
    pub(crate) fn join(
        &mut self,
        account: &AccountId,
        bot: bool,
        password: Option<&str>,
        pair_now: bool,
        now: Duration,
    ) -> Result<(), TournamentRefusal> {
        if self.stage == TournamentStage::Over {
            return Err(TournamentRefusal::Over);
        }
        if bot && !self.plan.bots_allowed {
            return Err(TournamentRefusal::NoBots);
        }
        let known = self.participants.contains_key(account);
        if !known && self.plan.password.as_deref().is_some_and(|right| password != Some(right)) {
            return Err(TournamentRefusal::WrongPassword);
        }
        let one = self.participants.entry(account.clone()).or_default();
        one.withdrawn = false;
        if pair_now && self.stage == TournamentStage::Running {
            one.waits_until = now + WAITS;
        }
        Ok(())
    }

    /// Ends the wish for games for now, or, before the start, the participation.
    pub(crate) fn withdraw(&mut self, account: &AccountId) {
        if self.stage == TournamentStage::Announced {
            self.participants.remove(account);
        } else if let Some(one) = self.participants.get_mut(account) {
            one.withdrawn = true;
        }
    }

    pub(crate) fn advance(&mut self, now: Duration) {
        if self.stage == TournamentStage::Announced && now >= self.begins {
            self.stage = TournamentStage::Running;
        }
        let (_, ends) = self.times();
        if self.stage == TournamentStage::Running && ends.is_some_and(|ends| now >= ends) {
            self.stage = TournamentStage::Over;
        }
    }

    /// Returns the next pairings, White first. They count as paired; [`began`](Self::began) names
    /// their game. `resident` marks players inside the server, who are always there.
    pub(crate) fn pair(&mut self, now: Duration, resident: impl Fn(&AccountId) -> bool) -> Vec<(AccountId, AccountId)> {
        if self.stage != TournamentStage::Running {
            return Vec::new();
        }
        match self.plan.kind {
            TournamentKind::Arena => {
                let waits = |account: &AccountId, one: &Participant| one.waits_until > now || resident(account);
                let mut free = self.free(waits);
                // Guests first: residents are there for them, and do not play each other.
                free.sort_by_key(&resident);
                let mut pairs = self.pair_up(free);
                pairs.retain(|(white, black)| !(resident(white) && resident(black)));
                pairs
            }
            TournamentKind::Swiss => self.next_round(),
        }
    }

    fn next_round(&mut self) -> Vec<(AccountId, AccountId)> {
        if self.participants.values().any(|one| one.game.is_some()) {
            return Vec::new();
        }
        if self.round >= self.plan.rounds {
            self.stage = TournamentStage::Over;
            return Vec::new();
        }
        let mut free = self.free(|_, _| true);
        if free.len() < 2 {
            return Vec::new();
        }
        self.round += 1;
        // The last one has no opponent and gets the point.
        if free.len() % 2 == 1
            && let Some(one) = free.pop().and_then(|account| self.participants.get_mut(&account))
        {
            one.points += 2;
            one.sheet.push(2);
        }
        self.pair_up(free)
    }

    /// Returns the players who could be paired, the best first.
    fn free(&self, waits: impl Fn(&AccountId, &Participant) -> bool) -> Vec<AccountId> {
        let free =
            |(account, one): &(&AccountId, &Participant)| !one.withdrawn && one.game.is_none() && waits(account, one);
        self.standing().into_iter().filter(free).map(|(account, _)| account.clone()).collect()
    }

    /// Pairs neighbours. Players who just met meet again only if no other opponent is left.
    fn pair_up(&self, mut free: Vec<AccountId>) -> Vec<(AccountId, AccountId)> {
        let one = |account: &AccountId| self.participants.get(account);
        let met = |a: &AccountId, b: &AccountId| one(a).is_some_and(|it| it.last_opponent.as_ref() == Some(b));
        let mut pairs = Vec::new();
        while free.len() >= 2 {
            let first = free.remove(0);
            let index = free.iter().position(|other| !met(&first, other)).unwrap_or(0);
            let second = free.remove(index);
            let whites = |account: &AccountId| one(account).map_or(0, |it| it.whites);
            pairs.push(if whites(&first) <= whites(&second) { (first, second) } else { (second, first) });
        }
        pairs
    }

    /// The game of two who were paired has begun.
    pub(crate) fn began(&mut self, white: &AccountId, black: &AccountId, game: &GameId) {
        for (account, other, whites) in [(white, black, 1), (black, white, -1)] {
            if let Some(one) = self.participants.get_mut(account) {
                one.game = Some(game.clone());
                one.last_opponent = Some(other.clone());
                one.whites += whites;
                one.waits_until = Duration::ZERO;
            }
        }
    }

    /// A game is over; `winner` is `None` for a draw. One that an arena's end has overtaken counts for nothing.
    pub(crate) fn finished(&mut self, game: &GameId, winner: Option<&AccountId>) {
        let arena = self.plan.kind == TournamentKind::Arena;
        let counts = self.stage == TournamentStage::Running;
        for (account, one) in &mut self.participants {
            if one.game.take_if(|current| current == game).is_none() || !counts {
                continue;
            }
            let doubled = if arena && one.streak >= STREAK { 2 } else { 1 };
            let points = match winner {
                Some(winner) if winner == account => 2,
                Some(_) => 0,
                None => 1,
            };
            one.streak = if points == 2 { one.streak + 1 } else { 0 };
            one.points += points * doubled;
            one.sheet.push(points * doubled);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::{TimeControl, Variant};

    const SECOND: Duration = Duration::from_secs(1);

    fn tournament(kind: TournamentKind, names: &[&str]) -> PracticeTournament {
        let time_control = TimeControl::real_time(SECOND * 60, Duration::ZERO);
        let terms = GameTerms { variant: Variant::Standard, time_control, rated: true };
        let mut tournament = PracticeTournament::new(TournamentPlan::new(kind, "abcd1234", terms), Duration::ZERO);
        tournament.advance(Duration::ZERO);
        for name in names {
            tournament.join(&AccountId::of(name), true, None, true, Duration::ZERO).expect("it is open");
        }
        tournament
    }

    /// Reports all players present, pairs them, and ends the games with this result.
    fn play(tournament: &mut PracticeTournament, now: Duration, winner: Option<&str>) -> Vec<(AccountId, AccountId)> {
        for account in tournament.present() {
            tournament.join(&account, true, None, true, now).expect("it is open");
        }
        let pairs = tournament.pair(now, |_| false);
        for (index, (white, black)) in pairs.iter().enumerate() {
            let game = GameId::new(format!("game{index:04}"));
            tournament.began(white, black, &game);
            let winner = winner.map(AccountId::of).filter(|winner| [white, black].contains(&winner));
            tournament.finished(&game, winner.as_ref());
        }
        pairs
    }

    fn sheet(tournament: &PracticeTournament, name: &str) -> Vec<u32> {
        let account = AccountId::of(name);
        tournament.standing().into_iter().find(|(known, _)| **known == account).expect("a participant").1.sheet.clone()
    }

    #[test]
    fn an_arena_streaks_and_ends() {
        let mut arena = tournament(TournamentKind::Arena, &["ann", "bob"]);
        for winner in [Some("ann"), Some("ann"), Some("ann"), None, Some("ann")] {
            assert_eq!(play(&mut arena, SECOND, winner).len(), 1);
        }
        assert_eq!(sheet(&arena, "ann"), [2, 2, 4, 2, 2], "on fire after two wins, until a draw");
        assert_eq!(sheet(&arena, "bob"), [0, 0, 0, 1, 0]);
        arena.join(&AccountId::of("ann"), true, None, true, SECOND).expect("it is open");
        arena.join(&AccountId::of("bob"), true, None, true, SECOND).expect("it is open");
        let pairs = arena.pair(SECOND, |_| false);
        let game = GameId::new("gamelast");
        arena.began(&pairs[0].0, &pairs[0].1, &game);
        arena.advance(SECOND * 3600);
        assert_eq!(arena.stage, TournamentStage::Over);
        arena.finished(&game, Some(&AccountId::of("bob")));
        assert_eq!(sheet(&arena, "bob").len(), 5, "what was still played counts for nothing");
        assert_eq!(arena.pair(SECOND * 3600, |_| false), []);
    }

    #[test]
    fn arena_pairs_present_players() {
        let mut arena = tournament(TournamentKind::Arena, &["ann", "bob", "eve"]);
        arena.withdraw(&AccountId::of("eve"));
        assert_eq!(arena.pair(SECOND * 61, |_| false), [], "a minute later no player is known to be present");
        arena.join(&AccountId::of("ann"), true, None, true, SECOND * 61).expect("it is open");
        arena.join(&AccountId::of("bob"), true, None, true, SECOND * 61).expect("it is open");
        assert_eq!(arena.pair(SECOND * 62, |_| false).len(), 1);
    }

    #[test]
    fn residents_play_guests() {
        let mut arena = tournament(TournamentKind::Arena, &["ann", "cat", "dog"]);
        let resident = |account: &AccountId| *account != AccountId::of("ann");
        let pairs = arena.pair(SECOND, resident);
        assert_eq!(pairs.len(), 1, "{pairs:?}");
        arena.withdraw(&AccountId::of("ann"));
        assert_eq!(arena.pair(SECOND, resident), []);
    }

    #[test]
    fn arena_alternates_colours() {
        let mut arena = tournament(TournamentKind::Arena, &["ann", "bob", "eve", "joe"]);
        let rounds: Vec<_> = (0..2).map(|_| play(&mut arena, SECOND, None)).collect();
        for (white, black) in &rounds[1] {
            assert!(!rounds[0].iter().any(|(a, b)| (a, b) == (white, black) || (b, a) == (white, black)), "{rounds:?}");
        }
    }

    #[test]
    fn swiss_gives_a_bye_a_point() {
        let mut swiss = tournament(TournamentKind::Swiss, &["ann", "bob", "eve"]);
        for _ in 0..3 {
            assert_eq!(play(&mut swiss, SECOND, Some("ann")).len(), 1);
        }
        assert_eq!(swiss.pair(SECOND, |_| false), []);
        assert_eq!(swiss.stage, TournamentStage::Over);
        let points: u32 = swiss.standing().iter().map(|(_, one)| one.points).sum();
        assert_eq!(points, 12, "two a game and a round's bye");
    }

    #[test]
    fn a_password_is_asked_for_once() {
        let mut arena = tournament(TournamentKind::Arena, &[]);
        arena.plan.password = Some("sesame".to_owned());
        let ann = AccountId::of("ann");
        let wrong = Err(TournamentRefusal::WrongPassword);
        assert_eq!(arena.join(&ann, true, None, true, SECOND), wrong);
        assert_eq!(arena.join(&ann, true, Some("open"), true, SECOND), wrong);
        assert_eq!(arena.join(&ann, true, Some("sesame"), true, SECOND), Ok(()));
        assert_eq!(arena.join(&ann, true, None, true, SECOND), Ok(()), "who takes part is known");
        arena.plan.bots_allowed = false;
        assert_eq!(arena.join(&AccountId::of("bob"), true, None, true, SECOND), Err(TournamentRefusal::NoBots));
    }
}
