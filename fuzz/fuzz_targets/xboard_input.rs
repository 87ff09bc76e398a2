//! A whole conversation with the council in the Chess Engine Communication Protocol: nothing that a program says panics, and the end of its words ends the
//! program. The council answers at once, so that the words are what is tried. Run with `cargo +nightly fuzz run xboard_input`.

#![no_main]

use std::io::Cursor;

use concilio::frontend::{Setup, xboard};
use council::{CouncilSettings, clock::ClockSettings};
use libfuzzer_sys::fuzz_target;

/// What a conversation is made of. Left out is what takes memory, touches files or searches for long.
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
    let lines = conversation.iter().map(|(number, rest)| {
        let command = COMMANDS[usize::from(*number) % COMMANDS.len()];
        format!("{command} {}\n", rest.replace('\n', " "))
    });
    let text: String = lines.collect();
    let council = CouncilSettings { roster: "trivial".to_owned(), hash: 1, ..CouncilSettings::default() };
    let setup = Setup { cores: 1, ..Setup::new(council, &ClockSettings::default()) };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    runtime.block_on(xboard::run(Cursor::new(text), std::io::sink(), setup)).expect("a sink takes everything");
});
