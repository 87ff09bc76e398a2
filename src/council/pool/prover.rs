//! Electors that prove: what they say of a move is a fact, or they say nothing.

use std::{fmt, num::NonZeroU32, str::FromStr, sync::atomic::AtomicBool, time::Instant};

use super::{Elector, ElectorFailure, Fact, Finding, Job};
use chess::{Bound, ElectorName, GameId, Proposal, SearchId, UciMove, engine_move, engine_position};
use engine::{
    Move, Outcome, Position, Tablebases,
    proof::{Attack, Effort, Mate, MateSolver, Verdict, is_drawn},
};

/// What an elector that proves looks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ProverKind {
    /// A mate that we can force.
    Mates,
    /// Moves of ours after which the opponent mates by checks; those that are proposed first.
    Checks,
    /// Moves that lead into an ending, or a blocked position, that is drawn whoever moves.
    Draws,
    /// Moves that lead into the tablebases, with what these know.
    Tables,
}

impl ProverKind {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Mates, Self::Checks, Self::Draws, Self::Tables];

    /// How it is called in the settings and in the vote.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Mates => "mates",
            Self::Checks => "checks",
            Self::Draws => "draws",
            Self::Tables => "tables",
        }
    }
}

impl fmt::Display for ProverKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.word())
    }
}

/// A word that names no prover.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoProver;

impl FromStr for ProverKind {
    type Err = NoProver;

    fn from_str(word: &str) -> Result<Self, Self::Err> {
        Self::ALL.into_iter().find(|kind| kind.word() == word).ok_or(NoProver)
    }
}

/// A prover with what it needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Prover {
    /// What it looks for.
    pub kind: ProverKind,
    /// Of `tables`: the folders with Syzygy's files, separated as in `PATH`.
    pub tables: String,
}

/// Where nodes are not limited, a question ends when the solver's table is full.
const UNLIMITED: u64 = u64::MAX;

/// The part of the nodes that checks alone may take of the search for a mate, and that threats may take of what is left: the rest is for
/// short mates by any moves.
const FIRST_PART: u64 = 2;

/// The nodes for which one move of ours is looked at before the next, at first; each time it comes again, it gets twice as many.
const FIRST_SLICE: u64 = 32;

/// A move that an elector proposes is looked at with so many times the nodes of another.
const PROPOSED_WEIGHT: u64 = 16;

pub(super) struct ProverElector {
    name: ElectorName,
    kind: ProverKind,
    solver: MateSolver,
    tables: Option<Tablebases>,
    last: Option<LastMate>,
}

/// The mate that was proved last. When the game goes on along it, the next one is looked for among shorter ones first, so that it comes
/// nearer with every move.
struct LastMate {
    game: GameId,
    ply: usize,
    moves: u32,
}

impl LastMate {
    /// In how many moves it would be mate now, if this is the same game a move later.
    fn goes_on(self, here: &SearchId) -> Option<u32> {
        (self.game == here.game && self.ply + 2 == here.ply).then(|| self.moves.saturating_sub(1))
    }
}

impl ProverElector {
    /// With a table of so many MiB.
    pub(super) fn start(name: ElectorName, prover: &Prover, hash: usize) -> Result<Self, ElectorFailure> {
        let tables = match prover.kind {
            ProverKind::Tables => {
                Some(Tablebases::open(&prover.tables).map_err(|error| ElectorFailure(error.to_string()))?)
            }
            ProverKind::Mates | ProverKind::Checks | ProverKind::Draws => None,
        };
        Ok(Self { name, kind: prover.kind, solver: MateSolver::new(Attack::Checks, hash), tables, last: None })
    }
}

impl Elector for ProverElector {
    fn search(&mut self, job: &Job, stop: &AtomicBool, report: &mut dyn FnMut(Proposal)) -> Result<(), ElectorFailure> {
        let line = &job.task.line;
        if !line.variant().is_standard_rules() {
            return Err(ElectorFailure(format!("nothing is proved about {}", line.variant())));
        }
        let position = engine_position(line).map_err(|error| ElectorFailure(error.to_string()))?;
        let nodes = job.task.limits.nodes.unwrap_or(UNLIMITED);
        let place = job.guidance.turn.as_deref();
        let effort = Effort::new(nodes, stop).counted_by(job.meter.counter()).taking_turns(place);
        let moves = allowed(&position, &job.task.root_moves);
        let mut proving =
            Proving { name: &self.name, job, position: &position, moves, effort, report, began: Instant::now() };
        match self.kind {
            ProverKind::Mates => {
                let here = &job.task.id;
                let within = self.last.take().and_then(|last| last.goes_on(here));
                let found = proving.mates(&mut self.solver, within);
                self.last = found.map(|moves| LastMate { game: here.game.clone(), ply: here.ply, moves });
            }
            ProverKind::Checks => proving.checks(&mut self.solver),
            ProverKind::Draws => proving.draws(),
            ProverKind::Tables => proving.tables(self.tables.as_ref()),
        }
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

/// One question to a prover.
struct Proving<'a> {
    name: &'a ElectorName,
    job: &'a Job,
    position: &'a Position,
    /// The moves that may be made.
    moves: Vec<Move>,
    effort: Effort<'a>,
    report: &'a mut dyn FnMut(Proposal),
    began: Instant,
}

impl Proving<'_> {
    /// Looks for a mate by the player to move, first for one in so many moves at most; how many it takes.
    fn mates(&mut self, solver: &mut MateSolver, within: Option<u32>) -> Option<u32> {
        let mate = within.and_then(|moves| self.mate_within(solver, moves));
        let mate = mate.or_else(|| self.mate_within(solver, u32::MAX / 2))?;
        self.tell(*mate.line.first()?, Finding::Won(NonZeroU32::new(mate.moves)), &mate.line);
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

    /// Looks after each move of ours whether the opponent mates by checks.
    fn checks(&mut self, solver: &mut MateSolver) {
        solver.begin(Attack::Checks);
        let mut open: Vec<Refuting> = self.moves.iter().map(|mv| Refuting::new(self.position, *mv)).collect();
        // Whoever repeats a position for the third time has drawn.
        open.retain(|refuting| refuting.after.repetitions() < 2);
        // What is proposed says what is worth looking at.
        while self.proposed().is_some_and(|moves| moves.is_empty()) && !self.effort.is_over() {
            self.effort.wait();
        }
        while !self.effort.is_over() && !solver.is_full() {
            let proposed = self.proposed().unwrap_or_default();
            let cost = |refuting: &Refuting| {
                refuting.spent / if proposed.contains(&refuting.mv) { PROPOSED_WEIGHT } else { 1 }
            };
            let Some(next) = (0..open.len()).min_by_key(|number| cost(&open[*number])) else { return };
            let refuting = &mut open[next];
            let nodes = refuting.next_slice();
            let verdict = solver.solve(&refuting.after, &[], nodes, &mut self.effort);
            if verdict == Verdict::Open {
                continue;
            }
            let settled = open.swap_remove(next);
            if let Verdict::Mate(mate) = verdict {
                self.tell_refuted(settled.mv, &mate);
            }
        }
    }

    fn tell_refuted(&mut self, mv: Move, mate: &Mate) {
        let line: Vec<Move> = [mv].into_iter().chain(mate.line.iter().copied()).collect();
        self.tell(mv, Finding::Lost(NonZeroU32::new(mate.moves)), &line);
    }

    /// The moves that electors propose now; `None` where nobody would tell.
    fn proposed(&self) -> Option<Vec<Move>> {
        let hints = self.job.guidance.hints.as_ref()?.now();
        Some(hints.iter().filter_map(|uci| engine_move(self.position, *uci)).collect())
    }

    /// Looks which moves lead to a draw at once.
    fn draws(&mut self) {
        for mv in self.moves.clone() {
            if self.effort.is_over() {
                return;
            }
            self.effort.spend();
            if is_drawn(&self.position.board().after(mv)) {
                self.tell(mv, Finding::Drawn, &[mv]);
            }
        }
    }

    /// Tells what the tables know of the moves that lead into them; of wins only the quickest, so that the game goes on.
    fn tables(&mut self, tables: Option<&Tablebases>) {
        let mut known = tables.map(|tables| tables.moves_into(self.position)).unwrap_or_default();
        known.retain(|(mv, ..)| self.moves.contains(mv));
        let quickest = known.iter().filter(|(_, outcome, _)| *outcome == Outcome::Win).min_by_key(|known| known.2);
        let quickest = quickest.map(|known| known.0);
        for (mv, outcome, _) in known {
            self.effort.spend();
            if outcome != Outcome::Win || quickest == Some(mv) {
                self.tell(mv, outcome.into(), &[mv]);
            }
        }
    }

    /// Tells a fact to those who search, and shows it to the council as a proposal.
    fn tell(&mut self, mv: Move, finding: Finding, line: &[Move]) {
        let uci = self.position.line_to_uci(line);
        let pv: Vec<UciMove> = uci.iter().map_while(|text| text.parse().ok()).collect();
        let Some(best) = pv.first().copied() else { return };
        debug_assert_eq!(engine_move(self.position, best), Some(mv));
        if let Some(facts) = &self.job.guidance.facts {
            facts.tell(Fact { about: best, finding });
        }
        (self.report)(Proposal {
            search: self.job.task.id.clone(),
            elector: self.name.clone(),
            machine: None,
            best,
            score: finding.score(),
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

/// A move of ours that may be refuted.
struct Refuting {
    mv: Move,
    after: Position,
    /// Nodes that were meant for it so far.
    spent: u64,
}

impl Refuting {
    fn new(position: &Position, mv: Move) -> Self {
        let mut after = position.clone();
        after.play(mv);
        Self { mv, after, spent: 0 }
    }

    /// As many nodes as it has had so far.
    fn next_slice(&mut self) -> u64 {
        let nodes = self.spent.max(FIRST_SLICE);
        self.spent += nodes;
        nodes
    }
}
