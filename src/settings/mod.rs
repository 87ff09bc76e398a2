//! Typed settings, from four layers: built-in values, files, the environment, the command line.
//!
//! ```text
//! Settings::default()  <  FILE  <  CONCILIO__SECTION__KEY=value  <  --set section.key=value
//! ```
//!
//! The `config` crate lays them over each other, key by key, before anything is read from them
//! (`sources`, `layers`); then the merged table is read into [`Settings`] (`read`). Every problem
//! becomes one line that names the key, its value, its place, and the accepted values; all problems
//! are reported (`problem`). The effective values and their sources can be shown as TOML again
//! (`show`).
//!
//! A key is declared once, as a field of the settings of its own package: its meaning is the comment, its range stands in
//! `#[serde(with = "WholeNumber::<0, 100>")]` ([`domain::values`]), its default in `Default`.
//!
//! Invariants: no settings text, however odd, brings the program down; no token stands in the settings, only the name of
//! the file that holds it.
//!
//! To add a table: write its type in its own package (`#[serde(default, deny_unknown_fields)]`, and
//! a `Default`), add one line to [`Settings`] or [`bot::session::PlayerSettings`], and explain its
//! keys in `config/example.toml`; a test says what is missing there, and where default or range
//! differ.

mod changes;
mod check;
pub mod import;
mod layers;
mod problem;
mod read;
mod sections;
mod show;
mod sources;
#[cfg(test)]
mod tests;
mod values;

use std::{collections::BTreeMap, fs, io, path::PathBuf};

use jiff::tz::TimeZone;
use serde::{Deserialize, Serialize};

use bot::{
    journal::JournalSettings,
    policy::{
        ChallengeSettings, ChatSettings, MatchmakingSettings, NameLists, Profile, TournamentPolicy, TournamentSettings,
        challenge::Names, tournament::NamedTournament,
    },
    session::{PlayerSettings, ShutdownSettings},
    webhook::WebhookSettings,
};
use cluster::ClusterSettings;
use layers::Layers;
use report::ReportSettings;
use util::SecretError;
use web::WebSettings;

pub use problem::{Problem, Problems};
pub use sections::{FicsAddressError, LogFormat, LogSettings, Protocol, ServerSettings};
pub use sources::{Flag, Sources};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// Time zone of hours of the day: `local`, `UTC`, or a name such as `Europe/Rome`.
    pub time_zone: String,
    pub servers: BTreeMap<String, ServerSettings>,
    pub challenge: ChallengeSettings,
    pub matchmaking: MatchmakingSettings,
    pub tournament: TournamentSettings,
    pub chat: ChatSettings,
    pub player: PlayerSettings,
    /// Changes of the player for certain games.
    pub profiles: BTreeMap<String, Profile<PlayerSettings>>,
    pub journal: JournalSettings,
    /// Games studied while none is played.
    pub report: ReportSettings,
    /// Machines that search for us.
    pub cluster: ClusterSettings,
    /// Fate of running games at the end.
    pub shutdown: ShutdownSettings,
    /// The page in the browser and the control channel.
    pub web: WebSettings,
    pub webhook: WebhookSettings,
    pub log: LogSettings,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            time_zone: "local".to_owned(),
            servers: BTreeMap::new(),
            challenge: ChallengeSettings::default(),
            matchmaking: MatchmakingSettings::default(),
            tournament: TournamentSettings::default(),
            chat: ChatSettings::default(),
            player: PlayerSettings::default(),
            profiles: BTreeMap::new(),
            journal: JournalSettings::default(),
            report: ReportSettings::default(),
            cluster: ClusterSettings::default(),
            shutdown: ShutdownSettings::default(),
            web: WebSettings::default(),
            webhook: WebhookSettings::default(),
            log: LogSettings::default(),
        }
    }
}

impl Settings {
    /// The zone in which hours of the day are meant.
    pub fn zone(&self) -> TimeZone {
        match self.time_zone.as_str() {
            "local" => TimeZone::system(),
            // Loading refused every name that is not known.
            name => TimeZone::get(name).unwrap_or(TimeZone::UTC),
        }
    }

    /// Returns the path of the daemon's control socket: the configured one, or the one beside the
    /// journal.
    pub fn control_socket(&self) -> PathBuf {
        if !self.web.socket.as_os_str().is_empty() {
            return self.web.socket.clone();
        }
        let mut beside = self.journal.path.clone().into_os_string();
        beside.push(".sock");
        beside.into()
    }

    /// The names that challenges, others' and ours, are held against, read anew from their files.
    ///
    /// # Errors
    /// When a file cannot be read; the error names it.
    pub fn name_lists(&self) -> io::Result<NameLists> {
        let challenge = &self.challenge;
        Ok(NameLists {
            block: names(&challenge.block, &challenge.block_files)?,
            allow: names(&challenge.allow, &challenge.allow_files)?,
            friends: names(&challenge.friends, &[])?,
            avoid: names(&self.matchmaking.avoid, &self.matchmaking.avoid_files)?,
        })
    }

    /// The table `tournament`, with the passwords of the tournaments that it names.
    pub fn tournament_policy(&self) -> Result<TournamentPolicy, SecretError> {
        let named = self.tournament.join.iter().map(NamedTournament::entry).collect::<Result<_, _>>()?;
        Ok(TournamentPolicy { settings: self.tournament.clone(), named })
    }
}

fn names(listed: &[String], files: &[PathBuf]) -> io::Result<Names> {
    let mut names: Names = listed.iter().collect();
    for file in files {
        let unreadable = |error: io::Error| io::Error::new(error.kind(), format!("{}: {error}", file.display()));
        names.extend(Names::parse(&fs::read_to_string(file).map_err(unreadable)?));
    }
    Ok(names)
}

impl Sources {
    /// Merges the layers and reads them.
    pub fn load(&self) -> Result<Loaded, Problems> {
        self.load_whatever(|_| true)
    }

    /// Loads settings for a command that needs these tables alone: problems of the others are
    /// replaced by defaults.
    pub fn load_tables(&self, tables: &[&str]) -> Result<Loaded, Problems> {
        self.load_whatever(|problem| problem.is_in(tables))
    }

    /// Loads settings for commands that only have to find something: problems are skipped, and
    /// built-in values take their place.
    pub fn load_leniently(&self) -> Settings {
        self.load_whatever(|_| false).map(|loaded| *loaded.settings).unwrap_or_default()
    }

    fn load_whatever(&self, matters: impl Fn(&Problem) -> bool) -> Result<Loaded, Problems> {
        let (mut layers, mut problems) = Layers::merge(&read::built_in(), self);
        let settings = read::read(&mut layers, &mut problems);
        if let Some(settings) = &settings {
            check::check(settings, &layers, &mut problems);
        }
        problems.retain(matters);
        match (settings, Problems::try_from(problems)) {
            (_, Ok(problems)) => Err(problems),
            (Some(settings), Err(_none)) => Ok(Loaded { settings: Box::new(settings), layers }),
            (None, Err(_none)) => Err(Problem::new(&None, "cannot be read".to_owned()).into()),
        }
    }
}

/// Settings that are sound, with the memory of where each value came from.
#[derive(Clone, Debug)]
pub struct Loaded {
    pub settings: Box<Settings>,
    layers: Layers,
}

impl Loaded {
    /// The effective settings as TOML; a comment says of every value that is not built in where it was set.
    pub fn to_toml(&self) -> String {
        show::show(&self.layers)
    }
}
