//! Proofs during one question.

use std::sync::Arc;

use super::{ballots::Ballots, searcher::CouncilSearcher};
use crate::{CouncilGame, electors::Guidance};
use domain::Proposal;

pub(super) struct Proving<L: CouncilGame> {
    provers: Vec<usize>,
    /// The provers' claims, each with its line, in order of arrival.
    told: Vec<(Arc<L>, Proposal<L::Move>)>,
}

impl<L: CouncilGame> Proving<L> {
    pub(super) fn begin(searchers: &[CouncilSearcher<L>]) -> Self {
        let provers = (0..searchers.len()).filter(|number| L::proves(&searchers[*number].role.spec)).collect();
        Self { provers, told: Vec::new() }
    }

    pub(super) fn is_prover(&self, number: usize) -> bool {
        self.provers.contains(&number)
    }

    pub(super) fn goes_on(&self, searchers: &[CouncilSearcher<L>]) -> bool {
        self.provers.iter().any(|number| searchers[*number].is_searching())
    }

    /// Returns a searcher's guidance: a prover neither takes nor gives hints.
    pub(super) fn guide(&self, number: usize, guidance: Guidance<L::Move>) -> Guidance<L::Move> {
        if self.is_prover(number) { Guidance { hints: None, advises: None, ..guidance } } else { guidance }
    }

    pub(super) fn take(&mut self, line: &Arc<L>, proposal: Proposal<L::Move>) {
        self.told.retain(|(of, known)| of != line || known.best != proposal.best || known.elector != proposal.elector);
        self.told.push((Arc::clone(line), proposal));
    }

    /// Passes the proofs about the end of a line on to its ballots.
    pub(super) fn inform(&self, line: &Arc<L>, ballots: &mut Ballots<L>) {
        self.told(line).for_each(|proposal| ballots.prove(proposal.clone()));
    }

    pub(super) fn told(&self, line: &Arc<L>) -> impl Iterator<Item = &Proposal<L::Move>> {
        self.told.iter().filter(move |(of, _)| of == line).map(|(_, proposal)| proposal)
    }
}

#[cfg(test)]
mod tests;
