//! Accounts, listeners and deadlines. Challenges and games have files of their own.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap, HashSet, VecDeque},
    sync::Arc,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use rand::{RngExt, SeedableRng, rngs::StdRng};
use tokio::sync::mpsc;

use super::{
    Condition,
    hosted::{HostedGame, Listener, OpenChallenge},
    rate_limits::{Gauge, RateLimiter},
    views::{ChallengeState, ChallengeView, ListenerKey, PlayerView, PracticeAccountEvent, Subscription},
};
use crate::{
    PracticeSettings,
    account::{AccountId, Category, PracticeAccount},
    game::GameRefusal,
    rating::PlayerRating,
    tournament::{PracticeTournament, TournamentRefusal},
};
use domain::{ChallengeId, GameId, LineError, Tournament};

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Denied {
    #[error("no such player: {0}")]
    NoSuchPlayer(String),
    #[error("no such game")]
    NoSuchGame,
    #[error("no such tournament")]
    NoSuchTournament,
    #[error(transparent)]
    Tournament(#[from] TournamentRefusal),
    /// The game is played by others.
    #[error("not your game")]
    NotYourGame,
    /// No such challenge, or not for this player.
    #[error("no such challenge")]
    NoSuchChallenge,
    #[error("the challenge is no longer open")]
    ChallengeClosed(ChallengeState),
    #[error("{0} is playing a game")]
    Busy(String),
    #[error("you cannot challenge yourself")]
    SelfChallenge,
    #[error(transparent)]
    Start(#[from] LineError),
    #[error("the account has already played games")]
    HasPlayed,
    #[error("the name {0} is taken")]
    NameTaken(String),
    /// A limit is reached, of the account itself or (`by_opponent`) of the other one.
    #[error("too many requests; wait {wait:?}")]
    Limited { gauge: Gauge, wait: Duration, by_opponent: bool },
    #[error(transparent)]
    Game(#[from] GameRefusal),
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Due {
    Game(GameId),
    Challenge(ChallengeId),
    Tournament(Tournament),
}

pub struct ServerState {
    pub(super) settings: Arc<PracticeSettings>,
    pub(super) departures: mpsc::UnboundedSender<(u64, Option<GameId>)>,
    pub(crate) now: Duration,
    started_at: Duration,
    pub(super) accounts: HashMap<AccountId, PracticeAccount>,
    pub(super) listeners: HashMap<AccountId, Vec<Listener<PracticeAccountEvent>>>,
    pub(super) challenges: HashMap<ChallengeId, ChallengeView>,
    pub(super) open_challenges: HashMap<ChallengeId, OpenChallenge>,
    pub(super) games: HashMap<GameId, HostedGame>,
    pub(super) finished: VecDeque<GameId>,
    pub(super) deadlines: BTreeSet<(Duration, Due)>,
    pub(super) rate_limiter: RateLimiter,
    pub(super) rng: StdRng,
    pub(super) solo: HashSet<AccountId>,
    pub(super) tournaments: BTreeMap<Tournament, PracticeTournament>,
    /// Accounts that are always there to be paired.
    pub(super) residents: HashSet<AccountId>,
    /// Conditions that callers wait for.
    pub(super) conditions: Vec<Condition>,
    counter: u64,
}

impl ServerState {
    pub(super) fn new(
        settings: Arc<PracticeSettings>,
        departures: mpsc::UnboundedSender<(u64, Option<GameId>)>,
    ) -> Self {
        let rng = match settings.seed {
            Some(seed) => StdRng::seed_from_u64(seed),
            None => rand::make_rng(),
        };
        Self {
            rate_limiter: RateLimiter::new(settings.limits.clone()),
            settings,
            departures,
            now: Duration::ZERO,
            started_at: SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default(),
            accounts: HashMap::new(),
            listeners: HashMap::new(),
            challenges: HashMap::new(),
            open_challenges: HashMap::new(),
            games: HashMap::new(),
            finished: VecDeque::new(),
            deadlines: BTreeSet::new(),
            rng,
            solo: HashSet::new(),
            tournaments: BTreeMap::new(),
            residents: HashSet::new(),
            conditions: Vec::new(),
            counter: 0,
        }
    }

    pub(super) fn next_deadline(&self) -> Option<Duration> {
        self.deadlines.first().map(|(at, _)| *at)
    }

    /// Lets time pass: does all that is due by `now`, in its order.
    pub(super) fn advance(&mut self, now: Duration) {
        while let Some((at, due)) = self.deadlines.first().cloned()
            && at <= now
        {
            self.deadlines.pop_first();
            self.now = at;
            match due {
                Due::Game(id) => drop(self.with_game(&id, |game, now| game.tick(now))),
                Due::Challenge(id) => self.challenge_is_due(&id),
                Due::Tournament(name) => self.tournament_is_due(&name),
            }
        }
        self.now = now;
    }

    /// Milliseconds since 1970 at a time that is counted from the server's start.
    pub fn unix_millis(&self, at: Duration) -> u64 {
        u64::try_from((self.started_at + at).as_millis()).unwrap_or(u64::MAX)
    }

    /// The time now, in milliseconds since 1970.
    pub fn unix_now(&self) -> u64 {
        self.unix_millis(self.now)
    }

    /// A number that was never given out before.
    pub(super) fn next_number(&mut self) -> u64 {
        self.counter += 1;
        self.counter
    }

    /// Eight letters and digits, as Lichess names games.
    pub(super) fn fresh_id(&mut self) -> GameId {
        const ALPHABET: &[u8; 62] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
        loop {
            let id: String = (0..8).map(|_| char::from(ALPHABET[self.rng.random_range(0..ALPHABET.len())])).collect();
            let id = GameId::from(id);
            if !self.games.contains_key(&id) && !self.challenges.contains_key(id.as_str()) {
                return id;
            }
        }
    }

    pub fn add_account(&mut self, name: &str, bot: bool) -> Result<AccountId, Denied> {
        let id = AccountId::of(name);
        if self.accounts.contains_key(&id) {
            return Err(Denied::NameTaken(name.to_owned()));
        }
        self.accounts.insert(id.clone(), PracticeAccount::new(name, bot, self.now));
        Ok(id)
    }

    /// Sets up the server's own engine at a level.
    pub(crate) fn add_ai(&mut self, level: u8) -> AccountId {
        let account = PracticeAccount::new(&format!("Stockfish level {level}"), true, self.now);
        let id = ai_account(level);
        self.accounts.insert(id.clone(), PracticeAccount { id: id.clone(), ai_level: Some(level), ..account });
        id
    }

    pub fn account(&self, id: &AccountId) -> Option<&PracticeAccount> {
        self.accounts.get(id)
    }

    /// Gives an account a rating in every category, with the certainty of `games` games.
    pub fn establish_rating(&mut self, id: &AccountId, points: i32, games: u32) {
        if let Some(account) = self.accounts.get_mut(id) {
            let rating = PlayerRating::established(points, games);
            account.ratings = Category::all().map(|category| (category, rating)).collect();
        }
    }

    /// Returns true if an account listens to its events.
    pub fn is_online(&self, id: &AccountId) -> bool {
        self.listeners.get(id).is_some_and(|listeners| !listeners.is_empty())
    }

    /// Returns the bots that listen to their events, by name.
    pub(crate) fn online_bots(&self) -> Vec<&PracticeAccount> {
        let is_there = |bot: &&PracticeAccount| bot.bot && bot.ai_level.is_none() && self.is_online(&bot.id);
        let mut bots: Vec<_> = self.accounts.values().filter(is_there).collect();
        bots.sort_by(|a, b| a.id.cmp(&b.id));
        bots
    }

    /// Makes an account a bot account, for ever.
    pub fn upgrade(&mut self, id: &AccountId) -> Result<(), Denied> {
        let playing = !self.games_of(id).is_empty();
        let account = self.accounts.get_mut(id).ok_or_else(|| Denied::NoSuchPlayer(id.to_string()))?;
        if account.counts.all() > 0 || playing {
            return Err(Denied::HasPlayed);
        }
        account.bot = true;
        Ok(())
    }

    pub fn count(&mut self, id: &AccountId, gauge: Gauge) -> Result<(), Denied> {
        self.check_limit(id, gauge, 1, false)?;
        self.rate_limiter.spend(id, gauge, 1, self.now);
        Ok(())
    }

    /// Checks that an account, or (`by_opponent`) the other one, could spend `cost`.
    pub(super) fn check_limit(
        &mut self,
        id: &AccountId,
        gauge: Gauge,
        cost: u32,
        by_opponent: bool,
    ) -> Result<(), Denied> {
        let checked = self.rate_limiter.check(id, gauge, cost, self.now);
        checked.map_err(|wait| Denied::Limited { gauge, wait, by_opponent })
    }

    /// Listens to an account's events: first its running games and pending challenges, oldest
    /// first, then new ones. Ends the earlier subscription of the same client.
    pub fn listen(&mut self, key: ListenerKey) -> Subscription<PracticeAccountEvent> {
        let (sender, events) = mpsc::unbounded_channel();
        for view in self.games_of(&key.account) {
            let _ = sender.send(PracticeAccountEvent::GameStart(view));
        }
        for view in self.challenges_of(&key.account) {
            let _ = sender.send(PracticeAccountEvent::Challenge(view));
        }
        let id = self.next_number();
        let listeners = self.listeners.entry(key.account.clone()).or_default();
        listeners.retain(|listener| listener.key != key);
        listeners.push(Listener { id, key, sender });
        Subscription { events, departures: self.departures.clone(), listener: id, game: None }
    }

    pub(super) fn forget(&mut self, listener: u64, game: Option<&GameId>) {
        match game {
            Some(game) => self.leave_game(game, listener),
            None => self.listeners.values_mut().for_each(|all| all.retain(|known| known.id != listener)),
        }
    }

    pub(super) fn tell(&self, account: &AccountId, event: &PracticeAccountEvent) {
        for listener in self.listeners.get(account).into_iter().flatten() {
            let _ = listener.sender.send(event.clone());
        }
    }

    /// A player as others see it in games of a category.
    pub fn seat(&self, id: &AccountId, category: Category) -> Result<PlayerView, Denied> {
        let account = self.accounts.get(id).ok_or_else(|| Denied::NoSuchPlayer(id.to_string()))?;
        Ok(PlayerView {
            account: id.clone(),
            name: account.name.clone(),
            bot: account.bot,
            ai_level: account.ai_level,
            rating: account.rating(category),
        })
    }
}

/// The account behind the server's own engine; no name contains a colon.
pub(crate) fn ai_account(level: u8) -> AccountId {
    AccountId::of(&format!("ai:{level}"))
}
