//! The first layer, kept from position to position.
//!
//! It remembers the men behind its sums, and adds the men that came or left since. Successive
//! positions of a search differ little, by whatever path, so moves need not be reported to it.

use arrayvec::ArrayVec;

use super::{Block, Net, bucket, features::View, kernel, players};
use crate::board::{Board, Color};

/// The first layer as one player sees one half of positions.
#[derive(Clone)]
struct Layer {
    sum: Box<[Block]>,
    /// The board whose men it is the sum of.
    board: Board,
}

/// The first layers of recent positions, for one net only.
#[derive(Clone)]
pub(crate) struct Accumulator {
    /// Layers by player and view, each of which has other inputs.
    layers: [[Layer; View::COUNT]; 2],
}

impl Accumulator {
    /// Creates an accumulator for a net that has not been evaluated yet.
    pub(crate) fn new(net: &Net) -> Self {
        let layer = || Layer { sum: net.weights().bias().into(), board: Board::empty() };
        Self { layers: std::array::from_fn(|_| std::array::from_fn(|_| layer())) }
    }

    /// The value of a board for the player to move, in centipawns.
    pub(crate) fn evaluate(&mut self, net: &Net, board: &Board) -> i32 {
        let views = Color::ALL.map(|player| View::new(player, board.king(player)));
        for (layers, view) in self.layers.iter_mut().zip(views) {
            let layer = &mut layers[view.index()];
            let mut added: ArrayVec<u16, 64> = ArrayVec::new();
            let mut removed: ArrayVec<u16, 64> = ArrayVec::new();
            for square in board.differences(&layer.board) {
                let input = |piece| view.input(piece, square) as u16;
                removed.extend(layer.board.piece_on(square).map(input));
                added.extend(board.piece_on(square).map(input));
            }
            layer.board.clone_from(board);
            kernel::update(&mut layer.sum, net.weights().inputs(), &added, &removed);
        }
        let layer = |player: usize| &*self.layers[player][views[player].index()].sum;
        let [mover, other] = players(board).map(|player| layer(player.index()));
        net.output(bucket(board.occupied().count()), [mover, other])
    }
}
