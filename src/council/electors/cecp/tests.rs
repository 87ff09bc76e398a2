use std::{fs, sync::Arc};

use tempfile::TempDir;

use super::*;
use crate::electors::{ElectorKind, ElectorResult, EngineProtocol};
use domain::{Limits, Line, Variant};

/// A program of the shell, and the folder of its transcript.
fn shell(script: &str) -> (TempDir, EngineProgram) {
    let folder = tempfile::tempdir().expect("a folder");
    let transcript = Some(folder.path().join("said.txt"));
    let program = EngineProgram { transcript, protocol: EngineProtocol::Cecp, ..EngineProgram::shell(script) };
    (folder, program)
}

/// An engine of the shell: what it answers to `go` and `?` is told, everything else it does as it should.
fn engine(go: &str, move_now: &str) -> (TempDir, EngineProgram) {
    shell(&format!(
        "while read -r command argument; do
  case $command in
    protover) echo 'feature ping=1 setboard=1 usermove=1 variants=\"normal,atomic\" option=\"Style -spin 1 0 9\" done=1' ;;
    ping) echo \"pong $argument\" ;;
    go) {go} ;;
    '?') {move_now} ;;
    quit) exit ;;
  esac
done"
    ))
}

fn start(program: &EngineProgram) -> ElectorResult<CecpElector> {
    let spec = ElectorSpec::new("engine".into(), ElectorKind::Engine(program.clone()), 16);
    CecpElector::start(&spec, program)
}

fn said(program: &EngineProgram) -> Vec<String> {
    let path = program.transcript.as_ref().expect("a transcript");
    let text = fs::read_to_string(path).expect("readable");
    text.lines().filter_map(|line| line.split_once(" > ")).map(|(_, said)| said.to_owned()).collect()
}

fn line(moves: &str) -> Line {
    let mut line = Line::start(Variant::Standard);
    line.play_all(moves).expect("legal moves");
    line
}

fn task(line: Line, time: Option<Duration>) -> Task {
    Task { time, ..Task::alone(Arc::new(line)) }
}

type Searched = (ElectorResult, Vec<Proposal>);

fn search(elector: &mut CecpElector, task: &Task, stop: &AtomicBool) -> Searched {
    let mut proposals = Vec::new();
    let searched = elector.search(task, stop, &mut |proposal| proposals.push(proposal));
    (searched, proposals)
}

/// Stops as soon as something is proposed.
fn search_a_little(elector: &mut CecpElector, task: &Task) -> Searched {
    let (stop, mut proposals) = (AtomicBool::new(false), Vec::new());
    let searched = elector.search(task, &stop, &mut |proposal| {
        proposals.push(proposal);
        stop.store(true, Ordering::Relaxed);
    });
    (searched, proposals)
}

const LONG: Option<Duration> = Some(Duration::from_secs(600));

#[test]
fn stopped_engine_moves() {
    let (_folder, program) = engine("echo '7 31 100 4242 e2e4 e7e5'", "echo 'move e2e4'");
    let mut elector = start(&program).expect("it starts");
    let (searched, proposals) = search_a_little(&mut elector, &task(line(""), LONG));
    assert_eq!(searched, Ok(()));
    let [proposal] = proposals.as_slice() else { panic!("one proposal: {proposals:?}") };
    assert_eq!(proposal.best.to_string(), "e2e4");
    assert_eq!((proposal.depth, proposal.score, proposal.nodes, proposal.pv.len()), (7, Score::Cp(31), 4242, 2));
    assert!(said(&program).contains(&"?".to_owned()));
}

#[test]
fn silent_engine_moves_before_the_deadline() {
    let (_folder, program) = engine(":", "echo 'move d2d4'");
    let mut elector = start(&program).expect("it starts");
    let task = task(line(""), Some(Duration::from_millis(100)));
    let (searched, proposals) = search(&mut elector, &task, &AtomicBool::new(false));
    assert_eq!((searched, proposals.len()), (Ok(()), 1));
    assert_eq!(proposals[0].best.to_string(), "d2d4");
}

#[test]
fn nodes_and_time_end_a_search() {
    let (_folder, program) = engine("echo '7 31 100 4242 e2e4'", "echo 'move e2e4'");
    let mut elector = start(&program).expect("it starts");
    for limits in [
        Limits { nodes: Some(4000), ..Limits::default() },
        Limits { time: Some(Duration::from_millis(20)), ..Limits::default() },
    ] {
        let mut task = task(line(""), None);
        task.limits = limits;
        assert_eq!(search(&mut elector, &task, &AtomicBool::new(false)).0, Ok(()));
    }
}

#[test]
fn ponder_miss_is_taken_back() {
    let (_folder, program) = engine("echo '1 0 0 1 g8f6'", "echo 'move g8f6'");
    let mut elector = start(&program).expect("it starts");
    assert_eq!(search_a_little(&mut elector, &task(line("e2e4"), LONG)).0, Ok(()));
    assert_eq!(search_a_little(&mut elector, &task(line("d2d4"), LONG)).0, Ok(()));
    let told: Vec<String> =
        said(&program).into_iter().filter(|said| said == "undo" || said.starts_with("user")).collect();
    assert_eq!(told, ["usermove e2e4", "undo", "undo", "usermove d2d4"]);
    elector.new_game();
    assert_eq!(search_a_little(&mut elector, &task(line("e2e4"), LONG)).0, Ok(()));
    assert_eq!(said(&program).iter().filter(|said| *said == "new").count(), 2);
}

#[test]
fn resignation_scores_as_a_loss() {
    let (_folder, program) = engine("echo '7 -300 100 4242 e2e4'; echo resign", ":");
    let mut elector = start(&program).expect("it starts");
    let (searched, proposals) = search(&mut elector, &task(line(""), LONG), &AtomicBool::new(false));
    assert_eq!(searched, Ok(()));
    let scores: Vec<Score> = proposals.iter().map(|proposal| proposal.score).collect();
    assert_eq!(scores, [Score::Cp(-300), RESIGNED]);
    let (_folder, program) = engine("echo resign", ":");
    let mut elector = start(&program).expect("it starts");
    let (searched, _) = search(&mut elector, &task(line(""), LONG), &AtomicBool::new(false));
    assert_eq!(searched, Err(ElectorFailure("engine resigns".to_owned())));
}

#[test]
fn bad_engine_answers_are_failures() {
    let stopped = AtomicBool::new(true);
    for (go, move_now, complaint) in [
        ("echo 'Illegal move: e2e4'", ":", "does not follow the game: Illegal move: e2e4"),
        ("echo 'move e2e5'", ":", "gave no legal move: \"e2e5\""),
        (":", ":", "did not stop and was killed"),
        ("echo 'out of memory' >&2; exit 1", ":", "the engine has ended: out of memory"),
    ] {
        let (_folder, program) = engine(go, move_now);
        let mut elector = start(&program).expect("it starts");
        let failure = search(&mut elector, &task(line("e2e4"), LONG), &stopped).0.expect_err("a failure").to_string();
        assert!(failure.contains(complaint), "{failure}");
    }
}

#[test]
fn variants_and_options_are_announced() {
    let (_folder, program) = engine(":", ":");
    assert_eq!(
        start(&program).expect("it starts").engine.variants(),
        [Variant::Standard, Variant::FromPosition, Variant::Atomic]
    );
    let with = |name: &str, value: &str| EngineProgram {
        options: [(name.to_owned(), value.to_owned())].into(),
        ..program.clone()
    };
    assert!(start(&with("style", "7")).is_ok());
    assert!(said(&program).contains(&"option Style=7".to_owned()));
    let unknown = start(&with("Contempt", "7")).err().expect("it has no such option").to_string();
    assert!(unknown.contains("has no option \"Contempt\""), "{unknown}");
}

#[test]
fn chess960_castling_sets_the_variant() {
    let fen = "bqnb1rkr/pp3ppp/3ppn2/2p5/5P2/P2P4/NPP1P1PP/BQ1BNRKR w HFhf - 2 9";
    let position = Line::from_fen(Variant::FromPosition, fen).expect("a position");
    let (_folder, mut program) = engine("echo '1 0 0 1 a2c1'", "echo 'move a2c1'");
    let mut elector = start(&program).expect("it starts");
    let refused = search_a_little(&mut elector, &task(position.clone(), LONG)).0.expect_err("it does not know them");
    assert!(refused.to_string().contains("does not play chess960"), "{refused}");
    program.arguments[1] = program.arguments[1].replace("normal,atomic", "normal,fischerandom");
    let mut elector = start(&program).expect("it starts");
    assert_eq!(search_a_little(&mut elector, &task(position, LONG)).0, Ok(()));
    assert!(said(&program).contains(&"variant fischerandom".to_owned()));
}

#[test]
fn version_1_engine_plays() {
    let old = "echo Chess; while read -r command; do case $command in go) echo 'My move is: b8c6' ;; esac; done";
    let (_folder, program) = shell(old);
    let mut elector = start(&program).expect("it starts");
    let (searched, proposals) = search(&mut elector, &task(line("e2e4"), LONG), &AtomicBool::new(false));
    assert_eq!((searched, proposals.len()), (Ok(()), 1));
}
