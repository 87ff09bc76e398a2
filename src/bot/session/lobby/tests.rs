//! A lobby's life: who is let in, who waits, and that every place comes back.

mod orders;

use jiff::{ToSpan, tz::TimeZone};
use proptest::prelude::*;

use super::*;
use crate::policy::{MatchmakingSettings, challenge::Names, matchmaking::MatchType};
use domain::{Color, GameTerms, TimeControl, values::MinutesAndSeconds};

const START: Timestamp = Timestamp::constant(1_700_000_000, 0);

const BLITZ: TimeControl = TimeControl::real_time(Duration::from_secs(180), Duration::from_secs(2));

/// A lobby with a clock that the story turns.
struct Story {
    lobby: Lobby,
    now: Timestamp,
}

impl Story {
    fn with(change: impl FnOnce(&mut AccountPolicy)) -> Self {
        let mut policy =
            AccountPolicy { variants: vec![Variant::Standard], keep_limits: true, ..AccountPolicy::default() };
        change(&mut policy);
        let mut story = Self { lobby: Lobby::new(Arc::new(policy), LobbyMemory::default(), START, 7), now: START };
        story.happens(LobbyInput::Connected(bot("Concilio")));
        story
    }

    fn for_games(concurrency: usize) -> Self {
        Self::with(|policy| {
            policy.challenge.concurrency = concurrency;
            policy.challenge.max_games_per_opponent = concurrency;
        })
    }

    /// Returns the memory as a new process reads it.
    fn kept(&self) -> LobbyMemory {
        let memory = serde_json::to_string(self.lobby.memory()).expect("it can be kept");
        serde_json::from_str(&memory).expect("it can be read again")
    }

    fn cancelled(&mut self, id: &str) -> Vec<LobbyEffect> {
        self.happens(LobbyInput::Cancelled(ChallengeId::new(id)))
    }

    fn declined(&mut self, id: &str, reason: DeclineReason) -> Vec<LobbyEffect> {
        self.happens(LobbyInput::Declined(ChallengeId::new(id), reason))
    }

    /// Only Ann is online.
    fn finds_ann(&mut self) -> Vec<LobbyEffect> {
        self.happens(LobbyInput::Bots(vec![bot("Ann")]))
    }

    /// Restarts with the saved state only.
    fn restarts(&mut self) {
        let memory = self.kept();
        self.lobby = Lobby::new(Arc::clone(&self.lobby.policy), memory, self.now, 7);
        self.happens(LobbyInput::Connected(bot("Concilio")));
    }

    fn happens(&mut self, input: LobbyInput) -> Vec<LobbyEffect> {
        self.lobby.handle(&self.now.to_zoned(TimeZone::UTC), input)
    }

    fn after(&mut self, time: Duration) -> Vec<LobbyEffect> {
        self.now = later(self.now, time);
        self.happens(LobbyInput::Tick)
    }

    fn wakes_at(&mut self) -> Option<Timestamp> {
        self.lobby.next_wakeup(&self.now.to_zoned(TimeZone::UTC))
    }

    fn challenged(&mut self, id: &str, from: &str) -> Vec<LobbyEffect> {
        self.happens(LobbyInput::Challenge(challenge(id, from)))
    }

    fn accepted(&mut self, id: &str, answer: Result<(), ActionError>) -> Vec<LobbyEffect> {
        self.happens(LobbyInput::Accepted(ChallengeId::new(id), answer))
    }

    fn plays(&mut self, id: &str, from: &str) {
        assert!(accepts(&self.challenged(id, from), id), "{id}");
        self.accepted(id, Ok(()));
        self.begins(id, from);
    }

    fn begins(&mut self, id: &str, opponent: &str) {
        self.happens(LobbyInput::GameStarted(GameId::new(id)));
        self.happens(LobbyInput::Known(game_against(id, opponent, BLITZ)));
    }

    fn ends(&mut self, id: &str) -> Vec<LobbyEffect> {
        self.happens(LobbyInput::GameEnded(GameId::new(id), None))
    }
}

/// A game with White against a bot.
fn game_against(id: &str, opponent: &str, time_control: TimeControl) -> Box<GameInfo> {
    let terms = GameTerms { variant: Variant::Standard, time_control, rated: true };
    Box::new(GameInfo::from_start(id, terms, player("Concilio"), player(opponent)))
}

fn player(name: &str) -> Player {
    Player { title: Some("BOT".to_owned()), rating: Some(2000), ..Player::named(name) }
}

fn bot(name: &str) -> Account {
    let ratings = vec![("blitz".to_owned(), 2000)];
    Account { player: Player { rating: None, ..player(name) }, is_bot: true, ratings, games_played: 1 }
}

fn challenge(id: &str, from: &str) -> Challenge {
    let terms = GameTerms { variant: Variant::Standard, time_control: BLITZ, rated: true };
    Challenge::to_us(ChallengeId::new(id), player(from), terms)
}

fn does(effects: &[LobbyEffect], action: &Action) -> bool {
    effects.iter().any(|effect| matches!(effect, LobbyEffect::Do(done) if done == action))
}

fn accepts(effects: &[LobbyEffect], id: &str) -> bool {
    does(effects, &Action::Accept(ChallengeId::new(id)))
}

fn declines(effects: &[LobbyEffect], id: &str, reason: DeclineReason) -> bool {
    does(effects, &Action::Decline(ChallengeId::new(id), reason))
}

fn acts(effects: &[LobbyEffect]) -> bool {
    effects.iter().any(|effect| matches!(effect, LobbyEffect::Do(_)))
}

fn lost() -> ActionError {
    ActionError::Unavailable("no answer in time".to_owned())
}

fn limited(key: Option<&str>, wait: u64) -> ActionError {
    let key = key.map(ToOwned::to_owned);
    ActionError::Limited {
        retry_after: Some(Duration::from_secs(wait)),
        key,
        opponent: false,
        detail: "Too many requests".to_owned(),
    }
}

#[test]
fn challenges_fill_the_places() {
    let mut story = Story::for_games(2);
    story.plays("game0001", "Ann");
    assert!(accepts(&story.challenged("game0002", "Bob"), "game0002"), "a place is taken from the acceptance on");
    let effects = story.challenged("game0003", "Cid");
    assert!(matches!(effects[..], [LobbyEffect::Record(_, ChallengeOutcome::Queued, _)]), "{effects:?}");
    assert_eq!(story.lobby.places.len(), 2);
    assert!(accepts(&story.ends("game0001"), "game0003"), "the one who waits takes the free place");
}

#[test]
fn friends_precede_the_strongest() {
    let mut story = Story::with(|policy| policy.lists.friends = Names::parse("Friend"));
    story.plays("game0001", "Ann");
    for (id, from, rating) in [("weak", "Bob", 1500), ("strong", "Cid", 2500), ("friend", "Friend", 1000)] {
        let mut waiting = challenge(id, from);
        waiting.opponent = Some(Player { rating: Some(rating), ..player(from) });
        story.happens(LobbyInput::Challenge(waiting));
    }
    assert!(accepts(&story.ends("game0001"), "friend"));
    story.begins("friend", "Friend");
    assert!(accepts(&story.ends("friend"), "strong"));
}

#[test]
fn repeated_challenge_is_judged_once() {
    let mut story = Story::for_games(2);
    assert!(accepts(&story.challenged("game0001", "Ann"), "game0001"));
    assert_eq!(story.challenged("game0001", "Ann"), [], "while it is being accepted");
    story.begins("game0001", "Ann");
    assert_eq!(story.challenged("game0001", "Ann"), [], "while its game runs");
    story.plays("game0002", "Bob");
    story.challenged("game0003", "Cid");
    assert_eq!(story.challenged("game0003", "Cid"), [], "while it waits");
}

#[test]
fn withdrawal_frees_the_place() {
    let mut story = Story::for_games(1);
    story.challenged("game0001", "Ann");
    story.cancelled("game0001");
    assert_eq!(story.lobby.places.len(), 0);
    let gone = ActionError::Refused("The challenge has been canceled.".to_owned());
    assert!(!acts(&story.accepted("game0001", Err(gone))));
    story.plays("game0002", "Bob");
}

#[test]
fn withdrawn_challenge_leaves_the_queue() {
    let mut story = Story::for_games(1);
    story.plays("game0001", "Ann");
    story.challenged("game0002", "Bob");
    let effects = story.cancelled("game0002");
    assert!(matches!(effects[..], [LobbyEffect::Record(_, ChallengeOutcome::Cancelled, _)]), "{effects:?}");
    assert!(!acts(&story.ends("game0001")));
}

#[test]
fn accepted_game_is_searched() {
    let mut story = Story::for_games(1);
    story.challenged("game0001", "Ann");
    assert_eq!(story.accepted("game0001", Ok(())), [LobbyEffect::Watch(GameId::new("game0001"))]);
}

#[test]
fn reservations_expire() {
    let mut story = Story::for_games(1);
    story.challenged("game0001", "Ann");
    story.accepted("game0001", Ok(()));
    story.challenged("game0002", "Bob");
    assert!(story.wakes_at().is_some_and(|at| at <= later(START, RESERVED)));
    assert!(accepts(&story.after(RESERVED), "game0002"));
}

#[test]
fn lost_acceptance_is_repeated() {
    let mut story = Story::for_games(1);
    story.challenged("game0001", "Ann");
    assert!(!acts(&story.accepted("game0001", Err(lost()))));
    assert!(!acts(&story.challenged("game0002", "Bob")), "the first one may have begun");
    assert_eq!(story.wakes_at(), Some(later(START, AGAIN)));
    assert!(accepts(&story.after(AGAIN), "game0001"));
    let refused = ActionError::Refused("The challenge has already been accepted.".to_owned());
    story.begins("game0001", "Ann");
    assert!(!acts(&story.accepted("game0001", Err(refused))), "its game runs");
    assert_eq!(story.lobby.places.len(), 1);
}

#[test]
fn silent_server_is_given_up() {
    let mut story = Story::for_games(1);
    story.challenged("game0001", "Ann");
    for attempts in 1..ATTEMPTS {
        // A server in trouble may reject a valid token.
        let unknown = ActionError::Unauthorised("Unauthorized (401)".to_owned());
        story.accepted("game0001", Err(if attempts == 1 { unknown } else { lost() }));
        assert!(accepts(&story.after(pause_after(attempts)), "game0001"), "attempt {attempts}");
    }
    assert!(story.now >= later(START, Duration::from_secs(60)), "it is given a minute at least");
    let effects = story.accepted("game0001", Err(lost()));
    assert!(matches!(effects[0], LobbyEffect::Record(_, ChallengeOutcome::Declined, _)), "{effects:?}");
    assert!(declines(&effects, "game0001", DeclineReason::Later), "no challenger is left waiting: {effects:?}");
    assert_eq!(story.lobby.places.len(), 0);
}

/// A limit that has a name is not one of a day for that.
#[test]
fn only_short_limits_are_waited_for() {
    let mut story = Story::for_games(1);
    story.challenged("game0001", "Ann");
    assert!(!acts(&story.accepted("game0001", Err(limited(Some("challenge.accept"), 5)))));
    assert!(accepts(&story.after(Duration::from_secs(5)), "game0001"));
    let effects = story.accepted("game0001", Err(limited(Some("challenge.accept"), 600)));
    assert!(declines(&effects, "game0001", DeclineReason::Later), "{effects:?}");
    assert_eq!(story.lobby.places.len(), 0);
}

#[test]
fn accept_rate_limit_frees_the_place() {
    let mut story = Story::for_games(1);
    story.challenged("game0001", "Ann");
    assert!(!acts(&story.accepted("game0001", Err(limited(None, 60)))));
    assert_eq!(story.lobby.places.len(), 0);
    assert!(!accepts(&story.after(Duration::from_secs(59)), "game0001"));
    assert!(accepts(&story.after(Duration::from_secs(1)), "game0001"));
}

#[test]
fn daily_bot_limit_is_learned() {
    let mut story = Story::for_games(2);
    story.challenged("game0001", "Ann");
    let effects = story.accepted("game0001", Err(limited(Some("bot.vsBot.day"), 3600)));
    assert!(effects.contains(&LobbyEffect::Save), "{effects:?}");
    assert!(declines(&effects, "game0001", DeclineReason::Later), "no challenger waits for a day: {effects:?}");
    assert!(declines(&story.challenged("game0002", "Bob"), "game0002", DeclineReason::Later));
    let mut human = challenge("game0003", "Cid");
    human.opponent = Some(Player::named("Cid"));
    assert!(accepts(&story.happens(LobbyInput::Challenge(human)), "game0003"), "humans are not bots");

    let memory = story.kept();
    assert!(memory.rate_limits.may(Spending::GameAgainstBot, START).is_err(), "a restart forgets nothing");
    assert!(memory.rate_limits.may(Spending::GameAgainstBot, START + 3600.seconds()).is_ok());
}

#[test]
fn reopened_games_count_once() {
    let mut story = Story::for_games(2);
    story.plays("game0001", "Ann");
    story.plays("game0002", "Ann");
    let spent = story.lobby.memory().rate_limits.clone();
    for _ in 0..50 {
        for id in ["game0001", "game0002"] {
            story.happens(LobbyInput::Known(game_against(id, "Ann", BLITZ)));
        }
    }
    assert_eq!(story.lobby.memory().rate_limits, spent);
}

/// Promise 1: games are timed by another clock; and whom we play, and when, waits for no clock to catch up.
#[test]
fn clock_changes_stop_nothing() {
    let mut story = Story::for_games(1);
    assert!(accepts(&story.challenged("game0001", "Ann"), "game0001"));
    story.accepted("game0001", Err(lost()));
    story.now = later(START, Duration::from_mins(1)) - 10.hours();
    story.after(Duration::ZERO);
    assert!(accepts(&story.after(AGAIN), "game0001"), "it is asked again when it would have been");
    story.after(RESERVED);
    assert_eq!(story.lobby.places.len(), 0, "the place comes back when it would have");
    assert!(accepts(&story.challenged("game0002", "Bob"), "game0002"));
    story.begins("game0002", "Bob");
    story.now = later(story.now, Duration::from_hours(10_000));
    assert!(!accepts(&story.challenged("game0003", "Cid"), "game0003"), "the game goes on");
    assert_eq!(story.lobby.places.len(), 1);
    assert!(accepts(&story.ends("game0002"), "game0003"));
}

/// Games that began by a clock ahead are as recent as possible, and no longer than the settings say.
#[test]
fn fast_clock_lengthens_no_recency() {
    let mut story = Story::with(|policy| {
        policy.challenge.bot.max_recent_games = Some(1);
        policy.challenge.bot.recent = Duration::from_mins(10);
    });
    story.now = later(START, Duration::from_hours(10));
    story.plays("game0001", "Ann");
    story.ends("game0001");
    story.now = START;
    assert!(declines(&story.challenged("game0002", "Ann"), "game0002", DeclineReason::Later));
    story.after(Duration::from_mins(10));
    assert!(accepts(&story.challenged("game0003", "Ann"), "game0003"));
}

/// Promise 8: what the server counts is counted as the server does, whenever we were started.
#[test]
fn restart_counts_no_game_twice() {
    let mut story = Story::for_games(2);
    story.plays("game0001", "Ann");
    let memory = story.kept();
    let spent = story.lobby.memory().rate_limits.clone();
    for _ in 0..3 {
        let policy = AccountPolicy { keep_limits: true, ..AccountPolicy::default() };
        let lobby = Lobby::new(Arc::new(policy), memory.clone(), START, 7);
        story = Story { lobby, now: later(START, Duration::from_hours(30)) };
        story.begins("game0001", "Ann");
        assert_eq!(story.lobby.memory().rate_limits, spent);
    }
    story.begins("game0002", "Bob");
    assert_ne!(story.lobby.memory().rate_limits, spent, "another game counts");
    assert_eq!(story.lobby.memory().counted.len(), 2, "the older one runs still");
    story.ends("game0001");
    story.begins("game0003", "Cid");
    assert_eq!(story.lobby.memory().counted.len(), 2, "what is over and a day old is forgotten");
}

#[test]
fn rematches_in_a_row_are_counted() {
    let mut story = Story::with(|policy| policy.challenge.bot.max_rematches = Some(1));
    story.plays("game0001", "Ann");
    story.ends("game0001");
    let rematch = |id: &str, of: &str| Challenge { rematch_of: Some(GameId::new(of)), ..challenge(id, "Ann") };
    assert!(accepts(&story.happens(LobbyInput::Challenge(rematch("game0002", "game0001"))), "game0002"));
    story.begins("game0002", "Ann");
    story.ends("game0002");
    let effects = story.happens(LobbyInput::Challenge(rematch("game0003", "game0002")));
    assert!(declines(&effects, "game0003", DeclineReason::Later), "{effects:?}");
    story.plays("game0004", "Ann");
}

/// Limits per player hold over a restart, which counts no running game again; and no player is remembered for ever.
#[test]
fn restart_keeps_recent_games() {
    let mut story = Story::with(|policy| policy.challenge.bot.max_recent_games = Some(2));
    story.plays("game0001", "Ann");
    story.restarts();
    story.begins("game0001", "Ann");
    story.ends("game0001");
    story.plays("game0002", "Ann");
    story.ends("game0002");
    story.restarts();
    assert!(declines(&story.challenged("game0003", "Ann"), "game0003", DeclineReason::Later));
    story.after(Duration::from_hours(1));
    story.plays("game0004", "Ann");
    story.ends("game0004");
    story.after(Duration::from_hours(8 * 24));
    story.plays("game0005", "Ben");
    let remembered: Vec<&String> = story.lobby.memory().opponents.keys().collect();
    assert_eq!(remembered, ["ben"]);
}

#[test]
fn restart_may_exceed_the_places() {
    let mut story = Story::for_games(1);
    for id in ["game0001", "game0002", "game0003"] {
        assert_eq!(story.happens(LobbyInput::GameStarted(GameId::new(id))), [LobbyEffect::Play(GameId::new(id))]);
    }
    story.challenged("game0004", "Ann");
    story.ends("game0001");
    assert!(!acts(&story.ends("game0002")), "there are still as many as there may be");
    assert!(accepts(&story.ends("game0003"), "game0004"));
}

#[test]
fn begun_game_leaves_the_queue() {
    let mut story = Story::for_games(1);
    story.plays("game0001", "Ann");
    story.challenged("game0002", "Bob");
    story.begins("game0002", "Bob");
    assert!(!acts(&story.ends("game0001")), "it is not accepted a second time");
    assert_eq!(story.lobby.places.len(), 1);
}

#[test]
fn drain_declines_all_challenges() {
    let mut story = Story::for_games(1);
    story.plays("game0001", "Ann");
    story.challenged("game0002", "Bob");
    assert!(declines(&story.happens(LobbyInput::Drain), "game0002", DeclineReason::Later));
    assert!(declines(&story.challenged("game0003", "Cid"), "game0003", DeclineReason::Later));
    assert_eq!(story.lobby.places.len(), 1, "running games are finished");
    assert!(!acts(&story.ends("game0001")));
}

#[test]
fn drain_declines_timed_waiters() {
    let mut story = Story::for_games(1);
    story.challenged("game0001", "Ann");
    story.accepted("game0001", Err(limited(None, 60)));
    assert!(declines(&story.happens(LobbyInput::Drain), "game0001", DeclineReason::Later));
}

/// A lobby that challenges by itself, ten seconds after the last game.
fn matchmaking() -> Story {
    Story::with(|policy| {
        let kind = MatchType { time_control: MinutesAndSeconds(BLITZ), ..MatchType::default() };
        policy.matchmaking = MatchmakingSettings {
            enabled: true,
            idle: Duration::from_secs(10),
            min_gap: Duration::from_secs(20),
            types: [("blitz".to_owned(), kind)].into(),
            ..MatchmakingSettings::default()
        };
    })
}

fn challenges(effects: &[LobbyEffect]) -> Option<ChallengeRequest> {
    effects.iter().find_map(|effect| match effect {
        LobbyEffect::Do(Action::Challenge(request)) => Some(request.clone()),
        _ => None,
    })
}

/// A lobby that is about to challenge.
fn challenging() -> Story {
    let mut story = matchmaking();
    story.after(Duration::from_secs(10));
    story
}

/// A lobby with a pending challenge to Ann.
fn has_challenged() -> Story {
    let mut story = challenging();
    story.challenges("ours0001");
    story
}

impl Story {
    /// Challenges a player; the challenge is pending under `id`.
    fn challenges(&mut self, id: &str) -> String {
        let request = challenges(&self.finds_ann()).expect("a challenge");
        self.happens(LobbyInput::Challenged(request.clone(), Ok(ChallengeId::new(id))));
        request.opponent
    }
}

#[test]
fn refusals_lengthen_the_rest() {
    let mut story = matchmaking();
    assert_eq!(story.after(Duration::from_secs(9)), []);
    assert_eq!(story.after(Duration::from_secs(1)), [LobbyEffect::FetchBots]);
    assert_eq!(story.after(Duration::from_secs(1)), [], "one look at a time");
    assert_eq!(story.challenges("ours0001"), "ann");
    story.declined("ours0001", DeclineReason::Generic);
    assert_eq!(story.after(Duration::from_secs(20)), [LobbyEffect::FetchBots]);
    assert_eq!(story.finds_ann(), [], "not yet");
    let backoff = MatchmakingSettings::default().backoff;
    assert_eq!(story.after(backoff), [LobbyEffect::FetchBots]);
    assert_eq!(story.challenges("ours0002"), "ann", "an hour later");
    story.declined("ours0002", DeclineReason::Generic);
    assert_eq!(story.after(backoff), [LobbyEffect::FetchBots]);
    assert_eq!(story.finds_ann(), [], "the second time an hour is not enough");
}

#[test]
fn silent_players_rest_across_restarts() {
    let mut story = has_challenged();
    let effects = story.cancelled("ours0001");
    assert!(effects.contains(&LobbyEffect::Save), "{effects:?}");
    story.restarts();
    assert_eq!(story.after(Duration::from_mins(1)), [LobbyEffect::FetchBots]);
    assert_eq!(challenges(&story.finds_ann()), None, "she did not answer just now");
}

#[test]
fn own_challenge_reserves_a_place() {
    let mut story = has_challenged();
    assert!(!acts(&story.challenged("game0001", "Bob")), "it would be one game too many");
    let effects = story.declined("ours0001", DeclineReason::Later);
    assert!(accepts(&effects, "game0001"), "{effects:?}");
}

#[test]
fn taken_place_is_not_given_twice() {
    let mut story = challenging();
    assert!(accepts(&story.challenged("game0001", "Bob"), "game0001"));
    assert_eq!(challenges(&story.finds_ann()), None);
}

#[test]
fn answered_challenge_stays() {
    let mut story = challenging();
    let request = challenges(&story.finds_ann()).expect("a challenge");
    story.begins("ours0001", "Ann");
    story.happens(LobbyInput::Challenged(request, Ok(ChallengeId::new("ours0001"))));
    assert!(!acts(&story.after(Duration::from_secs(600))), "withdrawing it would abort the game");
    assert_eq!(story.lobby.places.len(), 1);
}

/// A game of a series counts also where it begins before our challenge is answered.
#[test]
fn series_survives_an_early_start() {
    let mut story = matchmaking();
    let mut policy = AccountPolicy::clone(&story.lobby.policy);
    policy.matchmaking.types.values_mut().for_each(|kind| kind.opponents.games_in_row = 2);
    story.happens(LobbyInput::Adopt(Arc::new(policy)));
    story.after(Duration::from_secs(10));
    let first = challenges(&story.finds_ann()).expect("a challenge");
    story.begins("ours0001", "Ann");
    story.happens(LobbyInput::Challenged(first.clone(), Ok(ChallengeId::new("ours0001"))));
    story.ends("ours0001");
    assert_eq!(story.after(Duration::from_secs(20)), [LobbyEffect::FetchBots]);
    let second = challenges(&story.finds_ann()).expect("the second one");
    assert_eq!(second.our_color, first.our_color.map(|color| !color));
}

#[test]
fn due_challenge_is_withdrawn() {
    let mut story = has_challenged();
    story.now = later(story.now, Duration::from_secs(60));
    assert_eq!(story.wakes_at(), Some(story.now), "nothing has been done about it yet");
    let effects = story.after(Duration::ZERO);
    assert!(does(&effects, &Action::Cancel(ChallengeId::new("ours0001"))), "{effects:?}");
    assert!(story.wakes_at() > Some(story.now));
}

#[test]
fn early_refusal_is_kept() {
    let mut story = challenging();
    let request = challenges(&story.finds_ann()).expect("a challenge");
    assert!(!story.lobby.is_idle(), "it is on its way");
    story.declined("ours0001", DeclineReason::Generic);
    story.happens(LobbyInput::Challenged(request, Ok(ChallengeId::new("ours0001"))));
    assert!(story.lobby.is_idle());
    story.after(Duration::from_secs(20));
    assert_eq!(challenges(&story.finds_ann()), None, "she was asked just now");
}

#[test]
fn immediate_stop_withdraws_challenge() {
    let mut story = has_challenged();
    let effects = story.lobby.leave(&story.now.to_zoned(jiff::tz::TimeZone::UTC));
    assert!(does(&effects, &Action::Cancel(ChallengeId::new("ours0001"))), "{effects:?}");
}

#[test]
fn closing_withdraws_own_challenge() {
    let mut story = has_challenged();
    let effects = story.happens(LobbyInput::Drain);
    assert!(does(&effects, &Action::Cancel(ChallengeId::new("ours0001"))), "{effects:?}");
}

fn any_error() -> impl Strategy<Value = Option<ActionError>> {
    prop::sample::select(vec![
        None,
        Some(lost()),
        Some(limited(None, 5)),
        Some(limited(Some("bot.vsBot.day"), 5)),
        Some(ActionError::Refused(String::new())),
        Some(ActionError::NotFound(String::new())),
    ])
}

proptest! {
    /// In any order of events no more games than places are begun, and in the end every place is free.
    #[test]
    fn no_place_leaks(
        concurrency in 1..4_usize,
        steps in prop::collection::vec((0..9_u8, 0..6_usize, any_error(), 0..40_u64), 0..80),
    ) {
        let ids = ["game0000", "game0001", "game0002", "game0003", "game0004", "game0005"];
        let mut story = Story::for_games(concurrency);
        let mut unwanted = 0;
        for (kind, which, error, seconds) in steps {
            let id = ids[which];
            let (game, offer) = (GameId::new(id), ChallengeId::new(id));
            let answer = error.map_or(Ok(()), Err);
            match kind {
                0 | 1 => story.challenged(id, "Ann"),
                2 | 3 => story.accepted(id, answer),
                4 => {
                    unwanted += usize::from(!story.lobby.places.contains_key(&game));
                    story.happens(LobbyInput::GameStarted(game))
                }
                5 => story.happens(LobbyInput::Known(game_against(id, "Ann", BLITZ))),
                6 => story.ends(id),
                7 => story.happens(LobbyInput::Cancelled(offer)),
                _ => story.after(Duration::from_secs(seconds)),
            };
            prop_assert!(story.lobby.places.len() <= concurrency + unwanted);
        }
        story.happens(LobbyInput::Drain);
        for id in ids {
            story.ends(id);
        }
        story.after(RESERVED * ATTEMPTS);
        prop_assert_eq!(story.lobby.places.len(), 0);
        prop_assert_eq!(story.lobby.waiting.len(), 0);
    }
}

#[test]
fn correspondence_games_take_no_place_of_blitz() {
    let mut story = Story::for_games(1);
    story.happens(LobbyInput::GameStarted(GameId::new("slow0001")));
    let days = TimeControl::Correspondence { days: 3 };
    story.happens(LobbyInput::Known(game_against("slow0001", "Bob", days)));
    assert!(accepts(&story.challenged("fast0001", "Ann"), "fast0001"));
    story.accepted("fast0001", Ok(()));
    story.begins("fast0001", "Ann");
    assert!(!accepts(&story.challenged("fast0002", "Eve"), "fast0002"), "one blitz game at a time");
    assert!(accepts(&story.ends("fast0001"), "fast0002"));
    story.cancelled("fast0002");
    assert!(story.lobby.is_idle(), "a drain waits for no correspondence game");
}

#[test]
fn rematches_follow_the_results_of_the_settings() {
    let ends = |story: &mut Story, id: &str, result| {
        challenges(&story.happens(LobbyInput::GameEnded(GameId::new(id), Some(result))))
    };
    let mut story = Story::with(|policy| {
        policy.matchmaking.rematch_after = vec![GameResult::Lost];
        policy.challenge.bot.max_rematches = Some(1);
    });
    story.plays("game0001", "Ann");
    assert_eq!(ends(&mut story, "game0001", GameResult::Won), None);
    story.plays("game0002", "Ann");
    let request = ends(&mut story, "game0002", GameResult::Lost).expect("a rematch");
    assert_eq!((request.opponent.as_str(), request.our_color), ("Ann", Some(Color::Black)));
    story.happens(LobbyInput::Challenged(request, Ok(ChallengeId::new("game0003"))));
    story.begins("game0003", "Ann");
    assert_eq!(ends(&mut story, "game0003", GameResult::Lost), None, "one rematch in a row");
}
