//! Engines of other projects as electors.

use std::{
    sync::{Arc, atomic::AtomicBool},
    time::Duration,
};

use concilio_council::{
    Council, CouncilSettings, Question, Roster,
    electors::{ElectorKind, ElectorSpec, EngineProgram, EngineProtocol, Pool, Task},
};
use domain::{Limits, Line, Proposal, Variant};
use testkit::needs::{FAIRYMAX, GNUCHESS, HOICHESS, Need, PHALANX, SJENG};
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
        let task = Task { time: Some(Duration::from_millis(1500)), ..Task::alone(Arc::new(line)) };
        let mut proposals = Vec::new();
        let searched = elector.search(&task, &AtomicBool::new(false), &mut |proposal| proposals.push(proposal));
        assert_eq!(searched, Ok(()), "{moves}");
        let last: &Proposal = proposals.last().unwrap_or_else(|| panic!("it proposes a move after {moves}"));
        assert!(task.line.is_legal(last.best), "{last:?}");
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
