//! Endgame tables: who wins with few pieces on the board, and in how many plies, by the official rules without draws by
//! count.
//!
//! One byte a position (`shape` numbers them), solved backwards from the ends of games (`solve`), kept in one file.

mod file;
mod shape;
mod solve;

use std::fmt;

use crate::board::{Board, Color, Squares};
use shape::{MOST_PIECES, Shape};

/// The result of a position for the side to move with best play, the shortest way to a win.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Known {
    /// Neither side can force a win.
    Draw,
    /// The side to move wins after this odd number of plies.
    Win(u32),
    /// It loses after this even number of plies; 0: it has no move.
    Loss(u32),
}

impl Known {
    fn of(byte: u8) -> Self {
        match byte {
            solve::DRAW => Self::Draw,
            even if even % 2 == 0 => Self::Win(u32::from(even) - 1),
            odd => Self::Loss(u32::from(odd) - 1),
        }
    }
}

#[derive(Clone, PartialEq, Eq)]
pub struct EndgameTables {
    pieces: usize,
    /// A byte for each position of each shape, in the order of [`Shape::all`].
    values: Vec<Vec<u8>>,
}

/// Writes the tables without their millions of bytes.
impl fmt::Debug for EndgameTables {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "EndgameTables({} pieces)", self.pieces)
    }
}

impl EndgameTables {
    /// The most pieces tables are built for.
    pub const MOST_PIECES: usize = MOST_PIECES;

    /// Builds the tables for 2 to 4 pieces (other numbers count as the nearest). Equal numbers give
    /// equal tables. `progress` receives the number of solved positions and the total.
    pub fn build(pieces: usize, progress: impl FnMut(usize, usize)) -> Self {
        solve::build(pieces.clamp(2, MOST_PIECES), progress)
    }

    pub fn pieces(&self) -> usize {
        self.pieces
    }

    pub fn bytes(&self) -> usize {
        self.values.iter().map(Vec::len).sum()
    }

    /// Returns the result of a position; `None` with too many pieces, or only those of the side to move.
    pub fn probe(&self, board: &Board) -> Option<Known> {
        if board.occupied().len() as usize > self.pieces {
            return None;
        }
        let turned = if board.to_move() == Color::White { *board } else { board.rotated() };
        self.byte(&turned).map(Known::of)
    }

    fn byte(&self, board: &Board) -> Option<u8> {
        if board.pieces(Color::White) == Squares::NONE {
            return Some(solve::LOST);
        }
        if board.pieces(Color::Black) == Squares::NONE {
            return None;
        }
        let shape = Shape::of(board);
        Some(self.values[shape.place()?][shape.index(board)])
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{LazyLock, atomic::AtomicBool};

    use super::*;
    use crate::{
        board::Rules,
        game::Game,
        random::Random,
        search::{Limits, Score, SearchOptions, Searcher},
    };

    pub(super) static THREE: LazyLock<EndgameTables> = LazyLock::new(|| EndgameTables::build(3, |_, _| {}));

    /// A byte is right if it follows from those of the next positions.
    fn assert_consistent(tables: &EndgameTables, positions: usize) {
        let mut random = Random::new(1);
        for _ in 0..positions {
            let shapes: Vec<Shape> = Shape::all().filter(|shape| shape.pieces() <= tables.pieces).collect();
            let shape = shapes[random.below(shapes.len() as u64) as usize];
            let Some(board) = shape.board(random.below(shape.positions() as u64) as usize) else { continue };
            let replies: Vec<Known> = board
                .legal_moves(Rules::Official)
                .iter()
                .map(|mv| tables.probe(&board.after(mv)).expect("the tables are closed"))
                .collect();
            let won =
                replies.iter().filter_map(|known| if let Known::Loss(n) = known { Some(n + 1) } else { None }).min();
            let lost: Option<Vec<u32>> =
                replies.iter().map(|known| if let Known::Win(n) = known { Some(n + 1) } else { None }).collect();
            let expected = match (won, lost) {
                (Some(plies), _) => Known::Win(plies),
                (None, Some(all)) => Known::Loss(all.into_iter().max().unwrap_or(0)),
                (None, None) => Known::Draw,
            };
            assert_eq!(tables.probe(&board), Some(expected), "{board}");
        }
    }

    #[test]
    fn table_values_are_consistent() {
        assert_consistent(&THREE, 20_000);
    }

    #[test]
    fn four_piece_tables_are_consistent() {
        let tables = EndgameTables::build(4, |_, _| {});
        assert_consistent(&tables, 200_000);
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("four.tables");
        tables.save(&path).expect("saved");
        assert_eq!(EndgameTables::load(&path).expect("loaded"), tables);
    }

    #[test]
    fn two_kings_beat_one() {
        let known = |fen: &str| THREE.probe(&fen.parse().expect("a position")).expect("three pieces");
        assert_eq!(known("W:WK29:BK4"), Known::Draw);
        assert!(matches!(known("W:WK29,K30:BK18"), Known::Win(_)));
        assert_eq!(known("W:WK14:B10"), Known::Win(1));
        assert_eq!(known("B:W9,10:B5"), known("W:W28:B23,24"));
    }

    #[test]
    fn search_agrees_with_tables() {
        let mut random = Random::new(7);
        let mut searcher = Searcher::new(SearchOptions { hash: 4, ..SearchOptions::default() });
        let mut seen = 0;
        while seen < 40 {
            let Some(shape) = Shape::all().filter(|shape| shape.pieces() == 3).nth(random.below(12) as usize) else {
                continue;
            };
            let Some(board) = shape.board(random.below(shape.positions() as u64) as usize) else { continue };
            let Some(Known::Win(plies @ 3..=7)) = THREE.probe(&board) else { continue };
            let limits = Limits { depth: Some(plies + 1), ..Limits::default() };
            let game = Game::new(board, Rules::Official);
            let found = searcher.search(&game, &limits, &AtomicBool::new(false), |_| {}).expect("there is a move");
            assert_eq!(found.score, Score::Win(plies.div_ceil(2) as i32), "{board}: {plies} plies");
            seen += 1;
        }
    }

    #[test]
    fn tables_win_endgames() {
        let tables = std::sync::Arc::new(THREE.clone());
        let mut searcher = Searcher::new(SearchOptions { tables: Some(tables), hash: 1, ..SearchOptions::default() });
        let mut game = Game::new("W:WK29,K30:BK18".parse().expect("a position"), Rules::Official);
        while let (None, Some(known)) = (game.outcome(), THREE.probe(game.board())) {
            let limits = Limits { depth: Some(2), ..Limits::default() };
            let found = searcher.search(&game, &limits, &AtomicBool::new(false), |_| {}).expect("not over");
            let (Known::Win(plies) | Known::Loss(plies)) = known else { panic!("the win is gone: {}", game.board()) };
            assert!(matches!(found.score, Score::Win(moves) if moves.unsigned_abs() == plies.div_ceil(2)));
            game.play(found.best).expect("legal");
        }
        assert_eq!(game.outcome(), Some(crate::game::Outcome::Won(Color::White)));
    }
}
