//! Every criterion by hand: what docs/method.md defines, in numbers small enough to check on paper.

use crate::{
    electors::ElectorSpec,
    vote::{
        Ballots, CouncilSettings, CriterionName, ElectionOutcome, Rule,
        tests::{electors, proposed},
    },
};
use domain::{Bound, Line, Proposal, Score, Variant};

/// A proposal for the starting position: a line of play, its score, and how deep it was searched.
type Said = (&'static str, Score, u32);

fn cp(line: &'static str, centipawns: i32) -> Said {
    (line, Score::Cp(centipawns), 5)
}

fn mate(line: &'static str, moves: i32) -> Said {
    (line, Score::Mate(moves), 5)
}

fn proposal(elector: &ElectorSpec, (line, score, depth): &Said) -> Proposal {
    let pv: Vec<_> = line.split(' ').map(|text| text.parse().expect("a move")).collect();
    let proposal = proposed(elector.name.clone(), pv[0], *score, *depth);
    Proposal { pv, ..proposal }
}

fn settings(criterion: CriterionName) -> CouncilSettings {
    CouncilSettings { criterion, ..CouncilSettings::default() }
}

fn election_in(fen: &str, roster: &str, settings: &CouncilSettings, said: &[Said]) -> ElectionOutcome {
    let electors = electors(roster);
    assert_eq!(electors.len(), said.len());
    let proposals: Vec<_> = electors.iter().zip(said).map(|(elector, said)| Some(proposal(elector, said))).collect();
    let line = Line::from_fen(Variant::Standard, fen).expect("a position");
    Rule::of(settings).elect(&Ballots::recorded(&line, &electors, &proposals), 1).expect("something is proposed")
}

fn elect_from(
    criterion: CriterionName,
    electors: &[ElectorSpec],
    proposals: &[Option<Proposal>],
    seed: u64,
) -> Option<ElectionOutcome> {
    let line = Line::start(Variant::Standard);
    Rule::of(&settings(criterion)).elect(&Ballots::recorded(&line, electors, proposals), seed)
}

fn election(roster: &str, criterion: CriterionName, said: &[Said]) -> ElectionOutcome {
    election_in("startpos", roster, &settings(criterion), said)
}

fn weights(outcome: &ElectionOutcome) -> Vec<f64> {
    outcome.votes.iter().map(|vote| vote.weight.expect("a vote")).collect()
}

#[test]
fn weights_let_knowledge_outvote_two() {
    // 94 against (30+21) + (30+15) = 96: two specialists of pawns and attack together know a little more.
    let said = [cp("e2e4", 0), cp("d2d4", 0), cp("d2d4", 0)];
    let outcome = election("mbxkcpar mp ma", CriterionName::Weights, &said);
    assert_eq!(weights(&outcome), [94.0, 51.0, 45.0]);
    assert_eq!(outcome.elected.best.to_string(), "d2d4");
}

#[test]
fn depth_prefers_completed_iterations() {
    let electors = electors("mp ma");
    let mut unfinished = proposal(&electors[1], &("d2d4", Score::Cp(0), 5));
    unfinished.root_moves_done = 40;
    let proposals = [Some(proposal(&electors[0], &("e2e4", Score::Cp(0), 6))), Some(unfinished)];
    let outcome = elect_from(CriterionName::Depth, &electors, &proposals, 1).expect("two proposals");
    assert_eq!(weights(&outcome), [600.0, 540.0]);
    assert_eq!(outcome.elected.best.to_string(), "e2e4");
}

#[test]
fn by_majority_every_vote_is_one() {
    let outcome = election("mp ma mc", CriterionName::Majority, &[cp("e2e4", 90), cp("d2d4", 0), cp("d2d4", -50)]);
    assert_eq!(weights(&outcome), [1.0, 1.0, 1.0]);
    assert_eq!(outcome.elected.best.to_string(), "d2d4");
    assert!((outcome.split - 0.5).abs() < 1e-9, "one of the two others follows");
}

/// Value of the right to move, which is every static value in the starting position.
const TEMPO: f64 = 14.0;

#[test]
fn relative_1_counts_gain_over_static() {
    let said = [cp("e2e4", 40), cp("d2d4", 30), cp("d2d4", 24)];
    let outcome = election("mp ma mc", CriterionName::Relative1, &said);
    assert_eq!(weights(&outcome), [40.0 - TEMPO, 30.0 - TEMPO, 24.0 - TEMPO]);
    // 26 against 16 + 10: a tie, which the lot decides.
    assert_eq!(outcome.totals.iter().map(|(_, total)| *total).collect::<Vec<_>>(), [26.0, 26.0]);
}

#[test]
fn democratic_ties_go_by_relative_1() {
    let said = [cp("e2e4", 40), cp("d2d4", 30)];
    let outcome = election("mp ma", CriterionName::Relative1Democratic, &said);
    assert_eq!(weights(&outcome), [10_026.0, 10_016.0]);
    assert_eq!(outcome.elected.best.to_string(), "e2e4");
    let said = [cp("e2e4", 400), cp("d2d4", 0), cp("d2d4", 0)];
    let outcome = election("mp ma mc", CriterionName::Relative1Democratic, &said);
    assert_eq!(outcome.elected.best.to_string(), "d2d4", "no gain outweighs a vote");
}

#[test]
fn relative_2_judges_final_positions() {
    // White wins a rook in the second line. Both electors, who know material, see it; no score
    // shows it.
    let fen = "4k3/8/8/8/8/8/r3P3/3K3R w - - 0 1";
    let said = [cp("d1c1 a2e2", 500), cp("h1h8 e8e7 h8a8 e7e6 a8a2", -500)];
    let outcome = election_in(fen, "m mp", &settings(CriterionName::Relative2), &said);
    assert!(weights(&outcome)[1] > weights(&outcome)[0], "{:?}", weights(&outcome));
    assert_eq!(outcome.elected.best.to_string(), "h1h8");
}

#[test]
fn optimistic_elects_the_highest_score() {
    let said = [cp("e2e4", 40), cp("d2d4", 30), cp("d2d4", 35)];
    let outcome = election("mp ma mc", CriterionName::Optimistic, &said);
    assert_eq!(outcome.totals[1].1, 35.0, "votes are not added up");
    assert_eq!(outcome.elected.best.to_string(), "e2e4");
}

#[test]
fn score_margin_weighs_distance_to_lowest() {
    let said = [cp("e2e4", 40), cp("d2d4", 20), cp("d2d4", 30)];
    let outcome = election("mp ma mc", CriterionName::ScoreMargin, &said);
    assert_eq!(weights(&outcome), [34.0, 14.0, 24.0]);
    assert_eq!(outcome.elected.best.to_string(), "d2d4");
}

#[test]
fn score_margin_discounts_shallow_votes() {
    let said = [("e2e4", Score::Cp(20), 10), ("d2d4", Score::Cp(50), 8)];
    let outcome = election("complete-2", CriterionName::ScoreMargin, &said);
    let hundredths: Vec<f64> = weights(&outcome).iter().map(|weight| (100.0 * weight).round()).collect();
    assert_eq!(hundredths, [1400.0, 44.0], "a tenth for every ply");
    assert_eq!(outcome.elected.best.to_string(), "e2e4");
    // A ply less and rather optimistic: with half its weight it would be elected.
    let near = [("e2e4", Score::Cp(20), 10), ("d2d4", Score::Cp(60), 9)];
    assert_eq!(election("complete-2", CriterionName::ScoreMargin, &near).elected.best.to_string(), "e2e4");
    let outcome = election("mp ma", CriterionName::ScoreMargin, &said);
    assert_eq!(weights(&outcome), [14.0, 44.0], "plies of different knowledge are not compared");
}

const GUARDED: [CriterionName; 2] = [CriterionName::Optimistic, CriterionName::ScoreMargin];

#[test]
fn proven_win_overrides_every_criterion() {
    let said = [cp("e2e4", 900), mate("d2d4", 7), mate("c2c4", 3), cp("e2e4", 800)];
    for rule in GUARDED {
        let outcome = election("mp ma mc mb", rule, &said);
        assert_eq!(outcome.elected.best.to_string(), "c2c4", "{rule:?}");
    }
}

#[test]
fn proven_loss_is_elected_only_if_alone() {
    let said = [mate("e2e4", -9), mate("e2e4", -9), cp("d2d4", -900)];
    for rule in GUARDED {
        let outcome = election("mp ma mc", rule, &said);
        assert_eq!(outcome.elected.best.to_string(), "d2d4", "{rule:?}");
        let said = [mate("e2e4", -2), mate("e2e4", -2), mate("d2d4", -6)];
        let outcome = election("mp ma mc", rule, &said);
        assert_eq!(outcome.elected.best.to_string(), "d2d4", "{rule:?}: the longest defence");
    }
}

#[test]
fn bounds_prove_and_decide_nothing() {
    let electors = electors("mp ma mc");
    let mut bound = proposal(&electors[0], &mate("e2e4", 3));
    bound.bound = Bound::Lower;
    let proposals =
        [Some(bound), Some(proposal(&electors[1], &cp("d2d4", 10))), Some(proposal(&electors[2], &cp("d2d4", 10)))];
    let outcome = elect_from(CriterionName::ScoreMargin, &electors, &proposals, 1).expect("proposals");
    assert_eq!(weights(&outcome)[0], 14.0, "a bare vote");
    assert_eq!(outcome.elected.best.to_string(), "d2d4");
}

#[test]
fn manual_weight_precedes_heuristics() {
    let electors: Vec<_> = electors("mbxkcpar mp")
        .into_iter()
        .zip([None, Some(100.0)])
        .map(|(e, weight)| ElectorSpec { weight, ..e })
        .collect();
    let said = [cp("e2e4", 0), cp("d2d4", 0)];
    let proposals: Vec<_> = electors.iter().zip(&said).map(|(elector, said)| Some(proposal(elector, said))).collect();
    let outcome = elect_from(CriterionName::Weights, &electors, &proposals, 1).expect("proposals");
    assert_eq!(weights(&outcome), [94.0, 100.0]);
}

#[test]
fn ties_depend_on_the_seed() {
    let said = || [cp("e2e4", 0), cp("d2d4", 0)];
    let draw = |seed| {
        let electors = electors("mp ma");
        let proposals: Vec<_> = electors.iter().zip(&said()).map(|(e, said)| Some(proposal(e, said))).collect();
        let outcome = elect_from(CriterionName::Majority, &electors, &proposals, seed);
        outcome.expect("two proposals").elected.best
    };
    assert!((0..20).all(|seed| draw(seed) == draw(seed)));
    assert!((0..20).any(|seed| draw(seed) != draw(0)));
}

#[test]
fn no_proposal_means_no_vote() {
    let electors = electors("mp ma");
    for rule in CriterionName::ALL {
        let only = [None, Some(proposal(&electors[1], &cp("d2d4", 5)))];
        let outcome = elect_from(rule, &electors, &only, 1).expect("one proposal");
        assert_eq!((outcome.votes.len(), outcome.split), (1, 0.0), "{rule:?}");
        assert_eq!(elect_from(rule, &electors, &[None, None], 1), None);
    }
}
