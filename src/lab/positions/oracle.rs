//! Values of moves, by an engine much stronger than those on trial.

use std::collections::{BTreeMap, BTreeSet};

use crate::{
    player::Pace,
    searches::{SearchQuery, Searches},
    suite::TestPosition,
};
use council::electors::ElectorSpec;
use domain::{Score, UciMove};

#[derive(Clone, Debug)]
pub struct Oracle {
    pub engine: ElectorSpec,
    pub nodes: u64,
}

impl Oracle {
    /// The searches that value these moves of a position: one for each, and one for the oracle's own.
    pub fn requests(&self, position: &TestPosition, moves: &BTreeSet<String>) -> Vec<SearchQuery> {
        let each = moves.iter().filter_map(|text| text.parse().ok()).map(|mv| self.request_for(position, mv));
        std::iter::once(self.request(position)).chain(each).collect()
    }

    pub fn request_for(&self, position: &TestPosition, mv: UciMove) -> SearchQuery {
        SearchQuery { root_moves: vec![mv], ..self.request(position) }
    }

    /// Returns one move's expected score, 0 to 1, once it is searched.
    pub fn worth(&self, position: &TestPosition, mv: UciMove, searches: &Searches) -> Option<f64> {
        Some(expected(searches.get(&self.request_for(position, mv))?.score()?))
    }

    /// Returns the loss of expected score of each of these moves, once all are searched.
    pub fn regrets(
        &self,
        position: &TestPosition,
        moves: &BTreeSet<String>,
        searches: &Searches,
    ) -> Option<BTreeMap<String, f64>> {
        let worth = |text: &String| Some((text.clone(), self.worth(position, text.parse().ok()?, searches)?));
        let mut values: BTreeMap<String, f64> = moves.iter().map(worth).collect::<Option<_>>()?;
        let own = expected(searches.get(&self.request(position))?.score()?);
        let best = values.values().copied().fold(own, f64::max);
        values.values_mut().for_each(|value| *value = best - *value);
        Some(values)
    }

    fn request(&self, position: &TestPosition) -> SearchQuery {
        SearchQuery::new(&self.engine, &position.line, Pace::Nodes(self.nodes))
    }
}

/// The score to be expected at an oracle's centipawns. The slope is that of Lichess's accuracy figures, fitted to games.
fn expected(score: Score) -> f64 {
    1.0 / (1.0 + (-0.003_682_08 * f64::from(score.as_centipawns().clamp(-2000, 2000))).exp())
}
