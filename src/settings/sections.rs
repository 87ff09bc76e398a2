//! The tables of the settings that belong to no other package.

use std::path::{Path, PathBuf};

use clap::ValueEnum;
use serde::{Deserialize, Serialize};
use tracing_subscriber::filter::{LevelFilter, ParseError, Targets};

use platform::{
    fics::FicsSettings,
    lichess::{LichessSettings, ServerUrlError},
};
use util::values::{WholeNumber, named};

util::settings! {
    /// A `servers.NAME` table: an account we play with.
    pub struct ServerSettings {
        /// Connect to this account.
        pub enabled: bool = true,
        /// `"lichess"` or `"fics"`.
        pub protocol: Protocol = Protocol::default(),
        /// Address; empty is `https://lichess.org`, or freechess.org:5000. For FICS: HOST:PORT.
        pub url: String = String::new(),
        /// The file that holds the token, and nothing else; empty for none. Without it
        /// CONCILIO_LICHESS_TOKEN counts, then systemd's credential lichess-token.
        pub token_file: PathBuf = PathBuf::new(),
        /// Keys for FICS, or a server that speaks its language.
        pub fics: FicsSettings = FicsSettings::default(),
    }
}

impl ServerSettings {
    pub fn token_file(&self) -> Option<&Path> {
        named(&self.token_file)
    }

    /// The settings of the Lichess adapter.
    ///
    /// # Errors
    /// [`ServerUrlError`] if `url` is no address a token may be sent to.
    pub fn lichess(&self) -> Result<LichessSettings, ServerUrlError> {
        Ok(LichessSettings { url: self.address().parse()?, ..LichessSettings::default() })
    }

    /// Returns the settings of the FICS client. A `url` that is not empty has host and port.
    pub fn fics(&self) -> Result<FicsSettings, String> {
        let mut settings = self.fics.clone();
        if !self.url.is_empty() {
            let wrong =
                || format!("{:?} is no address of a FICS: expected HOST:PORT, such as freechess.org:5000", self.url);
            let (host, port) = self.url.rsplit_once(':').ok_or_else(wrong)?;
            settings.host = host.trim_matches(['[', ']']).to_owned();
            settings.port = port.parse().ok().filter(|port| *port != 0).ok_or_else(wrong)?;
            if settings.host.is_empty() || settings.host.contains(['/', ' ']) {
                return Err(wrong());
            }
        }
        Ok(settings)
    }

    /// The address to connect to: the one that is set, or the usual one of its protocol.
    pub fn address(&self) -> &str {
        match (self.url.as_str(), self.protocol) {
            ("", Protocol::Lichess) => "https://lichess.org",
            ("", Protocol::Fics) => "freechess.org:5000",
            (url, _) => url,
        }
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Protocol {
    #[default]
    Lichess,
    /// The text protocol of the Free Internet Chess Server.
    Fics,
}

util::settings! {
    pub struct LogSettings {
        /// Level: "off", "error", "warn", "info", "debug", "trace", or a filter such as
        /// "info,concilio=debug".
        pub level: String = "info".to_owned(),
        /// Format: "text", a plain sentence a line, or "json", an object a line with every field.
        pub format: LogFormat = LogFormat::default(),
        /// A file to log to as well, besides standard error: every day has its own, such as
        /// concilio.2026-11-22.log for "concilio.log". Empty: none.
        pub file: PathBuf = PathBuf::new(),
        /// Number of log files to keep. 1 to 3650.
        #[serde(with = "WholeNumber::<1, 3650>")]
        pub days: usize = 14,
    }
}

/// The format of the log.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum LogFormat {
    /// One plain sentence a line.
    #[default]
    Text,
    /// One JSON object a line, with every field.
    Json,
}

impl LogSettings {
    /// The values that [`is_filter`](Self::is_filter) accepts, in words that follow "expected".
    pub const ACCEPTED: &str = "off, error, warn, info, debug, trace, or a filter such as info,concilio=debug";

    /// Returns true for a valid filter. A single word that is no level would count as the name of a
    /// module, and nothing would be logged: it is refused.
    pub fn is_filter(text: &str) -> bool {
        let is_level = |text: &str| text.trim().parse::<LevelFilter>().is_ok();
        let says_a_level = |part: &str| match part.split_once('=') {
            Some((target, level)) => !target.trim().is_empty() && !level.trim().is_empty() && is_level(level),
            None => is_level(part),
        };
        Self::filter(text).is_ok() && (text.is_empty() || text.split(',').all(says_a_level))
    }

    /// Reads a filter; of two parts for one target the last counts.
    ///
    /// # Errors
    /// If a level is not known.
    pub fn filter(text: &str) -> Result<Targets, ParseError> {
        let parts: Vec<_> = text.split(',').map(str::trim).filter(|part| !part.is_empty()).collect();
        if parts.is_empty() { Ok(Targets::new()) } else { parts.join(",").parse() }
    }
}
