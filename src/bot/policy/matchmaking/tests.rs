use jiff::{ToSpan, tz::TimeZone};
use rand::{SeedableRng, rngs::StdRng};

use super::*;
use crate::policy::challenge::Names;
use domain::{Color, values::Kind};

const NOW: Timestamp = Timestamp::constant(1_700_000_000, 0);

fn settings() -> MatchmakingSettings {
    let kind = |text: &str, weight| MatchType {
        time_control: text.parse().expect("a time control"),
        weight,
        ..MatchType::default()
    };
    MatchmakingSettings {
        enabled: true,
        types: BTreeMap::from([("blitz".to_owned(), kind("3+2", 3)), ("bullet".to_owned(), kind("1+1", 1))]),
        ..MatchmakingSettings::default()
    }
}

fn bot(name: &str, rating: u32) -> Account {
    let keys = Variant::ALL.map(Variant::key).into_iter().chain(Speed::ALL.map(Speed::key));
    Account {
        player: Player { title: Some("BOT".to_owned()), ..Player::named(name) },
        is_bot: true,
        ratings: keys.map(|key| (key.to_owned(), rating)).collect(),
        games_played: 1,
    }
}

fn choose(
    matchmaker: &mut Matchmaker,
    settings: &MatchmakingSettings,
    bots: &[Account],
    seed: u64,
) -> Option<(String, Speed)> {
    let request = request_at(matchmaker, settings, bots, seed, NOW)?;
    Some((request.opponent, request.terms.time_control.speed()))
}

fn request_at(
    matchmaker: &mut Matchmaker,
    settings: &MatchmakingSettings,
    bots: &[Account],
    seed: u64,
    now: Timestamp,
) -> Option<ChallengeRequest> {
    while_idle(now, |situation| matchmaker.choose(settings, situation, bots, &mut StdRng::seed_from_u64(seed)))
}

/// Returns the next step, and performs a withdrawal.
fn step_at(
    matchmaker: &mut Matchmaker,
    settings: &MatchmakingSettings,
    now: Timestamp,
    change: impl Fn(&mut Situation<'_>),
) -> MatchmakingStep {
    let step = while_idle(now, |situation| {
        change(situation);
        matchmaker.step(settings, situation)
    });
    if matches!(step, MatchmakingStep::Cancel(_)) {
        matchmaker.cancelling(now);
    }
    step
}

fn while_idle<T>(now: Timestamp, ask: impl FnOnce(&mut Situation<'_>) -> T) -> T {
    let mut us = bot("Concilio", 0);
    us.ratings = vec![("blitz".to_owned(), 2000), ("bullet".to_owned(), 1500)];
    ask(&mut Situation {
        now: &now.to_zoned(TimeZone::UTC),
        idle_since: NOW - 1.hour(),
        games: 0,
        place_free: true,
        others_wait: false,
        draining: false,
        rate_limits: &RateLimits::default(),
        us: Some(&us),
        places: &[TakenPlace { opponent: "busy".to_owned(), kind: Kind::Bot, real_time: true }],
        names: &NameLists { avoid: Names::parse("pest"), block: Names::parse("cheat"), ..NameLists::default() },
        variants: &[Variant::Standard],
    })
}

#[test]
fn only_an_idle_bot_challenges() {
    let mut matchmaker = Matchmaker::default();
    let settings = settings();
    assert_eq!(step_at(&mut matchmaker, &settings, NOW, |_| ()), MatchmakingStep::FetchBots);
    let just_ended = step_at(&mut matchmaker, &settings, NOW, |situation| situation.idle_since = NOW);
    assert_eq!(just_ended, MatchmakingStep::Wait(Some(NOW + 8.minutes())));
    for busy in [
        step_at(&mut matchmaker, &settings, NOW, |situation| situation.games = 1),
        step_at(&mut matchmaker, &settings, NOW, |situation| situation.place_free = false),
        step_at(&mut matchmaker, &settings, NOW, |situation| situation.others_wait = true),
        step_at(&mut matchmaker, &settings, NOW, |situation| situation.draining = true),
        step_at(&mut matchmaker, &MatchmakingSettings { enabled: false, ..settings.clone() }, NOW, |_| ()),
    ] {
        assert_eq!(busy, MatchmakingStep::Wait(None));
    }
    let during = MatchmakingSettings { during_games: true, ..settings.clone() };
    assert_eq!(step_at(&mut matchmaker, &during, NOW, |situation| situation.games = 1), MatchmakingStep::FetchBots);
    let asleep = MatchmakingSettings { hours: vec!["08:00-09:00".parse().expect("hours")], ..settings };
    assert_eq!(step_at(&mut matchmaker, &asleep, NOW, |_| ()), MatchmakingStep::Wait(Some(NOW + 1.minute())));
}

#[test]
fn unanswered_challenge_is_withdrawn() {
    let (mut matchmaker, settings) = (Matchmaker::default(), settings());
    let id = ChallengeId::new("ours0001");
    let terms = MatchType::default().terms();
    matchmaker.made(id.clone(), "Robot", terms, NOW);
    assert_eq!(step_at(&mut matchmaker, &settings, NOW, |_| ()), MatchmakingStep::Wait(Some(NOW + 25.seconds())));
    let late = NOW + 25.seconds();
    assert_eq!(step_at(&mut matchmaker, &settings, late, |_| ()), MatchmakingStep::Cancel(id.clone()));
    assert_eq!(step_at(&mut matchmaker, &settings, late, |_| ()), MatchmakingStep::Wait(Some(late + 10.seconds())));
    assert_eq!(step_at(&mut matchmaker, &settings, late + 10.seconds(), |_| ()), MatchmakingStep::Cancel(id.clone()));
    matchmaker.unanswered(&id, &settings, late);
    let gap = step_at(&mut matchmaker, &settings, late, |_| ());
    assert_eq!(gap, MatchmakingStep::Wait(Some(NOW + 1.minute())));
    assert_eq!(request_at(&mut matchmaker, &settings, &[bot("Robot", 2000)], 0, late), None, "left alone");
}

#[test]
fn ratings_of_one_speed_are_compared() {
    let settings = settings();
    for seed in 0..20 {
        let mut matchmaker = Matchmaker::default();
        let chosen =
            choose(&mut matchmaker, &settings, &[bot("fast", 1500), bot("pest", 1500), bot("concilio", 1500)], seed);
        assert_eq!(chosen, Some(("fast".to_owned(), Speed::Bullet)));
        assert_eq!(choose(&mut matchmaker, &settings, &[bot("weak", 1000), bot("strong", 2500)], seed), None);
    }
}

#[test]
fn the_reason_limits_what_is_refused() {
    let (mut matchmaker, settings) = (Matchmaker::default(), settings());
    let id = ChallengeId::new("ours0001");
    matchmaker.made(id.clone(), "robot", MatchType::default().terms(), NOW);
    matchmaker.declined(&id, DeclineReason::TooSlow, &settings, NOW);
    let between = [bot("robot", 1750)];
    for seed in 0..10 {
        let chosen = choose(&mut matchmaker, &settings, &between, seed);
        assert_eq!(chosen, Some(("robot".to_owned(), Speed::Bullet)), "blitz was too slow");
    }
    matchmaker.made(id.clone(), "robot", MatchType::default().terms(), NOW);
    matchmaker.declined(&id, DeclineReason::Generic, &settings, NOW);
    assert_eq!(choose(&mut matchmaker, &settings, &between, 0), None);
}

#[test]
fn refusals_double_the_rest_until_a_game() {
    let (mut matchmaker, settings) = (Matchmaker::default(), settings());
    let id = ChallengeId::new("ours0001");
    let between = [bot("robot", 1750)];
    let mut now = NOW;
    for hours in [1, 2, 4, 8] {
        matchmaker.made(id.clone(), "robot", MatchType::default().terms(), now);
        matchmaker.declined(&id, DeclineReason::Later, &settings, now);
        let saved = serde_json::to_string(&matchmaker).expect("a plain value");
        matchmaker = serde_json::from_str(&saved).expect("what was saved");
        let end = now + hours.hours();
        assert_eq!(request_at(&mut matchmaker, &settings, &between, 0, end - 1.second()), None, "{hours}");
        assert!(request_at(&mut matchmaker, &settings, &between, 0, end).is_some(), "{hours}");
        now = end;
    }
    matchmaker.made(id.clone(), "robot", MatchType::default().terms(), now);
    matchmaker.accepted(&id, &settings, NOW);
    assert!(matchmaker.refusals.is_empty());
}

#[test]
fn limited_opponents_rest() {
    let (mut matchmaker, settings) = (Matchmaker::default(), settings());
    let error = ActionError::Limited {
        retry_after: Some(Duration::from_hours(5)),
        key: Some("bot.vsBot.day".to_owned()),
        opponent: true,
        detail: String::new(),
    };
    matchmaker.failed("Robot", &error, &settings, NOW);
    assert_eq!(request_at(&mut matchmaker, &settings, &[bot("robot", 1750)], 0, NOW + 4.hours()), None);
    assert!(request_at(&mut matchmaker, &settings, &[bot("robot", 1750)], 0, NOW + 5.hours()).is_some());
}

#[test]
fn weights_and_turns_pick_the_type() {
    let settings = settings();
    let between = [bot("robot", 1750)];
    let speed = |seed| choose(&mut Matchmaker::default(), &settings, &between, seed).map(|(_, speed)| speed);
    let blitz = (0..400).filter(|&seed| speed(seed) == Some(Speed::Blitz)).count();
    assert!((250..350).contains(&blitz), "three of four, not {blitz} of 400");
    let cyclic = MatchmakingSettings { selection: Selection::Cyclic, ..settings };
    let mut matchmaker = Matchmaker::default();
    let speeds: Vec<_> =
        (0..4).filter_map(|seed| choose(&mut matchmaker, &cyclic, &between, seed)).map(|(_, speed)| speed).collect();
    assert_eq!(speeds, [Speed::Blitz, Speed::Bullet, Speed::Blitz, Speed::Bullet]);
}

#[test]
fn empty_type_passes_its_turn() {
    let mut cyclic = MatchmakingSettings { selection: Selection::Cyclic, ..settings() };
    let opponents = MatchOpponents { min_rating: 3999, ..MatchOpponents::default() };
    cyclic.types.insert("arduous".to_owned(), MatchType { opponents, ..MatchType::default() });
    let (mut matchmaker, bots) = (Matchmaker::default(), [bot("robot", 1750)]);
    let chosen = (0..4).filter_map(|seed| choose(&mut matchmaker, &cyclic, &bots, seed));
    let speeds: Vec<_> = chosen.map(|(_, speed)| speed).collect();
    assert_eq!(speeds, [Speed::Blitz, Speed::Bullet, Speed::Blitz, Speed::Bullet]);
}

#[test]
fn high_ratings_can_be_preferred() {
    let high = MatchmakingSettings { rating_preference: RatingPreference::High, ..settings() };
    let bots = [bot("low", 1700), bot("high", 1800)];
    let name = |seed| choose(&mut Matchmaker::default(), &high, &bots, seed).map(|(name, _)| name);
    let count = (0..200).filter(|&seed| name(seed).as_deref() == Some("high")).count();
    assert!(count > 180, "{count} of 200");
}

#[test]
fn stuck_challenge_is_forgotten() {
    let (mut matchmaker, settings) = (Matchmaker::default(), settings());
    matchmaker.made(ChallengeId::new("ours0001"), "robot", MatchType::default().terms(), NOW);
    let mut now = NOW + 25.seconds();
    for _ in 0..3 {
        assert!(matches!(step_at(&mut matchmaker, &settings, now, |_| ()), MatchmakingStep::Cancel(_)));
        now += 10.seconds();
    }
    assert_eq!(step_at(&mut matchmaker, &settings, now, |_| ()), MatchmakingStep::Wait(Some(NOW + 1.minute())));
    assert_eq!(step_at(&mut matchmaker, &settings, NOW + 1.minute(), |_| ()), MatchmakingStep::FetchBots);
}

fn of_type(change: impl Fn(&mut MatchType)) -> MatchmakingSettings {
    let mut kind = MatchType::default();
    change(&mut kind);
    MatchmakingSettings { rest: 0, types: BTreeMap::from([("blitz".to_owned(), kind)]), ..settings() }
}

#[test]
fn avoided_opponents_are_skipped() {
    let settings = of_type(|_| ());
    let wanted = |settings: &MatchmakingSettings, name: &str| {
        choose(&mut Matchmaker::default(), settings, &[bot(name, 2000)], 0).is_some()
    };
    for name in ["concilio", "busy", "pest", "cheat"] {
        assert!(!wanted(&settings, name), "{name}");
    }
    assert!(wanted(&MatchmakingSettings { avoid_blocked: false, ..settings }, "cheat"));
}

#[test]
fn nearest_rating_is_challenged() {
    let bots = [bot("weak", 1800), bot("equal", 2000), bot("strong", 2110), bot("strongest", 2300)];
    for (target, name) in [(Some(100), "strong"), (Some(-300), "weak"), (Some(0), "equal"), (Some(4000), "strongest")] {
        let settings = of_type(|kind| kind.opponents.target_rating_difference = target);
        for seed in 0..5 {
            let chosen = choose(&mut Matchmaker::default(), &settings, &bots, seed).expect("an opponent");
            assert_eq!(chosen.0, name, "{target:?}");
        }
    }
}

#[test]
fn sequential_takes_the_first_possible_type() {
    let settings = MatchmakingSettings { selection: Selection::Sequential, ..settings() };
    let mut matchmaker = Matchmaker::default();
    for seed in 0..5 {
        let chosen = choose(&mut matchmaker, &settings, &[bot("both", 1750)], seed);
        assert_eq!(chosen, Some(("both".to_owned(), Speed::Blitz)));
    }
    assert_eq!(choose(&mut matchmaker, &settings, &[bot("fast", 1500)], 0), Some(("fast".to_owned(), Speed::Bullet)));
}

#[test]
fn series_alternates_colours() {
    let settings = MatchmakingSettings { during_games: true, ..of_type(|kind| kind.opponents.games_in_row = 2) };
    let (mut matchmaker, bots) = (Matchmaker::default(), [bot("anna", 2000), bot("bert", 2000), bot("carl", 2000)]);
    let first = request_at(&mut matchmaker, &settings, &bots, 3, NOW).expect("an opponent");
    let id = ChallengeId::new("ours0001");
    matchmaker.made(id.clone(), &first.opponent, first.terms, NOW);
    matchmaker.accepted(&id, &settings, NOW);
    let later = NOW + 1.hour();
    let playing = step_at(&mut matchmaker, &settings, later, |situation| situation.games = 1);
    assert_eq!(playing, MatchmakingStep::Wait(None), "one game after the other");
    let idle = step_at(&mut matchmaker, &settings, later, |situation| situation.idle_since = later);
    assert_eq!(idle, MatchmakingStep::FetchBots, "the second follows at once");
    let second = request_at(&mut matchmaker, &settings, &bots, 4, later).expect("the same");
    assert_eq!((&second.opponent, second.terms), (&first.opponent, first.terms));
    assert_eq!(second.our_color, first.our_color.map(|color: Color| !color));
    assert!(second.our_color.is_some());
    let id = ChallengeId::new("ours0002");
    matchmaker.made(id.clone(), &second.opponent, second.terms, later);
    matchmaker.accepted(&id, &settings, later);
    let idle = step_at(&mut matchmaker, &settings, later, |situation| situation.idle_since = later);
    assert_eq!(idle, MatchmakingStep::Wait(Some(later + 8.minutes())), "it was the last");
}

#[test]
fn series_ends_with_refusal_or_absence() {
    let settings = of_type(|kind| kind.opponents.games_in_row = 4);
    let (mut matchmaker, both) = (Matchmaker::default(), [bot("anna", 2000), bot("bert", 2000)]);
    let first = request_at(&mut matchmaker, &settings, &both[..1], 0, NOW).expect("anna");
    let id = ChallengeId::new("ours0001");
    matchmaker.made(id.clone(), &first.opponent, first.terms, NOW);
    matchmaker.declined(&id, DeclineReason::Later, &settings, NOW);
    assert_eq!(request_at(&mut matchmaker, &settings, &both, 0, NOW).expect("bert").opponent, "bert");
    assert_eq!(request_at(&mut matchmaker, &settings, &both[..1], 0, NOW), None, "bert has gone, anna has refused");
    assert_eq!(request_at(&mut matchmaker, &settings, &both, 0, NOW).expect("bert").opponent, "bert");
}

/// A server in trouble, or one that limits our requests, costs no game of a series.
#[test]
fn series_survives_failed_requests() {
    let settings = MatchmakingSettings { rest: 3, ..of_type(|kind| kind.opponents.games_in_row = 2) };
    let (mut matchmaker, bots) = (Matchmaker::default(), [bot("anna", 2000)]);
    let limited =
        ActionError::Limited { retry_after: None, key: None, opponent: false, detail: "Too many requests".to_owned() };
    let mut colors = Vec::new();
    for game in ["ours0001", "ours0002"] {
        let first = request_at(&mut matchmaker, &settings, &bots, 0, NOW).expect(game);
        for error in [ActionError::Unavailable("502".to_owned()), limited.clone()] {
            matchmaker.failed(&first.opponent, &error, &settings, NOW);
            assert_eq!(request_at(&mut matchmaker, &settings, &[], 0, NOW), None, "{game}: no list");
            assert_eq!(request_at(&mut matchmaker, &settings, &bots, 0, NOW).as_ref(), Some(&first), "{game}: {error}");
        }
        matchmaker.made(ChallengeId::new(game), &first.opponent, first.terms, NOW);
        matchmaker.accepted(&ChallengeId::new(game), &settings, NOW);
        colors.push(first.our_color);
    }
    assert_eq!(colors[1], colors[0].map(|color: Color| !color));
    assert_eq!(request_at(&mut matchmaker, &settings, &bots, 0, NOW), None, "it was the last, and anna rests");
}

#[test]
fn rest_counts_game_lengths() {
    let settings = MatchmakingSettings { rest: 3, ..of_type(|_| ()) };
    let (mut matchmaker, bots) = (Matchmaker::default(), [bot("anna", 2000)]);
    let request = request_at(&mut matchmaker, &settings, &bots, 0, NOW).expect("anna");
    let id = ChallengeId::new("ours0001");
    matchmaker.made(id.clone(), &request.opponent, request.terms, NOW);
    matchmaker.accepted(&id, &settings, NOW);
    // 3+2 lasts 2 x (180 + 40 x 2) seconds as a rule.
    let rested = NOW + (3 * 2 * 260).seconds();
    assert_eq!(request_at(&mut matchmaker, &settings, &bots, 0, rested - 1.second()), None);
    assert!(request_at(&mut matchmaker, &settings, &bots, 0, rested).is_some());
}

#[test]
fn chosen_opponents_are_likelier() {
    let weights = [("Anna".to_owned(), 9), ("carl".to_owned(), 0)].into();
    let settings = MatchmakingSettings { weights, ..of_type(|_| ()) };
    let bots = [bot("anna", 2000), bot("bert", 2000), bot("carl", 2000)];
    let mut counts = BTreeMap::<String, usize>::new();
    for seed in 0..200 {
        let chosen = request_at(&mut Matchmaker::default(), &settings, &bots, seed, NOW).expect("a player");
        *counts.entry(chosen.opponent).or_default() += 1;
    }
    assert!((160..=195).contains(&counts["anna"]), "{counts:?}");
    assert_eq!(counts.len(), 2, "a weight of 0 is never");
}

#[test]
fn decliners_are_listed() {
    let settings = of_type(|_| ());
    let mut matchmaker = Matchmaker::default();
    matchmaker.made(ChallengeId::new("ours0001"), "Anna", settings.types.values().next().expect("a type").terms(), NOW);
    matchmaker.declined(&ChallengeId::new("ours0001"), DeclineReason::Later, &settings, NOW);
    let listed: Vec<_> = matchmaker.decliners().collect();
    assert_eq!(listed, [("anna", NOW + 1.hour(), 1)]);
}
