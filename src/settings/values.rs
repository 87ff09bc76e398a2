//! Conversion between TOML, the text format, and the `config` crate, which merges values and
//! remembers their origins.

use std::{collections::BTreeMap, ops::Range};

use config::{Map, Value, ValueKind};
use toml::{Spanned, de::DeValue};

/// The names of the tables on the way to a key, and the key.
pub(super) type Path = Vec<String>;

/// The origin of a value: `my.toml:12`, or the name of an environment variable or of a flag. `None`
/// is a default.
pub(super) type Origin = Option<String>;

pub(super) const VARIABLE_PREFIX: &str = "CONCILIO__";

/// Returns a value with its origin, which may depend on its place in a text.
pub(super) fn from_toml(
    value: &toml::Value,
    span: Option<&Spanned<DeValue<'_>>>,
    origin: &dyn Fn(Option<Range<usize>>) -> Origin,
) -> Value {
    let within = |value, span| from_toml(value, span, origin);
    let kind = match value {
        toml::Value::String(text) => ValueKind::String(text.clone()),
        toml::Value::Integer(number) => ValueKind::I64(*number),
        toml::Value::Float(number) => ValueKind::Float(*number),
        toml::Value::Boolean(truth) => ValueKind::Boolean(*truth),
        // No key is a date.
        toml::Value::Datetime(date) => ValueKind::String(date.to_string()),
        toml::Value::Array(items) => {
            let span = |index| span.and_then(|span| span.get_ref().get(index));
            ValueKind::Array(items.iter().enumerate().map(|(index, item)| within(item, span(index))).collect())
        }
        toml::Value::Table(table) => {
            let span = |key: &str| span.and_then(|span| span.get_ref().get(key));
            ValueKind::Table(table.iter().map(|(key, value)| (key.clone(), within(value, span(key)))).collect())
        }
    };
    Value::new(origin(span.map(Spanned::span)).as_ref(), kind)
}

pub(super) fn to_toml(value: &Value) -> Option<toml::Value> {
    Some(match &value.kind {
        ValueKind::String(text) => toml::Value::String(text.clone()),
        ValueKind::I64(number) => toml::Value::Integer(*number),
        ValueKind::Float(number) => toml::Value::Float(*number),
        ValueKind::Boolean(truth) => toml::Value::Boolean(*truth),
        ValueKind::Array(items) => toml::Value::Array(items.iter().filter_map(to_toml).collect()),
        ValueKind::Table(table) => {
            toml::Value::Table(table.iter().filter_map(|(key, value)| Some((key.clone(), to_toml(value)?))).collect())
        }
        // TOML has no others.
        ValueKind::Nil | ValueKind::I128(_) | ValueKind::U64(_) | ValueKind::U128(_) => return None,
    })
}

pub(super) fn at<'a>(root: &'a Value, path: &[String]) -> Option<&'a Value> {
    path.iter().try_fold(root, |value, key| match &value.kind {
        ValueKind::Table(table) => table.get(key),
        _ => None,
    })
}

pub(super) fn at_mut<'a>(root: &'a mut Value, path: &[String]) -> Option<&'a mut Value> {
    path.iter().try_fold(root, |value, key| match &mut value.kind {
        ValueKind::Table(table) => table.get_mut(key),
        _ => None,
    })
}

/// Returns the origin of a value; of a table, that of its last value set.
pub(super) fn origin_of(value: &Value) -> Origin {
    match &value.kind {
        ValueKind::Table(table) => table.values().map(origin_of).max_by_key(rank).flatten(),
        _ => value.origin().map(str::to_owned),
    }
}

/// Returns the places of a file's tables, which the `config` crate forgets in a merge.
pub(super) fn headers(table: &Map<String, Value>, path: &mut Path, found: &mut BTreeMap<Path, String>) {
    for (key, value) in table {
        if let (ValueKind::Table(below), Some(origin)) = (&value.kind, value.origin()) {
            path.push(key.clone());
            found.insert(path.clone(), origin.to_owned());
            headers(below, path, found);
            path.pop();
        }
    }
}

/// Orders origins: defaults, files, the environment, flags; within a file by lines.
pub(super) fn rank(origin: &Origin) -> (u8, usize) {
    let Some(name) = origin else { return (0, 0) };
    match name {
        name if name.starts_with("--") => (3, 0),
        name if name.starts_with(VARIABLE_PREFIX) => (2, 0),
        name => (1, name.rsplit_once(':').and_then(|(_, line)| line.parse().ok()).unwrap_or(0)),
    }
}
