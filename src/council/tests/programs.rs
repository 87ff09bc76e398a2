//! Engines of other projects in the pool and in the council, and tablebases beside it.

use std::{
    sync::{Arc, atomic::AtomicBool},
    time::Duration,
};

use concilio_council::{
    Council, CouncilSettings, Question, Roster,
    clock::ClockSettings,
    electors::{ElectorKind, ElectorSpec, EngineProgram, EngineProtocol, Job, Pool},
    player::{
        GamePlayer, Library, LostLines, MoveAnswer, MoveService, PlayerConfig, PlayerEvent, RequestId, SearchRequest,
        SharedLag, TablebaseSettings, TablebaseUse, Time,
    },
};
use domain::{Clock, Clocks, Decision, Limits, Line, Phase, Proposal, SearchId, Source, Task, TimeControl, Variant};
use testkit::needs::{FAIRYMAX, GNUCHESS, HOICHESS, Need, PHALANX, SJENG, SYZYGY};
use tokio::sync::mpsc::unbounded_channel;
use tokio_util::sync::CancellationToken;

fn main() -> std::process::ExitCode {
    testkit::main()
}

/// Searches four positions of a game. The opponent's last but one move is not the expected one, so the engine takes moves back.
fn follows_a_game(engine: &Need, arguments: &[&str]) {
    let program = EngineProgram {
        path: engine.path().to_owned(),
        arguments: arguments.iter().map(|&argument| argument.to_owned()).collect(),
        protocol: EngineProtocol::Cecp,
        ..EngineProgram::default()
    };
    let mut elector = ElectorSpec::new("engine".into(), ElectorKind::Engine(program), 16).start().expect("it starts");
    for moves in ["e2e4 e7e5", "e2e4 e7e5 g1f3 b8c6", "e2e4 e7e5 g1f3 g8f6 d2d4", "e2e4 e7e5 g1f3 g8f6 d2d4 f6e4"] {
        let mut line = Line::start(Variant::Standard);
        line.play_all(moves).expect("legal moves");
        let id = SearchId { game: "g".into(), ply: line.ply(), serial: 0, phase: Phase::First };
        let task = Task { id, line: Arc::new(line), root_moves: Vec::new(), limits: Limits::default() };
        let (job, mut proposals) = (Job::new(task).within(Some(Duration::from_millis(1500))), Vec::new());
        let searched = elector.search(&job, &AtomicBool::new(false), &mut |proposal| proposals.push(proposal));
        assert_eq!(searched, Ok(()), "{moves}");
        let last: &Proposal = proposals.last().unwrap_or_else(|| panic!("it proposes a move after {moves}"));
        assert!(job.task.line.is_legal(last.best), "{last:?}");
    }
}

#[testkit::test(needs(GNUCHESS))]
fn gnu_chess_takes_moves_back() {
    follows_a_game(&GNUCHESS, &[]);
}

#[testkit::test(needs(FAIRYMAX))]
fn fairy_max_takes_moves_back() {
    follows_a_game(&FAIRYMAX, &[]);
}

#[testkit::test(needs(PHALANX))]
fn phalanx_takes_moves_back() {
    follows_a_game(&PHALANX, &[]);
}

#[testkit::test(needs(HOICHESS))]
fn hoi_chess_takes_moves_back() {
    follows_a_game(&HOICHESS, &["-x"]);
}

#[testkit::test(needs(SJENG))]
fn sjeng_takes_moves_back() {
    follows_a_game(&SJENG, &[]);
}

#[testkit::test(needs(STOCKFISH, ETHEREAL))]
async fn council_of_engines_is_one_settings_file() {
    let text = include_str!("../../../config/council-of-engines.toml");
    let table: toml::Table = text.parse().expect("TOML");
    let council = table["player"]["council"].clone();
    let settings: CouncilSettings = council.try_into().expect("council settings");
    let roster = Roster::from_settings(&settings).expect("a roster");
    let mut council = Council::new(&Pool::new(0), &roster, &settings, Variant::Standard);
    let mut line = Line::start(Variant::Standard);
    for _ in 0..4 {
        let limits = Limits { nodes: Some(2_000), ..Limits::default() };
        // In step, so that also those are heard who could not change the outcome any more.
        let question = Question { limits, in_step: true, ..Question::new("g".into(), Arc::new(line.clone())) };
        let (never, mut ignore) = (CancellationToken::new(), |_: &Proposal| {});
        let decided = council.decide(question, &never, &mut ignore);
        let decision =
            tokio::time::timeout(Duration::from_secs(60), decided).await.expect("in time").expect("a decision");
        assert_eq!(decision.votes.len(), roster.electors().len(), "every elector votes");
        assert_eq!(decision.votes[0].knowledge, None, "the knowledge of another engine is unknown");
        line.play(decision.best).expect("legal");
    }
}

/// White is a queen up.
const QUEEN: &str = "8/8/8/3k4/8/8/2Q1K3/8 w - - 0 1";

/// The decision of a player with tablebases, in a minute's game.
async fn decision(usage: TablebaseUse, online: Option<Box<dyn MoveService>>) -> Decision {
    let settings = TablebaseSettings { paths: vec![SYZYGY.path().to_owned()], usage, ..TablebaseSettings::default() };
    let config = PlayerConfig {
        game: "story".into(),
        clock: ClockSettings::default(),
        lag: SharedLag::default(),
        library: Arc::new(Library::default().with_tablebases(&settings).expect("tables")),
        lost_lines: LostLines::default(),
        online,
    };
    let settings = CouncilSettings { roster: "mp ma".to_owned(), hash: 1, ..CouncilSettings::default() };
    let roster = Roster::from_settings(&settings).expect("a roster");
    let council = Council::new(&Pool::new(1), &roster, &settings, Variant::Standard);
    let (events, mut inbox) = unbounded_channel();
    let player = GamePlayer::start(config, council, events);
    let minute = Duration::from_secs(60);
    let clocks = Clocks::both(Clock { remaining: minute, increment: Duration::ZERO });
    let control = TimeControl::real_time(minute, Duration::ZERO);
    let _thinking = player.think(SearchRequest {
        id: RequestId(1),
        line: Arc::new(Line::from_fen(Variant::Standard, QUEEN).expect("a position")),
        others: Vec::new(),
        time: Time::Clock { control, clocks: Some(clocks), moves_to_go: None, spent: Duration::ZERO },
        limits: Limits { nodes: Some(500), ..Limits::default() },
        excluded: Vec::new(),
        always_search: false,
    });
    let decided = async {
        loop {
            if let PlayerEvent::Decided { decision, .. } = inbox.recv().await.expect("a player") {
                return *decision;
            }
        }
    };
    tokio::time::timeout(Duration::from_secs(60), decided).await.expect("in time")
}

#[testkit::test(needs(SYZYGY))]
async fn tablebase_plays_or_limits_the_electors() {
    let tables = engine::Tablebases::open(SYZYGY.path().to_str().expect("a path")).expect("tables");
    let position = engine::Position::from_line(QUEEN, false, []).expect("a position");
    let (_, kept) = tables.keeping_moves(&position, &position.legal_moves(), false).expect("three men");
    let kept: Vec<String> = kept.into_iter().map(|mv| position.move_to_uci(mv)).collect();
    assert!(kept.len() > 1 && !kept.contains(&"c2c6".to_owned()), "{kept:?}");
    for (usage, source) in [(TablebaseUse::Play, Source::Tablebase), (TablebaseUse::Suggest, Source::Council)] {
        let decision = decision(usage, None).await;
        assert_eq!(decision.source, source);
        assert!(kept.contains(&decision.best.to_string()), "{}", decision.best);
    }
}

/// Answers at once with a legal move that gives the queen away.
#[derive(Debug)]
struct Oracle;

impl MoveService for Oracle {
    fn ask<'a>(&'a mut self, line: &'a Line, _left: Option<Duration>) -> MoveAnswer<'a> {
        let best = "c2c6".parse().expect("a move");
        assert!(line.is_legal(best));
        Box::pin(std::future::ready(Some(Decision::without_vote(best, Source::Cloud))))
    }
}

#[testkit::test(needs(SYZYGY))]
async fn tables_veto_a_service_move() {
    assert_eq!(decision(TablebaseUse::Suggest, Some(Box::new(Oracle))).await.source, Source::Council);
}
