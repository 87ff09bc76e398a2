//! The board against `shakmaty`, and against itself; `tests/move_generation.rs` compares more positions.

use shakmaty::{CastlingMode, EnPassantMode, Position as _, fen::Fen};
use testkit::Random;

use super::*;

const KIWIPETE: &str = "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1";

fn board(fen: &str) -> Board {
    Board::from_fen(fen).unwrap_or_else(|error| panic!("{fen}: {error}"))
}

fn mv(board: &Board, text: &str) -> Move {
    let position = Position::from_line(&board.to_fen(), false, []).expect("a board writes a good FEN");
    position.parse_move(text).unwrap_or_else(|| panic!("{text} is legal"))
}

/// The legal moves as UCI writes them, castling as king takes rook.
fn our_moves(board: &Board) -> Vec<String> {
    let mut moves: Vec<_> = board.legal_moves().iter().map(|mv| format!("{mv:?}")).collect();
    moves.sort();
    moves
}

fn their_moves(position: &shakmaty::Chess) -> Vec<String> {
    let mut moves: Vec<_> =
        position.legal_moves().iter().map(|mv| mv.to_uci(CastlingMode::Chess960).to_string()).collect();
    moves.sort();
    moves
}

#[test]
fn random_games_match_shakmaty() {
    let mut random = Random(1993);
    for fen in [Position::START, KIWIPETE, "bqnb1rkr/pp3ppp/3ppn2/2p5/5P2/P2P4/NPP1P1PP/BQ1BNRKR w HFhf - 2 9"] {
        for _ in 0..25 {
            let mut ours = board(fen);
            let setup: Fen = fen.parse().expect("a good FEN");
            let mut theirs: shakmaty::Chess = setup.into_position(CastlingMode::Chess960).expect("a legal position");
            for _ in 0..120 {
                assert_eq!(our_moves(&ours), their_moves(&theirs), "{}", ours.to_fen());
                assert_eq!(ours.in_check(), theirs.is_check());
                assert_eq!(ours.to_fen(), Fen::from_position(&theirs, EnPassantMode::Legal).to_string());
                assert_same(&ours, &board(&ours.to_fen()));
                let moves = ours.legal_moves();
                if moves.is_empty() {
                    break;
                }
                let mv = moves[random.below(moves.len())];
                let text = format!("{mv:?}");
                let twin =
                    theirs.legal_moves().into_iter().find(|m| m.to_uci(CastlingMode::Chess960).to_string() == text);
                theirs = theirs.play(twin.expect("the lists are equal")).expect("it is legal");
                assert_eq!(is_check_noisy(&ours, mv), ours.is_noisy(mv));
                ours = ours.after(mv);
            }
        }
    }
}

/// The definition of `is_noisy` from the other side: the material changes, except by an
/// underpromotion.
fn is_check_noisy(board: &Board, mv: Move) -> bool {
    let changes = board.after(mv).keys().material != board.keys().material;
    changes && mv.promotion().is_none_or(|role| role == Role::Queen)
}

/// Keys and the rest kept move by move are those of the position read anew.
fn assert_same(kept: &Board, read: &Board) {
    assert_eq!(kept.keys, read.keys, "{}", kept.to_fen());
    assert_eq!((kept.checkers, kept.pinned), (read.checkers, read.pinned), "{}", kept.to_fen());
    assert_eq!((kept.squares, kept.roles, kept.colors), (read.squares, read.roles, read.colors));
}

#[test]
fn foreign_moves_are_detected() {
    let mut random = Random(2002);
    for fen in [
        KIWIPETE,
        "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1",
        "rnbq1k1r/pp1Pbppp/2p5/8/2B5/8/PPP1NnPP/RNBQK2R w KQ - 1 8",
    ] {
        let mut board = board(fen);
        for _ in 0..30 {
            let mut generated = MoveList::new();
            board.generate(Stage::Noisy, &mut generated);
            board.generate(Stage::Quiet, &mut generated);
            for bits in 1..=u16::MAX {
                if let Some(mv) = Move::from_bits(bits) {
                    // The generators leave a king's illegal steps in; both sides of the comparison do.
                    assert_eq!(board.is_pseudo_legal(mv), generated.contains(&mv), "{mv:?} in {}", board.to_fen());
                }
            }
            let moves = board.legal_moves();
            if moves.is_empty() {
                break;
            }
            board = board.after(moves[random.below(moves.len())]);
        }
    }
}

#[test]
fn exchanges_are_fully_counted() {
    for (fen, text, worth) in [
        ("4k3/8/8/3p4/4P3/8/8/4K3 w - - 0 1", "e4d5", 100),
        ("4k3/8/4p3/3p4/8/8/8/3QK3 w - - 0 1", "d1d5", 100 - 950),
        ("1k1r4/1pp4p/p7/4p3/8/P5P1/1PP4P/2K1R3 w - - 0 1", "e1e5", 100),
        ("1k1r3q/1ppn3p/p4b2/4p3/8/P2N2P1/1PP1R1BP/2K1Q3 w - - 0 1", "d3e5", 100 - 320),
        ("4k3/8/8/8/3pP3/8/8/4K3 b - e3 0 1", "d4e3", 100),
        ("3rk3/2P5/8/8/8/8/8/4K3 w - - 0 1", "c7d8q", 500 + 950 - 100 - 950),
        // An x-ray: the rook behind retakes.
        ("3rk3/8/8/3p4/8/8/3R4/3RK3 w - - 0 1", "d2d5", 100),
        ("4k3/8/8/8/8/8/8/4K2R w K - 0 1", "e1g1", 0),
    ] {
        let board = board(fen);
        let mv = mv(&board, text);
        assert!(board.exchange_reaches(mv, worth), "{text} in {fen} is worth {worth}");
        assert!(!board.exchange_reaches(mv, worth + 1), "{text} in {fen} is worth only {worth}");
    }
}

#[test]
fn fen_errors_name_the_reason() {
    for (fen, error) in [
        ("", FenError::Board(String::new())),
        ("8/8/8/8/8/8/8 w - -", FenError::Board("8/8/8/8/8/8/8".to_owned())),
        ("k7/8/8/8/8/8/8/7x w - -", FenError::Board("k7/8/8/8/8/8/8/7x".to_owned())),
        ("k7/8/8/8/8/8/8/8 w - -", FenError::Kings),
        ("k6P/8/8/8/8/8/8/K7 w - -", FenError::PawnRank),
        ("k7/8/QQQQQ3/QQQQQ3/8/8/8/K7 b - -", FenError::TooManyMen),
        ("k7/8/8/8/8/8/8/K7 x - -", FenError::Turn("x".to_owned())),
        ("k7/8/8/8/8/8/8/K7 w K -", FenError::Castling("K".to_owned())),
        ("k7/8/8/8/8/8/8/K7 w - e4", FenError::EnPassant("e4".to_owned())),
        ("k7/8/8/8/8/8/8/K7 w - - many", FenError::Counter("many".to_owned())),
        ("k7/8/8/8/8/8/8/K6r b - -", FenError::OppositeCheck),
    ] {
        assert_eq!(Board::from_fen(fen).err(), Some(error), "{fen}");
    }
}

#[test]
fn no_text_makes_the_reader_panic() {
    use proptest::prelude::*;
    proptest!(|(fen in "[pnbrqkPNBRQK1-8/]{0,70} [wb-] [KQkqAHah-]{0,4} [a-h1-8-]{0,2} [0-9]{0,5}", line in ".{0,20}")| {
        if let Ok(position) = Position::from_line(&fen, true, [line.as_str()]) {
            prop_assert!(!position.board().to_fen().is_empty());
        }
        let _ = Position::from_line("startpos", false, [line.as_str()]);
    });
}

#[test]
fn repetition_is_seen_a_ply_early() {
    let line = ["g1f3", "g8f6", "f3g1"];
    let position = Position::from_line("startpos", false, line).expect("legal moves");
    let mut keys = position.past().to_vec();
    keys.push(position.board().keys().position);
    assert!(position.board().can_repeat(&keys, 4), "f6g8 goes back to the start");
    assert!(!position.board().can_repeat(&keys, 3), "the start lies before the search");
    let again = Position::from_line("startpos", false, line.into_iter().chain(["f6g8"])).expect("legal moves");
    assert_eq!(again.repetitions(), 1);
}

#[test]
fn both_castling_notations_are_read() {
    let position = Position::from_line("r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1", false, []).expect("a good FEN");
    assert_eq!(position.parse_move("e1g1"), position.parse_move("e1h1"));
    assert_eq!(position.parse_move("e1c1").map(|mv| position.move_to_uci(mv)).as_deref(), Some("e1c1"));
    for hostile in ["", "e", "e1", "e1g", "e1g1qq", "é1g1", "e1g1é", "0000"] {
        assert_eq!(position.parse_move(hostile), None, "{hostile:?}");
    }
}
