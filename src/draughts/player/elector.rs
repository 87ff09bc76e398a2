//! The electors of draughts: each is a search with one evaluation, on a thread of its own.

use std::{
    sync::{Arc, atomic::AtomicBool},
    time::Instant,
};

use council::{
    CouncilGame,
    electors::{Elector, ElectorFailure, ElectorSpec, Task},
};
use domain::{ElectorName, Proposal, Score, SearchId};
use draughts_core::{
    board::{Board, Move, Rules},
    endgame::EndgameTables,
    evaluation::{Evaluation, Heuristic, Knowledge},
    search::{
        self, Iteration, Limits, SearchOptions, Searcher,
        published::{Published, PublishedChoice, PublishedSettings},
    },
};
use engine::SharedTable;

use crate::player::DraughtsLine;

#[derive(Clone, Debug, PartialEq)]
pub enum DraughtsKind {
    /// The search of today with an evaluation, and with endgame tables where there are any.
    Today(Evaluation, Option<Arc<EndgameTables>>),
    /// The search of 2010, limited only by its depth. The number is the seed for ties.
    Published(PublishedSettings, u64),
}

impl DraughtsKind {
    fn evaluation(&self) -> Evaluation {
        match self {
            Self::Today(evaluation, _) => *evaluation,
            Self::Published(settings, _) => Evaluation::Published(settings.strategy),
        }
    }

    fn tables(&self) -> Option<&Arc<EndgameTables>> {
        match self {
            Self::Today(_, tables) => tables.as_ref(),
            Self::Published(..) => None,
        }
    }

    /// Returns its heuristics, or those nearest to a published strategy.
    fn knowledge(&self) -> Knowledge {
        match self.evaluation() {
            Evaluation::Published(strategy) => strategy.knowledge(),
            Evaluation::Heuristics(knowledge) => knowledge,
        }
    }
}

/// Returns a heuristic's hand-made weight in the criterion `weights`, in the proportions of chess.
const fn hand_weight(heuristic: Heuristic) -> f64 {
    match heuristic {
        Heuristic::Material => 30.0,
        Heuristic::Advance => 10.0,
        Heuristic::Geometry => 6.0,
        Heuristic::Support => 15.0,
        Heuristic::KingsOnEdge => 3.0,
    }
}

impl CouncilGame for DraughtsLine {
    type Kind = DraughtsKind;
    type Position = Board;

    fn start(
        elector: &ElectorSpec<DraughtsKind>,
        _: Option<&SharedTable>,
    ) -> Result<Box<dyn Elector<Self>>, ElectorFailure> {
        let name = elector.name.clone();
        Ok(match &elector.kind {
            DraughtsKind::Today(evaluation, tables) => {
                let (evaluation, tables) = (*evaluation, tables.clone());
                let options = SearchOptions { hash: elector.hash, evaluation, tables, ..SearchOptions::default() };
                Box::new(TodayElector { name, searcher: Searcher::new(options) })
            }
            DraughtsKind::Published(settings, seed) => {
                Box::new(PublishedElector { name, search: Published::new(*settings, *seed) })
            }
        })
    }

    fn is_ours(_: &ElectorSpec<DraughtsKind>) -> bool {
        true
    }

    fn is_searchable(_: Rules) -> bool {
        true
    }

    fn may_play(_: &ElectorSpec<DraughtsKind>, _: Rules) -> bool {
        true
    }

    fn complete(hash: usize) -> ElectorSpec<DraughtsKind> {
        let complete = Evaluation::Heuristics(Knowledge::COMPLETE);
        ElectorSpec::new(complete.to_string().into(), DraughtsKind::Today(complete, None), hash)
    }

    /// Returns the arbiter, which uses the electors' tables, because it has the last word.
    fn arbiter(electors: &[ElectorSpec<DraughtsKind>], hash: usize) -> ElectorSpec<DraughtsKind> {
        let tables = electors.iter().find_map(|elector| elector.kind.tables());
        let kind = DraughtsKind::Today(Evaluation::Heuristics(Knowledge::COMPLETE), tables.cloned());
        ElectorSpec { kind, ..Self::complete(hash) }
    }

    fn at_a_glance(task: &Task<Self>) -> Option<Proposal<Move>> {
        let mut searcher = Searcher::new(SearchOptions { hash: 1, ..SearchOptions::default() });
        let limits = Limits { depth: Some(1), ..limits_of(task) };
        let found = searcher.search(task.line.game(), &limits, &AtomicBool::new(false), |_| {})?;
        Some(proposal(task.id.clone(), &ElectorName::new("glance"), &found))
    }

    fn knowledge(elector: &ElectorSpec<DraughtsKind>) -> Option<Knowledge> {
        Some(elector.kind.knowledge())
    }

    fn hand_weights(elector: &ElectorSpec<DraughtsKind>, _: &dyn Fn(domain::Heuristic) -> f64) -> Vec<f64> {
        elector.kind.knowledge().heuristics().map(hand_weight).collect()
    }

    fn evaluated_position(&self) -> Option<Board> {
        Some(*self.game().board())
    }

    fn static_value(board: &Board, elector: &ElectorSpec<DraughtsKind>) -> i32 {
        elector.kind.evaluation().value(board)
    }

    fn end_of(board: &Board, moves: &[Move]) -> (Board, bool) {
        let end = moves.iter().fold(*board, |board, mv| board.after(mv));
        (end, end.to_move() == board.to_move())
    }
}

/// The search of today. It takes no hints and no turns.
struct TodayElector {
    name: ElectorName,
    searcher: Searcher,
}

impl Elector<DraughtsLine> for TodayElector {
    fn search(
        &mut self,
        task: &Task<DraughtsLine>,
        stop: &AtomicBool,
        report: &mut dyn FnMut(Proposal<Move>),
    ) -> Result<(), ElectorFailure> {
        begin(task);
        let found = self.searcher.search(task.line.game(), &limits_of(task), stop, |iteration| {
            task.state.count(iteration.nodes);
            report(proposal(task.id.clone(), &self.name, iteration));
        });
        found.map(drop).ok_or_else(|| ElectorFailure("there is no legal move".to_owned()))
    }

    fn new_game(&mut self) {
        self.searcher.clear();
    }
}

/// The search of 2010: one proposal, when its tree is done. With a time limit it begins one full
/// move deep and proposes again with every further move. It considers all moves, whatever the task
/// restricts.
struct PublishedElector {
    name: ElectorName,
    search: Published,
}

impl Elector<DraughtsLine> for PublishedElector {
    fn search(
        &mut self,
        task: &Task<DraughtsLine>,
        stop: &AtomicBool,
        report: &mut dyn FnMut(Proposal<Move>),
    ) -> Result<(), ElectorFailure> {
        begin(task);
        let (started, mut nodes) = (Instant::now(), 0);
        let mut tell = |depth: u32, choice: PublishedChoice| {
            nodes += choice.nodes;
            task.state.count(nodes);
            report(proposal(
                task.id.clone(),
                &self.name,
                &Iteration { nodes, ..choice.iteration(depth, started.elapsed()) },
            ));
        };
        let game = task.line.game();
        if task.time.is_some() {
            self.search.deepen(game, stop, tell);
        } else if let Some(choice) = self.search.choose(game, stop) {
            // Without a choice it was stopped: the proposal is not awaited any more.
            tell(self.search.settings.depth, choice);
        }
        Ok(())
    }
}

/// Searches in turns do not wait for this one, which has no turns.
fn begin(task: &Task<DraughtsLine>) {
    if let Some(turn) = &task.guidance.turn {
        turn.leave();
    }
}

fn limits_of(task: &Task<DraughtsLine>) -> Limits {
    let domain::Limits { time, nodes, depth, clocks: _ } = task.limits;
    Limits { time, nodes, depth, moves: (!task.root_moves.is_empty()).then(|| task.root_moves.clone()) }
}

pub(crate) fn proposal(search: SearchId, elector: &ElectorName, found: &Iteration) -> Proposal<Move> {
    let score = match found.score {
        search::Score::Points(points) => Score::Cp(points),
        search::Score::Win(moves) => Score::Mate(moves),
    };
    Proposal {
        depth: found.depth,
        selective_depth: found.depth.max(found.pv.len() as u32),
        nodes: found.nodes,
        time: found.time,
        pv: found.pv.clone(),
        ..Proposal::of_one_ply(search, elector.clone(), found.best, score)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    /// The second phase must not know less about an ending than the electors.
    #[test]
    fn second_phase_shares_the_tables() {
        let tables = Arc::new(EndgameTables::build(2, |_, _| ()));
        let elector = |kind| ElectorSpec::new("e".into(), kind, 1);
        let published = elector(DraughtsKind::Published(PublishedSettings::default(), 1));
        let today = |tables| elector(DraughtsKind::Today(Evaluation::default(), tables));
        let looked_up = |electors: &[_]| DraughtsLine::arbiter(electors, 1).kind.tables().cloned();
        assert_eq!(looked_up(&[published.clone(), today(None)]), None);
        let found = looked_up(&[published, today(Some(Arc::clone(&tables)))]).expect("tables");
        assert!(Arc::ptr_eq(&found, &tables));
    }

    #[test]
    fn timed_elector_always_proposes() {
        let line = Arc::new(DraughtsLine::default());
        let settings = PublishedSettings { depth: 2, ..PublishedSettings::default() };
        let depths = |time: Option<Duration>, stop: bool| {
            let elector = ElectorSpec::new("e".into(), DraughtsKind::Published(settings, 1), 1);
            let mut elector = DraughtsLine::start(&elector, None).expect("an elector");
            let task = Task { time, ..Task::alone(Arc::clone(&line)) };
            let mut depths = Vec::new();
            let searched = elector.search(&task, &AtomicBool::new(stop), &mut |proposal| depths.push(proposal.depth));
            assert_eq!(searched, Ok(()));
            depths
        };
        let hour = Some(Duration::from_secs(3600));
        assert_eq!([depths(hour, true), depths(hour, false)], [vec![2], vec![2, 4]]);
        assert_eq!([depths(None, true), depths(None, false)], [vec![], vec![4]]);
    }
}
