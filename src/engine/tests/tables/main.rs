//! Tests with Syzygy tables of up to four men.

use std::sync::atomic::AtomicBool;

use concilio_engine::{
    Board, Engine, EngineOptions, Iteration, Limits, Outcome, Position, Score, Tablebases,
    evaluation::offset,
    proof::{Attack, Effort, MateSolver, Verdict},
};

use testkit::Random;

fn main() -> std::process::ExitCode {
    testkit::main()
}

fn tables() -> Tablebases {
    Tablebases::open(testkit::needs::SYZYGY.path().to_str().expect("a path in UTF-8")).expect("readable tables")
}

fn position(fen: &str) -> Position {
    Position::from_line(fen, false, []).unwrap_or_else(|error| panic!("{error}"))
}

/// A FEN with these men on their squares, counted from a8 along the ranks.
fn fen(men: &[(usize, char)], turn: char) -> String {
    let mut squares = ['1'; 64];
    for &(square, man) in men {
        squares[square] = man;
    }
    let ranks: Vec<String> = squares.chunks(8).map(|rank| rank.iter().collect()).collect();
    format!("{} {turn} - - 0 1", ranks.join("/"))
}

#[testkit::test(needs(SYZYGY))]
fn known_endings_are_known() {
    let tables = tables();
    assert!(!tables.is_empty());
    for (fen, expected) in [
        ("8/8/8/8/8/2k5/2p5/2K5 w - - 0 1", Outcome::Draw),
        ("8/8/8/3k4/8/8/2Q1K3/8 w - - 0 1", Outcome::Win),
        ("8/8/8/3k4/8/8/2Q1K3/8 b - - 0 1", Outcome::Loss),
        ("8/8/8/3k4/8/8/2NNK3/8 w - - 0 1", Outcome::Draw),
    ] {
        let position = position(fen);
        assert!(tables.covers(position.board()), "{fen}");
        assert_eq!(tables.outcome(position.board()), Some(expected), "{fen}");
    }
}

#[testkit::test(needs(SYZYGY))]
fn best_moves_keep_the_draw() {
    let position = position("8/8/8/3k4/8/3K4/3P4/8 w - - 0 1");
    let settled = tables().settle(&position, &position.legal_moves(), true).expect("three men");
    assert_eq!(settled.outcome, Outcome::Draw);
    assert!(!settled.moves.is_empty());
}

#[testkit::test(needs(SYZYGY))]
fn quickest_wins_are_among_the_wins() {
    let tables = tables();
    let position = position("8/8/8/3k4/8/8/2Q1K3/8 w - - 0 1");
    let [all, quickest] =
        [false, true].map(|quickest| tables.settle(&position, &position.legal_moves(), quickest).expect("three men"));
    assert_eq!(all.outcome, Outcome::Win);
    let (all, quickest) = (all.moves, quickest.moves);
    assert!(quickest.iter().all(|mv| all.contains(mv)) && quickest.len() < all.len(), "{quickest:?} of {all:?}");
}

/// The evaluation knows king and pawn against king without tables.
#[testkit::test(needs(SYZYGY))]
fn pawn_endings_match_the_tables() {
    let tables = tables();
    let mut compared = 0;
    // On the other files all is mirrored.
    for pawn in (8..56).filter(|square| square % 8 < 4) {
        for king in 0..64 {
            for bare_king in 0..64 {
                for turn in ['w', 'b'] {
                    let fen = fen(&[(pawn, 'P'), (king, 'K'), (bare_king, 'k')], turn);
                    let Ok(board) = Board::from_fen(&fen) else { continue };
                    if board.occupied().count() < 3 {
                        continue;
                    }
                    // The tables lack checks that no move can give.
                    let Some(outcome) = tables.outcome(&board) else { continue };
                    // Hundreds of centipawns where the pawn wins, and only the right to move where it does not.
                    assert_eq!(offset(&board) > 200, outcome != Outcome::Draw, "{fen}");
                    compared += 1;
                }
            }
        }
    }
    assert!(compared > 160_000, "only {compared} positions");
}

/// A legal position with these men on random squares.
fn placed(random: &mut Random, men: &str) -> Position {
    loop {
        let squares: Vec<(usize, char)> = men.chars().map(|man| (random.below(64), man)).collect();
        let turn = if random.below(2) == 0 { 'w' } else { 'b' };
        if let Ok(found) = Position::from_line(&fen(&squares, turn), false, [])
            && found.board().occupied().count() == men.len()
        {
            return found;
        }
    }
}

#[testkit::test(needs(SYZYGY))]
fn proofs_agree_with_the_tables() {
    let tables = tables();
    let mut random = Random(0x2545_F491_4F6C_DD1D);
    let mut mates = 0;
    for round in 0..2_000 {
        let position = placed(&mut random, ["KPk", "KBPk", "KPPk", "KQk", "KRk", "KBBk", "KBkb", "Kkpb"][round % 8]);
        let board = position.board();
        let stop = AtomicBool::new(false);
        let mut effort = Effort::new(1_000, &stop);
        if let Verdict::Mate(_) = MateSolver::new(Attack::All, 8).solve(&position, &[], 1_000, &mut effort) {
            // The tables lack checks that no move can give.
            assert_eq!(tables.outcome(board).unwrap_or(Outcome::Win), Outcome::Win, "{}", board.to_fen());
            mates += 1;
        }
    }
    assert!(mates > 10, "{mates} mates");
}

fn search(fen: &str, depth: u32) -> Iteration {
    let options = EngineOptions { hash: 1, contempt: 0, tablebases: Some(tables()), ..EngineOptions::default() };
    let limits = Limits { depth: Some(depth), ..Limits::default() };
    let found = Engine::new(options).search(&position(fen), &[], &limits, &AtomicBool::new(false), &mut |_| {});
    found.unwrap_or_else(|| panic!("{fen} has legal moves"))
}

#[testkit::test(needs(SYZYGY))]
fn search_finds_distant_table_wins() {
    // The pawn queens by force, far beyond the horizon of a few plies.
    let score = search("8/8/1K6/1P6/8/4k3/8/8 w - - 0 1", 4).score;
    assert!(matches!(score, Score::Cp(10_000..) | Score::Mate(1..)), "{score:?}");
}

#[testkit::test(needs(SYZYGY))]
fn search_shows_the_table_result() {
    for (fen, expected) in [
        // No mate is in reach of a ply, and nothing is taken before it.
        ("8/8/8/3k4/8/8/2Q1K3/8 w - - 0 1", 19_000..20_000),
        ("8/8/8/3k4/8/8/2Q1K3/8 b - - 0 1", -19_999..-18_999),
        ("8/8/8/3k4/8/8/2NNK3/8 w - - 0 1", 0..1),
    ] {
        let found = search(fen, 1);
        assert!(matches!(found.score, Score::Cp(cp) if expected.contains(&cp)), "{fen}: {:?}", found.score);
        assert!(found.tablebase_hits >= position(fen).legal_moves().len() as u64, "{fen}");
    }
}
