//! The journal comes back from a backup, and a daemon with settings that were broken meanwhile is found.

use std::{fs, path::Path};

use super::{
    harness::{Story, within},
    operator::{SETTINGS, concilio, ctl, log},
    restart::Daemon,
};
use bot::journal::{Archive, Filter};

fn games_in(file: &Path) -> usize {
    Archive::open(file).expect("a journal").games(&Filter::default()).expect("readable").len()
}

/// Promise 5: backup, kill -9, restore, go on: the running game goes on, and the entries after the backup are kept beside the journal.
#[testkit::test]
async fn daemon_resumes_from_restored_journal() {
    let story = Story::set_the_stage(|_| ()).await;
    let mut daemon = Daemon::run(&story, SETTINGS);
    let first = story.challenge().await;
    story.played(&first).await;
    let backup = story.folder.path().join("backup.db").display().to_string();
    concilio(&story, &["journal", "backup", &backup]).await.expect("copied");
    // Before anything can mate.
    story.partner_stops_at(2);
    let second = story.challenge().await;
    story.ply(&second, 2).await;
    let refused = concilio(&story, &["journal", "restore", &backup]).await.expect_err("a daemon writes it");
    assert!(refused.contains("is writing it") && refused.lines().count() == 1, "{refused}");
    daemon.kill();

    let said = concilio(&story, &["journal", "restore", &backup]).await.expect("restored");
    let kept = said.rsplit("is kept as ").next().expect("a name");
    assert_eq!((games_in(&story.journal_path()), games_in(Path::new(kept))), (1, 2), "{said}");
    let daemon = Daemon::run(&story, SETTINGS);
    story.partner_stops_at(usize::MAX);
    let report = story.played(&second).await;
    daemon.terminate();
    let status = daemon.ends().await;
    assert!(status.success(), "{status:?}: {}", log(&story).join("\n"));
    let written: Vec<_> = story.journal_of(&second).iter().map(|record| record.uci).collect();
    assert_eq!(written, report.line.moves());
    assert_eq!(games_in(&story.journal_path()), 2);
}

/// Whatever is wrong with the settings, a daemon that runs is found, so that no health check takes it for dead.
#[testkit::test]
async fn broken_settings_still_find_the_daemon() {
    let story = Story::set_the_stage(|_| ()).await;
    let daemon = Daemon::run(&story, SETTINGS);
    within("the daemon to be online", story.server.wait_until_online(super::harness::BOT)).await.expect("a server");
    let config = story.folder.path().join("concilio.toml");
    let sound = fs::read_to_string(&config).expect("the settings");
    for broken in [
        sound.clone(),
        format!("name = = two\n{sound}"),
        format!("{sound}\n[player\nhash = 1\n"),
        format!("{sound}\n[web]\nwatchers = 'many'\naddress = 7\n"),
        sound.replace("nodes = 2000", "nodes = "),
        format!("\u{feff}{sound}"),
    ] {
        fs::write(&config, &broken).expect("written");
        let status = ctl(&story, &["status"]).await;
        assert!(status.as_ref().is_ok_and(|said| said.contains("connected")), "{status:?} with {broken}");
    }
    let mut bytes = sound.clone().into_bytes();
    bytes.extend(b"# \xff\xfe\n");
    fs::write(&config, bytes).expect("written");
    ctl(&story, &["status"]).await.expect("bytes that are no text change nothing either");
    // A reload still names the mistake.
    fs::write(&config, format!("name = = two\n{sound}")).expect("written");
    let error = ctl(&story, &["reload"]).await.expect_err("it is wrong");
    assert!(error.contains("concilio.toml:1"), "{error}");
    daemon.closes().await;
}
