//! Tests of a slow server: streams that open late, and lines that come late. A client that reopens
//! a stream too soon never gets it.

use bot::session::LimitSettings;
use platform::lichess::LichessSettings;
use practice::faults::{StreamFault, Streams, When};

use super::harness::{BOT, Plan, Story, openings, soon_over, tc};

/// Real patience with silent streams, and a clock that a game needs to be played slowly.
fn slowly(plan: &mut Plan) {
    plan.lichess = LichessSettings::default();
    plan.limits = LimitSettings { nodes: Some(500), ..LimitSettings::default() };
    plan.time_control = tc("60+0");
}

/// We mate in two with our rooks, with White.
fn two_rooks(terms: &mut practice::ChallengeTerms) {
    soon_over(terms, 0);
}

/// The echo of one of our moves is lost while streams are slow: it is waited for.
async fn lost_echo_is_awaited(weather: &str) {
    let story = Story::begin(slowly).await;
    story.server.faults().set_plan(weather.parse().expect("a plan"));
    let game = story.challenge_with(two_rooks).await;
    story.server.faults().break_stream(Streams::Board(game.clone(), BOT.to_owned()), When::OwnMove, StreamFault::Drop);
    let report = story.played(&game).await;
    assert!(openings(&report) <= 2, "{report:#?}");
}

/// Promise 1: no stream opens within four seconds.
#[testkit::test]
async fn game_survives_lost_echo_on_slow_stream() {
    lost_echo_is_awaited("open=4s").await;
}

/// Promise 1: the first line of every stream comes four seconds late.
#[testkit::test]
async fn game_survives_late_first_lines() {
    lost_echo_is_awaited("first-line=4s").await;
}

/// Promise 1: every line comes five seconds late. What was learnt from the first move holds for the next ones.
#[testkit::test]
async fn game_survives_late_lines() {
    let story = Story::begin(slowly).await;
    story.server.faults().set_plan("late=5s".parse().expect("a plan"));
    let game = story
        .challenge_with(|terms| {
            two_rooks(terms);
            terms.game.time_control = tc("120+5");
        })
        .await;
    let report = story.played(&game).await;
    assert!(openings(&report) <= 2, "{report:#?}");
    assert!(report.line.ply() >= 3);
    story.server.faults().set_plan("".parse().expect("no faults"));
}

/// Nothing is late for ever: when the server is quick again, so are we.
#[testkit::test]
async fn slow_hour_leaves_no_open_streams() {
    let story = Story::begin(slowly).await;
    story.server.faults().set_plan("late=1s".parse().expect("a plan"));
    let game = story.challenge_with(two_rooks).await;
    story.played(&game).await;
    story.server.faults().set_plan("".parse().expect("no faults"));
    story.goes_on_and_closes().await;
}
