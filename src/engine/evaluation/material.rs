//! `m`: the value of the men.

use super::tally::{Tally, Trace};
use crate::board::{Board, Color, Role};

pub(super) fn evaluate<T: Trace>(board: &Board, us: Color, tally: &mut Tally<T>) {
    for (role, value) in Role::ALL.iter().zip(&tally.weights().material) {
        tally.add(value, board.men(us, *role).count());
    }
}
