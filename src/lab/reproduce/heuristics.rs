//! docs/method.md §2: the order of importance of the heuristics. Each row adds the one that finds the most best moves with those
//! before it.

use std::fmt::Write;

use super::{Reproduction, Section, or_dash, published};
use crate::{
    searches::{Found, SearchQuery},
    suite::Judgement,
};
use council::electors::ElectorSpec;
use domain::{Heuristic, Knowledge};
use util::Failure;

/// Transposition table of each instance, MiB.
const HASH: usize = 8;

pub(super) fn table(bench: &mut Reproduction<'_>) -> Result<Section, Failure> {
    let mut known = Knowledge::NONE.with(Heuristic::Material);
    let mut order = vec![(Heuristic::Material, best_moves(bench, &[known])?[0])];
    while !known.complement().is_empty() {
        let left: Vec<Heuristic> = known.complement().heuristics().collect();
        let sets: Vec<Knowledge> = left.iter().map(|heuristic| known.with(*heuristic)).collect();
        let counts = best_moves(bench, &sets)?;
        // Where several find as many, the first in the order of the letters counts.
        let best = left.into_iter().zip(counts).rev().max_by_key(|(_, count)| *count);
        let Some((heuristic, count)) = best else { break };
        known = known.with(heuristic);
        order.push((heuristic, count));
    }
    let mut text = format!(
        "Best moves in {} positions, {} nodes each; in brackets as of 500. Published: 500 positions, 60 s each.\n\n\
         | published | best of 500 | here | best | |\n|---|---|---|---|---|\n",
        bench.positions.len(),
        bench.effort.nodes
    );
    for ((letter, theirs), (heuristic, count)) in published::HEURISTICS.into_iter().zip(&order) {
        let of_500 = bench.of_500(*count);
        let (ours, name) = (heuristic.letter(), heuristic.name());
        let _ = writeln!(text, "| +{letter} | {} | +{ours} | {count} ({of_500:.0}) | {name} |", or_dash(theirs));
    }
    let counts: Vec<usize> = order.iter().map(|(_, count)| *count).collect();
    let all = counts.last().copied().unwrap_or_default();
    let most = counts.iter().copied().max().unwrap_or_default();
    let _ = writeln!(
        text,
        "\nAll eight find {all}, the best row {most}: more knowledge is {} here.",
        if most > all { "not always better, as in the theses," } else { "never worse, unlike in the theses," }
    );
    Ok(Section { title: "§2 The order of the heuristics", text, plots: Vec::new() })
}

fn best_moves(bench: &mut Reproduction<'_>, sets: &[Knowledge]) -> Result<Vec<usize>, Failure> {
    let request = |bench: &Reproduction<'_>, set: Knowledge, position: usize| {
        SearchQuery::new(&ElectorSpec::own(set, HASH), &bench.positions[position].line, bench.budget())
    };
    let count = bench.positions.len();
    let requests: Vec<SearchQuery> =
        sets.iter().flat_map(|set| (0..count).map(|position| request(bench, *set, position))).collect();
    bench.ensure(&requests, "heuristics")?;
    let is_best = |set: Knowledge, position: usize| {
        let found = bench.searches.get(&request(bench, set, position)).and_then(Found::best);
        found.is_some_and(|mv| bench.positions[position].judge(mv) == Judgement::Best)
    };
    Ok(sets.iter().map(|set| (0..count).filter(|position| is_best(*set, *position)).count()).collect())
}
