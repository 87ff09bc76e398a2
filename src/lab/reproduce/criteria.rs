//! docs/method.md §4: what the criteria elect.

use std::fmt::Write;

use super::{Reproduction, Section, published};
use crate::{
    player::Pace,
    plot::figures,
    stats::{Estimate, bootstrap},
};
use council::CriterionName;
use util::Failure;

pub(super) fn table(bench: &mut Reproduction<'_>) -> Result<Section, Failure> {
    let rosters = published::BY_CRITERION.map(|(roster, _)| roster);
    let report = bench.trial(&rosters, &CriterionName::ALL)?;
    let base = report.systems.first().map_or(0, |system| system.best);
    // The published re-search had as much time for the second phase as the instances had for the
    // first, in addition.
    let twice = bench.trial_in(&rosters, &[CriterionName::ReSearch], Pace::Nodes(2 * bench.effort.nodes), 0.5)?;
    let twice_base = twice.systems.first().map_or(0, |system| system.best);
    let mut text = format!(
        "Best / worst moves; {} positions, {} nodes an elector, figures here as of 500. The suites seldom say which move is worst. The base alone \
         finds {:.0} of 500 here and {:.0} with twice the nodes, GNU Chess found {}. Re-search gives a third of the nodes to the first phase; theirs \
         had twice the time of all others, half of it for each phase.\n\n| criterion |",
        report.positions,
        bench.effort.nodes,
        bench.of_500(base),
        bench.of_500(twice_base),
        published::GNU_CHESS
    );
    for roster in rosters {
        let _ = write!(text, " {roster}: published | here |");
    }
    text.push_str("\n|---|---|---|---|---|---|---|\n");
    let rows = CriterionName::ALL.map(|criterion| (criterion, false));
    for (criterion, is_twice) in rows.into_iter().chain([(CriterionName::ReSearch, true)]) {
        let (report, name) = if is_twice { (&twice, "re-search, twice the time") } else { (&report, criterion.word()) };
        let _ = write!(text, "| {name} |");
        let place = published::CRITERIA.iter().position(|published| *published == criterion);
        let place = place.filter(|_| is_twice == (criterion == CriterionName::ReSearch));
        for (roster, theirs) in published::BY_CRITERION {
            let theirs =
                place.map_or_else(|| "–".to_owned(), |place| format!("{} / {}", theirs[place].0, theirs[place].1));
            let ours = report.systems.iter().find(|s| s.name == roster && s.criterion == Some(criterion));
            let ours = ours
                .map_or_else(String::new, |s| format!("{:.0} / {:.0}", bench.of_500(s.best), bench.of_500(s.worst)));
            let _ = write!(text, " {theirs} | {ours} |");
        }
        text.push('\n');
    }
    text.push_str("\nA difference of less than about 20 of 500 between two criteria says nothing: see the plot.\n");
    let bars = report.systems.iter().filter(|system| system.name == rosters[0] || system.criterion.is_none());
    let bars: Vec<_> = bars
        .filter_map(|system| {
            let name = system.criterion.map_or("the base", CriterionName::word).to_owned();
            Some((name, share(system.best, report.judged, bench.seed)?))
        })
        .collect();
    let plot = figures(
        "Best moves by criterion, balanced-7",
        "best moves, %",
        &bars,
        bars.first().map(|(_, estimate)| estimate.value),
    );
    Ok(Section { title: "§4 Criteria and rosters", text, plots: vec![("criteria.svg", plot)] })
}

fn share(count: usize, of: usize, seed: u64) -> Option<Estimate> {
    let samples = (0..of).map(|index| (None::<()>, if index < count { 100.0 } else { 0.0 }));
    bootstrap(samples, seed)
}
