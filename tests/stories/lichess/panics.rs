//! Promise 1: a panic in each kind of task costs no game, and no entry of the journal.

use practice::SparringKind;

use super::harness::{Story, seen};
use crate::panics::{all_happened, in_its_own_process, panics};

/// The tasks of a game on Lichess, by their names in the log.
const TASKS: [&str; 10] = [
    "event stream",
    "game streams",
    "game stream",
    "token check",
    "request",
    "account",
    "game",
    "player",
    "elector",
    "journal",
];

#[testkit::test]
fn panic_in_any_task_costs_no_game() {
    in_its_own_process("lichess::panics::panic_in_any_task_costs_no_game", every_task_panics);
}

async fn every_task_panics() {
    let mut left = TASKS.to_vec();
    // A partner that is not mated before a task has panicked.
    let mut story = Story::begin(|plan| plan.partner = SparringKind::Engine { nodes: 2000 }).await;
    while !left.is_empty() {
        let game = story.challenge().await;
        // One after the other, a few moves apart; those that are left when the game is over, in the next game.
        let mut ply = 4;
        while let Some(task) = left.last() {
            if story.ply(&game, ply).await.outcome.is_some() {
                break;
            }
            panics(task, 2);
            let what = format!("a panic of the task {task}");
            tokio::select! {
                () = seen(&what, || all_happened().then_some(())) => {
                    left.pop();
                    ply += 2;
                }
                // The game ended first: the task panics in the next game.
                _ = story.server.wait_for_end(&game) => break,
            }
        }
        story.played(&game).await;
    }
    // The record of every game is complete.
    story.closes().await;
}
