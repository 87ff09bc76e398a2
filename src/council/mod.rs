//! Knowledge sets, rosters, criteria and the two phases.

mod settings;
pub use settings::{CouncilSettings, CriterionName, ElectorSettings};
