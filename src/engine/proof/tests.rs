//! Proofs are true, and known results are proved.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

use super::*;
use crate::{
    Engine, EngineOptions, Limits, Score,
    board::{Board, Position},
};

use testkit::Random;

fn position(fen: &str) -> Position {
    Position::from_line(fen, false, []).unwrap_or_else(|error| panic!("{error}"))
}

fn solve(position: &Position, attack: Attack, nodes: u64) -> Verdict {
    let stop = AtomicBool::new(false);
    let mut effort = Effort::new(nodes, &stop);
    let verdict = MateSolver::new(attack, 8).solve(position, &[], nodes, &mut effort);
    assert!(effort.used() <= nodes + 256, "{} of {nodes} nodes", effort.used());
    verdict
}

fn mate(fen: &str, attack: Attack, nodes: u64) -> Option<(u32, String)> {
    let position = position(fen);
    match solve(&position, attack, nodes) {
        Verdict::Mate(mate) => Some((mate.moves, position.line_to_uci(&mate.line).join(" "))),
        Verdict::None | Verdict::Open => None,
    }
}

/// A legal position with these men on random squares.
fn placed(random: &mut Random, men: &str) -> Position {
    loop {
        let mut squares = ['1'; 64];
        for man in men.chars() {
            squares[random.below(64)] = man;
        }
        let ranks: Vec<String> = squares.chunks(8).map(|rank| rank.iter().collect()).collect();
        let turn = if random.below(2) == 0 { 'w' } else { 'b' };
        let fen = format!("{} {turn} - - 0 1", ranks.join("/"));
        if let Ok(found) = Position::from_line(&fen, false, [])
            && found.board().occupied().count() == men.len()
        {
            return found;
        }
    }
}

/// Returns a position after `plies` random moves of a game.
fn played(random: &mut Random, plies: usize) -> Position {
    let mut position = position(Position::START);
    for _ in 0..plies {
        let moves = position.legal_moves();
        if moves.is_empty() {
            break;
        }
        position.play(moves[random.below(moves.len())]);
    }
    position
}

/// Returns true if the player to move mates in `moves` moves, by trying everything.
fn mates_by_force(board: &Board, moves: u32) -> bool {
    moves > 0
        && board.legal_moves().into_iter().any(|mv| {
            let after = board.after(mv);
            let replies = after.legal_moves();
            if replies.is_empty() {
                return after.in_check();
            }
            moves > 1 && replies.into_iter().all(|reply| mates_by_force(&after.after(reply), moves - 1))
        })
}

#[test]
fn mate_in_eight_by_checks_is_found() {
    let fen = "1b5k/7P/p1p2np1/2P2p2/PP3P2/4RQ1R/q2r3P/6K1 w - - 0 1";
    let (moves, line) = mate(fen, Attack::Checks, 1_000).expect("a mate by checks");
    assert!(moves >= 8 && line.starts_with("e3e8 "), "{moves}: {line}");
    let limits = Limits { nodes: Some(5_000), ..Limits::default() };
    let mut engine = Engine::new(EngineOptions { hash: 2, ..EngineOptions::default() });
    let found = engine.search(&position(fen), &[], &limits, &AtomicBool::new(false), &mut |_| {});
    assert!(!matches!(found.expect("a move").score, Score::Mate(1..)));
}

#[test]
fn quiet_mates_are_found() {
    // The rook cuts the king off; the mate needs a quiet move.
    let fen = "7k/8/5K2/8/8/8/8/R7 w - - 0 1";
    assert_eq!(mate(fen, Attack::Checks, 10_000), None);
    let (moves, line) = mate(fen, Attack::Threats, 10_000).expect("a mate in two");
    assert_eq!((moves, line.as_str()), (2, "f6g6 h8g8 a1a8"));
    // The first mate that is found need not be the shortest.
    assert!(mate(fen, Attack::All, 10_000).is_some_and(|found| (2..=4).contains(&found.0)));
    let stop = AtomicBool::new(false);
    let mut solver = MateSolver::new(Attack::All, 1);
    solver.begin_within(Attack::All, 2);
    let verdict = solver.solve(&position(fen), &[], 10_000, &mut Effort::new(10_000, &stop));
    assert!(matches!(verdict, Verdict::Mate(Mate { moves: 2, .. })), "{verdict:?}");
}

#[test]
fn first_moves_can_be_restricted() {
    let position = position("6k1/5ppp/8/8/8/8/8/R3K2R w - - 0 1");
    let stop = AtomicBool::new(false);
    let mut solver = MateSolver::new(Attack::Checks, 1);
    let rook = position.parse_move("a1a8").expect("legal");
    let mut effort = Effort::new(1_000, &stop);
    assert!(matches!(solver.solve(&position, &[rook], 1_000, &mut effort), Verdict::Mate(_)));
    solver.begin(Attack::Checks);
    let king = position.parse_move("e1e2").expect("legal");
    assert_eq!(solver.solve(&position, &[king], 1_000, &mut effort), Verdict::None);
}

#[test]
fn draw_rules_prevent_mates() {
    assert!(mate("7k/8/5K2/8/8/8/8/R7 w - - 97 120", Attack::All, 10_000).is_some(), "mate with the hundredth ply");
    assert_eq!(mate("7k/8/5K2/8/8/8/8/R7 w - - 98 120", Attack::All, 10_000), None);
    // The position after the first move of the mate has been on the board twice.
    let back_and_forth = ["f6g6", "h8g8", "g6f6", "g8h8"];
    let moves: Vec<&str> = back_and_forth.iter().copied().cycle().take(8).collect();
    let repeated = Position::from_line("7k/8/5K2/8/8/8/8/R7 w - - 0 1", false, moves).expect("legal");
    let Verdict::Mate(other) = solve(&repeated, Attack::All, 50_000) else { panic!("there is another mate") };
    assert_ne!(format!("{:?}", other.line[0]), "f6g6");
}

#[test]
fn solver_stops_and_counts_nodes() {
    let (stop, counter) = (AtomicBool::new(true), AtomicU64::new(0));
    let mut effort = Effort::new(u64::MAX, &stop).counted_by(&counter);
    let position = position("r1bq1rk1/ppp2ppp/2n2n2/2bpp3/4P3/2PP1N2/PP1NBPPP/R1BQ1RK1 w - - 0 1");
    assert_eq!(MateSolver::new(Attack::All, 8).solve(&position, &[], u64::MAX, &mut effort), Verdict::Open);
    assert!(effort.is_over() && effort.used() < 1_000 && counter.load(Relaxed) == effort.used());
}

#[test]
fn reported_mates_are_real() {
    let mut random = Random(0x9E37_79B9_7F4A_7C15);
    let mut told = 0;
    let sets = ["KQRkp", "KRRkb", "KQNkr", "KQPPkpp", "KRBNkpp", "KQBkqp", "KRPkr"];
    for round in 0..1_400 {
        let position = if round < 1_200 {
            placed(&mut random, sets[round % sets.len()])
        } else {
            let plies = 20 + random.below(80);
            played(&mut random, plies)
        };
        for attack in [Attack::Checks, Attack::Threats, Attack::All] {
            let Verdict::Mate(mate) = solve(&position, attack, 1_500) else { continue };
            told += 1;
            let fen = position.board().to_fen();
            assert_eq!(mate.line.len() as u32, 2 * mate.moves - 1, "{fen}");
            let end = mate.line.iter().fold(position.board().clone(), |board, mv| {
                assert!(board.legal_moves().contains(mv), "{fen}: {:?}", mate.line);
                board.after(*mv)
            });
            assert!(end.in_check() && end.legal_moves().is_empty(), "{fen}: {:?} ends without mate", mate.line);
            if mate.moves <= 2 || (mate.moves == 3 && position.board().occupied().count() <= 4) {
                assert!(mates_by_force(position.board(), mate.moves), "{fen}: no mate in {}", mate.moves);
            }
        }
    }
    assert!(told > 100, "{told} mates were told");
}
