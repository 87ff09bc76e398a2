//! The move without any proposal in time: a search of two plies by the deciding thread, so that even
//! then a *searched* move is played. It takes well under a millisecond.

use std::sync::{Arc, atomic::AtomicBool};

use shakmaty::{Color, KnownOutcome, Outcome, Position as _, Role, variant::VariantPosition};

use super::{question::Question, searcher::search_id};
use crate::{
    CouncilGame,
    electors::{Elector, ElectorSpec, Task},
};
use domain::{ElectorName, Limits, Line, Phase, Proposal, Score, Variant};

/// The depth, in plies.
const DEPTH: u32 = 2;
/// The node limit, for positions with many captures.
const MOST_NODES: u64 = 1000;
const NAME: &str = "fallback";

/// Returns the move for a question in this position; `None` without a legal move. `kept` is the deciding thread's searcher,
/// made at its first use.
pub(super) fn search<L: CouncilGame>(
    kept: &mut Option<Box<dyn Elector<L>>>,
    question: &Question<L>,
    line: &Arc<L>,
) -> Option<Proposal<L::Move>> {
    let id = search_id(&question.game, &**line, Phase::First);
    let limits = Limits { depth: Some(DEPTH), nodes: Some(MOST_NODES), ..Limits::default() };
    let task = Task { root_moves: question.root_moves(), limits, ..Task::new(id, Arc::clone(line)) };
    if !L::is_searchable(line.variant()) {
        return L::at_a_glance(&task);
    }
    let mut newest = None;
    // It fails in no position of a known variant.
    let searcher = || ElectorSpec { name: ElectorName::new(NAME), ..L::complete(1) };
    let mut engine = kept.take().or_else(|| L::start(&searcher(), None).ok())?;
    let searched = engine.search(&task, &AtomicBool::new(false), &mut |proposal| newest = Some(proposal));
    *kept = Some(engine);
    newest.filter(|_| searched.is_ok()).or_else(|| L::at_a_glance(&task))
}

/// Returns the best move of one ply, for variants unknown to the built-in engine: a winning move,
/// otherwise the most material.
pub(crate) fn best_by_material(task: &Task) -> Option<Proposal> {
    let legal = task.line.legal_moves();
    let moves = if task.root_moves.is_empty() { &legal } else { &task.root_moves };
    let us = task.line.turn();
    let looked_at = moves.iter().filter_map(|uci| {
        let mut after = (*task.line).clone();
        after.play(*uci).ok()?;
        Some((*uci, value(&after, us)))
    });
    let (best, score) = looked_at.reduce(|best, other| if other.1 > best.1 { other } else { best })?;
    let proposal = Proposal::of_one_ply(task.id.clone(), ElectorName::new(NAME), best, score);
    Some(Proposal { nodes: moves.len() as u64, ..proposal })
}

/// Returns the value of a position for `us`, by its outcome, or by the material on the board and in
/// pockets. In antichess less material is better.
fn value(line: &Line, us: Color) -> Score {
    match line.position().outcome() {
        Outcome::Known(KnownOutcome::Decisive { winner }) => Score::Mate(if winner == us { 1 } else { -1 }),
        Outcome::Known(KnownOutcome::Draw) => Score::Cp(0),
        Outcome::Unknown => {
            let ahead = material(line.position(), us) - material(line.position(), !us);
            Score::Cp(if line.variant() == Variant::Antichess { -ahead } else { ahead })
        }
    }
}

fn material(position: &VariantPosition, color: Color) -> i32 {
    let on_board = position.board().material_side(color);
    let in_pocket = position.pockets().map(|pockets| *pockets.get(color)).unwrap_or_default();
    let worth = [(Role::Pawn, 100), (Role::Knight, 300), (Role::Bishop, 300), (Role::Rook, 500), (Role::Queen, 900)];
    let count = |role| i32::from(*on_board.get(role)) + i32::from(*in_pocket.get(role));
    worth.into_iter().map(|(role, value)| value * count(role)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn search(variant: Variant, fen: &str) -> Proposal {
        let line = Arc::new(Line::from_fen(variant, fen).expect("a position"));
        let question = Question::new("g".into(), Arc::clone(&line));
        let found = super::search(&mut None, &question, &line).expect("a move");
        assert!(line.is_legal(found.best));
        found
    }

    #[test]
    fn fallback_captures_and_mates() {
        assert_eq!(search(Variant::Standard, "6k1/5ppp/8/8/8/8/8/R5K1 w - - 0 1").score, Score::Mate(1));
        let takes = search(Variant::Standard, "6k1/5ppp/8/3q4/8/2N5/5PPP/6K1 w - - 0 1");
        assert_eq!(takes.best.to_string(), "c3d5");
    }

    #[test]
    fn unknown_variants_get_one_ply() {
        let takes = search(Variant::Crazyhouse, "6k1/5ppp/8/3q4/8/2N5/5PPP/6K1[] w - - 0 1");
        assert_eq!(takes.best.to_string(), "c3d5");
        let reaches_the_hill = search(Variant::KingOfTheHill, "6k1/8/8/8/8/3K4/8/8 w - - 0 1");
        assert_eq!(reaches_the_hill.score, Score::Mate(1));
    }

    #[test]
    fn node_limit_holds_in_wild_positions() {
        let tangle = "r2q1rk1/pP1p2pp/Q4n2/bbp1p3/Np6/1B3NBn/pPPP1PPP/R3K2R b KQ - 0 1";
        assert!(search(Variant::Standard, tangle).nodes <= 4 * MOST_NODES);
    }
}
