//! Verification: what home cores find about the moves that workers propose, and whether a claim can be true.
//!
//! `claims` has the rules, as pure functions; `values` what was found, and the claims in doubt; `positions` how much time that may take, `verifier` the thread that searches.

pub(crate) mod claims;
pub(crate) mod positions;
pub(crate) mod values;
pub(crate) mod verifier;
