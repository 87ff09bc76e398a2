use std::time::Duration;

use proptest::prelude::*;

use super::*;
use domain::values::{Mode, TimeControlRule};

mod example;

const EXAMPLE: &str = include_str!("../../config/example.toml");

fn file(text: &str) -> Sources {
    Sources { files: vec![("my.toml".to_owned(), text.to_owned())], ..Sources::default() }
}

fn set(key: &str, text: &str) -> Flag {
    Flag { name: "--set", key: key.to_owned(), text: text.to_owned() }
}

fn settings(text: &str) -> Settings {
    *file(text).load().unwrap_or_else(|problems| panic!("{problems}")).settings
}

fn problems(sources: &Sources) -> Vec<String> {
    sources.load().err().iter().flat_map(Problems::iter).map(ToString::to_string).collect()
}

/// Checks that `expected` is the only problem.
#[track_caller]
fn complains(text: &str, expected: &str) {
    assert_eq!(problems(&file(text)), [expected], "{text}");
}

#[test]
fn built_in_defaults_match_the_code() {
    assert_eq!(settings(""), Settings::default());
}

/// Settings in the example begin with `#` and no blank; prose begins with `# `.
fn example_uncommented() -> String {
    let lines = EXAMPLE.lines().map(|line| match line.strip_prefix('#') {
        Some(setting) if !setting.is_empty() && !setting.starts_with(' ') => setting,
        _ => line,
    });
    lines.collect::<Vec<_>>().join("\n")
}

#[test]
fn example_changes_no_default() {
    assert_eq!(settings(EXAMPLE), Settings::default());
    assert_eq!(settings(&example_uncommented()), Settings::default());
}

fn keys(table: &toml::Table) -> Vec<String> {
    let mut keys = Vec::new();
    for (key, value) in table {
        keys.push(key.clone());
        if let toml::Value::Table(below) = value {
            keys.extend(self::keys(below).into_iter().map(|below| format!("{key}.{below}")));
        }
    }
    keys
}

/// Finds keys missing from the example, unknown keys in it, and other defaults.
#[test]
fn example_lists_every_default() {
    let example: toml::Table = example_uncommented().parse().expect("the example");
    assert_eq!(example, read::built_in());
}

/// The comments above each line of the example that sets a key, with the path of the key.
fn explanations() -> Vec<(String, String)> {
    let (mut found, mut table, mut comment) = (Vec::new(), String::new(), String::new());
    for line in EXAMPLE.lines() {
        let sample = line.strip_prefix("#     ").filter(|text| text.contains(".NAME") || table.contains(".NAME"));
        let line = &sample.map_or_else(|| line.to_owned(), |text| format!("#{text}").replacen("##", "#", 1));
        if let Some(name) = line.strip_prefix("#[").and_then(|line| line.strip_suffix(']')) {
            table = format!("{name}.");
        } else if let Some((key, _)) = line.strip_prefix('#').and_then(|line| line.split_once(" = "))
            && !key.starts_with(' ')
        {
            found.push((format!("{table}{key}"), std::mem::take(&mut comment)));
        } else if let Some(text) = line.strip_prefix("# ") {
            comment.push_str(text);
            comment.push(' ');
        } else {
            comment.clear();
        }
    }
    found
}

#[test]
fn example_explains_every_key() {
    let explanations = explanations();
    assert!(explanations.len() > 100, "{explanations:#?}");
    for (key, comment) in explanations {
        assert!(!comment.is_empty(), "{key} is not explained");
        // No key accepts this value: the complaint names the accepted ones.
        let complaint = problems(&file(&format!("{key} = -1e300"))).join("\n");
        if let Some((_, range)) = complaint.split_once(" from ") {
            let range: Vec<&str> = range.split([' ', ',']).take(3).collect();
            assert!(comment.contains(&range.join(" ")), "{key}: {range:?} is not in {comment:?}");
        }
    }
}

#[test]
fn each_layer_overrides_those_below() {
    let mut sources = file("[challenge]\nmin_rating = 1000\nmax_rating = 2000\nconcurrency = 2");
    sources.environment = [
        ("CONCILIO__CHALLENGE__MAX_RATING", "2100"),
        ("CONCILIO__CHALLENGE__CONCURRENCY", "3"),
        ("CONCILIO__CHALLENGE__VARIANTS", "standard, atomic"),
        ("CONCILIO__CHALLENGE__BLOCK", "[\"ann\", \"bob\"]"),
        ("CONCILIO__CHALLENGE__ALLOW", "7"),
        ("CONCILIO__CHALLENGE__MAX_REMATCHES", "none"),
        ("CONCILIO__CHALLENGE__HUMAN__MODES", "casual"),
        ("CONCILIO__CHAT__HELLO", "12"),
        ("CONCILIO__MATCHMAKING__DURING_GAMES", "true"),
        ("CONCILIO__PLAYER__COUNCIL__SPLIT", "0.5"),
        ("CONCILIO_TOKEN", "not a key of ours"),
        ("PATH", "/bin"),
    ]
    .map(|(name, value)| (name.to_owned(), value.to_owned()))
    .to_vec();
    sources.flags = vec![set("challenge.concurrency", "4")];
    let settings = sources.load().unwrap_or_else(|problems| panic!("{problems}")).settings;
    let challenge = &settings.challenge;
    assert_eq!((challenge.human.min_rating, challenge.human.max_rating), (1000, 2100));
    assert_eq!(challenge.concurrency, 4);
    assert_eq!(challenge.bot.variants, [domain::Variant::Standard, domain::Variant::Atomic]);
    assert_eq!((challenge.block.len(), challenge.allow.as_slice()), (2, ["7".to_owned()].as_slice()));
    assert_eq!((challenge.human.modes.len(), challenge.bot.modes.len()), (1, 2));
    assert_eq!(settings.chat.hello, "12");
    assert!(settings.matchmaking.during_games);
    assert!((settings.player.council.split - 0.5).abs() < 1e-9);
}

#[test]
fn humans_and_bots_override_defaults() {
    let settings = settings(
        r#"
        [challenge]
        time_controls = ["rapid", "3+2"]
        max_initial = 900
        [challenge.human]
        max_initial = "none"
        [challenge.bot]
        modes = ["rated"]
        "#,
    );
    let (human, bot) = (&settings.challenge.human, &settings.challenge.bot);
    assert_eq!((human.max_initial, bot.max_initial), (None, Some(Duration::from_mins(15))));
    assert_eq!((human.modes.len(), bot.modes.as_slice()), (2, [Mode::Rated].as_slice()));
    let rules: Vec<String> = bot.time_controls.iter().map(TimeControlRule::to_string).collect();
    assert_eq!(rules, ["rapid", "3+2"]);
}

#[test]
fn profile_overrides_player_settings() {
    let settings = settings(
        r#"
        [player]
        takebacks = 2
        council = { hash = 32 }
        [profiles.fast]
        when = { speed = "bullet", color = "black", opponent = "human", rated = false }
        council.roster = "unbalanced-4"
        resign = { enabled = true }
        "#,
    );
    let fast = &settings.profiles["fast"];
    assert_eq!(fast.when.color, Some(domain::Color::Black));
    assert_eq!((fast.player.council.roster.as_str(), fast.player.council.hash), ("unbalanced-4", 32));
    assert!(fast.player.resign.enabled && fast.player.takebacks == 2);
    assert_eq!(settings.player.council.roster, "auto");
}

#[test]
fn matchmaking_types_inherit_ratings() {
    let settings = settings(
        r#"
        [matchmaking]
        enabled = true
        max_rating_difference = 100
        types.blitz = {}
        types.slow = { time_control = "15+10", max_rating_difference = "none", weight = 2 }
        "#,
    );
    let types = &settings.matchmaking.types;
    assert_eq!(types["blitz"].opponents.max_rating_difference, Some(100));
    assert_eq!((types["slow"].opponents.max_rating_difference, types["slow"].opponents.min_rating), (None, 600));
}

#[test]
fn bad_value_is_one_complete_line() {
    for (text, expected) in [
        ("challenge.min_rating = 'high'", r#"challenge.min_rating = "high": expected a whole number from 0 to 4000"#),
        ("challenge.min_rating = 5000", "challenge.min_rating = 5000: expected a whole number from 0 to 4000"),
        ("challenge.bot.min_rating = 1.5", "challenge.bot.min_rating = 1.5: expected a whole number from 0 to 4000"),
        (
            "challenge.max_initial = 'never'",
            r#"challenge.max_initial = "never": expected a whole number from 0 to 86400 (seconds), or "none""#,
        ),
        ("challenge.accept = 'yes'", r#"challenge.accept = "yes": expected true or false"#),
        ("challenge.block = 'ann'", r#"challenge.block = "ann": expected a list"#),
        ("challenge = 3", "challenge = 3: expected a table"),
        ("challenge.sort_by = 'bset'", r#"challenge.sort_by = "bset": expected best or first (did you mean best?)"#),
        ("challenge.hours = ['8-22']", r#"challenge.hours = "8-22": expected hours of the day such as 08:00-22:30"#),
        ("journal.path = 3", "journal.path = 3: expected a text in quotes"),
        ("player.council.hash = -1", "player.council.hash = -1: expected a whole number from 1 to 65536"),
        ("player.clock.reserve = -1", "player.clock.reserve = -1: expected seconds from 0 to 86400"),
        ("player.council.split = 'half'", r#"player.council.split = "half": expected a number from 0 to 1"#),
        ("player.draw.opponents = ['cat']", r#"player.draw.opponents = "cat": expected human or bot"#),
        (
            "matchmaking.types.a.time_control = '3'",
            r#"matchmaking.types.a.time_control = "3": expected a time control: minutes+seconds such as 3+2, days such as 3d, or unlimited"#,
        ),
        (
            "profiles.a = { when = { rated = true }, takebacks = 'x' }",
            r#"profiles.a.takebacks = "x": expected a whole number from 0 to 100"#,
        ),
        ("profiles.a = { when = { color = 'red' } }", r#"profiles.a.when.color = "red": expected white or black"#),
        (
            "log.level = 'concilio=lots'",
            r#"log.level = "concilio=lots": expected off, error, warn, info, debug, trace, or a filter such as info,concilio=debug"#,
        ),
        ("time_zone = 'Rome'", r#"time_zone = "Rome": expected local, UTC or a name such as Europe/Rome"#),
    ] {
        complains(text, &format!("my.toml:1: {expected}"));
    }
}

#[test]
fn unknown_key_names_the_nearest() {
    for (text, expected) in [
        ("challenge.min_ratng = 3", "challenge.min_ratng: unknown key, did you mean challenge.min_rating?"),
        ("challange.accept = true", "challange: unknown key, did you mean challenge?"),
        ("challenge.human.accpt = true", "challenge.human.accpt: unknown key, did you mean challenge.human.accept?"),
        ("profiles.a.wen = {}", "profiles.a.wen: unknown key, did you mean profiles.a.when?"),
        ("profiles.a.council.hsh = 3", "profiles.a.council.hsh: unknown key, did you mean profiles.a.council.hash?"),
        ("player.claim.xyz = 3", "player.claim.xyz: unknown key, expected one of enabled"),
        (
            "player.council.electors = [{ nme = 'x' }]",
            "player.council.electors.nme: unknown key, did you mean player.council.electors.name?",
        ),
    ] {
        let found = problems(&file(text));
        assert_eq!(
            found.first().map(String::as_str),
            Some(format!("my.toml:1: {expected}").as_str()),
            "{text}: {found:?}"
        );
    }
}

#[test]
fn every_problem_has_its_place() {
    let mut sources = file(
        "challenge.min_rating = 'low'\nchallenge.variants = ['standrd', 'chess960', 'atmic']\nplayer.x = 1\nchat.hello = '{you}'",
    );
    sources.environment = vec![("CONCILIO__CHALLENGE__MIN_GAP".to_owned(), "soon".to_owned())];
    sources.flags = vec![set("shutdown.grace", "-1"), set(".", "1")];
    let mut found = problems(&sources);
    found.sort();
    let variants = "expected standard, chess960, fromPosition, crazyhouse, antichess, atomic, horde, kingOfTheHill, racingKings or threeCheck";
    let mut expected = [
        "my.toml:1: challenge.min_rating = \"low\": expected a whole number from 0 to 4000",
        &format!("my.toml:2: challenge.variants = \"standrd\": {variants} (did you mean standard?)"),
        &format!("my.toml:2: challenge.variants = \"atmic\": {variants} (did you mean atomic?)"),
        "my.toml:3: player.x: unknown key, expected one of abort, book, claim, clock, council, draw, limits, online, ponder, resign, tablebases, takebacks",
        "my.toml:4: chat.hello = \"{you}\": expected no other placeholders than {me}, {opponent}, {engine}, {cpu} and {ram}",
        "CONCILIO__CHALLENGE__MIN_GAP: challenge.min_gap = \"soon\": expected a whole number from 0 to 86400 (seconds)",
        "--set: shutdown.grace = \"-1\": expected a whole number from 0 to 86400 (seconds)",
        "--set: names no key: expected a table and a key in it",
    ];
    expected.sort_unstable();
    assert_eq!(found, expected);
}

#[test]
fn removed_settings_name_the_remedy() {
    let removed = file(
        "[player.council]\ncriterion = \"learned\"\nmodel = \"my.toml\"\nadvisers = \"draws\"\ntablebases = \"/t\"\n[player.clock]\nheed_votes = true",
    );
    let expected = [
        "my.toml:2: player.council.criterion = \"learned\": this criterion was removed; use \"score-margin\"",
        "my.toml:3: player.council.model: removed; the criteria that read it are gone, delete this line",
        "my.toml:4: player.council.advisers = \"draws\": expected auto, nothing, a distribution such as balanced-3, or a list, each named once, of knowledge letters such as mpar and of mates (the provers checks, draws and tables were removed)",
        "my.toml:5: player.council.tablebases: removed; the adviser that read it is gone; player.tablebases.paths is for the player",
        "my.toml:7: player.clock.heed_votes: removed; votes do not change the time of a move, delete this line",
    ];
    assert_eq!(problems(&removed), expected);
}

#[test]
fn removed_criterion_names_successor() {
    for word in ["calibrated", "learned", "routing"] {
        complains(
            &format!("player.council.criterion = {word:?}"),
            &format!(
                "my.toml:1: player.council.criterion = {word:?}: this criterion was removed; use \"score-margin\""
            ),
        );
    }
    let found = problems(&file("player.council.criterion = 'majorty'"));
    assert!(found.len() == 1 && found[0].contains("majority") && found[0].ends_with("(did you mean majority?)"));
}

#[test]
fn reversed_bounds_blame_the_last() {
    complains(
        "challenge.max_rating = 1000\nchallenge.human.min_rating = 1200",
        "my.toml:2: challenge.human.min_rating = 1200: expected at most challenge.max_rating (1000)",
    );
    complains(
        "[matchmaking]\nmax_rating = 500\n[matchmaking.types.a]",
        "my.toml:2: matchmaking.max_rating = 500: expected at least matchmaking.min_rating (600)",
    );
    complains(
        "matchmaking.enabled = true",
        r#"my.toml:1: matchmaking.enabled = true: expected false, or a type with a weight, such as [matchmaking.types.blitz] time_control = "3+2""#,
    );
    complains(
        "[profiles.all]\ntakebacks = 1",
        r#"my.toml:1: profiles.all.when: expected at least one condition, such as { speed = "blitz" }"#,
    );
}

#[test]
fn list_files_must_exist() {
    complains(
        "challenge.block_files = ['no/such/list']",
        r#"my.toml:1: challenge.block_files = ["no/such/list"]: expected files that exist (no/such/list does not)"#,
    );
    let folder = tempfile::tempdir().expect("a folder");
    let list = folder.path().join("pests.txt");
    fs::write(&list, "Ann\n# a comment\n\nbob # aborts\n").expect("a file");
    let settings = settings(&format!("challenge.block_files = [{:?}]\nchallenge.block = ['Carl']", list));
    let lists = settings.name_lists().expect("readable");
    assert!(["ann", "BOB", "carl"].iter().all(|name| lists.block.contains(name)) && !lists.block.contains("comment"));
    fs::remove_file(&list).expect("removed");
    let error = settings.name_lists().expect_err("it is gone").to_string();
    assert!(error.starts_with(&format!("{}: ", list.display())), "{error}");
}

#[test]
fn a_token_is_never_shown() {
    for text in [
        "servers.lichess.token = 'lip_hush'",
        "servers.lichess.token_file = 'lip_hush'",
        "servers.lichess.tokn_file = 'lip_hush'",
        "servers.lichess = 'lip_hush'\ntoken = lip_hush",
        "servers.lichess.token_file = lip_hush",
    ] {
        let found = problems(&file(text));
        assert!(!found.is_empty() && !found.concat().contains("hush"), "{found:?}");
    }
    let variable = ("CONCILIO__SERVERS__LICHESS__TOKEN".to_owned(), "lip_hidden".to_owned());
    let sources = Sources { environment: vec![variable], ..Sources::default() };
    let found = problems(&sources);
    assert_eq!(
        found,
        [
            "CONCILIO__SERVERS__LICHESS__TOKEN: servers.lichess.token: unknown key, secrets do not stand in settings: put it into a file and name that in token_file"
        ]
    );
}

#[test]
fn a_server_needs_one_line() {
    let settings =
        settings("[servers.lichess]\n[servers.other]\nprotocol = 'fics'\n[servers.local]\nurl = 'http://127.0.0.1:80'");
    assert_eq!(settings.servers["lichess"].address(), "https://lichess.org");
    assert_eq!(settings.servers["other"].address(), "freechess.org:5000");
    complains(
        "servers.a.url = 'lichess.org'",
        r#"my.toml:1: servers.a.url = "lichess.org": expected https://..., or http://... only to localhost, 127.0.0.1 or [::1]"#,
    );
}

#[test]
fn fics_has_settings_of_its_own() {
    let settings = settings(
        "[servers.a]\nprotocol = 'fics'\n[servers.a.fics]\nusername = 'Somebot'\ntimeseal = 'v1'\nseeks = ['5 0 rated']\n\
         [servers.b]\nprotocol = 'fics'\nurl = 'localhost:5001'",
    );
    let fics = settings.servers["a"].fics().expect("an address");
    assert_eq!((fics.host.as_str(), fics.port, fics.username.as_str()), ("freechess.org", 5000, "Somebot"));
    let fics = settings.servers["b"].fics().expect("an address");
    assert_eq!((fics.host.as_str(), fics.port), ("localhost", 5001));
    complains(
        "servers.a.protocol = 'fics'\nservers.a.url = 'freechess.org'",
        r#"my.toml:2: servers.a.url = "freechess.org": expected HOST:PORT, such as freechess.org:5000"#,
    );
    complains(
        "servers.a.fics.username = 'Somebot'",
        r#"my.toml:1: servers.a.protocol: expected "fics" beside a table fics, which means nothing to Lichess"#,
    );
}

#[test]
fn effective_settings_round_trip() {
    let mut sources =
        file("chat.hello = \"a\\n\\\"b\\\"\"\n[profiles.'a b']\nwhen = { rated = true }\ntakebacks = 3\n[servers.x]");
    sources.environment = vec![("CONCILIO__CHALLENGE__CONCURRENCY".to_owned(), "3".to_owned())];
    sources.flags = vec![set("challenge.block", "ann,bob")];
    let loaded = sources.load().unwrap_or_else(|problems| panic!("{problems}"));
    let text = loaded.to_toml();
    for line in [
        "concurrency = 3  # CONCILIO__CHALLENGE__CONCURRENCY",
        "block = [\"ann\", \"bob\"]  # --set",
        "[profiles.\"a b\"]",
        "takebacks = 3  # my.toml:4",
        "max_waiting = 20",
    ] {
        assert!(text.lines().any(|other| other == line), "{line} is not in\n{text}");
    }
    assert_eq!(settings(&text), *loaded.settings);
}

proptest! {
    #[test]
    fn no_text_brings_it_down(text in any::<String>()) {
        let _ = file(&text).load().map(|loaded| loaded.to_toml());
    }

    #[test]
    fn no_table_brings_it_down(
        lines in prop::collection::vec((key(), value()), 0..8),
        environment in prop::collection::vec((key(), any::<String>()), 0..4),
        flags in prop::collection::vec((key(), value()), 0..4),
    ) {
        let text: String = lines.into_iter().map(|(key, value)| format!("{key} = {value}\n")).collect();
        let mut sources = file(&text);
        let name = |key: String| format!("CONCILIO__{}", key.to_uppercase().replace('.', "__"));
        sources.environment = environment.into_iter().map(|(key, value)| (name(key), value)).collect();
        sources.flags = flags.iter().map(|(key, value)| set(key, value)).collect();
        match sources.load() {
            Ok(loaded) => prop_assert_eq!(settings(&loaded.to_toml()), *loaded.settings),
            Err(problems) => {
                prop_assert!(problems.iter().count() > 0);
                for problem in problems.iter() {
                    prop_assert!(!problem.to_string().contains('\n'));
                }
            }
        }
    }
}

/// Keys that exist, nearly exist, or lie inside others.
fn key() -> impl Strategy<Value = String> {
    let mut known = keys(&read::built_in());
    known.extend(
        ["servers.a.url", "servers.a", "profiles.a", "profiles.a.when", "profiles.a.council.hash"].map(String::from),
    );
    known
        .extend(["matchmaking.types.b", "matchmaking.types.b.max_rating", "player.council.electors"].map(String::from));
    let near = prop_oneof![5 => Just(""), 1 => Just("x"), 1 => Just(".min_rating"), 1 => Just(".player")];
    (prop::sample::select(known), near).prop_map(|(key, more)| key + more)
}

fn value() -> impl Strategy<Value = String> {
    let plausible =
        ["true", "'none'", "[]", "['standard', 'x']", "{}", "{ rated = true }", "[{ name = 3 }]", "1979-05-27", "nan"];
    prop_oneof![
        prop::sample::select(plausible.map(String::from).to_vec()),
        any::<i64>().prop_map(|number| number.to_string()),
        (0..100u8).prop_map(|number| number.to_string()),
        "[a-z{}]{0,8}".prop_map(|text| format!("'{text}'")),
    ]
}

/// The complaint is the same for every source, except the place.
#[test]
fn all_sources_report_errors_alike() {
    for (key, text, accepted) in [
        ("player.council.criterion", "foo", "expected weights, mean-weights, depth"),
        ("player.council.weights.a", "nan", "expected a number from -1000 to 1000"),
        ("player.council.criterion", "3", "expected weights, mean-weights, depth"),
        ("player.council.second_phase", "foo", "expected sequential, static"),
        ("challenge.sort_by", "bset", "expected best or first (did you mean best?)"),
        ("challenge.variants", "standrd", "(did you mean standard?)"),
        ("matchmaking.selection", "foo", "expected weighted, cyclic or sequential"),
        ("player.book.selection", "foo", "expected weighted, uniform or best"),
        ("player.draw.opponents", "cat", "expected human or bot"),
        ("shutdown.games", "foo", "expected finish, leave or resign"),
        ("journal.pgn_grouping", "foo", "expected game, opponent or all"),
        ("player.council.hash", "0", "expected a whole number from 1 to 65536"),
        ("challenge.min_rating", "5000", "expected a whole number from 0 to 4000"),
        ("player.council.cores", "99999999", "expected a whole number from 0 to 1024"),
        ("servers.a.fics.ping_timeout", "0", "expected a whole number from 1 to 3600"),
        ("servers.a.fics.seek_every", "1", "expected a whole number from 10 to 86400"),
        ("servers.a.fics.timeseal", "v9", "expected auto, v1, v2 or off"),
        ("servers.a.protocol", "icc", "expected lichess or fics"),
        ("log.level", "nosense", "expected off, error, warn"),
        ("cluster.nats", "foo", "expected nats://HOST:4222"),
    ] {
        let in_file = if text.parse::<i64>().is_ok() { text.to_owned() } else { format!("'{text}'") };
        let list = ["challenge.variants", "player.draw.opponents"].contains(&key);
        let in_file = if list { format!("[{in_file}]") } else { in_file };
        let name = format!("CONCILIO__{}", key.to_uppercase().replace('.', "__"));
        let ways = [
            ("my.toml:1: ", file(&format!("{key} = {in_file}"))),
            (
                &format!("{name}: "),
                Sources { environment: vec![(name.clone(), text.to_owned())], ..Sources::default() },
            ),
            ("--set: ", Sources { flags: vec![set(key, text)], ..Sources::default() }),
        ];
        for (place, sources) in ways {
            let found = problems(&sources);
            assert_eq!(found.len(), 1, "{key} = {text}: {found:?}");
            assert!(found[0].starts_with(&format!("{place}{key} = ")) && found[0].contains(accepted), "{found:?}");
        }
    }
}

#[test]
fn table_text_is_not_blamed_for_others() {
    let complaint = r#"challenge.min_rating = "high": expected a whole number from 0 to 4000"#;
    let mut sources = file("challenge.min_rating = 'high'");
    sources.environment = vec![("CONCILIO__CHALLENGE".to_owned(), "{ max_rating = 2000 }".to_owned())];
    assert_eq!(problems(&sources), [format!("my.toml:1: {complaint}")]);
    sources.files.clear();
    sources.flags = vec![set("challenge.min_rating", "high")];
    assert_eq!(problems(&sources), [format!("--set: {complaint}")]);
}

#[test]
fn an_engine_must_be_there() {
    complains(
        "player.council = { roster = 'custom', electors = [{ engine = '/no/such' }] }",
        r#"my.toml:1: player.council.electors = [{ engine = "/no/such" }]: expected engines that exist (/no/such does not)"#,
    );
    settings("player.council = { roster = 'custom', electors = [{ engine = 'sh' }] }");
    settings("player.council = { roster = 'custom', electors = [{ engine = 'sh -c engine' }] }");
}

#[test]
fn invalid_toml_lines_are_numbered() {
    for (text, lines) in [
        ("time_zone = 'UTC'\n\nchallenge = [\n", &["my.toml:"][..]),
        ("time_zone = \nchallenge.accept = true\nchat.hello = 'x", &["my.toml:1: ", "my.toml:3: "]),
    ] {
        let found = problems(&file(text));
        assert_eq!(found.len(), lines.len(), "{found:?}");
        assert!(found.iter().zip(lines).all(|(problem, line)| problem.starts_with(line)), "{found:?}");
    }
}
