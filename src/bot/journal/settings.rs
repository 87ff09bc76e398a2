use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

/// The `journal` table: where games are kept.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct JournalSettings {
    /// The database of games, moves and proposals; it and its folder are made where they do not
    /// exist.
    pub path: PathBuf,
    /// Folder of PGN files; empty writes none.
    pub pgn_directory: PathBuf,
    /// Games that share a PGN file: none (each "game" has its own), those against the same
    /// "opponent", or "all".
    pub pgn_grouping: PgnGrouping,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PgnGrouping {
    /// One file a game.
    #[default]
    Game,
    /// One file an opponent.
    Opponent,
    /// One file for all games.
    All,
}

impl JournalSettings {
    pub fn in_folder(folder: &Path) -> Self {
        Self { path: folder.join("journal.db"), pgn_directory: folder.join("pgn"), ..Self::default() }
    }
}

impl Default for JournalSettings {
    fn default() -> Self {
        Self {
            path: PathBuf::from("data/journal.db"),
            pgn_directory: PathBuf::from("data/pgn"),
            pgn_grouping: PgnGrouping::default(),
        }
    }
}
