//! The practice server as its clients see it: over HTTP, with an ordinary client.

mod challenges;
mod client;
mod conformance;
mod faults;
mod independent;
mod play;
mod streams;
