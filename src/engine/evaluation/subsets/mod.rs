//! Weights of their own for those of the balanced seven (docs/method.md §3) that measured better with them.
//!
//! Weights fitted beside all others misjudge positions without the others: an instance with partial knowledge may play much
//! better with weights fitted to that part alone (docs/experiments.md). `concilio-lab tune --knowledge LETTERS` writes each file;
//! all other weights are the common ones.

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
