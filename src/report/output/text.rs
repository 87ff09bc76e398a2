use std::fmt::Write as _;

use util::printable;

use crate::{
    statistics::GameSums,
    totals::{GroupFigure, Totals},
    votes::CouncilStudy,
};

/// The number of openings, criteria and electors named.
const NAMED: usize = 5;

pub fn totals_text(totals: &Totals) -> String {
    let mut text = String::new();
    let all = &totals.all;
    // Writing to a string cannot fail, here and below.
    let _ = writeln!(text, "{}", group_line(all));
    for figure in totals.groups.colors.iter().chain(&totals.groups.speeds).chain(&totals.groups.kinds) {
        let _ = writeln!(text, "  {}", group_line(figure));
    }
    if !totals.losses.is_empty() {
        let causes = totals.losses.iter().map(|(cause, count)| format!("{} {count}", cause.word()));
        let _ = writeln!(text, "lost by: {}", causes.collect::<Vec<_>>().join(", "));
    }
    let costly = totals.openings.iter().filter(|node| node.results.points_lost() > 0.0).take(NAMED);
    for (index, node) in costly.enumerate() {
        let head = if index == 0 { "openings that cost most:" } else { "" };
        let results = node.results;
        let _ = writeln!(
            text,
            "{head:<24} {} {}  +{} ={} -{}",
            node.eco, node.name, results.won, results.drawn, results.lost
        );
    }
    let [inaccuracies, mistakes, blunders] = totals.labels;
    let _ = writeln!(
        text,
        "a game: {inaccuracies:.1} inaccuracies, {mistakes:.1} mistakes, {blunders:.1} blunders; missed: {} wins, {} mates",
        totals.missed.wins, totals.missed.mates
    );
    text
}

/// `name  +3 =1 -2  58 %  performance 1893  accuracy 91.2`.
fn group_line(figure: &GroupFigure) -> String {
    let results = figure.results;
    let mut line = format!("{:<16} +{} ={} -{}", printable(&figure.name), results.won, results.drawn, results.lost);
    if let Some(share) = results.share() {
        let _ = write!(line, "  {:.0} %", 100.0 * share);
    }
    if let Some(performance) = figure.performance {
        let _ = write!(line, "  performance {performance:.0}");
    }
    if let Some(accuracy) = figure.accuracy {
        let _ = write!(line, "  accuracy {accuracy:.1}");
    }
    line
}

/// Writes the best electors and rules in some lines; empty without votes.
pub fn council_text(council: &CouncilStudy) -> String {
    let mut text = String::new();
    if council.votes == 0 {
        return text;
    }
    let _ = writeln!(text, "{} votes; lost a move, in per cent of a point:", council.votes);
    let _ = writeln!(text, "  {:<24} {}", "what was played", figure(&council.played));
    let _ = writeln!(text, "  {:<24} {}", "the best proposal", figure(&council.best_proposal));
    for rule in council.criteria.iter().filter(|rule| rule.loss.count() > 0).take(NAMED) {
        let _ = writeln!(
            text,
            "  {:<24} {}   against what was played {}",
            rule.criterion,
            figure(&rule.loss),
            figure(&rule.against_played)
        );
    }
    for elector in council.electors.iter().take(NAMED) {
        let name = format!("{} alone", printable(&elector.elector));
        let _ = writeln!(text, "  {name:<24} {}   knew better {} times", figure(&elector.loss), elector.knew_better);
    }
    text
}

fn figure(sums: &GameSums) -> String {
    let mean = sums.mean();
    format!("{:6.3} ± {:.3}", mean.mean, mean.margin())
}
