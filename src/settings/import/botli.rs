//! The options of BotLi's `config.yml`.
//!
//! BotLi picks the engine and the book of a game apart, each by keys such as `bullet_white`; a profile of ours holds both. So each
//! engine gets a profile with each book, under the conditions of both, unless these contradict each other.

use std::{collections::BTreeMap, path::Path};

use domain::{Speed, values::MinutesAndSeconds};
use toml::{Table, Value};

use super::{
    common::{
        book_selection, bounds, concurrency, council, drop_unknown, gaviota, greetings, is_speed, is_variant,
        online_sources, own_explorer, put, variant,
    },
    foreign::{ForeignSettings, parse},
    table::BOTLI,
    written::{ImportedSettings, whole},
};

const OVERHEAD: &str = "network lag is measured in every game; player.clock.reserve adds to it";

type Conditions = BTreeMap<&'static str, Value>;

const DEFAULTS: &str = include_str!("defaults/botli.yml");

pub(super) fn read(foreign: &mut ForeignSettings, ours: &mut ImportedSettings) {
    older_names(foreign, ours);
    let defaults = parse(DEFAULTS).unwrap_or_default();
    for section in ["offer_draw", "resign", "challenge", "messages"] {
        foreign.fill(section, &defaults);
    }
    if !foreign.names("matchmaking.types").is_empty() {
        foreign.fill("matchmaking", &defaults);
    }
    let engines = engines(foreign, ours);
    let books = books(foreign, ours);
    profiles(engines, books, ours);
    tablebases(foreign, ours);
    online(foreign, ours);
    adjudication(foreign, ours);
    challenges(foreign, ours);
    matchmaking(foreign, ours);
    greetings(
        &[
            ("messages.greeting", "chat.hello"),
            ("messages.goodbye", "chat.goodbye"),
            ("messages.greeting_spectators", "chat.hello_spectators"),
            ("messages.goodbye_spectators", "chat.goodbye_spectators"),
        ],
        foreign,
        ours,
    );
    opponents(foreign, ours);
    BOTLI.copy(foreign, ours);
}

/// Gives sections of older files their places in newer ones.
fn older_names(foreign: &mut ForeignSettings, ours: &mut ImportedSettings) {
    if foreign.take_flag("engine.variants.enabled") == Some(true) {
        foreign.rename("engine.variants", "engines.variants");
    } else if foreign.take("engine.variants").is_some() {
        ours.remark("engine.variants", "is disabled");
    }
    for section in ["syzygy", "gaviota", "opening_books", "online_moves", "offer_draw", "resign"] {
        foreign.rename(&format!("engine.{section}"), section);
    }
    foreign.rename("engine", "engines.standard");
    if foreign.has("syzygy.enabled") {
        foreign.rename("syzygy", "syzygy.standard");
    }
    if foreign.take_number("move_overhead_multiplier").is_some_and(|factor| factor != 1.0) {
        ours.remark("move_overhead_multiplier", OVERHEAD);
    }
}

/// Takes over friends and blocked players. BotLi's whitelist overrules its blacklists, and has rules for variants.
fn opponents(foreign: &mut ForeignSettings, ours: &mut ImportedSettings) {
    let friends = foreign.take_texts("whitelist");
    let is_friend = |name: &String| friends.iter().any(|friend| friend.eq_ignore_ascii_case(name));
    let mut block = foreign.take_texts("blacklist");
    block.retain(|name| !is_friend(name));
    if !friends.is_empty() {
        ours.remark(
            "whitelist",
            "challenge.friends may bring any variant that an engine here plays and any time control, not only those listed",
        );
        if foreign.holds_items("online_blacklists") {
            ours.remark("online_blacklists", "a friend on such a list is declined here; BotLi plays him");
        }
    }
    ours.set_list("challenge.friends", friends);
    ours.set_list("challenge.block", block);
}

/// Returns tables of `player` for each engine, with their conditions.
fn engines(foreign: &mut ForeignSettings, ours: &mut ImportedSettings) -> Vec<(Conditions, Table)> {
    let mut parts: Vec<(Conditions, Table)> = Vec::new();
    for key in foreign.names("engines") {
        let old = |option: &str| format!("engines.{key}.{option}");
        let (folder, name) = (foreign.take_text(&old("dir")), foreign.take_text(&old("name")).unwrap_or_default());
        let program = Path::new(&folder.unwrap_or_default()).join(&name).to_string_lossy().into_owned();
        let options = foreign.take_table(&old("uci_options"));
        let is_quiet = foreign.take_flag(&old("silence_stderr")).unwrap_or(false);
        let mut tables = Table::new();
        put(&mut tables, "ponder", foreign.take_flag(&old("ponder")).map(i64::from));
        let mut limits = Table::new();
        for name in ["time", "depth", "nodes"] {
            put(&mut limits, name, foreign.take_number(&old(&format!("limits.{name}"))).map(whole));
        }
        put(&mut tables, "limits", (!limits.is_empty()).then_some(limits));
        if foreign.take_number(&old("move_overhead_multiplier")).is_some_and(|factor| factor != 1.0) {
            ours.remark(&old("move_overhead_multiplier"), OVERHEAD);
        }
        put(&mut tables, "council", Some(council(&name, [program], &[], options, is_quiet)));
        // `variants` is for all variants without an engine of their own.
        let keys = match key.as_str() {
            "variants" => {
                let names = domain::Variant::ALL.map(domain::Variant::key).into_iter();
                names
                    .filter(|name| !["standard", "chess960", "fromPosition"].contains(name))
                    .map(str::to_owned)
                    .collect()
            }
            _ => vec![key.clone()],
        };
        for key in keys {
            match conditions(&key) {
                // The engine for all variants comes last in the alphabet: a variant keeps an engine of its own.
                Some(conditions) if parts.iter().any(|(known, _)| *known == conditions) => (),
                Some(conditions) => parts.push((conditions, tables.clone())),
                None => ours.remark(&format!("engines.{key}"), "is not understood"),
            }
        }
    }
    parts
}

/// Returns the table `book` of `player` for each book, with its conditions.
fn books(foreign: &mut ForeignSettings, ours: &mut ImportedSettings) -> Vec<(Conditions, Table)> {
    let files: BTreeMap<String, String> = foreign.take_table("books").into_iter().collect();
    let enabled = foreign.take_flag("opening_books.enabled").unwrap_or(false);
    // Older files have lists of names, and one selection and one depth for all of them.
    let shared_selection = foreign.take_text("opening_books.selection");
    let shared_depth = foreign.take_number("opening_books.max_depth");
    let mut parts = Vec::new();
    for key in foreign.names("opening_books.books") {
        let old = |option: &str| format!("opening_books.books.{key}.{option}");
        let mut book = Table::new();
        let mut names = foreign.texts(&format!("opening_books.books.{key}"));
        if names.is_empty() {
            names = foreign.take_texts(&old("names"));
        } else {
            foreign.take(&format!("opening_books.books.{key}"));
        }
        let found: Vec<String> = names.iter().filter_map(|name| files.get(name).cloned()).collect();
        for unknown in names.iter().filter(|name| !files.contains_key(*name)) {
            ours.remark(&old("names"), format!("no book has the name {unknown}"));
        }
        put(&mut book, "files", Some(found));
        let selection = foreign.take_text(&old("selection")).or_else(|| shared_selection.clone());
        put(&mut book, "selection", selection.map(|name| book_selection(&name)));
        let plies = foreign.take_number(&old("max_depth")).or(shared_depth);
        // This number of our moves is twice as many plies, if the book knows every one.
        let moves = foreign.take_number(&old("max_moves")).map(|moves| 2.0 * moves);
        // Without a limit BotLi asks its books all game long.
        let plies = plies.into_iter().chain(moves).reduce(f64::min).unwrap_or(1000.0);
        put(&mut book, "max_plies", Some(whole(plies.clamp(0.0, 1000.0))));
        put(&mut book, "repeat_lost", foreign.take_flag(&old("allow_repetitions")));
        match conditions(&key) {
            Some(conditions) if enabled => {
                parts.push((conditions, Table::from_iter([("book".to_owned(), Value::Table(book))])));
            }
            Some(conditions) if conditions.is_empty() => ours.only_if(false, |ours| ours.set("player.book", book)),
            Some(_) => ours.only_if(false, |ours| ours.set_at(&["profiles", &key, "book"], book)),
            None => ours.remark(&format!("opening_books.books.{key}"), "is not understood"),
        }
    }
    parts
}

/// The conditions of a key such as `bullet_white` or `3+2_tournament`; none for `standard`.
fn conditions(key: &str) -> Option<Conditions> {
    let mut conditions = Conditions::new();
    for word in key.split('_') {
        let (name, value) = match word {
            "standard" => continue,
            "white" | "black" => ("color", Value::from(word)),
            "human" | "bot" => ("opponent", Value::from(word)),
            "rated" => ("rated", Value::from(true)),
            "casual" => ("rated", Value::from(false)),
            "tournament" => ("tournament", Value::from(true)),
            "bullet" | "blitz" | "rapid" | "classical" | "correspondence" => ("speed", Value::from(word)),
            _ if word.contains('+') => ("time_control", Value::from(word)),
            _ => ("variant", Value::from(variant(word)?)),
        };
        conditions.insert(name, value);
    }
    Some(conditions)
}

/// Writes settings without conditions into the player's own tables, and all others into profiles.
fn profiles(engines: Vec<(Conditions, Table)>, books: Vec<(Conditions, Table)>, ours: &mut ImportedSettings) {
    let with_always = |mut parts: Vec<(Conditions, Table)>| {
        if parts.iter().all(|(conditions, _)| !conditions.is_empty()) {
            parts.push(Default::default());
        }
        parts
    };
    let books = with_always(books);
    for (of_engine, engine) in with_always(engines) {
        for (of_book, book) in &books {
            if of_engine.iter().any(|(name, value)| of_book.get(name).is_some_and(|other| other != value)) {
                continue;
            }
            let mut both = of_engine.clone();
            both.extend(of_book.clone());
            let name: Vec<String> = both.iter().map(|(name, value)| condition_in_words(name, value)).collect();
            let name = name.join("-");
            for (condition, value) in &both {
                ours.set_at(&["profiles", &name, "when", condition], value.clone());
            }
            let path: &[&str] = if both.is_empty() { &["player"] } else { &["profiles", &name] };
            for (table, value) in engine.iter().chain(book) {
                ours.set_at(&[path, &[table.as_str()]].concat(), value.clone());
            }
        }
    }
}

fn condition_in_words(name: &str, value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Boolean(true) => name.to_owned(),
        _ => format!("not-{name}"),
    }
}

fn tablebases(foreign: &mut ForeignSettings, ours: &mut ImportedSettings) {
    let (mut paths, mut most, mut suggests) = (Vec::new(), None, false);
    for kind in ["standard", "antichess", "atomic"] {
        let old = |option: &str| format!("syzygy.{kind}.{option}");
        let enabled = foreign.take_flag(&old("enabled")).unwrap_or(false);
        let of_kind = foreign.take_texts(&old("paths"));
        let pieces = foreign.take_number(&old("max_pieces"));
        let plays = foreign.take_flag(&old("instant_play")).unwrap_or(true);
        if enabled {
            paths.extend(of_kind);
            most = most.into_iter().chain(pieces).reduce(f64::max);
            suggests |= !plays;
        } else if kind == "standard" {
            ours.only_if(false, |ours| {
                ours.set_list("player.tablebases.paths", of_kind);
                ours.set_number("player.tablebases.max_pieces", pieces);
            });
        }
    }
    ours.set_number("player.tablebases.max_pieces", most);
    ours.set_some("player.tablebases.use", suggests.then_some("suggest"));
    ours.set_list("player.tablebases.paths", paths);
    gaviota("gaviota", foreign, ours);
}

fn online(foreign: &mut ForeignSettings, ours: &mut ImportedSettings) {
    let old = |key: &str| format!("online_moves.{key}");
    let services = [
        ("opening_explorer", "explorer", 300.0),
        ("lichess_cloud", "cloud", 200.0),
        ("chessdb", "chessdb", 100.0),
        ("online_egtb", "tablebase", 0.0),
    ];
    let (mut sources, mut plies) = (Vec::new(), None);
    for (service, source, usual) in services {
        let old = |option: &str| old(&format!("{service}.{option}"));
        let priority = foreign.take_number(&old("priority")).unwrap_or(usual);
        let enabled = foreign.take_flag(&old("enabled")) == Some(true);
        if enabled {
            sources.push((priority, source));
        }
        let depth = foreign.take_number(&old("max_depth"));
        let moves = foreign.take_number(&old("max_moves")).map(|moves| 2.0 * moves);
        if enabled {
            plies = plies.into_iter().chain(depth).chain(moves).reduce(f64::max);
        }
        for option in ["min_time", "timeout"] {
            let key = format!("player.online.{source}.service.{option}");
            let number = foreign.take_number(&old(option));
            ours.only_if(enabled, |ours| ours.set_number(&key, number));
        }
    }
    sources.sort_by(|one, other| other.0.total_cmp(&one.0));
    let sources: Vec<&str> = sources.into_iter().map(|(_, source)| source).collect();
    online_sources(sources, ours);
    ours.set_number("player.online.max_plies", plies);
    match foreign.take_text(&old("opening_explorer.player")) {
        Some(player) if player.eq_ignore_ascii_case("masters") => {
            ours.set("player.online.explorer.database", "masters");
        }
        Some(player) => {
            ours.set("player.online.explorer.database", "player");
            ours.set("player.online.explorer.player", player);
        }
        None if ours.texts("player.online.sources").iter().any(|source| source == "explorer") => {
            ours.set("player.online.explorer.database", "player");
            own_explorer("online_moves.opening_explorer.player", ours);
        }
        None => (),
    }
    if foreign.take_text(&old("opening_explorer.selection")).is_some() {
        ours.set("player.online.explorer.selection", "score");
    }
    // Older files name a selection, newer ones say whether it is the best move.
    let best = foreign.take_flag(&old("chessdb.best_move"));
    let best = foreign.take_text(&old("chessdb.selection")).map(|selection| selection != "good").or(best);
    ours.set_some("player.online.chessdb.max_difference", best.map(|best| if best { 0 } else { 25 }));
}

fn adjudication(foreign: &mut ForeignSettings, ours: &mut ImportedSettings) {
    let draws = foreign.take_flag("offer_draw.enabled");
    ours.set_some("player.draw.offer", draws);
    ours.set_some("player.draw.accept", draws);
    for (old, new) in
        [("offer_draw.against_humans", "player.draw.opponents"), ("resign.against_humans", "player.resign.opponents")]
    {
        if foreign.take_flag(old) == Some(false) {
            ours.set(new, vec!["bot"]);
        }
    }
}

fn challenges(foreign: &mut ForeignSettings, ours: &mut ImportedSettings) {
    // All places may go to one opponent.
    let games = concurrency(foreign, ours);
    ours.set_number("challenge.max_games_per_opponent", games);
    // Older files have one table for all, newer ones one for humans and one for bots.
    for table in ["challenge", "challenge.human", "challenge.bot"] {
        terms(table, foreign, ours);
    }
    for (kind, old) in [("human", "challenge.human_modes"), ("bot", "challenge.bot_modes")] {
        if foreign.has(old) {
            let modes = foreign.take_texts(old);
            match modes.is_empty() {
                true => ours.set(&format!("challenge.{kind}.accept"), false),
                false => ours.set(&format!("challenge.{kind}.modes"), modes),
            }
        }
    }
}

/// Takes over the terms of accepted games from one table.
fn terms(table: &str, foreign: &mut ForeignSettings, ours: &mut ImportedSettings) {
    let key = |name: &str| format!("{table}.{name}");
    let mut accepts = true;
    for (least, greatest, most) in
        [("min_increment", "max_increment", 3600.0), ("min_initial", "max_initial", 86_400.0)]
    {
        let (least, greatest) = (key(least), key(greatest));
        // Zero is no limit there.
        if foreign.number(&greatest).is_some_and(|number| number <= 0.0) {
            foreign.take(&greatest);
        }
        accepts &= bounds([(&least, &least), (&greatest, &greatest)], (0.0, most), true, foreign, ours);
    }
    // BotLi rounds its estimate to minutes: half a minute more is not too long.
    let minutes = foreign.take_number(&key("max_estimated_game_duration")).filter(|most| *most > 0.0);
    ours.set_limit(&key("max_estimated_duration"), minutes.map(|minutes| (60.0 * minutes).floor() + 30.0), 604_800.0);
    drop_unknown(&key("variants"), is_variant, foreign, ours);
    let variants = foreign.texts(&key("variants"));
    if variants.iter().any(|name| name == "fromPosition") && variants.iter().all(|name| name != "chess960") {
        ours.remark(&key("variants"), "positions that castle as in chess960 are declined, since that is not listed");
    }
    drop_unknown(&key("modes"), |mode| ["rated", "casual"].contains(&mode), foreign, ours);
    for speed in ["correspondence", "ultraBullet"] {
        if foreign.drop_item(&key("time_controls"), speed) {
            ours.remark(&key("time_controls"), format!("BotLi declines {speed} even if it is listed"));
        }
    }
    let is_too_fast = |rule: &str| clock(rule).is_some_and(|control| control.0.speed() == Speed::UltraBullet);
    for rule in foreign.drop_others(&key("time_controls"), |rule| !is_too_fast(rule)) {
        ours.remark(&key("time_controls"), format!("{rule} is ultraBullet: BotLi declines it even if it is listed"));
    }
    drop_unknown(&key("time_controls"), |rule| is_speed(rule) || clock(rule).is_some(), foreign, ours);
    if table != "challenge" && foreign.has(table) {
        accepts &= ["variants", "time_controls", "modes"].iter().all(|option| foreign.holds_items(&key(option)));
    }
    if !accepts {
        ours.set(&key("accept"), false);
    }
    for list in [key("variants"), key("time_controls"), key("modes")] {
        ours.set_list(&list, foreign.take_texts(&list));
    }
    let bullet = key("bullet_with_increment_only");
    let for_bots = if table == "challenge" { "challenge.bot.bullet_with_increment_only" } else { &bullet };
    ours.set_some(for_bots, foreign.take_flag(&bullet));
}

/// A time control as BotLi writes it.
fn clock(text: &str) -> Option<MinutesAndSeconds> {
    text.parse().ok().filter(|control: &MinutesAndSeconds| control.0.is_real_time())
}

fn matchmaking(foreign: &mut ForeignSettings, ours: &mut ImportedSettings) {
    let types = foreign.names("matchmaking.types");
    if !types.is_empty() {
        ours.set("matchmaking.enabled", false);
        ours.remark("matchmaking", "BotLi begins it by a command: set matchmaking.enabled = true to have it always");
    }
    let timeout = foreign.take_number("matchmaking.timeout").map(|seconds| seconds.clamp(5.0, 600.0));
    ours.set_number("matchmaking.timeout", timeout);
    let selection = foreign.take_text("matchmaking.selection");
    ours.set_some(
        "matchmaking.selection",
        selection.map(|name| if name == "weighted_random" { "weighted".to_owned() } else { name }),
    );
    // BotLi always plays two games with an opponent, one with each colour.
    ours.set_some("matchmaking.games_in_row", (!types.is_empty()).then_some(2));
    let mut rest = None;
    for name in types {
        let key = |option: &str| format!("matchmaking.types.{name}.{option}");
        ours.set_some(&key("time_control"), foreign.take_text(&key("tc")));
        ours.set_some(&key("variant"), foreign.take_text(&key("variant")));
        // BotLi plays with ratings unless it is told otherwise, as we do.
        ours.set_some(&key("rated"), foreign.take_flag(&key("rated")));
        ours.set_number(&key("weight"), foreign.take_number(&key("weight")));
        ours.set_number(&key("min_rating_difference"), foreign.take_number(&key("min_rating_diff")));
        ours.set_number(&key("target_rating_difference"), foreign.take_number(&key("target_rating_diff")));
        let most = foreign.take_number(&key("max_rating_diff")).unwrap_or(f64::INFINITY);
        ours.set_limit(&key("max_rating_difference"), Some(most), 4000.0);
        rest = rest.into_iter().chain(foreign.take_number(&key("multiplier"))).reduce(f64::max);
    }
    ours.set_number("matchmaking.rest", rest);
}
