//! The daemon studies its finished games while it plays none, and stops at once when the next one begins.

use std::fs;

use super::super::lichess::{
    harness::{BOT, Story, seen, within},
    operator::logged,
    restart::Daemon,
};

fn settings(story: &Story, nodes: u64) -> String {
    format!(
        "[challenge]\nfriends = ['Partner']\n[player.council]\nroster = 'trivial'\n\
         [report]\nwhen_idle = true\nnodes = {nodes}\noutput = '{}'\n",
        story.folder.path().join("report").display()
    )
}

#[testkit::test]
async fn idle_study_yields_to_a_game() {
    let story = Story::set_the_stage(|_| ()).await;
    let pages = story.folder.path().join("report/index.html");
    // Such a search never ends by itself while a game waits: it has to be stopped.
    let daemon = Daemon::run(&story, &settings(&story, 1_000_000_000));
    within("the daemon to be online", story.server.wait_until_online(BOT)).await.expect("a server");
    let first = story.challenge().await;
    story.played(&first).await;
    logged(&story, &["finished games are being judged"]).await;
    let second = story.challenge().await;
    logged(&story, &["the study of finished games gives way to a game"]).await;
    story.played(&second).await;
    // It ends in the middle of a study.
    daemon.closes().await;

    let _patient = Daemon::run(&story, &settings(&story, 100));
    let studied = || fs::read_to_string(&pages).ok().filter(|page| page.contains("2 games, 2 of them studied"));
    seen("a report of both games", studied).await;
}
