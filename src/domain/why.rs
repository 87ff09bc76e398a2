//! Why a vote went as it did: how the position at the end of each rejected line differs from the one at the end of the
//! elected line, heuristic by heuristic.
//!
//! The deepest search for each move says how its line goes on. At the end of the line all captures that win material are
//! played out, then the eight heuristics value the position as `concilio eval` does. Everything here is computed when a
//! vote is shown, never before its move is sent.

use serde::Serialize;

use super::{Decision, GameLine, Score};
use util::grouped;

/// The number of rejected moves and of heuristics that the sentence names.
const MOST_MOVES: usize = 3;
const MOST_HEURISTICS: usize = 2;

/// A move that an elector proposed, with the line it expects.
#[derive(Clone, Debug)]
pub struct ExpectedLine<M> {
    pub mv: M,
    /// The line, `mv` first; empty if unknown.
    pub moves: Vec<M>,
    /// In plies.
    pub depth: u32,
    /// From the side of the player to move.
    pub score: Option<Score>,
}

/// The advantages and faults of a rejected move beside the elected one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Reason {
    /// The rejected move, as people write it.
    pub mv: String,
    pub uci: String,
    /// The differences, the largest first: positive is better for the player to move. Empty where a mate decides.
    pub differences: Vec<Difference>,
    /// The largest differences, or the mate: `centre +0.3, king safety -0.6`.
    pub text: String,
}

/// The difference that one heuristic sees, in centipawns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Difference {
    pub heuristic: &'static str,
    pub cp: i32,
}

/// Why the other proposals were rejected, those with the most supporters first. Empty where all agree.
pub fn reasons<L: GameLine>(line: &L, elected: L::Move, expected: &[ExpectedLine<L::Move>]) -> Vec<Reason> {
    // Each move by its deepest line, of equally deep ones the first, with the number of its supporters.
    let moves = grouped(expected.iter().map(|proposal| (proposal.mv, proposal))).into_iter();
    let moves = moves.filter_map(|(_, lines)| Some((*lines.iter().rev().max_by_key(|line| line.depth)?, lines.len())));
    let moves: Vec<(&ExpectedLine<L::Move>, usize)> = moves.collect();
    let lone = ExpectedLine { mv: elected, moves: vec![elected], depth: 0, score: None };
    let chosen = moves.iter().find(|(proposal, _)| proposal.mv == elected).map_or(&lone, |(proposal, _)| *proposal);
    let mut rejected: Vec<_> = moves.iter().filter(|(proposal, _)| proposal.mv != elected).collect();
    rejected.sort_by_key(|(_, supporters)| std::cmp::Reverse(*supporters));
    let parts = |of: &ExpectedLine<L::Move>| match of.moves.as_slice() {
        [] => line.parts_after(&[of.mv]),
        moves => line.parts_after(moves),
    };
    let Some(base) = rejected.first().and_then(|_| parts(chosen)) else { return Vec::new() };
    let reason = |proposal: &ExpectedLine<L::Move>| {
        let (differences, text) = match mate(chosen.score, proposal.score) {
            Some(mate) => (Vec::new(), mate),
            None => {
                let differences = differences(&base, &parts(proposal)?);
                let text = in_pawns(&differences);
                (differences, text)
            }
        };
        Some(Reason { mv: line.move_text(proposal.mv), uci: proposal.mv.to_string(), differences, text })
    };
    rejected.into_iter().filter_map(|(proposal, _)| reason(proposal)).collect()
}

pub fn expected<M: Copy, K>(decision: &Decision<M, K>) -> Vec<ExpectedLine<M>> {
    let second = decision.second_phase.as_ref().map(|second| &second.proposal);
    let proposals = decision.votes.iter().map(|vote| &vote.proposal).chain(second);
    let expected = proposals.map(|proposal| ExpectedLine {
        mv: proposal.best,
        moves: proposal.pv.clone(),
        depth: proposal.depth,
        score: Some(proposal.score),
    });
    expected.collect()
}

/// Why the other proposals of a decision were rejected, in one sentence; empty where there are none.
pub fn decision_in_words<L: GameLine>(line: &L, decision: &Decision<L::Move, L::Knowledge>) -> String {
    in_words(&line.move_text(decision.best), &reasons(line, decision.best, &expected(decision)))
}

/// The reasons in one sentence without its capital letter: `compared with c5, e5 ends with centre +0.3, king safety -0.6; d5
/// ends with mobility +0.2`. Empty without reasons.
pub fn in_words(elected: &str, reasons: &[Reason]) -> String {
    let clauses = reasons.iter().take(MOST_MOVES).map(|Reason { mv, differences, text, .. }| {
        let verb = if differences.is_empty() { "" } else { "ends with " };
        format!("{mv} {verb}{text}")
    });
    let clauses: Vec<String> = clauses.collect();
    if clauses.is_empty() { String::new() } else { format!("compared with {elected}, {}", clauses.join("; ")) }
}

/// The words for a mate in one of the lines, where there is one: heuristics have no say then.
fn mate(elected: Option<Score>, rejected: Option<Score>) -> Option<String> {
    Some(match (elected, rejected) {
        (_, Some(Score::Mate(moves @ 1..))) => format!("mates in {moves}"),
        (_, Some(Score::Mate(moves))) => format!("is mated in {}", -moves),
        (Some(Score::Mate(1..)), _) => "has no mate".to_owned(),
        (Some(Score::Mate(_)), _) => "escapes the mate".to_owned(),
        _ => return None,
    })
}

/// The differences of at least a tenth of a pawn, rounded, the largest first.
fn differences(base: &[(&'static str, i32)], other: &[(&'static str, i32)]) -> Vec<Difference> {
    let pairs = base.iter().zip(other);
    let pairs = pairs.map(|((heuristic, base), (_, other))| Difference { heuristic, cp: other - base });
    let mut differences: Vec<Difference> = pairs.filter(|difference| tenths(difference.cp) != 0).collect();
    differences.sort_by_key(|difference| std::cmp::Reverse(difference.cp.abs()));
    differences
}

/// The largest differences: `centre +0.3, king safety -0.6`.
fn in_pawns(differences: &[Difference]) -> String {
    let largest = differences.iter().take(MOST_HEURISTICS).map(|Difference { heuristic, cp }| {
        let tenths = tenths(*cp);
        let sign = if tenths < 0 { '-' } else { '+' };
        format!("{heuristic} {sign}{}.{}", tenths.abs() / 10, tenths.abs() % 10)
    });
    let largest: Vec<String> = largest.collect();
    if largest.is_empty() { "ends no different".to_owned() } else { largest.join(", ") }
}

/// Tenths of a pawn, halves rounded away from zero.
const fn tenths(cp: i32) -> i32 {
    (cp + 5 * cp.signum()) / 10
}

#[cfg(test)]
mod tests;
