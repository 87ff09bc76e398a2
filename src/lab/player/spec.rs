//! Players as they are written on the command line.

mod files;

use std::{
    fmt, fs,
    path::{Path, PathBuf},
    str::FromStr,
};

use serde::Deserialize;

use super::{
    MatchPlayer, Pace, PaceError, PlayerFailure, council::CouncilPlayer, own::OwnPlayer, uci::UciPlayer,
    xboard::XboardPlayer,
};
use crate::speed::Speeds;
use council::{
    CouncilSettings, Roster, RosterError,
    electors::{ElectorSpec, EngineProgram, Instance, VirtualMachines, net_file},
};
use engine::EngineOptions;

/// Transposition table of a player that does not say otherwise, MiB.
const HASH: usize = 16;

/// A player before it sits down.
///
/// Written as a kind, a colon, and values with commas between them:
///
/// | text | player |
/// |---|---|
/// | `engine`, `engine:mpar,hash=16,threads=2,contempt=0` | our engine: knowledge letters (the eight by default) and options; `net=FILE` where the letters have `n`, `search=razor_slope=300 aspiration=10` for numbers of the search |
/// | `council`, `council:balanced-7`, `council:roster=mpar mbkc,criterion=weights,weights.m=45` | a council: a roster, and keys of the `council` table of the settings |
/// | `council:preset=gnupar,split=0.5` | a published player, with changes |
/// | `council:complete-8,machines.count=2,machines.entries=32` | the same on several machines in virtual time: the keys of [`VirtualMachines`] |
/// | `council:file=bot.toml` | the council of a settings file (`player.council`, `council`, or the keys alone) |
/// | `uci:/usr/games/stockfish,Threads=1` | a UCI engine: the command with its arguments, and options |
/// | `xboard:/usr/games/gnuchess` | a CECP engine: the same |
///
/// Each takes `name=` for the tables, and `nodes=`, `movetime=` or `tc=` for a pace of its own.
#[derive(Clone, Debug, PartialEq)]
pub struct PlayerSpec {
    text: String,
    name: Option<String>,
    pace: Option<Pace>,
    /// Files that its text names: a net of our engine, or the settings of a council.
    named_files: Vec<PathBuf>,
    kind: PlayerKind,
}

#[derive(Clone, Debug, PartialEq)]
enum PlayerKind {
    Engine(EngineOptions),
    Council(Box<CouncilSettings>, Roster, Option<VirtualMachines>),
    Uci { program: EngineProgram, hash: usize, threads: usize },
    Xboard(EngineProgram),
}

#[derive(Debug, thiserror::Error)]
pub enum PlayerSpecError {
    /// An unknown kind.
    #[error("player {0:?}: expected engine, council, uci:COMMAND or xboard:COMMAND, with options after a colon")]
    Kind(String),
    /// Something without an equals sign where it has no meaning.
    #[error("player {player:?}: {word:?} is not understood (accepted: key=value)")]
    Word { player: String, word: String },
    /// An option that the engine does not have, or a value it does not take.
    #[error("player {player:?}: {reason}")]
    Option { player: String, reason: String },
    #[error(transparent)]
    Pace(#[from] PaceError),
    /// A roster that cannot be made.
    #[error(transparent)]
    Roster(#[from] RosterError),
}

impl PlayerSpec {
    /// Returns its name in tables and games: the given name, or its text.
    pub fn name(&self) -> &str {
        self.name.as_deref().unwrap_or(&self.text)
    }

    pub fn text(&self) -> &str {
        &self.text
    }

    pub fn pace(&self) -> Option<Pace> {
        self.pace
    }

    /// Returns true if it supports a pace: CECP has no node budgets.
    pub fn understands(&self, pace: Pace) -> bool {
        pace.is_timed() || !matches!(self.kind, PlayerKind::Xboard(_))
    }

    /// Returns true if it has more electors on more cores.
    pub fn grows(&self) -> bool {
        matches!(&self.kind, PlayerKind::Council(_, roster, _) if roster.grows())
    }

    /// Our own instances that search in it; `None` if others do, whose nodes are no measure of their time.
    pub fn instances(&self) -> Option<Vec<Instance>> {
        match &self.kind {
            PlayerKind::Engine(options) => Some(vec![instance_of(options)]),
            PlayerKind::Council(_, roster, _) => {
                roster.electors().iter().chain(roster.advisers()).map(|elector| elector.instance().cloned()).collect()
            }
            PlayerKind::Uci { .. } | PlayerKind::Xboard(_) => None,
        }
    }

    /// Sets its pace to the time in which complete knowledge visits `nodes` nodes.
    #[must_use]
    pub fn at_equal_time(mut self, nodes: u64, speeds: &Speeds) -> (Self, Pace) {
        let nodes = match &mut self.kind {
            PlayerKind::Engine(options) => (nodes as f64 * speeds.of(&instance_of(options))).round() as u64,
            PlayerKind::Council(_, roster, _) => {
                let speed = |elector: &ElectorSpec| elector.instance().map_or(1.0, |instance| speeds.of(instance));
                *roster = roster.clone().at_speeds(&speed);
                nodes
            }
            PlayerKind::Uci { .. } | PlayerKind::Xboard(_) => nodes,
        };
        (self, Pace::Nodes(nodes.max(1)))
    }

    /// Starts it with `cores` cores to itself.
    pub fn start(&self, cores: usize) -> Result<Box<dyn MatchPlayer>, PlayerFailure> {
        Ok(match &self.kind {
            PlayerKind::Engine(options) => Box::new(OwnPlayer::new(options.clone())),
            PlayerKind::Council(settings, roster, machines) => {
                Box::new(CouncilPlayer::new(roster.clone(), (**settings).clone(), *machines, cores)?)
            }
            PlayerKind::Uci { program, hash, threads } => Box::new(UciPlayer::start(program, *hash, *threads)?),
            PlayerKind::Xboard(program) => Box::new(XboardPlayer::start(program, HASH)?),
        })
    }
}

impl PlayerSpec {
    pub fn engine(name: String, options: EngineOptions) -> Self {
        Self { text: name, name: None, pace: None, named_files: Vec::new(), kind: PlayerKind::Engine(options) }
    }

    /// A council of these settings.
    pub fn council(name: String, settings: CouncilSettings) -> Result<Self, PlayerSpecError> {
        let roster = Roster::from_settings(&settings)?;
        let kind = PlayerKind::Council(Box::new(settings), roster, None);
        Ok(Self { text: name, name: None, pace: None, named_files: Vec::new(), kind })
    }
}

impl FromStr for PlayerSpec {
    type Err = PlayerSpecError;

    fn from_str(text: &str) -> Result<Self, PlayerSpecError> {
        let (kind, rest) = text.split_once(':').unwrap_or((text, ""));
        let mut reading = SpecReader { player: text, name: None, pace: None, bare: None, options: Vec::new() };
        reading.read(rest)?;
        let named_files = match kind {
            "engine" => reading.files("net"),
            "council" => reading.files("file"),
            _ => Vec::new(),
        };
        let kind = match kind {
            "engine" => reading.engine()?,
            "council" => reading.council()?,
            "uci" => PlayerKind::Uci { program: reading.program()?, hash: HASH, threads: 1 },
            "xboard" => PlayerKind::Xboard(reading.program()?),
            _ => return Err(PlayerSpecError::Kind(text.to_owned())),
        };
        Ok(Self { text: text.to_owned(), name: reading.name, pace: reading.pace, named_files, kind })
    }
}

impl fmt::Display for PlayerSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

struct SpecReader<'a> {
    player: &'a str,
    name: Option<String>,
    pace: Option<Pace>,
    /// The first part without a key: knowledge, a roster, a command.
    bare: Option<&'a str>,
    options: Vec<(&'a str, &'a str)>,
}

impl<'a> SpecReader<'a> {
    fn read(&mut self, text: &'a str) -> Result<(), PlayerSpecError> {
        for (index, word) in text.split(',').map(str::trim).enumerate() {
            match word.split_once('=') {
                Some(("name", name)) => self.name = Some(name.to_owned()),
                // The command of a program may have an equals sign in its arguments, and its options have blanks in their names.
                Some((key, value)) if index > 0 || !key.contains(char::is_whitespace) => {
                    match Pace::from_key(key, value) {
                        Some(pace) => self.pace = Some(pace?),
                        None => self.options.push((key, value)),
                    }
                }
                _ if word.is_empty() => {}
                _ if index == 0 => self.bare = Some(word),
                _ => {
                    return Err(PlayerSpecError::Word { player: self.player.to_owned(), word: word.to_owned() });
                }
            }
        }
        Ok(())
    }

    /// The files that options of this name have.
    fn files(&self, name: &str) -> Vec<PathBuf> {
        self.options.iter().filter(|(key, _)| *key == name).map(|(_, value)| PathBuf::from(value)).collect()
    }

    fn wrong(&self, reason: impl fmt::Display) -> PlayerSpecError {
        PlayerSpecError::Option { player: self.player.to_owned(), reason: reason.to_string() }
    }

    fn engine(&self) -> Result<PlayerKind, PlayerSpecError> {
        let mut options = EngineOptions { hash: HASH, ..EngineOptions::default() };
        if let Some(knowledge) = self.bare {
            options.knowledge = knowledge.parse().map_err(|error| self.wrong(error))?;
        }
        for (key, value) in &self.options {
            let number = |range: std::ops::RangeInclusive<i64>| {
                let number = value.parse().ok().filter(|number| range.contains(number));
                let accepted = || format!("{key}={value} (accepted: {} to {})", range.start(), range.end());
                number.ok_or_else(|| self.wrong(accepted()))
            };
            match *key {
                "knowledge" => options.knowledge = value.parse().map_err(|error| self.wrong(error))?,
                "hash" => options.hash = number(1..=65_536)? as usize,
                "net" => options.net = Some(net_file(Path::new(value)).map_err(|error| self.wrong(error))?),
                "search" => options.parameters = value.parse().map_err(|error| self.wrong(error))?,
                "threads" => options.threads = number(1..=256)? as usize,
                "contempt" => options.contempt = number(-200..=200)? as i32,
                _ => return Err(self.wrong(format_args!("{key} is no option of our engine"))),
            }
        }
        options.check_net().map_err(|error| self.wrong(error))?;
        Ok(PlayerKind::Engine(options))
    }

    fn council(&self) -> Result<PlayerKind, PlayerSpecError> {
        let option = |name: &str| self.options.iter().find(|(key, _)| *key == name).map(|(_, value)| *value);
        let mut table = match (option("file"), option("preset")) {
            (Some(path), _) => council_table(path).map_err(|error| self.wrong(error))?,
            (None, Some(name)) => preset(name).map_err(|error| self.wrong(error))?,
            (None, None) => toml::Table::new(),
        };
        if let Some(roster) = self.bare {
            table.insert("roster".to_owned(), toml::Value::from(roster));
        }
        for (key, value) in self.options.iter().filter(|(key, _)| !matches!(*key, "file" | "preset")) {
            // A value is what TOML takes it for, and otherwise a text: knowledge letters need no quotes.
            let read =
                format!("value = {value}").parse::<toml::Table>().ok().and_then(|table| table.get("value").cloned());
            set_key(&mut table, key, read.unwrap_or_else(|| toml::Value::from(*value)));
        }
        let machines = table.remove("machines").map(VirtualMachines::deserialize).transpose();
        let machines = machines.map_err(|error| self.wrong(format_args!("machines: {}", error.message())))?;
        let settings = CouncilSettings::deserialize(table).map_err(|error| self.wrong(error.message()))?;
        let roster = Roster::from_settings(&settings)?;
        Ok(PlayerKind::Council(Box::new(settings), roster, machines))
    }

    fn program(&self) -> Result<EngineProgram, PlayerSpecError> {
        let mut words = self.bare.unwrap_or_default().split_ascii_whitespace();
        let path = words.next().ok_or_else(|| PlayerSpecError::Kind(self.player.to_owned()))?;
        Ok(EngineProgram {
            path: PathBuf::from(path),
            arguments: words.map(str::to_owned).collect(),
            options: self.options.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect(),
            ..EngineProgram::default()
        })
    }
}

/// Returns everything that the engine's speed depends on.
fn instance_of(options: &EngineOptions) -> Instance {
    let EngineOptions { knowledge, percentages, contempt, selectivity, noise, ref net, .. } = *options;
    Instance { knowledge, percentages, contempt, selectivity, noise, net: net.clone() }
}

fn preset(name: &str) -> Result<toml::Table, String> {
    let known = || CouncilSettings::presets().collect::<Vec<_>>().join(", ");
    let settings = CouncilSettings::preset(name).ok_or_else(|| format!("preset={name} (accepted: {})", known()))?;
    toml::Table::try_from(settings).map_err(|error| error.to_string())
}

/// The council of a settings file (`player.council`, `council`, or the keys alone).
pub fn council_settings(path: &Path) -> Result<CouncilSettings, String> {
    let table = council_table(&path.to_string_lossy())?;
    CouncilSettings::deserialize(table).map_err(|error| error.message().to_owned())
}

fn council_table(path: &str) -> Result<toml::Table, String> {
    let text = fs::read_to_string(path).map_err(|error| format!("{path}: {error}"))?;
    let file: toml::Table = text.parse().map_err(|error: toml::de::Error| format!("{path}: {}", error.message()))?;
    let inner = |table: &toml::Table, key: &str| table.get(key).and_then(toml::Value::as_table).cloned();
    let of_player = inner(&file, "player").and_then(|player| inner(&player, "council"));
    Ok(of_player.or_else(|| inner(&file, "council")).unwrap_or(file))
}

/// Sets a key of a table of settings; its dots lead into inner tables.
pub fn set_key(table: &mut toml::Table, key: &str, value: toml::Value) {
    match key.split_once('.') {
        None => _ = table.insert(key.to_owned(), value),
        Some((head, rest)) => {
            let inner = table.entry(head).or_insert_with(|| toml::Table::new().into());
            if let Some(inner) = inner.as_table_mut() {
                set_key(inner, rest, value);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use council::{CriterionName, electors::BelievedValues};

    fn council(text: &str) -> CouncilSettings {
        match text.parse::<PlayerSpec>().unwrap_or_else(|error| panic!("{error}")).kind {
            PlayerKind::Council(settings, ..) => *settings,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn engine_is_named_by_its_knowledge() {
        let spec: PlayerSpec = "engine:mpar,hash=64,threads=2,nodes=5000,name=small".parse().expect("a player");
        assert_eq!((spec.name(), spec.pace()), ("small", Some(Pace::Nodes(5000))));
        let PlayerKind::Engine(options) = &spec.kind else { panic!("{spec:?}") };
        assert_eq!((options.knowledge.to_string().as_str(), options.hash, options.threads), ("mpar", 64, 2));
        assert_eq!("engine".parse::<PlayerSpec>().expect("a player").name(), "engine");
    }

    #[test]
    fn council_accepts_settings_keys() {
        let settings = council("council:roster=mbxkcpar mp ma,criterion=weights,weights.m=45,split=0.5");
        assert_eq!((settings.roster.as_str(), settings.criterion), ("mbxkcpar mp ma", CriterionName::Weights));
        assert_eq!((settings.weights.m, settings.weights.p, settings.split), (45.0, 21.0, 0.5));
        assert_eq!(council("council:unbalanced-4").roster, "unbalanced-4");
        assert_eq!(council("council"), CouncilSettings::default());
        let published = CouncilSettings::preset("chesspar").expect("a preset");
        assert_eq!(council("council:preset=chesspar"), published);
        assert_eq!(council("council:preset=chesspar,split=0.25"), CouncilSettings { split: 0.25, ..published });
    }

    #[test]
    fn council_may_use_virtual_machines() {
        let text = "council:complete-8,machines.count=2,machines.entries=32,machines.delay=25,machines.values=all";
        let spec: PlayerSpec = text.parse().expect("a player");
        let PlayerKind::Council(settings, _, machines) = &spec.kind else { panic!("{spec:?}") };
        assert_eq!(settings.roster, "complete-8");
        let expected = VirtualMachines {
            count: 2,
            entries: 32,
            delay: 25,
            values: BelievedValues::All,
            ..VirtualMachines::default()
        };
        assert_eq!(*machines, Some(expected));
    }

    #[test]
    fn equal_time_scales_nodes_by_speed() {
        let speeds: Speeds = "mp=1.7 mbxkcparn=0.8".parse().expect("speeds");
        let at = |text: &str| text.parse::<PlayerSpec>().expect("a player").at_equal_time(5000, &speeds);
        assert_eq!(at("engine:mp").1, Pace::Nodes(8500));
        assert_eq!(at("engine").1, Pace::Nodes(5000));
        let (spec, pace) = at("council:roster=mp mbxkcpar mbxkcparn");
        assert_eq!(pace, Pace::Nodes(5000));
        let PlayerKind::Council(_, roster, _) = &spec.kind else { panic!("{spec:?}") };
        assert_eq!(roster.electors().iter().map(|elector| elector.speed).collect::<Vec<_>>(), [1.7, 1.0, 0.8]);
        let program: PlayerSpec = "uci:/usr/games/stockfish".parse().expect("a player");
        assert_eq!(program.instances(), None);
    }

    #[test]
    fn council_may_come_from_a_file() -> Result<(), std::io::Error> {
        let folder = tempfile::tempdir()?;
        for text in ["[player.council]\nroster = \"mp ma\"", "[council]\nroster = \"mp ma\"", "roster = \"mp ma\""] {
            let path = folder.path().join("bot.toml");
            fs::write(&path, text)?;
            let settings = council(&format!("council:file={},criterion=depth", path.display()));
            assert_eq!((settings.roster.as_str(), settings.criterion), ("mp ma", CriterionName::Depth));
        }
        Ok(())
    }

    #[test]
    fn program_has_arguments_and_options() {
        let spec: PlayerSpec =
            "uci:/opt/engine --net=big uci,Hash=32,Use NNUE=false,movetime=0.1".parse().expect("a player");
        let PlayerKind::Uci { program, .. } = &spec.kind else { panic!("{spec:?}") };
        assert_eq!(
            (program.path.to_str(), program.arguments.as_slice()),
            (Some("/opt/engine"), &["--net=big".to_owned(), "uci".to_owned()][..])
        );
        assert_eq!(program.options.get("Hash").map(String::as_str), Some("32"));
        assert_eq!(program.options.get("Use NNUE").map(String::as_str), Some("false"));
        assert!("xboard:/usr/games/gnuchess --xboard".parse::<PlayerSpec>().is_ok());
    }

    #[test]
    fn player_errors_name_the_remedy() {
        for (text, part) in [
            ("stockfish", "expected engine, council, uci:COMMAND"),
            ("uci:", "expected engine"),
            ("engine:mm", "knowledge set"),
            ("engine:mn", "on top of m;"),
            ("engine:search=razor=3", "\"razor\" is no number of the search (accepted: reduction_base, "),
            ("engine:search=razor_slope=3", "razor_slope: accepted: 120 to 500"),
            ("engine:n,net=/nowhere.net", "/nowhere.net: "),
            ("engine:m,quick", "\"quick\" is not understood"),
            ("engine:hash=0", "accepted: 1 to 65536"),
            ("engine:colour=red", "colour is no option"),
            ("council:complete-2,machines.speed=3", "machines: unknown field `speed`"),
            ("engine:nodes=many", "nodes=many"),
            ("council:criterion=best", "re-search"),
            ("council:balanced-9", "balanced-7"),
            ("council:rooster=mp", "unknown field `rooster`"),
            ("council:file=/nowhere.toml", "/nowhere.toml"),
            ("council:preset=deep-thought", "gnupar, chesspar"),
        ] {
            let error = text.parse::<PlayerSpec>().expect_err(text).to_string();
            assert!(error.contains(part), "{text}: {error}");
        }
    }
}
