//! What the settings say about a FICS account, and where its password is found.

use std::{collections::BTreeMap, path::PathBuf, time::Duration};

use serde::{Deserialize, Serialize};

use chess::{SecretError, values::WholeNumber};

/// An account's password.
pub use chess::Secret as Password;

/// The environment variable that may hold the password.
pub const PASSWORD_VARIABLE: &str = "CONCILIO_FICS_PASSWORD";

/// The name of the systemd credential that may hold the password (`LoadCredential=fics-password:...`).
pub const PASSWORD_CREDENTIAL: &str = "fics-password";

/// The `fics` table.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct FicsSettings {
    /// The server.
    pub host: String,
    /// Its port. On freechess.org 5000 understands timeseal, 23 is plain telnet. 1 to 65535.
    #[serde(with = "WholeNumber::<1, 65535>")]
    pub port: u16,
    /// The port to try where `port` cannot be reached, without timeseal; 0 for none. 0 to 65535.
    #[serde(with = "WholeNumber::<0, 65535>")]
    pub fallback_port: u16,
    /// Whether lines carry the time at which they were sent, so that the network's delay is not charged to us.
    pub timeseal: Timeseal,
    /// The account; empty plays as a guest under a name that the server draws.
    pub username: String,
    /// The file that holds the account's password in its first line. Without it the environment variable
    /// `CONCILIO_FICS_PASSWORD` and systemd's credential `fics-password` are looked at. Without any password we are a guest.
    pub password_file: Option<PathBuf>,
    /// Games sought while we are idle, in the server's words: `5 0 rated`, `15 10 unrated f`. Always posted as manual, so
    /// that the policy sees every answer.
    pub seeks: Vec<String>,
    /// Seconds between one seek and the next while nobody answers. 10 to 86400.
    #[serde(with = "WholeNumber::<10, 86400>")]
    pub seek_every: u64,
    /// The server's own filter of challenges (`help formula`); empty accepts all that the policy accepts.
    pub formula: String,
    /// Further variables, each set by `set NAME VALUE` after ours.
    pub variables: BTreeMap<String, String>,
    /// Finger notes 1 to 10: who runs this, what it runs on.
    pub notes: Vec<String>,
    /// Channels to listen to; what is said there goes to the log only.
    pub channels: Vec<u16>,
    /// The account that runs tournaments, such as `mamer`; empty: none is listened to.
    pub tournament_manager: String,
    /// Whether tournaments that this manager announces are joined. Computers may join only those open to them.
    pub join_tournaments: bool,
    /// Whether adjourned games are resumed as soon as the opponent is there.
    pub resume: bool,
    /// Whether an opponent's request to abort is granted.
    pub accept_abort: bool,
    /// Whether an opponent's request to adjourn is granted.
    pub accept_adjourn: bool,
    /// Seconds for which an opponent who is out of time but whose connection lags keeps the right to come back; then the
    /// game is adjourned or aborted by courtesy instead of won; 0 is never. 0 to 86400.
    #[serde(with = "WholeNumber::<0, 86400>")]
    pub courtesy_after: u64,
    /// Days after which adjudication of an adjourned game is asked for; 0 is never. 0 to 3650.
    #[serde(with = "WholeNumber::<0, 3650>")]
    pub adjudicate_after: u32,
    /// How it is asked for; `{opponent}` is replaced.
    pub adjudicate_command: String,
    /// Seconds of silence after which the server is asked for a sign of life. 1 to 86400.
    #[serde(with = "WholeNumber::<1, 86400>")]
    pub ping_after: u64,
    /// Seconds to wait for it before the connection is taken for lost. 1 to 3600.
    #[serde(with = "WholeNumber::<1, 3600>")]
    pub ping_timeout: u64,
    /// The longest pause between two attempts to connect, in seconds. 1 to 86400.
    #[serde(with = "WholeNumber::<1, 86400>")]
    pub reconnect_max: u64,
    /// Seconds that the connection may take to open. 1 to 3600.
    #[serde(with = "WholeNumber::<1, 3600>")]
    pub connect_timeout: u64,
    /// Seconds for which the server may be silent while we log in. 1 to 3600.
    #[serde(with = "WholeNumber::<1, 3600>")]
    pub login_timeout: u64,
    /// Seconds that the server may take to answer a move, an acceptance or a challenge of ours. 1 to 3600.
    #[serde(with = "WholeNumber::<1, 3600>")]
    pub answer_timeout: u64,
}

impl Default for FicsSettings {
    fn default() -> Self {
        Self {
            host: "freechess.org".to_owned(),
            port: 5000,
            fallback_port: 23,
            timeseal: Timeseal::Auto,
            username: String::new(),
            password_file: None,
            seeks: Vec::new(),
            seek_every: 600,
            formula: String::new(),
            variables: BTreeMap::new(),
            notes: Vec::new(),
            channels: Vec::new(),
            tournament_manager: String::new(),
            join_tournaments: false,
            resume: true,
            accept_abort: false,
            accept_adjourn: false,
            courtesy_after: 45,
            adjudicate_after: 0,
            adjudicate_command: "message adjudicator Please adjudicate my adjourned game against {opponent}."
                .to_owned(),
            ping_after: 30,
            ping_timeout: 20,
            reconnect_max: 300,
            connect_timeout: 15,
            login_timeout: 30,
            answer_timeout: 10,
        }
    }
}

impl FicsSettings {
    /// The time between two seeks.
    pub fn seek_interval(&self) -> Duration {
        Duration::from_secs(self.seek_every)
    }
}

/// When and how timeseal is spoken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Timeseal {
    /// On port 5000, in the newer version, or the older one where the server hangs up on that.
    #[default]
    Auto,
    /// The older version, `TIMESTAMP`.
    V1,
    /// The newer version, `TIMESEAL2`.
    V2,
    /// Never.
    Off,
}

impl FicsSettings {
    /// Looks for the account's password in the file of the settings, else in the environment, else among systemd's
    /// credentials. `None` if it is in none of them: then we are a guest.
    ///
    /// # Errors
    /// [`SecretError`] if a file that is named cannot be read or is empty.
    pub fn password(&self) -> Result<Option<Password>, SecretError> {
        Password::find("FICS password", self.password_file.as_deref(), PASSWORD_VARIABLE, PASSWORD_CREDENTIAL)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_keys_are_refused_and_all_have_defaults() {
        let settings: FicsSettings = toml::from_str("username = \"Somebot\"\ntimeseal = \"v1\"").expect("settings");
        assert_eq!((settings.port, settings.timeseal), (5000, Timeseal::V1));
        assert!(toml::from_str::<FicsSettings>("pasword = \"x\"").is_err());
    }
}
