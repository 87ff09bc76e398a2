//! Reads the merged table into [`Settings`], and finds every mistake.
//!
//! Serde stops at the first mistake. So the table is read again and again: each mistake becomes a
//! problem and is replaced by its default, until none is left.
//!
//! Some keys are written once and count in several places: those of `challenge` for humans and
//! bots, those of `matchmaking` for all types, those of `player` for all profiles. [`spelled_out`]
//! copies them everywhere before reading, [`built_in`] is its inverse for the defaults, and
//! [`as_written`] finds the original place for messages. (`#[serde(flatten)]`, and options that
//! override in part, would lose the place of a mistake.)

use serde::Serialize;
use toml::{Table, Value};

use super::{
    Problem, Settings,
    deserializer::{PathStep, read_table},
    layers::Layers,
    problem::{accepted, backquoted, written},
    values::{Path, overlay},
};
use bot::policy::{challenge::ChallengeFilter, matchmaking::MatchType};

const MOST_PROBLEMS: usize = 200;

/// Reads the settings, and adds mistakes to `problems`. `None` only if nothing can be read at all.
pub(super) fn read(layers: &mut Layers, problems: &mut Vec<Problem>) -> Option<Settings> {
    while problems.len() < MOST_PROBLEMS {
        let (steps, message) = match read_table(spelled_out(layers.table())) {
            Ok(settings) => return Some(settings),
            Err(mistake) => mistake,
        };
        let place = MistakePlace::of(steps, layers);
        if let Err(message) = layers.read_otherwise(&place.path, place.index(), &message) {
            problems.push(place.problem(&message, layers));
            if !place.mend(&message, layers) {
                return None;
            }
        }
    }
    read_table(Table::new()).ok()
}

#[derive(Debug)]
struct MistakePlace {
    path: Path,
    /// Indices and keys below it, if it is a list.
    inside: Vec<PathStep>,
}

impl MistakePlace {
    fn of(mut steps: Vec<PathStep>, layers: &Layers) -> Self {
        let list = steps.iter().position(|step| matches!(step, PathStep::Item(_))).unwrap_or(steps.len());
        let inside = steps.split_off(list);
        Self { path: as_written(keys(&steps), layers), inside }
    }

    /// Returns the unknown key, if the message is about one.
    fn unknown_key(message: &str) -> Option<(String, Vec<String>)> {
        let mut names = backquoted(message).into_iter();
        message.starts_with("unknown field").then(|| Some((names.next()?, names.collect()))).flatten()
    }

    fn problem(&self, message: &str, layers: &Layers) -> Problem {
        if let Some((key, mut known)) = Self::unknown_key(message) {
            let path = self.with_key(&key);
            let table = path.get(..path.len().saturating_sub(1)).unwrap_or_default();
            known.extend(layers.default_keys(table));
            // A profile overrides the player's keys.
            if let [first, _, below @ ..] = table
                && first == "profiles"
            {
                known.extend(layers.default_keys(&[&["player".to_owned()], below].concat()));
                if below.is_empty() {
                    known.push("when".to_owned());
                    known.retain(|key| key != "player");
                }
            }
            known.sort_unstable();
            known.dedup();
            return Problem::of_unknown_key(&layers.origin(&path, None), &path, &known);
        }
        let origin = layers.origin(&self.path, self.index());
        let value = match (layers.text(&self.path), self.value(layers)) {
            (Some(text), _) if self.inside.is_empty() => Some(written(&Value::String(text.to_owned()))),
            (_, value) => value.as_ref().map(written),
        };
        Problem::of_value(&origin, &self.shown_path(), value.as_deref(), &accepted(message))
    }

    /// The index of the wrong item, if it is a list.
    fn index(&self) -> Option<usize> {
        match self.inside.first()? {
            PathStep::Item(index) => Some(*index),
            PathStep::Key(_) => None,
        }
    }

    /// The path of an unknown key; some deserializers name the table it is in, others the key.
    fn with_key(&self, key: &str) -> Path {
        let mut path = self.shown_path();
        if path.last().map(String::as_str) != Some(key) {
            path.push(key.to_owned());
        }
        path
    }

    /// The path without the steps inside a list: the value shows the item.
    fn shown_path(&self) -> Path {
        [&self.path[..], &keys(&self.inside)].concat()
    }

    fn value(&self, layers: &Layers) -> Option<Value> {
        self.inside.iter().try_fold(layers.get(&self.path)?, |value, step| match step {
            PathStep::Item(index) => value.get(*index).cloned(),
            PathStep::Key(key) => value.get(key).cloned(),
        })
    }

    /// Mends the mistake, so that the next one can be found. `false` if there was nothing to change.
    fn mend(&self, message: &str, layers: &mut Layers) -> bool {
        layers.mended.push(self.path.clone());
        if let Some((key, _)) = Self::unknown_key(message)
            && self.inside.is_empty()
        {
            return layers.repair(&self.with_key(&key)) || self.mend_around(layers);
        }
        if let Some(index) = self.index() {
            return layers.remove_item(&self.path, index);
        }
        layers.repair(&self.path) || self.mend_around(layers)
    }

    /// Mends the tables around the place, the nearest first.
    fn mend_around(&self, layers: &mut Layers) -> bool {
        (1..self.path.len()).rev().any(|length| self.path.get(..length).is_some_and(|path| layers.repair(path)))
    }
}

fn keys(steps: &[PathStep]) -> Path {
    let key = |step: &PathStep| match step {
        PathStep::Key(key) => Some(key.clone()),
        PathStep::Item(_) => None,
    };
    steps.iter().filter_map(key).collect()
}

/// Returns the defaults as they would be written: keys that count in several places appear once.
pub(super) fn built_in() -> Table {
    let mut table = written_by(&Settings::default());
    for (name, keys) in common() {
        if let Some(Value::Table(table)) = table.get_mut(name) {
            for kind in ["human", "bot"] {
                table.get_mut(kind).and_then(Value::as_table_mut).into_iter().for_each(Table::clear);
            }
            table.extend(keys);
        }
    }
    table
}

/// Returns the keys that count in the tables below theirs as well, at their defaults.
fn common() -> [(&'static str, Table); 2] {
    let mut of_types = written_by(&MatchType::default());
    of_types.retain(|key, _| !MatchType::OWN.contains(&key));
    [("challenge", written_by(&ChallengeFilter::default())), ("matchmaking", of_types)]
}

/// Writes settings as TOML; every type of ours can be written.
fn written_by(settings: &impl Serialize) -> Table {
    Table::try_from(settings).unwrap_or_default()
}

/// Puts the keys that count in several places into all of them.
fn spelled_out(mut table: Table) -> Table {
    for (name, keys) in common() {
        let Some(Value::Table(table)) = table.get_mut(name) else { continue };
        let common = keys.keys().filter_map(|key| table.remove_entry(key)).collect();
        for (key, below) in table.iter_mut() {
            match (key.as_str(), below) {
                ("human" | "bot", kind) => inherit(kind, &common),
                ("types", Value::Table(types)) => types.iter_mut().for_each(|(_, kind)| inherit(kind, &common)),
                _ => (),
            }
        }
    }
    let player = table.get("player").and_then(Value::as_table).cloned().unwrap_or_default();
    if let Some(Value::Table(profiles)) = table.get_mut("profiles") {
        for (_, profile) in profiles.iter_mut() {
            if let Value::Table(overrides) = profile {
                let mut whole: Table = overrides.remove_entry("when").into_iter().collect();
                inherit(profile, &player);
                whole.insert("player".to_owned(), profile.clone());
                *profile = Value::Table(whole);
            }
        }
    }
    table
}

/// Lays `value` over the common keys.
fn inherit(value: &mut Value, common: &Table) {
    if let Value::Table(own) = value {
        let mut whole = common.clone();
        overlay(&mut whole, std::mem::take(own));
        *own = whole;
    }
}

/// Returns the original place of a key of the spelled-out table: its own place if it is there,
/// otherwise the one it was inherited from.
pub(super) fn as_written(path: Path, layers: &Layers) -> Path {
    let keys: Vec<&str> = path.iter().map(String::as_str).collect();
    let (own, common) = match keys.as_slice() {
        ["profiles", name, "player", below @ ..] => {
            ([&["profiles", name], below].concat(), [&["player"], below].concat())
        }
        [table @ ("challenge" | "matchmaking"), .., key] => (keys.clone(), vec![*table, *key]),
        _ => return path,
    };
    let [own, common] = [own, common].map(|keys| keys.into_iter().map(str::to_owned).collect::<Path>());
    if layers.get(&own).is_some() { own } else { common }
}
