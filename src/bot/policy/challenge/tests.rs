use jiff::{ToSpan, tz::TimeZone};

use super::*;
use domain::{
    ActionError, ChallengeId, GameTerms,
    values::{MinutesAndSeconds, Mode, TimeControlRule},
};

/// A standing invitation to play 3+2, rated, by a human rated 1500.
fn invitation() -> Challenge {
    let opponent = Player { rating: Some(1500), ..Player::named("Ann") };
    let terms = GameTerms { variant: Variant::Standard, time_control: control("3+2"), rated: true };
    Challenge { our_rating: Some(1600), ..Challenge::to_us(ChallengeId::new("chall001"), opponent, terms) }
}

fn from_bot() -> Challenge {
    let bot = Player { rating: Some(2000), title: Some("BOT".to_owned()), ..Player::named("Robot") };
    Challenge { opponent: Some(bot), ..invitation() }
}

fn control(text: &str) -> domain::TimeControl {
    text.parse::<MinutesAndSeconds>().expect("a time control").0
}

/// The state of an idle bot.
struct Idle {
    now: Zoned,
    lists: NameLists,
    places: Vec<TakenPlace>,
    last_start: Option<Timestamp>,
    opponents: HashMap<String, OpponentHistory>,
    rate_limits: RateLimits,
    waiting: usize,
    closed: Option<&'static str>,
}

impl Default for Idle {
    fn default() -> Self {
        Self {
            now: Timestamp::constant(1_700_000_000, 0).to_zoned(TimeZone::UTC), // 22:13:20
            lists: NameLists::default(),
            places: Vec::new(),
            last_start: None,
            opponents: HashMap::new(),
            rate_limits: RateLimits::default(),
            waiting: 0,
            closed: None,
        }
    }
}

impl Idle {
    fn judge(&self, challenge: &Challenge, settings: &ChallengeSettings) -> ChallengeVerdict {
        let context = ChallengeContext {
            now: &self.now,
            variants: &[Variant::Standard, Variant::Chess960, Variant::FromPosition],
            lists: &self.lists,
            places: &self.places,
            last_start: self.last_start,
            opponents: &self.opponents,
            rate_limits: &self.rate_limits,
            waiting: self.waiting,
            closed: self.closed,
        };
        judge(challenge, settings, &context)
    }
}

fn place(opponent: &str, kind: Kind) -> TakenPlace {
    TakenPlace { opponent: opponent.to_owned(), kind, real_time: true }
}

fn settings(change: impl Fn(&mut ChallengeFilter)) -> ChallengeSettings {
    let mut settings = ChallengeSettings::default();
    change(&mut settings.human);
    change(&mut settings.bot);
    settings
}

fn reason(verdict: ChallengeVerdict) -> Option<DeclineReason> {
    match verdict {
        ChallengeVerdict::Decline { reason, .. } => Some(reason),
        _ => None,
    }
}

#[test]
fn defaults_accept_usual_games() {
    for challenge in [invitation(), from_bot()] {
        assert_eq!(Idle::default().judge(&challenge, &ChallengeSettings::default()), ChallengeVerdict::Accept);
    }
}

#[test]
fn own_challenges_are_ignored() {
    let own = Challenge { incoming: false, ..invitation() };
    assert_eq!(Idle::default().judge(&own, &ChallengeSettings::default()), ChallengeVerdict::Ignore);
}

#[test]
fn refusals_have_matching_reasons() {
    use ChallengeObstacle::{NotForBots, TimeOdds, UnknownVariant};
    use DeclineReason::{Casual, Generic, NoBot, OnlyBot, Rated, Standard, TimeControl, TooFast, TooSlow};
    let with = |change: fn(&mut Challenge)| {
        let mut challenge = invitation();
        change(&mut challenge);
        challenge
    };
    let speeds = |speeds: &'static [&str]| {
        settings(move |filter| {
            filter.time_controls = speeds.iter().map(|text| text.parse::<TimeControlRule>().expect("a rule")).collect();
        })
    };
    let variant = with(|challenge| challenge.terms.variant = Variant::Chess960);
    let casual = with(|challenge| challenge.terms.rated = false);
    let bullet = with(|challenge| challenge.terms.time_control = control("1+0"));
    let classical = with(|challenge| challenge.terms.time_control = control("30+0"));
    let days = with(|challenge| challenge.terms.time_control = control("3d"));
    let cases = [
        ("humans", invitation(), settings(|filter| filter.accept = false), OnlyBot),
        ("bots", from_bot(), settings(|filter| filter.accept = false), NoBot),
        ("only standard", variant.clone(), settings(|filter| filter.variants = vec![Variant::Standard]), Standard),
        ("variant", invitation(), settings(|filter| filter.variants = vec![Variant::Chess960]), DeclineReason::Variant),
        ("rated", invitation(), settings(|filter| filter.modes = vec![Mode::Casual]), Casual),
        ("casual", casual, settings(|filter| filter.modes = vec![Mode::Rated]), Rated),
        ("too fast", bullet.clone(), speeds(&["blitz", "rapid"]), TooFast),
        ("too slow", classical, speeds(&["3+2", "rapid"]), TooSlow),
        ("in between", invitation(), speeds(&["bullet", "rapid"]), TimeControl),
        ("not exactly", invitation(), speeds(&["3+0"]), TimeControl),
        ("correspondence", days.clone(), ChallengeSettings::default(), TooSlow),
        (
            "days",
            days,
            {
                let mut settings = speeds(&["correspondence"]);
                settings.human.max_days = 2;
                settings
            },
            TooSlow,
        ),
        ("initial", invitation(), settings(|filter| filter.min_initial = Duration::from_secs(181)), TooFast),
        ("increment", invitation(), settings(|filter| filter.max_increment = Some(Duration::from_secs(1))), TooSlow),
        ("length", invitation(), settings(|f| f.max_estimated_duration = Some(Duration::from_secs(200))), TooSlow),
        ("increment in bullet", bullet, settings(|filter| filter.bullet_with_increment_only = true), TooFast),
        ("rating", invitation(), settings(|filter| filter.min_rating = 1501), Generic),
        ("difference", invitation(), settings(|filter| filter.max_rating_difference = Some(99)), Generic),
        ("noAbort", with(|c| c.rules = vec!["noAbort".to_owned()]), ChallengeSettings::default(), Generic),
        ("not for bots", with(|c| c.obstacle = Some(NotForBots)), ChallengeSettings::default(), Generic),
        ("time odds", with(|c| c.obstacle = Some(TimeOdds)), ChallengeSettings::default(), DeclineReason::TimeControl),
        (
            "unknown variant",
            with(|challenge| challenge.obstacle = Some(UnknownVariant("fogOfWar".to_owned()))),
            ChallengeSettings::default(),
            DeclineReason::Variant,
        ),
        (
            "ultrabullet",
            with(|challenge| {
                challenge.terms.time_control = control("1/4+0");
                challenge.obstacle = Some(NotForBots);
            }),
            ChallengeSettings::default(),
            TooFast,
        ),
        (
            "unknown to the engine",
            with(|challenge| challenge.terms.variant = Variant::Atomic),
            settings(|filter| filter.variants = Variant::ALL.to_vec()),
            DeclineReason::Variant,
        ),
        (
            "impossible position",
            with(|challenge| {
                challenge.terms.variant = Variant::FromPosition;
                challenge.initial_fen = Some("8/8/8/8/8/8/8/8 w - - 0 1".to_owned());
            }),
            ChallengeSettings::default(),
            DeclineReason::Variant,
        ),
    ];
    for (name, challenge, settings, expected) in cases {
        assert_eq!(reason(Idle::default().judge(&challenge, &settings)), Some(expected), "{name}");
    }
}

#[test]
fn provisional_ratings_can_be_refused() {
    let certain = settings(|filter| filter.provisional = false);
    let mut challenge = invitation();
    assert_eq!(Idle::default().judge(&challenge, &certain), ChallengeVerdict::Accept);
    if let Some(opponent) = &mut challenge.opponent {
        opponent.provisional = true;
    }
    assert_eq!(reason(Idle::default().judge(&challenge, &certain)), Some(DeclineReason::Generic));
}

#[test]
fn names_ignore_case_and_friends_skip_terms() {
    let lists = |block: &str, allow: &str, friends: &str| Idle {
        lists: NameLists {
            block: Names::parse(block),
            allow: Names::parse(allow),
            friends: Names::parse(friends),
            ..NameLists::default()
        },
        ..Idle::default()
    };
    let usual = ChallengeSettings::default();
    let shut = settings(|filter| filter.accept = false);
    assert_eq!(
        reason(lists("# pests\n ANN # aborts\n", "", "").judge(&invitation(), &usual)),
        Some(DeclineReason::Generic)
    );
    assert_eq!(reason(lists("", "bob", "").judge(&invitation(), &usual)), Some(DeclineReason::Generic));
    assert_eq!(lists("", "bob\nann", "").judge(&invitation(), &usual), ChallengeVerdict::Accept);
    assert_eq!(lists("", "bob", "Ann").judge(&invitation(), &shut), ChallengeVerdict::Accept);
    assert_eq!(reason(lists("ann", "", "ann").judge(&invitation(), &shut)), Some(DeclineReason::Generic));
}

#[test]
fn places_are_reserved_for_humans() {
    let settings = ChallengeSettings { concurrency: 3, reserved_for_humans: 1, ..ChallengeSettings::default() };
    let waits = |places: Vec<TakenPlace>, challenge: &Challenge| {
        matches!(Idle { places, ..Idle::default() }.judge(challenge, &settings), ChallengeVerdict::Wait { .. })
    };
    let bots = || vec![place("b1", Kind::Bot), place("b2", Kind::Bot)];
    assert!(waits(bots(), &from_bot()), "the third place is a human's");
    assert!(!waits(bots(), &invitation()));
    assert!(!waits(vec![place("h", Kind::Human), place("b1", Kind::Bot)], &from_bot()), "a human has it");
    let full = bots().into_iter().chain([place("h", Kind::Human)]).collect();
    assert!(waits(full, &invitation()));
}

#[test]
fn one_game_per_opponent_and_bounded_queue() {
    let settings = ChallengeSettings { concurrency: 3, max_waiting: 2, ..ChallengeSettings::default() };
    let busy = |waiting| Idle { places: vec![place("ann", Kind::Human)], waiting, ..Idle::default() };
    assert!(matches!(busy(1).judge(&invitation(), &settings), ChallengeVerdict::Wait { until: None, .. }));
    assert_eq!(reason(busy(2).judge(&invitation(), &settings)), Some(DeclineReason::Later));
    assert_eq!(busy(2).judge(&from_bot(), &settings), ChallengeVerdict::Accept);
}

#[test]
fn a_gap_between_games_is_kept() {
    let settings = ChallengeSettings { min_gap: Duration::from_secs(30), ..ChallengeSettings::default() };
    let mut idle = Idle::default();
    let now = idle.now.timestamp();
    idle.last_start = Some(now - 10.seconds());
    let verdict = idle.judge(&invitation(), &settings);
    assert!(
        matches!(verdict, ChallengeVerdict::Wait { until: Some(until), .. } if until == now + 20.seconds()),
        "{verdict:?}"
    );
    idle.last_start = Some(now - 30.seconds());
    assert_eq!(idle.judge(&invitation(), &settings), ChallengeVerdict::Accept);
}

#[test]
fn recent_games_and_rematches_have_limits() {
    let settings = settings(|filter| {
        filter.max_recent_games = Some(2);
        filter.max_rematches = Some(1);
    });
    let mut idle = Idle::default();
    let now = idle.now.timestamp();
    let mut ann = OpponentHistory {
        games: [(GameId::new("older"), now - 2.hours()), (GameId::new("lastgame"), now - 10.minutes())].into(),
        rematches: 1,
        last_game: Some(GameId::new("lastgame")),
    };
    idle.opponents.insert("ann".to_owned(), ann.clone());
    assert_eq!(idle.judge(&invitation(), &settings), ChallengeVerdict::Accept);
    let rematch = Challenge { rematch_of: ann.last_game.clone(), ..invitation() };
    assert_eq!(reason(idle.judge(&rematch, &settings)), Some(DeclineReason::Later));
    ann.games.insert(GameId::new("another"), now - 1.minute());
    idle.opponents.insert("ann".to_owned(), ann);
    assert_eq!(reason(idle.judge(&invitation(), &settings)), Some(DeclineReason::Later));
}

#[test]
fn consecutive_rematches_are_counted() {
    let now = Idle::default().now.timestamp();
    let mut ann = OpponentHistory::default();
    let game = |name: &str| GameId::new(name);
    ann.began(game("a"), None, now - 200.hours());
    ann.began(game("b"), Some(&game("a")), now - 1.hour());
    assert_eq!((ann.rematches, ann.games.len()), (1, 1), "the first is too old to be counted");
    ann.began(game("c"), Some(&game("b")), now);
    assert_eq!((ann.rematches, ann.games.len()), (2, 2));
    ann.began(game("d"), Some(&game("a")), now);
    assert_eq!(ann.rematches, 0);
}

#[test]
fn hours_limits_and_drain_decline_for_later() {
    let night =
        ChallengeSettings { hours: vec!["23:00-06:00".parse().expect("hours")], ..ChallengeSettings::default() };
    assert_eq!(reason(Idle::default().judge(&invitation(), &night)), Some(DeclineReason::Later));
    let draining = Idle { closed: Some("the bot is about to stop"), ..Idle::default() };
    assert_eq!(reason(draining.judge(&invitation(), &ChallengeSettings::default())), Some(DeclineReason::Later));

    let mut limited = Idle::default();
    let error = ActionError::Limited {
        retry_after: Some(Duration::from_hours(2)),
        key: Some("bot.vsBot.day".to_owned()),
        opponent: false,
        detail: String::new(),
    };
    limited.rate_limits.answered(Spending::GameAgainstBot, &error, limited.now.timestamp());
    assert_eq!(reason(limited.judge(&from_bot(), &ChallengeSettings::default())), Some(DeclineReason::Later));
    assert_eq!(limited.judge(&invitation(), &ChallengeSettings::default()), ChallengeVerdict::Accept);
}

#[test]
fn friends_and_best_challenges_come_first() {
    let from = |name: &str, title: Option<&str>, rating| Challenge {
        opponent: Some(Player { title: title.map(str::to_owned), rating: Some(rating), ..Player::named(name) }),
        ..invitation()
    };
    let all = [
        from("bot", Some("BOT"), 2900),
        from("weak", None, 1200),
        from("strong", None, 2200),
        from("master", Some("GM"), 2100),
        from("friend", None, 900),
    ];
    let ordered = |sort_by, preference| {
        let mut waiting = all.clone();
        let lists = NameLists { friends: Names::parse("friend"), ..NameLists::default() };
        let settings = ChallengeSettings { sort_by, preference, ..ChallengeSettings::default() };
        waiting.sort_by_cached_key(|challenge| precedence(challenge, &settings, &lists));
        waiting.into_iter().filter_map(|challenge| Some(challenge.opponent?.id)).collect::<Vec<_>>()
    };
    assert_eq!(ordered(SortBy::Best, Preference::None), ["friend", "master", "strong", "weak", "bot"]);
    assert_eq!(ordered(SortBy::Best, Preference::Bot), ["friend", "bot", "master", "strong", "weak"]);
    assert_eq!(ordered(SortBy::First, Preference::Human), ["friend", "weak", "strong", "master", "bot"]);
}

#[test]
fn correspondence_games_have_places_of_their_own() {
    let mut settings = settings(|filter| filter.time_controls.push("correspondence".parse().expect("a rule")));
    settings.correspondence_games = 2;
    let mut slow = invitation();
    slow.terms.time_control = control("3d");
    let correspondence = |opponent: &str| TakenPlace { real_time: false, ..place(opponent, Kind::Human) };
    let judged =
        |places: Vec<TakenPlace>, challenge: &Challenge| Idle { places, ..Idle::default() }.judge(challenge, &settings);
    let full = vec![correspondence("bob"), correspondence("eve")];
    assert_eq!(judged(full.clone(), &invitation()), ChallengeVerdict::Accept, "days take no place of minutes");
    assert!(matches!(judged(full, &slow), ChallengeVerdict::Wait { .. }), "their own limit");
    let blitz = vec![place("bob", Kind::Human), correspondence("eve")];
    assert_eq!(judged(blitz.clone(), &slow), ChallengeVerdict::Accept);
    assert!(matches!(judged(blitz, &invitation()), ChallengeVerdict::Wait { .. }));
    assert_eq!(judged(vec![correspondence("ann")], &invitation()), ChallengeVerdict::Accept, "one of each with Ann");
}
