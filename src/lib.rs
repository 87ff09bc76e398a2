//! concilio: a chess player for internet chess servers that picks its moves by distributed knowledge.

pub mod chess;
pub mod cli;
pub mod clock;
pub mod council;
pub mod engine;
pub mod journal;
pub mod lab;
pub mod policy;
pub mod pool;
pub mod practice;
pub mod server;
pub mod session;
pub mod settings;
