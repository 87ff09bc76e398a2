//! Matches of chess players.

use std::{
    num::NonZeroUsize,
    sync::atomic::{AtomicBool, Ordering},
    time::Duration,
};

use clap::Parser;
use domain::Pace;
use experiment::{
    game::{Adjudication, GameEnding, MatchGame, MatchRules, PlayerFault},
    matches::{GamePair, MatchArguments, Summary, run},
    state::ExperimentState,
    stats::{Sprt, SprtVerdict},
};

use crate::{
    openings::OpeningBook,
    player::{ChessPlayerKind, Contender, MatchPlan},
};
use util::Failure;

fn plan(a: &str, b: &str, pairs: usize, workers: usize) -> MatchPlan {
    let contender =
        |text: &str| Contender { spec: text.parse().unwrap_or_else(|error| panic!("{error}")), pace: Pace::Nodes(150) };
    MatchPlan {
        players: [contender(a), contender(b)],
        openings: OpeningBook::built_in(5).different(pairs).expect("openings"),
        pairs,
        sprt: None,
        rules: MatchRules { truncation: Some(200), ..MatchRules::drawn_after(12, Adjudication::default()) },
        workers: NonZeroUsize::new(workers).expect("some"),
        cores: 1,
    }
}

fn played(plan: &MatchPlan, state: &mut ExperimentState<GamePair>) -> Summary {
    run(plan, state, &AtomicBool::new(false), |_| {}).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn seed_fixes_games_at_any_concurrency() {
    let mut states = [ExperimentState::in_memory(), ExperimentState::in_memory()];
    let alone = played(&plan("engine", "engine:mp", 3, 1), &mut states[0]);
    let together = played(&plan("engine", "engine:mp", 3, 3), &mut states[1]);
    assert_eq!(alone, together);
    let [first, second] = states.each_ref().map(|state| plan("engine", "engine:mp", 3, 1).games_text(state.done()));
    assert_eq!(first, second);
    assert_eq!(first.matches("[White \"engine\"]").count(), 3);
    assert_eq!(alone.games, 6);
    assert!(
        alone
            .conduct
            .iter()
            .all(|conduct| conduct.crashes + conduct.illegal_moves + conduct.time_losses == 0 && conduct.moves > 60),
        "{alone}"
    );
}

#[test]
fn games_by_the_clock_share_no_core() {
    #[derive(Parser)]
    struct Words {
        #[command(flatten)]
        games: MatchArguments,
    }
    let cores = std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
    let at_once = |a: &str, pace: Pace, words: &[&str]| {
        let players = [a, "engine"].map(|text| Contender { spec: text.parse().expect("a player"), pace });
        let words = Words::parse_from([&["match"], words].concat());
        words.games.workers::<ChessPlayerKind>(&players).get()
    };
    let second = Pace::MoveTime(Duration::from_secs(1));
    for player in ["engine:n,threads=4", "council:learned-4", "uci:program,Threads=4"] {
        assert_eq!(at_once(player, second, &[]), (cores / 4).max(1), "{player}");
        assert_eq!(at_once(player, Pace::Nodes(100), &[]), cores, "{player}: nodes need no core of their own");
        assert_eq!(at_once(player, second, &["--concurrency", "3"]), 3, "{player}");
    }
    for player in ["engine", "council", "uci:program,Threads=0"] {
        assert_eq!(at_once(player, second, &[]), cores, "{player}");
    }
}

#[test]
fn chess960_games_have_a_variant_tag() -> Result<(), Failure> {
    let folder = tempfile::tempdir()?;
    let book = folder.path().join("book.epd");
    std::fs::write(&book, "bqnb1rkr/pp3ppp/3ppn2/2p5/5P2/P2P4/NPP1P1PP/BQ1BNRKR w HFhf - 2 9\n")?;
    let openings = OpeningBook::open(&book, 0, 1)?.different(1)?;
    let plan = MatchPlan { openings, ..plan("engine", "engine:mp", 1, 1) };
    let mut state = ExperimentState::in_memory();
    played(&plan, &mut state);
    let text = plan.games_text(state.done());
    assert_eq!(text.matches("[Variant \"Chess960\"]").count(), 2, "{text}");
    Ok(())
}

#[test]
fn program_text_is_escaped_in_tags() {
    let ending = GameEnding::Fault(PlayerFault::IllegalMove("bestmove \"e2\"\r\u{1b}[2J".to_owned()));
    let game = MatchGame { moves: Vec::new(), ending, white: 0.0, white_first: true };
    let pair = GamePair { games: [game.clone(), game] };
    let text = plan("engine", "engine:mp", 1, 1).games_text([(&0, &pair)]);
    assert!(!text.contains(['\r', '\u{1b}']), "{text}");
    let line = text.lines().find(|line| line.starts_with("[Termination ")).unwrap_or_default();
    assert!(line.contains(r#"bestmove \"e2\""#) && line.ends_with("\"]"), "{line}");
}

#[test]
fn resumed_match_equals_uninterrupted_match() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("match.jsonl");
    let experiment = serde_json::json!("this match");
    let plan = plan("engine:mpa", "council:roster=mp ma,hash=1", 3, 1);
    let through = played(&plan, &mut ExperimentState::in_memory());

    let stop = AtomicBool::new(false);
    let mut state = ExperimentState::open(&path, &experiment).expect("a new state");
    let stopped = run(&plan, &mut state, &stop, |standing| stop.store(standing.pairs() > 0, Ordering::Relaxed));
    assert!(!stopped.expect("it began").complete);
    drop(state);
    let mut state = ExperimentState::open(&path, &experiment).expect("the same match");
    assert!((1..3).contains(&state.done().len()));
    assert_eq!(played(&plan, &mut state), through);
}

#[test]
fn shorter_match_counts_only_its_games() {
    let mut state = ExperimentState::in_memory();
    played(&plan("engine:m", "engine:mp", 3, 1), &mut state);
    let fewer = played(&plan("engine:m", "engine:mp", 1, 1), &mut state);
    assert_eq!((fewer.games, fewer.complete), (2, true), "{fewer}");
    assert_eq!(fewer, played(&plan("engine:m", "engine:mp", 1, 1), &mut ExperimentState::in_memory()));
}

#[test]
fn a_decided_test_ends_the_match() {
    let mut plan = plan("engine:nodes=1000", "engine:m,nodes=20", 40, 2);
    plan.players[0].pace = Pace::Nodes(1000);
    plan.players[1].pace = Pace::Nodes(20);
    plan.sprt = Some(Sprt::new(0.0, 200.0));
    let summary = played(&plan, &mut ExperimentState::in_memory());
    assert!(summary.complete && summary.games < 80, "{summary}");
    assert_eq!(summary.sprt.map(|test| test.verdict), Some(SprtVerdict::H1), "{summary}");
}

#[test]
fn identical_players_are_reported() {
    let summary = played(&plan("engine:m", "engine:m", 2, 1), &mut ExperimentState::in_memory());
    assert_eq!(summary.pairs_alike, 2, "{summary}");
    assert!(summary.to_string().contains("2 of 2 pairs: both games the same"), "{summary}");
    let summary = played(&plan("engine:m", "engine:mp", 2, 1), &mut ExperimentState::in_memory());
    assert!(summary.pairs_alike < 2, "{summary}");
}

#[test]
fn summary_credits_the_right_player() {
    let mut plan = plan("engine", "engine:mp", 1, 1);
    plan.players[1].pace = Pace::Nodes(50);
    let summary = played(&plan, &mut ExperimentState::in_memory());
    let [a, b] = summary.conduct;
    assert!(a.nodes_a_move() > 100.0 && b.nodes_a_move() < 80.0, "{summary}");
    assert!(a.moves.abs_diff(b.moves) <= 2, "{summary}");
}

#[test]
fn missing_program_fails_before_the_match() {
    let plan = plan("engine", "uci:/nowhere/engine", 1, 1);
    let error = plan.check().expect_err("no such program").to_string();
    assert!(error.contains("/nowhere/engine"), "{error}");
    let error = self::plan("engine", "xboard:/nowhere/engine", 1, 1).check().expect_err("no node budget").to_string();
    assert!(error.contains("CECP knows no node budget"), "{error}");
}

/// Two hundred games from fifty openings would say what one hundred do, with half of its error.
#[test]
fn too_few_openings_are_an_error() {
    let book = OpeningBook::built_in(5).len();
    let asked = |pace: Pace| {
        let mut plan = plan("engine", "engine:mp", book + 1, 1);
        plan.players.iter_mut().for_each(|player| player.pace = pace);
        plan.check()
    };
    let error = asked(Pace::Nodes(150)).expect_err("the book is too small").to_string();
    assert!(error.contains(" openings that differ") && error.ends_with("(--book)"), "{error}");
    assert!(asked(Pace::MoveTime(Duration::from_millis(10))).is_ok(), "the clock never does the same twice");
}
