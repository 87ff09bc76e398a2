use std::sync::LazyLock;

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

static NOW: LazyLock<Zoned> = LazyLock::new(|| Timestamp::constant(1_700_000_000, 0).to_zoned(TimeZone::UTC)); // 22:13:20
static LISTS: LazyLock<NameLists> = LazyLock::new(NameLists::default);
static OPPONENTS: LazyLock<HashMap<String, OpponentHistory>> = LazyLock::new(HashMap::new);
static RATE_LIMITS: LazyLock<RateLimits> = LazyLock::new(RateLimits::default);

/// The facts about an idle bot.
fn idle<'a>() -> ChallengeContext<'a> {
    ChallengeContext {
        now: &NOW,
        variants: &[Variant::Standard, Variant::Chess960, Variant::FromPosition],
        lists: &LISTS,
        places: &[],
        last_start: None,
        opponents: &OPPONENTS,
        rate_limits: &RATE_LIMITS,
        waiting: 0,
        closed: None,
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
        assert_eq!(judge(&challenge, &ChallengeSettings::default(), &idle()), ChallengeVerdict::Accept);
    }
}

#[test]
fn own_challenges_are_ignored() {
    let own = Challenge { incoming: false, ..invitation() };
    assert_eq!(judge(&own, &ChallengeSettings::default(), &idle()), ChallengeVerdict::Ignore);
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
    let mut two_days = speeds(&["correspondence"]);
    two_days.human.max_days = 2;
    let ultrabullet = with(|challenge| {
        challenge.terms.time_control = control("1/4+0");
        challenge.obstacle = Some(NotForBots);
    });
    let impossible = with(|challenge| {
        challenge.terms.variant = Variant::FromPosition;
        challenge.initial_fen = Some("8/8/8/8/8/8/8/8 w - - 0 1".to_owned());
    });
    let fog_of_war = with(|challenge| challenge.obstacle = Some(UnknownVariant("fogOfWar".to_owned())));
    let atomic = with(|challenge| challenge.terms.variant = Variant::Atomic);
    let all_variants = settings(|filter| filter.variants = Variant::ALL.to_vec());
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
        ("days", days, two_days, TooSlow),
        ("initial", invitation(), settings(|filter| filter.min_initial = Duration::from_secs(181)), TooFast),
        ("increment", invitation(), settings(|filter| filter.max_increment = Some(Duration::from_secs(1))), TooSlow),
        ("length", invitation(), settings(|f| f.max_estimated_duration = Some(Duration::from_secs(200))), TooSlow),
        ("increment in bullet", bullet, settings(|filter| filter.bullet_with_increment_only = true), TooFast),
        ("rating", invitation(), settings(|filter| filter.min_rating = 1501), Generic),
        ("difference", invitation(), settings(|filter| filter.max_rating_difference = Some(99)), Generic),
        ("noAbort", with(|c| c.rules = vec!["noAbort".to_owned()]), ChallengeSettings::default(), Generic),
        ("not for bots", with(|c| c.obstacle = Some(NotForBots)), ChallengeSettings::default(), Generic),
        ("time odds", with(|c| c.obstacle = Some(TimeOdds)), ChallengeSettings::default(), DeclineReason::TimeControl),
        ("unknown variant", fog_of_war, ChallengeSettings::default(), DeclineReason::Variant),
        ("ultrabullet", ultrabullet, ChallengeSettings::default(), TooFast),
        ("unknown to the engine", atomic, all_variants, DeclineReason::Variant),
        ("impossible position", impossible, ChallengeSettings::default(), DeclineReason::Variant),
    ];
    for (name, challenge, settings, expected) in cases {
        assert_eq!(reason(judge(&challenge, &settings, &idle())), Some(expected), "{name}");
    }
}

#[test]
fn provisional_ratings_can_be_refused() {
    let certain = settings(|filter| filter.provisional = false);
    let mut challenge = invitation();
    assert_eq!(judge(&challenge, &certain, &idle()), ChallengeVerdict::Accept);
    if let Some(opponent) = &mut challenge.opponent {
        opponent.provisional = true;
    }
    assert_eq!(reason(judge(&challenge, &certain, &idle())), Some(DeclineReason::Generic));
}

#[test]
fn names_ignore_case_and_friends_skip_terms() {
    let judged = |[block, allow, friends]: [&str; 3], settings: &ChallengeSettings| {
        let [block, allow, friends] = [block, allow, friends].map(Names::parse);
        let lists = NameLists { block, allow, friends, ..NameLists::default() };
        judge(&invitation(), settings, &ChallengeContext { lists: &lists, ..idle() })
    };
    let usual = ChallengeSettings::default();
    let shut = settings(|filter| filter.accept = false);
    assert_eq!(reason(judged(["# pests\n ANN # aborts\n", "", ""], &usual)), Some(DeclineReason::Generic));
    assert_eq!(reason(judged(["", "bob", ""], &usual)), Some(DeclineReason::Generic));
    assert_eq!(judged(["", "bob\nann", ""], &usual), ChallengeVerdict::Accept);
    assert_eq!(judged(["", "bob", "Ann"], &shut), ChallengeVerdict::Accept);
    assert_eq!(reason(judged(["ann", "", "ann"], &shut)), Some(DeclineReason::Generic));
}

#[test]
fn places_are_reserved_for_humans() {
    let settings = ChallengeSettings { concurrency: 3, reserved_for_humans: 1, ..ChallengeSettings::default() };
    let waits = |places: &[TakenPlace], challenge: &Challenge| {
        let verdict = judge(challenge, &settings, &ChallengeContext { places, ..idle() });
        matches!(verdict, ChallengeVerdict::Wait { .. })
    };
    let full = [place("b1", Kind::Bot), place("b2", Kind::Bot), place("h", Kind::Human)];
    assert!(waits(&full[..2], &from_bot()), "the third place is a human's");
    assert!(!waits(&full[..2], &invitation()));
    assert!(!waits(&full[1..], &from_bot()), "a human has it");
    assert!(waits(&full, &invitation()));
}

#[test]
fn one_game_per_opponent_and_bounded_queue() {
    let settings = ChallengeSettings { concurrency: 3, max_waiting: 2, ..ChallengeSettings::default() };
    let places = [place("ann", Kind::Human)];
    let busy = |waiting| ChallengeContext { places: &places, waiting, ..idle() };
    assert!(matches!(judge(&invitation(), &settings, &busy(1)), ChallengeVerdict::Wait { until: None, .. }));
    assert_eq!(reason(judge(&invitation(), &settings, &busy(2))), Some(DeclineReason::Later));
    assert_eq!(judge(&from_bot(), &settings, &busy(2)), ChallengeVerdict::Accept);
}

#[test]
fn a_gap_between_games_is_kept() {
    let settings = ChallengeSettings { min_gap: Duration::from_secs(30), ..ChallengeSettings::default() };
    let now = NOW.timestamp();
    let judged = |last_start| judge(&invitation(), &settings, &ChallengeContext { last_start, ..idle() });
    let verdict = judged(Some(now - 10.seconds()));
    assert!(
        matches!(verdict, ChallengeVerdict::Wait { until: Some(until), .. } if until == now + 20.seconds()),
        "{verdict:?}"
    );
    assert_eq!(judged(Some(now - 30.seconds())), ChallengeVerdict::Accept);
}

#[test]
fn recent_games_and_rematches_have_limits() {
    let settings = settings(|filter| {
        filter.max_recent_games = Some(2);
        filter.max_rematches = Some(1);
    });
    let judged = |challenge: &Challenge, ann: &OpponentHistory| {
        let opponents = HashMap::from([("ann".to_owned(), ann.clone())]);
        judge(challenge, &settings, &ChallengeContext { opponents: &opponents, ..idle() })
    };
    let now = NOW.timestamp();
    let mut ann = OpponentHistory {
        games: [(GameId::new("older"), now - 2.hours()), (GameId::new("lastgame"), now - 10.minutes())].into(),
        rematches: 1,
        last_game: Some(GameId::new("lastgame")),
    };
    assert_eq!(judged(&invitation(), &ann), ChallengeVerdict::Accept);
    let rematch = Challenge { rematch_of: ann.last_game.clone(), ..invitation() };
    assert_eq!(reason(judged(&rematch, &ann)), Some(DeclineReason::Later));
    ann.games.insert(GameId::new("another"), now - 1.minute());
    assert_eq!(reason(judged(&invitation(), &ann)), Some(DeclineReason::Later));
}

#[test]
fn consecutive_rematches_are_counted() {
    let now = NOW.timestamp();
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
    let usual = ChallengeSettings::default();
    let night = ChallengeSettings { hours: vec!["23:00-06:00".parse().expect("hours")], ..usual.clone() };
    assert_eq!(reason(judge(&invitation(), &night, &idle())), Some(DeclineReason::Later));
    let draining = ChallengeContext { closed: Some("the bot is about to stop"), ..idle() };
    assert_eq!(reason(judge(&invitation(), &usual, &draining)), Some(DeclineReason::Later));

    let mut rate_limits = RateLimits::default();
    let error = ActionError::Limited {
        retry_after: Some(Duration::from_hours(2)),
        key: Some("bot.vsBot.day".to_owned()),
        opponent: false,
        detail: String::new(),
    };
    rate_limits.answered(Spending::GameAgainstBot, &error, NOW.timestamp());
    let limited = ChallengeContext { rate_limits: &rate_limits, ..idle() };
    assert_eq!(reason(judge(&from_bot(), &usual, &limited)), Some(DeclineReason::Later));
    assert_eq!(judge(&invitation(), &usual, &limited), ChallengeVerdict::Accept);
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
    let judged = |places: &[TakenPlace], challenge: &Challenge| {
        judge(challenge, &settings, &ChallengeContext { places, ..idle() })
    };
    let full = [correspondence("bob"), correspondence("eve")];
    assert_eq!(judged(&full, &invitation()), ChallengeVerdict::Accept, "days take no place of minutes");
    assert!(matches!(judged(&full, &slow), ChallengeVerdict::Wait { .. }), "their own limit");
    let blitz = [place("bob", Kind::Human), correspondence("eve")];
    assert_eq!(judged(&blitz, &slow), ChallengeVerdict::Accept);
    assert!(matches!(judged(&blitz, &invitation()), ChallengeVerdict::Wait { .. }));
    assert_eq!(judged(&[correspondence("ann")], &invitation()), ChallengeVerdict::Accept, "one of each with Ann");
}
