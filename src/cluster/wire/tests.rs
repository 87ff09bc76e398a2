//! Golden bytes: what is on the wire today must be understood tomorrow, or be another version of the protocol.

use std::{collections::BTreeMap, path::PathBuf, sync::Arc};

use proptest::prelude::*;

use super::*;
use crate::ProcessIdentity;
use council::electors::{ElectorSpec, Task};
use domain::{GameId, Line, Phase};
use engine::{TableBatch, TableEntry};

fn identity() -> ProcessIdentity {
    let sender = Sender { name: "garret".to_owned(), run: RunId(0x0123_4567_89ab_cdef) };
    ProcessIdentity { sender, version: "0.1.0-70720".to_owned() }
}

fn search() -> SearchId {
    SearchId { game: GameId::new("abcdefgh"), ply: 2, serial: 300, phase: Phase::First }
}

fn command() -> WorkerCommand {
    let mut line = Line::start(Variant::Standard);
    line.play_all("e2e4 e7e5").expect("legal");
    let limits = Limits { nodes: Some(5000), ..Limits::default() };
    let task = Task { limits, ..Task::new(search(), Arc::new(line)) };
    let spec = ElectorSpec::own("mpar".parse().expect("letters"), 8);
    WorkerCommand::Search(Box::new(SearchCommand::of(&task, 7, RemoteElector::of(&spec, None).expect("it travels"), 1)))
}

fn proposal() -> ProposalText {
    ProposalText {
        moves: "g1f3 b8c6".to_owned(),
        score: Score::Cp(-17),
        bound: Bound::Exact,
        depth: 9,
        selective_depth: 14,
        root_moves_done: 0,
        nodes: 4711,
        microseconds: 12_345,
    }
}

fn event(kind: SearchEventKind) -> SearchEvent {
    SearchEvent { search: search(), elector: "mpar".into(), kind }
}

fn heartbeat() -> Heartbeat {
    Heartbeat {
        state: WorkerState::Lending,
        cores: 8,
        speed: 1200,
        engines: vec!["stockfish".to_owned()],
        daemons: vec![RunId(5)],
        searches: vec![(RunId(5), SearchStatus { search: search(), elector: "mpar".into(), threads: 1, nodes: 4711 })],
        answers: Some(3),
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

const HEAD: &str = "040b302e312e302d3730373230ef9bafcdf8acd19101";

#[track_caller]
fn golden<B>(body: &B, bytes: &str)
where
    B: Serialize + DeserializeOwned + PartialEq + std::fmt::Debug,
{
    let encoded = encode(&identity(), body);
    assert_eq!(hex(&encoded), format!("{HEAD}{bytes}"));
    let (sender, read) = decode::<B>("garret", &encoded, &identity().version).expect("our own message");
    assert_eq!((&sender, &read), (&identity().sender, body));
}

#[test]
fn messages_have_their_golden_bytes() {
    golden(&Poll { number: 3, searches: vec![300] }, GOLDEN_CALL);
    golden(&heartbeat(), GOLDEN_BEAT);
    golden(&command(), GOLDEN_SEARCH);
    golden(&WorkerCommand::Stop(300), "01ac02");
    golden(&WorkerCommand::NewGame(7), "0207");
    golden(&WorkerCommand::Leave(7), "0307");
    let entries = vec![TableEntry::new(0x0123_4567_89ab_cdef, 0x0300_0000_0032_1234)];
    let news = TableNews::of(300, &TableBatch { root: 5, entries });
    golden(&WorkerCommand::Table(news.clone()), "04ac0205103412320000000003efcdab8967452301");
    golden(
        &Addressed { to: RunId(5), body: WorkerMessage::Table(news) },
        "0502ac0205103412320000000003efcdab8967452301",
    );
    golden(&event(SearchEventKind::Proposal(proposal())), GOLDEN_PROPOSAL);
    golden(&event(SearchEventKind::Finished(5000)), "08616263646566676802ac0200046d706172018827");
    golden(&event(SearchEventKind::Failed("no".to_owned())), "08616263646566676802ac0200046d70617202026e6f");
    golden(&event(SearchEventKind::GivenBack), "08616263646566676802ac0200046d70617203");
    golden(&Addressed { to: RunId(5), body: WorkerCommand::Stop(300) }, "0501ac02");
    let given_back = WorkerMessage::Event(event(SearchEventKind::GivenBack));
    golden(&Addressed { to: RunId(5), body: given_back }, "050108616263646566676802ac0200046d70617203");
    let answer = format!("0500{GOLDEN_BEAT}");
    golden(&Addressed { to: RunId(5), body: WorkerMessage::Answer(heartbeat()) }, &answer);
}

const GOLDEN_CALL: &str = "0301ac02";
const GOLDEN_BEAT: &str = "0008b009010973746f636b666973680105010508616263646566676802ac0200046d70617201e7240103";
const GOLDEN_SEARCH: &str = concat!(
    "0008616263646566676802ac020007046d706172080000046d7061726464646464646464641464000001000009653265342065",
    "376535000000000188270000"
);
const GOLDEN_PROPOSAL: &str = "08616263646566676802ac0200046d7061720009673166332062386336002100090e00e724b960";

#[test]
fn other_version_is_refused_by_name() {
    let encoded = encode(&identity(), &WorkerCommand::Stop(1));
    let error = decode::<WorkerCommand>("garret", &encoded, "0.2.0-1").expect_err("another version");
    let text = error.to_string();
    assert!(text.contains("garret runs concilio 0.1.0-70720") && text.contains("this is 0.2.0-1"), "{text}");
    let mut newer = encoded.to_vec();
    newer[0] = 5;
    let error = decode::<WorkerCommand>("garret", &newer, &identity().version).expect_err("another protocol");
    assert!(error.to_string().contains("(protocol 5)"), "{error}");
}

#[test]
fn oversized_messages_are_rejected() {
    let encoded = encode(&identity(), &WorkerCommand::Stop(1));
    let with = |tail: usize| [&encoded[..], &vec![0; tail]].concat();
    let version = identity().version;
    assert!(decode::<WorkerCommand>("garret", &with(0), &version).is_ok());
    assert_eq!(decode::<WorkerCommand>("garret", &with(1), &version), Err(DecodeError::Malformed));
    assert_eq!(decode::<WorkerCommand>("garret", &with(LONGEST), &version), Err(DecodeError::Malformed));
    assert_eq!(decode::<WorkerCommand>("garret", &[], &version), Err(DecodeError::Malformed));
}

fn task() -> Task {
    let WorkerCommand::Search(command) = command() else { unreachable!("a search") };
    command.task().expect("a task")
}

#[track_caller]
fn refused(change: impl FnOnce(&mut ProposalText), why: &str) {
    let mut text = proposal();
    change(&mut text);
    let error = text.proposal(&task(), &"mpar".into(), &"garret".into()).expect_err(why).to_string();
    assert!(error.contains(why), "{error}");
}

#[test]
fn impossible_proposals_are_errors() {
    let read = proposal().proposal(&task(), &"mpar".into(), &"garret".into()).expect("it can be");
    assert_eq!((read.best.to_string().as_str(), read.machine), ("g1f3", Some("garret".into())));
    refused(|text| text.moves = "e2e4".to_owned(), "not legal");
    refused(|text| text.moves = "g1f3 g1f3".to_owned(), "not legal");
    refused(|text| text.moves = "0000".to_owned(), "not legal");
    refused(|text| text.moves = String::new(), "without a move");
    refused(|text| text.moves = "invalid".to_owned(), "no move");
    for score in [Score::Cp(i32::MIN), Score::Mate(i32::MIN), Score::Mate(-1_000_000), Score::Mate(1001)] {
        refused(|text| text.score = score, "score");
    }
    refused(|text| text.depth = u32::MAX, "depth");
    refused(|text| text.nodes = u64::MAX, "nodes");
    refused(|text| text.microseconds = u64::MAX, "time");
}

#[test]
fn file_options_are_not_sent() {
    use council::electors::{ElectorKind, EngineProgram};
    let engine = |value: &str| {
        let options = [("Hash".to_owned(), value.to_owned())].into();
        let program = EngineProgram { path: "/usr/games/stockfish".into(), options, ..EngineProgram::default() };
        RemoteElector::of(&ElectorSpec::new("fish".into(), ElectorKind::Engine(program), 16), None)
    };
    assert_eq!(engine("16").as_ref().and_then(RemoteElector::engine), Some("stockfish"));
    assert_eq!(engine("/tmp/log"), None);
    assert_eq!(engine("512").map(|elector| elector.hash), Some(512), "the table that it asks for");
}

#[test]
fn options_keep_the_workers_limits() {
    use council::electors::{ElectorKind, EngineProgram};
    let engines: BTreeMap<String, PathBuf> = [("fish".to_owned(), "/bin/fish".into())].into();
    let program = |names: &[&str]| {
        let options = names.iter().map(|name| ((*name).to_owned(), "4096".to_owned())).collect();
        let kind = RemoteElectorKind::Uci { engine: "fish".to_owned(), options };
        let elector = RemoteElector { name: "fish".into(), hash: 16, table: None, kind };
        elector.spec(2, &engines).map(|spec| match spec.kind {
            ElectorKind::Engine(EngineProgram { options, .. }) => options.into_keys().collect::<Vec<_>>(),
            other => panic!("{other:?}"),
        })
    };
    let kept = program(&["Hash", "hash", " HASH ", "Threads", "tHREADS", "Skill Level"]);
    assert_eq!(kept, Ok(vec!["Skill Level".to_owned()]));
    for bad in ["Hash value 4096", "Skill Level VALUE 3 name Hash", "name Hash"] {
        assert!(program(&[bad]).is_err(), "{bad}");
    }
}

proptest! {
    #[test]
    fn no_bytes_bring_a_reader_down(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        let version = identity().version;
        let with_head = [&encode(&identity(), &())[..], &bytes].concat();
        for bytes in [&bytes, &with_head] {
            let _ = decode::<Heartbeat>("garret", bytes, &version);
            let _ = decode::<Poll>("garret", bytes, &version);
            if let Ok((_, WorkerCommand::Search(command))) = decode::<WorkerCommand>("garret", bytes, &version) {
                let _ = (command.task(), command.elector.spec(command.threads, &Default::default()));
            }
            if let Ok((_, SearchEvent { kind: SearchEventKind::Proposal(text), .. })) = decode::<SearchEvent>("garret", bytes, &version) {
                let _ = text.proposal(&task(), &"mpar".into(), &"garret".into());
            }
        }
    }
}
