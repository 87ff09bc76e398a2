//! Electors that hang, die or say nothing: they cost their vote, never the game.

use std::{
    fs,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
};

use bot::session::LimitSettings;
use council::{CouncilSettings, ElectorSettings};
use domain::GameId;
use rustix::process::{Pid, Signal, kill_process};

use super::harness::{Story, archived, roster, seen, soon_over, tc};

pub(crate) fn program(folder: &Path, name: &str, text: &str) -> PathBuf {
    let path = folder.join(name);
    fs::write(&path, format!("#!/bin/sh\n{text}\n")).expect("written");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("allowed");
    path
}

/// Our own engine as a foreign one, and the processes it was started as so far.
pub(super) fn uci_engine(folder: &Path) -> (PathBuf, impl Fn() -> Vec<Pid> + use<>) {
    let pids = folder.join("pids");
    let text = format!("echo $$ >> '{}'\nexec '{}' uci --single", pids.display(), env!("CARGO_BIN_EXE_concilio"));
    let read = move || {
        let text = fs::read_to_string(&pids).unwrap_or_default();
        text.lines().filter_map(|line| Pid::from_raw(line.parse().ok()?)).collect()
    };
    (program(folder, "engine.sh", &text), read)
}

/// Returns true while a process runs. A process that has ended stays in the list until its parent
/// waits for it, and in a container there may be no parent that does.
pub(crate) fn lives(pid: Pid) -> bool {
    let status = fs::read_to_string(format!("/proc/{}/stat", pid.as_raw_pid())).unwrap_or_default();
    // Behind its name: that may contain any letters.
    let has_ended = status.rsplit(')').next().is_some_and(|rest| rest.trim_start().starts_with('Z'));
    rustix::process::test_kill_process(pid).is_ok() && !has_ended
}

/// Waits until a process has ended.
pub(super) async fn is_gone(pid: Pid) {
    seen("the end of an engine", || (!lives(pid)).then_some(())).await;
}

fn custom(engines: &[&Path]) -> CouncilSettings {
    let electors = engines
        .iter()
        .map(|engine| ElectorSettings { engine: Some(engine.to_path_buf()), ..ElectorSettings::default() });
    CouncilSettings { electors: electors.collect(), ..roster("custom") }
}

/// Returns the number of proposals for each move of ours in a game; only moves are skipped.
pub(super) fn votes(story: &Story, game: &GameId) -> Vec<usize> {
    let (archive, moves) = archived(&story.journal_path(), game);
    let ours = moves.iter().filter(|record| record.ours.as_ref().is_some_and(|ours| ours.source != "forced"));
    ours.map(|record| archive.proposals(record).expect("readable").len()).collect()
}

/// Plays with our engine behind UCI, and does something to its process in the middle of the game.
async fn a_game_survives(signal: Signal) -> (Story, Vec<usize>) {
    let mut story = Story::set_the_stage(|plan| {
        plan.time_control = tc("60+0.1");
        plan.limits = LimitSettings { nodes: Some(5000), ..LimitSettings::default() };
    })
    .await;
    let (engine, pids) = uci_engine(story.folder.path());
    story.plan.council = custom(&[&engine]);
    story.daemon_starts();
    let game = story.challenge().await;
    // No game can be over yet.
    story.ply(&game, 3).await;
    let first = pids();
    kill_process(*first.last().expect("an engine"), signal).expect("it runs");
    story.played(&game).await;
    assert!(pids().len() > first.len(), "it was started again");
    story.closes().await;
    for pid in pids() {
        is_gone(pid).await;
    }
    let votes = votes(&story, &game);
    (story, votes)
}

/// Promise 1: a killed engine is started again, and not even a vote is lost.
#[testkit::test]
async fn a_killed_engine_costs_nothing() {
    let (_story, votes) = a_game_survives(Signal::KILL).await;
    assert!(votes.iter().all(|votes| *votes > 0), "{votes:?}");
}

/// Promise 1: an engine that hangs is killed, and another one takes its place.
#[testkit::test]
async fn an_engine_that_hangs_is_replaced() {
    let (_story, votes) = a_game_survives(Signal::STOP).await;
    assert!(votes.iter().filter(|votes| **votes == 0).count() <= 3, "{votes:?}");
    assert!(votes.last().is_some_and(|votes| *votes > 0), "{votes:?}");
}

/// An engine that greets and then never answers.
const MUTE: &str = "while read -r command; do
  case $command in uci) echo uciok ;; isready) echo readyok ;; esac
done";

/// Promise 3: where no elector ever says a word, there is a legal move to send all the same, in time.
#[testkit::test]
async fn mute_council_still_moves() {
    // A proposal is awaited for half of the clock: soon that is half a second, and as much is left for a busy machine.
    let mut story = Story::set_the_stage(|plan| plan.time_control = tc("3+0.5")).await;
    let mute = program(story.folder.path(), "mute.sh", MUTE);
    story.plan.council = custom(&[&mute]);
    story.daemon_starts();
    let game = story.challenge_with(|terms| soon_over(terms, 76)).await;
    story.played(&game).await;
    story.goes_on_and_closes().await;
}

/// Promise 3: one that never answers does not keep the others from deciding.
#[testkit::test]
async fn mute_elector_costs_only_its_vote() {
    let mut story = Story::set_the_stage(|plan| plan.time_control = tc("8+0.1")).await;
    let mute = program(story.folder.path(), "mute.sh", MUTE);
    let own = ElectorSettings { knowledge: "mbxkcpar".parse().ok(), ..ElectorSettings::default() };
    story.plan.council = custom(&[&mute]);
    story.plan.council.electors.push(own);
    story.daemon_starts();
    let game = story.challenge().await;
    story.played(&game).await;
    story.closes().await;
    let votes = votes(&story, &game);
    assert!(votes.iter().all(|votes| *votes >= 1), "{votes:?}");
}

/// An engine of another project plays a whole game.
#[testkit::test(needs(STOCKFISH))]
async fn stockfish_plays_a_game() {
    let stockfish = testkit::needs::STOCKFISH.path();
    let mut story = Story::begin(|plan| {
        plan.council = custom(&[stockfish]);
        plan.limits = LimitSettings { nodes: Some(3000), ..LimitSettings::default() };
    })
    .await;
    let game = story.challenge().await;
    let report = story.played(&game).await;
    assert_eq!(report.winner(), Some(super::harness::BOT), "{report:#?}");
    story.closes().await;
    let votes = votes(&story, &game);
    assert!(votes.iter().all(|votes| *votes >= 1), "{votes:?}");
}
