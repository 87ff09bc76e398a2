//! Electors, rosters and criteria on test positions.
//!
//! Every elector searches every position once; every criterion is then computed on these same
//! proposals, so that differences between criteria are theirs alone. Three rounds: the electors
//! propose; complete knowledge searches the proposals again if a criterion asks for it; an oracle,
//! if there is one, values each proposed move. A system's loss against the best known move is its
//! *regret*, in expected score.

mod oracle;
mod table;
#[cfg(test)]
mod tests;

pub use oracle::Oracle;
pub use table::{PositionsReport, RosterFigures, SystemFigures, markdown};

use std::{collections::BTreeSet, sync::atomic::AtomicBool};

use super::{
    player::Pace,
    searches::{Found, SearchQuery, Searches},
    state::fnv1a,
    suite::TestPosition,
};
use council::{Ballots, CouncilSettings, CriterionName, Roster, Rule, electors::ElectorSpec};
use domain::{Knowledge, Proposal, UciMove};
use util::Failure;

#[derive(Clone, Debug)]
pub struct CandidateRoster {
    pub roster: Roster,
    /// The settings of the criteria, with the roster's name; their `criterion` is unused.
    pub settings: CouncilSettings,
}

impl CandidateRoster {
    pub fn new(settings: CouncilSettings) -> Result<Self, Failure> {
        Ok(Self { roster: Roster::from_settings(&settings).map_err(Failure::usage)?, settings })
    }
}

#[derive(Clone, Debug)]
pub struct PositionsPlan {
    /// The positions on which everything is tried.
    pub positions: Vec<TestPosition>,
    pub candidates: Vec<CandidateRoster>,
    pub criteria: Vec<CriterionName>,
    /// Single electors beside them, with their own budgets. Complete knowledge at `budget` is always there: the base.
    pub singles: Vec<(ElectorSpec, Pace)>,
    pub budget: Pace,
    pub oracle: Option<Oracle>,
    /// The seed of ties and of the bootstrap.
    pub seed: u64,
}

/// Does all the searches that are missing, and computes everything from them. `None` if `stop` was set before the end; what
/// was searched is kept. The oracle's searches are kept apart, because they outlive this build. `progress` receives the name of a
/// round, and how many of how many searches it has done.
pub fn run(
    plan: &PositionsPlan,
    searches: &mut Searches,
    oracle_searches: &mut Searches,
    stop: &AtomicBool,
    mut progress: impl FnMut(&'static str, usize, usize),
) -> Result<Option<PositionsReport>, Failure> {
    let mut round = |name: &'static str, searches: &mut Searches, requests: &[SearchQuery]| {
        searches.ensure(requests, stop, |done, of| progress(name, done, of))
    };
    let proposals = plan.proposals();
    if !round("proposals", searches, &proposals)? {
        return Ok(None);
    }
    let second = plan.second_phases(searches);
    if !round("second phases", searches, &second)? {
        return Ok(None);
    }
    let values = plan.values(searches);
    if !round("oracle", oracle_searches, &values)? {
        return Ok(None);
    }
    Ok(Some(plan.report(searches, oracle_searches)))
}

/// The result of an elector's own search of a position.
fn found<'a>(
    searches: &'a Searches,
    elector: &ElectorSpec,
    position: &TestPosition,
    budget: Pace,
) -> Option<&'a Found> {
    searches.get(&SearchQuery::new(elector, &position.line, budget))
}

impl PositionsPlan {
    /// Returns the base: complete knowledge.
    fn base(&self) -> ElectorSpec {
        let hash = self.candidates.first().map_or(8, |candidate| candidate.settings.hash);
        ElectorSpec::own(Knowledge::COMPLETE, hash)
    }

    /// Returns single electors, the base first.
    fn singles(&self) -> Vec<(ElectorSpec, Pace)> {
        std::iter::once((self.base(), self.budget)).chain(self.singles.iter().cloned()).collect()
    }

    /// Round one: every elector in every position.
    fn proposals(&self) -> Vec<SearchQuery> {
        let of_rosters = self.candidates.iter().flat_map(|candidate| candidate.roster.electors());
        let electors: Vec<(ElectorSpec, Pace)> =
            self.singles().into_iter().chain(of_rosters.map(|elector| (elector.clone(), self.budget))).collect();
        let of_position = |position: &TestPosition| {
            let query = |(elector, budget): &(_, Pace)| SearchQuery::new(elector, &position.line, *budget);
            electors.iter().map(query).collect::<Vec<_>>()
        };
        self.positions.iter().flat_map(of_position).collect()
    }

    /// Round two: complete knowledge on the proposals of each council after its first phase.
    fn second_phases(&self, searches: &Searches) -> Vec<SearchQuery> {
        if !self.criteria.contains(&CriterionName::ReSearch) {
            return Vec::new();
        }
        let pairs = self.positions.iter().flat_map(|p| self.candidates.iter().map(move |c| (p, c)));
        pairs.filter_map(|(position, candidate)| self.second_phase(searches, position, candidate)).collect()
    }

    /// Returns round three: the searches that value every move of a system, and the oracle's own.
    fn values(&self, searches: &Searches) -> Vec<SearchQuery> {
        let Some(oracle) = &self.oracle else { return Vec::new() };
        let positions = self.positions.iter();
        positions.flat_map(|position| oracle.requests(position, &self.moves(searches, position))).collect()
    }

    /// Returns every move of any system in a position, or named by the suite, as texts in order.
    fn moves(&self, searches: &Searches, position: &TestPosition) -> BTreeSet<String> {
        let singles = self.singles();
        let by_singles =
            singles.iter().filter_map(|(elector, budget)| found(searches, elector, position, *budget)?.best());
        let by_councils = self.candidates.iter().flat_map(|candidate| {
            let second = self.second_phase(searches, position, candidate);
            let second = second.and_then(|request| searches.get(&request)?.best());
            let proposed = self.proposed(searches, position, candidate).into_iter().flatten();
            proposed.map(|proposal| proposal.best).chain(second)
        });
        let known = position.best.iter().copied();
        by_singles.chain(by_councils).chain(known).map(|mv| mv.to_string()).collect()
    }

    /// Returns the final proposals of a council's electors.
    fn proposed(
        &self,
        searches: &Searches,
        position: &TestPosition,
        candidate: &CandidateRoster,
    ) -> Vec<Option<Proposal>> {
        let electors = candidate.roster.electors().iter();
        electors.map(|elector| found(searches, elector, position, self.budget)?.proposal(&elector.name)).collect()
    }

    /// The different moves that they propose when the first phase's share of the budget is spent.
    fn after_first_phase(
        &self,
        searches: &Searches,
        position: &TestPosition,
        candidate: &CandidateRoster,
    ) -> Vec<UciMove> {
        let mut moves = Vec::new();
        for elector in candidate.roster.electors() {
            let found = found(searches, elector, position, self.budget);
            let proposal =
                found.and_then(|found| found.proposal_at(candidate.settings.split, self.budget, &elector.name));
            if let Some(proposal) = proposal
                && !moves.contains(&proposal.best)
            {
                moves.push(proposal.best);
            }
        }
        moves
    }

    /// The second search, which there is only where the first phase leaves a choice.
    fn second_phase(
        &self,
        searches: &Searches,
        position: &TestPosition,
        candidate: &CandidateRoster,
    ) -> Option<SearchQuery> {
        let root_moves = self.after_first_phase(searches, position, candidate);
        let budget = share_of(self.budget, 1.0 - candidate.settings.split)?;
        let request = SearchQuery::new(&self.base(), &position.line, budget);
        (root_moves.len() > 1).then_some(SearchQuery { root_moves, ..request })
    }

    /// Returns a council's move, given the final proposals of its electors.
    fn elected(
        &self,
        searches: &Searches,
        position: &TestPosition,
        candidate: &CandidateRoster,
        proposals: &[Option<Proposal>],
        criterion: CriterionName,
    ) -> Option<UciMove> {
        if criterion == CriterionName::ReSearch {
            return match self.second_phase(searches, position, candidate) {
                Some(request) => searches.get(&request)?.best(),
                None => self.after_first_phase(searches, position, candidate).first().copied(),
            };
        }
        let settings = CouncilSettings { criterion, ..candidate.settings.clone() };
        let seed = self.seed ^ fnv1a(position.line.fen().as_bytes());
        let ballots = Ballots::recorded(&*position.line, candidate.roster.electors(), proposals);
        Rule::of(&settings).elected_move(&ballots, seed)
    }
}

/// A share of a budget; `None` if nothing is left.
fn share_of(budget: Pace, share: f64) -> Option<Pace> {
    match budget {
        Pace::Nodes(nodes) => Some((nodes as f64 * share) as u64).filter(|nodes| *nodes > 0).map(Pace::Nodes),
        Pace::MoveTime(time) => Some(time.mul_f64(share)).filter(|time| !time.is_zero()).map(Pace::MoveTime),
        Pace::Clock { .. } | Pace::Depth(_) => None,
    }
}
