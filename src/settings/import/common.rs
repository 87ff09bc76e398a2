//! Functions for the files of both bots.

use toml::{Table, Value};

use super::{foreign::ForeignSettings, written::ImportedSettings};
use bot::policy::chat::{ChatContext, LONGEST};

/// Takes over a lower and an upper bound of whole numbers, each with its key in the old file and its key in ours. Our keys take
/// numbers of `range`: a higher upper bound is no limit, written "none" if `unbounded`. Returns false, with a remark and no change, if
/// no number is within both.
pub(super) fn bounds(
    [least, greatest]: [(&str, &str); 2],
    range: (f64, f64),
    unbounded: bool,
    foreign: &mut ForeignSettings,
    ours: &mut ImportedSettings,
) -> bool {
    let lower = foreign.take_number(least.0).map(f64::ceil).filter(|number| *number > range.0);
    let upper = foreign.take_number(greatest.0).map(f64::floor);
    let (from, to) = (lower.unwrap_or(range.0), upper.unwrap_or(f64::MAX));
    if from > to.min(range.1) || to < range.0 {
        ours.remark(least.0, format!("nothing is within it and {}, and nothing is accepted", greatest.0));
        return false;
    }
    ours.set_number(least.1, lower);
    match upper.filter(|upper| *upper <= range.1) {
        None if unbounded => ours.set_some(greatest.1, upper.map(|_| "none")),
        None => ours.set_number(greatest.1, upper.map(|_| range.1)),
        upper => ours.set_number(greatest.1, upper),
    }
    true
}

/// Takes the unknown names out of a list, with a remark.
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

pub(super) fn is_variant(name: &str) -> bool {
    domain::Variant::ALL.into_iter().any(|variant| variant.key() == name)
}

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

pub(super) const MOST_GAMES: f64 = 100.0;

/// Takes an option without a counterpart away, with the reason as a remark.
pub(super) fn leave_out(option: &str, why: &str, foreign: &mut ForeignSettings, ours: &mut ImportedSettings) {
    if foreign.take(option).is_some() {
        ours.remark(option, why);
    }
}

/// Sets the online services in this order. The explorer asks for a token; the bot's own will do.
pub(super) fn online_sources(sources: Vec<&str>, ours: &mut ImportedSettings) {
    if sources.contains(&"explorer") {
        ours.set("player.online.token_file", ours.token_file.clone());
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

/// Takes the options of Gaviota's tables away: they are not read.
pub(super) fn gaviota(path: &str, foreign: &mut ForeignSettings, ours: &mut ImportedSettings) {
    if foreign.take_flag(&format!("{path}.enabled")) == Some(true) {
        ours.remark(path, "only Syzygy tables are read; they know every position of up to five pieces as well");
    }
    foreign.take(path);
}

/// Takes over the greetings, cut to the [`LONGEST`] text of a chat and to known placeholders.
pub(super) fn greetings(keys: &[(&str, &str)], foreign: &mut ForeignSettings, ours: &mut ImportedSettings) {
    for (old, new) in keys {
        let Some(text) = foreign.take_text(old) else { continue };
        let known = ChatContext::unknown_placeholders(&text)
            .iter()
            .fold(text.clone(), |text, name| text.replace(&format!("{{{name}}}"), ""));
        let fitting: String = known.chars().take(LONGEST).collect();
        if fitting != text {
            ours.remark(old, format!("was shortened to {LONGEST} characters and the placeholders known here"));
        }
        ours.set(new, fitting);
    }
}

/// Returns the table `council` of a player with one engine: `command` is its program and arguments, `keys` are keys of the elector,
/// which are left out if they are empty.
pub(super) fn council(
    name: &str,
    command: impl IntoIterator<Item = String>,
    keys: &[(&str, String)],
    options: Vec<(String, String)>,
    is_quiet: bool,
) -> Table {
    let mut words = command.into_iter();
    let mut elector = Table::new();
    put(&mut elector, "name", Some(name));
    put(&mut elector, "engine", Some(words.next().unwrap_or_default()));
    let arguments: Vec<String> = words.collect();
    put(&mut elector, "arguments", (!arguments.is_empty()).then_some(arguments));
    for (key, text) in keys {
        put(&mut elector, key, (!text.is_empty()).then_some(text.as_str()));
    }
    put(&mut elector, "stderr", (!is_quiet).then_some("log"));
    let options: Table = options.into_iter().map(|(name, text)| (name, Value::from(text))).collect();
    put(&mut elector, "options", (!options.is_empty()).then_some(options));
    let mut council = Table::new();
    put(&mut council, "roster", Some("custom"));
    put(&mut council, "electors", Some(vec![elector]));
    council
}

/// Sets a key of a table, if there is a value.
pub(super) fn put(table: &mut Table, key: &str, value: Option<impl Into<Value>>) {
    if let Some(value) = value {
        table.insert(key.to_owned(), value.into());
    }
}

/// Returns a time control in seconds, as the settings write it.
pub(super) fn time_control(initial: f64, increment: f64) -> String {
    format!("{}+{increment}", initial / 60.0)
}

/// Returns our name of a variant, by any name of the other bots.
pub(super) fn variant(name: &str) -> Option<&'static str> {
    let name = match name.to_ascii_lowercase().as_str() {
        "3check" => "threecheck".to_owned(),
        "giveaway" => "antichess".to_owned(),
        name => name.to_owned(),
    };
    domain::Variant::ALL.into_iter().map(domain::Variant::key).find(|key| key.eq_ignore_ascii_case(&name))
}

pub(super) fn book_selection(name: &str) -> &'static str {
    match name {
        "best_move" => "best",
        "uniform_random" => "uniform",
        _ => "weighted",
    }
}
