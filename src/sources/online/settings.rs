use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use reqwest::Url;
use serde::{Deserialize, Serialize};

use util::{
    Fault,
    values::{FractionalSeconds, Seconds, SecondsOrNone, WholeNumber, WholeNumberOrNone, named},
};

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum OnlineKind {
    /// Games that others have played, by the Lichess opening explorer.
    Explorer,
    /// Evaluations that others' browsers have computed, kept by Lichess.
    Cloud,
    Chessdb,
    Tablebase,
}

impl OnlineKind {
    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::Explorer => "the opening explorer",
            Self::Cloud => "the cloud evaluation",
            Self::Chessdb => "chessdb",
            Self::Tablebase => "the online tablebase",
        }
    }

    /// Returns true if it knows openings, and so is asked only in the opening.
    pub(crate) const fn is_of_openings(self) -> bool {
        !matches!(self, Self::Tablebase)
    }
}

util::settings! {
    pub struct OnlineSettings {
        /// Services that know moves, asked in this order while the council searches; a move of theirs
        /// is played if it comes before the council has decided: "explorer" (games that others have
        /// played, by Lichess), "cloud" (evaluations that others have computed, by Lichess), "chessdb"
        /// (chessdb.cn), "tablebase" (Lichess). They learn which positions are played.
        pub sources: Vec<OnlineKind> = Vec::new(),
        /// Last ply at which opening services are asked. 0 to 1000.
        #[serde(with = "WholeNumber::<0, 1000>")]
        pub max_plies: usize = 40,
        /// Unknown positions of the bot in a row after which opening services are not asked in this
        /// game any more. 1 to 1000.
        #[serde(with = "WholeNumber::<1, 1000>")]
        pub max_out_of_book: u32 = 5,
        /// A file with a Lichess token, without any scope, for Lichess' services; the explorer wants one. Empty for none.
        pub token_file: PathBuf = PathBuf::new(),
        pub explorer: ExplorerSettings = ExplorerSettings::default(),
        pub cloud: CloudSettings = CloudSettings::default(),
        pub chessdb: ChessdbSettings = ChessdbSettings::default(),
        pub tablebase: TablebaseServiceSettings = TablebaseServiceSettings::default(),
    }
}

impl OnlineSettings {
    pub fn token_file(&self) -> Option<&Path> {
        named(&self.token_file)
    }

    /// Values that fit their keys but not the world.
    pub fn faults(&self) -> Vec<Fault> {
        let mut faults = Vec::new();
        if self.token_file().is_some_and(|file| !file.is_file()) {
            faults.push(Fault::value("token_file", "a file that exists and holds a Lichess token"));
        }
        let asks = |kind| self.sources.contains(&kind);
        if asks(OnlineKind::Explorer)
            && self.explorer.database == ExplorerDatabase::Player
            && self.explorer.player.is_empty()
        {
            faults.push(Fault::value("player", "the name of the player whose games are asked for").below("explorer"));
        }
        for (key, ServiceSettings { url, .. }) in [
            ("explorer", &self.explorer.service),
            ("cloud", &self.cloud.service),
            ("chessdb", &self.chessdb.service),
            ("tablebase", &self.tablebase.service),
        ] {
            if !url.is_empty() && address(url).is_none() {
                faults.push(Fault::value("url", ADDRESS).below("service").below(key));
            }
        }
        faults
    }
}

util::settings! {
    /// Address and limits of one service: the `service` table of each.
    pub struct ServiceSettings {
        /// Address; empty for the public one.
        pub url: String = String::new(),
        /// Least time on the bot's clock for a question, in seconds. 0 to 86400.
        #[serde(with = "Seconds::<0, 86400>")]
        pub min_time: Duration = Duration::from_secs(20),
        /// Most time on the bot's clock for a question, in seconds; `None` is no limit. 0 to 86400.
        #[serde(with = "SecondsOrNone::<0, 86400>")]
        pub max_time: Option<Duration> = None,
        /// Time to wait for an answer, in seconds; the council searches meanwhile. 0.1 to 60.
        #[serde(with = "FractionalSeconds::<100, 60_000>")]
        pub timeout: Duration = Duration::from_secs(3),
        /// The least time between two questions, of all games together, in seconds. 0 to 3600.
        #[serde(with = "FractionalSeconds::<0, 3_600_000>")]
        pub pause: Duration = Duration::from_secs(1),
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ExplorerDatabase {
    /// Titled players over the board.
    #[default]
    Masters,
    /// All players on Lichess.
    Lichess,
    /// One player on Lichess.
    Player,
}

/// The choice among the moves played before.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ExplorerSelection {
    /// Random, in proportion to the games.
    #[default]
    Weighted,
    /// The move of the most games.
    Games,
    /// The move with the best score.
    Score,
}

util::settings! {
    pub struct ExplorerSettings {
        /// Games to use: "masters", "lichess" (all players) or "player" (one).
        pub database: ExplorerDatabase = ExplorerDatabase::default(),
        /// The player, for that last database.
        pub player: String = String::new(),
        /// Choice of the move: "weighted" at random, "games" for the most played, "score" for the best
        /// score.
        pub selection: ExplorerSelection = ExplorerSelection::default(),
        /// Games that a move needs to count. 1 to 1000000000.
        #[serde(with = "WholeNumber::<1, 1_000_000_000>")]
        pub min_games: u64 = 10,
        /// The most that a move may cost, in centipawns by a short search of the built-in engine; `None` is no limit. 0 to 1000.
        #[serde(with = "WholeNumberOrNone::<0, 1000>")]
        pub max_loss: Option<i32> = None,
        pub service: ServiceSettings = ServiceSettings::default(),
    }
}

util::settings! {
    pub struct CloudSettings {
        /// The least depth of an evaluation that counts, in plies. 1 to 245.
        #[serde(with = "WholeNumber::<1, 245>")]
        pub min_depth: u32 = 20,
        /// Difference to the best move, in centipawns, up to which a move may be drawn. 0 to 1000.
        #[serde(with = "WholeNumber::<0, 1000>")]
        pub max_difference: i32 = 0,
        pub service: ServiceSettings = ServiceSettings::default(),
    }
}

util::settings! {
    pub struct ChessdbSettings {
        /// Difference to the best move, in centipawns, up to which a move may be drawn. 0 to 1000.
        #[serde(with = "WholeNumber::<0, 1000>")]
        pub max_difference: i32 = i32::default(),
        pub service: ServiceSettings = ServiceSettings::default(),
    }
}

util::settings! {
    pub struct TablebaseServiceSettings {
        /// Pieces on the board, including kings, from which on it is asked. 2 to 8.
        #[serde(with = "WholeNumber::<2, 8>")]
        pub max_pieces: usize = 7,
        pub service: ServiceSettings = ServiceSettings { min_time: Duration::from_secs(5), ..ServiceSettings::default() },
    }
}

/// The accepted forms of an address.
pub(crate) const ADDRESS: &str = "https://..., or http://... only to localhost, 127.0.0.1 or [::1]";

/// Returns the address of a service, if the connection is private.
pub(crate) fn address(text: &str) -> Option<Url> {
    let url: Url = text.parse().ok()?;
    let is_here = matches!(url.host_str()?, "localhost" | "127.0.0.1" | "[::1]");
    (url.scheme() == "https" || url.scheme() == "http" && is_here).then_some(url)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_http_is_local_only() {
        for good in ["https://lichess.org", "http://127.0.0.1:9663", "http://[::1]:80/below"] {
            assert!(address(good).is_some(), "{good}");
        }
        for bad in ["lichess.org", "http://lichess.org", "ftp://localhost", ""] {
            assert!(address(bad).is_none(), "{bad}");
        }
    }
}
