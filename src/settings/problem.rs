//! Problems of settings, one line each.

use std::fmt;

use toml::Value;

use super::values::{Origin, Path, rank};
use domain::CriterionName;

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Problem {
    origin: Origin,
    what: String,
    /// The table of the settings with the problem; `None` if it may be in any.
    table: Option<String>,
}

impl Problem {
    pub(super) fn new(origin: &Origin, what: String) -> Self {
        // One problem is one line, even about a text of several lines.
        Self { origin: origin.clone(), what: what.split_whitespace().collect::<Vec<_>>().join(" "), table: None }
    }

    /// Its layer and its line there.
    pub(super) fn place(&self) -> (u8, usize) {
        rank(&self.origin)
    }

    /// Returns true if it may be in one of these tables.
    pub(super) fn is_in(&self, tables: &[&str]) -> bool {
        self.table.as_ref().is_none_or(|table| tables.contains(&table.as_str()))
    }

    fn within(self, path: &[String]) -> Self {
        Self { table: path.first().cloned(), ..self }
    }

    pub(super) fn of_value(origin: &Origin, path: &[String], value: Option<&str>, accepted: &str) -> Self {
        let value = value.map(|value| format!(" = {}", shown(path, value))).unwrap_or_default();
        Self::new(origin, format!("{}{value}: {accepted}", dotted(path))).within(path)
    }

    pub(super) fn of_unknown_key(origin: &Origin, path: &[String], known: &[String]) -> Self {
        let key = path.last().map(String::as_str).unwrap_or_default();
        let table = path.get(..path.len().saturating_sub(1)).unwrap_or_default();
        let hint = if let Some(remedy) = removed(path) {
            return Self::new(origin, format!("{}: removed; {remedy}", dotted(path))).within(table);
        } else if is_secret(key) {
            "secrets do not stand in settings: put it into a file and name that in token_file".to_owned()
        } else if let Some(near) = nearest(key, known) {
            format!("did you mean {}?", dotted(&[table, &[near.to_owned()]].concat()))
        } else if known.is_empty() {
            "nothing is accepted here".to_owned()
        } else {
            format!("expected one of {}", known.join(", "))
        };
        // An unknown table may be a misspelt one.
        Self::new(origin, format!("{}: unknown key, {hint}", dotted(path))).within(table)
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.origin.as_deref().unwrap_or("built-in default"), self.what)
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problems(Vec<Problem>);

impl Problems {
    /// Returns `problems`, each once; `None` without any.
    pub(super) fn of(mut problems: Vec<Problem>) -> Option<Self> {
        let mut seen = std::collections::BTreeSet::new();
        problems.retain(|problem| seen.insert(problem.clone()));
        (!problems.is_empty()).then_some(Self(problems))
    }

    pub fn iter(&self) -> impl Iterator<Item = &Problem> {
        self.0.iter()
    }
}

impl From<Problem> for Problems {
    fn from(problem: Problem) -> Self {
        Self(vec![problem])
    }
}

impl fmt::Display for Problems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lines: Vec<String> = self.0.iter().map(Problem::to_string).collect();
        f.write_str(&lines.join("\n"))
    }
}

impl std::error::Error for Problems {}

/// Returns the accepted values, from serde's message: "expected ...", and the nearest name for a
/// misspelt one.
pub(super) fn accepted(message: &str) -> String {
    let names = backquoted(message);
    if let Some((given, known)) = names.split_first()
        && message.starts_with("unknown variant")
    {
        if REMOVED_CRITERIA.contains(&given.as_str()) && known.iter().any(|word| word == SUCCESSOR) {
            return format!("this criterion was removed; use {SUCCESSOR:?}");
        }
        let hint = nearest(given, known).map(|near| format!(" (did you mean {near}?)")).unwrap_or_default();
        return format!("expected {}{hint}", listed(known));
    }
    let Some((_, expected)) = message.rsplit_once(", expected ") else { return message.to_owned() };
    let plain = match expected {
        "a boolean" => "true or false",
        "a string" | "string" | "path string" | "a path string" | "string or table" | "str" => "a text in quotes",
        "a sequence" => "a list",
        "f32" | "f64" => "a number",
        "i8" | "i16" | "i32" | "i64" | "isize" => "a whole number",
        "u8" | "u16" | "u32" | "u64" | "usize" => "a whole number from 0 on",
        "a map" => "a table",
        other if other.starts_with("struct ") => "a table",
        other => other,
    };
    format!("expected {plain}")
}

/// Criteria of earlier versions, which elected no better than their successor (docs/experiments.md).
const REMOVED_CRITERIA: [&str; 3] = ["calibrated", "learned", "routing"];
const SUCCESSOR: &str = CriterionName::ScoreMargin.word();

pub(super) fn backquoted(message: &str) -> Vec<String> {
    message.split('`').skip(1).step_by(2).map(str::to_owned).collect()
}

fn listed(names: &[String]) -> String {
    match names {
        [] => "nothing".to_owned(),
        [one] => one.clone(),
        [most @ .., last] => format!("{} or {last}", most.join(", ")),
    }
}

/// The known name most similar to `given`, if any is similar.
fn nearest<'a>(given: &str, known: &'a [String]) -> Option<&'a str> {
    let given = given.to_lowercase();
    let likeness = |name: &str| strsim::damerau_levenshtein(&given, &name.to_lowercase());
    let (distance, name) = known.iter().map(|name| (likeness(name), name)).min()?;
    (distance <= given.chars().count().max(name.chars().count()) / 3).then_some(name)
}

fn removed(path: &[String]) -> Option<&'static str> {
    let [.., table, key] = path else { return None };
    match (table.as_str(), key.as_str()) {
        ("council", "model") => Some("the criteria that read it are gone, delete this line"),
        ("council", "tablebases") => {
            Some("the adviser that read it is gone; player.tablebases.paths is for the player")
        }
        ("clock", "heed_votes") => Some("votes do not change the time of a move, delete this line"),
        _ => None,
    }
}

fn is_secret(key: &str) -> bool {
    let key = key.to_lowercase();
    ["token", "password", "secret"].iter().any(|word| key.ends_with(word))
}

/// A value as it may be shown: short, and without secrets. A Lichess token in the wrong place
/// must not get into a log.
pub(super) fn shown(path: &[String], value: &str) -> String {
    const MOST: usize = 60;
    let key = path.last().map(String::as_str).unwrap_or_default();
    if is_secret(key) || value.contains("lip_") {
        return "(hidden)".to_owned();
    }
    if value.chars().count() <= MOST {
        return value.to_owned();
    }
    format!("{}...", value.chars().take(MOST).collect::<String>())
}

/// A value as TOML writes it, on one line.
pub(super) fn written(value: &Value) -> String {
    match value {
        // TOML may write a text on several lines; a message may not.
        Value::String(text) => quoted(text),
        other => other.to_string().replace('\n', " "),
    }
}

pub(super) fn quoted(text: &str) -> String {
    let mut quoted = String::from('"');
    for letter in text.chars() {
        match letter {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            letter if letter.is_control() => quoted.push_str(&format!("\\U{:08X}", u32::from(letter))),
            letter => quoted.push(letter),
        }
    }
    quoted.push('"');
    quoted
}

pub(super) fn dotted(path: &[String]) -> String {
    let bare = |key: &str| {
        !key.is_empty() && key.chars().all(|letter| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-'))
    };
    let keys: Path = path.iter().map(|key| if bare(key) { key.clone() } else { quoted(key) }).collect();
    keys.join(".")
}
