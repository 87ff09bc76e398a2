//! Verification: what home cores find about the moves that workers propose, and whether a claim can be true.
//!
//! `claims` has the rules, as pure functions; `values` has the findings, the claims in doubt and the positions with the time that
//! they may take; `verifier` is the thread that searches.

pub(crate) mod claims;
pub(crate) mod values;
pub(crate) mod verifier;
