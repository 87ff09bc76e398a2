//! Weights of their own for those of the balanced seven (docs/method.md §3) that measured better with them.
//!
//! What was fitted to stand beside everything else misjudges where the rest is missing: an instance that knows only a part
//! may play much better with weights fitted to that part alone (docs/experiments.md). Each file is written by
//! `concilio-lab tune --knowledge LETTERS`; what its instance does not count is as in the common weights.

use super::{WEIGHTS, Weights, score, terms};
use crate::knowledge::Knowledge;

mod mbkc;
mod mbxp;
mod mkcp;
mod mpar;

/// The weights of an instance with this knowledge: its own, or the common ones.
pub(super) fn weights(knowledge: Knowledge) -> &'static Weights {
    match knowledge.to_string().as_str() {
        "mpar" => &mpar::WEIGHTS,
        "mbxp" => &mbxp::WEIGHTS,
        "mbkc" => &mbkc::WEIGHTS,
        "mkcp" => &mkcp::WEIGHTS,
        _ => &WEIGHTS,
    }
}
