//! The figures of a trial as Markdown, for people and for docs/results.

use std::fmt::Write;

use super::{Report, RosterFigures, SystemFigures};
use crate::stats::Estimate;

/// Two tables: what rosters propose, and what systems play. Regrets are in per cent of a point.
pub fn markdown(report: &Report) -> String {
    let mut text = String::new();
    let Report { positions, judged, budget, .. } = report;
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
        let regret = percent(regret_of_best.as_ref());
        let _ = writeln!(
            text,
            "| {name} | {electors} | {union} | {intersection} | {distinct:.2} | {unanimous:.0} % | {regret} |"
        );
    }
    text.push('\n');
}

fn systems(text: &mut String, report: &Report) {
    text.push_str("| system | criterion | best | worst | other | points, % | regret, % | against the base, % |\n");
    text.push_str("|---|---|---|---|---|---|---|---|\n");
    for SystemFigures { name, criterion, best, worst, other, points, regret, regret_against_base } in &report.systems {
        let criterion = criterion.map_or("", |criterion| criterion.word());
        let [points, regret, difference] = [points, regret, regret_against_base].map(|figure| percent(figure.as_ref()));
        let _ = writeln!(
            text,
            "| {name} | {criterion} | {best} | {worst} | {other} | {points} | {regret} | {difference} |"
        );
    }
}

/// `12.3 [11.0, 13.6]`
fn percent(estimate: Option<&Estimate>) -> String {
    estimate.map_or_else(String::new, |Estimate { value, low, high }| {
        format!("{:.2} [{:.2}, {:.2}]", 100.0 * value, 100.0 * low, 100.0 * high)
    })
}
