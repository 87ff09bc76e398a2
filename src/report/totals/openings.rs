//! Openings as a tree: family, variation, further variations, each with its results.

use std::collections::BTreeMap;

use bot::journal::GameResult;
use serde::Serialize;

use super::ResultCount;
use crate::study::GameStudy;

/// An opening or a variation of one, with the games that were played in it.
#[derive(Clone, Debug, Serialize)]
pub struct OpeningNode {
    pub name: String,
    pub eco: String,
    #[serde(flatten)]
    pub results: ResultCount,
    /// Our mean expectation where the opening's last named position stood, per cent.
    pub expected: f64,
    /// Its variations, the most costly first.
    pub variations: Vec<OpeningNode>,
}

#[derive(Debug, Default)]
pub(super) struct OpeningSums {
    results: ResultCount,
    expected: f64,
    first_eco: Option<&'static str>,
    last_eco: Option<&'static str>,
    variations: BTreeMap<&'static str, OpeningSums>,
}

impl OpeningSums {
    pub(super) fn add(&mut self, study: Option<&GameStudy>, result: GameResult) {
        let Some((study, opening)) = study.and_then(|study| Some((study, study.opening?))) else { return };
        let last = study.moves.get(study.opening_plies.saturating_sub(1));
        let for_white = last.map_or(50.0, |played| played.expected_for_white());
        let expected = if study.record.our_color.is_white() { for_white } else { 100.0 - for_white };
        let mut node = self;
        for name in std::iter::once(opening.family()).chain(opening.variations()) {
            node = node.variations.entry(name).or_default();
            node.results.add(result);
            node.expected += expected;
            node.first_eco = Some(node.first_eco.map_or(opening.eco, |first| first.min(opening.eco)));
            node.last_eco = node.last_eco.max(Some(opening.eco));
        }
    }

    pub(super) fn tree(&self) -> Vec<OpeningNode> {
        let mut nodes: Vec<OpeningNode> = self
            .variations
            .iter()
            .map(|(name, sums)| OpeningNode {
                name: (*name).to_owned(),
                eco: sums.codes(),
                results: sums.results,
                expected: sums.expected / sums.results.games().max(1) as f64,
                variations: sums.tree(),
            })
            .collect();
        nodes.sort_by(|a, b| b.results.points_lost().total_cmp(&a.results.points_lost()));
        nodes
    }

    fn codes(&self) -> String {
        match (self.first_eco, self.last_eco) {
            (Some(first), Some(last)) if first != last => format!("{first}-{last}"),
            (first, _) => first.unwrap_or_default().to_owned(),
        }
    }
}
