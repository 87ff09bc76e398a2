//! Settings of a Lichess account. The token is not among them (see [`super::Token`]).

use std::{net::IpAddr, path::PathBuf, time::Duration};

use reqwest::Url;
use serde::{Deserialize, Serialize};

use util::values::FractionalSeconds;

/// From a millisecond to an hour.
type Wait = FractionalSeconds<1, 3_600_000>;

util::settings! {
    #[derive(Eq)]
    pub struct LichessSettings {
        pub url: ServerUrl = ServerUrl::default(),
        /// The file that holds the token and nothing else.
        pub token_file: Option<PathBuf> = None,
        /// Silence after which a stream is taken for dead, in seconds. The server sends a byte at least
        /// every seven.
        #[serde(with = "Wait")]
        pub idle_timeout: Duration = Duration::from_secs(15),
        /// Time after which an unanswered move (or another request on which a clock waits) has failed,
        /// in seconds.
        #[serde(with = "Wait")]
        pub move_timeout: Duration = Duration::from_millis(2500),
        /// Time after which any other unanswered request has failed, in seconds.
        #[serde(with = "Wait")]
        pub request_timeout: Duration = Duration::from_secs(10),
        /// Pause of a kind of requests after a rate limit (429) without a time, in seconds. Lichess
        /// asks for a full minute.
        #[serde(with = "Wait")]
        pub limited_pause: Duration = Duration::from_secs(60),
        /// Time for which the stream of a correspondence game stays open after the bot's move, in seconds: a player who is there may
        /// answer at once.
        #[serde(with = "Wait")]
        pub attention: Duration = Duration::from_secs(10),
        /// Interval of the questions whether an opponent has moved in the correspondence games without a stream, in seconds.
        #[serde(with = "Wait")]
        pub check_in: Duration = Duration::from_secs(60),
    }
}

/// A server's address: `https`, or plain `http` on this very machine, so that the token never
/// travels in clear.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct ServerUrl(Url);

/// An address that is no server's.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ServerUrlError {
    #[error("{0:?} is not a web address (expected one like https://lichess.org)")]
    Malformed(String),
    /// The token would be readable on its way.
    #[error(
        "{0:?} would send the token in clear (accepted: https://..., and http://... only to localhost, 127.0.0.1 or [::1])"
    )]
    Insecure(String),
}

impl ServerUrl {
    /// Returns true for this machine without TLS.
    pub(super) fn is_plain(&self) -> bool {
        self.0.scheme() == "http"
    }

    /// Returns the address of `path`, whose segments are escaped: no name changes the target.
    pub(super) fn at(&self, path: &[&str]) -> Url {
        let mut url = self.0.clone();
        if let Ok(mut segments) = url.path_segments_mut() {
            segments.pop_if_empty().extend(path);
        }
        url
    }

    /// The address of a page, for people.
    pub(super) fn page(&self, path: &str) -> String {
        self.at(&[path]).into()
    }
}

impl Default for ServerUrl {
    fn default() -> Self {
        Self::try_from("https://lichess.org".to_owned()).unwrap_or_else(|error| unreachable!("{error}"))
    }
}

impl TryFrom<String> for ServerUrl {
    type Error = ServerUrlError;

    fn try_from(text: String) -> Result<Self, ServerUrlError> {
        let Ok(url) = text.parse::<Url>() else { return Err(ServerUrlError::Malformed(text)) };
        let host = url.host_str().unwrap_or_default().trim_matches(['[', ']']);
        let is_loopback = host == "localhost" || host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback());
        let has_more =
            !url.username().is_empty() || url.password().is_some() || url.query().is_some() || url.fragment().is_some();
        match url.scheme() {
            "http" | "https" if has_more => Err(ServerUrlError::Malformed(text)),
            "https" => Ok(Self(url)),
            "http" if is_loopback => Ok(Self(url)),
            "http" => Err(ServerUrlError::Insecure(text)),
            _ => Err(ServerUrlError::Malformed(text)),
        }
    }
}

impl std::str::FromStr for ServerUrl {
    type Err = ServerUrlError;

    fn from_str(text: &str) -> Result<Self, ServerUrlError> {
        Self::try_from(text.to_owned())
    }
}

impl From<ServerUrl> for String {
    fn from(url: ServerUrl) -> Self {
        url.0.into()
    }
}

impl std::fmt::Display for ServerUrl {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(self.0.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_never_travels_in_clear() {
        for good in [
            "https://lichess.org",
            "https://lichess.dev/",
            "http://127.0.0.1:9663",
            "http://[::1]:80",
            "http://localhost:1",
        ] {
            assert!(good.parse::<ServerUrl>().is_ok(), "{good}");
        }
        for bad in
            ["http://lichess.org", "http://127.0.0.1.example.org", "http://192.168.1.1", "http://localhost.example.org"]
        {
            assert_eq!(bad.parse::<ServerUrl>(), Err(ServerUrlError::Insecure(bad.to_owned())));
        }
        for bad in ["", "lichess.org", "ftp://lichess.org", "https://me:secret@lichess.org", "https://lichess.org/?a=b"]
        {
            assert_eq!(bad.parse::<ServerUrl>(), Err(ServerUrlError::Malformed(bad.to_owned())));
        }
    }

    #[test]
    fn outside_names_are_escaped() {
        let url = "http://localhost:1/base/".parse::<ServerUrl>().expect("good");
        assert_eq!(
            url.at(&["api", "../../x?y#z", "é"]).as_str(),
            "http://localhost:1/base/api/..%2F..%2Fx%3Fy%23z/%C3%A9"
        );
        assert_eq!(ServerUrl::default().at(&["api", "..", "x"]).as_str(), "https://lichess.org/api/x");
    }

    #[test]
    fn unknown_settings_are_refused() {
        let settings: LichessSettings = toml::from_str("idle_timeout = 20\nmove_timeout = 1.5").expect("good");
        assert_eq!(settings.idle_timeout, Duration::from_secs(20));
        assert_eq!(settings.move_timeout, Duration::from_millis(1500));
        assert_eq!(settings.url.to_string(), "https://lichess.org/");
        for bad in ["token = 'lip_x'", "idle_timeout = 0", "idle_timeout = -1", "url = 'http://lichess.org'"] {
            assert!(toml::from_str::<LichessSettings>(bad).is_err(), "{bad}");
        }
    }
}
