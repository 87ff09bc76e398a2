//! A whole conversation with the council in the Universal Chess Interface: nothing that a program says panics, and the end of its words ends the
//! program. The council answers at once, so that the words are what is tried. Run with `cargo +nightly fuzz run uci_input`.

#![no_main]

use std::io::Cursor;

use concilio::frontend::{Setup, uci};
use council::{CouncilSettings, clock::ClockSettings};
use libfuzzer_sys::fuzz_target;

/// What a conversation is made of. Left out is what takes memory, touches files or searches for long.
const COMMANDS: &[&str] = &[
    "",
    "uci",
    "isready",
    "ucinewgame",
    "position startpos moves",
    "position fen",
    "position fen rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1 moves",
    "position",
    "go",
    "go nodes 10",
    "go searchmoves",
    "go wtime 100 btime 100",
    "go infinite",
    "go ponder",
    "stop",
    "ponderhit",
    "debug",
    "setoption name UCI_Chess960 value",
    "setoption name Move",
    "d",
    "eval",
    "register",
];

fuzz_target!(|conversation: Vec<(u8, String)>| {
    let lines = conversation.iter().map(|(number, rest)| {
        let command = COMMANDS[usize::from(*number) % COMMANDS.len()];
        format!("{command} {}\n", rest.replace('\n', " "))
    });
    let text: String = lines.collect();
    let council = CouncilSettings { roster: "trivial".to_owned(), hash: 1, ..CouncilSettings::default() };
    let setup = Setup { cores: 1, ..Setup::new(council, &ClockSettings::default()) };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(uci::run(Cursor::new(text), std::io::sink(), setup)).expect("a sink takes everything");
});
