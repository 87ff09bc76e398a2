//! An owner's bot in tournaments: found, joined, played, left and taken up again.

use std::{fs, time::Duration};

use domain::{GameTerms, TournamentKind, TournamentStage, Variant};
use practice::{AccountId, ServerState, TournamentPlan};

use super::{
    harness::{BOT, PARTNER, Story, tc, within},
    operator::{ctl, log, logged},
    restart::Daemon,
};

const SETTINGS: &str = "[player.council]\nroster = 'mp ma'\nhash = 1\n[player.limits]\nnodes = 500\n";

fn plan(kind: TournamentKind, id: &str) -> TournamentPlan {
    let terms = GameTerms { variant: Variant::Standard, time_control: tc("60+1"), rated: true };
    TournamentPlan { team: "bots".to_owned(), ..TournamentPlan::new(kind, id, terms) }
}

/// A stage with tournaments, after the partner has joined them.
async fn stage(plans: Vec<TournamentPlan>) -> Story {
    let story = Story::set_the_stage(|plan| plan.partner_thinks = Duration::from_millis(5)).await;
    let entered = story.server.ask(move |state| {
        for plan in plans {
            let (kind, id) = (plan.kind, plan.id.clone());
            state.hold_tournament(plan);
            state.enter(&AccountId::of(PARTNER), kind, &id)?;
        }
        Ok::<(), practice::Denied>(())
    });
    entered.await.expect("a server").expect("the partner may take part");
    story
}

/// Waits until the server's state is as wanted.
async fn comes_about(story: &Story, what: &str, is_so: impl Fn(&ServerState) -> bool + Send + 'static) {
    within(what, story.server.wait(move |state| is_so(state).then_some(()))).await.expect("a server");
}

fn takes_part(state: &ServerState, kind: TournamentKind, id: &str) -> bool {
    state.participants(kind, id).is_some_and(|present| present.contains(&AccountId::of(BOT)))
}

/// Returns the number of games of a tournament that the bot has finished.
fn played(state: &ServerState, kind: TournamentKind, id: &str) -> usize {
    let bot = AccountId::of(BOT);
    let standing = state.tournament(kind, id).map(practice::PracticeTournament::standing).unwrap_or_default();
    standing.into_iter().find(|(account, _)| **account == bot).map_or(0, |(_, one)| one.sheet.len())
}

/// The settings name a team and a password. The bot finds the arena, joins and plays; a pause
/// withdraws from it, and so does the end of the program; after a return the points are kept.
#[testkit::test]
async fn arena_is_joined_and_left_by_settings() {
    const ARENA: TournamentKind = TournamentKind::Arena;
    let closed = TournamentPlan { bots_allowed: false, ..plan(ARENA, "humans00") };
    let story = stage(vec![TournamentPlan { password: Some("sesame".to_owned()), ..plan(ARENA, "arena001") }]).await;
    story.server.ask(move |state| state.hold_tournament(closed)).await.expect("a server");
    let password = story.folder.path().join("password");
    fs::write(&password, "sesame\n").expect("a file");
    let settings = format!(
        "[tournament]\nenabled = true\nteams = ['bots']\njoin = [{{ tournament = 'arena001', password_file = '{}' }}]\n{SETTINGS}",
        password.display()
    );
    let daemon = Daemon::run_quietly(&story, &settings);
    logged(&story, &["joined Practice arena arena001"]).await;
    logged(&story, &["not joining Practice arena humans00", "bots may not take part"]).await;
    // A participant that has played a game has to announce itself for the next one.
    comes_about(&story, "two games of the arena", |state| played(state, ARENA, "arena001") >= 2).await;

    ctl(&story, &["pause"]).await.expect("it can pause");
    comes_about(&story, "the bot to withdraw", |state| !takes_part(state, ARENA, "arena001")).await;
    ctl(&story, &["resume"]).await.expect("it plays again");
    comes_about(&story, "the bot to come back", |state| takes_part(state, ARENA, "arena001")).await;
    let so_far = story.server.ask(|state| played(state, ARENA, "arena001")).await.expect("a server");
    comes_about(&story, "another game", move |state| played(state, ARENA, "arena001") > so_far).await;

    daemon.closes().await;
    assert!(!story.server.ask(|state| takes_part(state, ARENA, "arena001")).await.expect("a server"));
    let lines = log(&story);
    assert_eq!(lines.iter().filter(|line| line.contains("joined Practice arena")).count(), 1, "{lines:#?}");
    assert!(!lines.iter().any(|line| line.contains("sesame")), "{lines:#?}");

    // Killed or stopped, it knows where it was.
    let daemon = Daemon::run_quietly(&story, &settings);
    comes_about(&story, "the bot to be back after a restart", |state| takes_part(state, ARENA, "arena001")).await;
    ctl(&story, &["leave"]).await.expect("it is the only one");
    assert!(!story.server.ask(|state| takes_part(state, ARENA, "arena001")).await.expect("a server"));
    daemon.closes().await;
}

/// A Swiss tournament that the operator joined is played to its last round; then its place is free for others.
#[testkit::test]
async fn a_swiss_is_played_to_its_end() {
    const SWISS: TournamentKind = TournamentKind::Swiss;
    let story = stage(vec![plan(SWISS, "swiss001")]).await;
    let daemon = Daemon::run_quietly(&story, SETTINGS);
    logged(&story, &["connected as BOT Concilio"]).await;
    let wrong = ctl(&story, &["join", "swiss001", "--password-file", "/no/such/file"]).await.expect_err("no such file");
    assert!(wrong.contains("/no/such/file"), "{wrong}");
    ctl(&story, &["join", "swiss001"]).await.expect("it is open");
    let over = |state: &ServerState| state.tournament(SWISS, "swiss001").map(|held| held.stage);
    comes_about(&story, "the last round", move |state| over(state) == Some(TournamentStage::Over)).await;
    assert_eq!(story.server.ask(|state| played(state, SWISS, "swiss001")).await.expect("a server"), 3);
    for report in story.server.games().await.expect("reports") {
        super::harness::was_played_out(&report);
    }
    daemon.closes().await;
}

/// An arena ends at its time, and the log says where we ended.
#[testkit::test]
async fn arena_end_reports_the_standing() {
    const ARENA: TournamentKind = TournamentKind::Arena;
    let story = stage(vec![TournamentPlan { lasts: Duration::from_secs(12), ..plan(ARENA, "short001") }]).await;
    let daemon = Daemon::run_quietly(&story, SETTINGS);
    logged(&story, &["connected as BOT Concilio"]).await;
    // On a very busy machine the arena may be over already: then the command fails, and nothing hangs.
    if ctl(&story, &["join", "short001"]).await.is_ok() {
        logged(&story, &["Practice arena short001 is over: place "]).await;
    }
    daemon.closes().await;
}
