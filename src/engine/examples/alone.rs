//! The engine alone as a UCI program: `cargo run --release -p concilio-engine --example alone`.
//!
//! It is what `concilio uci --single` serves, without the rest of concilio around it: small to build, and enough for
//! `bench`, `perft` and matches between two states of the engine.

use std::io;

fn main() {
    concilio_engine::uci::run(io::stdin().lock(), io::stdout());
}
