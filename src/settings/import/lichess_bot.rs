use std::path::Path;

use toml::{Table, Value};

use super::{
    common::{
        MOST_GAMES, book_selection, bounds, concurrency, council, drop_unknown, gaviota, greetings, is_speed,
        is_variant, leave_out, online_sources, own_explorer, put, time_control, variant,
    },
    foreign::{ForeignSettings, parse},
    table::LICHESS_BOT,
    written::{ImportedSettings, whole},
};

/// The weight of all challenges of one group together, whatever their number.
const GROUP_WEIGHT: usize = 840;

const DEFAULTS: &str = include_str!("defaults/lichess-bot.yml");

/// The services of `engine.online_moves` by their names there and here.
const SERVICES: [(&str, &str); 4] = [
    ("online_egtb", "tablebase"),
    ("chessdb_book", "chessdb"),
    ("lichess_cloud_analysis", "cloud"),
    ("lichess_opening_explorer", "explorer"),
];

pub(super) fn read(foreign: &mut ForeignSettings, ours: &mut ImportedSettings) {
    fill_defaults(foreign);
    if let Some(url) = foreign.take_text("url").filter(|url| url.trim_end_matches('/') != "https://lichess.org") {
        ours.set("servers.lichess.url", url);
    }
    engine(foreign, ours);
    books(foreign, ours);
    online(foreign, ours);
    tablebases(foreign, ours);
    adjudication(foreign, ours);
    let plays = challenges(foreign, ours);
    LICHESS_BOT.copy(foreign, ours);
    matchmaking(foreign, ours);
    if !plays {
        ours.set("matchmaking.enabled", false);
    }
    games(foreign, ours);
}

/// Writes the defaults of lichess-bot into the file, except into disabled sections.
fn fill_defaults(foreign: &mut ForeignSettings) {
    let defaults = parse(DEFAULTS).unwrap_or_default();
    // lichess-bot compares these numbers without a check.
    for name in ["max_increment", "min_increment", "max_base", "min_base", "max_days", "min_days"] {
        let option = format!("challenge.{name}");
        if foreign.is_empty(&option) {
            foreign.mark(&option, "has no value: lichess-bot does not start; its default is taken");
        }
    }
    for section in ["", "engine", "engine.draw_or_resign", "correspondence", "challenge", "greeting"] {
        foreign.fill(section, &defaults);
    }
    let mut enabled = vec![
        ("engine.polyglot".to_owned(), "enabled"),
        ("engine.lichess_bot_tbs.syzygy".to_owned(), "enabled"),
        ("matchmaking".to_owned(), "allow_matchmaking"),
    ];
    enabled.extend(SERVICES.map(|(service, _)| (format!("engine.online_moves.{service}"), "enabled")));
    enabled.retain(|(section, flag)| foreign.is_on(&format!("{section}.{flag}")));
    if enabled.iter().any(|(section, _)| section.starts_with("engine.online_moves")) {
        foreign.fill("engine.online_moves", &defaults);
    }
    for (section, _) in enabled {
        foreign.fill(&section, &defaults);
    }
}

fn engine(foreign: &mut ForeignSettings, ours: &mut ImportedSettings) {
    // Older files call it uci_ponder; either is enough.
    let ponders = [foreign.take_flag("engine.ponder"), foreign.take_flag("engine.uci_ponder")].contains(&Some(true));
    ours.set("player.ponder", i64::from(ponders));
    let protocol = foreign.take_text("engine.protocol").unwrap_or_else(|| "uci".to_owned());
    let folder = foreign.take_text("engine.dir").unwrap_or_default();
    let program = foreign.take_text("engine.name").unwrap_or_default();
    let working_dir = foreign.take_text("engine.working_dir").unwrap_or_default();
    let is_quiet = foreign.take_flag("engine.silence_stderr").unwrap_or(false);
    let interpreter = foreign.take_text("engine.interpreter").filter(|name| !name.is_empty());
    let mut command = Vec::from_iter(interpreter);
    command.extend(foreign.take_texts("engine.interpreter_options"));
    command.push(Path::new(&folder).join(&program).to_string_lossy().into_owned());
    let is_recorded = foreign.take_flag("engine.debug") == Some(true);
    let transcript = if is_recorded { format!("{program}.transcript") } else { String::new() };
    for name in foreign.names("engine.engine_options") {
        // An option without a value is an argument without one.
        match foreign.take_text(&format!("engine.engine_options.{name}")) {
            Some(value) => command.push(format!("--{name}={value}")),
            None => command.push(format!("--{name}")),
        }
    }
    foreign.take("engine.engine_options");
    let (table, unused) = match protocol.as_str() {
        "xboard" => ("engine.xboard_options", "engine.uci_options"),
        _ => ("engine.uci_options", "engine.xboard_options"),
    };
    for name in foreign.names(&format!("{table}.go_commands")) {
        let old = format!("{table}.go_commands.{name}");
        match name.as_str() {
            "nodes" => ours.set_number("player.limits.nodes", foreign.take_number(&old)),
            "depth" => ours.set_number("player.limits.depth", foreign.take_number(&old)),
            "movetime" => {
                let seconds = foreign.take_number(&old).map(|milliseconds| milliseconds / 1000.0);
                ours.set_number("player.clock.move_time", seconds);
            }
            _ => leave_out(&old, "is no bound of a search", foreign, ours),
        }
    }
    let tables = foreign.take_table(&format!("{table}.egtpath"));
    // Empty tables are none.
    foreign.take(&format!("{table}.go_commands"));
    foreign.take(&format!("{table}.egtpath"));
    let mut options = foreign.take_table(table);
    options.extend(tables.into_iter().map(|(kind, path)| (format!("egtpath {kind}"), path)));
    // lichess-bot ignores options of another protocol as well.
    foreign.take(unused);
    if protocol == "homemade" {
        foreign.take("engine.homemade_options");
        ours.remark(
            "engine.protocol",
            "a homemade player runs in lichess-bot's own process; docs/own-player.md explains players of one's own here",
        );
        return;
    }
    leave_out("engine.homemade_options", "there is no homemade player", foreign, ours);
    if !program.is_empty() {
        let protocol = if protocol == "xboard" { "cecp".to_owned() } else { String::new() };
        let keys = [("protocol", protocol), ("working_dir", working_dir), ("transcript", transcript)];
        ours.set("player.council", council(&program, command, &keys, options, is_quiet));
    }
}

fn books(foreign: &mut ForeignSettings, ours: &mut ImportedSettings) {
    const OLD: &str = "engine.polyglot";
    let enabled = foreign.take_flag("engine.polyglot.enabled").unwrap_or(false);
    let mut rules = Table::new();
    let weight = foreign.take_number("engine.polyglot.min_weight");
    put(&mut rules, "min_weight", weight.map(|weight| whole(weight.max(1.0))));
    let selection = foreign.take_text("engine.polyglot.selection");
    put(&mut rules, "selection", selection.map(|name| book_selection(&name)));
    // It counts moves; the default is eight.
    let moves = foreign.take_number("engine.polyglot.max_depth").unwrap_or(8.0);
    put(&mut rules, "max_plies", Some(whole((2.0 * moves).clamp(0.0, 1000.0))));
    put(&mut rules, "normalization", foreign.take_text("engine.polyglot.normalization"));
    let variants = foreign.names("engine.polyglot.book");
    let mut by_variant: Vec<(String, Vec<String>)> =
        variants.into_iter().map(|name| (name.clone(), foreign.take_texts(&format!("{OLD}.book.{name}")))).collect();
    if by_variant.is_empty() {
        // Older files name one book for all variants.
        by_variant.push(("standard".to_owned(), foreign.take_texts("engine.polyglot.book")));
    }
    foreign.take("engine.polyglot");
    by_variant.retain(|(_, files)| !files.is_empty());
    for (name, files) in by_variant {
        let Some(variant) = variant(&name) else {
            ours.remark(&format!("{OLD}.book.{name}"), "is no variant");
            continue;
        };
        let mut book = rules.clone();
        put(&mut book, "files", Some(files));
        ours.only_if(enabled, |ours| match variant {
            "standard" => ours.set("player.book", book),
            variant => {
                ours.set_at(&["profiles", variant, "when", "variant"], variant);
                ours.set_at(&["profiles", variant, "book"], book);
            }
        });
    }
}

fn online(foreign: &mut ForeignSettings, ours: &mut ImportedSettings) {
    let old = |key: &str| format!("engine.online_moves.{key}");
    let moves = foreign.take_number(&old("max_depth")).filter(|moves| *moves <= 500.0);
    ours.set_number("player.online.max_plies", moves.map(|moves| 2.0 * moves));
    let mut sources = Vec::new();
    for (service, source) in SERVICES {
        let enabled = foreign.take_flag(&old(&format!("{service}.enabled"))) == Some(true);
        if enabled {
            sources.push(source);
        }
        for (option, greatest) in [("min_time", f64::MAX), ("max_time", 86_400.0)] {
            let seconds = foreign.take_number(&old(&format!("{service}.{option}")));
            let key = format!("player.online.{source}.service.{option}");
            ours.only_if(enabled, |ours| ours.set_limit(&key, seconds, greatest));
        }
    }
    online_sources(sources, ours);
    if let Some(quality) = foreign.take_text(&old("chessdb_book.move_quality")) {
        // On its site, good moves are at most about this much worse than the best.
        let difference = match quality.as_str() {
            "best" => 0,
            "good" => 25,
            _ => 1000,
        };
        ours.set("player.online.chessdb.max_difference", difference);
    }
    let difference = foreign.take_number(&old("lichess_cloud_analysis.max_score_difference")).unwrap_or(50.0);
    if let Some(quality) = foreign.take_text(&old("lichess_cloud_analysis.move_quality")) {
        let most = if quality == "good" { difference } else { 0.0 };
        ours.set_number("player.online.cloud.max_difference", Some(most));
    }
    ours.set_some("player.online.explorer.database", foreign.take_text(&old("lichess_opening_explorer.source")));
    let player = foreign.take_text(&old("lichess_opening_explorer.player_name")).filter(|name| !name.is_empty());
    if player.is_none() && ours.text("player.online.explorer.database").as_deref() == Some("player") {
        own_explorer(&old("lichess_opening_explorer.player_name"), ours);
    }
    ours.set_some("player.online.explorer.player", player);
    let sort = foreign.take_text(&old("lichess_opening_explorer.sort"));
    ours.set_some(
        "player.online.explorer.selection",
        sort.map(|sort| if sort == "winrate" { "score" } else { "games" }),
    );
    if foreign.take_text(&old("online_egtb.source")).is_some_and(|source| source != "lichess") {
        ours.remark(&old("online_egtb.source"), "Lichess is asked; its tablebases are the same");
    }
    if foreign.take_text(&old("online_egtb.move_quality")).is_some_and(|quality| quality == "suggest") {
        ours.remark(&old("online_egtb.move_quality"), "its best move is played; tablebases on the disk can suggest");
    }
}

fn tablebases(foreign: &mut ForeignSettings, ours: &mut ImportedSettings) {
    let old = |key: &str| format!("engine.lichess_bot_tbs.{key}");
    let enabled = foreign.take_flag(&old("syzygy.enabled")).unwrap_or(false);
    let paths = foreign.take_texts(&old("syzygy.paths"));
    let pieces = foreign.take_number(&old("syzygy.max_pieces"));
    let quality = foreign.take_text(&old("syzygy.move_quality"));
    ours.only_if(enabled, |ours| {
        ours.set_list("player.tablebases.paths", paths);
        ours.set_number("player.tablebases.max_pieces", pieces);
        ours.set_some("player.tablebases.use", quality.map(|name| if name == "suggest" { "suggest" } else { "play" }));
    });
    gaviota(&old("gaviota"), foreign, ours);
}

fn adjudication(foreign: &mut ForeignSettings, ours: &mut ImportedSettings) {
    let old = |key: &str| format!("engine.draw_or_resign.{key}");
    let draws = foreign.take_flag(&old("offer_draw_enabled"));
    ours.set_some("player.draw.offer", draws);
    ours.set_some("player.draw.accept", draws);
    // lichess-bot offers draws from the first move on.
    ours.set_some("player.draw.min_game_length", draws.map(|_| 0));
}

/// Returns false if no game is ever played.
fn challenges(foreign: &mut ForeignSettings, ours: &mut ImportedSettings) -> bool {
    drop_unknown("challenge.variants", is_variant, foreign, ours);
    drop_unknown("challenge.time_controls", is_speed, foreign, ours);
    drop_unknown("challenge.modes", |mode| ["rated", "casual"].contains(&mode), foreign, ours);
    let plays = concurrency(foreign, ours).is_some();
    // lichess-bot plays every running correspondence game.
    ours.set("challenge.correspondence_games", 1000);
    if foreign.take_flag("challenge.accept_bot") == Some(false) {
        ours.set("challenge.bot.accept", false);
    }
    if foreign.take_flag("challenge.only_bot") == Some(true) {
        ours.set("challenge.human.accept", false);
    }
    frequency(foreign, ours);
    time_controls(foreign, ours);
    ratings(foreign, ours);
    for option in ["challenge.variants", "challenge.time_controls", "challenge.modes"] {
        if !foreign.holds_items(option) {
            ours.set("challenge.accept", false);
            ours.remark(
                option,
                "is empty or absent: lichess-bot declines every challenge, and challenge.accept = false does",
            );
        }
    }
    plays
}

fn frequency(foreign: &mut ForeignSettings, ours: &mut ImportedSettings) {
    let games = foreign.take_number("challenge.max_simultaneous_games_per_user");
    if games.is_some_and(|games| games < 1.0) {
        ours.set("challenge.accept", false);
        ours.remark("challenge.max_simultaneous_games_per_user", "is less than 1: every challenge is declined");
    } else {
        ours.set_number("challenge.max_games_per_opponent", games.map(|games| games.floor().min(MOST_GAMES)));
    }
    let (recent, most) = ("challenge.recent_bot_challenge_age", "challenge.max_recent_bot_challenges");
    match (foreign.take_number(recent), foreign.take_number(most)) {
        (_, Some(games)) if games < 1.0 => {
            ours.set("challenge.bot.accept", false);
            ours.remark(most, "is less than 1: every bot is declined");
        }
        (Some(seconds), Some(games)) => {
            const WEEK: f64 = 604_800.0;
            if seconds > WEEK {
                ours.remark(recent, "is more than a week, the longest time here");
            }
            ours.set_number("challenge.bot.recent", Some(seconds.clamp(1.0, WEEK)));
            ours.set_number("challenge.bot.max_recent_games", Some(games.min(1000.0)));
        }
        (None, Some(_)) => ours.remark(most, format!("counts nothing without {recent}")),
        (_, None) => (),
    }
}

/// Takes over the bounds of clocks and days, and leaves out speeds without any time control within them.
fn time_controls(foreign: &mut ForeignSettings, ours: &mut ImportedSettings) {
    let increment = [
        ("challenge.min_increment", "challenge.min_increment"),
        ("challenge.max_increment", "challenge.max_increment"),
    ];
    let initial = [("challenge.min_base", "challenge.min_initial"), ("challenge.max_base", "challenge.max_initial")];
    for (keys, most) in [(increment, 3600.0), (initial, 86_400.0)] {
        if !bounds(keys, (0.0, most), true, foreign, ours) {
            foreign.drop_others("challenge.time_controls", |speed| speed == "correspondence");
        }
    }
    // Without a bound games may be unlimited, too, whatever is the least.
    let has_unlimited = foreign.number("challenge.max_days").is_none_or(|days| days >= f64::MAX);
    let days = [("challenge.min_days", "challenge.min_days"), ("challenge.max_days", "challenge.max_days")];
    let has_days = bounds(days, (1.0, 365.0), false, foreign, ours);
    if has_unlimited {
        ours.set("challenge.max_days", 365);
        foreign.extend_where("challenge.time_controls", "correspondence", "unlimited");
    }
    if !has_days {
        foreign.drop_item("challenge.time_controls", "correspondence");
    }
}

fn ratings(foreign: &mut ForeignSettings, ours: &mut ImportedSettings) {
    let keys = [("challenge.min_rating", "challenge.min_rating"), ("challenge.max_rating", "challenge.max_rating")];
    if !bounds(keys, (0.0, 4000.0), false, foreign, ours) {
        ours.set("challenge.accept", false);
        ours.remark("challenge.min_rating", "opponents without a rating are declined too; lichess-bot accepts them");
    }
    let option = "challenge.rating_difference";
    match foreign.take_number(option) {
        Some(difference) if difference < 0.0 => {
            ours.set("challenge.accept", false);
            ours.remark(
                option,
                "is below 0, so that no rating fits; opponents without a rating are declined too, and lichess-bot accepts them",
            );
        }
        Some(difference) => {
            ours.set_limit("challenge.max_rating_difference", Some(difference.floor()), 4000.0);
            ours.remark(
                option,
                "holds in every variant; lichess-bot forgets it in kingOfTheHill, racingKings and threeCheck",
            );
        }
        None => (),
    }
}

fn matchmaking(foreign: &mut ForeignSettings, ours: &mut ImportedSettings) {
    let minutes = foreign.take_number("matchmaking.challenge_timeout");
    ours.set_number("matchmaking.idle", minutes.map(|minutes| (60.0 * minutes).min(86_400.0)));
    match foreign.take_text("matchmaking.challenge_filter").as_deref() {
        Some("coarse") => ours.set("matchmaking.refusal", "all"),
        Some("fine") => ours.set("matchmaking.refusal", "reason"),
        Some("none") => {
            ours.set("matchmaking.backoff", 60);
            ours.set("matchmaking.max_backoff", 60);
        }
        Some(other) => {
            ours.remark("matchmaking.challenge_filter", format!("{other:?} is none of none, coarse and fine"));
        }
        None => (),
    }
    let base = ChallengeGroup::take("matchmaking", &ChallengeGroup::default(), foreign);
    if !base.initial.is_empty() || !base.days.is_empty() {
        base.write("usual", ours);
    }
    for name in foreign.names("matchmaking.overrides") {
        ChallengeGroup::take(&format!("matchmaking.overrides.{name}"), &base, foreign).write(&name, ours);
    }
    foreign.take("matchmaking.overrides");
}

/// A group of challenge settings of lichess-bot: the usual one, or overrides of it.
#[derive(Clone, Default)]
struct ChallengeGroup {
    initial: Vec<f64>,
    increment: Vec<f64>,
    days: Vec<f64>,
    variant: Option<String>,
    mode: Option<String>,
    preference: Option<String>,
    numbers: Vec<(&'static str, f64)>,
}

impl ChallengeGroup {
    fn take(path: &str, base: &Self, foreign: &mut ForeignSettings) -> Self {
        let mut list = |key: &str, otherwise: &[f64]| {
            let option = format!("{path}.{key}");
            // An option without a value overrides the usual one as well: there is none.
            let is_given = foreign.has(&option);
            let texts = foreign.take_texts(&option);
            let numbers: Vec<f64> = texts.iter().filter_map(|text| text.parse().ok()).collect();
            if is_given { numbers } else { otherwise.to_vec() }
        };
        let initial = list("challenge_initial_time", &base.initial);
        let increment = list("challenge_increment", &base.increment);
        let days = list("challenge_days", &base.days);
        let mut text = |key: &str, otherwise: &Option<String>| {
            foreign.take_text(&format!("{path}.{key}")).or_else(|| otherwise.clone())
        };
        let variant = text("challenge_variant", &base.variant);
        let mode = text("challenge_mode", &base.mode);
        let preference = text("rating_preference", &base.preference);
        let mut numbers = base.numbers.clone();
        for (old, new) in [
            ("opponent_min_rating", "min_rating"),
            ("opponent_max_rating", "max_rating"),
            ("opponent_rating_difference", "max_rating_difference"),
        ] {
            let option = format!("{path}.{old}");
            if foreign.has(&option) {
                numbers.retain(|(key, _)| *key != new);
                numbers.extend(foreign.take_number(&option).map(|number| (new, number)));
            }
        }
        // A difference replaces both bounds.
        if numbers.iter().any(|(key, _)| *key == "max_rating_difference") {
            numbers.retain(|(key, _)| *key == "max_rating_difference");
        }
        Self { initial, increment, days, variant, mode, preference, numbers }
    }

    /// Every time control with every variant and mode is a type of ours; all together weigh as much as any other group.
    fn write(&self, name: &str, ours: &mut ImportedSettings) {
        ours.set_some("matchmaking.rating_preference", self.preference.clone());
        let increments = if self.increment.is_empty() { &[0.0][..] } else { &self.increment };
        let clocks =
            self.initial.iter().flat_map(|initial| increments.iter().map(|more| time_control(*initial, *more)));
        let controls: Vec<String> = clocks.chain(self.days.iter().map(|days| format!("{days}d"))).collect();
        let variants = match self.variant.as_deref() {
            None | Some("random") => {
                let accepted = ours.texts("challenge.variants");
                if accepted.is_empty() { vec!["standard".to_owned()] } else { accepted }
            }
            Some(one) => vec![variant(one).unwrap_or(one).to_owned()],
        };
        // A position must be given for this one, and none is.
        let variants: Vec<String> = variants.into_iter().filter(|variant| variant != "fromPosition").collect();
        let modes = match self.mode.as_deref() {
            Some("rated") => &[true][..],
            Some("casual") => &[false],
            _ => &[true, false],
        };
        let all = controls.len() * variants.len() * modes.len();
        let weight = i64::try_from((GROUP_WEIGHT / all.max(1)).max(1)).unwrap_or(1);
        let mut number = 0;
        for control in &controls {
            for variant in &variants {
                for rated in modes {
                    number += 1;
                    let kind = format!("{name}-{number}");
                    let mut set = |key: &str, value: Value| ours.set_at(&["matchmaking", "types", &kind, key], value);
                    set("time_control", Value::from(control.as_str()));
                    set("variant", Value::from(variant.as_str()));
                    set("rated", Value::from(*rated));
                    set("weight", Value::from(weight));
                    // Where nothing is said, lichess-bot knows no bound.
                    set("max_rating_difference", Value::from("none"));
                    for (key, number) in &self.numbers {
                        set(key, whole(*number));
                    }
                }
            }
        }
    }
}

fn games(foreign: &mut ForeignSettings, ours: &mut ImportedSettings) {
    let patience = foreign.take_number("abort_time").map(|seconds| seconds.clamp(5.0, 3600.0));
    ours.set_number("player.abort.human", patience);
    ours.set_number("player.abort.bot", patience);
    let finish = foreign.take_flag("quit_after_all_games_finish");
    ours.set_some("shutdown.games", finish.map(|finish| if finish { "finish" } else { "leave" }));
    greetings(
        &[
            ("greeting.hello", "chat.hello"),
            ("greeting.goodbye", "chat.goodbye"),
            ("greeting.hello_spectators", "chat.hello_spectators"),
            ("greeting.goodbye_spectators", "chat.goodbye_spectators"),
        ],
        foreign,
        ours,
    );
    if foreign.take_flag("correspondence.ponder") == Some(true) {
        ours.remark("correspondence.ponder", "nothing is pondered for days");
    }
}
