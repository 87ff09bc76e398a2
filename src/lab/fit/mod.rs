//! Fitting what a council goes by: the genetic algorithm as it was published, a rule and the worth of scores learned from
//! proposals and an oracle, and stochastic approximation on games. Each gives a fragment of settings.
//!
//! All but the last work on logged proposals: what the electors of a roster propose in many positions, searched once.

pub mod calibration;
pub mod genetic;
pub mod selector;
pub mod spsa;
pub mod surface;

use std::{collections::BTreeSet, sync::atomic::AtomicBool};

use super::{
    player::Pace,
    positions::Oracle,
    searches::{SearchError, SearchQuery, Searches},
    suite::{Judgement, TestPosition},
};
use chess::{Bound, Proposal, Score};
use council::{Ballots, CouncilSettings, Roster, features};

/// What the electors of a roster propose in some positions.
#[derive(Clone, Debug)]
pub struct Log<'a> {
    roster: &'a Roster,
    positions: &'a [TestPosition],
    /// For each position those of the electors in their order.
    proposals: Vec<Vec<Option<Proposal>>>,
}

impl<'a> Log<'a> {
    /// Searches what has not been searched. `None` if `stop` was set.
    ///
    /// # Errors
    /// [`SearchError`] if a search fails.
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

    /// As the genetic algorithm sees it.
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

    /// The oracle's searches that are needed for [`Self::examples`].
    pub fn values(&self, oracle: &Oracle) -> Vec<SearchQuery> {
        let positions = self.positions.iter().zip(&self.proposals);
        positions.flat_map(|(position, proposals)| oracle.requests(position, &moves(proposals))).collect()
    }

    /// As the learned rule sees it, with what each proposal loses by the oracle. Positions in which all agree teach nothing,
    /// and are there for the regret that nobody can avoid.
    pub fn examples(
        &self,
        settings: &CouncilSettings,
        oracle: &Oracle,
        oracle_searches: &Searches,
    ) -> Vec<selector::Example> {
        let positions = self.positions.iter().zip(&self.proposals);
        let example = |(position, proposals): (&TestPosition, &Vec<Option<Proposal>>)| {
            let values = oracle.values(position, &moves(proposals), oracle_searches)?;
            let rows = features(settings, &Ballots::recorded(&*position.line, self.roster.electors(), proposals));
            let rows = rows.into_iter().filter_map(|(place, features)| {
                let best = proposals.get(place)?.as_ref()?.best;
                Some((features.to_vec(), values.regret(best)?))
            });
            Some(selector::Example { game: position.game.clone(), proposals: rows.collect() })
        };
        positions.filter_map(example).filter(|example| !example.proposals.is_empty()).collect()
    }

    /// As a calibration sees it. Mates need none, and bounds are no values.
    pub fn scores(&self, oracle: &Oracle, oracle_searches: &Searches) -> Vec<calibration::JudgedPosition> {
        let positions = self.positions.iter().zip(&self.proposals);
        let of_position = |(position, proposals): (&TestPosition, &Vec<Option<Proposal>>)| {
            let values = oracle.values(position, &moves(proposals), oracle_searches)?;
            let said = proposals.iter().enumerate().filter_map(|(elector, proposal)| {
                let Proposal { best, score: Score::Cp(score), bound: Bound::Exact, .. } = proposal.as_ref()? else {
                    return None;
                };
                let (worth, regret) = (values.worth(*best)?, values.regret(*best)?);
                Some(calibration::Said { elector, score: f64::from(*score), worth, regret })
            });
            Some(calibration::JudgedPosition { game: position.game.clone(), proposals: said.collect() })
        };
        positions.filter_map(of_position).filter(|position| !position.proposals.is_empty()).collect()
    }
}

fn moves(proposals: &[Option<Proposal>]) -> BTreeSet<String> {
    proposals.iter().flatten().map(|proposal| proposal.best.to_string()).collect()
}
