//! Every mode as the state machine it is: assignments are carried out one after another, by one
//! engine.

use std::{
    collections::VecDeque,
    sync::{Arc, atomic::AtomicBool},
    time::Duration,
};

use super::{Layout, SearchAssignment, SecondPhaseStrategy, SecondPhaseTask, of};
use crate::electors::{Elector, ElectorSpec, SearchReport, Task};
use domain::{Knowledge, Limits, Line, Phase, Proposal, Score, SecondPhaseMode, UciMove, Variant};

const MODES: [SecondPhaseMode; 6] = [
    SecondPhaseMode::Sequential,
    SecondPhaseMode::Static,
    SecondPhaseMode::Peer,
    SecondPhaseMode::PeerScore,
    SecondPhaseMode::PvSplit,
    SecondPhaseMode::Shared,
];

fn task(fen: &str, candidates: &str, searchers: usize, limits: Limits) -> SecondPhaseTask<Line> {
    let line = Arc::new(Line::from_fen(Variant::Standard, fen).expect("a position"));
    let candidates = candidates.split(' ').map(|text| text.parse().expect("a move")).collect();
    SecondPhaseTask { game: "g".into(), phase: Phase::Second, line, candidates, searchers, limits }
}

fn run(mode: SecondPhaseMode, task: &SecondPhaseTask<Line>) -> Option<Proposal> {
    let mut engine = ElectorSpec::own(Knowledge::COMPLETE, 1).start().expect("our own engine");
    let mut strategy: Box<dyn SecondPhaseStrategy<Line>> = of(mode, task.clone(), None);
    let mut assignments: VecDeque<SearchAssignment<Line>> = strategy.begin().into();
    for _ in 0..10_000 {
        let Some((searcher, search)) = assignments.pop_front() else { return strategy.found().cloned() };
        for report in carry_out(&mut *engine, &search) {
            assignments.extend(strategy.on_report(searcher, &report));
        }
    }
    panic!("it does not end");
}

fn carry_out(engine: &mut dyn Elector, task: &Task) -> Vec<SearchReport> {
    let mut reports = Vec::new();
    engine
        .search(task, &AtomicBool::new(false), &mut |proposal| reports.push(SearchReport::Proposal(proposal)))
        .expect("it searches");
    reports.push(SearchReport::Finished(task.id.clone(), "engine".into()));
    reports
}

fn depth(plies: u32) -> Limits {
    Limits { depth: Some(plies), ..Limits::default() }
}

#[test]
fn every_mode_finds_the_mate() {
    let fen = "r4rk1/ppp2ppp/8/8/8/3R4/PPP1QPPP/6K1 w - - 0 1";
    let back_rank = "6k1/5ppp/8/8/8/8/5PPP/R3K3 w - - 0 1";
    for mode in MODES {
        for searchers in [1, 3] {
            let searchers = Layout::of(mode, searchers).slots;
            let mating = task(back_rank, "e1e2 a1a7 a1a8 a1b1", searchers, depth(6));
            let found = run(mode, &mating).expect("a proposal");
            assert_eq!((found.best.to_string().as_str(), found.score), ("a1a8", Score::Mate(1)), "{mode:?}");
            let quiet = task(fen, "e2e7 d3d7 e2e4", searchers, depth(6));
            let found = run(mode, &quiet).expect("a proposal");
            assert!(quiet.candidates.contains(&found.best), "{mode:?} elects {}", found.best);
            assert_eq!(found.pv.first(), Some(&found.best));
        }
    }
}

#[test]
fn pv_split_agrees_with_one_process() {
    // A piece is to be won by a fork, and only by one of these moves.
    let fen = "r3k2r/ppp2ppp/8/3N4/8/8/PPP2PPP/R3K2R w - - 0 1";
    for searchers in [1, 4] {
        let task = task(fen, "d5c7 d5e3 e1d1 a1d1 h1f1", searchers, depth(8));
        let found = run(SecondPhaseMode::PvSplit, &task).expect("a proposal");
        assert_eq!(found.best.to_string(), "d5c7");
        assert_eq!(found.depth, 8);
        assert!(found.score > Score::Cp(200), "{}", found.score);
        let mut line = (*task.line).clone();
        assert!(found.pv.iter().all(|uci: &UciMove| line.play(*uci).is_ok()), "the variation can be played");
    }
}

#[test]
fn node_budget_ends_every_mode() {
    for mode in MODES {
        let layout = Layout::of(mode, 2);
        let limits = Limits { nodes: Some(4_000), ..Limits::default() };
        let task = task("startpos", "e2e4 d2d4 c2c4", layout.slots, limits);
        let found = run(mode, &task).expect("a proposal");
        assert!(task.candidates.contains(&found.best), "{mode:?}");
    }
}

/// If each search lasted the whole time, modes that divide one among many would never end.
#[test]
fn a_limit_of_time_ends_every_mode() {
    for mode in MODES {
        let layout = Layout::of(mode, 2);
        let limits = Limits { time: Some(Duration::from_millis(50)), ..Limits::default() };
        let task = task("startpos", "e2e4 d2d4 c2c4", layout.slots, limits);
        let found = run(mode, &task).expect("a proposal");
        assert!(task.candidates.contains(&found.best), "{mode:?}");
    }
}

#[test]
fn pv_split_shares_its_budget() {
    for searchers in [1, 4] {
        let limits = Limits { nodes: Some(5_000), ..Limits::default() };
        let task = task("startpos", "e2e4 d2d4 c2c4 g1f3", searchers, limits);
        let mut engine = ElectorSpec::own(Knowledge::COMPLETE, 1).start().expect("our own engine");
        let mut strategy = of(SecondPhaseMode::PvSplit, task, None);
        let mut assignments: VecDeque<SearchAssignment<Line>> = strategy.begin().into();
        let mut spent = 0;
        while let Some((searcher, search)) = assignments.pop_front() {
            let reports = carry_out(&mut *engine, &search);
            spent +=
                reports.iter().filter_map(SearchReport::proposal).map(|proposal| proposal.nodes).max().unwrap_or(0);
            for report in reports {
                assignments.extend(strategy.on_report(searcher, &report));
            }
        }
        let all = 5_000 * searchers as u64;
        assert!((all * 9 / 10..=all * 11 / 10).contains(&spent), "{spent} of {all}");
    }
}

#[test]
fn pv_split_deepens_a_single_move() {
    let fen = "8/5pk1/1p2p1p1/p1p1P2p/P1P2P1P/1P2K1P1/8/8 w - - 0 1";
    let task = task(fen, "b3b4", 3, depth(8));
    assert_eq!(run(SecondPhaseMode::PvSplit, &task).expect("a proposal").depth, 8);
}

#[test]
fn layouts_use_the_cores_there_are() {
    for cores in [1, 2, 7] {
        for mode in SecondPhaseMode::ALL {
            let layout = Layout::of(mode, cores);
            let used = layout.slots * layout.threads + usize::from(mode == SecondPhaseMode::Continued);
            let expected = if mode == SecondPhaseMode::Sequential { 1 } else { cores };
            assert_eq!(used, expected, "{mode:?}");
        }
    }
}
