//! Books in games of the whole daemon.

use std::{fs, process::Command};

use domain::Color;

use super::{
    harness::{Story, tc, within},
    operator::{ctl, logged},
    restart::Daemon,
};

/// After a lost game the journal blocks the same book line: the next game's move is searched.
#[testkit::test]
async fn lost_book_line_is_not_repeated() {
    let story = Story::set_the_stage(|plan| plan.time_control = tc("600+5")).await;
    // No game is over before it is resigned.
    story.partner_stops_at(2);
    let (text, book) = (story.folder.path().join("lines.txt"), story.folder.path().join("book.bin"));
    fs::write(&text, "! King's pawn\ne2e4\n").expect("written");
    let make =
        Command::new(env!("CARGO_BIN_EXE_concilio")).args(["book", "make"]).arg(&text).arg("-o").arg(&book).output();
    assert!(make.expect("it starts").status.success());
    let settings = format!(
        "[challenge]\nfriends = ['Partner']
[player.council]\nroster = 'mp ma'\nhash = 1\n[player.limits]\nnodes = 2000
[player.book]\nfiles = ['{}']\nrepeat_lost = false\n",
        book.display()
    );
    let daemon = Daemon::run_quietly(&story, &settings);
    let mut sources = Vec::new();
    for _ in 0..2 {
        let game = story.challenge_with(|terms| terms.color = Some(Color::Black)).await;
        story.ply(&game, 2).await;
        ctl(&story, &["resign", game.as_str()]).await.expect("it can resign");
        within("the end of the game", story.server.wait_for_end(&game)).await.expect("a report");
        logged(&story, &[game.as_str(), "over:"]).await;
        let first = story.journal_of(&game).into_iter().next().and_then(|record| record.ours).expect("our move");
        sources.push(first.source);
    }
    assert_eq!(sources, ["book", "council"]);
    daemon.closes().await;
}
