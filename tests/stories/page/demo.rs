//! From the command to a board that moves in the browser.

use std::process::Stdio;

use rustix::process::{Pid, Signal, kill_process};
use tokio::process::Command;

use super::{
    browser::{Browser, said_after},
    stage::within,
};

/// One command, and whoever follows the address that it prints sees the game.
#[tokio::test(flavor = "multi_thread")]
async fn the_demo_shows_its_game_in_the_browser() {
    let Some(browser) = Browser::start().await else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let mut demo = Command::new(env!("CARGO_BIN_EXE_concilio"))
        .args(["demo", "--tc", "600+5", "--roster", "mp ma mx", "--web", "127.0.0.1:0", "--data"])
        .arg(folder.path())
        .env("TERM", "dumb")
        .env_remove("RUST_LOG")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::inherit())
        .kill_on_drop(true)
        .spawn()
        .expect("it starts");
    let address = said_after(&mut demo, "the page is at ").await.expect("it says where the page is");

    browser.go(&address).await;
    browser.until("document.querySelectorAll('.focus .board .piece').length > 20").await;
    browser.until("document.querySelectorAll('.focus .council tbody tr:not(.silent)').length === 3").await;
    let moves = "document.querySelectorAll('.focus .moves li').length";
    let before = browser.script(&format!("return {moves}")).await;
    browser.until(&format!("{moves} >= {before} + 4")).await;
    assert!(!browser.console().await.contains("SEVERE"), "{}", browser.console().await);
    browser.close().await;

    let id = demo.id().and_then(|id| Pid::from_raw(id.cast_signed())).expect("it runs");
    kill_process(id, Signal::TERM).expect("it runs");
    assert!(within("the end of the demo", demo.wait()).await.expect("a status").success());
}
