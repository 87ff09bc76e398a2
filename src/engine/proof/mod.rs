//! Forced mates.
//!
//! Nothing here is an opinion: a claim is either proved, against every defence, or not made. [`MateSolver`] finds a mate by
//! proof-number search; it is paid from an [`Effort`], which counts the positions visited and can be stopped.

mod attack;
mod effort;
mod mate;
mod verify;

pub use attack::Attack;
pub use effort::Effort;
pub use mate::{MateSolver, Verdict};
pub use verify::Mate;

#[cfg(test)]
mod tests;
