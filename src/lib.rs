//! concilio: a chess player for internet chess servers that picks its moves by distributed knowledge.

pub mod chess;
pub mod clock;
pub mod council;
pub mod engine;
pub mod policy;
pub mod pool;
pub mod server;
