//! Options that a chess program may set, in UCI and CECP.
//!
//! One list describes the options as they stand ([`list`]), one function sets them ([`set`]); UCI and CECP only spell them
//! differently.

use std::{fmt::Display, time::Duration};

use serde::de::{DeserializeOwned, IntoDeserializer as _};

use super::setup::{Setup, paths};
use council::{CouncilSettings, CriterionName, GroupMode, SecondPhaseMode};
use sources::{BookFile, BookSettings};

/// Programs keep the bounds of an option in 32 bits, and drop options with larger ones.
const LARGEST: u64 = (1 << 31) - 1;

/// The value of `Preset` that changes nothing.
const NO_PRESET: &str = "none";

/// Maximum ply at which a book named by the program is used.
const BOOK_PLIES: usize = 40;

pub(super) enum OptionKind {
    Check,
    /// A whole number in a range.
    Spin(u64, u64),
    Combo(Vec<&'static str>),
    Text,
    /// No value: a command.
    Button,
}

pub(super) struct EngineOption {
    pub name: &'static str,
    pub kind: OptionKind,
    pub value: String,
}

pub(super) fn list(setup: &Setup) -> Vec<EngineOption> {
    use OptionKind::{Button, Check, Combo, Spin, Text};
    let choice = |name, kind, value: &dyn Display| EngineOption { name, kind, value: value.to_string() };
    let council = &setup.council;
    let nodes = setup.limits.nodes.unwrap_or(0);
    let presets = std::iter::once(NO_PRESET).chain(CouncilSettings::presets()).collect();
    vec![
        choice("Hash", Spin(1, 1 << 20), &setup.hash()),
        choice("Clear Hash", Button, &""),
        choice("Threads", Spin(1, 512), &setup.own_cores()),
        choice("Ponder", Check, &false),
        choice("Move Overhead", Spin(0, 10_000), &setup.overhead.as_millis()),
        choice("UCI_Chess960", Check, &false),
        choice("Preset", Combo(presets), &NO_PRESET),
        choice("Roster", Text, &council.roster),
        choice("Advisers", Text, &council.advisers),
        choice("Criterion", Combo(CriterionName::ALL.map(CriterionName::word).to_vec()), &council.criterion.word()),
        choice("Mode", Combo(SecondPhaseMode::ALL.map(SecondPhaseMode::word).to_vec()), &council.second_phase.word()),
        choice("Groups", Combo(GroupMode::ALL.map(GroupMode::word).to_vec()), &council.groups.word()),
        choice("Split", Spin(0, 100), &(council.split * 100.0).round()),
        choice("Nodes per Elector", Spin(0, LARGEST.max(nodes)), &nodes),
        choice("Seed", Spin(0, LARGEST.max(council.seed)), &council.seed),
        choice("OwnBook", Check, &setup.own_book),
        choice("Book File", Text, &""),
        choice("SyzygyPath", Text, &""),
    ]
}

/// Sets one option, named without regard to case; the setup is unchanged if the value is not accepted. Returns true if the new
/// value needs another council. Programs repeat unchanged values before every game, and engines would start again on the clock.
pub(super) fn set(setup: &mut Setup, name: &str, value: &str) -> Result<bool, String> {
    let wanted = name.trim().to_lowercase();
    let known = list(setup).into_iter().find(|choice| choice.name.to_lowercase() == wanted);
    let choice = known.ok_or_else(|| format!("unknown option {name:?}"))?;
    let (text, number) = read(&choice, value.trim())?;
    let mut changed = setup.clone();
    match choice.name {
        "Hash" => {
            engine::uci::check_hash(number as usize)?;
            changed.share_hash(number as usize);
        }
        "Threads" => {
            let total = changed.hash();
            changed.cores = number as usize;
            // Use all of these cores and the remote ones.
            changed.council.cores = 0;
            changed.share_hash(total);
        }
        "Move Overhead" => changed.overhead = Duration::from_millis(number),
        "Roster" => {
            let total = changed.hash();
            changed.council.roster = text;
            changed.roster().map_err(|error| error.to_string())?;
            changed.share_hash(total);
        }
        "Advisers" => {
            changed.council.advisers = text;
            changed.roster().map_err(|error| error.to_string())?;
        }
        "Preset" => {
            if let Some(preset) = CouncilSettings::preset(&text) {
                let total = changed.hash();
                // A preset does not decide on cores, seed and electors of one's own.
                let CouncilSettings { cores, seed, electors, options, .. } = changed.council;
                changed.council = CouncilSettings { cores, seed, electors, options, ..preset };
                changed.share_hash(total);
            }
        }
        "Criterion" => {
            let total = changed.hash();
            changed.council.criterion = named(&text)?;
            changed.share_hash(total);
        }
        "Mode" => changed.council.second_phase = named(&text)?,
        "Groups" => changed.council.groups = named(&text)?,
        #[allow(clippy::cast_precision_loss, reason = "at most 100")]
        "Split" => changed.council.split = number as f64 / 100.0,
        "Nodes per Elector" => changed.limits.nodes = (number > 0).then_some(number),
        "Seed" => changed.council.seed = number,
        "OwnBook" => changed.own_book = number == 1,
        "Book File" => {
            let books = BookSettings {
                files: paths(&text).into_iter().map(BookFile::from).collect(),
                max_plies: BOOK_PLIES,
                ..BookSettings::default()
            };
            changed.open_books(&books).map_err(|error| error.to_string())?;
        }
        "SyzygyPath" => {
            changed.open_tablebases(&text).map_err(|error| format!("SyzygyPath: {error}"))?;
        }
        // The program itself acts on `Ponder` and `UCI_Chess960`; `Clear Hash` only starts a new council.
        _ => (),
    }
    // The contents of a book may have changed under the same name.
    let takes_another = matches!(choice.name, "Clear Hash" | "Book File") || !changed.has_settings_of(setup);
    *setup = changed;
    Ok(takes_another)
}

/// Reads one of the words of a choice, as the settings do.
fn named<T: DeserializeOwned>(word: &str) -> Result<T, String> {
    T::deserialize(word.into_deserializer()).map_err(|error: serde::de::value::Error| error.to_string())
}

/// The value as a text and as a number, each for the kinds of options that have one: `true` is 1.
fn read(choice: &EngineOption, value: &str) -> Result<(String, u64), String> {
    let refused = |accepted: String| format!("{}: {value:?} (accepted: {accepted})", choice.name);
    let number = |number: u64| Ok((String::new(), number));
    match &choice.kind {
        OptionKind::Button => number(0),
        OptionKind::Check => match value.to_lowercase().as_str() {
            "true" | "1" => number(1),
            "false" | "0" => number(0),
            _ => Err(refused("true, false".to_owned())),
        },
        OptionKind::Spin(least, most) => match value.parse() {
            Ok(value) if (*least..=*most).contains(&value) => number(value),
            _ => Err(refused(format!("{least} to {most}"))),
        },
        OptionKind::Combo(words) => match words.iter().find(|word| word.eq_ignore_ascii_case(value)) {
            Some(word) => Ok(((*word).to_owned(), 0)),
            None => Err(refused(words.join(", "))),
        },
        OptionKind::Text => Ok((if value == "<empty>" { String::new() } else { value.to_owned() }, 0)),
    }
}

#[cfg(test)]
mod tests {
    use std::{
        fs,
        path::{Path, PathBuf},
    };

    use super::*;
    use council::{ElectorSettings, clock::ClockSettings};
    use domain::{Line, Variant};
    use sources::{Library, TablebaseSettings, book::BookMaker};

    /// A book that begins with this move.
    fn book(folder: &Path, first: &str) -> PathBuf {
        let path = folder.join(format!("{first}.bin"));
        let mut maker = BookMaker::default();
        maker.add_text(&format!("! Only one\n{first}\n")).expect("a good text");
        fs::write(&path, maker.to_bytes()).expect("a book");
        path
    }

    fn setup(books: Vec<PathBuf>, paths: Vec<PathBuf>) -> Setup {
        let books = BookSettings { files: books.into_iter().map(BookFile::from).collect(), ..BookSettings::default() };
        let tablebases = TablebaseSettings { paths, ..TablebaseSettings::default() };
        let library = Library::open(&books, &tablebases).expect("readable");
        Setup::new(CouncilSettings::default(), &ClockSettings::default()).with_library(library)
    }

    /// The first moves that the books know, and the folders of tablebases that an option names.
    fn at_hand(setup: &Setup) -> (Vec<String>, PathBuf) {
        let moves = setup.library.book_moves(&Line::start(Variant::Standard));
        (moves.iter().map(|(uci, _)| uci.to_string()).collect(), PathBuf::from(&setup.tablebases))
    }

    #[test]
    fn empty_options_restore_settings() {
        let folder = tempfile::tempdir().expect("a folder");
        let [ours, others] = ["e2e4", "d2d4"].map(|first| book(folder.path(), first));
        let [here, there] = ["here", "there"].map(|name| folder.path().join(name));
        [&here, &there].into_iter().try_for_each(fs::create_dir).expect("folders");
        let mut setup = setup(vec![ours], vec![here.clone()]);
        for nothing in ["<empty>", ""] {
            set(&mut setup, "Book File", &others.display().to_string()).expect("a book");
            set(&mut setup, "SyzygyPath", &there.display().to_string()).expect("a folder");
            assert_eq!(at_hand(&setup), (vec!["d2d4".to_owned()], there.clone()));
            for name in ["Book File", "SyzygyPath"] {
                set(&mut setup, name, nothing).expect("as the settings have it");
                assert!(set(&mut setup, name, "/no/such/place").is_err(), "{name}");
            }
            assert_eq!(at_hand(&setup), (vec!["e2e4".to_owned()], PathBuf::new()), "{nothing:?}");
        }
    }

    #[test]
    fn unchanged_options_keep_council() {
        let mut setup = setup(Vec::new(), Vec::new());
        let said = [("Threads", "2"), ("Roster", "balanced-3"), ("Hash", "300"), ("OwnBook", "false"), ("Seed", "7")];
        for (name, value) in said {
            assert_eq!(set(&mut setup, name, value), Ok(true), "{name}");
        }
        let affairs = [("Ponder", "true"), ("UCI_Chess960", "true"), ("Preset", NO_PRESET), ("SyzygyPath", "")];
        for (name, value) in said.into_iter().chain(affairs) {
            assert_eq!(set(&mut setup, name, value), Ok(false), "{name}");
        }
        assert_eq!(set(&mut setup, "Clear Hash", ""), Ok(true));
    }

    #[test]
    fn option_bounds_fit_32_bits() {
        let mut setup = setup(Vec::new(), Vec::new());
        let largest = |setup: &Setup, name: &str| match list(setup).into_iter().find(|choice| choice.name == name) {
            Some(EngineOption { kind: OptionKind::Spin(_, most), .. }) => most,
            _ => panic!("{name} is no number"),
        };
        for name in ["Hash", "Threads", "Move Overhead", "Split", "Nodes per Elector", "Seed"] {
            assert!(largest(&setup, name) <= LARGEST, "{name}");
        }
        setup.council.seed = u64::MAX;
        assert_eq!(largest(&setup, "Seed"), u64::MAX);
    }

    #[test]
    fn presets_keep_other_choices() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut setup = setup(Vec::new(), vec![folder.path().to_owned()]);
        setup.council.electors = vec![ElectorSettings { knowledge: "mp".parse().ok(), ..ElectorSettings::default() }];
        set(&mut setup, "Preset", "gnupar").expect("a preset");
        assert_eq!((setup.council.roster.as_str(), setup.electors()), ("balanced-7", 7));
        for (name, value) in [("Advisers", "mates"), ("Roster", "custom")] {
            set(&mut setup, name, value).unwrap_or_else(|error| panic!("{name}: {error}"));
        }
        assert_eq!(setup.electors(), 1);
    }
}
