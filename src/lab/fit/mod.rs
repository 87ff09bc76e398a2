//! Fits of a council's settings: the genetic algorithm as it was published, on logged proposals, and stochastic approximation on
//! games. Each gives a fragment of settings.

pub mod genetic;
pub mod spsa;

use std::sync::atomic::AtomicBool;

use super::{
    player::Pace,
    searches::{SearchQuery, Searches},
    suite::{Judgement, TestPosition},
};
use council::Roster;
use genetic::{LoggedBallot, ballot};
use util::Failure;

/// Returns what the electors of a roster propose in each position within `budget`. Searches what has not been searched. `None`
/// if `stop` was set.
pub fn ballots(
    roster: &Roster,
    positions: &[TestPosition],
    budget: Pace,
    searches: &mut Searches,
    stop: &AtomicBool,
    progress: impl FnMut(usize, usize),
) -> Result<Option<Vec<LoggedBallot>>, Failure> {
    let electors = roster.electors();
    let mut requests = Vec::with_capacity(positions.len() * electors.len());
    for position in positions {
        requests.extend(electors.iter().map(|elector| SearchQuery::new(elector, &position.line, budget)));
    }
    if !searches.ensure(&requests, stop, progress)? {
        return Ok(None);
    }
    let ballot = |position: &TestPosition| {
        ballot(electors.iter().filter_map(|elector| {
            let best = searches.get(&SearchQuery::new(elector, &position.line, budget))?.best()?;
            Some((best, elector.knowledge().unwrap_or_default(), position.judge(best) == Judgement::Best))
        }))
    };
    Ok(Some(positions.iter().map(ballot).collect()))
}
