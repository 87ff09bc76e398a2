//! The move generator beside that of `shakmaty`, on positions of random games from fixed seeds, and beside published counts.
//!
//! Every class of positions has a test of its own, which says how many positions and leaves it compares at least: together
//! more than 10,000 and 200 million.

use std::collections::HashSet;

use concilio_engine::Board;
use shakmaty::{CastlingMode, CastlingSide, Chess, EnPassantMode, Position, fen::Fen, perft};
use testkit::Random;

const START: &str = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1";

/// The positions of the Chess Programming Wiki's page on perft, after the start.
const KIWIPETE: &str = "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1";
const ENDGAME: &str = "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1";
const PROMOTIONS: &str = "r3k2r/Pppp1ppp/1b3nbN/nP6/BBP1P3/q4N2/Pp1P2PP/R2Q1RK1 w kq - 0 1";
const PROMOTION_AND_CHECK: &str = "rnbq1k1r/pp1Pbppp/2p5/8/2B5/8/PPP1NnPP/RNBQK2R w KQ - 1 8";
const MIDDLEGAME: &str = "r4rk1/1pp1qppp/p1np1n2/2b1p1B1/2B1P1b1/P1NP1N2/1PP1QPPP/R4RK1 w - - 0 10";

/// Pawns of both sides about to promote, with something to capture.
const EIGHT_PAWNS: &str = "n1n5/PPPk4/8/8/8/8/4Kppp/5N1N b - - 0 1";

/// Maximum length of a random game in plies.
const LONGEST_GAME: usize = 160;

fn fen(position: &Chess) -> String {
    Fen::from_position(position, EnPassantMode::Legal).to_string()
}

fn position(fen: &str) -> Chess {
    let setup: Fen = fen.parse().expect("a good FEN");
    setup.into_position(CastlingMode::Chess960).expect("a legal position")
}

/// Returns the leaves of a tree whose last ply is counted and not made.
fn leaves(board: &Board, depth: u32) -> u64 {
    let moves = board.legal_moves();
    match depth {
        1 => moves.len() as u64,
        _ => moves.iter().map(|&mv| leaves(&board.after(mv), depth - 1)).sum(),
    }
}

/// Compares the moves, as UCI writes them with castling as king takes rook, and the tree. Returns the leaves.
fn compare(position: &Chess, depth: u32) -> u64 {
    let fen = fen(position);
    let board = Board::from_fen(&fen).unwrap_or_else(|error| panic!("{fen}: {error}"));
    assert_eq!(board.to_fen(), fen);
    assert_eq!(board.in_check(), position.is_check(), "{fen}");
    let mut ours: Vec<String> = board.legal_moves().iter().map(|mv| format!("{mv:?}")).collect();
    let mut theirs: Vec<String> =
        position.legal_moves().iter().map(|mv| mv.to_uci(CastlingMode::Chess960).to_string()).collect();
    ours.sort();
    theirs.sort();
    assert_eq!(ours, theirs, "{fen}");
    let count = leaves(&board, depth);
    assert_eq!(count, perft(position, depth), "{fen} at depth {depth}");
    count
}

/// One class of positions, from random games that begin at `starts`.
struct Class<'a> {
    seed: u64,
    starts: &'a [String],
    positions: usize,
    /// Minimum number of leaves of all trees at depth 3.
    leaves: u64,
    belongs: fn(&Chess) -> bool,
    /// Moves into positions of the class are preferred; they are too rare otherwise.
    sought: bool,
}

impl Class<'_> {
    fn check(&self) {
        let mut random = Random(self.seed);
        let (mut seen, mut count) = (HashSet::new(), 0);
        'games: for game in 0.. {
            assert!(game < 100_000, "only {} positions belong to the class", seen.len());
            let mut position = position(&self.starts[game % self.starts.len()]);
            for _ in 0..LONGEST_GAME {
                if (self.belongs)(&position) && seen.insert(fen(&position)) {
                    count += compare(&position, 3);
                    if seen.len() == self.positions {
                        break 'games;
                    }
                }
                match self.next(&position, &mut random) {
                    Some(next) => position = next,
                    None => break,
                }
            }
        }
        println!("{} positions, {count} leaves", seen.len());
        assert!(count >= self.leaves, "only {count} leaves");
    }

    /// A position after a random move; `None` at the end of a game.
    fn next(&self, position: &Chess, random: &mut Random) -> Option<Chess> {
        let mut next: Vec<Chess> = Vec::new();
        for mv in position.legal_moves() {
            next.push(position.clone().play(mv).expect("it is legal"));
        }
        if self.sought && next.iter().any(self.belongs) {
            next.retain(self.belongs);
        }
        (!next.is_empty()).then(|| next.swap_remove(random.below(next.len())))
    }
}

fn texts(starts: &[&str]) -> Vec<String> {
    starts.iter().map(|&start| start.to_owned()).collect()
}

fn chess960(random: &mut Random) -> String {
    let mut rank = [' '; 8];
    rank[2 * random.below(4)] = 'b';
    rank[2 * random.below(4) + 1] = 'b';
    for piece in ['q', 'n', 'n'] {
        let free: Vec<usize> = (0..8).filter(|&file| rank[file] == ' ').collect();
        rank[free[random.below(free.len())]] = piece;
    }
    let free: Vec<usize> = (0..8).filter(|&file| rank[file] == ' ').collect();
    for (file, piece) in free.into_iter().zip(['r', 'k', 'r']) {
        rank[file] = piece;
    }
    let black: String = rank.iter().collect();
    format!("{black}/pppppppp/8/8/8/8/PPPPPPPP/{} w KQkq - 0 1", black.to_uppercase())
}

/// A side may castle but for an attack on the way of its king.
fn castles_through_an_attack(position: &Chess) -> bool {
    let (castles, color) = (position.castles(), position.turn());
    let side_is_attacked = |side: CastlingSide| {
        let free = (castles.path(color, side) & position.board().occupied()).is_empty();
        let legal = position.legal_moves().iter().any(|mv| mv.castling_side() == Some(side));
        castles.has(color, side) && free && !legal
    };
    !position.is_check() && CastlingSide::ALL.into_iter().any(side_is_attacked)
}

#[test]
fn standard_games_match_shakmaty() {
    let starts = texts(&[START]);
    let class =
        Class { seed: 1993, starts: &starts, positions: 3500, leaves: 85_000_000, belongs: |_| true, sought: false };
    class.check();
}

#[test]
fn chess960_games_match_shakmaty() {
    let mut random = Random(960);
    let starts: Vec<String> = (0..500).map(|_| chess960(&mut random)).collect();
    let belongs = |position: &Chess| !position.castles().is_empty();
    let class = Class { seed: 1996, starts: &starts, positions: 2500, leaves: 60_000_000, belongs, sought: false };
    class.check();
}

#[test]
fn en_passant_is_that_of_shakmaty() {
    let starts = texts(&[START, ENDGAME, KIWIPETE, MIDDLEGAME]);
    let belongs = |position: &Chess| position.legal_ep_square().is_some();
    let class = Class { seed: 1561, starts: &starts, positions: 1500, leaves: 40_000_000, belongs, sought: true };
    class.check();
}

#[test]
fn promotions_are_those_of_shakmaty() {
    let starts = texts(&[PROMOTIONS, PROMOTION_AND_CHECK, EIGHT_PAWNS, ENDGAME]);
    let belongs = |position: &Chess| position.legal_moves().iter().any(|mv| mv.is_promotion());
    let class = Class { seed: 8, starts: &starts, positions: 1500, leaves: 40_000_000, belongs, sought: false };
    class.check();
}

#[test]
fn double_checks_match_shakmaty() {
    let starts = texts(&[KIWIPETE, PROMOTIONS, PROMOTION_AND_CHECK, MIDDLEGAME, START]);
    let belongs = |position: &Chess| position.checkers().count() == 2;
    let class = Class { seed: 22, starts: &starts, positions: 1000, leaves: 2_000_000, belongs, sought: true };
    class.check();
}

#[test]
fn attacked_castling_matches_shakmaty() {
    let mut random = Random(961);
    let mut starts: Vec<String> = (0..20).map(|_| chess960(&mut random)).collect();
    starts.extend(texts(&[KIWIPETE, START, PROMOTION_AND_CHECK]));
    let belongs = castles_through_an_attack;
    let class = Class { seed: 64, starts: &starts, positions: 1500, leaves: 60_000_000, belongs, sought: true };
    class.check();
}

/// The counts of the Chess Programming Wiki.
#[test]
fn published_leaf_counts_match() {
    for (fen, counts) in [
        (START, &[20, 400, 8902, 197_281, 4_865_609][..]),
        (KIWIPETE, &[48, 2039, 97_862, 4_085_603]),
        (ENDGAME, &[14, 191, 2812, 43_238, 674_624, 11_030_083]),
        (PROMOTIONS, &[6, 264, 9467, 422_333, 15_833_292]),
        (PROMOTION_AND_CHECK, &[44, 1486, 62_379, 2_103_487]),
        (MIDDLEGAME, &[46, 2079, 89_890, 3_894_594]),
    ] {
        let board = Board::from_fen(fen).expect("a good FEN");
        for (count, depth) in counts.iter().zip(1..) {
            assert_eq!(leaves(&board, depth), *count, "{fen} at depth {depth}");
        }
    }
}
