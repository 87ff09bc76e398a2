use std::fmt::Write as _;

use shakmaty::Position as _;

use crate::frontend::{
    options::{EngineOption, OptionKind},
    search_progress::LeadingProposal,
};
use council::player::vote_report;
use domain::{Bound, Decision, Line, Proposal, Score};

pub(super) fn option(choice: &EngineOption) -> String {
    let EngineOption { name, kind, value } = choice;
    let text = if value.is_empty() { "<empty>" } else { value };
    match kind {
        OptionKind::Check => format!("option name {name} type check default {value}"),
        OptionKind::Spin(least, most) => format!("option name {name} type spin default {value} min {least} max {most}"),
        OptionKind::Combo(words) => {
            format!("option name {name} type combo default {value} var {}", words.join(" var "))
        }
        OptionKind::Text => format!("option name {name} type string default {text}"),
        OptionKind::Button => format!("option name {name} type button"),
    }
}

pub(super) fn info(standing: &LeadingProposal<'_>) -> String {
    let Proposal { depth, selective_depth, score, bound, pv, .. } = standing.proposal;
    let bound = match bound {
        Bound::Exact => "",
        Bound::Lower => " lowerbound",
        Bound::Upper => " upperbound",
    };
    let mut text = format!(
        "info depth {depth} seldepth {selective_depth} score {}{bound} nodes {} nps {} time {} pv",
        written(*score),
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
    format!("info depth 1 score {} pv {}", written(score), decision.best)
}

fn written(score: Score) -> String {
    match score {
        Score::Cp(centipawns) => format!("cp {centipawns}"),
        Score::Mate(moves) => format!("mate {moves}"),
    }
}

pub(super) fn proposal(line: &Line, proposal: &Proposal) -> String {
    let Proposal { search, elector, best, score, depth, nodes, .. } = proposal;
    format!("info string {:?} phase: {elector} {} {score} depth {depth} nodes {nodes}", search.phase, line.san(*best))
}

pub(super) fn votes(line: &Line, decision: &Decision) -> Vec<String> {
    vote_report::lines(line, decision).iter().map(|vote| format!("info string {vote}")).collect()
}

/// Writes the answer to `go`.
pub(super) fn best_move(decision: &Decision) -> String {
    match decision.ponder {
        Some(reply) => format!("bestmove {} ponder {reply}", decision.best),
        None => format!("bestmove {}", decision.best),
    }
}

/// Writes the message about a position without a legal move.
pub(super) fn over(line: &Line) -> String {
    let score = if line.position().is_check() { "mate 0" } else { "cp 0" };
    format!("info depth 0 score {score}")
}
