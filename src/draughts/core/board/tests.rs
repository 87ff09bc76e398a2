//! The generator against known counts, the rules one by one, and an independent program.

use proptest::prelude::*;

use super::*;

fn board(fen: &str) -> Board {
    fen.parse().unwrap_or_else(|error| panic!("{fen}: {error}"))
}

fn legal(fen: &str, rules: Rules) -> Vec<String> {
    board(fen).legal_moves(rules).iter().map(Move::to_string).collect()
}

/// Leaves from the start, equal to those of independent generators.
const LEAVES: [u64; 10] = [7, 49, 302, 1_469, 7_361, 36_473, 177_532, 828_783, 3_860_875, 17_761_384];

#[test]
fn perft_to_depth_eight() {
    for (depth, leaves) in (1..).zip(LEAVES).take(8) {
        assert_eq!(Board::default().perft(depth, Rules::Official), leaves, "depth {depth}");
    }
}

#[test]
fn perft_to_depth_ten() {
    for (depth, leaves) in (1..).zip(LEAVES).skip(8) {
        assert_eq!(Board::default().perft(depth, Rules::Official), leaves, "depth {depth}");
    }
}

/// A rule, a position with White to move, moves that are legal there and moves that are not.
type RuleExample = (&'static str, &'static str, &'static [&'static str], &'static [&'static str]);

#[test]
fn each_capture_rule_matters() {
    const EXAMPLES: [RuleExample; 10] = [
        ("most pieces", "W:WK22:B11,K19,K27", &["22x15x6"], &["22x31"]),
        ("the king takes", "W:WK29,30:B26", &["29x22"], &["30x21"]),
        ("most pieces before the king", "W:WK15,32:B19,28", &["32x23x14"], &["15x22"]),
        ("most kings", "W:WK23:B19,K20", &["23x16"], &["23x14"]),
        ("a king met first", "W:WK3,K9:B5,K6", &["3x10x1"], &["9x2x11"]),
        ("a man takes three at most", "W:W14,31:B11,20,28", &["31x24x15x6"], &["14x7"]),
        ("promotion ends the move", "W:W11:B5,6", &["11x2"], &["11x2x9"]),
        (
            "a king returns to its square",
            "W:W13,K14,22:BK11,K12,19,K20",
            &["14x7x16x23x14"],
            &["14x23x16x7x14", "22x15"],
        ),
        ("kings met first, all along", "W:WK4,K11:B1,5,K6,K13,K14", &["11x18x9x2x11"], &["11x2x9x18x11"]),
        ("men do not take kings", "W:W18:BK14", &["18-13"], &["18x11"]),
    ];
    for (rule, fen, allowed, forbidden) in EXAMPLES {
        let moves = legal(fen, Rules::Official);
        assert!(allowed.iter().all(|mv| moves.contains(&(*mv).to_owned())), "{rule}: {moves:?}");
        assert!(forbidden.iter().all(|mv| !moves.contains(&(*mv).to_owned())), "{rule}: {moves:?}");
        if moves[0].contains('x') {
            assert_eq!(moves.len(), allowed.len(), "{rule}: {moves:?}");
        }
        let turned: Vec<String> =
            board(fen).rotated().legal_moves(Rules::Official).iter().map(Move::to_string).collect();
        assert_eq!(turned.len(), moves.len(), "{rule}, with the colours exchanged: {turned:?}");
    }
}

#[test]
fn relaxed_rules_count_captures() {
    assert_eq!(legal("W:WK29,30:B26", Rules::Relaxed), ["29x22", "30x21"]);
    assert_eq!(legal("W:WK23:B19,K20", Rules::Relaxed).len(), 2);
    assert_eq!(legal("W:WK22:B11,K19,K27", Rules::Relaxed), ["22x15x6"]);
}

#[test]
fn promotion_and_captures_are_applied() {
    let start = board("W:W11:B5,6");
    let after = start.after(&start.read_move("11x2", Rules::Official).expect("legal"));
    assert_eq!(after.to_string(), "B:WK2:B5");
}

#[test]
fn unambiguous_short_captures_are_read() {
    let three = board("W:W14,31:B11,20,28");
    assert_eq!(three.read_move("31x6", Rules::Official).map(|mv| mv.to_string()).as_deref(), Ok("31x24x15x6"));
    let message = three.read_move("14-9", Rules::Official).expect_err("a capture is compulsory").to_string();
    assert!(message.contains("14-9") && message.contains("31x24x15x6"), "{message}");
    let two_ways = board("W:WK22:B17,18,10,9,25,26");
    for mv in two_ways.legal_moves(Rules::Official) {
        assert_eq!(two_ways.read_move(&mv.to_string(), Rules::Official), Ok(mv));
    }
}

#[test]
fn invalid_positions_are_rejected() {
    for (fen, reason) in [
        ("W:W21", "accepted"),
        ("W:W21:W1", "accepted"),
        ("W:W33:B1", "33"),
        ("W:W21,21:B1", "twice"),
        ("W:W21:B21", "two pieces"),
        ("W:W1:B5", "promotion row"),
        ("W:W14-26:B1", "twelve"),
        ("W:W2-:B1", "2-"),
        ("è:W:B", "accepted"),
    ] {
        let message = fen.parse::<Board>().expect_err(fen).to_string();
        assert!(message.contains(reason), "{fen}: {message}");
    }
    assert_eq!(board("W:W21-32:B1-12."), Board::default());
}

/// Any position: each square empty or one of four pieces, then made legal by promoting and thinning.
pub(crate) fn any_board() -> impl Strategy<Value = Board> {
    (prop::collection::vec(prop_oneof![6 => Just(0u8), 1 => 1u8..=4], 32), any::<bool>()).prop_map(
        |(squares, white)| {
            let (mut pieces, mut kings) = ([Squares::NONE; 2], Squares::NONE);
            for (square, piece) in Square::all().zip(squares).filter(|(_, piece)| *piece > 0) {
                let color = if piece % 2 == 1 { Color::White } else { Color::Black };
                if pieces[color as usize].len() < 12 {
                    pieces[color as usize] = pieces[color as usize] | square.set();
                    if piece > 2 || color.promotion_row().has(square) {
                        kings = kings | square.set();
                    }
                }
            }
            let to_move = if white { Color::White } else { Color::Black };
            Board::new(pieces[0], pieces[1], kings, to_move).expect("made to be legal")
        },
    )
}

proptest! {
    #[test]
    fn positions_and_moves_round_trip(board in any_board()) {
        prop_assert_eq!(board.to_string().parse::<Board>(), Ok(board));
        prop_assert_eq!(board.rotated().rotated(), board);
        for mv in board.legal_moves(Rules::Official) {
            prop_assert_eq!(board.read_move(&mv.to_string(), Rules::Official), Ok(mv));
            let next = board.after(&mv);
            prop_assert_eq!(Board::new(next.pieces[0], next.pieces[1], next.kings, next.to_move), Ok(next));
        }
    }

    #[test]
    fn colours_are_alike(board in any_board()) {
        for depth in 1..=3 {
            prop_assert_eq!(board.perft(depth, Rules::Official), board.rotated().perft(depth, Rules::Official));
        }
    }

    #[test]
    fn official_captures_are_relaxed_too(board in any_board()) {
        let relaxed = board.legal_moves(Rules::Relaxed);
        let official = board.legal_moves(Rules::Official);
        prop_assert!(official.iter().all(|mv| relaxed.contains(mv)));
        prop_assert_eq!(official.is_empty(), relaxed.is_empty());
    }

    #[test]
    fn no_text_breaks_the_readers(text in "\\PC{0,40}", near in "[WBwbK0-9:,.x-]{0,30}") {
        for text in [text, near] {
            if let Ok(board) = text.parse::<Board>() {
                prop_assert_eq!(board.to_string().parse::<Board>(), Ok(board));
            }
            let _ = Board::default().read_move(&text, Rules::Official);
        }
    }
}
