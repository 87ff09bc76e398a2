//! `p`: the structure of the pawns. Depends on nothing but the pawns, so it is remembered by their key.

use super::tally::{Tally, Trace};
use crate::board::{Bitboard, Board, Color, Role, attacks};

/// Returns every square that pawns attack now or after advancing.
#[inline]
pub(super) fn attack_span(pawns: Bitboard, us: Color) -> Bitboard {
    pawns.pawn_attacks(us).fill_forward(us)
}

/// Pawns that no enemy pawn can stop: none before them on their file or its neighbours, and no own pawn before them.
#[inline]
pub(super) fn passed(board: &Board, us: Color) -> Bitboard {
    let pawns = board.men(us, Role::Pawn);
    let enemies = board.men(!us, Role::Pawn);
    let guarded = enemies.forward(!us).fill_forward(!us) | attack_span(enemies, !us);
    pawns & !guarded & !pawns.forward(!us).fill_forward(!us)
}

pub(super) fn evaluate<T: Trace>(board: &Board, us: Color, tally: &mut Tally<T>) {
    let weights = tally.weights();
    let pawns = board.men(us, Role::Pawn);
    let enemies = board.men(!us, Role::Pawn);
    let open = !enemies.fill_files();
    let attacked_by_own = pawns.pawn_attacks(us);
    let attacked_by_enemy = enemies.pawn_attacks(!us);

    let isolated = pawns & !pawns.fill_files().sideways();
    tally.add(&weights.isolated[0], (isolated & !open).count());
    tally.add(&weights.isolated[1], (isolated & open).count());
    let behind_own = pawns & pawns.forward(!us).fill_forward(!us);
    tally.add(&weights.doubled[0], behind_own.count());

    // Backward: the square before it is an enemy pawn's, and no own pawn can come up to guard it there.
    let stop = pawns.forward(us) & attacked_by_enemy & !attack_span(pawns, us);
    let backward = stop.forward(!us) & !isolated;
    tally.add(&weights.backward[0], (backward & !open).count());
    tally.add(&weights.backward[1], (backward & open).count());

    let passed = passed(board, us);
    for square in pawns {
        let rank = square.rank_for(us) & 7;
        tally.add_square(&weights.pawn_square, square);
        if (Bitboard::from(square).sideways() & pawns).has_any() {
            tally.add(&weights.phalanx[rank], 1);
        }
        if attacked_by_own.has(square) {
            tally.add(&weights.guarded[rank], 1);
        }
        // Candidate: nothing before it on its file, and as many helpers as enemies beside its way.
        let way = Bitboard::from(square).forward(us).fill_forward(us);
        if (way & (pawns | enemies)).is_empty() && !passed.has(square) {
            let against = (way.sideways() & enemies).count();
            let helpers = ((way.sideways() | Bitboard::from(square).sideways()).fill_files()
                & pawns
                & !way.sideways().forward(us)
                & !attacks::pawn(square, us))
            .count();
            if helpers >= against {
                tally.add(&weights.candidate[rank], 1);
            }
        }
    }
}
