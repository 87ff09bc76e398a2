//! The interface of a game to the council beside its line: its electors, and the facts for
//! criteria.

use crate::{
    HeuristicWeights,
    electors::{Elector, ElectorFailure, ElectorSpec, Pool, Slot},
};
use domain::{GameLine, Proposal, Task};
use engine::{EngineOptions, SharedTable};

/// A game that a council can play. The chess that we play is [`domain::Line`]'s; see `chess_game`.
///
/// What has a default is chess's own so far: a game without it does without the machines of others, common tables, a roster that
/// grows with the cores.
pub trait CouncilGame: GameLine {
    type Kind: Clone + PartialEq + std::fmt::Debug + Send + Sync + 'static;
    /// A position as its evaluations know it.
    type Position: Send + Sync + 'static;

    /// Starts an elector, on the thread that will run it. `table` is for those that share one.
    fn start(
        elector: &ElectorSpec<Self::Kind>,
        table: Option<&SharedTable>,
    ) -> Result<Box<dyn Elector<Self>>, ElectorFailure>;

    /// Returns true if an elector is a built-in searcher, which runs on its slot's thread, and not
    /// a program.
    fn is_ours(elector: &ElectorSpec<Self::Kind>) -> bool;

    /// Returns true if an elector proves facts instead of proposing moves. It advises and has no
    /// vote.
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

    /// A move for which nothing is started: the answer where not even a short search comes to one.
    fn at_a_glance(task: &Task<Self>) -> Option<Proposal<Self::Move>>;

    /// Opens a slot for an elector, here or wherever there is a core.
    fn slot(pool: &Pool, elector: &ElectorSpec<Self::Kind>, table: Option<&SharedTable>) -> Slot<Self> {
        pool.local_slot(elector, table)
    }

    /// Returns the options of an elector's common table; `None` if it can share none.
    fn table_options(_elector: &ElectorSpec<Self::Kind>, _hash: usize) -> Option<EngineOptions> {
        None
    }

    /// The electors that a roster has which grows with the cores.
    fn grown(_cores: usize, _hash: usize) -> Option<Vec<ElectorSpec<Self::Kind>>> {
        None
    }

    /// Returns an elector's knowledge; `None` for a program.
    fn knowledge(elector: &ElectorSpec<Self::Kind>) -> Option<Self::Knowledge>;

    /// Returns the hand-made weights of its heuristics. `chess` are the weights in chess.
    fn hand_weights(elector: &ElectorSpec<Self::Kind>, chess: &HeuristicWeights) -> Vec<f64>;

    /// The position at the end of the line; `None` where there are no static values.
    fn evaluated_position(&self) -> Option<Self::Position>;

    /// A position's static value in an elector's eyes, hundredths of a pawn or man, for the player to move.
    fn static_value(position: &Self::Position, elector: &ElectorSpec<Self::Kind>) -> i32;

    /// The position at the end of some moves from there, and whether the same player is to move.
    fn end_of(position: &Self::Position, moves: &[Self::Move]) -> (Self::Position, bool);
}
