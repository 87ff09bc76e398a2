//! Games under all faults at once, for a long time.

use std::time::{Duration, Instant};

use practice::{End, faults::RequestKind};

use super::harness::{Plan, Story, openings, roster, tc, within};

/// Variable with the number of games of the long story (default 200).
const GAMES: &str = "CONCILIO_WEATHER_GAMES";

/// Plays that many games by a plan of faults, then, in calm weather, as many as there are places.
async fn are_played_in(weather: &str, games: usize, change: impl FnOnce(&mut Plan)) {
    let concurrency = games.min(12);
    let story = Story::begin(|plan| {
        plan.practice.faults = weather.parse().expect("a plan of faults");
        plan.practice.seed = Some(1);
        plan.concurrency = concurrency;
        plan.partner_thinks = Duration::from_millis(150);
        change(plan);
    })
    .await;
    let began = Instant::now();
    for _ in 0..games {
        story.challenge().await;
    }
    let ended = within("all games", story.server.wait_for_games(games)).await.expect("reports");
    let took = began.elapsed();

    let lost = ended.iter().filter(|game| game.outcome.as_ref().is_some_and(|outcome| outcome.end == End::OutOfTime));
    let lost = lost.count();
    let plies: usize = ended.iter().map(|game| game.line.ply()).sum();
    let reopened: u32 = ended.iter().map(|game| openings(game).saturating_sub(1)).sum();
    let refused: usize = ended.iter().map(|game| game.refused.len()).sum();
    println!(
        "{games} games in {weather}: {plies} plies in {took:.0?}, {lost} lost on time, {reopened} streams reopened, \
         {} requests for moves, {refused} of them refused",
        story.server.faults().requests_seen(RequestKind::Move),
    );
    for game in &ended {
        super::harness::was_played_out(game);
    }

    story.server.faults().set_plan("".parse().expect("no faults"));
    let mut last = Vec::new();
    for _ in 0..concurrency {
        last.push(story.challenge().await);
    }
    let begun = games + concurrency;
    let all = within("all places", story.server.wait_for_games(begun)).await.expect("reports");
    all.iter().for_each(super::harness::was_played_out);
    story.goes_on_and_closes().await;
}

/// Promise 1: each stream is cut every few seconds, calls are delayed, and one in twenty is answered with 429 or 502.
#[testkit::test]
async fn fast_games_survive_faults() {
    let games = std::env::var(GAMES).ok().and_then(|number| number.parse().ok()).unwrap_or(40);
    are_played_in("cut=3s,delay=30ms,429=2.5%,502=2.5%", games, |plan| {
        plan.council = roster("trivial");
        plan.time_control = tc("30+0.1");
    })
    .await;
}

/// Promise 1: all other faults, too: lost answers, half-open streams, lines twice and in the wrong order.
#[testkit::test]
async fn games_survive_all_faults_at_once() {
    let weather = "cut=2s,delay=20ms,429=3%,500=1%,502=3%,lost=2%,half-open=0.5%,duplicate=2%,reorder=1%";
    are_played_in(weather, 24, |plan| {
        plan.limits.nodes = Some(500);
        plan.lichess.idle_timeout = Duration::from_secs(1);
        plan.lichess.move_timeout = Duration::from_secs(1);
        plan.time_control = tc("60+0.1");
    })
    .await;
}
