//! Promise 1 on FICS: a panic in each kind of task costs no game.

use std::time::Duration;

use practice::SparringKind;

use super::harness::{Daemon, PARTNER, ended, game_between, seen, server, was_played_out, within};
use crate::{
    lichess::harness::thoughtful,
    panics::{all_happened, in_its_own_process, panics},
};

#[testkit::test]
fn fics_link_panic_costs_no_game() {
    in_its_own_process("fics::panics::fics_link_panic_costs_no_game", every_task_panics);
}

async fn every_task_panics() {
    let server = server("").await;
    let (partner, _) = thoughtful(SparringKind::Greedy, Duration::from_millis(250));
    server.sparring_with(PARTNER, partner).await.expect("a new account");
    let daemon = Daemon::start(&server, "Concilio").await;
    let mut left = vec!["player", "game", "account", "FICS link"];
    while let Some(task) = left.last() {
        let game = game_between(&server, PARTNER, &daemon.name, None).await;
        let report = within("the fourth ply", server.wait_for_ply(&game, 4)).await.expect("a report");
        assert!(report.outcome.is_none(), "{report:?}");
        panics(task, 2);
        let what = format!("a panic of the task {task}");
        tokio::select! {
            () = seen(&what, || all_happened().then_some(())) => {
                left.pop();
            }
            // The game ended first: the task panics in the next game.
            _ = server.wait_for_end(&game) => (),
        }
        let mut report = ended(&server, &game).await;
        // The partner may send a move twice where the game is resumed while it thinks.
        let us = report.color_of(&daemon.name);
        report.refused.retain(|refused| Some(refused.color) == us);
        was_played_out(&report);
    }
    daemon.closes().await;
}
