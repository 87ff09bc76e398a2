//! The daemon plays on the practice server through its FICS adapter ([`daemon`]), also while connections are cut
//! ([`weather`]).

mod daemon;
mod harness;
mod weather;
