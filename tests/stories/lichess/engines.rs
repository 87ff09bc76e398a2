//! Engines of other projects and programs of one's own play whole games, over every protocol.

use std::time::Duration;

use bot::session::LimitSettings;
use council::{CouncilSettings, ElectorSettings, electors::EngineProtocol};
use domain::Variant;
use testkit::needs::{FAIRY_STOCKFISH, FAIRYMAX, GNUCHESS, Need, PHALANX, PYTHON, SJENG};

use super::{
    electors::{program, votes},
    harness::{Story, roster, tc},
    operator::{log, logged},
    restart::Daemon,
};

fn alone(engine: ElectorSettings) -> CouncilSettings {
    CouncilSettings { electors: vec![engine], ..roster("custom") }
}

fn cecp(engine: &Need) -> ElectorSettings {
    ElectorSettings {
        engine: Some(engine.path().into()),
        protocol: EngineProtocol::Cecp,
        // Sjeng writes its log where it is started.
        working_dir: std::env::temp_dir(),
        ..ElectorSettings::default()
    }
}

/// Plays a game to its end: the engine proposed all moves that were not the only ones, except after
/// a restart.
async fn plays_a_game(engine: ElectorSettings, variant: Variant, nodes: Option<u64>) {
    let story = Story::begin(|plan| {
        plan.variants = vec![variant];
        plan.council = alone(engine);
        plan.limits = LimitSettings { nodes, ..LimitSettings::default() };
        if nodes.is_none() {
            plan.clock.move_time = Duration::from_millis(200);
        }
        plan.time_control = tc("120+1");
    });
    let mut story = story.await;
    let game = story.challenge_with(|terms| terms.game.variant = variant).await;
    let report = story.played(&game).await;
    story.closes().await;
    let votes = votes(&story, &game);
    let silent = votes.iter().filter(|votes| **votes == 0).count();
    assert!(silent * 2 < votes.len(), "{silent} of {} moves had no vote: {report:#?}", votes.len());
}

#[testkit::test(needs(GNUCHESS))]
async fn gnu_chess_plays_a_game() {
    plays_a_game(cecp(&GNUCHESS), Variant::Standard, Some(3000)).await;
}

#[testkit::test(needs(FAIRYMAX))]
async fn fairy_max_plays_a_game() {
    plays_a_game(cecp(&FAIRYMAX), Variant::Standard, Some(3000)).await;
}

#[testkit::test(needs(PHALANX))]
async fn phalanx_plays_on_a_clock() {
    plays_a_game(cecp(&PHALANX), Variant::Standard, None).await;
}

#[testkit::test(needs(SJENG))]
async fn sjeng_plays_a_game_of_crazyhouse() {
    plays_a_game(cecp(&SJENG), Variant::Crazyhouse, Some(3000)).await;
}

#[testkit::test(needs(FAIRY_STOCKFISH))]
async fn fairy_stockfish_plays_uci_and_cecp() {
    let uci = || ElectorSettings { engine: Some(FAIRY_STOCKFISH.path().into()), ..ElectorSettings::default() };
    for (engine, variant) in [
        (uci(), Variant::Crazyhouse),
        (uci(), Variant::ThreeCheck),
        (cecp(&FAIRY_STOCKFISH), Variant::Antichess),
        (cecp(&FAIRY_STOCKFISH), Variant::KingOfTheHill),
    ] {
        plays_a_game(engine, variant, Some(1000)).await;
    }
}

/// One setting, and the variants of Lichess are played to their end by the engine that is installed. Debian's has no atomic.
#[testkit::test(needs(FAIRY_STOCKFISH))]
async fn installed_engine_plays_the_variants() {
    let story = Story::set_the_stage(|plan| plan.time_control = tc("120+1")).await;
    let settings = "[challenge]\nvariants = 'all'\n[player.limits]\nnodes = 1000\n";
    let daemon = Daemon::run_quietly(&story, settings);
    let are_played = |variant: &Variant| !variant.is_standard_rules() && *variant != Variant::Atomic;
    for variant in Variant::ALL.into_iter().filter(are_played) {
        let game = story.challenge_with(|terms| terms.game.variant = variant).await;
        story.played(&game).await;
    }
    daemon.closes().await;
}

/// The program of docs/own-player.md.
#[testkit::test(needs(PYTHON))]
async fn custom_player_plays_a_game() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/own-player.py");
    let engine = ElectorSettings {
        engine: Some(PYTHON.path().into()),
        arguments: vec![path.to_owned()],
        protocol: EngineProtocol::Positions,
        ..ElectorSettings::default()
    };
    plays_a_game(engine, Variant::Standard, None).await;
}

/// The standard error of an engine is logged only where its owner wants that, without terminal
/// controls.
#[testkit::test]
async fn engine_stderr_goes_to_the_log() {
    let story = Story::set_the_stage(|_| ()).await;
    let [talker, quiet] = ["talker", "quiet"].map(|name| {
        let concilio = env!("CARGO_BIN_EXE_concilio");
        let text = format!("printf 'I am {name}\\033[31m\\n' >&2\nexec {concilio} uci --single");
        program(story.folder.path(), name, &text)
    });
    let settings = format!(
        "[challenge]\nfriends = ['Partner']\n[player.council]\nroster = 'custom'\nhash = 1\n\
         electors = [{{ name = 'one', engine = '{}', stderr = 'log' }}, {{ name = 'two', engine = '{}' }}]\n\
         [player.limits]\nnodes = 2000\n",
        talker.display(),
        quiet.display()
    );
    let daemon = Daemon::run_quietly(&story, &settings);
    let game = story.challenge().await;
    story.played(&game).await;
    let line = logged(&story, &["talker: I am talker"]).await;
    assert!(!line.contains('\u{1b}'), "{line:?}");
    daemon.closes().await;
    assert!(!log(&story).iter().any(|line| line.contains("I am quiet")));
}
