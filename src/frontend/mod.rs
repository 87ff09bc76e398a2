//! The council under any chess program: graphical interfaces and match runners.
//!
//! ```text
//! program ──lines──▶ uci | xboard ──requests──▶ engine_session ──▶ player ──▶ council
//!         ◀──lines──              ◀──events──────────────────────────┘
//! ```
//! Two languages over one [`Setup`]: the Universal Chess Interface ([`uci`]) and the Chess Engine
//! Communication Protocol, version 2, with the console commands of GNU Chess 4.0 ([`xboard`]). The
//! session of UCI is that of the engine alone. The moves come from the same player as online, so the daemon and a match runner measure
//! the same thing.
//!
//! Invariants:
//! - wrong input changes nothing and is answered with one line that names the problem;
//! - every request for a move is answered with exactly one legal move;
//! - the end of the input ends the program: a bounded search is finished first, an endless one
//!   stopped.

mod board;
mod engine_session;
mod options;
mod search_progress;
mod setup;
pub mod uci;
pub mod xboard;

pub use setup::Setup;

use std::{
    io::{self, BufRead},
    thread,
};

use tokio::sync::mpsc;

/// Reads the lines of `input` on a thread of its own: a pipe can only be waited for. Bytes that are no UTF-8 are replaced.
fn lines_of(input: impl BufRead + Send + 'static) -> io::Result<mpsc::UnboundedReceiver<String>> {
    let (lines, inbox) = mpsc::unbounded_channel();
    let reader = move || {
        for line in input.split(b'\n') {
            // An input that cannot be read any more has ended.
            let Ok(line) = line else { return };
            if lines.send(String::from_utf8_lossy(&line).trim().to_owned()).is_err() {
                return;
            }
        }
    };
    thread::Builder::new().name("input".to_owned()).spawn(reader)?;
    Ok(inbox)
}
