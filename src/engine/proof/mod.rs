//! Forced mates.
//!
//! Every claim is proved against every defence. [`MateSolver`] finds a mate by proof-number search, within an [`Effort`], which
//! counts the positions and can be stopped.

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
