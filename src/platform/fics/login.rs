//! Getting in: answers to the server's questions, one at a time, and never a blind burst, because whatever follows a
//! wrong password would be taken for a name.

use super::{
    message::{FicsMessage, Speaker},
    settings::Password,
};
use util::timeseal::Version;

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LoginError {
    #[error("wrong password for {0}: correct it and start again")]
    WrongPassword(String),
    #[error("{0} is not a registered name: register it, or remove the password to play as a guest")]
    NotRegistered(String),
    #[error("{0} is a registered name and needs its password")]
    NeedsPassword(String),
    #[error("the server does not take the name {name}: {reason}")]
    BadName { name: String, reason: String },
    /// The server took timeseal's greeting for a name: it does not speak this version.
    #[error(
        "the server does not speak timeseal {version}, which the settings ask for: it took the greeting for a name ({reason}); \
         set `timeseal` to \"auto\", \"off\" or the other version"
    )]
    NoTimeseal { version: &'static str, reason: String },
    /// The server does not let us in, in words that are not known: perhaps it does later.
    #[error("the server does not let {name} in: {reason}")]
    Refused { name: String, reason: String },
    /// The guest's name is in use: most likely by our own dead connection.
    #[error("{0} is logged in already")]
    InUse(String),
    #[error("banned: {0}")]
    Banned(String),
    /// Another login took this name. To log in again would displace it in turn.
    #[error("another login as {0} replaced this one")]
    Displaced(String),
    #[error("logged out by an administrator: {0}")]
    Kicked(String),
    #[error("the server is full: {0}")]
    Full(String),
    /// The server closes: it goes down, or we were too slow.
    #[error("the server closes the connection: {0}")]
    Closing(String),
}

impl LoginError {
    /// True if trying again would be useless or rude. Only what is known to be so is final.
    pub fn is_final(&self) -> bool {
        !matches!(self, Self::InUse(_) | Self::Full(_) | Self::Closing(_) | Self::Refused { .. })
    }

    /// True if a server that took timeseal's greeting for a name would say this.
    pub(super) fn may_be_misheard(&self) -> bool {
        matches!(self, Self::BadName { .. } | Self::Refused { .. })
    }

    /// Refines the error of a connection that began with the greeting of `spoken`. A server has
    /// nothing to say against a name that all of them take, so it speaks of the greeting.
    pub(super) fn after_greeting(self, spoken: Option<Version>) -> Self {
        match (self, spoken) {
            (Self::BadName { name, reason }, Some(version)) if is_usual(&name) => {
                let version = if version == Version::Two { "v2" } else { "v1" };
                Self::NoTimeseal { version, reason }
            }
            (error, _) => error,
        }
    }

    /// Returns the error if a message, at any time, ends the connection.
    pub fn of(message: &FicsMessage, name: &str) -> Option<Self> {
        Some(match message {
            FicsMessage::Displaced => Self::Displaced(name.to_owned()),
            FicsMessage::Kicked(words) => Self::Kicked(words.clone()),
            FicsMessage::TimedOut(words) => Self::Closing(words.clone()),
            _ => return None,
        })
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LoginStep {
    Wait,
    Send(String),
    /// Send the password, without logging it.
    SendPassword(Password),
    Done(Speaker),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum LoginProgress {
    Connected,
    Named,
    Answered,
}

/// The conversation from the banner to the first prompt.
#[derive(Clone, Debug)]
pub struct Login {
    name: String,
    /// Password of the account; `None` for a guest.
    password: Option<Password>,
    /// Name that the server has given to us, if our own was empty.
    given: Option<String>,
    progress: LoginProgress,
    /// The last line that we did not understand: where the server turns us down in words of its own, the reason.
    last_words: String,
}

impl Login {
    /// Logs in to the account `name`, or as a guest of this name; if it is empty, the server chooses one.
    pub fn new(name: &str, password: Option<Password>) -> Self {
        let name = if name.is_empty() { "guest" } else { name }.to_owned();
        Self { name, password, given: None, progress: LoginProgress::Connected, last_words: String::new() }
    }

    /// The server shows its prompt. Some do not say that a session begins; the prompt proves it.
    pub fn on_prompt(&self) -> LoginStep {
        if self.is_young() {
            return LoginStep::Wait;
        }
        let name = self.given.as_ref().unwrap_or(&self.name).clone();
        LoginStep::Done(Speaker { name, ..Speaker::default() })
    }

    /// The server says something.
    ///
    /// # Errors
    /// [`LoginError`] if we do not get in; [`LoginError::is_final`] tells whether to try again.
    pub fn on(&mut self, message: &FicsMessage) -> Result<LoginStep, LoginError> {
        let name = self.name.clone();
        if let Some(error) = LoginError::of(message, &name) {
            return Err(error);
        }
        match message {
            FicsMessage::AskName if self.progress == LoginProgress::Connected => {
                self.progress = LoginProgress::Named;
                Ok(LoginStep::Send(name))
            }
            FicsMessage::AskName if self.last_words.contains("already logged in") => Err(LoginError::InUse(name)),
            FicsMessage::AskName => Err(LoginError::Refused { name, reason: self.last_words.clone() }),
            FicsMessage::AskPassword => match &self.password {
                Some(password) if self.progress == LoginProgress::Named => {
                    self.progress = LoginProgress::Answered;
                    Ok(LoginStep::SendPassword(password.clone()))
                }
                Some(_) => Err(LoginError::WrongPassword(name)),
                None => Err(LoginError::NeedsPassword(name)),
            },
            FicsMessage::AskReturn(_) if self.password.is_some() => Err(LoginError::NotRegistered(name)),
            FicsMessage::AskReturn(given) => {
                self.given.clone_from(given);
                self.progress = LoginProgress::Answered;
                Ok(LoginStep::Send(String::new()))
            }
            FicsMessage::WrongPassword => Err(LoginError::WrongPassword(name)),
            FicsMessage::BadName(reason) => Err(LoginError::BadName { name, reason: reason.clone() }),
            FicsMessage::Banned(words) => Err(LoginError::Banned(words.clone())),
            FicsMessage::Full(words) => Err(LoginError::Full(words.clone())),
            FicsMessage::Session(speaker) => Ok(LoginStep::Done(speaker.clone())),
            FicsMessage::Unknown(words) => {
                self.last_words.clone_from(words);
                Ok(LoginStep::Wait)
            }
            _ => Ok(LoginStep::Wait),
        }
    }

    /// True if nothing but our name has been said yet.
    pub fn is_young(&self) -> bool {
        self.progress < LoginProgress::Answered
    }
}

/// True if this is a name that every server of this family takes.
fn is_usual(name: &str) -> bool {
    (3..=15).contains(&name.len()) && name.bytes().all(|byte| byte.is_ascii_alphabetic())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Lets the server speak line by line; gives what we answered, and how it ended.
    fn converse(name: &str, password: Option<&str>, lines: &[&str]) -> (Vec<String>, Result<LoginStep, LoginError>) {
        let mut login = Login::new(name, password.map(Password::new));
        let mut answers = Vec::new();
        for line in lines {
            let step =
                if *line == "fics%" { Ok(login.on_prompt()) } else { login.on(&FicsMessage::read((*line).to_owned())) };
            match step {
                Ok(LoginStep::Send(line)) => answers.push(line),
                Ok(LoginStep::SendPassword(password)) => answers.push(password.reveal().to_owned()),
                Ok(LoginStep::Wait) => {}
                end => return (answers, end),
            }
        }
        (answers, Ok(LoginStep::Wait))
    }

    const REGISTERED: &str = "\"Anna\" is a registered name.  If it is yours, type the password.";

    #[test]
    fn a_registered_account_gets_in() {
        let lines = ["Welcome", "login:", REGISTERED, "password:", "**** Starting FICS session as Anna(C)(TM) ****"];
        let (answers, end) = converse("Anna", Some("sesame"), &lines);
        assert_eq!(answers, ["Anna", "sesame"]);
        let Ok(LoginStep::Done(speaker)) = end else { panic!("{end:?}") };
        assert_eq!((speaker.name.as_str(), speaker.titles.join(",")), ("Anna", "C,TM".to_owned()));
    }

    #[test]
    fn guest_gets_the_servers_name() {
        let lines = [
            "login:",
            "Logging you in as \"GuestZHMG\"; you may use this name to play unrated games.",
            "Press return to enter the server as \"GuestZHMG\":",
            "**** Starting FICS session as GuestZHMG(U) ****",
        ];
        let (answers, end) = converse("", None, &lines);
        assert_eq!(answers, ["guest", ""]);
        assert!(matches!(end, Ok(LoginStep::Done(Speaker { name, .. })) if name == "GuestZHMG"));
    }

    #[test]
    fn prompt_replaces_a_session_line() {
        let (_, end) = converse("Anna", Some("sesame"), &["login:", "password:", "_________", "fics%"]);
        assert!(matches!(end, Ok(LoginStep::Done(Speaker { name, .. })) if name == "Anna"));
        let guest = ["login:", "Press return to enter the server as \"GuestZHMG\":", "fics%"];
        let (_, end) = converse("", None, &guest);
        assert!(matches!(end, Ok(LoginStep::Done(Speaker { name, .. })) if name == "GuestZHMG"));
    }

    #[test]
    fn refusals_are_told_apart() {
        let anna = || "Anna".to_owned();
        let password = Some("sesame");
        let short = "A name should be at least three characters long!  Try again.";
        let banned = "Player \"Anna\" is banned.";
        let full = "Sorry, the server is full.  Please try again later.";
        let limit = "Sorry, the server has reached its limit for players logged on at once.";
        let moon = "The moon is wrong tonight.";
        for (lines, password, error, is_final) in [
            (
                &["login:", "password:", "**** Invalid password! ****"][..],
                password,
                LoginError::WrongPassword(anna()),
                true,
            ),
            (&["login:", "password:", "password:"], password, LoginError::WrongPassword(anna()), true),
            (
                &["login:", "Press return to enter the server as \"Anna\":"],
                password,
                LoginError::NotRegistered(anna()),
                true,
            ),
            (&["login:", "password:"], None, LoginError::NeedsPassword(anna()), true),
            (
                &["login:", "Sorry, Anna is already logged in.  Try again.", "login:"],
                None,
                LoginError::InUse(anna()),
                false,
            ),
            (&["login:", short], None, LoginError::BadName { name: anna(), reason: short.to_owned() }, true),
            (&["login:", banned], None, LoginError::Banned(banned.to_owned()), true),
            (&[full], None, LoginError::Full(full.to_owned()), false),
            (&["login:", limit, "login:"], None, LoginError::Full(limit.to_owned()), false),
            (&["login:", moon, "login:"], None, LoginError::Refused { name: anna(), reason: moon.to_owned() }, false),
            (&["login:", "**** LOGIN TIMEOUT ****"], None, LoginError::Closing("LOGIN TIMEOUT".to_owned()), false),
            (&["**** Anna has arrived - you can't both be logged in. ****"], None, LoginError::Displaced(anna()), true),
        ] {
            assert_eq!(converse("Anna", password, lines).1, Err(error.clone()), "{lines:?}");
            assert_eq!(error.is_final(), is_final, "{error}");
        }
    }

    #[test]
    fn misread_timeseal_greeting_is_named() {
        let reason = "Sorry, names can only consist of lower and upper case letters.  Try again.".to_owned();
        let error = |name: &str| LoginError::BadName { name: name.to_owned(), reason: reason.clone() };
        let told = error("Anna").after_greeting(Some(Version::One));
        assert_eq!(told, LoginError::NoTimeseal { version: "v1", reason: reason.clone() });
        assert!(told.is_final() && told.to_string().contains("does not speak timeseal v1"), "{told}");
        assert_eq!(error("Anna").after_greeting(None), error("Anna"));
        assert_eq!(error("Anna2").after_greeting(Some(Version::Two)), error("Anna2"));
    }

    #[test]
    fn own_dead_login_is_retried() {
        let lines = [
            "login:",
            "password:",
            "**** Anna is already logged in - kicking them out. ****",
            "**** Starting FICS session as Anna ****",
        ];
        assert!(matches!(converse("Anna", Some("sesame"), &lines).1, Ok(LoginStep::Done(_))));
    }
}
