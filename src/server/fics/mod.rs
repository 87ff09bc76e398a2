//! FICS and its relatives.

pub mod codec;
pub mod login;
pub mod message;
pub mod settings;
pub mod setup;
pub mod timeseal;
