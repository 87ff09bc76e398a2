//! The legal captures of ten thousand random positions beside those of an independent program, the Python package
//! `pydraughts`.

use std::{
    collections::BTreeSet,
    io::Write,
    process::{Command, Stdio},
};

use concilio_draughts_core::board::{Board, Color, Move, Rules, Square, Squares};

const POSITIONS: usize = 10_000;

/// Reads positions, writes for each its captures: first square, last square, taken squares in their order.
const SCRIPT: &str = "
import sys
from draughts.core.game import Game
for fen in sys.stdin:
    moves = []
    for steps, taken in zip(*Game('italian', fen.strip()).legal_moves()):
        moves.append(' '.join(map(str, [steps[0][0], steps[-1][1]] + list(taken))))
    print(','.join(sorted(set(moves))))
";

/// A capture in the words of the script.
fn words(mv: &Move) -> String {
    let between = |pair: &[Square]| {
        let near = |square: Square| {
            concilio_draughts_core::board::Direction::ALL.into_iter().filter_map(move |way| square.step(way)).collect()
        };
        let (one, other): (Squares, Squares) = (near(pair[0]), near(pair[1]));
        (one & other & mv.taken()).next().expect("a jump takes a piece")
    };
    let taken = mv.squares().windows(2).map(between);
    [mv.from(), mv.to()].into_iter().chain(taken).map(|square| square.to_string()).collect::<Vec<_>>().join(" ")
}

/// Positions of one to twelve pieces a side, more kings than games have, in which captures are compulsory.
fn positions() -> Vec<Board> {
    let mut state = 2010_u64;
    let mut below = |bound: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % bound
    };
    let mut boards = Vec::new();
    while boards.len() < POSITIONS {
        let (mut pieces, mut kings) = ([Squares::NONE; 2], Squares::NONE);
        let kings_in_ten = below(10);
        for color in [Color::White, Color::Black] {
            for _ in 0..1 + below(12) {
                let square = Square::new(1 + below(32) as u8).expect("on the board");
                if (pieces[0] | pieces[1]).has(square) {
                    continue;
                }
                pieces[color as usize] = pieces[color as usize] | square.set();
                if below(10) < kings_in_ten || color.promotion_row().has(square) {
                    kings = kings | square.set();
                }
            }
        }
        let to_move = if below(2) == 0 { Color::White } else { Color::Black };
        boards.extend(Board::new(pieces[0], pieces[1], kings, to_move).ok().filter(Board::must_capture));
    }
    boards
}

#[testkit::test(needs(PYTHON_DRAUGHTS))]
fn captures_are_those_of_pydraughts() {
    let boards = positions();
    let mut child = Command::new(testkit::needs::PYTHON_DRAUGHTS.path())
        .args(["-c", SCRIPT])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the interpreter starts");
    let mut input = child.stdin.take().expect("piped");
    let fens: String = boards.iter().map(|board| format!("{board}\n")).collect();
    let writer = std::thread::spawn(move || input.write_all(fens.as_bytes()));
    let output = child.wait_with_output().expect("the interpreter ends");
    writer.join().expect("the writer ends").expect("the interpreter reads");
    let answers = String::from_utf8(output.stdout).expect("text");
    assert_eq!(answers.lines().count(), POSITIONS, "one answer a position");

    let mut finer = 0;
    for (board, answer) in boards.iter().zip(answers.lines()) {
        let ours: BTreeSet<String> = board.legal_moves(Rules::Official).iter().map(words).collect();
        let theirs: BTreeSet<String> = answer.split(',').map(str::to_owned).collect();
        // If the first kings come equally early, it does not compare the second: see the priorities
        // in `generate`.
        let kings_met = |capture: &String| -> Vec<bool> {
            let taken = capture.split(' ').skip(2).map(|number| number.parse().ok().and_then(Square::new));
            taken.map(|square| board.kings(!board.to_move()).has(square.expect("a square"))).collect()
        };
        let earliest = theirs.iter().map(kings_met).max();
        let asked: BTreeSet<String> =
            theirs.iter().filter(|capture| Some(kings_met(capture)) == earliest).cloned().collect();
        assert_eq!(ours, asked, "{board}");
        finer += usize::from(asked != theirs);
    }
    println!("{POSITIONS} positions, {finer} of them decided by a later king that the other program does not look at");
    assert!(finer < POSITIONS / 100, "{finer} positions differ");
}

fn main() -> std::process::ExitCode {
    testkit::main()
}
