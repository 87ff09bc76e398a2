//! What a program may set, in both languages.
//!
//! One list describes the options as they stand ([`list`]), one function sets them ([`set`]); UCI and CECP only spell them
//! differently.

use std::{fmt::Display, time::Duration};

use super::setup::{Setup, paths};
use council::{
    CouncilSettings, CriterionName, GroupMode, SecondPhaseMode,
    player::{BookFile, BookSettings},
};

/// The value of `Preset` that changes nothing.
const NO_PRESET: &str = "none";

/// How deep into a game a book named by the program is asked, plies.
const BOOK_PLIES: usize = 40;

/// What an option takes.
pub(super) enum OptionKind {
    /// Yes or no.
    Check,
    /// A whole number in a range.
    Spin(u64, u64),
    /// One of these.
    Combo(Vec<&'static str>),
    /// Any text.
    Text,
    /// Nothing: it does something.
    Button,
}

/// An option and its value now.
pub(super) struct EngineOption {
    pub name: &'static str,
    pub kind: OptionKind,
    pub value: String,
}

/// The options as they stand.
pub(super) fn list(setup: &Setup) -> Vec<EngineOption> {
    let choice = |name, kind, value: &dyn Display| EngineOption { name, kind, value: value.to_string() };
    let council = &setup.council;
    vec![
        choice("Hash", OptionKind::Spin(1, 1 << 20), &setup.hash()),
        choice("Clear Hash", OptionKind::Button, &""),
        choice("Threads", OptionKind::Spin(1, 512), &setup.own_cores()),
        choice("Ponder", OptionKind::Check, &false),
        choice("Move Overhead", OptionKind::Spin(0, 10_000), &setup.overhead.as_millis()),
        choice("UCI_Chess960", OptionKind::Check, &false),
        choice(
            "Preset",
            OptionKind::Combo(std::iter::once(NO_PRESET).chain(CouncilSettings::presets()).collect()),
            &NO_PRESET,
        ),
        choice("Roster", OptionKind::Text, &council.roster),
        choice("Advisers", OptionKind::Text, &council.advisers),
        choice(
            "Criterion",
            OptionKind::Combo(CriterionName::ALL.map(CriterionName::word).to_vec()),
            &council.criterion.word(),
        ),
        choice(
            "Mode",
            OptionKind::Combo(SecondPhaseMode::ALL.map(SecondPhaseMode::word).to_vec()),
            &council.second_phase.word(),
        ),
        choice("Groups", OptionKind::Combo(GroupMode::ALL.map(GroupMode::word).to_vec()), &council.groups.word()),
        choice("Split", OptionKind::Spin(0, 100), &(council.split * 100.0).round()),
        choice("Nodes per Elector", OptionKind::Spin(0, 1 << 50), &setup.limits.nodes.unwrap_or(0)),
        choice("Seed", OptionKind::Spin(0, 1 << 50), &council.seed),
        choice("Heed Votes", OptionKind::Check, &setup.clock.heed_votes),
        choice("OwnBook", OptionKind::Check, &setup.own_book),
        choice("Book File", OptionKind::Text, &""),
        choice("SyzygyPath", OptionKind::Text, &""),
    ]
}

/// Sets one option, named without regard to case; the setup is unchanged where the value is not accepted.
///
/// # Errors
/// What is accepted.
pub(super) fn set(setup: &mut Setup, name: &str, value: &str) -> Result<(), String> {
    let wanted = name.trim().to_lowercase();
    let known = list(setup).into_iter().find(|choice| choice.name.to_lowercase() == wanted);
    let choice = known.ok_or_else(|| format!("unknown option {name:?}"))?;
    let value = read(&choice, value.trim())?;
    let mut changed = setup.clone();
    match (choice.name, value) {
        ("Hash", OptionValue::Number(total)) => {
            engine::uci::check_hash(total as usize)?;
            changed.share_hash(total as usize);
        }
        ("Threads", OptionValue::Number(cores)) => {
            let total = changed.hash();
            changed.cores = cores as usize;
            // All of these, and those that others lend.
            changed.council.cores = 0;
            changed.share_hash(total);
        }
        ("Move Overhead", OptionValue::Number(milliseconds)) => changed.overhead = Duration::from_millis(milliseconds),
        ("Roster", OptionValue::Text(roster)) => {
            let total = changed.hash();
            changed.council.roster = roster;
            changed.roster().map_err(|error| error.to_string())?;
            changed.share_hash(total);
        }
        ("Advisers", OptionValue::Text(advisers)) => {
            changed.council.advisers = advisers;
            changed.roster().map_err(|error| error.to_string())?;
        }
        ("Preset", OptionValue::Text(name)) => {
            if let Some(preset) = CouncilSettings::preset(&name) {
                let total = changed.hash();
                let CouncilSettings { cores, seed, .. } = changed.council;
                changed.council = CouncilSettings { cores, seed, ..preset };
                changed.share_hash(total);
            }
        }
        ("Criterion", OptionValue::Text(word)) => {
            let total = changed.hash();
            let named = CriterionName::ALL.into_iter().find(|criterion| criterion.word() == word);
            changed.council.criterion = named.unwrap_or(changed.council.criterion);
            changed.share_hash(total);
        }
        ("Mode", OptionValue::Text(word)) => {
            let named = SecondPhaseMode::ALL.into_iter().find(|mode| mode.word() == word);
            changed.council.second_phase = named.unwrap_or(changed.council.second_phase);
        }
        ("Groups", OptionValue::Text(word)) => {
            let named = GroupMode::ALL.into_iter().find(|mode| mode.word() == word);
            changed.council.groups = named.unwrap_or(changed.council.groups);
        }
        #[allow(clippy::cast_precision_loss, reason = "at most 100")]
        ("Split", OptionValue::Number(percent)) => changed.council.split = percent as f64 / 100.0,
        ("Nodes per Elector", OptionValue::Number(nodes)) => changed.limits.nodes = (nodes > 0).then_some(nodes),
        ("Seed", OptionValue::Number(seed)) => changed.council.seed = seed,
        ("Heed Votes", OptionValue::Truth(heeded)) => changed.clock.heed_votes = heeded,
        ("OwnBook", OptionValue::Truth(used)) => changed.own_book = used,
        ("Book File", OptionValue::Text(file)) => {
            let books = BookSettings {
                files: paths(&file).into_iter().map(BookFile::from).collect(),
                max_plies: BOOK_PLIES,
                ..BookSettings::default()
            };
            changed.open_books(&books).map_err(|error| error.to_string())?;
        }
        ("SyzygyPath", OptionValue::Text(folders)) => {
            changed.open_tablebases(&folders).map_err(|error| format!("SyzygyPath: {error}"))?;
            // An adviser may need them.
            changed.roster().map_err(|error| error.to_string())?;
        }
        // The program's own affairs, which it tells when they matter; and the button, which starts a new council.
        _ => (),
    }
    *setup = changed;
    Ok(())
}

/// A value as its option takes it.
enum OptionValue {
    Truth(bool),
    Number(u64),
    Text(String),
    Nothing,
}

fn read(choice: &EngineOption, value: &str) -> Result<OptionValue, String> {
    let refused = |accepted: String| format!("{}: {value:?} (accepted: {accepted})", choice.name);
    match &choice.kind {
        OptionKind::Button => Ok(OptionValue::Nothing),
        OptionKind::Check => match value.to_lowercase().as_str() {
            "true" | "1" => Ok(OptionValue::Truth(true)),
            "false" | "0" => Ok(OptionValue::Truth(false)),
            _ => Err(refused("true, false".to_owned())),
        },
        OptionKind::Spin(least, most) => match value.parse() {
            Ok(number) if (*least..=*most).contains(&number) => Ok(OptionValue::Number(number)),
            _ => Err(refused(format!("{least} to {most}"))),
        },
        OptionKind::Combo(words) => match words.iter().find(|word| word.eq_ignore_ascii_case(value)) {
            Some(word) => Ok(OptionValue::Text((*word).to_owned())),
            None => Err(refused(words.join(", "))),
        },
        OptionKind::Text => Ok(OptionValue::Text(if value == "<empty>" { String::new() } else { value.to_owned() })),
    }
}
