//! Merging: tables over tables, key by key, with the memory of who set what.

use std::{collections::BTreeMap, fmt};

use toml::{Table, Value};

use super::{DEFAULTS, Problem, Sources};

/// The names of the tables on the way to a key, and the key.
pub(super) type Path = Vec<String>;

/// Who set a value.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Origin {
    /// Nobody: it is built in.
    #[default]
    Default,
    /// A file, by its name.
    File(String),
    /// A variable of the environment, by its name.
    Environment(String),
    /// The command line.
    Flag,
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => f.write_str("built-in default"),
            Self::File(name) | Self::Environment(name) => f.write_str(name),
            Self::Flag => f.write_str("command line"),
        }
    }
}

/// What a text of the environment or of the command line may mean; the type of its key decides which it is.
#[derive(Clone, Debug)]
struct Readings {
    text: String,
    /// Those not tried yet, the likeliest last.
    left: Vec<Value>,
}

/// The merged table, as it was written.
#[derive(Clone, Debug)]
pub(super) struct Layers {
    pub(super) table: Table,
    defaults: Table,
    origins: BTreeMap<Path, Origin>,
    readings: BTreeMap<Path, Readings>,
    /// Where something was wrong and is now what is built in.
    pub(super) mended: Vec<Path>,
}

impl Layers {
    /// Lays the sources over what is built in. What cannot be laid is a problem.
    pub(super) fn merge(sources: &Sources) -> (Self, Vec<Problem>) {
        let mut problems = Vec::new();
        let mut parse = |name: &str, text: &str| match text.parse::<Table>() {
            Ok(table) => table,
            Err(error) => {
                problems.push(Problem::of_toml(name, text, &error));
                Table::new()
            }
        };
        let defaults = parse("built-in default", DEFAULTS);
        let file = sources.file.as_ref().map(|(name, text)| (name, parse(name, text)));
        let mut layers = Self {
            table: defaults.clone(),
            defaults,
            origins: BTreeMap::new(),
            readings: BTreeMap::new(),
            mended: Vec::new(),
        };
        if let Some((name, table)) = file {
            layers.lay(table, &Origin::File(name.clone()));
        }
        // In the order of their names, so that a table comes before its keys whatever order the system has them in.
        let environment: BTreeMap<&String, &String> =
            sources.environment.iter().map(|(name, text)| (name, text)).collect();
        for (name, text) in environment {
            if let Some(key) = name.strip_prefix("CONCILIO__") {
                let path = key.split("__").map(str::to_lowercase).collect();
                problems.extend(layers.lay_text(path, text, &Origin::Environment(name.clone())));
            }
        }
        for (key, text) in &sources.flags {
            let path = key.split('.').map(str::to_owned).collect();
            problems.extend(layers.lay_text(path, text, &Origin::Flag));
        }
        (layers, problems)
    }

    fn lay(&mut self, table: Table, origin: &Origin) {
        let Self { table: below, origins, readings, .. } = self;
        overlay(below, table, &mut Vec::new(), &mut |path| {
            // What stood here or below it is gone, and with it who set it.
            origins.retain(|other, _| !other.starts_with(path));
            readings.retain(|other, _| !other.starts_with(path));
            origins.insert(path.clone(), origin.clone());
        });
    }

    fn lay_text(&mut self, path: Path, text: &str, origin: &Origin) -> Option<Problem> {
        if path.iter().any(String::is_empty) {
            return Some(Problem::new(origin, "names no key: expected a table and a key in it".to_owned()));
        }
        let mut left = readings(text);
        let value = left.pop()?;
        let nested = path.iter().rev().fold(value, |value, key| Value::Table(Table::from_iter([(key.clone(), value)])));
        if let Value::Table(table) = nested {
            self.lay(table, origin);
        }
        self.readings.insert(path, Readings { text: text.to_owned(), left });
        None
    }

    /// The value at `path`, as it was written.
    pub(super) fn get(&self, path: &[String]) -> Option<&Value> {
        get(&self.table, path)
    }

    /// Who set what stands at `path`: the value itself, a table around it, or, for a table, what is in it.
    pub(super) fn origin(&self, path: &[String]) -> Origin {
        let around = (0..=path.len()).rev().find_map(|length| self.origins.get(path.get(..length)?));
        let within =
            || self.origins.iter().filter(|(other, _)| other.starts_with(path)).map(|(_, origin)| origin).max();
        around.or_else(within).cloned().unwrap_or_default()
    }

    /// The text that was given for `path` in the environment or on the command line.
    pub(super) fn text(&self, path: &[String]) -> Option<&str> {
        self.readings.get(path).map(|readings| readings.text.as_str())
    }

    /// Takes the text at `path`, or around it, for the next thing it may mean, if there is one.
    pub(super) fn read_otherwise(&mut self, path: &[String]) -> bool {
        let Some((at, readings)) = self.readings.iter_mut().find(|(at, _)| path.starts_with(at)) else { return false };
        let Some(value) = readings.left.pop() else { return false };
        set(&mut self.table, at, value)
    }

    /// Puts what is built in to where something was wrong, or removes it. `false` if that changed nothing.
    pub(super) fn repair(&mut self, path: &[String]) -> bool {
        match get(&self.defaults, path).cloned() {
            Some(default) if self.get(path) != Some(&default) => set(&mut self.table, path, default),
            _ => remove(&mut self.table, path),
        }
    }

    /// Puts another value to where there is one. `false` if there is none.
    pub(super) fn replace(&mut self, path: &[String], value: Value) -> bool {
        set(&mut self.table, path, value)
    }

    /// The keys that stand beside each other in the table at `path` of what is built in.
    pub(super) fn default_keys(&self, path: &[String]) -> Vec<String> {
        let table =
            if path.is_empty() { Some(&self.defaults) } else { get(&self.defaults, path).and_then(Value::as_table) };
        table.map(|table| table.keys().cloned().collect()).unwrap_or_default()
    }
}

/// Lays `above` over `below`: tables are merged, everything else is replaced. `replaced` hears of every path replaced.
pub(super) fn overlay(below: &mut Table, above: Table, path: &mut Path, replaced: &mut impl FnMut(&Path)) {
    for (key, value) in above {
        path.push(key.clone());
        match (below.get_mut(&key), value) {
            (Some(Value::Table(below)), Value::Table(above)) => overlay(below, above, path, replaced),
            (_, value) => {
                replaced(path);
                below.insert(key, value);
            }
        }
        path.pop();
    }
}

/// A value of TOML, the text itself, a list of texts; the likeliest last.
fn readings(text: &str) -> Vec<Value> {
    let items = text.split(',').map(str::trim).filter(|item| !item.is_empty());
    let mut readings =
        vec![Value::Array(items.map(|item| Value::String(item.to_owned())).collect()), Value::String(text.to_owned())];
    if let Some(value) = format!("value = {text}").parse::<Table>().ok().filter(|table| table.len() == 1) {
        readings.extend(value.into_iter().map(|(_, value)| value));
    }
    readings
}

fn get<'a>(table: &'a Table, path: &[String]) -> Option<&'a Value> {
    let (last, above) = path.split_last()?;
    above.iter().try_fold(table, |table, key| table.get(key)?.as_table())?.get(last)
}

fn parent<'a, 'p>(table: &'a mut Table, path: &'p [String]) -> Option<(&'a mut Table, &'p String)> {
    let (last, above) = path.split_last()?;
    let table = above.iter().try_fold(table, |table, key| table.get_mut(key)?.as_table_mut())?;
    Some((table, last))
}

fn set(table: &mut Table, path: &[String], value: Value) -> bool {
    parent(table, path).is_some_and(|(table, key)| table.insert(key.clone(), value).is_some())
}

fn remove(table: &mut Table, path: &[String]) -> bool {
    parent(table, path).is_some_and(|(table, key)| table.remove(key).is_some())
}
