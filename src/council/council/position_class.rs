//! Classes of positions that ask for different knowledge.

use serde::{Deserialize, Serialize};
use shakmaty::{Bitboard, Board, ByRole, Color, File, Position as _, Role, variant::VariantPosition};

/// A class of position. One position belongs to several: one of the three phases, and what else applies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PositionClass {
    /// Nearly all pieces are there.
    Opening,
    /// Neither opening nor endgame.
    Middlegame,
    /// At most about a queen and a rook a side are left.
    Endgame,
    /// Pawns block each other in the centre.
    Closed,
    /// No pawns stand on one of the two central files.
    Open,
    /// The sides have different pieces.
    Imbalanced,
    /// The kings stand on opposite wings.
    OppositeWings,
}

impl PositionClass {
    /// All of them.
    pub const ALL: [Self; 7] = [
        Self::Opening,
        Self::Middlegame,
        Self::Endgame,
        Self::Closed,
        Self::Open,
        Self::Imbalanced,
        Self::OppositeWings,
    ];

    /// Its name, as it is written in files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Opening => "opening",
            Self::Middlegame => "middlegame",
            Self::Endgame => "endgame",
            Self::Closed => "closed",
            Self::Open => "open",
            Self::Imbalanced => "imbalanced",
            Self::OppositeWings => "opposite-wings",
        }
    }
}

/// The classes of one position.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PositionClasses(Vec<PositionClass>);

/// Blocked pawns on the files c to f, of either side, from which on a position is closed.
const BLOCKED: u32 = 4;

impl PositionClasses {
    /// Those that a position belongs to.
    pub fn of(position: &VariantPosition) -> Self {
        Self::of_board(position.board())
    }

    /// Those of a position with these men.
    pub fn of_board(board: &Board) -> Self {
        let mut classes = vec![phase(board)];
        let others = [
            (PositionClass::Closed, is_closed(board)),
            (PositionClass::Open, is_open(board)),
            (PositionClass::Imbalanced, is_imbalanced(board)),
            (PositionClass::OppositeWings, is_opposite_wings(board)),
        ];
        classes.extend(others.into_iter().filter(|(_, applies)| *applies).map(|(class, _)| class));
        Self(classes)
    }

    /// Whether the position belongs to this one.
    pub fn contains(&self, class: PositionClass) -> bool {
        self.0.contains(&class)
    }

    /// The classes, the phase of the game first.
    pub fn iter(&self) -> impl Iterator<Item = PositionClass> {
        self.0.iter().copied()
    }
}

/// By the pieces left: a minor piece counts 1, a rook 2, a queen 4, 24 in all at the start.
fn phase(board: &Board) -> PositionClass {
    let count = |role| board.by_role(role).count();
    let pieces = count(Role::Knight) + count(Role::Bishop) + 2 * count(Role::Rook) + 4 * count(Role::Queen);
    match pieces {
        21.. => PositionClass::Opening,
        13.. => PositionClass::Middlegame,
        _ => PositionClass::Endgame,
    }
}

fn is_closed(board: &Board) -> bool {
    let (white, black) = (board.pawns() & board.white(), board.pawns() & board.black());
    let rammed = (Bitboard(white.0 << 8) & black) | Bitboard((black.0 >> 8 & white.0) << 8);
    let centre =
        [File::C, File::D, File::E, File::F].map(Bitboard::from_file).into_iter().fold(Bitboard(0), |a, b| a | b);
    2 * (rammed & centre).count() as u32 >= BLOCKED
}

fn is_open(board: &Board) -> bool {
    [File::D, File::E].into_iter().any(|file| (board.pawns() & Bitboard::from_file(file)).is_empty())
}

fn is_imbalanced(board: &Board) -> bool {
    let pieces = |color| ByRole { pawn: 0, ..board.material_side(color) };
    pieces(Color::White) != pieces(Color::Black)
}

fn is_opposite_wings(board: &Board) -> bool {
    let file = |color| board.king_of(color).map(shakmaty::Square::file);
    let (Some(white), Some(black)) = (file(Color::White), file(Color::Black)) else { return false };
    let (left, right) = (white.min(black), white.max(black));
    left <= File::C && right >= File::F
}

#[cfg(test)]
mod tests {
    use super::{PositionClass::*, *};
    use chess::{Line, Variant};

    fn classes(fen: &str) -> Vec<PositionClass> {
        let line = Line::from_fen(Variant::Standard, fen).expect("a position");
        PositionClasses::of(line.position()).iter().collect()
    }

    #[test]
    fn a_class_has_the_name_that_files_give_it() {
        for class in PositionClass::ALL {
            assert_eq!(serde_json::to_value(class).expect("a text"), class.name());
        }
    }

    #[test]
    fn positions_are_told_apart() {
        assert_eq!(classes("startpos"), [Opening]);
        // The French, closed by the pawns on d4, d5, e5 and e6.
        assert_eq!(classes("rnbqkbnr/pp3ppp/4p3/2ppP3/3P4/8/PPP2PPP/RNBQKBNR w KQkq - 0 4"), [Opening, Closed]);
        // Heterogeneous castling, an exchange up.
        assert_eq!(
            classes("2kr3r/ppp2ppp/2n5/8/8/2N5/PPPP1PPP/R1B2RK1 w - - 0 1"),
            [Endgame, Open, Imbalanced, OppositeWings]
        );
        assert_eq!(classes("8/5pk1/3p4/8/4P3/8/5PK1/8 w - - 0 1"), [Endgame]);
    }
}
