use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

util::settings! {
    /// The `journal` table: where games are kept.
    #[derive(Eq)]
    pub struct JournalSettings {
        /// The database of games, moves and proposals; it and its folder are made where they do not
        /// exist.
        pub path: PathBuf = PathBuf::from("data/journal.db"),
        /// Folder of PGN files; empty writes none.
        pub pgn_directory: PathBuf = PathBuf::from("data/pgn"),
        /// Games that share a PGN file: none (each "game" has its own), those against the same
        /// "opponent", or "all".
        pub pgn_grouping: PgnGrouping = PgnGrouping::default(),
    }
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
