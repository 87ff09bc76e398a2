//! A whole conversation with the council in the Universal Chess Interface: nothing that a program says panics, and the end of its words ends the
//! program. Run with `cargo +nightly fuzz run uci_input`.

#![no_main]

use concilio::frontend::uci;
use concilio_fuzz::{block_on, council, lines};
use libfuzzer_sys::fuzz_target;

/// Commands of a conversation, without those that take memory, touch files or search for long.
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
    block_on(async { uci::run(lines(COMMANDS, &conversation), std::io::sink(), council()) });
});
