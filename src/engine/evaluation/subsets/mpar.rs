//! Weights of mpar that differ from complete knowledge. Written by `concilio-lab tune`.

use super::{score::Packed, terms::Weights};

const fn s(middlegame: i32, endgame: i32) -> Packed {
    Packed::new(middlegame, endgame)
}

#[rustfmt::skip]
pub(super) static WEIGHTS: Weights = Weights {
    material: [
        s(11, 118), s(276, 401), s(305, 423), s(389, 754), s(1031, 1069),
    ],
    pawn_square: [
        s(0, 0), s(0, 0), s(0, 0), s(0, 0), s(-38, 14), s(-17, 13), s(-11, 15), s(-32, 7),
        s(-25, -5), s(5, -9), s(-4, -5), s(-5, 4), s(-25, 9), s(-3, 9), s(13, -6), s(29, -6),
        s(-15, -2), s(20, 3), s(24, -5), s(47, -20), s(-11, 11), s(4, 7), s(27, 26), s(46, 22),
        s(45, 15), s(18, 49), s(35, 58), s(59, 38), s(0, 0), s(0, 0), s(0, 0), s(0, 0),
    ],
    isolated: [
        s(-6, -1), s(-12, -13),
    ],
    doubled: [
        s(-8, -16),
    ],
    backward: [
        s(-3, -9), s(-17, -12),
    ],
    phalanx: [
        s(0, 0), s(10, 7), s(3, 17), s(8, 14), s(12, 33), s(51, 99), s(60, 65), s(0, 0),
    ],
    guarded: [
        s(0, 0), s(0, 0), s(14, 18), s(10, 12), s(16, 17), s(36, 56), s(65, 47), s(0, 0),
    ],
    candidate: [
        s(0, 0), s(0, -27), s(5, -3), s(4, 6), s(2, 29), s(23, 52), s(0, 0), s(0, 0),
    ],
    passed: [
        s(0, 0), s(14, -9), s(7, -3), s(11, 11), s(5, 50), s(43, 99), s(90, 143), s(0, 0),
    ],
    passed_blocked: [
        s(0, 0), s(-8, -3), s(-4, -1), s(-4, -11), s(0, -15), s(-10, -31), s(-39, -56), s(0, 0),
    ],
    passed_free: [
        s(0, 0), s(11, 28), s(-6, 18), s(-15, 20), s(5, 38), s(14, 72), s(53, 109), s(0, 0),
    ],
    passed_guarded: [
        s(7, 9),
    ],
    passed_unstoppable: [
        s(-2, 188),
    ],
    passed_rook_behind: [
        s(-11, 5),
    ],
    passed_own_king: [
        s(-1, 43), s(-22, 41), s(-11, 24), s(-1, 8), s(2, -1), s(2, -7), s(4, -7), s(5, -11),
    ],
    passed_enemy_king: [
        s(-7, -26), s(4, -22), s(8, -10), s(-2, 10), s(-5, 22), s(-12, 37), s(-1, 36), s(-19, 60),
    ],
    storm: [
        s(0, 0), s(-4, 0), s(-11, 5), s(-5, 5), s(8, 9), s(23, -20), s(19, -43), s(0, 0),
    ],
    storm_blocked: [
        s(0, 0), s(-30, 14), s(-4, 5), s(5, 10), s(-2, 22), s(8, 31), s(10, 0), s(0, 0),
    ],
    near_king: [
        s(17, 6), s(12, 2), s(3, 0), s(-3, 43),
    ],
    king_ring_attack: [
        s(1, 8), s(4, 13), s(24, 0), s(3, 18),
    ],
    pin: [
        s(11, 13), s(10, 0),
    ],
    rook_on_seventh: [
        s(21, 35),
    ],
    king_to_pawns: [
        s(-26, -23),
    ],
    threat: [
        s(22, 34), s(38, 23),
    ],
    pair: [
        s(-3, 29), s(30, 71), s(-9, -57),
    ],
    with_pawns: [
        s(10, 7), s(14, 1), s(15, -3),
    ],
    bad_bishop: [
        s(-7, -1),
    ],
    bad_bishop_blocked: [
        s(1, -23),
    ],
    connected_rooks: [
        s(49, -9),
    ],
    behind_pawn: [
        s(7, 13),
    ],
    queen_and: [
        s(-26, 60), s(3, 31),
    ],
    ..super::WEIGHTS
};
