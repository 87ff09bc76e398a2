//! FICS and its relatives, as a user would see them.

mod recordings;
