//! The settings file of another bot. Each option is taken once.

use serde::Deserialize;
use serde_json::{Map, Value};
use serde_saphyr::options::NonFiniteFloatPolicy;

/// The options that have not been taken yet, and remarks on options of the wrong kind.
#[derive(Debug)]
pub(super) struct ForeignSettings {
    options: Map<String, Value>,
    remarks: Vec<(String, String)>,
}

impl ForeignSettings {
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        Ok(Self { options: parse(text)?, remarks: Vec::new() })
    }

    /// Takes the option at a path such as `engine.polyglot.enabled`. An option without a value is none.
    pub(super) fn take(&mut self, path: &str) -> Option<Value> {
        let (tables, key) = split(path);
        let table = names(tables).try_fold(&mut self.options, |table, name| table.get_mut(name)?.as_object_mut())?;
        table.remove(key).filter(|value| !value.is_null())
    }

    /// Gives absent options of the table at `path`, and those without a value, the values of `defaults` at the same path.
    pub(super) fn fill(&mut self, path: &str, defaults: &Map<String, Value>) {
        let Some(table) = table_made(&mut self.options, path) else { return };
        for (name, value) in table_at(defaults, path).into_iter().flatten().filter(|(_, value)| !value.is_object()) {
            let option = table.entry(name).or_insert(Value::Null);
            if option.is_null() {
                *option = value.clone();
            }
        }
    }

    pub(super) fn is_on(&self, path: &str) -> bool {
        self.value(path).and_then(Value::as_bool) == Some(true)
    }

    /// Returns true if the option is a list with items, or a single value.
    pub(super) fn holds_items(&self, path: &str) -> bool {
        match self.value(path) {
            Some(Value::Array(items)) => !items.is_empty(),
            value => value.is_some_and(|value| !value.is_null()),
        }
    }

    /// Moves the option at `from`, if any, to `to`, unless there is one already.
    pub(super) fn rename(&mut self, from: &str, to: &str) {
        let Some(value) = self.take(from) else { return };
        let (tables, key) = split(to);
        if let Some(table) = table_made(&mut self.options, tables) {
            table.entry(key).or_insert(value);
        }
    }

    /// Takes `item` out of the list at `path`, and says whether it was there.
    pub(super) fn drop_item(&mut self, path: &str, item: &str) -> bool {
        let Some(list) = list_at(&mut self.options, path) else { return false };
        let before = list.len();
        list.retain(|value| value.as_str() != Some(item));
        list.len() < before
    }

    /// Takes all items but those that `keeps` accepts out of the list at `path`, or the single value there, and returns them.
    pub(super) fn drop_others(&mut self, path: &str, keeps: impl Fn(&str) -> bool) -> Vec<String> {
        let dropped: Vec<String> = match self.value(path) {
            Some(Value::Array(items)) => items.iter().filter_map(as_text).filter(|item| !keeps(item)).collect(),
            Some(one) => as_text(one).filter(|item| !keeps(item)).into_iter().collect(),
            None => Vec::new(),
        };
        if let Some(list) = list_at(&mut self.options, path) {
            list.retain(|item| as_text(item).is_some_and(|item| keeps(&item)));
        } else if !dropped.is_empty() {
            self.take(path);
        }
        dropped
    }

    /// Returns the texts of the list at `path` without taking it.
    pub(super) fn texts(&self, path: &str) -> Vec<String> {
        let items = self.value(path).and_then(Value::as_array).into_iter().flatten();
        items.filter_map(as_text).collect()
    }

    pub(super) fn number(&self, path: &str) -> Option<f64> {
        self.value(path).and_then(Value::as_f64)
    }

    /// Adds a remark on an option that the old bot would reject.
    pub(super) fn mark(&mut self, path: &str, what: &str) {
        self.remarks.push((path.to_owned(), what.to_owned()));
    }

    pub(super) fn is_empty(&self, path: &str) -> bool {
        self.value(path).is_some_and(Value::is_null)
    }

    /// Adds `more` to the list at `path` if `item` is in it.
    pub(super) fn extend_where(&mut self, path: &str, item: &str, more: &str) {
        let list = list_at(&mut self.options, path);
        if let Some(list) = list.filter(|list| list.iter().any(|value| value.as_str() == Some(item))) {
            list.push(Value::from(more));
        }
    }

    fn value(&self, path: &str) -> Option<&Value> {
        let (tables, key) = split(path);
        table_at(&self.options, tables)?.get(key)
    }

    /// Returns true if the option is present, with or without a value.
    pub(super) fn has(&self, path: &str) -> bool {
        self.value(path).is_some()
    }

    /// The names of the options in a table, in the order of the alphabet.
    pub(super) fn names(&self, path: &str) -> Vec<String> {
        table_at(&self.options, path).into_iter().flat_map(Map::keys).cloned().collect()
    }

    /// Takes a text; numbers and booleans count as they are written.
    pub(super) fn take_text(&mut self, path: &str) -> Option<String> {
        self.take_as(path, "a text", as_text)
    }

    pub(super) fn take_flag(&mut self, path: &str) -> Option<bool> {
        self.take_as(path, "true or false", |value| value.as_bool())
    }

    pub(super) fn take_number(&mut self, path: &str) -> Option<f64> {
        self.take_as(path, "a number", |value| value.as_f64())
    }

    /// A list of texts; one text is a list of one.
    pub(super) fn take_texts(&mut self, path: &str) -> Vec<String> {
        let texts = self.take_as(path, "a list", |value| match value {
            Value::Array(items) => items.iter().filter(|item| !item.is_null()).map(as_text).collect(),
            one => as_text(one).map(|text| vec![text]),
        });
        texts.unwrap_or_default()
    }

    pub(super) fn take_table(&mut self, path: &str) -> Vec<(String, String)> {
        let names = self.names(path);
        let table = names.into_iter().filter_map(|name| match self.take(&format!("{path}.{name}"))? {
            Value::Object(_) | Value::Array(_) => {
                self.mark(&format!("{path}.{name}"), "is no single value");
                None
            }
            value => Some((name, as_text(&value)?)),
        });
        table.collect()
    }

    fn take_as<T>(&mut self, path: &str, expected: &str, read: impl Fn(&Value) -> Option<T>) -> Option<T> {
        let value = self.take(path)?;
        let read = read(&value);
        if read.is_none() {
            self.remarks.push((path.to_owned(), format!("{value} is not {expected}")));
        }
        read
    }

    /// Returns all remarks, with one on each unknown option.
    pub(super) fn into_remarks(mut self) -> Vec<(String, String)> {
        let mut left = Vec::new();
        collect("", Value::Object(self.options), &mut left);
        self.remarks.extend(left.into_iter().map(|path| (path, "is not known".to_owned())));
        self.remarks
    }
}

/// Reads a file of options.
///
/// # Errors
/// If the text is no YAML, or holds no options.
pub(super) fn parse(text: &str) -> Result<Map<String, Value>, String> {
    let options = serde_saphyr::options! { non_finite_float_policy: NonFiniteFloatPolicy::AsString };
    let read = serde_saphyr::with_deserializer_from_str_with_options(text, options, |yaml| Value::deserialize(yaml));
    match finite(read.map_err(|error| format!("this is no YAML: {error}"))?) {
        Value::Object(options) => Ok(options),
        _ => Err("this file holds no settings: expected a table of options, such as `token: ...`".to_owned()),
    }
}

/// Replaces infinite numbers, which are texts here, by the greatest there is: JSON has no infinite ones.
fn finite(value: Value) -> Value {
    match value {
        Value::String(text) => match text.as_str() {
            ".inf" => f64::MAX.into(),
            "-.inf" => f64::MIN.into(),
            ".nan" => Value::Null,
            _ => Value::String(text),
        },
        Value::Array(items) => items.into_iter().map(finite).collect(),
        Value::Object(table) => table.into_iter().map(|(name, value)| (name, finite(value))).collect(),
        other => other,
    }
}

/// Returns the path of the table around an option, and the option's name.
fn split(path: &str) -> (&str, &str) {
    path.rsplit_once('.').unwrap_or(("", path))
}

fn names(path: &str) -> impl Iterator<Item = &str> {
    path.split('.').filter(|name| !name.is_empty())
}

fn table_at<'a>(options: &'a Map<String, Value>, path: &str) -> Option<&'a Map<String, Value>> {
    names(path).try_fold(options, |table, name| table.get(name)?.as_object())
}

/// The table at the end of a path, made if it is missing; `None` if a value is in the way.
fn table_made<'a>(options: &'a mut Map<String, Value>, path: &str) -> Option<&'a mut Map<String, Value>> {
    names(path).try_fold(options, |table, name| {
        let below = table.entry(name).or_insert(Value::Null);
        if below.is_null() {
            *below = Value::Object(Map::new());
        }
        below.as_object_mut()
    })
}

fn list_at<'a>(options: &'a mut Map<String, Value>, path: &str) -> Option<&'a mut Vec<Value>> {
    let (tables, key) = split(path);
    let table = names(tables).try_fold(options, |table, name| table.get_mut(name)?.as_object_mut())?;
    table.get_mut(key)?.as_array_mut()
}

fn collect(path: &str, value: Value, found: &mut Vec<String>) {
    match value {
        Value::Object(table) => {
            for (name, value) in table {
                let below = if path.is_empty() { name } else { format!("{path}.{name}") };
                collect(&below, value, found);
            }
        }
        Value::Null => (),
        _ => found.push(path.to_owned()),
    }
}

fn as_text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(match number.as_f64() {
            Some(whole) if number.is_f64() && whole.fract() == 0.0 && whole.abs() < 1e15 => format!("{whole:.0}"),
            _ => number.to_string(),
        }),
        Value::Bool(flag) => Some(flag.to_string()),
        _ => None,
    }
}
