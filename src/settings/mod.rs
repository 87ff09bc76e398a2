//! Typed settings, from four layers: built-in values, files, the environment, the command line.
//!
//! ```text
//! Settings::default()  <  FILE  <  CONCILIO__SECTION__KEY=value  <  --set section.key=value
//! ```
//!
//! The `config` crate lays them over each other, key by key, before anything is read from them
//! (`sources`, `layers`); then the merged table is read into [`Settings`] (`read`). Tables inherit
//! keys as their types say (`deserializer`). Every problem becomes one line that names the key, its
//! value, its place, and the accepted values; all problems are reported (`problem`). The effective
//! values and their sources can be shown as TOML again (`show`).
//!
//! A key is declared once, in a table of its own package (`util::settings!`): its meaning is the comment, its range stands in
//! `#[serde(with = "WholeNumber::<0, 100>")]` ([`util::values`]), its default behind the type.
//!
//! Invariants: no settings text, however odd, brings the program down; no token stands in the settings, only the name of
//! the file that holds it.
//!
//! To add a table: declare it in its own package, and add one line to [`Settings`] or
//! [`bot::session::PlayerSettings`]. The doc comments are the text of `config/example.toml`, which a
//! test compares and can write.

mod check;
mod deserializer;
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
use util::{
    SecretError,
    values::{as_base, named},
};
use web::WebSettings;

pub use problem::{Problem, Problems};
pub use sections::{LogFormat, LogSettings, Protocol, ServerSettings};
pub use sources::{Flag, Sources};

util::settings! {
    pub struct Settings {
        /// Time zone of hours of the day: `"local"`, `"UTC"`, or a name such as `"Europe/Rome"`.
        pub time_zone: String = "local".to_owned(),
        /// Accounts to play with: a table for each, under a name of your choice.
        pub servers: BTreeMap<String, ServerSettings> = BTreeMap::new(),
        /// Challenges of others, and the number of games.
        pub challenge: ChallengeSettings = ChallengeSettings::default(),
        /// Challenges of the bot to other bots.
        pub matchmaking: MatchmakingSettings = MatchmakingSettings::default(),
        /// Arenas and Swiss tournaments of Lichess. `concilio ctl join` joins one by hand. During a
        /// tournament one place of `challenge.concurrency` is kept for its next game; a profile can
        /// have `tournament = true` in its conditions.
        pub tournament: TournamentSettings = TournamentSettings::default(),
        /// Greetings have at most 140 characters and may contain {me}, {opponent}, {engine}, {cpu} and
        /// {ram}; an empty one is not sent.
        pub chat: ChatSettings = ChatSettings::default(),
        /// Play of the bot.
        #[serde(deserialize_with = "as_base")]
        pub player: PlayerSettings = PlayerSettings::default(),
        /// Changes of `[player]` for the games that meet all conditions of a profile. Of several such
        /// profiles the one with the most conditions counts; among equals, the first by name.
        ///
        /// ```toml
        /// [profiles.bullet-against-bots]
        /// when = { speed = "bullet", opponent = "bot" }
        /// council = { roster = "balanced-4" }
        /// resign = { enabled = true }
        /// ```
        ///
        /// Conditions: `speed`, `time_control` (a speed, or such as `"3+2"`), `color` (`"white"` or
        /// `"black"`), `variant`, `opponent` (`"human"` or `"bot"`), `names` and `titles` of opponents
        /// (lists, such as `titles = ["GM", "IM"]`), `min_rating` and `max_rating` of the opponent,
        /// `rated` (true or false), `tournament` (true or false).
        pub profiles: BTreeMap<String, Profile<PlayerSettings>> = BTreeMap::new(),
        /// The record of all games.
        pub journal: JournalSettings = JournalSettings::default(),
        /// Games of the journal studied while none is played (docs/report.md). A game that begins stops
        /// the searches at once.
        pub report: ReportSettings = ReportSettings::default(),
        /// Machines whose cores search for this one (docs/cluster.md): `concilio worker` runs there with
        /// the same server. Electors for which this machine has no core search there; without such
        /// machines all search here.
        pub cluster: ClusterSettings = ClusterSettings::default(),
        /// Running games when the daemon is told to stop.
        pub shutdown: ShutdownSettings = ShutdownSettings::default(),
        /// The page in the browser and the control channel.
        pub web: WebSettings = WebSettings::default(),
        /// Messages about events to an address on the web.
        pub webhook: WebhookSettings = WebhookSettings::default(),
        /// The log.
        pub log: LogSettings = LogSettings::default(),
    }
}

impl Settings {
    pub fn zone(&self) -> TimeZone {
        match self.time_zone.as_str() {
            "local" => TimeZone::system(),
            // Loading has rejected unknown names.
            name => TimeZone::get(name).unwrap_or(TimeZone::UTC),
        }
    }

    /// Returns the path of the daemon's control socket: the configured one, or the one beside the
    /// journal.
    pub fn control_socket(&self) -> PathBuf {
        if let Some(socket) = named(&self.web.socket) {
            return socket.to_owned();
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

    /// The table `tournament`, with the passwords of its tournaments.
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
        problems.sort_by_key(Problem::place);
        match (settings, Problems::of(problems)) {
            (_, Some(problems)) => Err(problems),
            (Some(settings), None) => Ok(Loaded { settings: Box::new(settings), layers }),
            (None, None) => Err(Problem::new(&None, "cannot be read".to_owned()).into()),
        }
    }
}

#[derive(Clone, Debug)]
pub struct Loaded {
    pub settings: Box<Settings>,
    layers: Layers,
}
