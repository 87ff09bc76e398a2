//! What a position is worth, by eight heuristics that can be switched off one by one (METHOD.md §2).

use std::fmt;

use super::{
    board::{Bitboard, Board, Color, Role, Square, attacks},
    knowledge::{Heuristic, Knowledge},
};

mod score;
pub use score::Packed;

/// How much of each heuristic counts, in per cent, in the order of [`Heuristic::ALL`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Recipe([u16; 8]);

impl Recipe {
    /// Heuristics outside `knowledge` count nothing, except that material then still counts a fifth.
    pub fn new(knowledge: Knowledge, percentages: [u16; 8]) -> Self {
        let mut recipe = percentages;
        for heuristic in knowledge.complement().heuristics() {
            let share = &mut recipe[heuristic as usize];
            *share = if heuristic == Heuristic::Material { *share / 5 } else { 0 };
        }
        Self(recipe)
    }
}

const VALUES: [i32; 6] = [100, 320, 330, 500, 950, 0];
const PHASES: [i32; 6] = [0, 1, 1, 2, 4, 0];

/// The value for the player to move, in centipawns.
pub fn evaluate(board: &Board, recipe: &Recipe) -> i32 {
    let mut total = Packed::ZERO;
    for heuristic in Heuristic::ALL {
        let share = i32::from(recipe.0[heuristic as usize]);
        if share != 0 {
            let value = side(board, heuristic, Color::White) - side(board, heuristic, Color::Black);
            total += if share == 100 { value } else { value.percent(share) };
        }
    }
    total.taper(phase(board)) * board.turn().sign() + 10
}

/// What each heuristic sees in a position.
#[derive(Clone, Debug)]
pub struct Breakdown {
    /// Heuristic, then middlegame and endgame centipawns for white and for black, each from its own side.
    pub rows: [(Heuristic, [Packed; 2]); 8],
    /// 24 with all pieces on the board, 0 with none.
    pub phase: i32,
    /// The whole value with complete knowledge, centipawns from the player to move.
    pub value: i32,
}

/// Evaluates a position heuristic by heuristic.
pub fn breakdown(board: &Board) -> Breakdown {
    Breakdown {
        rows: Heuristic::ALL.map(|heuristic| (heuristic, Color::ALL.map(|color| side(board, heuristic, color)))),
        phase: phase(board),
        value: evaluate(board, &Recipe::new(Knowledge::COMPLETE, [100; 8])),
    }
}

impl fmt::Display for Breakdown {
    /// A table: heuristic by white and black, middlegame and endgame, in pawns.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let pawns = |centipawns: i32| f64::from(centipawns) / 100.0;
        writeln!(f, "{:14} {:>15} {:>15} {:>15}", "", "white mg  eg", "black mg  eg", "sum mg  eg")?;
        let mut row = |name: &str, white: Packed, black: Packed| {
            write!(f, "{name:14}")?;
            for value in [white, black, white - black] {
                write!(f, " {:+7.2} {:+7.2}", pawns(value.middlegame()), pawns(value.endgame()))?;
            }
            writeln!(f)
        };
        let mut sum = [Packed::ZERO; 2];
        for (heuristic, [white, black]) in &self.rows {
            row(&format!("{} {}", heuristic.letter(), heuristic.name()), *white, *black)?;
            sum = [sum[0] + *white, sum[1] + *black];
        }
        row("sum", sum[0], sum[1])?;
        writeln!(
            f,
            "phase {} of {}, value for the player to move {:+.2}",
            self.phase,
            score::FULL_PHASE,
            pawns(self.value)
        )
    }
}

fn phase(board: &Board) -> i32 {
    Role::ALL.iter().map(|role| board.role(*role).count() as i32 * PHASES[role.index()]).sum()
}

/// What one heuristic sees for one side.
fn side(board: &Board, heuristic: Heuristic, us: Color) -> Packed {
    let occupied = board.occupied();
    let pawns = board.men(us, Role::Pawn);
    let enemy_pawns = board.men(!us, Role::Pawn);
    let mut sum = Packed::ZERO;
    match heuristic {
        Heuristic::Material => {
            for role in Role::ALL {
                sum += Packed::both(VALUES[role.index()] * board.men(us, role).count() as i32);
            }
        }
        Heuristic::Placement => {
            let threatened = enemy_pawns.pawn_attacks(!us) & board.color(us) & !pawns;
            sum += Packed::both(-40 * threatened.count() as i32);
            sum += Packed::both(15 * (pawns.pawn_attacks(us) & board.men(us, Role::Knight)).count() as i32);
        }
        Heuristic::Mobility => {
            for role in [Role::Knight, Role::Bishop, Role::Rook, Role::Queen] {
                for square in board.men(us, role) {
                    let reach = (attacks::of(role, square, occupied) & !board.color(us)).count() as i32;
                    sum += Packed::both(reach * if role == Role::Queen { 1 } else { 4 });
                }
            }
        }
        Heuristic::KingSafety => {
            let king = board.king(us);
            let shield = attacks::king(king) & pawns;
            sum += Packed::new(12 * shield.count() as i32, 0);
            sum += Packed::new(-15 * king.rank_for(us) as i32, 0);
            sum += Packed::new(if (2..=5).contains(&king.file()) { -20 } else { 0 }, 0);
        }
        Heuristic::Centre => {
            let distance = |s: Square| ((2 * s.file() as i32 - 7).abs() + (2 * s.rank() as i32 - 7).abs()) / 2;
            for square in board.color(us) & !(board.role(Role::Rook) | board.role(Role::King)) {
                sum += Packed::both(2 * (3 - distance(square)));
            }
            sum += Packed::new(0, -8 * distance(board.king(us)));
        }
        Heuristic::Pawns => {
            let isolated = pawns & !pawns.sideways().fill_files();
            let doubled = pawns & pawns.forward(us).fill_forward(us);
            sum += Packed::both(-15 * isolated.count() as i32 - 12 * doubled.count() as i32);
            for square in pawns {
                sum += Packed::both(2 * square.rank_for(us) as i32);
            }
        }
        Heuristic::Attack => {
            for square in pawns {
                let front = Bitboard::from(square).forward(us).fill_forward(us);
                if ((front | front.sideways()) & enemy_pawns).is_empty() {
                    let rank = square.rank_for(us) as i32;
                    sum += Packed::new(2 * rank * rank, 4 * rank * rank);
                }
            }
            let zone = attacks::king(board.king(!us));
            for role in [Role::Knight, Role::Bishop, Role::Rook, Role::Queen] {
                for square in board.men(us, role) {
                    sum += Packed::new(7 * (attacks::of(role, square, occupied) & zone).count() as i32, 0);
                }
            }
        }
        Heuristic::Relations => {
            let pair = board.men(us, Role::Bishop).many();
            sum += Packed::both(if pair { 40 } else { 0 });
        }
    }
    sum
}
