//! The daemon plays on the practice server through its FICS adapter ([`daemon`]), also while connections are cut
//! ([`weather`]) and it is killed ([`soak`]).

mod daemon;
mod harness;
mod soak;
mod weather;
