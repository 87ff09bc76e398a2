//! ResponseTime, ExtraTime, the phase split, measured lag.

use serde::{Deserialize, Serialize};

/// How time is spent.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ClockSettings {}
