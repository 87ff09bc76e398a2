//! Players of chess as they are written on the command line.

use std::{
    fs,
    path::{Path, PathBuf},
};

use serde::Deserialize;

use super::{
    MatchPlayer, Pace, PlayerFailure, PlayerKind, council::CouncilPlayer, own::OwnPlayer, uci::UciPlayer,
    xboard::XboardPlayer,
};
use crate::{program_files::files_of_program, speed::Speeds};
use council::{
    CouncilSettings, Roster,
    electors::{
        ElectorKind, ElectorSpec, EngineProgram, Instance, VirtualMachines, cecp::CecpEngine, net_file, uci::UciEngine,
    },
};
use domain::Line;
use engine::{Engine, EngineOptions};
use experiment::player::PlayerWords;

/// Transposition table of a player that does not say otherwise, MiB.
const HASH: usize = 16;

/// A player of chess. Its text is a kind, a colon, and values with commas between them:
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
#[derive(Clone, Debug, PartialEq)]
pub enum ChessPlayerKind {
    Engine(EngineOptions),
    Council(Box<CouncilSettings>, Roster, Option<VirtualMachines>),
    Uci(EngineProgram),
    Xboard(EngineProgram),
}

impl ChessPlayerKind {
    pub fn council(settings: CouncilSettings) -> Result<Self, council::RosterError> {
        let roster = Roster::from_settings(&settings)?;
        Ok(Self::Council(Box::new(settings), roster, None))
    }

    /// Our own instances that search in it; `None` if others do, whose nodes are no measure of their time.
    pub fn instances(&self) -> Option<Vec<Instance>> {
        match self {
            Self::Engine(options) => Some(vec![Instance::of(options)]),
            Self::Council(_, roster, _) => {
                roster.electors().iter().chain(roster.advisers()).map(|elector| elector.instance().cloned()).collect()
            }
            Self::Uci(_) | Self::Xboard(_) => None,
        }
    }

    /// Sets its pace to the time in which complete knowledge visits `nodes` nodes, and returns that pace.
    pub(super) fn set_equal_time(&mut self, nodes: u64, speeds: &Speeds) -> Pace {
        let nodes = match self {
            Self::Engine(options) => (nodes as f64 * speeds.of(&Instance::of(options))).round() as u64,
            Self::Council(_, roster, _) => {
                let speed = |elector: &ElectorSpec| elector.instance().map_or(1.0, |instance| speeds.of(instance));
                *roster = roster.clone().at_speeds(&speed);
                nodes
            }
            Self::Uci(_) | Self::Xboard(_) => nodes,
        };
        Pace::Nodes(nodes.max(1))
    }
}

impl PlayerKind for ChessPlayerKind {
    type Line = Line;

    fn read(words: &mut PlayerWords<'_>) -> Result<Self, String> {
        match words.kind {
            "engine" => engine(words),
            "council" => council(words),
            "uci" => Ok(Self::Uci(program(words)?)),
            "xboard" => Ok(Self::Xboard(program(words)?)),
            _ => Err(words.wrong(EXPECTED)),
        }
    }

    fn start(&self, cores: usize) -> Result<Box<dyn MatchPlayer<Line>>, PlayerFailure> {
        Ok(match self {
            Self::Engine(options) => Box::new(OwnPlayer(Engine::new(options.clone()))),
            Self::Council(settings, roster, machines) => {
                Box::new(CouncilPlayer::new(roster.clone(), (**settings).clone(), *machines, cores)?)
            }
            Self::Uci(program) => Box::new(UciPlayer(UciEngine::start(program, HASH, 1)?)),
            Self::Xboard(program) => {
                Box::new(XboardPlayer { engine: CecpEngine::start(program, HASH, 1)?, is_new: true })
            }
        })
    }

    fn refuses(&self, pace: Pace) -> Option<&'static str> {
        let untimed = !pace.is_timed() && matches!(self, Self::Xboard(_));
        untimed.then_some("CECP knows no node budget; give it a pace of its own (tc= or movetime=)")
    }

    fn grows(&self) -> bool {
        matches!(self, Self::Council(_, roster, _) if roster.grows())
    }

    fn threads(&self) -> usize {
        match self {
            Self::Engine(options) => options.threads,
            // A growing council takes the cores that it gets.
            Self::Council(_, roster, _) if roster.grows() => 1,
            Self::Council(_, roster, _) => roster.electors().len(),
            Self::Uci(program) | Self::Xboard(program) => {
                program.options.get("Threads").and_then(|threads| threads.parse().ok()).unwrap_or(1)
            }
        }
    }

    fn files(&self) -> Vec<PathBuf> {
        match self {
            Self::Engine(_) => Vec::new(),
            Self::Council(settings, roster, _) => {
                let programs = roster.electors().iter().chain(roster.advisers()).filter_map(|elector| {
                    let ElectorKind::Engine(program) = &elector.kind else { return None };
                    Some(files_of_program(program))
                });
                programs.flatten().chain(settings.electors.iter().filter_map(|elector| elector.net.clone())).collect()
            }
            Self::Uci(program) | Self::Xboard(program) => files_of_program(program),
        }
    }
}

const EXPECTED: &str = "expected engine, council, uci:COMMAND or xboard:COMMAND, with options after a colon";

fn engine(words: &mut PlayerWords<'_>) -> Result<ChessPlayerKind, String> {
    let mut options = EngineOptions { hash: HASH, ..EngineOptions::default() };
    if let Some(knowledge) = words.bare {
        options.knowledge = knowledge.parse().map_err(|error| words.wrong(error))?;
    }
    for (key, value) in &words.options {
        let number = |range: std::ops::RangeInclusive<i64>| {
            let number = value.parse().ok().filter(|number| range.contains(number));
            let accepted = || format!("{key}={value} (accepted: {} to {})", range.start(), range.end());
            number.ok_or_else(|| words.wrong(accepted()))
        };
        match *key {
            "knowledge" => options.knowledge = value.parse().map_err(|error| words.wrong(error))?,
            "hash" => options.hash = number(1..=65_536)? as usize,
            "net" => options.net = Some(net_file(Path::new(value)).map_err(|error| words.wrong(error))?),
            "search" => options.parameters = value.parse().map_err(|error| words.wrong(error))?,
            "threads" => options.threads = number(1..=256)? as usize,
            "contempt" => options.contempt = number(-200..=200)? as i32,
            _ => return Err(words.wrong(format_args!("{key} is no option of the built-in engine"))),
        }
    }
    options.check_net().map_err(|error| words.wrong(error))?;
    words.name_files("net");
    Ok(ChessPlayerKind::Engine(options))
}

fn council(words: &mut PlayerWords<'_>) -> Result<ChessPlayerKind, String> {
    let mut table = match (words.option("file"), words.option("preset")) {
        (Some(path), _) => council_table(path).map_err(|error| words.wrong(error))?,
        (None, Some(name)) => preset(name).map_err(|error| words.wrong(error))?,
        (None, None) => toml::Table::new(),
    };
    words.add_to(&mut table, |key| !matches!(key, "file" | "preset"));
    let machines = table.remove("machines").map(VirtualMachines::deserialize).transpose();
    let machines = machines.map_err(|error| words.wrong(format_args!("machines: {}", error.message())))?;
    let settings = CouncilSettings::deserialize(table).map_err(|error| words.wrong(error.message()))?;
    let roster = Roster::from_settings(&settings).map_err(|error| words.wrong(error))?;
    words.name_files("file");
    Ok(ChessPlayerKind::Council(Box::new(settings), roster, machines))
}

fn program(words: &PlayerWords<'_>) -> Result<EngineProgram, String> {
    let mut command = words.bare.unwrap_or_default().split_ascii_whitespace();
    let path = command.next().ok_or_else(|| words.wrong(EXPECTED))?;
    Ok(EngineProgram {
        path: PathBuf::from(path),
        arguments: command.map(str::to_owned).collect(),
        options: words.options.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect(),
        ..EngineProgram::default()
    })
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::player::PlayerSpec;
    use council::CriterionName;

    fn council(text: &str) -> CouncilSettings {
        match text.parse::<PlayerSpec>().unwrap_or_else(|error| panic!("{error}")).kind {
            ChessPlayerKind::Council(settings, ..) => *settings,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn engine_is_named_by_its_knowledge() {
        let spec: PlayerSpec = "engine:mpar,hash=64,threads=2,nodes=5000,name=small".parse().expect("a player");
        assert_eq!((spec.name(), spec.pace), ("small", Some(Pace::Nodes(5000))));
        let ChessPlayerKind::Engine(options) = &spec.kind else { panic!("{spec:?}") };
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
        let text = "council:complete-8,machines.count=2,machines.entries=32,machines.delay=25";
        let spec: PlayerSpec = text.parse().expect("a player");
        let ChessPlayerKind::Council(settings, _, machines) = &spec.kind else { panic!("{spec:?}") };
        assert_eq!(settings.roster, "complete-8");
        let expected = VirtualMachines { count: 2, entries: 32, delay: 25, ..VirtualMachines::default() };
        assert_eq!(*machines, Some(expected));
    }

    #[test]
    fn equal_time_scales_nodes_by_speed() {
        let speeds: Speeds = "mp=1.7 n=0.8".parse().expect("speeds");
        let at = |text: &str| {
            let mut kind = text.parse::<PlayerSpec>().expect("a player").kind;
            (kind.set_equal_time(5000, &speeds), kind)
        };
        assert_eq!(at("engine:mp").0, Pace::Nodes(8500));
        assert_eq!(at("engine").0, Pace::Nodes(5000));
        let (pace, kind) = at("council:roster=mp mbxkcpar n");
        assert_eq!(pace, Pace::Nodes(5000));
        let ChessPlayerKind::Council(_, roster, _) = &kind else { panic!("{kind:?}") };
        assert_eq!(roster.electors().iter().map(|elector| elector.speed).collect::<Vec<_>>(), [1.7, 1.0, 0.8]);
        assert_eq!(at("uci:/usr/games/stockfish").1.instances(), None);
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
        let ChessPlayerKind::Uci(program) = &spec.kind else { panic!("{spec:?}") };
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
            ("engine:mn", "a net judges alone"),
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

    fn files(text: &str) -> Vec<PathBuf> {
        text.parse::<PlayerSpec>().unwrap_or_else(|error| panic!("{error}")).files()
    }

    #[cfg(unix)]
    #[test]
    fn program_on_path_resolves_to_its_file() {
        let found = files("uci:sh,Hash=32");
        assert!(found.len() == 1 && found[0].is_absolute() && found[0].ends_with("sh"), "{found:?}");
    }

    #[cfg(unix)]
    #[test]
    fn files_named_in_settings_count() {
        let folder = tempfile::tempdir().expect("a folder");
        let settings = folder.path().join("bot.toml");
        let text = "[council]\nroster = \"custom\"\nelectors = [{ knowledge = \"mp\" }, { engine = \"/bin/sh\" }]\n";
        fs::write(&settings, text).expect("writable");
        let found = files(&format!("council:file={}", settings.display()));
        assert_eq!(found, [settings, PathBuf::from("/bin/sh")]);
        assert!(files("council:balanced-7").is_empty() && files("engine:mp").is_empty());
    }
}
