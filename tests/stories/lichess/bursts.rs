//! Many games at once: the server tells of them all in one breath.

use super::harness::{Story, roster, tc, within};

/// The daemon comes online, and that many games run already.
async fn all_are_played(games: usize) {
    let mut story = Story::set_the_stage(|plan| {
        plan.council = roster("trivial");
        plan.time_control = tc("120+0.1");
    })
    .await;
    let mut begun = Vec::new();
    for _ in 0..games {
        begun.push(story.game_begins().await);
    }
    story.daemon_starts();
    for game in &begun {
        let report = story.played(game).await;
        assert!(report.refused.is_empty(), "{report:#?}");
    }
    story.goes_on_and_closes().await;
}

/// Promise 1: every reconnection brings a burst of starts.
#[testkit::test]
async fn eight_simultaneous_games_are_played() {
    all_are_played(8).await;
}

/// Promise 1.
#[testkit::test]
async fn fifty_simultaneous_games_are_played() {
    all_are_played(50).await;
}

/// The server restarts while eight games run.
#[testkit::test]
async fn games_survive_a_server_restart() {
    let story = Story::begin(|plan| plan.concurrency = 8).await;
    let mut games = Vec::new();
    for _ in 0..8 {
        games.push(story.challenge().await);
    }
    story.ply(&games[0], 4).await;
    within("the server", story.server.restart(std::time::Duration::from_secs(1))).await.expect("a server");
    for game in &games {
        story.played(game).await;
    }
    story.goes_on_and_closes().await;
}
