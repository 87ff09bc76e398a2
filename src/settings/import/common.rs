//! Parts that both files share.

use std::path::Path;

use toml::{Table, Value};

use super::{foreign::ForeignSettings, written::ImportedSettings};
use bot::policy::chat::{ChatContext, LONGEST};

/// Keys that mean the same: where they stand in the old file, and where in ours.
pub(super) type SameKeys<'a> = &'a [(&'a str, &'a str)];

/// Takes over numbers that mean the same.
pub(super) fn numbers(keys: SameKeys<'_>, foreign: &mut ForeignSettings, ours: &mut ImportedSettings) {
    for (old, new) in keys {
        ours.set_number(new, foreign.take_number(old));
    }
}

/// Takes over what is true or false and means the same.
pub(super) fn flags(keys: SameKeys<'_>, foreign: &mut ForeignSettings, ours: &mut ImportedSettings) {
    for (old, new) in keys {
        ours.set_some(new, foreign.take_flag(old));
    }
}

/// A bound of ours, and the numbers that it takes.
#[derive(Clone, Copy)]
pub(super) struct Bound<'a> {
    /// The keys in the old file and in ours.
    pub keys: (&'a str, &'a str),
    /// The least and the greatest number that ours takes.
    pub range: (f64, f64),
}

/// Takes over a lower and an upper bound, of whole numbers. What is beyond the upper one's range is no limit, written "none" where
/// `unbounded` says so. Returns false, and a remark, where no number is within both: then the settings are left as they are.
pub(super) fn bounds(
    least: Bound<'_>,
    greatest: Bound<'_>,
    unbounded: bool,
    foreign: &mut ForeignSettings,
    ours: &mut ImportedSettings,
) -> bool {
    let lower = foreign.take_number(least.keys.0).map(f64::ceil).filter(|number| *number > least.range.0);
    let upper = foreign.take_number(greatest.keys.0).map(f64::floor);
    let (from, to) = (lower.unwrap_or(least.range.0), upper.unwrap_or(f64::MAX));
    if from > to.min(greatest.range.1) || to < greatest.range.0 {
        ours.remark(least.keys.0, format!("nothing is within it and {}, and nothing is accepted", greatest.keys.0));
        return false;
    }
    ours.set_number(least.keys.1, lower);
    match upper.filter(|upper| *upper <= greatest.range.1) {
        None if unbounded => ours.set_some(greatest.keys.1, upper.map(|_| "none")),
        None => ours.set_number(greatest.keys.1, upper.map(|_| greatest.range.1)),
        upper => ours.set_number(greatest.keys.1, upper),
    }
    true
}

/// Takes items out of a list of names that the old bot knows as little as we do, and says so.
pub(super) fn drop_unknown(
    option: &str,
    keeps: impl Fn(&str) -> bool,
    foreign: &mut ForeignSettings,
    ours: &mut ImportedSettings,
) {
    for item in foreign.drop_others(option, keeps) {
        ours.remark(option, format!("{item:?} means nothing to the old bot either, and is left out"));
    }
}

/// Returns true for Lichess' own name of a variant.
pub(super) fn is_variant(name: &str) -> bool {
    domain::Variant::ALL.into_iter().any(|variant| variant.key() == name)
}

/// Returns true for Lichess' name of a speed.
pub(super) fn is_speed(name: &str) -> bool {
    domain::Speed::ALL.into_iter().any(|speed| speed.key() == name)
}

/// Takes over the number of games at a time. Without any the old bot accepts nothing.
pub(super) fn concurrency(foreign: &mut ForeignSettings, ours: &mut ImportedSettings) -> Option<f64> {
    let games = foreign.take_number("challenge.concurrency")?;
    if games < 1.0 {
        ours.set("challenge.accept", false);
        ours.remark("challenge.concurrency", "is less than 1: nothing is accepted or offered");
        return None;
    }
    if games > MOST_GAMES {
        ours.remark("challenge.concurrency", format!("is more than {MOST_GAMES}, the most games at a time here"));
    }
    let games = games.min(MOST_GAMES);
    ours.set_number("challenge.concurrency", Some(games));
    // Challenges wait for a place there, however many they are.
    ours.set("challenge.max_waiting", 1000);
    Some(games)
}

/// The most games at a time.
pub(super) const MOST_GAMES: f64 = 100.0;

/// Takes over texts that mean the same.
pub(super) fn texts(keys: SameKeys<'_>, foreign: &mut ForeignSettings, ours: &mut ImportedSettings) {
    for (old, new) in keys {
        ours.set_some(new, foreign.take_text(old));
    }
}

/// Takes over lists that mean the same, if anything stands in them.
pub(super) fn lists(keys: SameKeys<'_>, foreign: &mut ForeignSettings, ours: &mut ImportedSettings) {
    for (old, new) in keys {
        let items = foreign.take_texts(old);
        ours.set_some(new, (!items.is_empty()).then_some(items));
    }
}

/// Takes options away that have no counterpart, and says why not.
pub(super) fn unneeded(options: &[(&str, &str)], foreign: &mut ForeignSettings, ours: &mut ImportedSettings) {
    for (option, why) in options {
        if foreign.take(option).is_some() {
            ours.remark(option, *why);
        }
    }
}

/// Sets the services that are asked, in this order. The explorer asks for a token; the bot's own will do.
pub(super) fn online_sources(sources: Vec<&str>, ours: &mut ImportedSettings) {
    if sources.contains(&"explorer") {
        let token_file = ours.token_file().to_owned();
        ours.set("player.online.token_file", token_file);
    }
    ours.set_some("player.online.sources", (!sources.is_empty()).then_some(sources));
}

/// Leaves the explorer of the bot's own games out until its name is filled in.
pub(super) fn own_explorer(option: &str, ours: &mut ImportedSettings) {
    ours.drop_text("player.online.sources", "explorer");
    ours.remark(
        option,
        "the bot's own games: write its name into player.online.explorer.player, and \"explorer\" into player.online.sources",
    );
}

/// Takes the options of Gaviota's tables away, which are not read.
pub(super) fn gaviota(path: &str, foreign: &mut ForeignSettings, ours: &mut ImportedSettings) {
    if foreign.take_flag(&format!("{path}.enabled")) == Some(true) {
        ours.remark(path, "only Syzygy tables are read, which know every position of up to five pieces as well");
    }
    foreign.take(path);
}

/// Takes over the greetings, as far as they fit: in the [`LONGEST`] text of a chat, with the placeholders that there are.
pub(super) fn greetings(keys: SameKeys<'_>, foreign: &mut ForeignSettings, ours: &mut ImportedSettings) {
    for (old, new) in keys {
        let Some(text) = foreign.take_text(old) else { continue };
        let known = ChatContext::unknown_placeholders(&text)
            .iter()
            .fold(text.clone(), |text, name| text.replace(&format!("{{{name}}}"), ""));
        let fitting: String = known.chars().take(LONGEST).collect();
        if fitting != text {
            ours.remark(old, format!("was shortened to {LONGEST} characters and the placeholders that there are"));
        }
        ours.set(new, fitting);
    }
}

/// An elector of a custom roster, as the settings write it.
#[derive(Default)]
pub(super) struct ImportedEngine {
    pub name: String,
    /// The program's folder and its name there.
    pub folder: String,
    pub program: String,
    /// Interpreter of the program, with its own arguments; empty for none.
    pub interpreter: Vec<String>,
    pub arguments: Vec<String>,
    /// "uci" or "cecp".
    pub protocol: String,
    pub working_dir: String,
    pub transcript: String,
    pub options: Vec<(String, String)>,
    pub is_quiet: bool,
}

impl ImportedEngine {
    pub(super) fn council(self) -> Table {
        let path = Path::new(&self.folder).join(&self.program).to_string_lossy().into_owned();
        let mut words = self.interpreter.into_iter().chain([path]).chain(self.arguments);
        let mut elector = Table::new();
        elector.insert("name".to_owned(), Value::from(self.name));
        elector.insert("engine".to_owned(), Value::from(words.next().unwrap_or_default()));
        let arguments: Vec<String> = words.collect();
        if !arguments.is_empty() {
            elector.insert("arguments".to_owned(), Value::from(arguments));
        }
        for (key, text) in
            [("protocol", self.protocol), ("working_dir", self.working_dir), ("transcript", self.transcript)]
        {
            if !text.is_empty() {
                elector.insert(key.to_owned(), Value::from(text));
            }
        }
        if !self.is_quiet {
            elector.insert("stderr".to_owned(), Value::from("log"));
        }
        let options: Table = self.options.into_iter().map(|(name, text)| (name, Value::from(text))).collect();
        if !options.is_empty() {
            elector.insert("options".to_owned(), Value::Table(options));
        }
        let council = [("roster", Value::from("custom")), ("electors", Value::Array(vec![Value::Table(elector)]))];
        council.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
    }
}

/// Returns a time control in seconds, as the settings write it.
pub(super) fn time_control(initial: f64, increment: f64) -> String {
    format!("{}+{increment}", initial / 60.0)
}

/// A variant by any of the names that the bots give it, by ours.
pub(super) fn variant(name: &str) -> Option<&'static str> {
    let name = match name.to_ascii_lowercase().as_str() {
        "3check" => "threecheck".to_owned(),
        "giveaway" => "antichess".to_owned(),
        name => name.to_owned(),
    };
    domain::Variant::ALL.into_iter().map(domain::Variant::key).find(|key| key.eq_ignore_ascii_case(&name))
}

/// Returns our name for the choice of a book's move.
pub(super) fn book_selection(name: &str) -> &'static str {
    match name {
        "best_move" => "best",
        "uniform_random" => "uniform",
        _ => "weighted",
    }
}
