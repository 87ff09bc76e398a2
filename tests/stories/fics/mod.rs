//! The practice server's FICS face: as a person at a telnet sees it ([`face`]), and as the daemon plays on it through its own
//! FICS adapter ([`daemon`]), also while connections are cut ([`weather`]) and it is killed
//! ([`soak`]).

mod daemon;
mod face;
mod harness;
mod soak;
mod weather;
