//! The daemon plays on the practice server through its FICS adapter ([`daemon`]), also while connections are cut
//! ([`weather`]), it is told what to do ([`operator`]), and it is killed ([`soak`]).

mod daemon;
mod harness;
mod operator;
mod soak;
mod weather;
