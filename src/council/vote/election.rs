//! The election: the move with the greatest weight, and the speaker among its proposals.

use rand::{RngExt, SeedableRng, rngs::StdRng};

use super::{
    Rule,
    ballots::{Ballot, Ballots},
    trust::CountedBallots,
};
use crate::CouncilGame;
use domain::{GameLine, Line, Proposal, Score, Vote};

#[derive(Clone, Debug, PartialEq)]
pub struct ElectionOutcome<L: GameLine = Line> {
    /// The proposal of the elected move's heaviest proposer.
    pub elected: Proposal<L::Move>,
    /// Every proposal with its weight, in the order of the roster. Proposals excluded by a guard weigh nothing.
    pub votes: Vec<Vote<L::Move, L::Knowledge>>,
    /// The weight of each proposed move, the first proposer's first.
    pub totals: Vec<(L::Move, f64)>,
    /// The split of the vote: the share of the other electors with another move. 0: unanimous;
    /// 1: no other elector agrees.
    pub split: f64,
}

impl Rule {
    pub fn elected_move<L: CouncilGame>(&self, ballots: &Ballots<L>, seed: u64) -> Option<L::Move> {
        Some(self.leader_of(&self.counted(ballots, seed), seed)?.best)
    }

    pub(super) fn counted<'a, L: CouncilGame>(&self, ballots: &'a Ballots<L>, seed: u64) -> CountedBallots<'a, L> {
        CountedBallots::of(ballots, |ballots| self.leader_of(ballots, seed).cloned())
    }

    /// Elects among the current proposals; `seed` decides ties. A proved win needs no vote. Returns `None` without proposals.
    pub fn elect<L: CouncilGame>(&self, ballots: &Ballots<L>, seed: u64) -> Option<ElectionOutcome<L>> {
        let counted = self.counted(ballots, seed);
        let weighed = self.weigh_all(&counted);
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

    /// Returns the proposal that wins if all ballots count unchanged.
    pub(super) fn leader_of<'a, L: CouncilGame>(
        &self,
        ballots: &'a Ballots<L>,
        seed: u64,
    ) -> Option<&'a Proposal<L::Move>> {
        if ballots.proof().is_some() {
            return ballots.proof();
        }
        let weighed = self.weigh_all(ballots);
        let totals = self.totals(ballots, &weighed);
        speaker(&weighed, &totals, seed)
    }

    /// Returns the proposals left by the guards, with their weights.
    fn weigh_all<'a, L: CouncilGame>(&self, ballots: &'a Ballots<L>) -> Vec<(Ballot<'a, L>, f64)> {
        let mut eligible: Vec<_> = ballots.iter().collect();
        if self.is_guarded() {
            eligible = guarded(eligible);
        }
        let weighed = eligible.into_iter().map(|ballot| {
            let weight = self.weigh(&ballot, ballots);
            (ballot, weight)
        });
        weighed.collect()
    }

    fn totals<L: CouncilGame>(&self, ballots: &Ballots<L>, weighed: &[(Ballot<L>, f64)]) -> Vec<(L::Move, f64)> {
        let total = |best: L::Move| {
            let same = weighed.iter().filter(|(ballot, _)| ballot.proposal.best == best);
            let weights: Vec<f64> = same.map(|(_, weight)| *weight).collect();
            if weights.is_empty() { f64::NEG_INFINITY } else { self.total(&weights) }
        };
        ballots.moves().into_iter().map(|best| (best, total(best))).collect()
    }

    /// Returns true if the electors still searching, by their places in the roster, cannot change
    /// the outcome.
    pub(super) fn is_decided<L: CouncilGame>(&self, ballots: &Ballots<L>, searching: &[usize]) -> bool {
        // Votes of other machines never end a search here.
        let remote = ballots.iter().filter(|ballot| ballots.has_remote() && ballot.proposal.machine.is_some());
        let mut open: Vec<usize> = searching.iter().copied().chain(remote.map(|ballot| ballot.place)).collect();
        open.sort_unstable();
        open.dedup();
        let searching = &open[..];
        let Some(open) = searching.iter().map(|place| self.most::<L>(ballots.electors().get(*place)?)).sum() else {
            return false;
        };
        let open: f64 = open;
        let mut totals: Vec<(L::Move, f64)> = Vec::new();
        let heard = |ballot: &Ballot<L>| !searching.contains(&ballot.place);
        for ballot in ballots.iter().filter(heard) {
            let weight = self.weigh(&ballot, ballots);
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

/// Returns the eligible proposals for the criteria that compare scores, after the vote of the threads in Stockfish. A proven
/// win is elected, the shortest mate first. A proven loss is elected only if all proposals lose; then the longest defence is.
fn guarded<L: CouncilGame>(mut ballots: Vec<Ballot<'_, L>>) -> Vec<Ballot<'_, L>> {
    // A bound proves nothing.
    let mate = |ballot: &Ballot<L>| match ballot.proposal.score {
        Score::Mate(moves) if ballot.is_exact() => Some(moves),
        _ => None,
    };
    if let Some(shortest) = ballots.iter().filter_map(mate).filter(|moves| *moves > 0).min() {
        ballots.retain(|ballot| mate(ballot) == Some(shortest));
    } else if ballots.iter().all(|ballot| mate(ballot).is_some()) {
        let longest = ballots.iter().filter_map(mate).min();
        ballots.retain(|ballot| mate(ballot) == longest);
    } else {
        ballots.retain(|ballot| mate(ballot).is_none());
    }
    ballots
}

/// Returns the proposal that represents the heaviest move: its heaviest one; among equals the deepest, then the first.
fn speaker<'a, L: CouncilGame>(
    weighed: &[(Ballot<'a, L>, f64)],
    totals: &[(L::Move, f64)],
    seed: u64,
) -> Option<&'a Proposal<L::Move>> {
    let best = heaviest(totals, seed)?;
    let of_best = weighed.iter().filter(|(ballot, _)| ballot.proposal.best == best).rev();
    // Proposals of this machine come first: other machines only claim their variation and time.
    let is_home = |ballot: &Ballot<L>| ballot.proposal.machine.is_none();
    let heavier = |(a, a_weight): &&(Ballot<L>, f64), (b, b_weight): &&(Ballot<L>, f64)| {
        let weight = a_weight.total_cmp(b_weight).then(a.proposal.depth.cmp(&b.proposal.depth));
        is_home(a).cmp(&is_home(b)).then(weight)
    };
    of_best.max_by(heavier).map(|(ballot, _)| ballot.proposal)
}

/// Returns the heaviest move; the seed breaks ties.
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
