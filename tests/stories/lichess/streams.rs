//! The stream of a game breaks, in every way a stream can break.

use domain::Color;
use practice::faults::{StreamFault, Streams, When};

use super::harness::{BOT, Story, openings};

/// Breaks the game's stream when the daemon is to move and when it has moved; each time it must be opened anew.
async fn a_game_survives(fault: StreamFault) {
    let story = Story::begin(|_| ()).await;
    let game = story.challenge().await;
    // No game is shorter than that: the partner plays greedily, and may be mated in the opening.
    for ply in [2, 3] {
        story.server.faults().break_stream(Streams::Board(game.clone(), BOT.to_owned()), When::AtPly(ply), fault);
    }
    let report = story.played(&game).await;
    assert!(openings(&report) >= 3, "it was not broken twice: {report:#?}");
    assert!(report.refused.is_empty(), "{report:#?}");
    story.goes_on_and_closes().await;
}

/// Promise 1: a clean end of the stream while the game runs is no end of the game.
#[testkit::test]
async fn game_survives_clean_stream_end() {
    a_game_survives(StreamFault::CleanEnd).await;
}

/// Promise 1.
#[testkit::test]
async fn game_survives_stream_end_within_a_line() {
    a_game_survives(StreamFault::CutMidLine).await;
}

/// Promise 1.
#[testkit::test]
async fn game_survives_a_reset_connection() {
    a_game_survives(StreamFault::Abort).await;
}

/// Promise 1.
#[testkit::test]
async fn game_survives_reset_within_a_line() {
    a_game_survives(StreamFault::AbortMidLine).await;
}

/// Promise 1: a half-open connection brings nothing, not even keep-alive lines, and never says that it is dead.
#[testkit::test]
async fn a_game_survives_a_silent_stream() {
    a_game_survives(StreamFault::Silence).await;
}

/// Promise 2: a line that comes twice, or after the one that follows it, changes nothing.
#[testkit::test]
async fn game_survives_repeated_and_late_lines() {
    let story = Story::begin(|plan| plan.practice.faults = "duplicate=20%,reorder=10%".parse().expect("a plan")).await;
    let game = story.challenge().await;
    let report = story.played(&game).await;
    assert!(report.refused.is_empty(), "{report:#?}");
    story.goes_on_and_closes().await;
}

/// Promise 1: the line that every stream begins with comes after the next one, or not at all.
#[testkit::test]
async fn game_survives_late_or_lost_states() {
    let story = Story::begin(|_| ()).await;
    for (ply, fault) in [
        (0, StreamFault::Reorder),
        (2, StreamFault::CleanEnd),
        (2, StreamFault::Reorder),
        (3, StreamFault::CleanEnd),
        (3, StreamFault::Drop),
    ] {
        story.server.faults().break_stream(Streams::All, When::AtPly(ply), fault);
    }
    // The partner begins, so that there is a line that can come before the first.
    let game = story.challenge_with(|terms| terms.color = Some(Color::White)).await;
    let report = story.played(&game).await;
    assert!(openings(&report) >= 4, "it was not broken three times: {report:#?}");
    assert!(report.refused.is_empty(), "{report:#?}");
    story.goes_on_and_closes().await;
}

/// Promise 1: the stream of every move is cut.
#[testkit::test]
async fn game_survives_short_lived_streams() {
    let story = Story::begin(|plan| plan.practice.faults = "cut=200ms".parse().expect("a plan")).await;
    let game = story.challenge().await;
    story.played(&game).await;
    story.server.faults().set_plan("".parse().expect("no faults"));
    story.goes_on_and_closes().await;
}
