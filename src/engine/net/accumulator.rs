//! The first layer, kept from position to position.
//!
//! It remembers the men behind its sums, and adds the men that came or left since. Successive
//! positions of a search differ little, by whatever path, so moves need not be reported to it.

use arrayvec::ArrayVec;

use super::{Block, Net, bucket, features, kernel, players};
use crate::board::{Bitboard, Board, Piece};

/// The first layer as one player sees one half of positions.
#[derive(Clone)]
struct Layer {
    sum: Box<[Block]>,
    /// The men it is the sum of, by [`Piece::index`].
    men: [Bitboard; 12],
}

/// The first layers of recent positions, for one net only.
#[derive(Clone)]
pub(crate) struct Accumulator {
    /// Layers by player, and by mirroring of the board, which moves every input.
    layers: [[Layer; 2]; 2],
}

impl Accumulator {
    /// Creates an accumulator for a net that has not been evaluated yet.
    pub(crate) fn new(net: &Net) -> Self {
        let layer = || Layer { sum: net.weights().bias().into(), men: [Bitboard::EMPTY; 12] };
        Self { layers: [[layer(), layer()], [layer(), layer()]] }
    }

    /// The value of a board for the player to move, in centipawns.
    pub(crate) fn evaluate(&mut self, net: &Net, board: &Board) -> i32 {
        let men = Piece::ALL.map(|piece| board.men(piece.color(), piece.role()));
        let mirrored = players(board).map(|player| features::is_mirrored(board.king(player)));
        for (player, mirrored) in players(board).into_iter().zip(mirrored) {
            let layer = &mut self.layers[player.index()][usize::from(mirrored)];
            let mut added: ArrayVec<u16, 64> = ArrayVec::new();
            let mut removed: ArrayVec<u16, 64> = ArrayVec::new();
            for (piece, (now, before)) in Piece::ALL.into_iter().zip(men.iter().zip(layer.men.iter_mut())) {
                let input = |square| features::feature(player, mirrored, piece, square) as u16;
                added.extend((*now & !*before).map(input));
                removed.extend((*before & !*now).map(input));
                *before = *now;
            }
            kernel::update(&mut layer.sum, net.weights().inputs(), &added, &removed);
        }
        let [mover, other] = players(board).map(|player| &self.layers[player.index()]);
        let bucket = bucket(board.occupied().count());
        net.output(bucket, [&mover[usize::from(mirrored[0])].sum, &other[usize::from(mirrored[1])].sum])
    }
}
