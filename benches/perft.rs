//! Measures move generation, beside `shakmaty` in the same run: `cargo bench --bench perft`.
//!
//! Every leaf is made on the board, by both; neither counts in bulk nor keeps a table. The counts are the published ones and
//! are compared. Each figure is the best of several rounds, in which both take turns, so that a busy machine harms both alike.
//! `cargo bench --bench perft -- deep` goes a ply deeper, once.

use std::time::{Duration, Instant};

use engine::{Board, board::perft};
use shakmaty::{CastlingMode, Chess, Position as _, fen::Fen};

/// Positions with a shallow and a deep count: the depth and its leaves.
const POSITIONS: [(&str, [(u32, u64); 2]); 3] = [
    ("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1", [(5, 4_865_609), (6, 119_060_324)]),
    ("r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1", [(4, 4_085_603), (5, 193_690_690)]),
    ("8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1", [(6, 11_030_083), (7, 178_633_661)]),
];

fn main() {
    let deep = std::env::args().any(|argument| argument == "deep");
    let rounds = if deep { 1 } else { 10 };
    println!("{:>12} {:>10} {:>10} {:>6}", "leaves", "concilio", "shakmaty", "ratio");
    let mut total = (0, Duration::ZERO, Duration::ZERO);
    for (fen, counts) in POSITIONS {
        let (depth, leaves) = counts[usize::from(deep)];
        let ours = Board::from_fen(fen).expect("a good FEN");
        let setup: Fen = fen.parse().expect("a good FEN");
        let theirs: Chess = setup.into_position(CastlingMode::Standard).expect("a legal position");
        let (mut our_time, mut their_time) = (Duration::MAX, Duration::MAX);
        for _ in 0..rounds {
            our_time = our_time.min(timed(leaves, || perft(&ours, depth)));
            their_time = their_time.min(timed(leaves, || perft_by_shakmaty(&theirs, depth)));
        }
        show(leaves, our_time, their_time);
        total = (total.0 + leaves, total.1 + our_time, total.2 + their_time);
    }
    println!("all, in million leaves a second:");
    show(total.0, total.1, total.2);
}

fn timed(leaves: u64, count: impl FnOnce() -> u64) -> Duration {
    let began = Instant::now();
    assert_eq!(count(), leaves);
    began.elapsed()
}

fn perft_by_shakmaty(position: &Chess, depth: u32) -> u64 {
    let mut leaves = 0;
    for mv in position.legal_moves() {
        let mut next = position.clone();
        next.play_unchecked(mv);
        let next = std::hint::black_box(&next);
        leaves += if depth == 1 { 1 } else { perft_by_shakmaty(next, depth - 1) };
    }
    leaves
}

fn show(leaves: u64, ours: Duration, theirs: Duration) {
    let speed = |time: Duration| leaves as f64 / time.as_secs_f64() / 1e6;
    println!("{leaves:>12} {:>10.1} {:>10.1} {:>6.2}", speed(ours), speed(theirs), speed(ours) / speed(theirs));
}
