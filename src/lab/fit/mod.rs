//! Fits of what a council goes by: the genetic algorithm as it was published, on logged proposals, and stochastic approximation
//! on games. Each gives a fragment of settings.

pub mod genetic;
pub mod spsa;

use std::sync::atomic::AtomicBool;

use super::{
    player::Pace,
    searches::{SearchError, SearchQuery, Searches},
    suite::{Judgement, TestPosition},
};
use council::Roster;
use domain::Proposal;

/// Proposals of a roster's electors in some positions.
#[derive(Clone, Debug)]
pub struct Log<'a> {
    roster: &'a Roster,
    positions: &'a [TestPosition],
    /// Proposals by position and elector.
    proposals: Vec<Vec<Option<Proposal>>>,
}

impl<'a> Log<'a> {
    /// Searches what has not been searched. `None` if `stop` was set.
    pub fn make(
        roster: &'a Roster,
        positions: &'a [TestPosition],
        budget: Pace,
        searches: &mut Searches,
        stop: &AtomicBool,
        progress: impl FnMut(usize, usize),
    ) -> Result<Option<Self>, SearchError> {
        let in_position = |position: &TestPosition| -> Vec<SearchQuery> {
            let electors = roster.electors().iter();
            electors.map(|elector| SearchQuery::new(elector, &position.line, budget)).collect()
        };
        let requests: Vec<SearchQuery> = positions.iter().flat_map(in_position).collect();
        if !searches.ensure(&requests, stop, progress)? {
            return Ok(None);
        }
        let proposed = |position: &TestPosition| {
            let found = in_position(position).into_iter().zip(roster.electors());
            found.map(|(request, elector)| searches.get(&request)?.proposal(&elector.name)).collect()
        };
        let proposals = positions.iter().map(proposed).collect();
        Ok(Some(Self { roster, positions, proposals }))
    }

    /// Returns the ballots for the genetic algorithm.
    pub fn ballots(&self) -> Vec<genetic::LoggedBallot> {
        let positions = self.positions.iter().zip(&self.proposals);
        let ballot = |(position, proposals): (&TestPosition, &Vec<Option<Proposal>>)| {
            let known = proposals.iter().zip(self.roster.electors()).filter_map(|(proposal, elector)| {
                let best = proposal.as_ref()?.best;
                let is_best = position.judge(best) == Judgement::Best;
                Some((best.to_string(), elector.knowledge().unwrap_or_default(), is_best))
            });
            let known: Vec<_> = known.collect();
            genetic::LoggedBallot::new(
                known.iter().map(|(text, knowledge, is_best)| (text.as_str(), *knowledge, *is_best)),
            )
        };
        positions.map(ballot).collect()
    }
}
