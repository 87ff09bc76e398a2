//! Settings of a FICS account, and the source of its password.

use std::{collections::BTreeMap, path::PathBuf};

use serde::{Deserialize, Deserializer, Serialize, de::Error};

use util::{SecretError, timeseal::Version, values::WholeNumber};

pub use util::Secret as Password;

pub const PASSWORD_VARIABLE: &str = "CONCILIO_FICS_PASSWORD";

/// The name of the systemd credential that may hold the password (`LoadCredential=fics-password:...`).
pub const PASSWORD_CREDENTIAL: &str = "fics-password";

/// The port on which freechess.org understands timeseal.
const TIMESEAL_PORT: u16 = 5000;

util::settings! {
    #[derive(Eq)]
    pub struct FicsSettings {
        /// Host, unless `url` names one.
        pub host: String = "freechess.org".to_owned(),
        /// Port. On freechess.org 5000 understands timeseal, 23 is plain telnet. 1 to 65535.
        #[serde(with = "WholeNumber::<1, 65535>")]
        pub port: u16 = 5000,
        /// The port to try where `port` cannot be reached, without timeseal; 0 for none. 0 to 65535.
        #[serde(with = "WholeNumber::<0, 65535>")]
        pub fallback_port: u16 = 23,
        /// Send the time with every line, so that network delay is not charged to the bot: `"auto"` (on
        /// port 5000), `"v1"`, `"v2"` or `"off"`.
        pub timeseal: Timeseal = Timeseal::Auto,
        /// Account; empty plays as a guest under a name that the server draws.
        pub username: String = String::new(),
        /// File with the account's password in its first line. Without it CONCILIO_FICS_PASSWORD
        /// counts, then systemd's credential fics-password.
        pub password_file: Option<PathBuf> = None,
        /// Games sought while the bot is idle, in the server's words, such as ["5 0 rated", "15 10
        /// unrated f"].
        pub seeks: Vec<String> = Vec::new(),
        /// Seconds between two unanswered seeks. 10 to 86400.
        #[serde(with = "WholeNumber::<10, 86400>")]
        pub seek_every: u64 = 600,
        /// The server's own filter of challenges ("help formula" there); empty accepts all that the
        /// policy accepts.
        pub formula: String = String::new(),
        /// Variants for which challenges are let through, as interface variables (`fr`, `crazyhouse`,
        /// `atomic`, ...): a server keeps them from computer accounts.
        #[serde(deserialize_with = "interface_variables")]
        pub variants: Vec<String> = vec!["fr".to_owned()],
        /// Further variables, each set by "set NAME VALUE" after the built-in ones, such as { tzone =
        /// "UTC" }.
        pub variables: BTreeMap<String, String> = BTreeMap::new(),
        /// Finger notes 1 to 10: who runs this, what it runs on.
        #[serde(deserialize_with = "at_most_ten")]
        pub notes: Vec<String> = Vec::new(),
        /// Channels to listen to; their messages go to the log only.
        pub channels: Vec<u16> = Vec::new(),
        /// The account that runs tournaments, such as `"mamer"`; empty for none.
        pub tournament_manager: String = String::new(),
        /// Join tournaments that this manager announces. Computers may join only those open to them.
        pub join_tournaments: bool = false,
        /// Resume adjourned games as soon as the opponent is present.
        pub resume: bool = true,
        /// Grant an opponent's request to abort.
        pub accept_abort: bool = false,
        /// Grant an opponent's request to adjourn.
        pub accept_adjourn: bool = false,
        /// Seconds for which an opponent who is out of time but whose connection lags may come back;
        /// then the game is adjourned or aborted by courtesy instead of won; 0 is never. 0 to 86400.
        #[serde(with = "WholeNumber::<0, 86400>")]
        pub courtesy_after: u64 = 45,
        /// Days after which adjudication of an adjourned game is requested; 0 is never. 0 to 3650.
        #[serde(with = "WholeNumber::<0, 3650>")]
        pub adjudicate_after: u32 = 0,
        /// Command of that request; {opponent} is replaced.
        pub adjudicate_command: String = "message adjudicator Please adjudicate my adjourned game against {opponent}."
                .to_owned(),
        /// Seconds of silence after which the server is asked for a sign of life. 1 to 86400.
        #[serde(with = "WholeNumber::<1, 86400>")]
        pub ping_after: u64 = 30,
        /// Seconds to wait for it before the connection is taken for lost. 1 to 3600.
        #[serde(with = "WholeNumber::<1, 3600>")]
        pub ping_timeout: u64 = 20,
        /// The longest pause between two attempts to connect, in seconds. 1 to 86400.
        #[serde(with = "WholeNumber::<1, 86400>")]
        pub reconnect_max: u64 = 300,
        /// Seconds that the connection may take to open. 1 to 3600.
        #[serde(with = "WholeNumber::<1, 3600>")]
        pub connect_timeout: u64 = 15,
        /// Seconds for which the server may be silent during the login. 1 to 3600.
        #[serde(with = "WholeNumber::<1, 3600>")]
        pub login_timeout: u64 = 30,
        /// Seconds that the server may take to answer a move, an acceptance or a challenge. 1 to 3600.
        #[serde(with = "WholeNumber::<1, 3600>")]
        pub answer_timeout: u64 = 10,
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Timeseal {
    /// On port 5000, in the newer version, or the older one if the server hangs up on that.
    #[default]
    Auto,
    /// The older version, `TIMESTAMP`.
    V1,
    /// The newer version, `TIMESEAL2`.
    V2,
    Off,
}

impl FicsSettings {
    pub(super) fn first_seal(&self) -> Option<Version> {
        match self.timeseal {
            Timeseal::Auto if self.port == TIMESEAL_PORT => Some(Version::Two),
            Timeseal::Auto | Timeseal::Off => None,
            Timeseal::V1 => Some(Version::One),
            Timeseal::V2 => Some(Version::Two),
        }
    }

    /// Returns true if an older version, or none, may be tried after the server refused `spoken`.
    pub(super) fn may_unseal(&self, spoken: Option<Version>) -> bool {
        self.timeseal == Timeseal::Auto && spoken.is_some()
    }

    /// Returns the account's password from the file of the settings, else from the environment,
    /// else from systemd's credentials. `None` if it is in none of them: the bot is a guest.
    ///
    /// # Errors
    /// [`SecretError`] if a named file cannot be read or is empty.
    pub fn password(&self) -> Result<Option<Password>, SecretError> {
        Password::find("FICS password", self.password_file.as_deref(), PASSWORD_VARIABLE, PASSWORD_CREDENTIAL)
    }
}

/// The server keeps ten finger notes.
fn at_most_ten<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    let notes = Vec::deserialize(deserializer)?;
    if notes.len() > 10 {
        return Err(D::Error::custom(format!("{} finger notes, expected at most 10", notes.len())));
    }
    Ok(notes)
}

/// Reads names as `iset` takes them.
fn interface_variables<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    let names = Vec::<String>::deserialize(deserializer)?;
    let is_name = |name: &String| !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_lowercase());
    match names.iter().find(|name| !is_name(name)) {
        Some(name) => {
            Err(D::Error::custom(format!("{name:?}, expected the name of a variant such as fr or crazyhouse")))
        }
        None => Ok(names),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_keys_have_defaults() {
        let settings: FicsSettings = toml::from_str("username = \"Somebot\"\ntimeseal = \"v1\"").expect("settings");
        assert_eq!((settings.port, settings.timeseal), (5000, Timeseal::V1));
        assert!(toml::from_str::<FicsSettings>("pasword = \"x\"").is_err());
    }

    #[test]
    fn harmful_values_are_errors() {
        for (bad, accepted) in [
            ("ping_timeout = 0", "1 to 3600"),
            ("ping_after = 0", "1 to 86400"),
            ("seek_every = 1", "10 to 86400"),
            ("seek_every = 99999999999", "10 to 86400"),
            ("reconnect_max = 0", "1 to 86400"),
            ("login_timeout = 0", "1 to 3600"),
            ("connect_timeout = -1", "1 to 3600"),
            ("answer_timeout = 0", "1 to 3600"),
            ("adjudicate_after = 4000", "0 to 3650"),
            ("courtesy_after = 90000", "0 to 86400"),
            ("notes = ['', '', '', '', '', '', '', '', '', '', '']", "at most 10"),
            ("variants = ['wild fr']", "the name of a variant"),
        ] {
            let error = toml::from_str::<FicsSettings>(bad).expect_err(bad).to_string();
            assert!(error.contains(accepted), "{bad}: {error}");
        }
        let settings: FicsSettings = toml::from_str("seek_every = 10\nping_timeout = 1").expect("settings");
        assert_eq!((settings.seek_every, settings.ping_timeout), (10, 1));
    }
}
