//! Sources of settings: files, the environment, flags. Each becomes layers that the `config` crate
//! takes.

use std::{collections::BTreeMap, fs, io, path::PathBuf};

use config::{Map, Value, ValueKind};
use toml::{Table, de::DeTable};

use super::{
    Problem, Problems,
    values::{Path, VARIABLE_PREFIX, from_toml},
};

/// Sources beside the built-in values.
#[derive(Clone, Debug, Default)]
pub struct Sources {
    /// Files, the later over the earlier: their names, for messages, and their texts.
    pub files: Vec<(String, String)>,
    /// Variables of the environment; those that do not begin with `CONCILIO__` are ignored.
    pub environment: Vec<(String, String)>,
    pub flags: Vec<Flag>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Flag {
    /// The flag that does it, such as `--set`, for messages.
    pub name: &'static str,
    /// The key, with dots between tables.
    pub key: String,
    pub text: String,
}

impl Sources {
    /// The environment of this process, with the texts of `files`.
    pub fn of_process(files: &[PathBuf], flags: Vec<Flag>) -> Result<Self, Problems> {
        let read = |path: &PathBuf| {
            let name = path.display().to_string();
            let unreadable = |error: io::Error| {
                Problems::from(Problem::new(&Some(name.clone()), format!("cannot be read: {error}")))
            };
            Ok((name.clone(), fs::read_to_string(path).map_err(unreadable)?))
        };
        let environment = std::env::vars_os()
            .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
            .collect();
        Ok(Self { files: files.iter().map(read).collect::<Result<_, Problems>>()?, environment, flags })
    }

    /// Reads the sources as far as possible: an unreadable file is empty, and invalid lines of TOML
    /// are skipped.
    pub fn of_process_leniently(files: &[PathBuf], flags: Vec<Flag>) -> Self {
        let lenient = |path: &PathBuf| {
            let text = fs::read(path).map(|bytes| without_mistakes(&String::from_utf8_lossy(&bytes)));
            (path.display().to_string(), text.unwrap_or_default())
        };
        let environment = Self::of_process(&[], Vec::new()).map(|sources| sources.environment).unwrap_or_default();
        Self { files: files.iter().map(lenient).collect(), environment, flags }
    }

    /// The texts of the environment and of the command line with the paths of their keys, in the order in which they are laid.
    pub(super) fn texts(&self) -> impl Iterator<Item = (Path, Readings)> {
        // Sorted by name, so that a table comes before its keys.
        let variables: BTreeMap<&String, &String> = self.environment.iter().map(|(name, text)| (name, text)).collect();
        let variables = variables.into_iter().filter_map(|(name, text)| {
            let path = name.strip_prefix(VARIABLE_PREFIX)?.split("__").map(str::to_lowercase).collect();
            Some((path, Readings::new(name, text)))
        });
        let flags = self.flags.iter().map(|Flag { name, key, text }| {
            let path = key.split('.').map(str::to_owned).collect();
            (path, Readings::new(name, text))
        });
        variables.chain(flags)
    }
}

/// Explains a mistake in a text of TOML to readers without knowledge of its grammar.
fn explained(text: &str, error: &toml::de::Error) -> String {
    let (message, span) = (error.message(), error.span().unwrap_or_default());
    let there = text.get(span).unwrap_or_default();
    if message == "duplicate key" {
        return format!("{there} is set twice in this table; delete one of the lines");
    }
    if message.contains("as i128") || message.contains("as u128") || message.contains("number too large") {
        return "the number is too large".to_owned();
    }
    if message.contains("escape") || message.contains("unicode") {
        return r"a backslash begins an escape in double quotes; write / or use single quotes, such as 'C:\games'"
            .to_owned();
    }
    if message.starts_with("invalid boolean") || message.contains("string values must be quoted") {
        return format!("{message}; a text stands in quotes, such as \"two\"");
    }
    message.to_owned()
}

/// A text without the lines that are no TOML.
fn without_mistakes(text: &str) -> String {
    let mut lines: Vec<&str> = text.trim_start_matches('\u{feff}').lines().collect();
    loop {
        let text = lines.join("\n");
        let Err(error) = text.parse::<Table>() else { return text };
        let before = error.span().and_then(|span| text.get(..span.start)).unwrap_or_default();
        // If the line itself is out already, the mistake may have begun above.
        let last = lines.iter().take(before.matches('\n').count() + 1).rposition(|line| !line.is_empty());
        match last.or_else(|| lines.iter().position(|line| !line.is_empty())) {
            Some(line) => lines[line] = "",
            None => return String::new(),
        }
    }
}

/// A text from the environment or the command line and its possible readings; the type of the key decides.
#[derive(Clone, Debug)]
pub(super) struct Readings {
    pub(super) origin: String,
    pub(super) text: String,
    /// The untried readings: a list of texts, the text itself, a value of TOML; the likeliest last.
    pub(super) left: Vec<Value>,
    pub(super) complaints: Vec<String>,
}

impl Readings {
    fn new(origin: &str, text: &str) -> Self {
        let string = |text: &str| toml::Value::String(text.to_owned());
        let items = text.split(',').map(str::trim).filter(|item| !item.is_empty());
        let mut left = vec![toml::Value::Array(items.map(string).collect()), string(text)];
        let as_toml = format!("value = {text}").parse::<Table>().ok().filter(|table| table.len() == 1);
        left.extend(as_toml.into_iter().flatten().map(|(_, value)| value));
        let left = left.iter().map(|value| from_toml(value, None, &|_| Some(origin.to_owned()))).collect();
        Self { origin: origin.to_owned(), text: text.to_owned(), left, complaints: Vec::new() }
    }
}

pub(super) type Layer = Map<String, Value>;

/// Returns the layer of a file, every value with its line.
pub(super) fn file_layer(name: &str, text: &str) -> Result<Layer, Vec<Problem>> {
    let line = |span: Option<std::ops::Range<usize>>| {
        let before = span.and_then(|span| text.get(..span.start)).unwrap_or_default();
        Some(format!("{name}:{}", before.matches('\n').count() + 1))
    };
    let (document, errors) = DeTable::parse_recoverable(text);
    let refused = |error: &toml::de::Error| Problem::new(&line(error.span()), explained(text, error));
    if !errors.is_empty() {
        return Err(errors.iter().map(refused).collect());
    }
    let table: Table = text.parse().map_err(|error| vec![refused(&error)])?;
    let span = |key: &str| document.get_ref().get(key);
    Ok(table.iter().map(|(key, value)| (key.clone(), from_toml(value, span(key), &line))).collect())
}

/// Returns a layer with one value below tables. `None` if the path names no key.
pub(super) fn value_layer(path: &[String], value: Value) -> Option<Layer> {
    if path.is_empty() || path.iter().any(String::is_empty) {
        return None;
    }
    let table = |value, key: &String| Value::new(None, ValueKind::Table(Map::from([(key.clone(), value)])));
    path.iter().rev().fold(value, table).into_table().ok()
}

/// Takes out keys that look like paths to the `config` crate; none of ours does.
pub(super) fn take_strange_keys(layer: &mut Layer) -> Vec<(String, Value)> {
    let bare = |key: &str| key.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'));
    let strange: Vec<String> = layer.keys().filter(|key| !bare(key)).cloned().collect();
    strange.into_iter().filter_map(|key| layer.remove_entry(&key)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mistakes_in_toml_are_explained() {
        for (text, expected) in [
            ("[a]\nb = 99999999999999999999999", "my.toml:2: the number is too large"),
            ("[a]\nb = 1\nb = 2", "my.toml:3: b is set twice in this table; delete one of the lines"),
            (
                "[a]\nb = \"C:\\Users\\me\"",
                r"my.toml:2: a backslash begins an escape in double quotes; write / or use single quotes, such as 'C:\games'",
            ),
            ("[a]\nb = two", "my.toml:2: invalid boolean, expected `true`; a text stands in quotes, such as \"two\""),
        ] {
            let problems = file_layer("my.toml", text).map(|_| ()).expect_err(text);
            assert_eq!(problems.first().map(ToString::to_string).as_deref(), Some(expected));
        }
    }

    #[test]
    fn invalid_toml_lines_are_skipped() {
        let good = "[journal]\npath = \"games.db\"\n";
        for bad in
            ["name = = 1", "x = \"no end", "[web", "web]", "\u{1}", "y = [1,\n2,", "\"\"\"", "[journal]\npath = 1"]
        {
            for text in
                [format!("{bad}\n{good}"), format!("{good}{bad}\n"), format!("{good}{bad}\n[web]\nsocket = \"s\"")]
            {
                let mended = without_mistakes(&text).parse::<Table>().expect("TOML");
                let path = mended.get("journal").and_then(|table| table.get("path")).and_then(toml::Value::as_str);
                // A text without an end includes the lines after it.
                assert!(path == Some("games.db") || text.starts_with(bad), "{text:?} became {mended:?}");
            }
        }
    }
}
