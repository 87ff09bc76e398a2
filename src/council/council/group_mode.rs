//! How the groups of the first phase search, by name.

use serde::{Deserialize, Serialize};

/// How the processes of a group search one elector's position in the first phase, where there are more cores than electors.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum GroupMode {
    /// There are no groups: one core an elector.
    None,
    /// Every process searches; the one that searched most speaks for the group.
    Peer,
    /// The same, and each is hinted other root moves, so that they do not all search the same tree in the same order.
    PeerHinted,
    /// As `peer`, and the best score that one of them has found sets the aspiration window of all.
    PeerScore,
    /// PV-split within the group.
    PvSplit,
    /// Threads of one search over one table (Lazy SMP).
    #[default]
    Shared,
}

impl GroupMode {
    /// Every one that there is.
    pub const ALL: [Self; 6] = [Self::None, Self::Peer, Self::PeerHinted, Self::PeerScore, Self::PvSplit, Self::Shared];

    /// The name as it is written in the settings.
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
