//! Proofs during one question, and their use by the electors.

use std::sync::Arc;

use super::{ballots::Ballots, proofs::is_proved, searcher::CouncilSearcher};
use crate::{
    CouncilGame,
    electors::{Facts, Guidance},
};
use domain::Proposal;

pub(super) struct Proving<L: CouncilGame> {
    provers: Vec<usize>,
    facts: Vec<(Arc<L>, Facts<L::Move>)>,
    /// The provers' claims, each with its line, in order of arrival.
    told: Vec<(Arc<L>, Proposal<L::Move>)>,
}

impl<L: CouncilGame> Proving<L> {
    pub(super) fn begin(searchers: &[CouncilSearcher<L>]) -> Self {
        let provers = (0..searchers.len()).filter(|number| L::proves(&searchers[*number].role.spec)).collect();
        Self { provers, facts: Vec::new(), told: Vec::new() }
    }

    pub(super) fn is_prover(&self, number: usize) -> bool {
        self.provers.contains(&number)
    }

    pub(super) fn goes_on(&self, searchers: &[CouncilSearcher<L>]) -> bool {
        self.provers.iter().any(|number| searchers[*number].is_searching())
    }

    /// Adds the list of facts to a searcher's guidance: provers write to it, and the others read it.
    pub(super) fn guide(&mut self, number: usize, line: &Arc<L>, guidance: Guidance<L::Move>) -> Guidance<L::Move> {
        if self.provers.is_empty() {
            return guidance;
        }
        let facts = Some(self.facts_about(line));
        if self.is_prover(number) {
            return Guidance { facts, hints: None, advises: None, ..guidance };
        }
        Guidance { facts, ..guidance }
    }

    pub(super) fn take(&mut self, line: &Arc<L>, proposal: Proposal<L::Move>) {
        self.told.retain(|(of, known)| of != line || known.best != proposal.best || known.elector != proposal.elector);
        self.told.push((Arc::clone(line), proposal));
    }

    /// Passes the proofs about the end of a line on to its ballots.
    pub(super) fn inform(&mut self, line: &Arc<L>, ballots: &mut Ballots<L>) {
        if self.provers.is_empty() {
            return;
        }
        let facts = self.facts_about(line).now();
        for proposal in self.told(line).filter(|told| is_proved(told.best, &facts)) {
            ballots.prove(proposal.clone());
        }
        ballots.learn(facts);
    }

    pub(super) fn told(&self, line: &Arc<L>) -> impl Iterator<Item = &Proposal<L::Move>> {
        self.told.iter().filter(move |(of, _)| of == line).map(|(_, proposal)| proposal)
    }

    fn facts_about(&mut self, line: &Arc<L>) -> Facts<L::Move> {
        about(&mut self.facts, line, Facts::default)
    }
}

/// Returns the entry of a line, a new one if there is none.
pub(super) fn about<L: PartialEq, T: Clone>(known: &mut Vec<(Arc<L>, T)>, line: &Arc<L>, new: impl FnOnce() -> T) -> T {
    if let Some((_, entry)) = known.iter().find(|(of, _)| of == line) {
        return entry.clone();
    }
    let entry = new();
    known.push((Arc::clone(line), entry.clone()));
    entry
}

#[cfg(test)]
mod tests;
