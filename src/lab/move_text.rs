//! Moves in files are texts in UCI notation.

use serde::{Deserialize, Deserializer, Serializer, de::Error};

use crate::chess::UciMove;

pub(super) fn serialize<S: Serializer>(uci: &UciMove, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(uci)
}

pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<UciMove, D::Error> {
    String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
}
