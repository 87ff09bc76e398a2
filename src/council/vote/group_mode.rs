//! The search of groups in the first phase.

use serde::{Deserialize, Serialize};

/// The search of a group's processes for one elector in the first phase, if there are more cores
/// than electors.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum GroupMode {
    /// No groups: one core an elector.
    None,
    /// Every process searches; the deepest exact result counts for the group.
    Peer,
    /// `Peer` with different root moves as hints, so that the processes search in different orders.
    PeerHinted,
    /// `Peer`, and the best score found sets the aspiration window of all.
    PeerScore,
    PvSplit,
    /// Threads of one search over one table (Lazy SMP).
    #[default]
    Shared,
}

impl GroupMode {
    pub const ALL: [Self; 6] = [Self::None, Self::Peer, Self::PeerHinted, Self::PeerScore, Self::PvSplit, Self::Shared];

    pub const fn word(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Peer => "peer",
            Self::PeerHinted => "peer-hinted",
            Self::PeerScore => "peer-score",
            Self::PvSplit => "pv-split",
            Self::Shared => "shared",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_settings_use_the_same_words() {
        for mode in GroupMode::ALL {
            let value = toml::Value::try_from(mode).expect("a word");
            assert_eq!(value.as_str(), Some(mode.word()));
        }
    }
}
