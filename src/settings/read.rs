//! Reads the merged table into [`Settings`], and finds every mistake.
//!
//! Serde stops at the first mistake. So the table is read again and again: each mistake becomes a
//! problem and is replaced by its default, until none is left.

use toml::{Table, Value};

use super::{
    Problem, Settings,
    deserializer::{PathStep, keys, read_table},
    layers::Layers,
    problem::{accepted, backquoted, written},
    values::Path,
};
use util::values::OTHERS;

const MOST_PROBLEMS: usize = 200;

/// Reads the settings, and adds mistakes to `problems`. `None` only if nothing can be read at all.
pub(super) fn read(layers: &mut Layers, problems: &mut Vec<Problem>) -> Option<Settings> {
    while problems.len() < MOST_PROBLEMS {
        let (steps, message) = match read_table(layers.table()) {
            Ok((settings, inherited)) => {
                layers.inherited = inherited;
                return Some(settings);
            }
            Err(mistake) => mistake,
        };
        let place = MistakePlace::of(steps);
        if let Err(message) = layers.read_otherwise(&place.path, place.index(), &message) {
            problems.push(place.problem(&message, layers));
            if !place.mend(&message, layers) {
                return None;
            }
        }
    }
    read_table(Table::new()).ok().map(|(settings, _)| settings)
}

#[derive(Debug)]
struct MistakePlace {
    path: Path,
    /// Indices and keys below it, if it is a list.
    inside: Vec<PathStep>,
}

impl MistakePlace {
    fn of(mut steps: Vec<PathStep>) -> Self {
        let list = steps.iter().position(|step| matches!(step, PathStep::Item(_))).unwrap_or(steps.len());
        let inside = steps.split_off(list);
        Self { path: keys(&steps), inside }
    }

    /// Returns the unknown key, if the message is about one.
    fn unknown_key(message: &str) -> Option<(String, Vec<String>)> {
        let mut names = backquoted(message).into_iter();
        message.starts_with("unknown field").then(|| Some((names.next()?, names.collect()))).flatten()
    }

    fn problem(&self, message: &str, layers: &Layers) -> Problem {
        if let Some((key, mut known)) = Self::unknown_key(message) {
            let path = self.with_key(&key);
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

/// Returns the defaults as they would be written: keys that others inherit appear once.
pub(super) fn built_in() -> Table {
    // Every type of ours can be written.
    let mut table = Table::try_from(Settings::default()).unwrap_or_default();
    for (_, value) in &mut table {
        let Value::Table(table) = value else { continue };
        let Some(Value::Table(common)) = table.remove(OTHERS) else { continue };
        for (_, below) in table.iter_mut() {
            below
                .as_table_mut()
                .into_iter()
                .for_each(|below| below.retain(|key, value| common.get(key) != Some(value)));
        }
        table.extend(common);
    }
    table
}
