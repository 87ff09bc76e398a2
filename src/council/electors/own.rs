//! An instance of our own engine as an elector: tasks become the engine's searches, its iterations proposals.

use std::{cell::Cell, sync::atomic::AtomicBool};

use super::{Elector, ElectorFailure, ElectorResult, Hints, Task};
use domain::{Bound, ElectorName, Limits, Proposal, Score, UciMove, engine_move, engine_position};
use engine::{Engine, EngineOptions, Iteration, Move, Place, Position, Root, SharedTable};

pub(super) struct OwnElector {
    name: ElectorName,
    engine: Engine,
    /// The threads of its search, unless a task allows fewer.
    threads: usize,
}

impl OwnElector {
    pub(super) fn new(name: ElectorName, options: EngineOptions, table: Option<&SharedTable>) -> ElectorResult<Self> {
        let threads = options.threads;
        let engine = match table {
            Some(table) => Engine::sharing(options, table).map_err(|error| ElectorFailure(error.to_string()))?,
            None => Engine::new(options),
        };
        Ok(Self { name, engine, threads })
    }

    /// Sets the threads for a search. In virtual time they take turns among themselves, and it with no other.
    fn prepare(&mut self, threads: usize, turn: Option<&Place>) {
        let options = self.engine.options();
        let virtual_time = threads > 1 && turn.is_some();
        if (options.threads, options.virtual_time) != (threads, virtual_time) {
            let options = EngineOptions { threads, virtual_time, ..options.clone() };
            self.engine.set_options(options);
        }
        if threads > 1 {
            turn.into_iter().for_each(Place::leave);
        }
    }
}

impl Elector for OwnElector {
    fn search(&mut self, task: &Task, stop: &AtomicBool, report: &mut dyn FnMut(Proposal)) -> ElectorResult {
        let Task { guidance, state, .. } = task;
        let failure = |error: &dyn std::fmt::Display| ElectorFailure(error.to_string());
        let line = &task.line;
        if !line.variant().is_standard_rules() {
            return Err(failure(&format_args!("the built-in engine does not play {}", line.variant())));
        }
        let position = engine_position(line).map_err(|error| failure(&error))?;
        self.prepare(task.threads_of(self.threads), guidance.turn.as_deref());
        let ours =
            |moves: &[UciMove]| -> Vec<Move> { moves.iter().filter_map(|uci| engine_move(&position, *uci)).collect() };
        let hints = guidance.hints.as_ref().map(|hints| move || ours(&hints.now()));
        let root = Root {
            moves: &ours(&task.root_moves),
            hints: hints.as_ref().map(|hints| hints as &engine::MovesNow<'_>),
            extends_hints: guidance.hints.as_ref().is_some_and(Hints::extend),
            window: guidance.window,
            best_of_group: guidance.best_of_group.as_deref(),
            nodes: Some(state.counter()),
            place: guidance.turn.as_deref(),
        };

        let Limits { time, nodes, depth, clocks: _ } = task.limits;
        let limits = engine::Limits { time, nodes, depth, mate: None };
        let told = Cell::new(None);
        let mut tell = |iteration: &Iteration| {
            told.set(Some(iteration.best));
            state.note_effort(iteration.effort);
            if let Some(proposal) = proposal(&self.name, task, &position, iteration) {
                if let Some((hints, number)) = &guidance.advises {
                    hints.advise(*number, proposal.best);
                }
                report(proposal);
            }
        };
        let last = self.engine.search_root(&position, &root, &limits, stop, &mut tell);
        // The result of an interrupted iteration counts already, and its progress (for the
        // criterion `depth`).
        if let Some(last) = last {
            let is_new = told.get() != Some(last.best);
            if is_new || last.root_moves_done > 0 {
                tell(&Iteration { bound: bound_of_last(&last, is_new), ..last });
            }
        }
        if let Some((hints, number)) = &guidance.advises {
            hints.withdraw(*number);
        }
        if let Some(turn) = &guidance.turn {
            turn.leave();
        }
        Ok(())
    }

    fn new_game(&mut self) {
        self.engine.new_game();
    }
}

/// Returns the bound of a search's last score. A new best move that was still being searched again
/// is the engine's move, so its lower bound counts as its value; but not for a mate, which is found
/// or not.
fn bound_of_last(last: &Iteration, is_new: bool) -> Bound {
    match (last.bound, last.score) {
        (Bound::Lower, Score::Cp(_)) if is_new => Bound::Exact,
        (bound, _) => bound,
    }
}

fn proposal(elector: &ElectorName, task: &Task, position: &Position, iteration: &Iteration) -> Option<Proposal> {
    let pv: Vec<UciMove> = position.line_to_uci(&iteration.pv).iter().map_while(|text| text.parse().ok()).collect();
    Some(Proposal {
        search: task.id.clone(),
        elector: elector.clone(),
        machine: None,
        best: *pv.first()?,
        score: iteration.score,
        bound: iteration.bound,
        depth: iteration.depth,
        selective_depth: iteration.selective_depth,
        root_moves_done: iteration.root_moves_done,
        nodes: iteration.nodes,
        time: iteration.time,
        pv,
    })
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::electors::Guidance;
    use domain::{Line, Variant};

    #[test]
    fn hints_last_as_long_as_advisers() {
        let limits = Limits { nodes: Some(500), ..Limits::default() };
        let hints = Hints::new(false);
        let guidance = Guidance { advises: Some((hints.clone(), 0)), ..Guidance::default() };
        let task = Task { limits, guidance, ..Task::alone(Arc::new(Line::start(Variant::Standard))) };
        let options = EngineOptions { hash: 1, ..EngineOptions::default() };
        let mut adviser = OwnElector::new("mp".into(), options, None).expect("an elector");
        let mut heard = Vec::new();
        let mut report = |proposal: Proposal| heard.push((proposal.best, hints.now()));
        adviser.search(&task, &AtomicBool::new(false), &mut report).expect("it searches");
        assert!(!heard.is_empty() && heard.iter().all(|(best, hinted)| hinted == &[*best]), "{heard:?}");
        assert_eq!(hints.now(), []);
    }

    /// Wherever its nodes end, also while a better move is searched again.
    #[test]
    fn last_proposal_is_the_engines_move() {
        let line = Arc::new(Line::start(Variant::Standard));
        let position = engine_position(&line).expect("standard chess");
        let options = EngineOptions { hash: 1, ..EngineOptions::default() };
        for nodes in (300..4000).step_by(61) {
            let limits = Limits { nodes: Some(nodes), ..Limits::default() };
            let task = Task { limits, ..Task::alone(line.clone()) };
            let mut elector = OwnElector::new("mp".into(), options.clone(), None).expect("an elector");
            let mut last = None;
            let mut report = |proposal: Proposal| last = Some(proposal.best);
            elector.search(&task, &AtomicBool::new(false), &mut report).expect("it searches");
            let limits = engine::Limits { nodes: Some(nodes), ..engine::Limits::default() };
            let stop = AtomicBool::new(false);
            let alone = Engine::new(options.clone()).search(&position, &[], &limits, &stop, &mut |_| {});
            let proposed = last.and_then(|best| engine_move(&position, best));
            assert_eq!(proposed, alone.map(|alone| alone.best), "{nodes} nodes");
        }
    }
}
