//! Chess as a council plays it.

use crate::{
    CouncilGame,
    electors::{Elector, ElectorKind, ElectorResult, ElectorSpec, RemotePool, RemoteSlot, Task},
    vote::{auto_roster, best_by_material},
};
use domain::{Heuristic, Knowledge, Line, Proposal, UciMove, Variant, engine_move, engine_position};
use engine::{EngineOptions, Position, SharedTable};

impl CouncilGame for Line {
    type Kind = ElectorKind;
    type Position = Position;

    fn start(elector: &ElectorSpec, table: Option<&SharedTable>) -> ElectorResult<Box<dyn Elector>> {
        elector.start_with(table)
    }

    fn is_ours(elector: &ElectorSpec) -> bool {
        elector.instance().is_some()
    }

    fn proves(elector: &ElectorSpec) -> bool {
        matches!(elector.kind, ElectorKind::Prover)
    }

    fn is_searchable(variant: Variant) -> bool {
        variant.is_standard_rules()
    }

    fn may_play(elector: &ElectorSpec, variant: Variant) -> bool {
        elector.may_play(variant)
    }

    fn complete(hash: usize) -> ElectorSpec {
        ElectorSpec::own(Knowledge::COMPLETE, hash)
    }

    fn at_a_glance(task: &Task) -> Option<Proposal> {
        best_by_material(task)
    }

    fn remote_slot(
        remote: &dyn RemotePool,
        elector: &ElectorSpec,
        table: Option<&SharedTable>,
    ) -> Option<Box<dyn RemoteSlot>> {
        remote.slot(elector, table)
    }

    fn table_options(elector: &ElectorSpec, hash: usize) -> Option<EngineOptions> {
        Some(elector.instance()?.options(hash, elector.threads))
    }

    fn grown(cores: usize, hash: usize) -> Option<Vec<ElectorSpec>> {
        auto_roster(cores, hash)
    }

    fn knowledge(elector: &ElectorSpec) -> Option<Knowledge> {
        elector.knowledge()
    }

    fn hand_weights(elector: &ElectorSpec, chess: &dyn Fn(Heuristic) -> f64) -> Vec<f64> {
        elector.knowledge().unwrap_or_default().heuristics().map(chess).collect()
    }

    fn evaluated_position(&self) -> Option<Position> {
        engine_position(self).ok()
    }

    fn static_value(position: &Position, elector: &ElectorSpec) -> i32 {
        elector.static_value(position)
    }

    fn end_of(position: &Position, moves: &[UciMove]) -> (Position, bool) {
        let mut end = position.clone();
        for uci in moves {
            let Some(mv) = engine_move(&end, *uci) else { break };
            end.play(mv);
        }
        let same_player = end.board().turn() == position.board().turn();
        (end, same_player)
    }
}
