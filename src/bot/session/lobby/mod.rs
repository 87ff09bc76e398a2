//! The lobby of one account, a pure state machine: challenges, places and matchmaking.
//! [`policy`](crate::policy) decides; the lobby keeps the facts for its decisions, and turns verdicts
//! into actions.
//!
//! Invariants:
//! - an accepted challenge takes a place, and gives it back when its game ends, when the server refuses, or after [`RESERVED`]
//!   without a game: no place leaks. A pending challenge of the bot takes a place, too;
//! - if the answer to an acceptance is lost, the place is kept and the challenge accepted again: the game may have begun. If a
//!   challenge cannot be accepted, it is declined: no challenger is left waiting;
//! - the bot plays every game started by the server: a burst of games and a restart are nothing special;
//! - a repeated challenge is judged once, until something has changed.

mod challenges;
mod matchmaking;
mod orders;
mod tournaments;

use std::{
    collections::{BTreeMap, BTreeSet, HashMap, VecDeque},
    sync::Arc,
    time::Duration,
};

use jiff::{Timestamp, Zoned};
use rand::{SeedableRng, rngs::StdRng};
use serde::{Deserialize, Serialize};

use super::{AccountMode, AccountPolicy};
use crate::{
    journal::{ChallengeOutcome, GameResult},
    policy::{
        Matchmaker, NameLists, Participation, RateLimits,
        challenge::{OpponentHistory, TakenPlace},
        matchmaking::MatchmakingStep,
        rate_limits::{Spending, later},
        tournament::TournamentNews,
    },
};
use domain::{
    Account, Action, ActionError, Challenge, ChallengeId, ChallengeRequest, DeclineReason, GameId, GameInfo, Player,
    Tournament, TournamentEntry, TournamentInfo, Variant, values::Kind,
};
use orders::Order;

#[cfg(test)]
mod tests;

/// Maximum time between accepting a challenge and the start of the game.
const RESERVED: Duration = Duration::from_secs(30);
/// Initial pause before a request without an answer is repeated; it doubles each time.
const AGAIN: Duration = Duration::from_secs(1);
/// The number of doublings of that pause, up to 16 seconds.
const DOUBLINGS: u32 = 4;
/// Maximum number of attempts to accept one challenge: at least a minute.
const ATTEMPTS: u32 = 8;
/// The longest limit of the server before waiting challenges are declined.
const LONGEST_LIMIT: Duration = Duration::from_secs(60);

/// The time before the name of a counted game is dropped: the window of the longest limit.
const COUNTED: Duration = Duration::from_hours(24);

#[derive(Debug)]
pub(super) enum LobbyInput {
    Connected(Account),
    Challenge(Challenge),
    Cancelled(ChallengeId),
    Declined(ChallengeId, DeclineReason),
    /// Answer to an acceptance.
    Accepted(ChallengeId, Result<(), ActionError>),
    /// Answer to a challenge.
    Challenged(ChallengeRequest, Result<ChallengeId, ActionError>),
    /// The bots online; empty if the list could not be fetched.
    Bots(Vec<Account>),
    /// The tournaments found; true if the list is complete.
    Tournaments(Vec<TournamentInfo>, bool),
    Tournament(Tournament, Result<TournamentInfo, ActionError>),
    TournamentJoined(Tournament, Result<(), ActionError>),
    GameStarted(GameId),
    /// The players and terms of a game.
    Known(Box<GameInfo>),
    /// A game is over, with its result for the bot if there is one.
    GameEnded(GameId, Option<GameResult>),
    Lists(NameLists),
    /// The time of [`Lobby::next_wakeup`] has come.
    Tick,
    Drain,
    Pause(bool),
    /// The operator orders a challenge and the number of its games; at least one.
    Order(ChallengeRequest, u32),
    /// The operator withdraws the pending challenge and drops the ordered ones.
    CancelOrders,
    Block(String),
    /// The server let the account join a tournament at the operator's order.
    OrderedToJoin(TournamentEntry),
    /// The server let the account leave a tournament at the operator's order.
    OrderedToLeave(Tournament),
    Adopt(Arc<AccountPolicy>),
}

#[derive(Debug, PartialEq)]
pub(super) enum LobbyEffect {
    /// The answers to `Accept` and `Challenge` come back as inputs.
    Do(Action),
    /// Fetch the state of a game after its acceptance: the event of its start may be lost.
    Watch(GameId),
    FetchBots,
    FetchTournaments {
        teams: Vec<String>,
        named: Vec<Tournament>,
    },
    AskTournament(Tournament),
    TournamentNews(String, TournamentNews),
    /// Play a game, unless it is being played.
    Play(GameId),
    Record(Box<Challenge>, ChallengeOutcome, String),
    Save,
    Limited(&'static str, Timestamp),
    Answer(Result<String, String>),
}

/// The saved state of a lobby.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct LobbyMemory {
    #[serde(alias = "ledger")]
    pub rate_limits: RateLimits,
    /// The games counted against those limits, with their starts: a game resumed after a restart counts once.
    pub counted: BTreeMap<GameId, Timestamp>,
    pub matchmaker: Matchmaker,
    /// Recent opponents, by id.
    pub opponents: HashMap<String, OpponentHistory>,
    /// Players blocked by the operator, in lower case.
    pub blocked: BTreeSet<String>,
    pub participation: Participation,
    pub paused: bool,
}

pub(super) struct Lobby {
    policy: Arc<AccountPolicy>,
    lists: NameLists,
    memory: LobbyMemory,
    us: Option<Account>,
    waiting: Vec<Queued>,
    places: HashMap<GameId, ReservedPlace>,
    last_start: Option<Timestamp>,
    idle_since: Timestamp,
    /// The time of the last input.
    latest: Timestamp,
    mode: AccountMode,
    /// Ordered games before their start, the oldest order first.
    orders: VecDeque<Order>,
    /// The order with a challenge on its way to the server; it is not among `orders` meanwhile.
    ordered: Option<Order>,
    /// The id of a player with a rematch offer, and the previous game.
    rematch: Option<(String, GameId)>,
    /// True if a challenge of the bot is on its way to the server, or the list of bots is being fetched.
    looking: bool,
    /// Id of the player of the challenge on its way to the server; it takes a place.
    asked: Option<String>,
    /// A refusal while a challenge with a still unknown id was on its way to the server, perhaps of that one; without a reason
    /// if the server had announced the refused challenge elsewhere.
    declined_early: Option<(ChallengeId, Option<DeclineReason>)>,
    serial: u64,
    random: StdRng,
    /// The effects of the current input.
    effects: Vec<LobbyEffect>,
}

struct Queued {
    challenge: Challenge,
    /// The number of the challenge, in the order of arrival.
    serial: u64,
    /// Earliest time of the next judgement.
    until: Option<Timestamp>,
    attempts: u32,
}

#[derive(Default)]
struct ReservedPlace {
    opponent: Option<Player>,
    /// True if the game was counted for its opponent and the server's limits.
    counted: bool,
    /// True for the game of a challenge by the bot.
    is_ours: bool,
    rematch_of: Option<GameId>,
    tournament: Option<String>,
    /// True for a game of days a move or without a clock.
    correspondence: bool,
    rematch: Option<ChallengeRequest>,
    /// Reason of the reservation; `None` if the game runs.
    reserved: Option<Reservation>,
}

struct Reservation {
    challenge: Box<Challenge>,
    until: Timestamp,
    attempts: u32,
    again: Option<Timestamp>,
}

impl Lobby {
    /// Creates an empty lobby. All its random numbers come from `seed`.
    pub(super) fn new(policy: Arc<AccountPolicy>, memory: LobbyMemory, now: Timestamp, seed: u64) -> Self {
        let mode = if memory.paused { AccountMode::Paused } else { AccountMode::Playing };
        let mut lobby = Self {
            lists: policy.lists.clone(),
            policy,
            memory,
            us: None,
            waiting: Vec::new(),
            places: HashMap::new(),
            last_start: None,
            idle_since: now,
            latest: now,
            mode,
            orders: VecDeque::new(),
            ordered: None,
            rematch: None,
            looking: false,
            asked: None,
            declined_early: None,
            serial: 0,
            random: StdRng::seed_from_u64(seed),
            effects: Vec::new(),
        };
        lobby.block_again();
        // An earlier process may have saved times of a clock ahead.
        lobby.clock_set_back(now);
        lobby
    }

    /// Returns the opponent of the bot's challenge `id`, if it is pending.
    pub(super) fn opponent_of(&self, id: &ChallengeId) -> Option<String> {
        let standing = self.memory.matchmaker.standing().filter(|(standing, _)| *standing == id);
        standing.map(|(_, opponent)| opponent.to_owned())
    }

    /// Stops waiting for the answer to a challenge and for the list of bots: they may be lost. An order stays ordered. The effects
    /// of an input that panicked are dropped.
    pub(super) fn answers_lost(&mut self) {
        (self.looking, self.asked) = (false, None);
        self.effects.clear();
        self.orders.extend(self.ordered.take());
    }

    pub(super) fn is_friend(&self, name: &str) -> bool {
        self.lists.friends.contains(name)
    }

    pub(super) const fn mode(&self) -> AccountMode {
        self.mode
    }

    pub(super) fn memory(&self) -> &LobbyMemory {
        &self.memory
    }

    /// Returns the names of waiting challengers, the next one first.
    pub(super) fn queue(&self) -> Vec<String> {
        let opponents = self.waiting.iter().filter_map(|queued| queued.challenge.opponent.as_ref());
        opponents.map(|player| player.name.clone()).collect()
    }

    /// Returns true if no real-time game runs or is about to start, and no challenge of the bot is pending or on its way.
    /// Correspondence games last for weeks.
    pub(super) fn is_idle(&self) -> bool {
        self.real_time_games() == 0 && self.asked.is_none() && self.memory.matchmaker.standing().is_none()
    }

    /// Withdraws from tournaments and the pending challenge before an immediate stop.
    pub(super) fn leave(&mut self, now: &Zoned) -> Vec<LobbyEffect> {
        self.withdraw_from_tournaments(now);
        let standing = self.memory.matchmaker.standing();
        self.effects.extend(standing.map(|(id, _)| LobbyEffect::Do(Action::Cancel(id.clone()))));
        std::mem::take(&mut self.effects)
    }

    pub(super) fn handle(&mut self, now: &Zoned, input: LobbyInput) -> Vec<LobbyEffect> {
        let time = now.timestamp();
        if time < self.latest {
            self.clock_set_back(time);
        }
        self.latest = time;
        match input {
            LobbyInput::Connected(account) => self.us = Some(account),
            LobbyInput::Challenge(challenge) => self.challenge(now, challenge),
            LobbyInput::Cancelled(id) => self.cancelled(time, &id),
            LobbyInput::Declined(id, reason) => {
                let stood = self.opponent_of(&id).is_some();
                self.declined(time, &id, reason);
                self.declined_early = self.asked.is_some().then_some((id, (!stood).then_some(reason)));
            }
            LobbyInput::Accepted(id, outcome) => self.accepted(time, &id, outcome),
            LobbyInput::Challenged(request, outcome) => self.challenged(time, &request, outcome),
            LobbyInput::Bots(bots) => self.choose(now, &bots),
            LobbyInput::Tournaments(found, all) => {
                let news = self.with_tournaments(now, |known, situation| known.found(found, all, situation));
                self.tell_news(news);
            }
            LobbyInput::Tournament(asked, outcome) => {
                let known = &mut self.memory.participation;
                let news = match outcome {
                    Ok(info) => known.described(&asked, info),
                    Err(error) => known.not_described(&asked, &error, time),
                };
                self.tell_news(news);
            }
            LobbyInput::TournamentJoined(tournament, outcome) => {
                let news = self.memory.participation.answered(&tournament, outcome, time);
                self.tell_news(news);
            }
            LobbyInput::GameStarted(id) => self.game_started(time, id),
            LobbyInput::Known(info) => self.known(time, &info),
            LobbyInput::GameEnded(id, result) => self.game_ended(time, &id, result),
            LobbyInput::Lists(lists) => {
                self.lists = lists;
                self.block_again();
            }
            LobbyInput::Tick => (),
            LobbyInput::Drain => self.drain(),
            LobbyInput::Pause(pause) => self.pause(pause),
            LobbyInput::Order(request, games) => self.order(request, games),
            LobbyInput::CancelOrders => self.cancel_orders(),
            LobbyInput::Block(name) => self.block(&name),
            LobbyInput::OrderedToJoin(entry) => {
                self.memory.participation.ordered(entry, time);
                self.effects.push(LobbyEffect::Save);
            }
            LobbyInput::OrderedToLeave(tournament) => {
                self.memory.participation.set_aside(&tournament, time);
                self.effects.push(LobbyEffect::Save);
            }
            LobbyInput::Adopt(policy) => self.adopt(policy),
        }
        self.places.retain(|_, place| place.reserved.as_ref().is_none_or(|reserved| reserved.until > time));
        self.accept_again(time);
        self.tournament_steps(now);
        self.fulfil_orders(now);
        self.try_waiting(now);
        self.matchmaking(now);
        std::mem::take(&mut self.effects)
    }

    pub(super) fn next_wakeup(&mut self, now: &Zoned) -> Option<Timestamp> {
        let reservations = self.places.values().filter_map(|place| place.reserved.as_ref());
        let reserved = reservations.map(|reserved| reserved.again.unwrap_or(reserved.until).min(reserved.until)).min();
        let queued = self.waiting.iter().filter_map(|queued| queued.until).min();
        let matchmaking = match self.matchmaking_step(now) {
            MatchmakingStep::Wait(until) => until,
            // Its time has come since the last input.
            MatchmakingStep::Cancel(_) => Some(now.timestamp()).filter(|_| !self.looking),
            MatchmakingStep::FetchBots => None,
        };
        let tournaments = self.with_tournaments(now, |known, situation| known.next_wakeup(situation));
        // An order with an earlier time waits for a place.
        let ordered = self.orders.iter().filter_map(Order::rests_until).filter(|until| *until > self.latest).min();
        [reserved, queued, matchmaking, tournaments, ordered].into_iter().flatten().min()
    }

    /// Adapts to a system clock set back to `now`: no pause becomes longer, counted from now.
    fn clock_set_back(&mut self, now: Timestamp) {
        for reserved in self.places.values_mut().filter_map(|place| place.reserved.as_mut()) {
            reserved.until = reserved.until.min(later(now, RESERVED));
            let pause = pause_after(reserved.attempts);
            reserved.again = reserved.again.map(|again| again.min(later(now, pause)));
        }
        for start in self.memory.opponents.values_mut().flat_map(|history| history.games.values_mut()) {
            *start = (*start).min(now);
        }
        self.orders.iter_mut().for_each(|order| order.clock_set_back(now));
        self.last_start = self.last_start.map(|start| start.min(now));
        self.idle_since = self.idle_since.min(now);
        self.memory.rate_limits.clock_set_back(now);
        self.memory.matchmaker.clock_set_back(&self.policy.matchmaking, now);
        self.memory.participation.clock_set_back(now);
        self.judge_waiting_now();
    }

    fn drain(&mut self) {
        self.mode = AccountMode::Draining;
        self.orders.clear();
        self.ordered = None;
        self.judge_waiting_now();
    }

    fn adopt(&mut self, policy: Arc<AccountPolicy>) {
        self.lists = policy.lists.clone();
        self.policy = policy;
        self.block_again();
        self.judge_waiting_now();
    }

    // --- Games ---------------------------------------------------------------------------------------------------------

    fn game_started(&mut self, now: Timestamp, id: GameId) {
        let challenge = ChallengeId::new(id.as_str());
        let is_ours = self.opponent_of(&challenge).is_some();
        self.memory.matchmaker.accepted(&challenge, &self.policy.matchmaking, now);
        self.waiting.retain(|queued| queued.challenge.id != challenge);
        let place = self.places.entry(id.clone()).or_default();
        place.is_ours |= is_ours;
        let reserved = place.reserved.take();
        // Any other game may have begun before this process.
        if is_ours || reserved.is_some() {
            self.last_start = Some(now);
        }
        if let Some(reserved) = reserved {
            place.rematch_of = reserved.challenge.rematch_of;
        }
        self.effects.push(LobbyEffect::Play(id));
    }

    fn known(&mut self, now: Timestamp, info: &GameInfo) {
        let (id, opponent) = (&info.id, info.opponent().clone());
        let Some(place) = self.places.get_mut(id) else { return };
        place.tournament.clone_from(&info.tournament);
        place.correspondence = !info.terms.time_control.is_real_time();
        place.rematch = rematch_of(info);
        if let Some((_, last)) = self.rematch.take_if(|(player, _)| *player == opponent.id) {
            place.rematch_of = Some(last);
        }
        let is_limited = self.policy.keep_limits && opponent.is_bot() && opponent.ai_level.is_none();
        let opponent = place.opponent.insert(opponent);
        if !std::mem::replace(&mut place.counted, true) {
            let opponents = &mut self.memory.opponents;
            opponents.entry(opponent.id.clone()).or_default().began(id.clone(), place.rematch_of.as_ref(), now);
            opponents.retain(|_, history| history.forget(now));
            if is_limited && !self.memory.counted.contains_key(id) {
                self.count(now, id.clone());
            }
            self.effects.push(LobbyEffect::Save);
        }
    }

    /// Counts a game against a bot. Its name is kept while it runs or counts.
    fn count(&mut self, now: Timestamp, id: GameId) {
        let Self { memory, places, .. } = self;
        memory.rate_limits.spend(Spending::GameAgainstBot, now);
        memory.counted.insert(id, now);
        memory.counted.retain(|id, since| places.contains_key(id) || later(*since, COUNTED) > now);
    }

    fn game_ended(&mut self, now: Timestamp, id: &GameId, result: Option<GameResult>) {
        let Some(place) = self.places.remove(id) else {
            self.idle_since = now;
            return;
        };
        if !place.correspondence {
            self.idle_since = now;
        }
        if let (Some(request), Some(result)) = (place.rematch, result) {
            self.offer_rematch(now, id, request, result);
        }
    }

    fn offer_rematch(&mut self, now: Timestamp, id: &GameId, request: ChallengeRequest, result: GameResult) {
        let opponent = request.opponent.to_lowercase();
        let played = self.memory.opponents.get(&opponent).map_or(0, |history| history.rematches);
        let most = self.policy.challenge.filter(Kind::Bot).max_rematches;
        let wanted = self.policy.matchmaking.rematch_after.contains(&result)
            && self.mode == AccountMode::Playing
            && most.is_none_or(|most| played < most)
            && !self.lists.block.contains(&opponent)
            && !self.lists.avoid.contains(&opponent)
            // Ordered games, and those of a series, come before.
            && self.orders.is_empty()
            && !self.memory.matchmaker.is_in_series(&opponent)
            && self.memory.rate_limits.may(Spending::ChallengeToBot, now).is_ok();
        if wanted {
            self.rematch = Some((opponent, id.clone()));
            self.orders.push_back(Order::new(request, 1));
        }
    }

    fn real_time_games(&self) -> usize {
        self.places.values().filter(|place| !place.correspondence).count()
    }

    /// Returns the places taken by games, accepted challenges, the bot's own one, and a tournament's next game.
    fn taken(&self) -> Vec<TakenPlace> {
        let place = |known: &ReservedPlace| TakenPlace {
            opponent: known.opponent.as_ref().map(|player| player.id.clone()).unwrap_or_default(),
            kind: known.opponent.as_ref().map_or(Kind::Bot, Kind::of),
            real_time: !known.correspondence,
        };
        let mut taken: Vec<TakenPlace> = self.places.values().map(place).collect();
        let standing = self.memory.matchmaker.standing().map(|(_, id)| id.to_owned());
        let theirs = |opponent| TakenPlace { opponent, kind: Kind::Bot, real_time: true };
        taken.extend(standing.or_else(|| self.asked.clone()).map(theirs));
        if self.memory.participation.awaits_game(self.latest, &self.tournaments_played()) {
            taken.push(theirs(String::new()));
        }
        taken
    }
}

/// Returns the challenge to a rematch with the colours changed; only against bots, and not in tournaments.
fn rematch_of(info: &GameInfo) -> Option<ChallengeRequest> {
    let opponent = info.opponent();
    if !opponent.is_bot() || opponent.ai_level.is_some() || info.tournament.is_some() {
        return None;
    }
    let initial_fen = info.start.start_fen().filter(|_| info.terms.variant == Variant::FromPosition);
    let (opponent, our_color) = (opponent.name.clone(), Some(!info.our_color));
    Some(ChallengeRequest { opponent, terms: info.terms, our_color, initial_fen })
}

fn pause_after(attempts: u32) -> Duration {
    AGAIN * 2_u32.pow(attempts.saturating_sub(1).min(DOUBLINGS))
}
