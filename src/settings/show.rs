//! The effective settings as text, and differences between two readings.

use std::collections::BTreeSet;

use toml::{Table, Value};

use super::{
    Loaded,
    layers::Layers,
    problem::{dotted, shown, written},
    values::Path,
};

impl Loaded {
    /// The effective settings as TOML, with a comment on the origin of each value but the defaults.
    pub fn to_toml(&self) -> String {
        let mut text = String::new();
        show_table(&self.layers.table(), &mut Path::new(), &self.layers, &mut text);
        text
    }

    /// Returns the keys with different values, with dots between tables, in alphabetical order.
    pub fn changed_keys(&self, other: &Self) -> Vec<String> {
        let mut changed = BTreeSet::new();
        compare(&self.layers.table(), &other.layers.table(), &mut Path::new(), &mut changed);
        changed.into_iter().collect()
    }
}

fn show_table(table: &Table, path: &mut Path, layers: &Layers, text: &mut String) {
    let values = || table.iter().filter(|(_, value)| !value.is_table());
    if !path.is_empty() && (table.is_empty() || values().next().is_some()) {
        if !text.is_empty() {
            text.push('\n');
        }
        text.push_str(&format!("[{}]\n", dotted(path)));
    }
    for (key, value) in values() {
        path.push(key.clone());
        let value = written(value);
        // Only secrets are hidden here; long values are not shortened.
        let value = if shown(path, &value) == "(hidden)" { "\"(hidden)\"".to_owned() } else { value };
        let comment = |origin: String| format!("  # {}", origin.replace(char::is_control, " "));
        let comment = layers.origin(path, None).map_or_else(String::new, comment);
        text.push_str(&format!("{} = {value}{comment}\n", dotted(std::slice::from_ref(key))));
        path.pop();
    }
    for (key, value) in table {
        if let Value::Table(table) = value {
            path.push(key.clone());
            show_table(table, path, layers, text);
            path.pop();
        }
    }
}

fn compare(one: &Table, other: &Table, path: &mut Path, changed: &mut BTreeSet<String>) {
    let keys: BTreeSet<&String> = one.keys().chain(other.keys()).collect();
    let none = Table::new();
    for key in keys {
        path.push(key.clone());
        match (one.get(key), other.get(key)) {
            (one, other) if one == other => (),
            (Some(Value::Table(one)), Some(Value::Table(other))) => compare(one, other, path, changed),
            (Some(Value::Table(one)), None) => compare(one, &none, path, changed),
            (None, Some(Value::Table(other))) => compare(&none, other, path, changed),
            _ => _ = changed.insert(dotted(path)),
        }
        path.pop();
    }
}
