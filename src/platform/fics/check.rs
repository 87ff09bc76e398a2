//! Checks a FICS account before it plays: its identity, and the server's answers to our settings.

use std::{fmt, time::Duration};

use domain::ActionError;
use tokio::time::timeout;
use util::timeseal::Version;

use super::{
    codec::ServerFrame,
    link::TelnetLink,
    login::{Login, LoginError, LoginStep},
    message::{FicsMessage, Speaker},
    settings::{FicsSettings, Password},
    setup::SetUp,
};

const COMMAND_PATIENCE: Duration = Duration::from_secs(5);

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FicsReport {
    pub name: String,
    /// Our titles, such as `C` for a computer or `U` for a guest.
    pub titles: Vec<String>,
    /// The version of timeseal that the server takes; `None`: the network's delays are charged to us.
    pub timeseal: Option<Version>,
    /// The server's filter of challenges, as we set it; empty lets all through.
    pub formula: String,
    pub seeks: Vec<String>,
    pub interface: Vec<String>,
    /// Settings that the server has not accepted or holds otherwise, in one line.
    pub shortcomings: Option<String>,
}

impl FicsReport {
    fn has_title(&self, title: &str) -> bool {
        self.titles.iter().any(|held| held == title)
    }

    /// Returns the obstacles to playing with these settings, each with its remedy.
    pub fn obstacles(&self) -> Vec<String> {
        let mut obstacles = Vec::new();
        // Words may be shortened. Without one of them, the server takes a guest's seek as unrated.
        let is_rated = |seek: &&str| seek.split_ascii_whitespace().any(|word| "rated".starts_with(word));
        let rated: Vec<&str> = self.seeks.iter().map(String::as_str).filter(is_rated).collect();
        if self.has_title("U") && !rated.is_empty() {
            obstacles
                .push(format!("guests play unrated games only: register, or seek unrated games instead of {rated:?}"));
        }
        if !self.has_title("U") && !self.has_title("C") {
            obstacles.push(
                "no (C) title: a program plays rated games only on a computer account (`help computers`)".to_owned(),
            );
        }
        obstacles
    }
}

impl fmt::Display for FicsReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let or_none =
            |list: &[String], separator| if list.is_empty() { "none".to_owned() } else { list.join(separator) };
        let titles: String = self.titles.iter().map(|title| format!("({title})")).collect();
        let timeseal = match self.timeseal {
            Some(Version::Two) => "version 2",
            Some(Version::One) => "version 1",
            None => "off; network delays count on the bot's clock",
        };
        writeln!(f, "{}{titles}", self.name)?;
        writeln!(f, "  timeseal: {timeseal}")?;
        writeln!(f, "  seeks: {}", or_none(&self.seeks, "; "))?;
        writeln!(f, "  formula: {}", if self.formula.is_empty() { "none" } else { &self.formula })?;
        writeln!(f, "  interface: {}", or_none(&self.interface, " "))?;
        if let Some(shortcomings) = &self.shortcomings {
            writeln!(f, "  not taken: {shortcomings}")?;
        }
        self.obstacles().iter().try_for_each(|obstacle| writeln!(f, "  {obstacle}"))
    }
}

/// Logs in, sets everything up as for play, and leaves. A registered account that is logged in already is left alone, because a second
/// login would throw the first one out of its game.
///
/// # Errors
/// [`ActionError::Unauthorised`] where the server does not let us in, [`ActionError::Refused`] where the account is in use,
/// [`ActionError::Unavailable`] where the server does not answer.
pub async fn account_check(settings: &FicsSettings, password: Option<Password>) -> Result<FicsReport, ActionError> {
    let name = &settings.username;
    if password.is_some() && is_logged_in(settings, name).await {
        return Err(ActionError::Refused(format!("{name} is logged in now, and a second login would end that one")));
    }
    let (mut link, us, timeseal) = enter(settings, name, password.as_ref()).await?;
    let mut setup = SetUp::new(settings);
    while let Some(command) = setup.next_command() {
        // No player shall challenge the account here.
        if command != "set open 1" {
            for message in ask(&mut link, &command).await? {
                setup.on(&message);
            }
        }
    }
    // It closes the connection as well.
    let _ = link.send("quit").await;
    let is_set = |(name, value): (&String, &String)| (value == "1").then(|| name.clone());
    Ok(FicsReport {
        name: us.name,
        titles: us.titles,
        timeseal,
        formula: settings.formula.clone(),
        seeks: settings.seeks.clone(),
        interface: setup.shown_interface.iter().filter_map(is_set).collect(),
        shortcomings: setup.shortcomings(),
    })
}

async fn is_logged_in(settings: &FicsSettings, name: &str) -> bool {
    let Ok((mut link, ..)) = enter(settings, "", None).await else { return false };
    let answer = ask(&mut link, &format!("finger {name}")).await.unwrap_or_default();
    let _ = link.send("quit").await;
    answer.contains(&FicsMessage::Presence(true))
}

async fn enter(
    settings: &FicsSettings,
    name: &str,
    password: Option<&Password>,
) -> Result<(TelnetLink, Speaker, Option<Version>), ActionError> {
    let mut seal = settings.first_seal();
    loop {
        match log_in(settings, Login::new(name, password.cloned()), seal).await {
            Ok((link, us)) => return Ok((link, us, seal)),
            Err(ActionError::Unavailable(_)) if settings.may_unseal(seal) => seal = older(seal),
            Err(error) => return Err(error),
        }
    }
}

pub(super) fn older(seal: Option<Version>) -> Option<Version> {
    seal.filter(|version| *version == Version::Two).map(|_| Version::One)
}

async fn log_in(
    settings: &FicsSettings,
    mut login: Login,
    seal: Option<Version>,
) -> Result<(TelnetLink, Speaker), ActionError> {
    let patience = Duration::from_secs(settings.connect_timeout);
    let mut link = TelnetLink::open(&settings.host, settings.port, seal, patience).await.map_err(unavailable)?;
    let us = loop {
        let frame = timeout(Duration::from_secs(settings.login_timeout), link.frame()).await.map_err(unavailable)?;
        let frame = frame.map_err(unavailable)?;
        let is_prompt = frame == ServerFrame::Prompt;
        let step = match frame {
            ServerFrame::Ping => link.pong().await.map(|()| LoginStep::Wait).map_err(unavailable)?,
            ServerFrame::Overlong => LoginStep::Wait,
            ServerFrame::Prompt => login.on_prompt(),
            ServerFrame::Line(line) => login.on(&FicsMessage::read(line)).map_err(|error| {
                // A server that knows no timeseal takes its first words for a name.
                let misheard = error.may_be_misheard() && settings.may_unseal(seal);
                let error = if misheard { error } else { error.after_greeting(seal) };
                if matches!(error, LoginError::InUse(_)) {
                    ActionError::Refused(error.to_string())
                } else if error.is_final() && !misheard {
                    ActionError::Unauthorised(error.to_string())
                } else {
                    unavailable(error)
                }
            })?,
        };
        match step {
            LoginStep::Wait => {}
            LoginStep::Send(line) => link.send(&line).await.map_err(unavailable)?,
            LoginStep::SendPassword(password) => link.send_password(&password).await.map_err(unavailable)?,
            LoginStep::Done(us) if is_prompt => return Ok((link, us)),
            LoginStep::Done(us) => break us,
        }
    };
    // The prompt after the greeting belongs to no command.
    until_prompt(&mut link).await?;
    Ok((link, us))
}

async fn ask(link: &mut TelnetLink, command: &str) -> Result<Vec<FicsMessage>, ActionError> {
    link.send(command).await.map_err(unavailable)?;
    until_prompt(link).await
}

/// Returns the messages up to the next prompt, or to the timeout.
async fn until_prompt(link: &mut TelnetLink) -> Result<Vec<FicsMessage>, ActionError> {
    let mut messages = Vec::new();
    let listen = async {
        loop {
            match link.frame().await? {
                ServerFrame::Prompt => return Ok(()),
                ServerFrame::Ping => link.pong().await?,
                ServerFrame::Overlong => {}
                ServerFrame::Line(line) => messages.push(FicsMessage::read(line)),
            }
        }
    };
    match timeout(COMMAND_PATIENCE, listen).await {
        Ok(Result::<(), std::io::Error>::Err(error)) => Err(unavailable(error)),
        Ok(Ok(())) | Err(_) => Ok(messages),
    }
}

fn unavailable(error: impl fmt::Display) -> ActionError {
    ActionError::Unavailable(error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn guest_may_seek_unrated_games() {
        let report = |seek: &str| FicsReport {
            name: "Guest".to_owned(),
            titles: vec!["U".to_owned()],
            timeseal: None,
            formula: String::new(),
            seeks: vec![seek.to_owned()],
            interface: Vec::new(),
            shortcomings: None,
        };
        for (seek, obstacles) in [("5 0 unrated", 0), ("5 0 u m", 0), ("5 0", 0), ("5 0 rated", 1), ("5 0 r f", 1)] {
            assert_eq!(report(seek).obstacles().len(), obstacles, "{seek}");
        }
    }
}
