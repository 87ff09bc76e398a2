//! Moves in files are texts in UCI notation.

use serde::{Deserialize, Deserializer, Serializer, de::Error};

use domain::UciMove;

pub(super) fn serialize<S: Serializer>(uci: &UciMove, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(uci)
}

pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<UciMove, D::Error> {
    String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
}

/// A line of moves: one text with blanks between them.
pub(super) mod list {
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    use domain::{UciMove, moves_text};

    pub(crate) fn serialize<S: Serializer>(moves: &[UciMove], serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&moves_text(moves))
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<UciMove>, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.split_ascii_whitespace().map(|word| word.parse().map_err(D::Error::custom)).collect()
    }
}
