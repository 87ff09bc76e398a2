//! A kit of attacks on a daemon: what a hostile worker says (`script`), and how it says it over NATS (`worker`).

mod script;
#[cfg(feature = "cluster")]
pub mod worker;

pub use script::{Attack, Claim, Knows, Proposed, Says, claims};
