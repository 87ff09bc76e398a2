//! The practice server as its clients see it: over HTTP, with an ordinary client.

extern crate concilio_practice as practice;

mod challenges;
mod client;
mod community;
mod conformance;
mod delays;
mod faults;
mod independent;
mod play;
mod streams;

fn main() -> std::process::ExitCode {
    testkit::main()
}
