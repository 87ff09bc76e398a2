use std::{
    sync::{Arc, atomic::AtomicBool},
    time::Duration,
};

use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use crate::{
    Council, CouncilSettings, CriterionName, Progress, Question, Roster,
    electors::{Elector, ElectorFailure, ElectorKind, ElectorMaker, ElectorSpec, Job, Pool},
};
use domain::{Bound, Decision, Limits, Line, Proposal, Score, Source, Variant};

/// Turns a hang into a failure.
const TOO_LONG: Duration = Duration::from_secs(60);

/// White mates by a long series of checks.
const MATE_BY_CHECKS: &str = "1b5k/7P/p1p2np1/2P2p2/PP3P2/4RQ1R/q2r3P/6K1 w - - 0 1";

/// The rook that goes to b7 is needed on the back rank; White has no mate.
const BACK_RANK: &str = "4r1k1/4qppp/8/8/8/8/1R3PPP/R5K1 w - - 0 1";

/// Proposes a move with a score, and then waits until it is told to stop.
struct Says(&'static str, i32);

impl Elector for Says {
    fn search(&mut self, job: &Job, stop: &AtomicBool, report: &mut dyn FnMut(Proposal)) -> Result<(), ElectorFailure> {
        let best = self.0.parse().expect("a move");
        report(Proposal {
            search: job.task.id.clone(),
            elector: "fake".into(),
            machine: None,
            best,
            score: Score::Cp(self.1),
            bound: Bound::Exact,
            depth: 9,
            selective_depth: 9,
            root_moves_done: 0,
            nodes: 1,
            time: Duration::ZERO,
            pv: vec![best],
        });
        while !stop.load(std::sync::atomic::Ordering::Relaxed) {
            std::thread::park_timeout(Duration::from_millis(1));
        }
        Ok(())
    }
}

/// A council of electors that say this, and the prover.
fn council(says: &[(&'static str, i32)]) -> Council {
    let electors = says.iter().enumerate().map(|(number, (best, score))| {
        let (best, score) = (*best, *score);
        let make = ElectorMaker::new(move |_| Ok(Box::new(Says(best, score))));
        ElectorSpec::new(format!("fake-{number}").into(), ElectorKind::Made(make), 1)
    });
    let roster = Roster::of(electors.collect()).advised_by(vec![ElectorSpec::mates(1)]);
    let settings = CouncilSettings { criterion: CriterionName::Optimistic, hash: 1, ..CouncilSettings::default() };
    Council::new(&Pool::new(1), &roster, &settings, Variant::Standard)
}

/// A question about a position whose time is up when `enough` says so.
fn question(fen: &str, enough: impl Fn(&Progress) -> bool + Send + 'static) -> Question {
    let line = Arc::new(Line::from_fen(Variant::Standard, fen).expect("a position"));
    let timing = move |progress: &Progress| if enough(progress) { Duration::ZERO } else { TOO_LONG };
    Question { timing: Some(Box::new(timing)), ..Question::new("g".into(), line) }
}

async fn decide(council: &mut Council, question: Question) -> Decision {
    let (never, mut ignore) = (CancellationToken::new(), |_: &Proposal| {});
    let decided = council.decide(question, &never, &mut ignore);
    timeout(TOO_LONG, decided).await.expect("in time").expect("a decision")
}

#[tokio::test]
async fn proved_mate_ends_the_vote() {
    let mut council = council(&[("e3d3", 50), ("f3d3", 90)]);
    let decision = decide(&mut council, question(MATE_BY_CHECKS, |_| false)).await;
    assert_eq!(decision.best.to_string(), "e3e8");
    assert!(matches!(decision.score, Some(Score::Mate(8..))), "{:?}", decision.score);
    assert_eq!(decision.ponder.map(|reply| reply.to_string()).as_deref(), Some("f6e8"));
    assert_eq!((decision.source, decision.criterion), (Source::Proof, None), "no vote elected it");
    let proof = decision.votes.iter().find(|vote| vote.proposal.elector.as_str() == "mates").expect("it is shown");
    assert!(proof.weight.is_none() && proof.proposal.pv.len() > 14);
}

#[tokio::test]
async fn provers_are_reproducible() {
    let settings = CouncilSettings {
        roster: "complete-2".to_owned(),
        advisers: "mates mp".to_owned(),
        hash: 1,
        cores: 2,
        ..CouncilSettings::default()
    };
    let roster = Roster::from_settings(&settings).expect("a roster");
    assert_eq!(roster.advisers().len(), 2);
    for (fen, mates) in [(BACK_RANK, false), (MATE_BY_CHECKS, true)] {
        let mut decisions = Vec::new();
        for _ in 0..2 {
            let mut council = Council::new(&Pool::new(1), &roster, &settings, Variant::Standard);
            let limits = Limits { nodes: Some(40_000), ..Limits::default() };
            let asked = Question { limits, in_step: true, timing: None, ..question(fen, |_| false) };
            let decision = decide(&mut council, asked).await;
            let votes =
                decision.votes.iter().map(|vote| (vote.proposal.best, vote.proposal.score, vote.proposal.nodes));
            decisions.push((decision.best, decision.score, votes.collect::<Vec<_>>()));
        }
        assert_eq!(decisions[0], decisions[1]);
        assert_eq!(matches!(decisions[0].1, Some(Score::Mate(1..))), mates, "{:?}", decisions[0]);
    }
}

#[test]
fn roster_accepts_known_provers() {
    let advised = |advisers: &str| {
        Roster::from_settings(&CouncilSettings { advisers: advisers.to_owned(), ..CouncilSettings::default() })
    };
    let names = |advisers: &str| -> Vec<String> {
        let roster = advised(advisers).expect("advisers");
        roster.advisers().iter().map(|adviser| adviser.name.to_string()).collect()
    };
    assert_eq!(names("mpar mates mbxp"), ["mates", "mpar", "mbxp"]);
    assert_eq!(names("auto"), ["mpar", "mbxp", "mbkc"], "the default has none");
    let error = advised("mpar mate").expect_err("no such prover").to_string();
    assert!(error.contains("\"mpar mate\"") && error.contains("and of mates"), "{error}");
    for removed in ["checks", "mates draws", "tables"] {
        let error = advised(removed).expect_err("removed").to_string();
        assert!(error.contains("were removed"), "{error}");
    }
    assert!(advised("mates mates").is_err());
}
