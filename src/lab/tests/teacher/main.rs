//! Stockfish's net, read by the lab, against Stockfish itself.

use std::{
    io::Write,
    path::Path,
    process::{Command, Stdio},
};

use concilio_lab::training::value_net::{ValueNet, Valuer};
use engine::Board;
use testkit::needs::STOCKFISH;

fn main() -> std::process::ExitCode {
    testkit::main()
}

/// Not after many moves without a capture, and none that are far from equal: there Stockfish adds more.
const POSITIONS: [&str; 6] = [
    "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
    "r3k2r/pppq1ppp/2npbn2/4p3/2B1P3/2NP1N2/PPPQ1PPP/R3K2R b KQkq - 0 9",
    "8/8/1K6/1P6/8/4k3/8/8 w - - 0 60",
    "2r3k1/5ppp/p7/1p6/3P4/P4N2/1P3PPP/6K1 w - - 0 30",
    "1k1r3r/ppp2ppp/2n1bn2/3p4/3P4/2N1BN2/PPPQ1PPP/2K1R2R b - - 0 12",
    "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1",
];

fn stockfish(folder: &Path, commands: &str) -> String {
    let mut program = Command::new(STOCKFISH.path());
    program.current_dir(folder).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut program = program.spawn().expect("it starts");
    program.stdin.take().expect("a pipe").write_all(commands.as_bytes()).expect("it listens");
    let output = program.wait_with_output().expect("it ends");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[testkit::test(needs(STOCKFISH))]
fn values_are_those_of_stockfish() {
    let folder = tempfile::tempdir().expect("a folder");
    stockfish(folder.path(), "export_net its.nnue\nquit\n");
    let net = ValueNet::read(&folder.path().join("its.nnue")).expect("a net");
    let mut valuer = Valuer::new(&net);
    for fen in POSITIONS.iter().chain(POSITIONS.iter().rev()) {
        let said = stockfish(folder.path(), &format!("position fen {fen}\neval\nquit\n"));
        let line = said.lines().find(|line| line.starts_with("Final evaluation")).expect("an evaluation");
        let white: f64 = line.split_whitespace().nth(2).and_then(|number| number.parse().ok()).expect(line);
        let board = Board::from_fen(fen).expect("a position");
        let value = f64::from(valuer.value(&board) * board.turn().sign());
        // It prints hundredths of a pawn, and mixes a little of the hand-written evaluation into a few.
        assert!((value - 100.0 * white).abs() < 2.0 + white.abs() * 4.0, "{fen}: {value}, {line}");
    }
}

fn concilio_lab(folder: &Path, arguments: &str) -> String {
    let mut program = Command::new(env!("CARGO_BIN_EXE_concilio-lab"));
    let output = program.current_dir(folder).args(arguments.split(' ')).output().expect("it starts");
    assert!(output.status.success(), "{arguments}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[testkit::test(needs(STOCKFISH))]
fn net_learns_from_its_values() {
    let folder = tempfile::tempdir().expect("a folder");
    let run = |arguments: &str| concilio_lab(folder.path(), arguments);
    stockfish(folder.path(), "export_net its.nnue\nquit\n");
    run("data --output games --games 16 --games-per-file 4 --nodes 30");
    let shuffled = |name: &str, more: &str| {
        let said = run(&format!("shuffle games --teacher-net its.nnue --output {name} {more}"));
        let numbers = said.split_whitespace().filter_map(|word| word.parse::<usize>().ok());
        numbers.sum::<usize>()
    };
    let (alone, around) = (shuffled("alone", "--around 0"), shuffled("around", "--around 6 --threads 1"));
    assert!(alone > 100 && around > 2 * alone, "{alone}, {around}");
    assert_eq!(shuffled("by-two", "--threads 2"), around);
    // Only the teacher's labels count, so every position has one.
    run("train around --labels own=0,result=0 --epochs 1 --output its.net");
}

#[testkit::test]
fn foreign_net_is_one_clear_error() {
    let folder = tempfile::tempdir().expect("a folder");
    for content in [&b"no net"[..], &0x7AF3_2F20_u32.to_le_bytes()] {
        let path = folder.path().join("some.nnue");
        std::fs::write(&path, content).expect("writable");
        let error = ValueNet::read(&path).err().expect("no net").to_string();
        assert!(error.contains("export_net") && error.lines().count() == 1, "{error}");
    }
}
