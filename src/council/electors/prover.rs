//! The prover `mates`: it proposes proved moves only.

use std::{sync::atomic::AtomicBool, time::Instant};

use super::{Elector, ElectorFailure, ElectorResult, Task};
use domain::{Bound, ElectorName, Proposal, Score, SearchId, UciMove, engine_move, engine_position};
use engine::{
    Move, Position,
    proof::{Attack, Effort, Mate, MateSolver, Verdict},
};

/// Node limit of a question without one; it ends when the solver's table is full.
const UNLIMITED: u64 = u64::MAX;

/// The divisor for the nodes of the search by checks alone, and again for the search by threats; the rest is for short mates by any
/// moves.
const FIRST_PART: u64 = 2;

pub(super) struct ProverElector {
    name: ElectorName,
    solver: MateSolver,
    /// The search that proved a mate last, and the number of moves. When the game goes on along it, a shorter mate is searched
    /// first, so that the mate comes nearer with every move.
    last: Option<(SearchId, u32)>,
}

impl ProverElector {
    /// Allocates a table of `hash` MiB.
    pub(super) fn new(name: ElectorName, hash: usize) -> Self {
        Self { name, solver: MateSolver::new(Attack::Checks, hash), last: None }
    }
}

impl Elector for ProverElector {
    fn search(&mut self, task: &Task, stop: &AtomicBool, report: &mut dyn FnMut(Proposal)) -> ElectorResult {
        let line = &task.line;
        if !line.variant().is_standard_rules() {
            return Err(ElectorFailure(format!("nothing is proved about {}", line.variant())));
        }
        let position = engine_position(line).map_err(|error| ElectorFailure(error.to_string()))?;
        let nodes = task.limits.nodes.unwrap_or(UNLIMITED);
        let place = task.guidance.turn.as_deref();
        let effort = Effort::new(nodes, stop).counted_by(task.state.counter()).taking_turns(place);
        let moves = allowed(&position, &task.root_moves);
        let mut proving =
            Proving { name: &self.name, task, position: &position, moves, effort, report, began: Instant::now() };
        let here = &task.id;
        let is_a_move_earlier = |last: &SearchId| last.game == here.game && last.ply + 2 == here.ply;
        let last = self.last.take().filter(|(last, _)| is_a_move_earlier(last));
        let found = proving.mates(&mut self.solver, last.map(|(_, moves)| moves.saturating_sub(1)));
        self.last = found.map(|moves| (here.clone(), moves));
        if let Some(place) = place {
            place.leave();
        }
        Ok(())
    }

    fn new_game(&mut self) {
        self.last = None;
    }
}

/// The moves that may be made: all legal ones if none are named.
fn allowed(position: &Position, named: &[UciMove]) -> Vec<Move> {
    if named.is_empty() {
        return position.legal_moves().to_vec();
    }
    named.iter().filter_map(|uci| engine_move(position, *uci)).collect()
}

struct Proving<'a> {
    name: &'a ElectorName,
    task: &'a Task,
    position: &'a Position,
    moves: Vec<Move>,
    effort: Effort<'a>,
    report: &'a mut dyn FnMut(Proposal),
    began: Instant,
}

impl Proving<'_> {
    /// Searches a mate by the player to move, first in at most `within` moves; returns its length.
    fn mates(&mut self, solver: &mut MateSolver, within: Option<u32>) -> Option<u32> {
        let mate = within.and_then(|moves| self.mate_within(solver, moves));
        let mate = mate.or_else(|| self.mate_within(solver, u32::MAX / 2))?;
        self.tell(&mate);
        Some(mate.moves)
    }

    /// Looks for a mate by checks, then by threats of mate as well, then by any moves.
    fn mate_within(&mut self, solver: &mut MateSolver, moves: u32) -> Option<Mate> {
        for attack in [Attack::Checks, Attack::Threats, Attack::All] {
            let part = if attack == Attack::All { 1 } else { FIRST_PART };
            let nodes = self.effort.left() / part;
            solver.begin_within(attack, moves);
            if let Verdict::Mate(mate) = solver.solve(self.position, &self.moves, nodes, &mut self.effort) {
                return Some(mate);
            }
            if self.effort.is_over() {
                break;
            }
        }
        None
    }

    fn tell(&mut self, mate: &Mate) {
        let uci = self.position.line_to_uci(&mate.line);
        let pv: Vec<UciMove> = uci.iter().map_while(|text| text.parse().ok()).collect();
        let Some(best) = pv.first().copied() else { return };
        (self.report)(Proposal {
            search: self.task.id.clone(),
            elector: self.name.clone(),
            machine: None,
            best,
            score: Score::Mate(i32::try_from(mate.moves).unwrap_or(i32::MAX)),
            bound: Bound::Exact,
            depth: pv.len() as u32,
            selective_depth: pv.len() as u32,
            root_moves_done: 0,
            nodes: self.effort.used(),
            time: self.began.elapsed(),
            pv,
        });
    }
}
