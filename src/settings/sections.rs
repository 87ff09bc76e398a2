//! The tables of the settings that belong to no other room.

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use serde::Deserialize;

pub use bot::session::ShutdownGames;

use bot::policy::{AbortSettings, ClaimSettings, DrawSettings, ResignSettings};
use chess::values::{seconds, seconds_or_none, whole, whole_or_none};
use council::{clock::ClockSettings, council::CouncilSettings};
use server::{
    fics::FicsSettings,
    lichess::{LichessSettings, ServerUrlError},
};

/// A `servers.NAME` table: an account we play with.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ServerSettings {
    /// Whether we connect to it.
    pub enabled: bool,
    /// Its language.
    pub protocol: Protocol,
    /// Where it is; empty is the usual place of its protocol.
    pub url: String,
    /// The file that holds the token, and nothing else; empty for none.
    pub token_file: PathBuf,
    /// What only FICS has.
    pub fics: FicsSettings,
}

impl Default for ServerSettings {
    fn default() -> Self {
        Self {
            enabled: true,
            protocol: Protocol::default(),
            url: String::new(),
            token_file: PathBuf::new(),
            fics: FicsSettings::default(),
        }
    }
}

impl ServerSettings {
    /// The file of the token, if one is named.
    pub fn token_file(&self) -> Option<&Path> {
        (!self.token_file.as_os_str().is_empty()).then_some(&self.token_file)
    }

    /// The settings of the Lichess adapter.
    ///
    /// # Errors
    /// [`ServerUrlError`] if `url` is no address a token may be sent to.
    pub fn lichess(&self) -> Result<LichessSettings, ServerUrlError> {
        Ok(LichessSettings { url: self.address().parse()?, ..LichessSettings::default() })
    }

    /// The settings of the FICS adapter. `url`, where it is not empty, says host and port.
    ///
    /// # Errors
    /// [`FicsAddressError`] if `url` is not `HOST:PORT`.
    pub fn fics(&self) -> Result<FicsSettings, FicsAddressError> {
        let mut settings = self.fics.clone();
        if !self.url.is_empty() {
            let wrong = || FicsAddressError(self.url.clone());
            let (host, port) = self.url.rsplit_once(':').ok_or_else(wrong)?;
            settings.host = host.trim_matches(['[', ']']).to_owned();
            settings.port = port.parse().ok().filter(|port| *port != 0).ok_or_else(wrong)?;
            if settings.host.is_empty() || settings.host.contains(['/', ' ']) {
                return Err(wrong());
            }
        }
        Ok(settings)
    }

    /// Where it is.
    pub fn address(&self) -> &str {
        match (self.url.as_str(), self.protocol) {
            ("", Protocol::Lichess) => "https://lichess.org",
            ("", Protocol::Fics) => "freechess.org:5000",
            (url, _) => url,
        }
    }
}

/// A text that is no address of a FICS.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is no address of a FICS: expected HOST:PORT, such as freechess.org:5000")]
pub struct FicsAddressError(String);

/// A server's language.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Protocol {
    /// The Lichess Bot API.
    #[default]
    Lichess,
    /// The Free Internet Chess Server's.
    Fics,
}

/// The `player` table: how a game is played. Every profile overrides a part of it.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PlayerSettings {
    /// Who proposes and how one is elected.
    pub council: CouncilSettings,
    /// How time is spent.
    pub clock: ClockSettings,
    /// Bounds on every search.
    pub limits: LimitSettings,
    /// The opening book.
    pub book: BookSettings,
    /// Endgame tablebases.
    pub tablebases: TablebaseSettings,
    /// When draws are offered and accepted.
    pub draw: DrawSettings,
    /// When we resign.
    pub resign: ResignSettings,
    /// How many of the replies that we expect are thought about in the opponent's time, spread over the electors; never in
    /// correspondence games. 0 to 8.
    #[serde(deserialize_with = "whole::<0, 8, _, _>")]
    pub ponder: usize,
    /// How many takebacks are granted in a game. 0 to 100.
    #[serde(deserialize_with = "whole::<0, 100, _, _>")]
    pub takebacks: u32,
    /// How long we wait for an opponent who does not begin.
    pub abort: AbortSettings,
    /// What we do when the opponent has left.
    pub claim: ClaimSettings,
}

impl Default for PlayerSettings {
    fn default() -> Self {
        Self {
            council: CouncilSettings::default(),
            clock: ClockSettings::default(),
            limits: LimitSettings::default(),
            book: BookSettings::default(),
            tablebases: TablebaseSettings::default(),
            draw: DrawSettings::default(),
            resign: ResignSettings::default(),
            ponder: 1,
            takebacks: 0,
            abort: AbortSettings::default(),
            claim: ClaimSettings::default(),
        }
    }
}

/// The `player.limits` table: bounds on every search, beside those of the clock. `None` is no bound.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct LimitSettings {
    /// Time, in seconds. 1 to 86400.
    #[serde(deserialize_with = "seconds_or_none::<1, 86400, _>")]
    pub time: Option<Duration>,
    /// Nodes. 1 to 10^15.
    #[serde(deserialize_with = "whole_or_none::<1, 1_000_000_000_000_000, _, _>")]
    pub nodes: Option<u64>,
    /// Iterations, in plies. 1 to 245.
    #[serde(deserialize_with = "whole_or_none::<1, 245, _, _>")]
    pub depth: Option<u32>,
}

/// The `player.book` table.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct BookSettings {
    /// Books in Polyglot's format, tried in this order.
    pub files: Vec<PathBuf>,
    /// Which of a book's moves is played.
    pub selection: BookSelection,
    /// The least weight of a move that is played. 1 to 65535.
    #[serde(deserialize_with = "whole::<1, 65535, _, _>")]
    pub min_weight: u16,
    /// How far into the game books are asked, in plies. 0 to 1000.
    #[serde(deserialize_with = "whole::<0, 1000, _, _>")]
    pub max_plies: usize,
}

impl Default for BookSettings {
    fn default() -> Self {
        Self { files: Vec::new(), selection: BookSelection::default(), min_weight: 1, max_plies: 24 }
    }
}

/// Which of a book's moves is played.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum BookSelection {
    /// By lot, in proportion to the weights.
    #[default]
    Weighted,
    /// By lot, all alike.
    Uniform,
    /// The one with the greatest weight.
    Best,
}

/// The `player.tablebases` table.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct TablebaseSettings {
    /// Folders with Syzygy tables.
    pub paths: Vec<PathBuf>,
    /// With how many pieces on the board they are asked, kings among them. 2 to 7.
    #[serde(deserialize_with = "whole::<2, 7, _, _>")]
    pub max_pieces: usize,
}

impl Default for TablebaseSettings {
    fn default() -> Self {
        Self { paths: Vec::new(), max_pieces: 7 }
    }
}

/// The `shutdown` table: what becomes of running games when we are told to stop.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ShutdownSettings {
    /// What becomes of them.
    pub games: ShutdownGames,
    /// How long they may take to be finished before they are left, in seconds. 0 to 86400.
    #[serde(deserialize_with = "seconds::<0, 86400, _>")]
    pub grace: Duration,
}

impl Default for ShutdownSettings {
    fn default() -> Self {
        Self { games: ShutdownGames::default(), grace: Duration::from_mins(10) }
    }
}

/// The `log` table.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct LogSettings {
    /// What is logged: a level, or a filter as `RUST_LOG` takes it.
    pub level: String,
}

impl Default for LogSettings {
    fn default() -> Self {
        Self { level: "info".to_owned() }
    }
}
