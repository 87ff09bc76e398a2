//! Weights of their own for the balanced seven (METHOD.md §3).
//!
//! What was fitted to stand beside everything else misjudges where the rest is missing: an instance that knows only a part
//! plays much better with weights fitted to that part alone (docs/experiments.md). Each file is written by
//! `concilio lab tune --knowledge LETTERS`; what its instance does not count is as in the common weights.

use super::{WEIGHTS, Weights, score, terms};
use crate::knowledge::Knowledge;

mod mbkc;
mod mbxk;
mod mbxp;
mod mcar;
mod mkcp;
mod mpar;
mod mxar;

/// The weights of an instance with this knowledge: its own, or the common ones.
pub fn weights(knowledge: Knowledge) -> &'static Weights {
    match knowledge.to_string().as_str() {
        "mpar" => &mpar::WEIGHTS,
        "mbxp" => &mbxp::WEIGHTS,
        "mbkc" => &mbkc::WEIGHTS,
        "mxar" => &mxar::WEIGHTS,
        "mkcp" => &mkcp::WEIGHTS,
        "mcar" => &mcar::WEIGHTS,
        "mbxk" => &mbxk::WEIGHTS,
        _ => &WEIGHTS,
    }
}
