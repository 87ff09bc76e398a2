//! What proofs do to a vote (`pool::Fact`): a move that is proved to win is elected; one that is proved to lose is not while another is
//! proposed; one that is proved to draw is worth a draw, whatever its proposers think of it.

use super::ballots::Ballot;
use crate::{CouncilGame, pool::Fact};
use chess::{Bound, Proposal};

/// A proposal with the score that its move is proved to have, if anything is proved about it.
pub(super) fn judged<M: Copy + PartialEq>(proposal: Proposal<M>, facts: &[Fact<M>]) -> Proposal<M> {
    match facts.iter().find(|fact| fact.about == proposal.best) {
        Some(fact) => Proposal { score: fact.finding.score(), bound: Bound::Exact, ..proposal },
        None => proposal,
    }
}

/// Whether a move is proved to lose.
pub(super) fn is_refuted<M: Copy + PartialEq>(best: M, facts: &[Fact<M>]) -> bool {
    facts.iter().any(|fact| fact.about == best && fact.finding.is_lost())
}

/// Whether a move is proved to win.
pub(super) fn is_proved<M: Copy + PartialEq>(best: M, facts: &[Fact<M>]) -> bool {
    facts.iter().any(|fact| fact.about == best && fact.finding.is_won())
}

/// The moves that are not proved to lose; all of them if every one is.
pub(super) fn unrefuted_moves<M: Copy + PartialEq>(moves: Vec<M>, facts: &[Fact<M>]) -> Vec<M> {
    unless_all(moves, |best| is_refuted(*best, facts))
}

/// The ballots for moves that are not proved to lose; all of them if every one is.
pub(super) fn unrefuted<'a, L: CouncilGame>(
    ballots: Vec<Ballot<'a, L>>,
    facts: &[Fact<L::Move>],
) -> Vec<Ballot<'a, L>> {
    unless_all(ballots, |ballot| is_refuted(ballot.proposal.best, facts))
}

/// Without those that are refuted, unless all are.
fn unless_all<T: Copy>(all: Vec<T>, refuted: impl Fn(&T) -> bool) -> Vec<T> {
    let left: Vec<T> = all.iter().copied().filter(|one| !refuted(one)).collect();
    if left.is_empty() { all } else { left }
}

#[cfg(test)]
mod tests {
    use std::{num::NonZeroU32, time::Duration};

    use super::*;
    use crate::{
        Ballots, CouncilSettings, Roster,
        council::election::Rule,
        pool::{ElectorSpec, Finding},
    };
    use chess::{CriterionName, Line, Phase, Score, SearchId, UciMove, Variant};

    fn mv(text: &str) -> UciMove {
        text.parse().expect("a move")
    }

    fn fact(about: &str, finding: Finding) -> Fact {
        Fact { about: mv(about), finding }
    }

    fn proposal(best: &str, score: i32) -> Proposal {
        Proposal {
            search: SearchId { game: "g".into(), ply: 0, serial: 0, phase: Phase::First },
            elector: "e".into(),
            machine: None,
            best: mv(best),
            score: Score::Cp(score),
            bound: Bound::Lower,
            depth: 5,
            selective_depth: 5,
            root_moves_done: 0,
            nodes: 1,
            time: Duration::ZERO,
            pv: vec![mv(best)],
        }
    }

    fn ballots(said: &[(&str, i32)], facts: &[Fact]) -> Ballots {
        let electors: Vec<ElectorSpec> = {
            let letters = ["mp", "ma", "mc", "mx"][..said.len()].join(" ");
            let settings = CouncilSettings { roster: letters, ..CouncilSettings::default() };
            Roster::from_settings(&settings).expect("a roster").electors().to_vec()
        };
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
        assert_eq!(unrefuted_moves(vec![mv("d2d4"), mv("e2e4")], &facts), [mv("e2e4")]);
        assert_eq!(unrefuted_moves(vec![mv("d2d4")], &facts), [mv("d2d4")]);
    }

    #[test]
    fn whatever_the_criterion_a_refuted_move_is_elected_only_where_nothing_else_is_proposed() {
        for criterion in
            [CriterionName::Majority, CriterionName::Weights, CriterionName::ScoreMargin, CriterionName::Depth]
        {
            for lost in [Finding::Lost(NonZeroU32::new(2)), Finding::Lost(None)] {
                let facts = [fact("e2e4", lost)];
                let vote = ballots(&[("e2e4", 100), ("e2e4", 90), ("d2d4", -30)], &facts);
                assert_eq!(elected(criterion, &vote), ("d2d4".to_owned(), Score::Cp(-30)), "{criterion:?}");
                let alone = ballots(&[("e2e4", 100), ("e2e4", 90)], &facts);
                assert_eq!(elected(criterion, &alone), ("e2e4".to_owned(), lost.score()), "{criterion:?}");
            }
        }
    }

    #[test]
    fn a_win_that_is_proved_needs_no_vote_and_the_nearer_mate_is_played() {
        let won = |best: &str, score: Score| Proposal { score, bound: Bound::Exact, ..proposal(best, 0) };
        let mut vote = ballots(&[("e2e4", 100), ("d2d4", 90)], &[]);
        vote.prove(won("g1f3", Score::Cp(19_000)));
        vote.prove(won("c2c4", Score::Mate(7)));
        vote.prove(won("b1c3", Score::Mate(9)));
        assert_eq!(elected(CriterionName::Majority, &vote), ("c2c4".to_owned(), Score::Mate(7)));
    }

    #[test]
    fn a_draw_that_is_proved_is_elected_where_everything_else_is_worse() {
        let facts = [fact("e2e4", Finding::Drawn)];
        let vote = ballots(&[("e2e4", -300), ("d2d4", -80)], &facts);
        assert_eq!(elected(CriterionName::Optimistic, &vote), ("e2e4".to_owned(), Score::Cp(0)));
        let vote = ballots(&[("e2e4", 300), ("d2d4", 80)], &facts);
        assert_eq!(elected(CriterionName::Optimistic, &vote), ("d2d4".to_owned(), Score::Cp(80)));
    }

    #[test]
    fn an_elector_that_has_proposed_a_refuted_move_may_propose_another_one_before_it_knows_its_value() {
        let mut vote = ballots(&[("e2e4", 100)], &[fact("e2e4", Finding::Lost(None))]);
        vote.cast(0, proposal("d2d4", 20));
        assert_eq!(elected(CriterionName::Majority, &vote).0, "d2d4");
    }
}
