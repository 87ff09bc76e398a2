//! Players of experiments as they are written.
//!
//! A player is written as a kind, a colon, and values with commas between them, such as
//! `engine:mpar,hash=16,name=small,nodes=5000`. Each takes `name=` for the tables, and `nodes=`,
//! `movetime=`, `depth=` or `tc=` for a pace of its own; the other values belong to its game's
//! [`PlayerKind`].

use std::{fmt, path::PathBuf, str::FromStr};

use crate::game::MatchLine;
pub use crate::game::{ChosenMove, MatchPlayer, MoveRequest, PlayerFailure};
use domain::Pace;

/// The players that a game has, as their texts describe them.
pub trait PlayerKind: Clone + fmt::Debug + Send + Sync + 'static {
    type Line: MatchLine;

    /// Reads the kind from a player's text without name and pace.
    fn read(words: &mut PlayerWords<'_>) -> Result<Self, String>;

    fn start(&self, cores: usize) -> Result<Box<dyn MatchPlayer<Self::Line>>, PlayerFailure>;

    /// Returns the reason why it cannot be limited so.
    fn refuses(&self, _pace: Pace) -> Option<&'static str> {
        None
    }

    fn grows(&self) -> bool {
        false
    }

    /// Threads that search at once while it thinks, as far as its text tells.
    fn threads(&self) -> usize {
        1
    }

    fn files(&self) -> Vec<PathBuf> {
        Vec::new()
    }
}

/// A player before it plays: its text, and what that means.
#[derive(Clone, Debug)]
pub struct PlayerSpec<K> {
    pub text: String,
    name: Option<String>,
    /// The limit of its moves, if its text gives one.
    pub pace: Option<Pace>,
    /// Files that its text names: a net, or the settings of a council.
    named_files: Vec<PathBuf>,
    pub kind: K,
}

impl<K: PlayerKind> PlayerSpec<K> {
    /// A player that no text describes.
    pub fn new(name: String, kind: K) -> Self {
        Self { text: name, name: None, pace: None, named_files: Vec::new(), kind }
    }

    /// Returns its name in tables and games: the given name, or its text.
    pub fn name(&self) -> &str {
        self.name.as_deref().unwrap_or(&self.text)
    }

    /// The files that its play depends on: programs with their inputs, nets, a file of settings. Outputs are not among them.
    pub fn files(&self) -> Vec<PathBuf> {
        let mut files = self.named_files.clone();
        files.extend(self.kind.files());
        // A built-in net has the empty path.
        files.retain(|file| !file.as_os_str().is_empty());
        files
    }
}

impl<K: PlayerKind> fmt::Display for PlayerSpec<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

pub struct PlayerWords<'a> {
    text: &'a str,
    /// The word before the colon.
    pub kind: &'a str,
    /// The first part without a key: knowledge, a roster, a command.
    pub bare: Option<&'a str>,
    pub pace: Option<Pace>,
    /// Keys and values but those of name and pace.
    pub options: Vec<(&'a str, &'a str)>,
    files: Vec<PathBuf>,
}

impl PlayerWords<'_> {
    pub fn wrong(&self, reason: impl fmt::Display) -> String {
        format!("player {:?}: {reason}", self.text.chars().take(200).collect::<String>())
    }

    pub fn option(&self, name: &str) -> Option<&str> {
        self.options.iter().find(|(key, _)| *key == name).map(|(_, value)| *value)
    }

    /// Adds the files that options of this name have to those of the player.
    pub fn name_files(&mut self, key: &str) {
        let named = self.options.iter().filter(|(name, _)| *name == key).map(|(_, value)| PathBuf::from(value));
        self.files.extend(named);
    }

    /// Adds the options that `is_key` accepts to a table of settings, and the bare word as its `roster`.
    pub fn add_to(&self, table: &mut toml::Table, is_key: impl Fn(&str) -> bool) {
        if let Some(roster) = self.bare {
            table.insert("roster".to_owned(), toml::Value::from(roster));
        }
        for (key, value) in self.options.iter().filter(|(key, _)| is_key(key)) {
            // A value is what TOML takes it for, and otherwise a text: knowledge letters need no quotes.
            let read =
                format!("value = {value}").parse::<toml::Table>().ok().and_then(|table| table.get("value").cloned());
            let key = if *key == "second-phase" { "second_phase" } else { *key };
            set_key(table, key, read.unwrap_or_else(|| toml::Value::from(*value)));
        }
    }
}

/// Sets a key of a table of settings; its dots lead into inner tables.
pub fn set_key(table: &mut toml::Table, key: &str, value: toml::Value) {
    match key.split_once('.') {
        None => _ = table.insert(key.to_owned(), value),
        Some((head, rest)) => {
            let inner = table.entry(head).or_insert_with(|| toml::Table::new().into());
            if let Some(inner) = inner.as_table_mut() {
                set_key(inner, rest, value);
            }
        }
    }
}

impl<K: PlayerKind> FromStr for PlayerSpec<K> {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (kind, rest) = text.split_once(':').unwrap_or((text, ""));
        let mut words = PlayerWords { text, kind, bare: None, pace: None, options: Vec::new(), files: Vec::new() };
        let mut name = None;
        for (index, word) in rest.split(',').map(str::trim).enumerate() {
            match word.split_once('=') {
                Some(("name", given)) => name = Some(given.to_owned()),
                // The command of a program may have an equals sign in its arguments, and its options have blanks in their names.
                Some((key, value)) if index > 0 || !key.contains(char::is_whitespace) => {
                    match Pace::from_key(key, value) {
                        Some(pace) => words.pace = Some(pace.map_err(|error| words.wrong(error))?),
                        None => words.options.push((key, value)),
                    }
                }
                _ if word.is_empty() => {}
                _ if index == 0 => words.bare = Some(word),
                _ => return Err(words.wrong(format_args!("{word:?} is not understood (accepted: key=value)"))),
            }
        }
        let kind = K::read(&mut words)?;
        Ok(Self { text: text.to_owned(), name, pace: words.pace, named_files: words.files, kind })
    }
}
