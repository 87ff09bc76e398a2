//! Fitting what a council goes by: the genetic algorithm as it was published, a rule learned from proposals and an oracle,
//! and stochastic approximation on games. Each gives a fragment of settings.

pub mod genetic;
pub mod selector;
pub mod spsa;
