use toml::{Table, Value};

use super::{
    layers::Layers,
    problem::{dotted, shown, written},
    values::Path,
};

/// Writes the merged table, with a comment at every value but the defaults.
pub(super) fn show(layers: &Layers) -> String {
    let mut text = String::new();
    show_table(&layers.table(), &mut Vec::new(), layers, &mut text);
    text
}

fn show_table(table: &Table, path: &mut Path, layers: &Layers, text: &mut String) {
    let values = || table.iter().filter(|(_, value)| !value.is_table());
    let is_empty = table.is_empty();
    if !path.is_empty() && (is_empty || values().next().is_some()) {
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
        let comment = match layers.origin(path, None) {
            None => String::new(),
            Some(origin) => format!("  # {}", origin.replace(char::is_control, " ")),
        };
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
