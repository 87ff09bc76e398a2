//! The election: what each proposal weighs, and which move weighs most.

use std::fmt;

use rand::{RngExt, SeedableRng, rngs::StdRng};

use super::{
    CouncilSettings,
    ballots::{Ballot, Ballots},
    criterion::{self, Criterion},
    guards::guarded,
    trust::CountedBallots,
};
use crate::CouncilGame;
use domain::{CriterionName, GameLine, Line, Proposal, Vote};

#[derive(Clone, Debug, PartialEq)]
pub struct ElectionOutcome<L: GameLine = Line> {
    /// The proposal of the elected move's heaviest proposer.
    pub elected: Proposal<L::Move>,
    /// Every proposal and what it weighed, in the order of the roster. What a guard has set aside weighs nothing.
    pub votes: Vec<Vote<L::Move, L::Knowledge>>,
    /// The weight of each proposed move, the first proposer's first.
    pub totals: Vec<(L::Move, f64)>,
    /// The split of the vote: the share of the other electors that do not propose the elected move.
    /// 0: unanimous; 1: no other elector agrees.
    pub split: f64,
}

/// The election alone, on proposals made elsewhere; `seed` decides ties. Re-search, whose second phase needs searches, elects as it
/// does without one. `None` if nothing is proposed.
pub fn elect<L: CouncilGame>(
    settings: &CouncilSettings,
    ballots: &Ballots<L>,
    seed: u64,
) -> Option<ElectionOutcome<L>> {
    Rule::of(settings).elect(ballots, seed)
}

pub fn elected_move<L: CouncilGame>(settings: &CouncilSettings, ballots: &Ballots<L>, seed: u64) -> Option<L::Move> {
    Rule::of(settings).elected_move(ballots, seed)
}

/// A criterion with what it needs of the settings, for any number of elections. Their `seed` decides ties, so that a run can be
/// repeated.
pub struct Rule<L: CouncilGame = Line>(Box<dyn Criterion<L>>);

impl<L: CouncilGame> Rule<L> {
    /// The criterion that the settings name. Re-search, whose second phase needs searches, elects as it does without one.
    pub fn of(settings: &CouncilSettings) -> Self {
        Self::new(settings.criterion, settings)
    }

    pub(super) fn new(name: CriterionName, settings: &CouncilSettings) -> Self {
        Self(criterion::of(name, settings))
    }

    /// The move that is elected among the proposals as they stand; `None` if nothing is proposed.
    pub fn elected_move(&self, ballots: &Ballots<L>, seed: u64) -> Option<L::Move> {
        Some(self.leader_of(&self.counted(ballots, seed), seed)?.best)
    }

    pub(super) fn counted<'a>(&self, ballots: &'a Ballots<L>, seed: u64) -> CountedBallots<'a, L> {
        CountedBallots::of(ballots, |ballots| self.leader_of(ballots, seed).cloned())
    }

    /// Elects among the current proposals. A proved win needs no vote.
    pub(super) fn elect(&self, ballots: &Ballots<L>, seed: u64) -> Option<ElectionOutcome<L>> {
        let counted = self.counted(ballots, seed);
        let weighed = self.weigh(&counted);
        let totals = self.totals(&counted, &weighed);
        let elected = counted.proof().or_else(|| speaker(&weighed, &totals, seed))?.clone();
        let votes = ballots.iter().map(|ballot| {
            let weight =
                weighed.iter().find(|(other, _)| other.place == ballot.place).map_or(0.0, |(_, weight)| *weight);
            let proposal = counted.of(ballot.place).unwrap_or(ballot.proposal).clone();
            Vote { proposal, knowledge: L::knowledge(ballot.elector), weight: Some(weight) }
        });
        Some(ElectionOutcome { votes: votes.collect(), split: split(&counted, elected.best), totals, elected })
    }

    /// The proposal that would be elected now if all of them count as they stand.
    pub(super) fn leader_of<'a>(&self, ballots: &'a Ballots<L>, seed: u64) -> Option<&'a Proposal<L::Move>> {
        if ballots.proof().is_some() {
            return ballots.proof();
        }
        let weighed = self.weigh(ballots);
        let totals = self.totals(ballots, &weighed);
        speaker(&weighed, &totals, seed)
    }

    /// The proposals that may be elected, with their weights.
    fn weigh<'a>(&self, ballots: &'a Ballots<L>) -> Vec<(Ballot<'a, L>, f64)> {
        let mut eligible: Vec<_> = ballots.iter().collect();
        if self.0.is_guarded() {
            eligible = guarded(eligible);
        }
        eligible.into_iter().map(|ballot| (ballot, self.0.weigh(&ballot, ballots))).collect()
    }

    /// Returns the weight of each proposed move.
    fn totals(&self, ballots: &Ballots<L>, weighed: &[(Ballot<L>, f64)]) -> Vec<(L::Move, f64)> {
        let total = |best: L::Move| {
            let same = weighed.iter().filter(|(ballot, _)| ballot.proposal.best == best);
            let weights: Vec<f64> = same.map(|(_, weight)| *weight).collect();
            if weights.is_empty() { f64::NEG_INFINITY } else { self.0.total(&weights) }
        };
        ballots.moves().into_iter().map(|best| (best, total(best))).collect()
    }

    /// Returns true if the electors still searching, by their places in the roster, cannot change
    /// the outcome.
    pub(super) fn is_decided(&self, ballots: &Ballots<L>, searching: &[usize]) -> bool {
        // Votes of other machines never end a search here.
        let remote = ballots.iter().filter(|ballot| ballots.has_remote() && ballot.proposal.machine.is_some());
        let mut open: Vec<usize> = searching.iter().copied().chain(remote.map(|ballot| ballot.place)).collect();
        open.sort_unstable();
        open.dedup();
        let searching = &open[..];
        let Some(open) = searching.iter().map(|place| self.0.most(ballots.electors().get(*place)?)).sum() else {
            return false;
        };
        let open: f64 = open;
        let mut totals: Vec<(L::Move, f64)> = Vec::new();
        let heard = |ballot: &Ballot<L>| !searching.contains(&ballot.place);
        for ballot in ballots.iter().filter(heard) {
            let weight = self.0.weigh(&ballot, ballots);
            match totals.iter_mut().find(|(best, _)| *best == ballot.proposal.best) {
                Some((_, total)) => *total += weight,
                None => totals.push((ballot.proposal.best, weight)),
            }
        }
        totals.sort_by(|(_, a), (_, b)| b.total_cmp(a));
        let second = totals.get(1).map_or(0.0, |(_, total)| *total);
        totals.first().is_some_and(|(_, first)| *first > second + open)
    }
}

impl<L: CouncilGame> fmt::Debug for Rule<L> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Rule").finish_non_exhaustive()
    }
}

/// The proposal that speaks for the heaviest move: its heaviest one, of equals the deepest, of those the first.
fn speaker<'a, L: CouncilGame>(
    weighed: &[(Ballot<'a, L>, f64)],
    totals: &[(L::Move, f64)],
    seed: u64,
) -> Option<&'a Proposal<L::Move>> {
    let best = heaviest(totals, seed)?;
    let of_best = weighed.iter().filter(|(ballot, _)| ballot.proposal.best == best).rev();
    // A proposal of this machine speaks before those of others: its variation and its time are its own.
    let is_home = |ballot: &Ballot<L>| ballot.proposal.machine.is_none();
    let heavier = |(a, a_weight): &&(Ballot<L>, f64), (b, b_weight): &&(Ballot<L>, f64)| {
        let weight = a_weight.total_cmp(b_weight).then(a.proposal.depth.cmp(&b.proposal.depth));
        is_home(a).cmp(&is_home(b)).then(weight)
    };
    of_best.max_by(heavier).map(|(ballot, _)| ballot.proposal)
}

/// The heaviest move; ties are drawn by lot.
fn heaviest<M: Copy>(totals: &[(M, f64)], seed: u64) -> Option<M> {
    let most = totals.iter().map(|(_, total)| *total).fold(f64::NEG_INFINITY, f64::max);
    let tied: Vec<M> = totals.iter().filter(|(_, total)| *total >= most).map(|(best, _)| *best).collect();
    match tied.as_slice() {
        [] => None,
        [only] => Some(*only),
        several => Some(several[StdRng::seed_from_u64(seed).random_range(0..several.len())]),
    }
}

pub(super) fn split<L: CouncilGame>(ballots: &Ballots<L>, elected: L::Move) -> f64 {
    let others = ballots.len().saturating_sub(1);
    if others == 0 {
        return 0.0;
    }
    let followers = ballots.backers(elected).saturating_sub(1);
    1.0 - followers as f64 / others as f64
}
