//! The council under a chess program, over pipes with the real binary, as a graphical interface or a match runner runs it.

mod compliance;
pub(crate) mod program;
mod runner;
mod uci;
mod xboard;
