//! The effect of proofs (`electors::Fact`) on a vote: a proved win is elected, and a proved score replaces every other score of
//! its move.

use crate::electors::Fact;
use domain::{Bound, Proposal};

/// Returns a proposal with the proved score of its move, if there is one.
pub(super) fn judged<M: Copy + PartialEq>(proposal: Proposal<M>, facts: &[Fact<M>]) -> Proposal<M> {
    match facts.iter().find(|fact| fact.about == proposal.best) {
        Some(fact) => Proposal { score: fact.finding.score(), bound: Bound::Exact, ..proposal },
        None => proposal,
    }
}

pub(super) fn is_proved<M: Copy + PartialEq>(best: M, facts: &[Fact<M>]) -> bool {
    facts.iter().any(|fact| fact.about == best && fact.finding.is_won())
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroU32;

    use super::*;
    use crate::{
        Ballots, CouncilSettings, Rule,
        electors::Finding,
        vote::tests::{electors, proposed},
    };
    use domain::{CriterionName, Line, Score, UciMove, Variant};

    fn mv(text: &str) -> UciMove {
        text.parse().expect("a move")
    }

    fn fact(about: &str, finding: Finding) -> Fact {
        Fact { about: mv(about), finding }
    }

    fn proposal(best: &str, score: i32) -> Proposal {
        Proposal { bound: Bound::Lower, ..proposed("e".into(), mv(best), Score::Cp(score), 5) }
    }

    fn ballots(said: &[(&str, i32)], facts: &[Fact]) -> Ballots {
        let electors = electors(&["mp", "ma", "mc", "mx"][..said.len()].join(" "));
        let proposals: Vec<_> = said.iter().map(|(best, score)| Some(proposal(best, *score))).collect();
        let mut ballots = Ballots::recorded(&Line::start(Variant::Standard), &electors, &proposals);
        ballots.learn(facts.to_vec());
        ballots
    }

    fn elected(criterion: CriterionName, ballots: &Ballots) -> (String, Score) {
        let settings = CouncilSettings { criterion, ..CouncilSettings::default() };
        let outcome = Rule::of(&settings).elect(ballots, 1).expect("something is proposed");
        (outcome.elected.best.to_string(), outcome.elected.score)
    }

    #[test]
    fn a_score_is_what_is_proved() {
        let facts = [
            fact("e2e4", Finding::Drawn),
            fact("d2d4", Finding::Lost(NonZeroU32::new(3))),
            fact("c2c4", Finding::Won(None)),
        ];
        let score = |best: &str, score: i32| judged(proposal(best, score), &facts).score;
        assert_eq!((score("e2e4", 250), score("e2e4", -90)), (Score::Cp(0), Score::Cp(0)));
        assert_eq!((score("d2d4", 80), score("c2c4", 0)), (Score::Mate(-3), Score::Cp(19_000)));
        assert_eq!((score("g1f3", 17), judged(proposal("g1f3", 17), &facts).bound), (Score::Cp(17), Bound::Lower));
    }

    #[test]
    fn nearest_proved_mate_is_played() {
        let won = |best: &str, score: Score| Proposal { score, bound: Bound::Exact, ..proposal(best, 0) };
        let mut vote = ballots(&[("e2e4", 100), ("d2d4", 90)], &[]);
        vote.prove(won("g1f3", Score::Cp(19_000)));
        vote.prove(won("c2c4", Score::Mate(7)));
        vote.prove(won("b1c3", Score::Mate(9)));
        assert_eq!(elected(CriterionName::Majority, &vote), ("c2c4".to_owned(), Score::Mate(7)));
    }

    #[test]
    fn proved_draw_beats_worse_moves() {
        let facts = [fact("e2e4", Finding::Drawn)];
        let vote = ballots(&[("e2e4", -300), ("d2d4", -80)], &facts);
        assert_eq!(elected(CriterionName::Optimistic, &vote), ("e2e4".to_owned(), Score::Cp(0)));
        let vote = ballots(&[("e2e4", 300), ("d2d4", 80)], &facts);
        assert_eq!(elected(CriterionName::Optimistic, &vote), ("d2d4".to_owned(), Score::Cp(80)));
    }
}
