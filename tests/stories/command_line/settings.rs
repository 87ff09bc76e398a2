//! Tests of the sources of settings.

use std::fs;

use super::concilio;

#[testkit::test]
fn games_come_from_the_configured_journal() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("bot.toml");
    let journal = folder.path().join("elsewhere.db");
    fs::write(&file, format!("journal.path = {journal:?}\n")).expect("a file");
    let named = |output: std::process::Output| String::from_utf8_lossy(&output.stderr).contains("elsewhere.db");
    assert!(named(concilio(&["games"]).env("CONCILIO_CONFIG", &file).output().expect("it starts")));
    assert!(named(concilio(&["games", "--config", &file.to_string_lossy()]).output().expect("it starts")));
    assert!(named(
        concilio(&["games", "--set", &format!("journal.path={}", journal.display())]).output().expect("it starts")
    ));
}

#[testkit::test]
fn later_file_overrides_an_earlier_one() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = |name: &str, text: &str| {
        let path = folder.path().join(name);
        fs::write(&path, text).expect("a file");
        path.to_string_lossy().into_owned()
    };
    let (common, own) = (
        file("common.toml", "challenge.min_rating = 1500\nplayer.ponder = 2\n"),
        file("own.toml", "\nplayer.ponder = 3\n"),
    );
    let output = concilio(&["config", "check", "--config", &common, "--config", &own]).output().expect("it starts");
    let text = String::from_utf8(output.stdout).expect("text");
    assert!(text.contains(&format!("min_rating = 1500  # {common}:1\n")), "{text}");
    assert!(text.contains(&format!("ponder = 3  # {own}:2\n")), "{text}");
}

#[testkit::test]
fn check_names_missing_programs() {
    let engine = "player.council.electors=[{ engine = \"/no/such/engine\" }]";
    let output = concilio(&["config", "check", "--set", "player.council.roster=custom", "--set", engine, "--nats"])
        .output()
        .expect("it starts");
    assert_eq!(output.status.code(), Some(2), "there is no --nats here");
    let output = concilio(&[
        "config",
        "check",
        "--set",
        "player.council.roster=custom",
        "--set",
        engine,
        "--set",
        "cluster.nats=foo",
    ])
    .output()
    .expect("it starts");
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{text}");
    assert!(text.contains("--set: player.council.electors = ") && text.contains("/no/such/engine does not"), "{text}");
    assert!(text.contains("--set: cluster.nats = \"foo\": expected nats://HOST:4222"), "{text}");
}

#[testkit::test]
fn check_names_a_mute_engine() {
    let check = |engines: &str| {
        let electors = format!("player.council.electors=[{engines}]");
        let output =
            concilio(&["config", "check", "--set", "player.council.roster=custom", "--set", &electors]).output();
        let output = output.expect("it starts");
        (output.status.success(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    let mute = "{ name = 'mute', engine = '/bin/true' }";
    let (sound, text) = check(mute);
    assert!(!sound && text.contains("elector mute") && text.contains("has ended"), "{text}");
    let own = "{ name = 'own', knowledge = 'mp' }";
    let (sound, text) = check(&format!("{mute}, {own}"));
    assert!(sound && text.contains("elector mute"), "one that is off costs its vote and no more: {text}");
}

/// The check rejects the same settings as `run`.
#[testkit::test]
fn check_rejects_public_page_without_secret() {
    let check = || concilio(&["config", "check", "--set", "web.address=0.0.0.0:8080"]);
    let output = check().env_remove("CONCILIO_WEB_SECRET").output().expect("it starts");
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{text}");
    assert!(text.contains("web.secret_file") && text.lines().count() == 1, "{text}");
    assert!(check().env("CONCILIO_WEB_SECRET", "sesame").output().expect("it starts").status.success());
}
