//! Retrograde solution of tables, from the ends of games.
//!
//! A shape and its mirror are solved together; captures and promotions lead to shapes already
//! solved. Positions wait in buckets by the number of plies in which they are decided. When one is
//! decided, its predecessors are tested again. Positions never decided are drawn.

use super::{EndgameTables, shape::Shape};
use crate::board::{Board, Color, Direction, Rules, Squares};

/// The byte of a drawn position. Others are one more than the plies to the end: even ones win, odd ones lose.
pub(super) const DRAW: u8 = 0;
/// The byte of a position without a move.
pub(super) const LOST: u8 = 1;
/// The byte of a position that is not decided yet. The longest win of four pieces is far shorter.
const OPEN: u8 = u8::MAX;

pub(super) fn build(pieces: usize, mut progress: impl FnMut(usize, usize)) -> EndgameTables {
    let shapes: Vec<Shape> = Shape::all().filter(|shape| shape.pieces() <= pieces).collect();
    let values = shapes.iter().map(|shape| vec![OPEN; shape.positions()]).collect();
    let mut tables = EndgameTables { pieces, values };
    let (all, mut done) = (tables.bytes(), 0);
    let mut place = 0;
    while place < shapes.len() {
        let mirrored = shapes[place].mirror() != shapes[place];
        let group = place..place + 1 + usize::from(mirrored);
        solve(&mut tables, &shapes, group.clone());
        done += tables.values[group.clone()].iter().map(Vec::len).sum::<usize>();
        progress(done, all);
        place = group.end;
    }
    tables
}

fn solve(tables: &mut EndgameTables, shapes: &[Shape], group: std::ops::Range<usize>) {
    // The place of a position's shape, and the number of the position.
    let mut buckets: Vec<Vec<(usize, usize)>> = vec![Vec::new(); usize::from(OPEN)];
    for place in group.clone() {
        for index in 0..shapes[place].positions() {
            if let Some(byte) = shapes[place].board(index).and_then(|board| decide(tables, &board)) {
                buckets[usize::from(byte)].push((place, index));
            }
        }
    }
    for byte in LOST..OPEN {
        for (place, index) in std::mem::take(&mut buckets[usize::from(byte)]) {
            if tables.values[place][index] != OPEN {
                continue;
            }
            tables.values[place][index] = byte;
            let Some(board) = shapes[place].board(index) else { continue };
            for earlier in before(&board) {
                let shape = Shape::of(&earlier);
                let Some(place) = shape.place() else { continue };
                let index = shape.index(&earlier);
                if tables.values[place][index] == OPEN
                    && let Some(byte) = decide(tables, &earlier)
                {
                    buckets[usize::from(byte)].push((place, index));
                }
            }
        }
    }
    for place in group {
        tables.values[place].iter_mut().filter(|byte| **byte == OPEN).for_each(|byte| *byte = DRAW);
    }
}

/// The byte of a position with White to move, as far as those after it are decided: the shortest win that is known, or the
/// longest loss where every move loses.
fn decide(tables: &EndgameTables, board: &Board) -> Option<u8> {
    let (mut win, mut loss) = (None, Some(LOST));
    for mv in board.legal_moves(Rules::Official) {
        match tables.byte(&board.after(&mv).rotated()) {
            None | Some(OPEN | DRAW) => loss = None,
            Some(lost) if lost % 2 == 1 => win = Some(win.map_or(lost + 1, |win: u8| win.min(lost + 1))),
            Some(won) => loss = loss.map(|loss| loss.max(won + 1)),
        }
    }
    win.or(loss)
}

/// Returns the positions, with White to move, from which a quiet move without promotion leads here.
/// In some of them the move may be illegal because a capture is possible: callers check their legal
/// moves.
fn before(board: &Board) -> impl Iterator<Item = Board> {
    let board = *board;
    let empty = !board.occupied();
    board.pieces(Color::Black).flat_map(move |to| {
        let king = board.kings(Color::Black).has(to);
        // A man came from above; a king from anywhere.
        let ways = if king { &Direction::ALL[..] } else { &Direction::ALL[..2] };
        ways.iter().filter_map(move |way| to.step(*way)).filter(move |from| empty.has(*from)).map(move |from| {
            let moved = |set: Squares| if set.has(to) { (set & !to.set()) | from.set() } else { set };
            let kings = if king {
                moved(board.kings(Color::White) | board.kings(Color::Black))
            } else {
                board.kings(Color::White) | board.kings(Color::Black)
            };
            Board::of(board.pieces(Color::White), moved(board.pieces(Color::Black)), kings, Color::Black).rotated()
        })
    })
}
