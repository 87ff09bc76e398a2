use std::fmt::Write as _;

use crate::frontend::{
    options::{EngineOption, OptionKind},
    search_progress::LeadingProposal,
};
use council::player::vote_report;
use domain::{Bound, Decision, Line, Proposal, Score};
use engine::uci::score_text;

pub(super) fn option(choice: &EngineOption) -> String {
    let EngineOption { name, kind, value } = choice;
    let text = if value.is_empty() { "<empty>" } else { value };
    match kind {
        OptionKind::Check => format!("option name {name} type check default {value}"),
        OptionKind::Spin(least, most) => format!("option name {name} type spin default {value} min {least} max {most}"),
        OptionKind::Combo(all) => format!("option name {name} type combo default {value} var {}", all.join(" var ")),
        OptionKind::Text => format!("option name {name} type string default {text}"),
        OptionKind::Button => format!("option name {name} type button"),
    }
}

pub(super) fn info(standing: &LeadingProposal<'_>) -> String {
    let Proposal { depth, selective_depth, score, bound, pv, .. } = standing.proposal;
    let mut text = format!(
        "info depth {depth} seldepth {selective_depth} score {} nodes {} nps {} time {} pv",
        score_text(*score, *bound),
        standing.nodes,
        standing.speed(),
        standing.time.as_millis(),
    );
    for uci in pv {
        let _ = write!(text, " {uci}");
    }
    text
}

/// Writes a move that no elector proposed: from the deciding thread's own search, or from a
/// tablebase.
pub(super) fn unproposed(decision: &Decision, score: Score) -> String {
    format!("info depth 1 score {} pv {}", score_text(score, Bound::Exact), decision.best)
}

pub(super) fn proposal(line: &Line, proposal: &Proposal) -> String {
    let Proposal { search, elector, best, score, depth, nodes, .. } = proposal;
    format!("info string {:?} phase: {elector} {} {score} depth {depth} nodes {nodes}", search.phase, line.san(*best))
}

pub(super) fn votes(line: &Line, decision: &Decision) -> Vec<String> {
    vote_report::lines(line, decision).iter().map(|vote| format!("info string {vote}")).collect()
}
