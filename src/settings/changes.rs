//! Differences between two readings of the settings.

use std::collections::BTreeSet;

use toml::{Table, Value};

use super::{Loaded, problem::dotted, values::Path};

impl Loaded {
    /// Returns the keys with different values, with dots between tables, in alphabetical order.
    pub fn changed_keys(&self, other: &Self) -> Vec<String> {
        let mut changed = BTreeSet::new();
        compare(&self.layers.table(), &other.layers.table(), &mut Path::new(), &mut changed);
        changed.into_iter().collect()
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
