//! The daemon plays on the practice server through its FICS adapter ([`daemon`]), also while connections are cut
//! ([`weather`]), and obeys its operator ([`operator`]). It is killed in `src/lab/tests/commands/soak.rs`.

mod daemon;
mod harness;
mod names;
mod operator;
mod panics;
mod weather;
