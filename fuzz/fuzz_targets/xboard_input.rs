//! A whole conversation with the council in the Chess Engine Communication Protocol: nothing that a program says panics, and the end of its words ends the
//! program. Run with `cargo +nightly fuzz run xboard_input`.

#![no_main]

use concilio::frontend::xboard;
use concilio_fuzz::{block_on, council, lines};
use libfuzzer_sys::fuzz_target;

/// Commands of a conversation, without those that take memory, touch files or search for long.
const COMMANDS: &[&str] = &[
    "",
    "xboard",
    "protover",
    "ping",
    "new",
    "variant",
    "setboard",
    "edit",
    "usermove",
    "undo",
    "remove",
    "result",
    "draw",
    "force",
    "go",
    "playother",
    "white",
    "black",
    "hard",
    "easy",
    "post",
    "random",
    "computer",
    "name",
    "rating",
    "pause",
    "resume",
    "analyze",
    "exit",
    "level",
    "st",
    "gamein",
    "time",
    "otim",
    "sd",
    "nps",
    "bd",
    "list",
    "hint",
    "bk",
    "eval",
    "p",
    "first",
    "switch",
    "both",
    "options",
    "debug",
    "coords",
    "reverse",
    "?",
    ".",
    "quit",
];

fuzz_target!(|conversation: Vec<(u8, String)>| {
    let talk = xboard::run(lines(COMMANDS, &conversation), std::io::sink(), council());
    block_on(talk).expect("a sink takes everything");
});
