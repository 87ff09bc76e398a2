use std::{sync::Arc, time::Duration};

use crate::{
    Council, CouncilSettings, CriterionName, Progress, Question, Roster,
    electors::{ElectorSpec, Pool},
    vote::tests::{Fake, TOO_LONG, Then, decide, roster, settings},
};
use domain::{Limits, Line, Score, Source, Variant};

/// White mates by a long series of checks.
const MATE_BY_CHECKS: &str = "1b5k/7P/p1p2np1/2P2p2/PP3P2/4RQ1R/q2r3P/6K1 w - - 0 1";

/// The rook that goes to b7 is needed on the back rank; White has no mate.
const BACK_RANK: &str = "4r1k1/4qppp/8/8/8/8/1R3PPP/R5K1 w - - 0 1";

fn council(says: &[(&'static str, i32)]) -> Council {
    let fakes: Vec<Fake> =
        says.iter().map(|(best, score)| Fake { says: Some((*best, *score, 9)), then: Then::Search }).collect();
    let roster = roster(&fakes).advised_by(vec![ElectorSpec::mates(1)]);
    let settings = CouncilSettings { criterion: CriterionName::Optimistic, hash: 1, ..CouncilSettings::default() };
    Council::new(&Pool::new(1), &roster, &settings, Variant::Standard)
}

/// A question about a position whose time is up when `enough` says so.
fn question(fen: &str, enough: impl Fn(&Progress) -> bool + Send + 'static) -> Question {
    let line = Arc::new(Line::from_fen(Variant::Standard, fen).expect("a position"));
    let timing = move |progress: &Progress| if enough(progress) { Duration::ZERO } else { TOO_LONG };
    Question { timing: Some(Box::new(timing)), ..Question::new("g".into(), line) }
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
    let settings = CouncilSettings { advisers: "mates mp".to_owned(), cores: 2, ..settings("complete-2") };
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
