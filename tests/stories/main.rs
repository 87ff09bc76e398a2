//! The program's promises, told as stories: the whole of it plays over real sockets, and pipes, against real servers and
//! engines, while something goes wrong.
//!
//! - [`lichess`]: the daemon on the practice server, by the Lichess Bot API, with its promises in order;
//! - [`fics`]: the same over FICS;
//! - [`cluster`]: workers on other machines, with a real NATS server;
//! - [`frontend`]: the council under chess programs, by UCI and CECP;
//! - [`report`]: games played are studied, by our engine and by others;
//! - [`page`]: the page in a browser;
//! - [`command_line`]: output, exit codes, signals and the terminal.

mod cluster;
mod command_line;
mod fics;
mod frontend;
mod lichess;
mod page;
mod panics;
mod report;

fn main() -> std::process::ExitCode {
    testkit::main()
}
