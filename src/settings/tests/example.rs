//! `config/example.toml` is written from the doc comments of the settings' types.

use std::{collections::BTreeMap, env, fmt::Write as _, fs, path::Path};

use toml::{Table, Value};

use super::{EXAMPLE, read};
use crate::settings::ServerSettings;
use bot::policy::matchmaking::MatchType;
use platform::fics::FicsSettings;
use util::values::OTHERS;

/// Set to write the example instead of comparing it.
const REWRITE: &str = "REWRITE_EXAMPLE";
const WIDTH: usize = 100;

const HEAD: &str = r##"# Settings of concilio, every key with its meaning, range and default.
#
# Lines that begin with "# " explain; lines that begin with "#" alone are settings at their
# defaults: remove the "#" there and before the table's name in brackets above, and change the
# value. Keys that are not set keep their defaults, so a file of your own may be as short as this:
#
#     [servers.lichess]
#     token_file = "lichess.token"
#
# Four layers: what is built in, below files like this one, below the environment
# (CONCILIO__CHALLENGE__CONCURRENCY=4, with two underscores between table and key, in capitals),
# below flags of the command line. `concilio config check` shows what took effect and from where,
# and names everything that is wrong.
#
# Times are whole seconds unless a key says otherwise. "none" means no limit where it is listed.
# Relative paths begin at the folder in which the program runs. Names of players are compared
# without regard to case.

"##;

#[derive(Debug)]
struct Field {
    key: String,
    of_type: String,
    doc: Vec<String>,
}

/// The types of all tables, by name, with their doc comments and their fields in the order of the source.
type Types = BTreeMap<String, (Vec<String>, Vec<Field>)>;

fn read_types(folder: &Path, types: &mut Types) {
    for entry in fs::read_dir(folder).expect("the sources").map(|entry| entry.expect("an entry").path()) {
        if entry.is_dir() {
            read_types(&entry, types);
        } else if entry.extension().is_some_and(|extension| extension == "rs") {
            add_types(&fs::read_to_string(&entry).expect("a source"), types);
        }
    }
}

/// Adds the tables that a source declares.
fn add_types(source: &str, types: &mut Types) {
    let (mut name, mut doc, mut attributes, mut of_type, mut fields) =
        (None, Vec::new(), String::new(), Vec::new(), Vec::new());
    for line in source.lines().filter_map(|line| line.strip_prefix("    ")) {
        let text = line.trim_start();
        if let Some(words) = text.strip_prefix("///") {
            doc.push(words.strip_prefix(' ').unwrap_or(words).to_owned());
        } else if text.starts_with("#[") {
            attributes.push_str(text);
        } else {
            let (doc, attributes) = (std::mem::take(&mut doc), std::mem::take(&mut attributes));
            if let Some(table) = line.strip_prefix("pub struct ") {
                name = table.split([' ', '<']).next().map(str::to_owned);
                of_type = doc;
            } else if line == "}" {
                let known = name.take();
                known.map(|name| types.insert(name, (std::mem::take(&mut of_type), std::mem::take(&mut fields))));
            } else if let Some((key, kind)) = text.strip_prefix("pub ").and_then(|field| field.split_once(": "))
                && name.is_some()
            {
                let renamed = attributes.split_once("rename = \"").and_then(|(_, rest)| rest.split('"').next());
                let kind = kind.split(" = ").next().unwrap_or_default();
                fields.push(Field { key: renamed.unwrap_or(key).to_owned(), of_type: kind.to_owned(), doc });
            }
        }
    }
}

/// Returns the doc comment and the fields of a type, such as `BTreeMap<String, ServerSettings>`.
fn type_of<'a>(types: &'a Types, kind: &str) -> Option<&'a (Vec<String>, Vec<Field>)> {
    kind.split(|letter: char| !letter.is_alphanumeric()).find_map(|word| types.get(word))
}

/// Doc comments as prose after `prefix`; code blocks are indented.
fn prose(doc: &[String], prefix: &str, out: &mut String) {
    let mut lines = vec![String::new()];
    let mut is_code = false;
    for text in doc {
        if text.starts_with("```") {
            is_code = !is_code;
            lines.push(String::new());
        } else if is_code {
            *lines.last_mut().expect("a line") = format!("    {text}");
            lines.push(String::new());
        } else if text.is_empty() {
            lines.extend([String::new(), String::new()]);
        } else {
            for word in text.replace('`', "").split(' ') {
                let line = lines.last_mut().expect("a line");
                if prefix.len() + line.len() + word.len() + 3 > WIDTH {
                    lines.push(word.to_owned());
                } else {
                    *line += if line.is_empty() { "" } else { " " };
                    *line += word;
                }
            }
        }
    }
    lines.dedup();
    let end = lines.iter().rposition(|line| !line.is_empty()).map_or(0, |last| last + 1);
    for line in &lines[..end] {
        let _ = writeln!(out, "{}", format!("{prefix}# {line}").trim_end());
    }
}

/// Writes the keys of a table, then the tables in it.
fn table(types: &Types, fields: &[&Field], values: &Table, path: &str, out: &mut String) {
    let is_table = |field: &&&Field| values.get(&field.key).is_some_and(Value::is_table);
    for field in fields.iter().filter(|field| !is_table(field)) {
        let Some(value) = values.get(&field.key) else { continue };
        prose(&field.doc, "", out);
        let _ = writeln!(out, "#{} = {value}\n", field.key);
    }
    let others = fields.iter().find(|field| field.key == OTHERS);
    if let Some((doc, common)) = others.and_then(|field| type_of(types, &field.of_type))
        && common.iter().any(|field| values.contains_key(&field.key))
    {
        prose(doc, "", out);
        out.push('\n');
        table(types, &common.iter().collect::<Vec<_>>(), values, "", out);
    }
    for field in fields.iter().filter(is_table) {
        let Some(Value::Table(below)) = values.get(&field.key) else { continue };
        let path = if path.is_empty() { field.key.clone() } else { format!("{path}.{}", field.key) };
        if path == field.key {
            let title = field.key[..1].to_uppercase() + &field.key[1..];
            let _ = writeln!(out, "# {:->width$}", format!(" {title}"), width = WIDTH - 2);
        }
        prose(&field.doc, "", out);
        if let Some(mut named) = named_tables(&path) {
            named.remove(OTHERS);
            out.push_str("#\n");
            sample(types, &field.of_type, &named, &format!("{path}.NAME"), out);
        }
        let _ = writeln!(out, "#[{path}]\n");
        let fields: Vec<&Field> = type_of(types, &field.of_type).iter().flat_map(|(_, fields)| fields).collect();
        table(types, &fields, below, &path, out);
    }
}

/// The values of a table under a name of the reader's choice.
fn named_tables(path: &str) -> Option<Table> {
    let table = match path {
        "servers" => {
            let fics = FicsSettings { password_file: Some("fics.password".into()), ..FicsSettings::default() };
            Table::try_from(ServerSettings { fics, ..ServerSettings::default() })
        }
        "matchmaking.types" => Table::try_from(MatchType::default()),
        _ => return None,
    };
    Some(table.expect("a table"))
}

/// Writes a table as an example in prose.
fn sample(types: &Types, of_type: &str, values: &Table, path: &str, out: &mut String) {
    let _ = writeln!(out, "#     [{path}]");
    let fields = type_of(types, of_type).map(|(_, fields)| fields.as_slice()).unwrap_or_default();
    let known = |field: &&Field| values.contains_key(&field.key);
    let (tables, keys): (Vec<&Field>, Vec<&Field>) = fields
        .iter()
        .filter(known)
        .partition(|field| values[&field.key].as_table().is_some_and(|table| table.len() > 1));
    for field in keys {
        prose(&field.doc, "#     ", out);
        let _ = writeln!(out, "#     {} = {}", field.key, values[&field.key]);
    }
    for field in tables {
        out.push_str("#\n");
        prose(&field.doc, "#     ", out);
        let table = values[&field.key].as_table().expect("a table");
        sample(types, &field.of_type, table, &format!("{path}.{}", field.key), out);
    }
}

#[test]
fn example_is_written_from_the_settings() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut types = Types::new();
    read_types(&folder.join("src"), &mut types);
    let mut written = HEAD.to_owned();
    let (_, fields) = type_of(&types, "Settings").expect("the settings");
    table(&types, &fields.iter().collect::<Vec<_>>(), &read::built_in(), "", &mut written);
    let written = format!("{}\n", written.trim_end());
    if env::var_os(REWRITE).is_some() {
        fs::write(folder.join("config/example.toml"), &written).expect("it is written");
    } else {
        let differ = written.lines().zip(EXAMPLE.lines()).find(|(new, old)| new != old);
        assert!(written == EXAMPLE, "{differ:?}: {REWRITE}=1 cargo test example writes config/example.toml anew");
    }
}
