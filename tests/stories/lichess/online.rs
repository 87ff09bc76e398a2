//! Services that know moves: asked beside the search, played where they answer in time, and never waited for.

use std::time::Duration;

use bot::session::LimitSettings;
use practice::SparringKind;
use sources::online::{OnlineKind, OnlineSettings, ServiceSettings};

use super::harness::{Plan, Story, tc};

/// All services, where the practice server plays them.
fn everybody(story: &Story) -> OnlineSettings {
    let token_file = story.folder.path().join("explorer.token");
    std::fs::write(&token_file, &story.token).expect("written");
    let service = ServiceSettings {
        url: story.server.url(),
        pause: Duration::ZERO,
        timeout: Duration::from_secs(60),
        min_time: Duration::ZERO,
        max_time: None,
    };
    let mut settings = OnlineSettings {
        sources: vec![OnlineKind::Explorer, OnlineKind::Cloud, OnlineKind::Chessdb, OnlineKind::Tablebase],
        token_file,
        ..OnlineSettings::default()
    };
    settings.cloud.min_depth = 1;
    settings.explorer.service = service.clone();
    settings.cloud.service = service.clone();
    settings.chessdb.service = service.clone();
    settings.tablebase.service = service;
    settings
}

/// Returns the sources of our moves in the journal.
fn sources(story: &Story, game: &domain::GameId) -> Vec<String> {
    let moves = story.journal_of(game);
    moves.into_iter().filter_map(|played| Some(played.ours?.source)).collect()
}

/// The explorer as long as it knows the opening, then the others.
#[testkit::test]
async fn explorer_is_used_before_the_cloud() {
    // The council alone thinks a hundred times as long as the services do.
    let mut story = Story::set_the_stage(|plan: &mut Plan| {
        plan.limits = LimitSettings { nodes: Some(200_000), ..LimitSettings::default() };
        plan.time_control = tc("180+2");
        // This partner is not mated in the opening.
        plan.partner = SparringKind::Engine { nodes: 300 };
    })
    .await;
    story.plan.online = everybody(&story);
    story.daemon_starts();
    let game = story.challenge().await;
    story.ply(&game, 22).await;
    story.closes().await;
    let sources = sources(&story, &game);
    assert!(sources.starts_with(&["explorer".to_owned(), "explorer".to_owned()]), "{sources:?}");
    assert!(sources.iter().any(|source| source == "cloud"), "{sources:?}");
}

/// Whatever the services do wrong, the game is played out, and on time.
#[testkit::test]
async fn services_that_fail_cost_no_game() {
    let mut story = Story::set_the_stage(|plan: &mut Plan| {
        plan.practice.faults = "seed=5,delay=300ms,429=10%,500=10%,502=10%,lost=5%".parse().expect("a plan");
        plan.time_control = tc("60+1");
    })
    .await;
    story.plan.online = everybody(&story);
    story.daemon_starts();
    let game = story.challenge().await;
    story.played(&game).await;
    story.goes_on_and_closes().await;
}
