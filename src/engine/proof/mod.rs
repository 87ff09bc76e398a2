//! What is certain about a position: forced mates, endings that are drawn whoever moves, and what tablebases say of every move.
//!
//! Nothing here is an opinion: a claim is either proved, against every defence, or not made. Three kinds of proof:
//! - [`MateSolver`]: a forced mate, by proof-number search; whoever wants to know whether a move *loses* asks it about the
//!   opponent's attack in the position after the move;
//! - [`is_drawn`]: endings and blocked positions in which neither side can win;
//! - [`Tablebases::moves_into`](crate::Tablebases::moves_into): what the tables know of the positions after each move.
//!
//! All of it is paid from an [`Effort`], which counts the positions looked at and can be stopped.

mod attack;
mod draws;
mod effort;
mod fortress;
mod mate;
mod verify;

pub use attack::Attack;
pub use draws::is_drawn;
pub use effort::Effort;
pub use mate::{MateSolver, Verdict};
pub use verify::Mate;

#[cfg(test)]
mod tests;
