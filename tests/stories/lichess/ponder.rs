//! Thinking in the opponent's time: with hits and misses, in good weather and in bad.

use std::time::Duration;

use bot::session::LimitSettings;

use super::harness::{Story, tc};

/// Promise 2: after hits and misses, every move is one for the position on the board.
async fn a_game_is_played_in_both_sides_time(replies: usize, faults: &str) {
    let story = Story::begin(|plan| {
        plan.ponder = replies;
        plan.limits = LimitSettings::default();
        // Every move has its time, and the clock is far from its end on however busy a machine.
        plan.clock.move_time = Duration::from_millis(150);
        plan.time_control = tc("60+0.1");
        plan.practice.faults = faults.parse().expect("a plan");
    })
    .await;
    let game = story.challenge().await;
    let report = story.played(&game).await;
    assert!(report.refused.is_empty(), "{report:#?}");
    story.goes_on_and_closes().await;
}

#[testkit::test]
async fn ponders_the_likeliest_reply() {
    a_game_is_played_in_both_sides_time(1, "").await;
}

#[testkit::test]
async fn ponders_several_replies() {
    a_game_is_played_in_both_sides_time(3, "").await;
}

#[testkit::test]
async fn pondering_survives_faults() {
    a_game_is_played_in_both_sides_time(2, "cut=1s,duplicate=10%,reorder=5%").await;
}
