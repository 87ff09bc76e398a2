//! The value of a position, by eight heuristics that can be switched off one by one (docs/method.md
//! §2), and by a trained [`net`](crate::net) on top of them or instead of them.
//!
//! Each heuristic is a pure function of the board and of a `Context` of attack maps, in the file of
//! its name. It counts [`Weights`]; all their numbers are in `weights.rs`. The same code runs for
//! play and, with a [`Trace`], for the tuner. Terms that act on the whole sum (the phase of the
//! game, drawn endings, driving a bare king) belong to no heuristic and are in `endgame.rs`.

mod attack;
mod centre;
mod context;
mod endgame;
mod king_safety;
mod kpk;
mod material;
mod mobility;
mod noise;
mod pawns;
mod placement;
mod relations;
mod score;
mod subsets;
mod table;
mod tally;
mod terms;
mod weights;

use std::sync::Arc;

use super::{
    board::{Board, Color},
    knowledge::{Heuristic, IN_FULL, Knowledge, Percentages},
    net::{Accumulator, Net},
};
use context::Context;
use tally::{NoTrace, Tally};

pub use endgame::FULL_SCALE;
pub use noise::Noise;
pub use score::{FULL_PHASE, Packed};
pub use table::{Breakdown, breakdown};
pub use tally::Trace;
pub use terms::{Field, Weights};
pub use weights::WEIGHTS;

/// The value of the right to move, centipawns.
const TEMPO: i32 = 14;

/// The definition of an evaluation: engines with equal recipes give equal values to every position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recipe {
    shares: Percentages,
    net: Option<Arc<Net>>,
    noise: Noise,
}

impl Recipe {
    pub const COMPLETE: Self = Self { shares: IN_FULL, net: None, noise: Noise::NONE };

    /// The eight heuristics: those outside `knowledge` count nothing, except that material then still counts a fifth, unless
    /// none is left. A net is added by [`Self::with_net`].
    pub fn new(knowledge: Knowledge, percentages: Percentages) -> Self {
        let mut shares = percentages;
        let no_other = knowledge.without(Heuristic::Net).is_empty();
        for heuristic in knowledge.complement().heuristics() {
            let share = &mut shares[heuristic as usize];
            *share = if heuristic == Heuristic::Material && !no_other { *share / 5 } else { 0 };
        }
        Self { shares, net: None, noise: Noise::NONE }
    }

    #[must_use]
    pub fn with_noise(self, noise: Noise) -> Self {
        Self { noise, ..self }
    }

    #[must_use]
    pub fn with_net(self, net: Arc<Net>) -> Self {
        Self { net: Some(net), ..self }
    }

    #[inline]
    fn share(&self, heuristic: Heuristic) -> i32 {
        i32::from(self.shares[heuristic as usize])
    }

    /// The weights of the heuristics in use: a subset fitted alone has its own.
    fn weights(&self) -> &'static Weights {
        let on = Heuristic::ALL.into_iter().filter(|heuristic| self.share(*heuristic) != 0);
        subsets::weights(on.fold(Knowledge::NONE, Knowledge::with))
    }

    /// Returns true if a heuristic that reads the attack maps is on.
    #[inline]
    fn needs_context(&self) -> bool {
        use Heuristic::{Attack, Centre, KingSafety, Mobility, Placement};
        [Placement, Mobility, KingSafety, Centre, Attack].into_iter().any(|heuristic| self.share(heuristic) != 0)
    }
}

/// The pawn structure as it was found last time, by the key of the pawns.
#[derive(Clone, Copy, Default)]
struct PawnEntry {
    key: u64,
    /// White's value less Black's.
    value: Packed,
}

const PAWN_ENTRIES: usize = 8192;

/// An evaluation with its own memory of pawn structures; one a thread.
pub struct Evaluator {
    recipe: Recipe,
    weights: &'static Weights,
    pawns: Box<[PawnEntry]>,
    /// The net's state, if there is a net.
    accumulator: Option<Accumulator>,
}

impl Evaluator {
    pub fn new(recipe: Recipe) -> Self {
        let weights = recipe.weights();
        let pawns = vec![PawnEntry::default(); PAWN_ENTRIES].into_boxed_slice();
        let accumulator = recipe.net.as_deref().map(Accumulator::new);
        Self { recipe, weights, pawns, accumulator }
    }

    /// The value for the player to move, in centipawns.
    pub fn evaluate(&mut self, board: &Board) -> i32 {
        let pawns = &mut self.pawns;
        let sum = sum(board, &self.recipe, self.weights, &mut NoTrace, |compute| {
            let key = board.keys().pawns;
            let entry = &mut pawns[key as usize % PAWN_ENTRIES];
            // A board without pawns has key zero, as have empty entries: both are worth nothing.
            if entry.key != key {
                *entry = PawnEntry { key, value: compute() };
            }
            entry.value
        });
        let asked = self.recipe.net.as_ref().zip(self.accumulator.as_mut());
        let said = asked.map(|(net, accumulator)| accumulator.evaluate(net, board));
        let learned = learned(board, &self.recipe, said);
        finish(board, sum) + learned + self.recipe.noise.at(board)
    }
}

/// The value for the player to move in centipawns, without a memory.
pub fn evaluate(board: &Board, recipe: &Recipe) -> i32 {
    let written = finish(board, sum(board, recipe, recipe.weights(), &mut NoTrace, |compute| compute()));
    let said = recipe.net.as_ref().map(|net| net.evaluate(board));
    written + learned(board, recipe, said) + recipe.noise.at(board)
}

/// Returns the net's addition for the player to move, in centipawns, given its output. The net is
/// ignored if the side it favours can never win.
#[inline]
fn learned(board: &Board, recipe: &Recipe, said: Option<i32>) -> i32 {
    let Some(said) = said else { return 0 };
    let value = said * recipe.share(Heuristic::Net) / 100;
    let favoured = if value >= 0 { board.turn() } else { !board.turn() };
    if endgame::scale(board, favoured) == 0 { 0 } else { value }
}

/// The linear part of the evaluation with other weights, noted in `trace`: white's value less black's, before
/// [`phase`] and [`scale`] are applied to it and [`offset`] is added. What the tuner fits.
pub fn traced(board: &Board, recipe: &Recipe, weights: &Weights, trace: &mut impl Trace) -> Packed {
    sum(board, recipe, weights, trace, |compute| compute())
}

/// 24 with all pieces on the board, 0 with none.
pub fn phase(board: &Board) -> i32 {
    endgame::phase(board)
}

/// Returns the part of the endgame value that counts, of [`FULL_SCALE`]; the sign of `sum` is the
/// side ahead.
pub fn scale(board: &Board, sum: Packed) -> i32 {
    let ahead = if sum.endgame() >= 0 { Color::White } else { Color::Black };
    endgame::scale(board, ahead)
}

/// Returns the terms without weights: driving a bare king and the right to move. White's view,
/// centipawns.
pub fn offset(board: &Board) -> i32 {
    endgame::drive(board) + TEMPO * board.turn().sign()
}

/// Applies what acts on the whole: phase, scale, and the offset.
fn finish(board: &Board, sum: Packed) -> i32 {
    let endgame = sum.endgame() * scale(board, sum) / FULL_SCALE;
    let value = Packed::new(sum.middlegame(), endgame).taper(phase(board)) + offset(board);
    value * board.turn().sign()
}

/// White's value less black's over all heuristics of the recipe. `remember` may answer for the pawns from memory.
#[inline]
fn sum<T: Trace>(
    board: &Board,
    recipe: &Recipe,
    weights: &Weights,
    trace: &mut T,
    remember: impl FnOnce(&mut dyn FnMut() -> Packed) -> Packed,
) -> Packed {
    let mut total = Packed::ZERO;
    let mut count = |heuristic: Heuristic, value: Packed| {
        let share = recipe.share(heuristic);
        total += if share == 100 { value } else { value.percent(share) };
    };
    let on = |heuristic| recipe.share(heuristic) != 0;
    if on(Heuristic::Pawns) {
        let value = remember(&mut || one(board, None, Heuristic::Pawns, weights, trace));
        count(Heuristic::Pawns, value);
    }
    for heuristic in [Heuristic::Material, Heuristic::Relations] {
        if on(heuristic) {
            count(heuristic, one(board, None, heuristic, weights, trace));
        }
    }
    if recipe.needs_context() {
        let context = Context::new(board);
        use Heuristic::{Attack, Centre, KingSafety, Mobility, Placement};
        for heuristic in [Placement, Mobility, KingSafety, Centre, Attack] {
            if on(heuristic) {
                count(heuristic, one(board, Some(&context), heuristic, weights, trace));
            }
        }
    }
    total
}

/// Returns one heuristic: White's value less Black's.
#[inline]
fn one<T: Trace>(
    board: &Board,
    context: Option<&Context>,
    heuristic: Heuristic,
    weights: &Weights,
    trace: &mut T,
) -> Packed {
    let white = side(board, context, heuristic, Color::White, weights, trace);
    white - side(board, context, heuristic, Color::Black, weights, trace)
}

/// Returns one heuristic for one side. Heuristics that need the context return nothing without it.
#[inline]
fn side<T: Trace>(
    board: &Board,
    context: Option<&Context>,
    heuristic: Heuristic,
    us: Color,
    weights: &Weights,
    trace: &mut T,
) -> Packed {
    let mut tally = Tally::new(weights, us, trace);
    match (heuristic, context) {
        (Heuristic::Material, _) => material::evaluate(board, us, &mut tally),
        (Heuristic::Pawns, _) => pawns::evaluate(board, us, &mut tally),
        (Heuristic::Relations, _) => relations::evaluate(board, us, &mut tally),
        (Heuristic::Placement, Some(context)) => placement::evaluate(board, context, us, &mut tally),
        (Heuristic::Mobility, Some(context)) => mobility::evaluate(board, context, us, &mut tally),
        (Heuristic::KingSafety, Some(context)) => king_safety::evaluate(board, context, us, &mut tally),
        (Heuristic::Centre, Some(context)) => centre::evaluate(board, context, us, &mut tally),
        (Heuristic::Attack, Some(context)) => {
            attack::evaluate(board, context, pawns::passed(board, us), us, &mut tally);
        }
        // The net does not see with one side's eyes.
        (Heuristic::Net, _) | (_, None) => {}
    }
    tally.sum()
}
