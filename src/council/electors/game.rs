//! The interface of a game to the council beside its line: its electors, and the facts for
//! criteria.

use super::{Elector, ElectorResult, ElectorSpec, RemotePool, RemoteSlot, Task};
use domain::{GameLine, Heuristic, Proposal};
use engine::{EngineOptions, SharedTable};

/// A game that a council can play; `chess_game` implements it for chess.
///
/// Only chess overrides the defaults: other games have no remote machines, no shared tables, no roster that grows with
/// the cores.
pub trait CouncilGame: GameLine {
    type Kind: Clone + PartialEq + std::fmt::Debug + Send + Sync + 'static;
    /// A position for static evaluation.
    type Position: Send + Sync + 'static;

    /// Starts an elector, on its own thread. `table` is a shared table.
    fn start(elector: &ElectorSpec<Self::Kind>, table: Option<&SharedTable>) -> ElectorResult<Box<dyn Elector<Self>>>;

    /// Returns true if an elector is a built-in searcher, which runs on its slot's thread, and not
    /// a program.
    fn is_ours(elector: &ElectorSpec<Self::Kind>) -> bool;

    /// Returns true if an elector proposes proved wins only. It advises and has no vote.
    fn proves(_elector: &ElectorSpec<Self::Kind>) -> bool {
        false
    }

    /// Returns true if the built-in searchers know these rules.
    fn is_searchable(variant: Self::Variant) -> bool;

    /// Returns true if an elector can play by these rules, as far as is known before it runs.
    fn may_play(elector: &ElectorSpec<Self::Kind>, variant: Self::Variant) -> bool;

    /// Returns the searcher with complete knowledge and a table of `hash` MiB.
    fn complete(hash: usize) -> ElectorSpec<Self::Kind>;

    /// Returns the searcher of a second phase beside these electors, with a table of `hash` MiB.
    fn arbiter(_electors: &[ElectorSpec<Self::Kind>], hash: usize) -> ElectorSpec<Self::Kind> {
        Self::complete(hash)
    }

    /// Returns a move without starting an elector, if even the fallback's search has none.
    fn at_a_glance(task: &Task<Self>) -> Option<Proposal<Self::Move>>;

    /// Returns a slot for an elector on remote machines; `None` if it cannot leave this one.
    fn remote_slot(
        _remote: &dyn RemotePool,
        _elector: &ElectorSpec<Self::Kind>,
        _table: Option<&SharedTable>,
    ) -> Option<Box<dyn RemoteSlot<Self>>> {
        None
    }

    /// Returns the options of an elector's common table; `None` if it can share none.
    fn table_options(_elector: &ElectorSpec<Self::Kind>, _hash: usize) -> Option<EngineOptions> {
        None
    }

    /// Returns the electors of a roster with a copy for each core.
    fn grown(_cores: usize, _hash: usize) -> Option<Vec<ElectorSpec<Self::Kind>>> {
        None
    }

    /// Returns an elector's knowledge; `None` for a program.
    fn knowledge(elector: &ElectorSpec<Self::Kind>) -> Option<Self::Knowledge>;

    /// Returns the hand-made weights of its heuristics. `chess` gives the weights in chess.
    fn hand_weights(elector: &ElectorSpec<Self::Kind>, chess: &dyn Fn(Heuristic) -> f64) -> Vec<f64>;

    /// Returns the position at the end of the line; `None` without static values.
    fn evaluated_position(&self) -> Option<Self::Position>;

    /// Returns an elector's static value of a position, hundredths of the smallest piece, for the player to move.
    fn static_value(position: &Self::Position, elector: &ElectorSpec<Self::Kind>) -> i32;

    /// Returns the position after these moves, and true if the same player is to move there.
    fn end_of(position: &Self::Position, moves: &[Self::Move]) -> (Self::Position, bool);
}
