//! A kit of attacks on a daemon: what a hostile worker says (`script`), and how it says it over NATS (`worker`). The tests and the example
//! programs have it from here.

// None of them uses all of it.
#![allow(dead_code, unreachable_pub)]

pub mod script;
pub mod worker;

pub use script::{Attack, Knows, Proposed, Says, claims};
