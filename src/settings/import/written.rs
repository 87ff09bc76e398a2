//! The settings file of ours, key by key and as text.

use std::fmt::Write as _;

use toml::{Table, Value};

use super::ForeignBot;

/// The keys set so far, and remarks on options without a counterpart.
#[derive(Debug)]
pub(super) struct ImportedSettings {
    table: Table,
    /// Settings of disabled sections of the old file: written as comments.
    disabled: Table,
    in_disabled: bool,
    pub(super) remarks: Vec<(String, String)>,
    pub(super) token_file: String,
}

impl ImportedSettings {
    /// Creates an empty file; tokens will stand in `token_file`.
    pub(super) fn new(token_file: &str) -> Self {
        Self {
            table: Table::new(),
            disabled: Table::new(),
            in_disabled: false,
            remarks: Vec::new(),
            token_file: token_file.to_owned(),
        }
    }

    /// Lets `set` set the keys of a section: as comments, unless the section is `enabled`.
    pub(super) fn only_if(&mut self, enabled: bool, set: impl FnOnce(&mut Self)) {
        self.in_disabled = !enabled;
        set(self);
        self.in_disabled = false;
    }

    /// Sets a key such as `player.book.files`.
    pub(super) fn set(&mut self, key: &str, value: impl Into<Value>) {
        let path: Vec<&str> = key.split('.').collect();
        self.set_at(&path, value);
    }

    /// Sets the key at the end of a path. Unlike in [`Self::set`], names may contain dots.
    pub(super) fn set_at(&mut self, path: &[&str], value: impl Into<Value>) {
        let Some((key, tables)) = path.split_last() else { return };
        let mut table = if self.in_disabled { &mut self.disabled } else { &mut self.table };
        for name in tables {
            let below = table.entry(*name).or_insert_with(|| Value::Table(Table::new()));
            let Value::Table(below) = below else { return };
            table = below;
        }
        table.insert((*key).to_owned(), value.into());
    }

    pub(super) fn set_some(&mut self, key: &str, value: Option<impl Into<Value>>) {
        if let Some(value) = value {
            self.set(key, value);
        }
    }

    /// Sets a key to a list of texts, if there are any.
    pub(super) fn set_list(&mut self, key: &str, items: Vec<String>) {
        self.set_some(key, (!items.is_empty()).then_some(items));
    }

    /// Sets a key to a number, written as a whole one if it is.
    pub(super) fn set_number(&mut self, key: &str, number: Option<f64>) {
        self.set_some(key, number.map(whole));
    }

    /// Sets a limit; a number beyond the greatest one of the key is no limit.
    pub(super) fn set_limit(&mut self, key: &str, number: Option<f64>, greatest: f64) {
        let limit = |number: f64| if number > greatest { Value::from("none") } else { whole(number) };
        self.set_some(key, number.map(limit));
    }

    /// Returns the list of texts of a key; empty if it is not set.
    pub(super) fn texts(&self, key: &str) -> Vec<String> {
        let items = self.value(key).and_then(Value::as_array).into_iter().flatten();
        items.filter_map(|item| item.as_str().map(str::to_owned)).collect()
    }

    pub(super) fn text(&self, key: &str) -> Option<String> {
        self.value(key)?.as_str().map(str::to_owned)
    }

    pub(super) fn drop_text(&mut self, key: &str, text: &str) {
        let kept: Vec<String> = self.texts(key).into_iter().filter(|item| item != text).collect();
        self.set(key, kept);
    }

    fn value(&self, key: &str) -> Option<&Value> {
        let mut path = key.split('.');
        let first = path.next().and_then(|name| self.table.get(name));
        path.fold(first, |value, name| value?.get(name))
    }

    /// Adds the reason why an option of the old file has no counterpart.
    pub(super) fn remark(&mut self, option: &str, why: impl Into<String>) {
        self.remarks.push((option.to_owned(), why.into()));
    }

    pub(super) fn into_text(self, bot: ForeignBot) -> String {
        let name = match bot {
            ForeignBot::LichessBot => "lichess-bot",
            ForeignBot::BotLi => "BotLi",
        };
        let mut text = format!(
            "# Settings of concilio, made of those of {name}. docs/coming-from.md compares every option; config/example.toml has every\n\
             # key with its meaning. Keys that do not stand here keep their defaults. Names are compared without regard to case, and\n\
             # a listed variant that no engine plays is declined.\n"
        );
        if !self.remarks.is_empty() {
            text.push_str("#\n# These options have no counterpart here:\n");
        }
        for (option, why) in &self.remarks {
            let line = format!("{option}: {why}").replace(char::is_control, " ");
            let _ = writeln!(text, "#   {line}");
        }
        text.push('\n');
        text.push_str(&toml::to_string(&self.table).unwrap_or_default());
        if !self.disabled.is_empty() {
            text.push_str("\n# Disabled in the old file:\n");
            for line in toml::to_string(&self.disabled).unwrap_or_default().lines().filter(|line| !line.is_empty()) {
                let _ = writeln!(text, "#{line}");
            }
        }
        text
    }
}

/// A number as TOML; a whole one is written without a fraction.
#[allow(clippy::cast_possible_truncation, reason = "it is whole, and no larger than a number can be told exactly")]
pub(super) fn whole(number: f64) -> Value {
    if number.fract() == 0.0 && number.abs() < 9e15 { Value::from(number as i64) } else { Value::from(number) }
}
