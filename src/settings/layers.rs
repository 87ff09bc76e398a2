//! The sources, merged by the `config` crate, key by key, with the origin of each value.

use std::collections::BTreeMap;

use config::{Config, Value, ValueKind};
use toml::Table;

use super::{
    Problem, Sources,
    deserializer::Inherited,
    sources::{Layer, Readings, file_layer, take_strange_keys, value_layer},
    values::{Origin, Path, at, at_mut, from_toml, headers, origin_of, to_toml},
};

/// The message of TOML's reader for a key that takes one of several words and is given no text at
/// all. It lists the words only for a wrong one.
const WANTS_A_WORD: &str = "expected string only";

/// A variable that was meant for a key, with one underscore between table and key instead of two.
fn misnamed(name: &str, tables: &config::Map<String, Value>) -> Option<Problem> {
    let meant = name.strip_prefix("CONCILIO_").filter(|rest| !rest.starts_with('_'))?.to_lowercase();
    tables.iter().find_map(|(table, value)| {
        let key = meant.strip_prefix(table.as_str())?.strip_prefix('_')?;
        let ValueKind::Table(keys) = &value.kind else { return None };
        let right = format!("CONCILIO__{table}__{key}").to_uppercase();
        keys.contains_key(key).then(|| {
            let what = format!("two underscores stand between table and key: {right}");
            Problem::new(&Some(name.to_owned()), what)
        })
    })
}

#[derive(Clone, Debug)]
pub(super) struct Layers {
    merged: Value,
    defaults: Value,
    headers: BTreeMap<Path, String>,
    readings: BTreeMap<Path, Readings>,
    /// Places of mistakes, replaced by defaults.
    pub(super) mended: Vec<Path>,
    pub(super) inherited: Inherited,
}

impl Layers {
    /// Lays the sources over the `built_in` values.
    pub(super) fn merge(built_in: &Table, sources: &Sources) -> (Self, Vec<Problem>) {
        let (mut problems, mut headers_found, mut readings) = (Vec::new(), BTreeMap::new(), BTreeMap::new());
        let defaults = from_toml(&toml::Value::Table(built_in.clone()), None, &|_| None);
        let built_in = defaults.clone().into_table().unwrap_or_default();
        let mut layers = vec![built_in.clone()];
        for (name, text) in &sources.files {
            match file_layer(name, text) {
                Ok(layer) => {
                    headers(&layer, &mut Path::new(), &mut headers_found);
                    layers.push(layer);
                }
                Err(found) => problems.extend(found),
            }
        }
        for (path, mut given) in sources.texts() {
            match given.left.pop().and_then(|likeliest| value_layer(&path, likeliest)) {
                Some(layer) => {
                    layers.push(layer);
                    // Values at or below this place are replaced.
                    readings.retain(|other: &Path, _| !other.starts_with(&path));
                    readings.insert(path, given);
                }
                None => {
                    let what = "names no key: expected a table and a key in it";
                    problems.push(Problem::new(&Some(given.origin), what.to_owned()));
                }
            }
        }
        problems.extend(sources.environment.iter().filter_map(|(name, _)| misnamed(name, &built_in)));
        let known: Vec<String> = built_in.keys().cloned().collect();
        for (key, value) in layers.iter_mut().flat_map(take_strange_keys) {
            problems.push(Problem::of_unknown_key(&origin_of(&value), &[key], &known));
        }
        let source = |layer: Layer| {
            let mut source = Config::default();
            source.cache = layer.into();
            source
        };
        let layers = layers.into_iter().map(source);
        let merged = layers.fold(Config::builder(), |builder, layer| builder.add_source(layer)).build();
        let merged = merged.map_or_else(
            |error| {
                problems.push(Problem::new(&None, error.to_string()));
                Value::new(None, ValueKind::Nil)
            },
            |config| config.cache,
        );
        let (headers, mended, inherited) = (headers_found, Vec::new(), Inherited::new());
        (Self { merged, defaults, headers, readings, mended, inherited }, problems)
    }

    pub(super) fn table(&self) -> Table {
        match to_toml(&self.merged) {
            Some(toml::Value::Table(table)) => table,
            _ => Table::new(),
        }
    }

    /// The value at `path`, as it was written.
    pub(super) fn get(&self, path: &[String]) -> Option<toml::Value> {
        at(&self.merged, path).and_then(to_toml)
    }

    /// Returns the origin of the value at `path`, or of its item `index`; of an empty table, the
    /// start of it or of the one around it.
    pub(super) fn origin(&self, path: &[String], index: Option<usize>) -> Origin {
        let value = at(&self.merged, path);
        let item = value.zip(index).and_then(|(value, index)| match &value.kind {
            ValueKind::Array(items) => items.get(index),
            _ => None,
        });
        let header = || (0..=path.len()).rev().find_map(|length| self.headers.get(path.get(..length)?)).cloned();
        // A default has no origin, in any table.
        match item.or(value) {
            Some(value) if !matches!(&value.kind, ValueKind::Table(table) if table.is_empty()) => origin_of(value),
            _ => header(),
        }
    }

    /// The text for `path` from the environment or the command line.
    pub(super) fn text(&self, path: &[String]) -> Option<&str> {
        self.readings.get(path).map(|readings| readings.text.as_str())
    }

    /// Takes the next reading of the text at `path`, or around it; `index` is the wrong item of a list.
    ///
    /// # Errors
    /// The most telling complaint about this text, if there is no other reading.
    pub(super) fn read_otherwise(
        &mut self,
        path: &[String],
        index: Option<usize>,
        complaint: &str,
    ) -> Result<(), String> {
        // The text may be that of a table around the key, and the value come from another source.
        let value = at(&self.merged, path).filter(|value| !matches!(value.kind, ValueKind::Table(_)));
        let origin = value.and_then(Value::origin);
        let is_of = |readings: &Readings| origin.is_none_or(|origin| origin == readings.origin);
        // The text for the key itself comes before one for a table around it.
        let found = self.readings.iter_mut().rev().find(|(at, readings)| path.starts_with(at) && is_of(readings));
        let Some((place, readings)) = found else {
            return if complaint.ends_with(WANTS_A_WORD) && self.take_for_a_word(path, index) {
                Ok(())
            } else {
                Err(complaint.to_owned())
            };
        };
        readings.complaints.push(complaint.to_owned());
        match (readings.left.pop(), at_mut(&mut self.merged, place)) {
            (Some(reading), Some(value)) => {
                *value = reading;
                Ok(())
            }
            _ => Err(most_telling(&readings.complaints)),
        }
    }

    fn take_for_a_word(&mut self, path: &[String], index: Option<usize>) -> bool {
        let value = match (at_mut(&mut self.merged, path), index) {
            (Some(Value { kind: ValueKind::Array(items), .. }), Some(index)) => items.get_mut(index),
            (value, None) => value,
            (_, Some(_)) => None,
        };
        match value {
            Some(value) if !matches!(value.kind, ValueKind::String(_)) => {
                value.kind = ValueKind::String(to_toml(value).map_or_else(String::new, |value| value.to_string()));
                true
            }
            _ => false,
        }
    }

    /// Replaces a wrong value by the default, or removes it. `false` if that changed nothing.
    pub(super) fn repair(&mut self, path: &[String]) -> bool {
        let default = at(&self.defaults, path).cloned();
        let changed = default.as_ref().and_then(to_toml) != self.get(path);
        if let (Some(default), Some(value), true) = (default, at_mut(&mut self.merged, path), changed) {
            *value = default;
            return true;
        }
        let Some((last, above)) = path.split_last() else { return false };
        match at_mut(&mut self.merged, above).map(|value| &mut value.kind) {
            Some(ValueKind::Table(table)) => table.remove(last).is_some(),
            _ => false,
        }
    }

    /// Takes one item out of the list at `path`. `false` if there is none.
    pub(super) fn remove_item(&mut self, path: &[String], index: usize) -> bool {
        match at_mut(&mut self.merged, path).map(|value| &mut value.kind) {
            Some(ValueKind::Array(items)) if index < items.len() => {
                items.remove(index);
                true
            }
            _ => false,
        }
    }

    /// Returns the place where the value that counts at `path` was written: there, or where it was inherited from.
    pub(super) fn written_at(&self, path: Path) -> Path {
        let inherited = (1..=path.len()).rev().find_map(|length| {
            let (own, below) = path.split_at(length);
            Some([self.inherited.get(own)?, below].concat())
        });
        inherited.unwrap_or(path)
    }
}

/// Returns the complaint about a text that concerns its content rather than its kind.
fn most_telling(complaints: &[String]) -> String {
    let of_kind = |complaint: &&String| complaint.starts_with("invalid type") || complaint.starts_with("expected ");
    complaints.iter().find(|complaint| !of_kind(complaint)).or(complaints.first()).cloned().unwrap_or_default()
}
