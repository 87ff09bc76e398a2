//! Every mode as the state machine it is: orders are carried out one after the other, by one engine.

use std::{
    collections::VecDeque,
    sync::{Arc, atomic::AtomicBool},
};

use super::{Layout, Mode, Order, Stage, of, search_id};
use crate::{
    council::SecondPhaseMode,
    pool::{Elector, ElectorSpec, Job, Report},
};
use chess::{Knowledge, Limits, Line, Proposal, Score, Task, UciMove, Variant};

const MODES: [SecondPhaseMode; 6] = [
    SecondPhaseMode::Sequential,
    SecondPhaseMode::Static,
    SecondPhaseMode::Peer,
    SecondPhaseMode::PeerScore,
    SecondPhaseMode::PvSplit,
    SecondPhaseMode::Shared,
];

fn stage(fen: &str, candidates: &str, processes: usize, limits: Limits) -> Stage {
    let line = Arc::new(Line::from_fen(Variant::Standard, fen).expect("a position"));
    let candidates = candidates.split(' ').map(|text| text.parse().expect("a move")).collect();
    Stage { line, candidates, processes, limits }
}

/// Runs a mode to its end, and gives what it found.
fn run(mode: SecondPhaseMode, stage: &Stage) -> Option<Proposal> {
    let mut engine = ElectorSpec::own(Knowledge::COMPLETE, 1).start().expect("our own engine");
    let mut mode: Box<dyn Mode> = of(mode, None);
    let mut orders: VecDeque<Order> = mode.begin(stage).into();
    for _ in 0..10_000 {
        let Some(order) = orders.pop_front() else { return mode.found().cloned() };
        for report in carry_out(&mut *engine, &order) {
            orders.extend(mode.hear(stage, order.process, &report));
        }
    }
    panic!("it does not end");
}

fn carry_out(engine: &mut dyn Elector, order: &Order) -> Vec<Report> {
    let Order { line, root_moves, limits, guidance, .. } = order.clone();
    let task = Task { id: search_id("g".into(), &line), line, root_moves, limits };
    let id = task.id.clone();
    let mut reports = Vec::new();
    let job = Job::guided(task, guidance);
    engine
        .search(&job, &AtomicBool::new(false), &mut |proposal| reports.push(Report::Proposal(proposal)))
        .expect("it searches");
    reports.push(Report::Finished(id, "engine".into()));
    reports
}

fn depth(plies: u32) -> Limits {
    Limits { depth: Some(plies), ..Limits::default() }
}

#[test]
fn every_mode_finds_the_mate_among_the_moves_it_is_given() {
    let fen = "r4rk1/ppp2ppp/8/8/8/3R4/PPP1QPPP/6K1 w - - 0 1";
    let back_rank = "6k1/5ppp/8/8/8/8/5PPP/R3K3 w - - 0 1";
    for mode in MODES {
        for processes in [1, 3] {
            let processes = Layout::of(mode, processes).seats;
            let mating = stage(back_rank, "e1e2 a1a7 a1a8 a1b1", processes, depth(6));
            let found = run(mode, &mating).expect("a proposal");
            assert_eq!((found.best.to_string().as_str(), found.score), ("a1a8", Score::Mate(1)), "{mode:?}");
            let quiet = stage(fen, "e2e7 d3d7 e2e4", processes, depth(6));
            let found = run(mode, &quiet).expect("a proposal");
            assert!(quiet.candidates.contains(&found.best), "{mode:?} elects {}", found.best);
            assert_eq!(found.pv.first(), Some(&found.best));
        }
    }
}

#[test]
fn pv_split_agrees_with_the_search_of_one_process() {
    // A piece is to be won by a fork, and only by one of these moves.
    let fen = "r3k2r/ppp2ppp/8/3N4/8/8/PPP2PPP/R3K2R w - - 0 1";
    for processes in [1, 4] {
        let stage = stage(fen, "d5c7 d5e3 e1d1 a1d1 h1f1", processes, depth(8));
        let found = run(SecondPhaseMode::PvSplit, &stage).expect("a proposal");
        assert_eq!(found.best.to_string(), "d5c7");
        assert_eq!(found.depth, 8);
        assert!(found.score > Score::Cp(200), "{}", found.score);
        let mut line = (*stage.line).clone();
        assert!(found.pv.iter().all(|uci: &UciMove| line.play(*uci).is_ok()), "the variation can be played");
    }
}

#[test]
fn a_budget_of_nodes_ends_every_mode() {
    for mode in MODES {
        let layout = Layout::of(mode, 2);
        let limits = Limits { nodes: Some(4_000), ..Limits::default() };
        let stage = stage("startpos", "e2e4 d2d4 c2c4", layout.seats, limits);
        let found = run(mode, &stage).expect("a proposal");
        assert!(stage.candidates.contains(&found.best), "{mode:?}");
    }
}

#[test]
fn layouts_use_the_cores_there_are() {
    for cores in [1, 2, 7] {
        for mode in SecondPhaseMode::ALL {
            let layout = Layout::of(mode, cores);
            let used = layout.seats * layout.threads + usize::from(mode == SecondPhaseMode::Continued);
            let expected = if mode == SecondPhaseMode::Sequential { 1 } else { cores };
            assert_eq!(used, expected, "{mode:?}");
        }
    }
}
