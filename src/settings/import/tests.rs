use std::{collections::BTreeSet, fs, time::Duration};

use super::*;
use crate::settings::{Settings, Sources};
use bot::policy::matchmaking::Selection;
use council::OptionText;
use domain::{
    Color, Speed, Variant,
    values::{Kind, TimeControlRule},
};
use sources::online::OnlineKind;

const LICHESS_BOT: &str = include_str!("tests/lichess-bot.yml");
const BOTLI: &str = include_str!("tests/botli.yml");

fn import(bot: ForeignBot, text: &str) -> Import {
    Import::read(bot, text, Import::TOKEN_FILE).unwrap_or_else(|error| panic!("{error}:\n{text}"))
}

const FILES: [&str; 11] = [
    "lichess.token",
    "engines/brain",
    "engines/fairy",
    "engines/quick",
    "engines/main.bin",
    "engines/second.bin",
    "engines/atomic.bin",
    "books/main.bin",
    "books/black.bin",
    "one.bin",
    "engines/syzygy/KQvK.rtbw",
];

/// Returns the settings of an imported file, and their problems.
fn read(import: &Import) -> (Settings, String) {
    let folder = tempfile::tempdir().expect("a folder");
    for name in FILES {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().expect("a folder")).expect("made");
        fs::write(&path, "it is there").expect("written");
    }
    // The same files, as they stand there.
    let here = format!("\"{}/", folder.path().display());
    let mut text = import.text.replace("\"./", "\"").replace("syzygy/standard", "engines/syzygy");
    for start in ["engines/", "books/", "lichess.token", "one.bin"] {
        text = text.replace(&format!("\"{start}"), &format!("{here}{start}"));
    }
    match (Sources { files: vec![("imported.toml".to_owned(), text)], ..Sources::default() }).load() {
        Ok(loaded) => (*loaded.settings, String::new()),
        Err(problems) => (Settings::default(), problems.to_string()),
    }
}

#[track_caller]
fn imported(bot: ForeignBot, text: &str) -> (Settings, Import) {
    let import = import(bot, text);
    let (settings, wrong) = read(&import);
    assert_eq!(wrong, "", "{}", import.text);
    assert!(!import.text.contains("is not known"), "{}", import.text);
    (settings, import)
}

#[test]
fn lichess_bot_options_are_all_handled() {
    let (settings, import) = imported(ForeignBot::LichessBot, LICHESS_BOT);
    assert_eq!(import.token.as_ref().map(Secret::reveal), Some("lip_of_the_old_bot"));
    assert!(!import.text.contains("lip_of"), "the token is a secret");
    let player = &settings.player;
    let engine = &player.council.electors[0];
    assert!(engine.engine.as_ref().is_some_and(|path| path.ends_with("engines/brain")));
    assert_eq!(engine.options["Hash"], OptionText("512".to_owned()));
    assert_eq!((player.ponder, player.takebacks), (1, 0));
    assert_eq!(player.abort.human, Duration::from_secs(30));
    assert_eq!(player.online.explorer.selection, sources::online::ExplorerSelection::Score);
    assert!(player.resign.enabled && player.draw.offer && player.draw.accept);
    assert_eq!((player.draw.min_game_length, player.draw.max_pieces), (0, 10));
    assert!(import.text.contains(r#"files = ["engines/main.bin", "engines/second.bin"]"#));
    assert_eq!(player.book.max_plies, 40, "twenty moves");
    assert_eq!(settings.profiles["atomic"].when.variant, Some(Variant::Atomic));
    assert_eq!(settings.challenge.block, ["cheater"]);
    assert_eq!(settings.challenge.human.max_rating_difference, Some(300));
    assert_eq!(settings.challenge.bot.max_recent_games, Some(2));
    assert_eq!(settings.challenge.human.max_recent_games, None, "a rule for bots alone");
    assert_eq!(settings.chat.goodbye, "Good game!");
    let matchmaking = &settings.matchmaking;
    assert!(matchmaking.enabled);
    assert_eq!(matchmaking.idle, Duration::from_mins(30));
    assert_eq!(matchmaking.avoid_urls, ["https://example.org/avoided.txt"]);
    let controls: BTreeSet<String> = matchmaking.types.values().map(|kind| kind.time_control.to_string()).collect();
    assert_eq!(controls.len(), 5, "two initial times with two increments, and days: {controls:?}");
    let weight = |name: &str| -> u32 {
        let group = matchmaking.types.iter().filter(|(kind, _)| kind.starts_with(name));
        group.map(|(_, kind)| kind.weight).sum()
    };
    assert_eq!((weight("usual"), weight("easy")), (840, 840), "each group is as likely as the other");
    let easy = &matchmaking.types["easy_chess960-1"];
    assert_eq!(
        (easy.variant, easy.rated, easy.opponents.max_rating),
        (Variant::Chess960, false, 1500),
        "its own bound"
    );
}

#[test]
fn botli_options_are_all_handled() {
    let (settings, _) = imported(ForeignBot::BotLi, BOTLI);
    let player = &settings.player;
    assert_eq!(player.council.electors[0].name.as_deref(), Some("brain"));
    assert_eq!(player.limits.nodes, Some(4_000_000));
    assert_eq!((player.takebacks, player.ponder), (3, 1));
    assert_eq!(player.draw.opponents, [Kind::Bot]);
    let sources: Vec<_> = player.online.sources.iter().map(|source| format!("{source:?}")).collect();
    assert_eq!(sources, ["Cloud", "Explorer", "Tablebase"], "by their priorities");
    assert_eq!(player.online.explorer.player, "Someone");
    let human = &settings.challenge.human;
    assert_eq!(human.max_initial, None, "ten years are no limit");
    assert!(human.time_controls.contains(&"25+0".parse::<TimeControlRule>().expect("a time control")));
    assert!(settings.challenge.bot.bullet_with_increment_only && !human.bullet_with_increment_only);
    assert_eq!(settings.challenge.friends, ["Friend"]);
    let matchmaking = &settings.matchmaking;
    assert_eq!((matchmaking.selection, matchmaking.rest), (Selection::Weighted, 15));
    assert_eq!(matchmaking.types["bullet"].opponents.games_in_row, 2);
    assert_eq!(matchmaking.types["bullet"].opponents.max_rating_difference, None, "as BotLi's own default");
    assert_eq!(matchmaking.types["casual_chess960"].opponents.target_rating_difference, Some(-50));
    assert!(settings.chat.hello_spectators.contains("{cpu}"));
}

/// BotLi looks for the engine and for the book of a game apart; each game finds both in one profile.
#[test]
fn engine_and_book_share_a_profile() {
    let (settings, import) = imported(ForeignBot::BotLi, BOTLI);
    let both = &settings.profiles["black-human-bullet"];
    assert_eq!((both.when.color, both.when.opponent), (Some(Color::Black), Some(Kind::Human)));
    assert_eq!(both.when.speed, Some(Speed::Bullet));
    assert_eq!(both.player.council.electors[0].name.as_deref(), Some("quick"));
    let written = import.text.split("[profiles.black-human-bullet.book]").nth(1).expect("its book");
    assert!(written.contains(r#"files = ["books/black.bin", "books/main.bin"]"#), "{written}");
    assert_eq!(settings.profiles["atomic"].player.council.electors[0].name.as_deref(), Some("fairy"));
}

/// Files as people have them: with parts left out, older, for other engines, with mistakes.
#[test]
fn variations_of_files_are_read() {
    let changed = |old: &str, new: &str| {
        assert!(LICHESS_BOT.contains(old), "{old}");
        LICHESS_BOT.replacen(old, new, 1)
    };
    let player = |text: &str| imported(ForeignBot::LichessBot, text).0.player;

    let xboard = player(&changed("protocol: \"uci\"", "protocol: \"xboard\"\n  xboard_options:\n    memory: 64"));
    assert_eq!(xboard.council.electors[0].protocol, council::electors::EngineProtocol::Cecp);
    assert_eq!(xboard.council.electors[0].options["memory"], OptionText("64".to_owned()));

    let interpreted =
        player(&changed("interpreter: \"\"\n  interpreter_options:", "interpreter: sh\n  interpreter_options: [-e]"));
    assert_eq!(interpreted.council.electors[0].engine.as_deref(), Some("sh".as_ref()));
    assert_eq!(interpreted.council.electors[0].arguments[0], "-e");

    let homemade = imported(ForeignBot::LichessBot, &changed("protocol: \"uci\"", "protocol: homemade"));
    assert!(homemade.1.text.contains("docs/own-player.md"));
    assert_eq!(homemade.0.player.council.roster, "auto");

    let limited = player(&changed(
        "  uci_options:\n",
        "  uci_options:\n    go_commands: {nodes: 1000, depth: 5, movetime: 1500}\n",
    ));
    assert_eq!((limited.limits.nodes, limited.limits.depth), (Some(1000), Some(5)));
    assert_eq!(limited.clock.move_time, Duration::from_millis(1500));

    let suggest = player(&changed("enabled: false\n      paths", "enabled: true\n      paths").replacen(
        "max_pieces: 7\n      move_quality: \"best\"\n    gaviota:\n      enabled: false",
        "max_pieces: 6\n      move_quality: \"suggest\"\n    gaviota:\n      enabled: true",
        1,
    ));
    assert_eq!(suggest.tablebases.max_pieces, 6);

    let one_book = LICHESS_BOT.find("      standard:\n").zip(LICHESS_BOT.find("    min_weight:"));
    let (from, to) = one_book.expect("the books");
    let one_book = format!("{} one.bin\n{}", LICHESS_BOT[..from].trim_end(), &LICHESS_BOT[to..]);
    assert!(imported(ForeignBot::LichessBot, &one_book).1.text.contains(r#"files = ["one.bin"]"#));

    let nothing = import(ForeignBot::LichessBot, "token: xxxxxxxx\n");
    assert!(nothing.token.is_none(), "the token of the example is none");
    assert_eq!(read(&nothing).1, "");

    let limits = changed("max_base: 1800", "max_base: .inf").replace("max_increment: 20", "max_increment: 100000");
    let (limits, _) = imported(ForeignBot::LichessBot, &limits);
    assert_eq!(limits.challenge.human.max_increment, None);

    let local = imported(ForeignBot::LichessBot, &changed("https://lichess.org/", "http://127.0.0.1:9663")).0;
    assert_eq!(local.servers["lichess"].url, "http://127.0.0.1:9663");

    let old = BOTLI.replacen("  human:\n", "  human_modes: []\n  bot_modes: [rated]\n  human:\n", 1);
    let (old, _) = imported(ForeignBot::BotLi, &old);
    assert!(!old.challenge.human.accept && old.challenge.bot.accept);

    let wrong = import(ForeignBot::LichessBot, &changed("abort_time: 30", "abort_time: soon\nabort_tmie: 20"));
    assert!(wrong.text.contains(r#"abort_time: "soon" is not a number"#), "{}", wrong.text);
    assert!(wrong.text.contains("abort_tmie: is not known"), "{}", wrong.text);

    let days = "    slow:\n      challenge_initial_time:\n      challenge_days: 3\n      opponent_rating_difference:\n";
    let (empty, _) = imported(ForeignBot::LichessBot, &format!("{LICHESS_BOT}{days}"));
    let slow: Vec<_> = empty.matchmaking.types.iter().filter(|(name, _)| name.starts_with("slow")).collect();
    assert!(!slow.is_empty(), "{:?}", empty.matchmaking.types.keys());
    for (name, kind) in slow {
        assert_eq!(
            (kind.time_control.to_string().as_str(), kind.opponents.max_rating_difference),
            ("3d", None),
            "{name}"
        );
    }

    let long = changed("Good game!", &"good bye ".repeat(30));
    assert!(imported(ForeignBot::LichessBot, &long).1.text.contains("was shortened"));
}

/// The smallest file that lichess-bot starts with.
const SMALL: &str = "token: lip_a\nurl: https://lichess.org/\nengine: {dir: ./engines/, name: brain, protocol: uci}\n\
    challenge: {variants: [standard], time_controls: [blitz, correspondence], modes: [casual]}\n";

#[test]
fn absent_options_keep_their_defaults() {
    let (settings, _) = imported(ForeignBot::LichessBot, SMALL);
    let (player, human) = (&settings.player, &settings.challenge.human);
    assert!(!settings.challenge.bot.accept && human.accept, "accept_bot is false");
    assert!(!player.draw.offer && !player.draw.accept && !player.resign.enabled);
    assert_eq!((player.ponder, player.takebacks), (0, 0));
    assert_eq!((player.abort.human, player.abort.bot), (Duration::from_secs(20), Duration::from_secs(20)));
    assert_eq!(player.clock.correspondence_move_time, Duration::from_mins(1));
    assert_eq!((settings.challenge.concurrency, settings.challenge.max_games_per_opponent), (1, 5));
    assert_eq!(human.max_increment, Some(Duration::from_secs(180)));
    assert_eq!((human.max_initial, human.max_days), (None, 365));
    assert!(human.time_controls.contains(&"unlimited".parse::<TimeControlRule>().expect("a rule")));
    assert_eq!([&settings.chat.hello, &settings.chat.goodbye, &settings.chat.hello_spectators], ["", "", ""]);
    assert!(!settings.matchmaking.enabled);

    let bounded = SMALL.replace("modes:", "max_days: 7, modes:");
    let human = imported(ForeignBot::LichessBot, &bounded).0.challenge.human;
    assert_eq!((human.max_days, human.time_controls.len()), (7, 2), "no unlimited games");

    let none = SMALL.replace("modes: [casual]", "modes: ");
    let (none, import) = imported(ForeignBot::LichessBot, &none);
    assert!(!none.challenge.human.accept && import.text.contains("challenge.modes: is empty"), "{}", import.text);

    let book =
        "engine: {dir: ./engines/, name: brain, protocol: uci, polyglot: {enabled: true, book: {standard: one.bin}}}";
    let book = SMALL.replace("engine: {dir: ./engines/, name: brain, protocol: uci}", book);
    assert_eq!(imported(ForeignBot::LichessBot, &book).0.player.book.max_plies, 16, "eight moves");
}

#[test]
fn disabled_sections_become_comments() {
    let disabled = LICHESS_BOT.replacen("polyglot:\n    enabled: true", "polyglot:\n    enabled: false", 1);
    let (settings, import) = imported(ForeignBot::LichessBot, &disabled);
    assert!(settings.player.book.files.is_empty());
    assert!(import.text.contains("#files = [\"engines/main.bin\", \"engines/second.bin\"]"), "{}", import.text);
}

#[test]
fn invalid_tokens_are_named() {
    let import = import(ForeignBot::LichessBot, &SMALL.replace("lip_a", "\"${LICHESS_TOKEN}\""));
    assert!(import.token.is_none());
    assert!(import.text.contains("token: is not a Lichess token"), "{}", import.text);
}

#[test]
fn rating_difference_replaces_bounds() {
    let matchmaking = "matchmaking: {allow_matchmaking: true, challenge_initial_time: 60, challenge_increment: 1,\n\
        opponent_min_rating: 2000, opponent_max_rating: 2100, opponent_rating_difference: 150, challenge_filter: some}\n";
    let (settings, import) = imported(ForeignBot::LichessBot, &format!("{SMALL}{matchmaking}"));
    let kind = settings.matchmaking.types.values().next().expect("a type");
    assert_eq!(
        (kind.opponents.min_rating, kind.opponents.max_rating, kind.opponents.max_rating_difference),
        (600, 4000, Some(150))
    );
    assert!(import.text.contains("challenge_filter"), "{}", import.text);
}

#[test]
fn botli_estimates_are_whole_games() {
    let limited = BOTLI.replacen("max_estimated_game_duration: 3600", "max_estimated_game_duration: 15", 1);
    let (settings, _) = imported(ForeignBot::BotLi, &limited);
    assert_eq!(settings.challenge.human.max_estimated_duration, Some(Duration::from_secs(930)));
    let length = |control: &str| match control.parse().expect("a time control") {
        TimeControlRule::Exactly(control) => control.game_length().expect("a clock"),
        TimeControlRule::Speed(_) => unreachable!("no speed"),
    };
    let longest = Duration::from_secs(930);
    assert!(length("1+0") < longest && length("3+2") < longest && length("10+0") < longest);
    assert!(length("10+5") > longest && length("15+0") > longest);
}

#[test]
fn old_botli_files_keep_the_engine() {
    let old = "token: lip_a\nengine:\n  dir: ./engines\n  name: brain\n  ponder: true\n  variants: {enabled: true, dir: ./engines, name: fairy}\n\
        syzygy: {enabled: true, paths: [engines/syzygy], max_pieces: 5}\n\
        challenge: {concurrency: 2, variants: [standard], time_controls: [blitz], bot_modes: [rated], human_modes: [casual]}\n\
        whitelist: [Ann, Bob]\nblacklist: [bob, Eve]\n";
    let (settings, _) = imported(ForeignBot::BotLi, old);
    assert_eq!(settings.player.council.electors[0].name.as_deref(), Some("brain"));
    assert_eq!(settings.profiles["atomic"].player.council.electors[0].name.as_deref(), Some("fairy"));
    assert_eq!(settings.player.tablebases.max_pieces, 5);
    assert_eq!((settings.challenge.concurrency, settings.challenge.max_games_per_opponent), (2, 2));
    assert_eq!(settings.challenge.block, ["Eve"], "the whitelist overrules");
    assert_eq!(settings.chat.hello, "");
}

/// The oldest files have books, services, offers and resignation in the engine's table.
#[test]
fn sections_inside_an_old_engine_are_read() {
    let old = "token: lip_a\nengine:\n  dir: ./engines\n  name: brain\n  colour: red\n  syzygy: {enabled: true, paths: [engines/syzygy], max_pieces: 6}\n  \
        opening_books: {enabled: true, books: {standard: [Main], white: [Main, Lost]}, selection: best_move, max_depth: 50}\n  \
        online_moves: {lichess_cloud: {enabled: true, min_time: 20}}\n  \
        offer_draw: {enabled: false, score: 12}\n  resign: {enabled: true, score: -900}\n\
        challenge: {concurrency: 1, variants: [standard], time_controls: [blitz], bot_modes: [rated], human_modes: [casual]}\n\
        books: {Main: books/main.bin}\n";
    let import = import(ForeignBot::BotLi, old);
    let (settings, wrong) = read(&import);
    assert_eq!(wrong, "", "{}", import.text);
    let player = &settings.player;
    assert_eq!((player.tablebases.max_pieces, player.resign.enabled, player.resign.score), (6, true, -900));
    assert!(!player.draw.offer && !player.draw.accept);
    assert_eq!(player.online.sources, [OnlineKind::Cloud]);
    let book = import.text.split("[player.book]").nth(1).expect("a book");
    assert!(book.contains(r#"files = ["books/main.bin"]"#) && book.contains("max_plies = 50"), "{book}");
    assert!(book.contains(r#"selection = "best""#) && import.text.contains("[profiles.white.book]"), "{}", import.text);
    let remarks = import.text.lines().filter(|line| line.starts_with("#   ")).collect::<Vec<_>>().join("\n");
    assert!(remarks.contains("engines.standard.colour: is not known"), "{remarks}");
    assert!(remarks.contains("opening_books.books.white.names: no book has the name Lost"), "{remarks}");
}

#[test]
fn invalid_settings_file_is_explained() {
    let refused = |text: &str| Import::read(ForeignBot::BotLi, text, Import::TOKEN_FILE).expect_err("refused");
    assert!(refused("- a\n- b\n").contains("holds no settings"));
    assert!(refused("a: [").starts_with("this is no YAML"));
    assert!(refused("").contains("holds no settings"));
}

/// Returns the rows of a bot's table in docs/coming-from.md: options, our keys, a note.
fn page_rows(bot: &str) -> Vec<[&'static str; 3]> {
    let page = include_str!("../../../docs/coming-from.md");
    let (_, section) = page.split_once(&format!("\n## {bot}\n")).expect("a section");
    let rows = section.lines().skip_while(|line| !line.starts_with("|---")).skip(1);
    let rows = rows.map_while(|line| line.strip_prefix('|')?.strip_suffix('|'));
    rows.map(|row| row.split('|').collect::<Vec<_>>().try_into().expect(row)).collect()
}

fn code(cell: &str) -> impl Iterator<Item = &str> {
    cell.split('`').skip(1).step_by(2)
}

fn paths(path: &str, value: &serde_json::Value, found: &mut Vec<String>) {
    match value.as_object().filter(|table| !table.is_empty()) {
        Some(table) => table.iter().for_each(|(name, value)| {
            paths(&[path, name].join("."), value, found);
        }),
        None if value.is_null() => (),
        None => found.push(path.trim_start_matches('.').to_owned()),
    }
}

/// Returns true if a pattern of the table covers an option: `*` stands for a name, and at the end for the rest.
fn covers(pattern: &str, path: &str) -> bool {
    let (mut words, mut names) = (pattern.split('.'), path.split('.'));
    loop {
        match (words.next(), names.next()) {
            (None, None) => return true,
            (Some("*"), Some(_)) if words.clone().next().is_none() => return true,
            (Some(word), Some(name)) if word == "*" || word == name => (),
            (Some(word), Some(name)) if word.starts_with('*') && name.ends_with(&word[1..]) => (),
            _ => return false,
        }
    }
}

#[test]
fn the_tables_have_every_option_and_real_keys() {
    let ours: toml::Table = toml::to_string(&Settings::default()).expect("text").parse().expect("a table");
    let is_key = |key: &str| {
        let mut table = Some(&ours);
        for name in key.split('.').take_while(|name| *name != "*") {
            let Some(value) = table.and_then(|table| table.get(name)) else { return false };
            table = value.as_table();
        }
        true
    };
    for (bot, file) in [("lichess-bot", LICHESS_BOT), ("BotLi", BOTLI)] {
        let (mut options, parsed) = (Vec::new(), foreign::parse(file).expect("YAML"));
        paths("", &serde_json::Value::Object(parsed), &mut options);
        let rows = page_rows(bot);
        for option in &options {
            let known = rows.iter().flat_map(|[options, ..]| code(options)).any(|pattern| covers(pattern, option));
            assert!(known, "{option} is in no row");
        }
        for key in rows.iter().flat_map(|[_, keys, _]| code(keys)) {
            let for_humans = key.replacen("challenge.", "challenge.human.", 1);
            // An account has a name of its choice.
            let of_types = ["matchmaking.games_in_row", "servers.lichess.url"].contains(&key);
            let optional = ["player.limits.nodes", "player.limits.depth", "player.limits.time"].contains(&key);
            assert!(of_types || optional || is_key(key) || is_key(&for_humans), "{key} is no key");
        }
    }
}

#[test]
fn the_page_has_the_tables() {
    for (bot, table) in [("lichess-bot", table::LICHESS_BOT), ("BotLi", table::BOTLI)] {
        let rows = page_rows(bot);
        for (option, key, _) in table.copied {
            let row = [format!("`{option}`"), format!("`{key}`"), String::new()];
            assert!(rows.iter().any(|known| *known == row), "docs/coming-from.md lacks this row: {row:?}");
        }
        let left_out = table.left_out.iter().map(|(options, why)| {
            let options = options.iter().map(|option| format!("`{option}`")).collect::<Vec<_>>();
            [options.join(", "), String::new(), format!("not needed: {why}")]
        });
        let on_page = rows.into_iter().filter(|[.., note]| note.starts_with("not needed: "));
        assert_eq!(on_page.collect::<Vec<_>>(), left_out.collect::<Vec<_>>(), "docs/coming-from.md");
    }
}

/// Answers of the other bots to the challenges of a file, by their own rules: a block each of the bot, its table `challenge`, and a
/// sign for each challenge, `+` for accepted.
const DECISIONS: &str = include_str!("tests/decisions.txt");
const CHALLENGES: &str = include_str!("tests/challenges.ndjson");

#[test]
fn challenges_are_answered_as_before() {
    use bot::policy::{RateLimits, challenge};
    let challenges: Vec<domain::Challenge> = CHALLENGES
        .lines()
        .map(|line| match platform::lichess::lines::event(line, "me") {
            Ok(domain::ServerEvent::Challenge(challenge)) => challenge,
            other => panic!("{other:?}: {line}"),
        })
        .collect();
    for block in DECISIONS.trim().split("\n\n") {
        let (bot, rest) = block.split_once('\n').expect("a bot");
        let (terms, expected) = rest.rsplit_once('\n').expect("decisions");
        let terms = terms.replace('\n', "\n  ");
        let (bot, rest) = match bot {
            "botli" => (
                ForeignBot::BotLi,
                "engines: {standard: {dir: ./engines, name: brain}}\nwhitelist: [Friend]\nblacklist: [Bob, bot2]",
            ),
            _ => (ForeignBot::LichessBot, "engine: {dir: ./engines/, name: brain, protocol: uci}"),
        };
        let (settings, import) = imported(bot, &format!("token: lip_a\n{rest}\nchallenge:\n  {terms}\n"));
        let context = challenge::ChallengeContext {
            now: &jiff::Timestamp::UNIX_EPOCH.to_zoned(jiff::tz::TimeZone::UTC),
            variants: &Variant::ALL,
            lists: &settings.name_lists().expect("no files"),
            places: &[],
            last_start: None,
            opponents: &std::collections::HashMap::new(),
            rate_limits: &RateLimits::default(),
            waiting: 0,
            closed: None,
        };
        let answers = challenges.iter().map(|challenge| challenge::judge(challenge, &settings.challenge, &context));
        let accepted: String =
            answers.map(|verdict| if verdict == challenge::ChallengeVerdict::Accept { '+' } else { '-' }).collect();
        assert_eq!(accepted, expected, "{block}\n{}", import.text);
    }
}
