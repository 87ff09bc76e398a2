//! The value of a position, in hundredths of a man.
//!
//! Two kinds of [`Evaluation`]: the four strategies as published (`strategy`), and heuristics
//! switched on by letters (`heuristics`), whose numbers are all in `weights`.

mod heuristics;
mod knowledge;
mod strategy;
mod weights;

pub use heuristics::{FEATURE_NAMES, FEATURES, features};
pub use knowledge::{Heuristic, Knowledge};
pub use strategy::Strategy;

use std::{fmt, str::FromStr};

use crate::board::{Board, Color, DraughtsError, Square, Squares};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Evaluation {
    Published(Strategy),
    /// A set of heuristics, with our own weights.
    Heuristics(Knowledge),
}

impl Default for Evaluation {
    fn default() -> Self {
        Self::Heuristics(Knowledge::COMPLETE)
    }
}

/// The bound of values that are an evaluation, either way.
const PLAIN: i32 = 15_000;

impl Evaluation {
    /// The value for the side to move, in hundredths of a man, without looking ahead; within ±28,860. Beyond ±15,000, where only
    /// [`Strategy::PesoPosizione`] goes (it has 12,800 for a king), the rest counts a tenth: a search would take it for a win.
    pub fn value(self, board: &Board) -> i32 {
        let value = match self {
            Self::Published(strategy) => strategy.value(board, board.to_move()),
            Self::Heuristics(knowledge) => heuristics::value(board, knowledge),
        };
        let plain = value.clamp(-PLAIN, PLAIN);
        plain + (value - plain) / 10
    }
}

impl FromStr for Evaluation {
    type Err = DraughtsError;

    fn from_str(name: &str) -> Result<Self, DraughtsError> {
        Strategy::ALL
            .into_iter()
            .find(|strategy| strategy.name() == name)
            .map(Self::Published)
            .or_else(|| name.parse().ok().map(Self::Heuristics))
            .ok_or_else(|| {
                let accepted = "peso-pedine, peso-posizione, spettacolo, fully-guarded, or letters of mpgsk";
                DraughtsError(format!("{name:?} is no evaluation (accepted: {accepted})"))
            })
    }
}

impl fmt::Display for Evaluation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Published(strategy) => f.pad(strategy.name()),
            Self::Heuristics(knowledge) => fmt::Display::fmt(knowledge, f),
        }
    }
}

/// The pieces of one side, turned so that its men go up: statements about White hold for either.
#[derive(Clone, Copy)]
struct Side {
    men: Squares,
    kings: Squares,
}

impl Side {
    /// The side to move and the other, each as it sees itself.
    fn both(board: &Board) -> [Self; 2] {
        let (white, black) = (Color::White, Color::Black);
        let sides = [
            Self { men: board.men(white), kings: board.kings(white) },
            Self { men: board.men(black).rotated(), kings: board.kings(black).rotated() },
        ];
        if board.to_move() == white { sides } else { [sides[1], sides[0]] }
    }

    fn pieces(self) -> Squares {
        self.men | self.kings
    }

    /// The row of a square, from 1 at the own base to 8.
    fn rank(square: Square) -> i32 {
        8 - i32::from(square.row())
    }
}

/// Returns true if the side to move has *the move*: the last word where two pieces walk towards
/// each other, because the number of all pieces on the columns that start at its base is odd.
fn has_the_move(board: &Board) -> bool {
    let own_columns = match board.to_move() {
        Color::White => !Squares::EVEN_ROWS,
        Color::Black => Squares::EVEN_ROWS,
    };
    (board.occupied() & own_columns).len() % 2 == 1
}

#[cfg(test)]
mod tests {
    use proptest::{prop_assert, prop_assert_eq, proptest};

    use super::*;
    use crate::board::tests::any_board;

    #[test]
    fn evaluations_are_named() {
        for name in ["peso-pedine", "peso-posizione", "spettacolo", "fully-guarded", "m", "mpgsk"] {
            assert_eq!(name.parse::<Evaluation>().map(|it| it.to_string()).as_deref(), Ok(name));
        }
        assert!("sicilian".parse::<Evaluation>().is_err());
    }

    #[test]
    fn more_kings_are_worth_more() {
        let values = ["W:WK14:B1", "W:WK14,K15:B1", "W:WK14,K15,K18:B1", "W:WK14,K15,K18,K19:B1"]
            .map(|fen| Evaluation::Published(Strategy::PesoPosizione).value(&fen.parse().expect("a position")));
        assert_eq!(values[0], 200 * 64 - 100, "what is not beyond the bound is as published");
        assert!(values.is_sorted_by(|fewer, more| fewer < more), "{values:?}");
    }

    #[test]
    fn free_rows_decide_the_move() {
        // White's man on 18, Black's on 10, one free row between: the first to step loses the man.
        assert!(!has_the_move(&"W:W18:B10".parse().expect("a position")));
        // Two free rows between: the side to move closes in, and the other must give way.
        assert!(has_the_move(&"W:W22:B10".parse().expect("a position")));
    }

    proptest! {
        #[test]
        fn evaluation_is_symmetric(board in any_board()) {
            for strategy in Strategy::ALL {
                let evaluation = Evaluation::Published(strategy);
                prop_assert_eq!(evaluation.value(&board), evaluation.value(&board.rotated()));
                prop_assert!(evaluation.value(&board).abs() <= 28_860);
            }
            let complete = Evaluation::default();
            prop_assert_eq!(complete.value(&board), complete.value(&board.rotated()));
            prop_assert!(complete.value(&board).abs() < 15_000);
        }
    }
}
