//! Typed settings, from four layers: what is built in, below a file, below the environment, below the command line.
//!
//! ```text
//! config/default.toml  <  FILE  <  CONCILIO__SECTION__KEY=value  <  (key, value) of the command line
//! ```
//!
//! Layers are merged as tables, key by key, before anything is read from them (`layers`); then the merged table is read
//! into [`Settings`] (`read`). Whatever is wrong becomes one line that names the key, its value, where it was set, and
//! what is accepted; all of it is reported, not only the first (`problem`). What took effect, and from where each value
//! came, can be shown as TOML again (`show`).
//!
//! Invariants: no settings text, however odd, brings the program down; no token stands in the settings, only the name of
//! the file that holds it.
//!
//! To add a table: write its type in its own room (`#[serde(default, deny_unknown_fields)]`, and a `Default`), add one line
//! to [`Settings`] or [`PlayerSettings`], and its keys to `config/default.toml` and `config/example.toml`; tests say
//! what is missing.

mod check;
mod layers;
mod problem;
mod read;
mod sections;
mod show;
#[cfg(test)]
mod tests;

use std::{collections::BTreeMap, fs, io, path::PathBuf};

use jiff::tz::TimeZone;
use serde::Deserialize;

use bot::{
    journal::JournalSettings,
    policy::{ChallengeSettings, ChatSettings, MatchmakingSettings, NameLists, Profile, Profiles, challenge::Names},
};
use cluster::ClusterSettings;
use layers::Layers;

pub use layers::Origin;
pub use problem::{Problem, Problems};
pub use sections::{
    BookSelection, BookSettings, FicsAddressError, LimitSettings, LogSettings, PlayerSettings, Protocol,
    ServerSettings, ShutdownGames, ShutdownSettings, TablebaseSettings,
};

/// What is built in.
pub const DEFAULTS: &str = include_str!("../../config/default.toml");

/// Everything that can be set.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// In which zone hours of the day are meant: `local`, `UTC`, or a name such as `Europe/Rome`.
    pub time_zone: String,
    /// The accounts we play with.
    pub servers: BTreeMap<String, ServerSettings>,
    /// Which challenges are taken.
    pub challenge: ChallengeSettings,
    /// Whom we challenge.
    pub matchmaking: MatchmakingSettings,
    /// What we say.
    pub chat: ChatSettings,
    /// How we play.
    pub player: PlayerSettings,
    /// How we play otherwise in certain games.
    pub profiles: BTreeMap<String, Profile<PlayerSettings>>,
    /// Where games are kept.
    pub journal: JournalSettings,
    /// The machines that lend us their cores.
    pub cluster: ClusterSettings,
    /// What becomes of games when we stop.
    pub shutdown: ShutdownSettings,
    /// What is logged.
    pub log: LogSettings,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            time_zone: "local".to_owned(),
            servers: BTreeMap::new(),
            challenge: ChallengeSettings::default(),
            matchmaking: MatchmakingSettings::default(),
            chat: ChatSettings::default(),
            player: PlayerSettings::default(),
            profiles: BTreeMap::new(),
            journal: JournalSettings::default(),
            cluster: ClusterSettings::default(),
            shutdown: ShutdownSettings::default(),
            log: LogSettings::default(),
        }
    }
}

impl Settings {
    /// The player's settings with the profiles that override them, to choose from for a game.
    pub const fn profiles(&self) -> Profiles<'_, PlayerSettings> {
        Profiles { base: &self.player, named: &self.profiles }
    }

    /// The zone in which hours of the day are meant.
    pub fn zone(&self) -> TimeZone {
        match self.time_zone.as_str() {
            "local" => TimeZone::system(),
            // Loading refused every name that is not known.
            name => TimeZone::get(name).unwrap_or(TimeZone::UTC),
        }
    }

    /// The names that challenges are held against, read anew from their files.
    ///
    /// # Errors
    /// When a file cannot be read.
    pub fn name_lists(&self) -> io::Result<NameLists> {
        let challenge = &self.challenge;
        Ok(NameLists {
            block: names(&challenge.block, &challenge.block_files)?,
            allow: names(&challenge.allow, &challenge.allow_files)?,
            friends: names(&challenge.friends, &[])?,
        })
    }

    /// Whom we do not challenge, read anew from the files.
    ///
    /// # Errors
    /// When a file cannot be read.
    pub fn names_to_avoid(&self) -> io::Result<Names> {
        names(&self.matchmaking.avoid, &self.matchmaking.avoid_files)
    }
}

fn names(listed: &[String], files: &[PathBuf]) -> io::Result<Names> {
    let mut names: Names = listed.iter().collect();
    for file in files {
        names.extend(Names::parse(&fs::read_to_string(file)?));
    }
    Ok(names)
}

/// Where settings come from, beside what is built in.
#[derive(Clone, Debug, Default)]
pub struct Sources {
    /// A file: its name, for messages, and its text.
    pub file: Option<(String, String)>,
    /// Variables of the environment; those that do not begin with `CONCILIO__` are ignored.
    pub environment: Vec<(String, String)>,
    /// Keys, with dots between tables, and values from the command line.
    pub flags: Vec<(String, String)>,
}

impl Sources {
    /// The environment of this process, with the text of `file`, if one is named.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn of_process(file: Option<PathBuf>, flags: Vec<(String, String)>) -> Result<Self, Problems> {
        let file = match file {
            None => None,
            Some(path) => {
                let name = path.display().to_string();
                let unreadable =
                    |error: io::Error| Problems::from(Problem::of_file(&name, format!("cannot be read: {error}")));
                Some((name.clone(), fs::read_to_string(&path).map_err(unreadable)?))
            }
        };
        let environment = std::env::vars_os()
            .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
            .collect();
        Ok(Self { file, environment, flags })
    }

    /// Merges the layers and reads them.
    ///
    /// # Errors
    /// All that is wrong, one line each.
    pub fn load(&self) -> Result<Loaded, Problems> {
        let (mut layers, mut problems) = Layers::merge(self);
        let settings = read::read(&mut layers, &mut problems);
        if let Some(settings) = &settings {
            check::check(settings, &layers, &mut problems);
        }
        match (settings, Problems::try_from(problems)) {
            (_, Ok(problems)) => Err(problems),
            (Some(settings), Err(_none)) => Ok(Loaded { settings: Box::new(settings), layers }),
            (None, Err(_none)) => Err(Problem::of_file("built-in default", "cannot be read".to_owned()).into()),
        }
    }
}

/// Settings that are sound, with the memory of where each value came from.
#[derive(Clone, Debug)]
pub struct Loaded {
    /// The settings.
    pub settings: Box<Settings>,
    layers: Layers,
}

impl Loaded {
    /// The effective settings as TOML; a comment says of every value that is not built in where it was set.
    pub fn to_toml(&self) -> String {
        show::show(&self.layers)
    }
}
