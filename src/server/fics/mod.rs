//! FICS and its relatives.

pub mod codec;
pub mod timeseal;
