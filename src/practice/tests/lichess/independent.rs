//! Test with the client of another project.

use std::process::{Command, Stdio};

use practice::SparringKind;

use crate::client::server;

#[testkit::test(needs(PYTHON_BERSERK))]
async fn berserk_plays_whole_games() {
    let server = server().await;
    let white = server.add_account("berserk-white", true).await.expect("an account");
    let black = server.add_account("berserk-black", true).await.expect("an account");
    let answers = ["e7e5", "d8h4"].map(|uci| uci.parse().expect("a move")).to_vec();
    server.sparring("fools-mate", SparringKind::Script(answers)).await.expect("a player");

    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/clients/berserk_game.py");
    let arguments = [server.url(), white, black, "fools-mate".to_owned()];
    let run = tokio::task::spawn_blocking(move || {
        Command::new(testkit::needs::PYTHON_BERSERK.path()).arg(script).args(arguments).stdin(Stdio::null()).output()
    });
    let output = run.await.expect("a task that ends").expect("a Python that runs");
    let words = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert!(output.status.success(), "{}\n{}", words(&output.stdout), words(&output.stderr));
    let reports = server.wait_for_games(2).await.expect("reports");
    assert!(reports.iter().all(|report| report.refused.is_empty()));
    assert_eq!(reports[0].chat.first().map(|line| line.text.as_str()), Some("Good luck"));
}
