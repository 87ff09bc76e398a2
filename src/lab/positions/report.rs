//! The figures of a trial as Markdown, for people and for docs/results.

use std::fmt::Write;

use super::{PositionsReport, RosterFigures, SystemFigures};
use crate::stats::Estimate;

/// Two tables: what rosters propose, and what systems play. Regrets are in per cent of a point.
pub fn markdown(report: &PositionsReport) -> String {
    let mut text = String::new();
    let PositionsReport { positions, judged, budget, .. } = report;
    let oracle = report.oracle.as_ref().map_or_else(String::new, |oracle| format!("; oracle: {oracle}"));
    // Writing to a string cannot fail.
    let _ = writeln!(text, "{positions} positions, best moves known in {judged}; every elector {budget}{oracle}.\n");
    if !report.rosters.is_empty() {
        rosters(&mut text, &report.rosters);
    }
    systems(&mut text, report);
    text
}

fn rosters(text: &mut String, rosters: &[RosterFigures]) {
    text.push_str(
        "| roster | electors | union | intersection | distinct moves | unanimous | regret of the best proposal, % |\n",
    );
    text.push_str("|---|---|---|---|---|---|---|\n");
    for RosterFigures { name, electors, union, intersection, distinct, unanimous, regret_of_best } in rosters {
        let unanimous = 100.0 * unanimous;
        let regret = regret_of_best.map(Estimate::percent).unwrap_or_default();
        let _ = writeln!(
            text,
            "| {name} | {electors} | {union} | {intersection} | {distinct:.2} | {unanimous:.0} % | {regret} |"
        );
    }
    text.push('\n');
}

fn systems(text: &mut String, report: &PositionsReport) {
    text.push_str("| system | criterion | best | worst | other | points, % | regret, % | against the base, % |\n");
    text.push_str("|---|---|---|---|---|---|---|---|\n");
    for SystemFigures { name, criterion, best, worst, other, points, regret, regret_against_base } in &report.systems {
        let criterion = criterion.map_or("", |criterion| criterion.word());
        let [points, regret, difference] =
            [points, regret, regret_against_base].map(|figure| figure.map(Estimate::percent).unwrap_or_default());
        let _ = writeln!(
            text,
            "| {name} | {criterion} | {best} | {worst} | {other} | {points} | {regret} | {difference} |"
        );
    }
}
