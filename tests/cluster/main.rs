//! Workers on other machines, with a real NATS server that each story starts on a free port, and real worker processes. Whatever
//! becomes of them, every move is made in time and is legal.
//!
//! The server is Debian's package `nats-server`.

mod company;
mod deploy;
mod doors;
mod elasticity;
#[allow(dead_code, reason = "the stage of another test; only a part of it is played on")]
#[path = "../survive/harness.rs"]
mod harness;
mod impostors;
mod losses;
mod processes;
#[allow(dead_code, reason = "the program of another test; only a part of it is needed")]
#[path = "../face/program.rs"]
mod program;
mod proxy;
mod table;
