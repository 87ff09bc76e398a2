//! A position is judged only once.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use bot::journal::Archive;
use domain::{Color, GameStatus};
use report::{
    ReportProgress,
    judge::{GameMaterial, JudgeEffort, JudgeSpec, Verdicts, judge_all},
    make_report,
};

use super::{
    council::FOOLS_MATE,
    journal::{Desk, ScriptedGame},
};

const GAME: ScriptedGame<'_> = ScriptedGame {
    id: "italian1",
    ours: Color::Black,
    moves: "e2e4 e7e5 g1f3 b8c6 f1c4 f8c5 c2c3 g8f6 d2d3 d7d6 e1g1 a7a6",
    votes: &[],
    end: (GameStatus::OutOfTime, Some(Color::White)),
    ..FOOLS_MATE
};

#[tokio::test]
async fn interrupted_report_resumes() {
    let desk = Desk::new();
    desk.play(&GAME).await;
    let request = desk.request();
    let stop = AtomicBool::new(true);
    let made = make_report(&request, &stop, &mut |_| (), &mut |_| ()).expect("no error");
    assert!(made.is_none(), "it was stopped before it began");

    let archive = Archive::open(&request.journal).expect("a journal");
    let record = archive.games(&request.filter).expect("games").remove(0);
    let material = GameMaterial::read(&archive, record).expect("the game");
    let questions = material.questions();
    let verdicts = Verdicts::open(&request.journal, &request.judge).expect("the journal");
    let stop = AtomicBool::new(false);
    let (half, all) = (questions[..5].to_vec(), questions.clone());
    let judge = |questions| {
        judge_all(&request.judge, questions, &verdicts, request.threads, &stop, &mut |_, _| ()).expect("judged")
    };
    assert_eq!(judge(half), 5);
    assert_eq!(judge(all.clone()), questions.len() - 5, "only what was missing");
    assert_eq!(judge(all), 0);

    let (made, games) = desk.report(&request);
    assert_eq!((games.len(), made.totals.studied), (1, 1));
    assert_eq!(games[0].opening.map(|opening| opening.family()), Some("Italian Game"));
    let causes: Vec<&str> = made.totals.losses.keys().map(|cause| cause.word()).collect();
    assert_eq!(causes, ["time"]);

    let written = || std::fs::read_to_string(desk.directory.path().join("report/games.pgn")).expect("the games");
    let whole = written();
    let made = make_report(&request, &AtomicBool::new(true), &mut |_| (), &mut |_| ()).expect("no error");
    assert!(made.is_none() && whole.contains("[%eval"), "{whole}");
    assert_eq!(written(), whole, "an interrupted report leaves what the earlier one has written");
}

#[tokio::test]
async fn verdicts_belong_to_their_judge() {
    let desk = Desk::new();
    desk.play(&GAME).await;
    let (first, _) = desk.report(&desk.request());
    let mut searched = 0;
    let mut watch = |progress: ReportProgress| {
        if progress.positions == 0 && progress.of_positions > 0 {
            searched = progress.of_positions;
        }
    };
    let stop = AtomicBool::new(false);
    let again = make_report(&desk.request(), &stop, &mut watch, &mut |_| ()).expect("no error").expect("a report");
    assert_eq!(searched, 0, "nothing was judged twice");
    assert_eq!(again.totals.labels, first.totals.labels);
    assert_eq!(again.changes.first().map(|change| change.before), Some(1.0), "the earlier report is compared");

    let other = report::ReportRequest { judge: JudgeSpec::own(JudgeEffort::Nodes(500)), ..desk.request() };
    let mut asked = false;
    let mut watch = |progress: ReportProgress| asked |= progress.positions < progress.of_positions;
    make_report(&other, &stop, &mut watch, &mut |_| ()).expect("no error").expect("a report");
    assert!(asked, "another judge has views of its own");
    assert!(!stop.load(Relaxed));
}

#[test]
fn missing_journal_is_one_error() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("journal.db");
    let error = Verdicts::open(&path, &JudgeSpec::default()).err().expect("no journal").to_string();
    assert!(error.contains("no such file"), "{error}");
    assert!(!path.exists());
}
