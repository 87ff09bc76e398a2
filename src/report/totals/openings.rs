//! Openings as a tree: family, variation, further variations, each with its results.

use bot::journal::GameResult;
use serde::Serialize;
use util::find_or_add;

use super::ResultCount;
use crate::study::GameStudy;

#[derive(Debug, Default, Serialize)]
pub struct OpeningNode {
    pub name: String,
    /// Its code, or the first and the last one.
    pub eco: String,
    #[serde(flatten)]
    pub results: ResultCount,
    /// The bot's mean expectation after the last named position, per cent; the sum until the end.
    pub expected: f64,
    /// Its variations, at the end the most costly first.
    pub variations: Vec<OpeningNode>,
    #[serde(skip)]
    ecos: Option<(&'static str, &'static str)>,
}

pub(super) fn add(openings: &mut Vec<OpeningNode>, study: Option<&GameStudy>, result: GameResult) {
    let Some((study, opening)) = study.and_then(|study| Some((study, study.opening?))) else { return };
    let last = study.moves.get(study.opening_plies.saturating_sub(1));
    let for_white = last.map_or(50.0, |played| played.expected_for_white());
    let expected = if study.record.our_color.is_white() { for_white } else { 100.0 - for_white };
    let mut nodes = openings;
    for name in std::iter::once(opening.family()).chain(opening.variations()) {
        let new = || OpeningNode { name: name.to_owned(), ..OpeningNode::default() };
        let node = find_or_add(nodes, |node| node.name == name, new);
        node.results.add(result);
        node.expected += expected;
        let (first, last) = node.ecos.unwrap_or((opening.eco, opening.eco));
        node.ecos = Some((first.min(opening.eco), last.max(opening.eco)));
        nodes = &mut node.variations;
    }
}

/// Makes codes and means, and sorts by cost.
pub(super) fn finish(nodes: &mut [OpeningNode]) {
    for node in &mut *nodes {
        let (first, last) = node.ecos.unwrap_or_default();
        node.eco = if first == last { first.to_owned() } else { format!("{first}-{last}") };
        node.expected /= node.results.games().max(1) as f64;
        finish(&mut node.variations);
    }
    nodes.sort_by(|a, b| a.name.cmp(&b.name));
    nodes.sort_by(|a, b| b.results.points_lost().total_cmp(&a.results.points_lost()));
}
