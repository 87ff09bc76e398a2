use std::num::NonZeroUsize;

use super::*;
use crate::suite::Suite;

const SUITE: &str = "1k1r4/pp1b1R2/3q2pp/4p3/2B5/4Q3/PPP2B2/2K5 b - - ; bm Qd1 + ; id BK.01\n\
    2rr3k/pp3pp1/1nnqbN1p/3pN3/2pP4/2P3Q1/PPB4P/R4RK1 w - - bm Qg6; id \"WAC.001\";\n\
    rnbqkb1r/p3pppp/1p6/2ppP3/3N4/2P5/PPP1QPPP/R1B1KB1R w KQkq -  ; bm e6; id BK.04";

fn plan(budget: u64) -> PositionsPlan {
    let candidate = |roster: &str| {
        let settings = CouncilSettings { roster: roster.to_owned(), hash: 1, ..CouncilSettings::default() };
        CandidateRoster::new(settings).unwrap_or_else(|error| panic!("{error}"))
    };
    PositionsPlan {
        positions: Suite::parse(SUITE).positions,
        candidates: vec![candidate("unbalanced-4"), candidate("m mp")],
        criteria: CriterionName::ALL.to_vec(),
        singles: Vec::new(),
        budget: Pace::Nodes(budget),
        oracle: None,
        seed: 1,
    }
}

fn workers(count: usize) -> NonZeroUsize {
    NonZeroUsize::new(count).expect("some")
}

fn report(plan: &PositionsPlan, searches: &mut Searches) -> PositionsReport {
    let mut none = Searches::in_memory(workers(1));
    let report = run(plan, searches, &mut none, &AtomicBool::new(false), |_, _, _| {});
    report.unwrap_or_else(|error| panic!("{error}")).expect("not stopped")
}

#[test]
fn criteria_share_their_proposals() {
    let report = report(&plan(2000), &mut Searches::in_memory(workers(2)));
    assert_eq!((report.positions, report.judged, report.rosters.len()), (3, 3, 2));
    assert_eq!(report.systems.len(), 1 + 2 * CriterionName::ALL.len());
    for system in &report.systems {
        assert_eq!(system.best + system.worst + system.other, 3, "{system:?}");
        let of_roster = report.rosters.iter().find(|roster| roster.name == system.name);
        if let (Some(roster), Some(criterion)) = (of_roster, system.criterion)
            && criterion != CriterionName::ReSearch
        {
            assert!((roster.intersection..=roster.union).contains(&system.best), "{system:?} {roster:?}");
        }
    }
    assert!(markdown(&report).contains("| unbalanced-4 | 4 |"));
}

#[test]
fn seed_fixes_figures_at_any_concurrency() {
    let one = report(&plan(500), &mut Searches::in_memory(workers(1)));
    let three = report(&plan(500), &mut Searches::in_memory(workers(3)));
    assert_eq!(one, three);
}

#[test]
fn stored_searches_are_not_repeated() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("searches.jsonl");
    let first = report(&plan(300), &mut Searches::open(&path, workers(2)).expect("a new file"));
    let mut kept = Searches::open(&path, workers(2)).expect("the same file");
    let mut none = Searches::in_memory(workers(1));
    let mut left = Vec::new();
    let again = run(&plan(300), &mut kept, &mut none, &AtomicBool::new(false), |_, _, of| left.push(of));
    assert_eq!(again.expect("searches").as_ref(), Some(&first));
    assert_eq!(left, [0, 0, 0]);
}

#[test]
fn oracle_values_every_proposed_move() {
    // Complete knowledge with more nodes stands in for an external engine.
    let oracle = Oracle { engine: ElectorSpec::own(Knowledge::COMPLETE, 1), nodes: 5000 };
    let plan = PositionsPlan { oracle: Some(oracle), ..plan(300) };
    let mut searches = Searches::in_memory(workers(2));
    let mut values = Searches::in_memory(workers(2));
    let report = run(&plan, &mut searches, &mut values, &AtomicBool::new(false), |_, _, _| {});
    let report = report.unwrap_or_else(|error| panic!("{error}")).expect("not stopped");
    for system in &report.systems {
        let regret = system.regret.expect("every move was valued");
        assert!((0.0..=1.0).contains(&regret.value), "{system:?}");
    }
    let base = &report.systems[0];
    assert_eq!(base.regret_against_base, None, "the base is not compared with itself");
    for roster in &report.rosters {
        let best = roster.regret_of_best.expect("valued").value;
        let plays = report
            .systems
            .iter()
            .filter(|system| system.name == roster.name && system.criterion != Some(CriterionName::ReSearch));
        for system in plays {
            assert!(system.regret.expect("valued").value >= best - 1e-12, "{system:?} {roster:?}");
        }
    }
}
