//! The files of a journal: whole, private, copied while they are written.

use super::*;

async fn desk_with_a_game() -> (Desk, GameKey) {
    let desk = Desk::new();
    let (key, start) = desk.start("abcdefgh", Variant::Standard, "");
    desk.play(&key, &start, "e2e4 e7e5 g1f3").await;
    (desk, key)
}

fn beside(database: &Path, ending: &str) -> PathBuf {
    PathBuf::from(format!("{}{ending}", database.display()))
}

fn moves_in(file: &Path, key: &GameKey) -> usize {
    let archive = Archive::open(file).expect("a journal");
    let game = archive.game(key).expect("readable").expect("the game");
    archive.moves(&game).expect("readable").len()
}

#[tokio::test]
async fn closed_journal_is_one_file() {
    let (desk, key) = desk_with_a_game().await;
    let copy = desk.directory.path().join("copy.db");
    let path = desk.journal.path().to_owned();
    desk.journal.close().await.expect("closed");
    std::fs::copy(path, &copy).expect("copied");
    assert_eq!(moves_in(&copy, &key), 3);
}

/// A page that is asked for the games at the last moment must not make a failure of a good end.
#[tokio::test]
async fn journal_closes_despite_a_reader() {
    let (desk, key) = desk_with_a_game().await;
    let path = desk.journal.path().to_owned();
    let reader = rusqlite::Connection::open(&path).expect("a database");
    reader.execute_batch("BEGIN; SELECT count(*) FROM moves").expect("a reader in the midst of it");
    desk.journal.set_state("games", "1".to_owned()).await.expect("written");
    desk.journal.close().await.expect("nothing is lost");
    drop(reader);
    assert_eq!(moves_in(&path, &key), 3);
}

/// The log is checkpointed now and then and at the end, and SQLite allows one checkpoint at a time.
#[tokio::test]
async fn close_during_checkpoint_is_complete() {
    let (desk, _) = desk_with_a_game().await;
    let log = beside(desk.journal.path(), "-wal");
    for _ in 0..20 {
        // Long enough for the second to come while the first is at work.
        desk.journal.set_state("games", "1".repeat(3_000_000)).await.expect("written");
        let (once, twice) = tokio::join!(desk.journal.writer.empty_log(), desk.journal.writer.empty_log());
        assert_eq!((once, twice), (Ok(()), Ok(())));
        assert_eq!(std::fs::metadata(&log).expect("a log").len(), 0);
    }
}

#[tokio::test]
async fn backup_during_writes_is_complete() {
    let (desk, key) = desk_with_a_game().await;
    let copy = desk.directory.path().join("copy.db");
    let size = back_up(desk.journal.path(), &copy).expect("copied");
    assert_eq!((moves_in(&copy, &key), std::fs::metadata(&copy).expect("a file").len()), (3, size));
    // The game goes on, and the copy stays as it is.
    let (key, start) = desk.start("game0002", Variant::Standard, "");
    desk.play(&key, &start, "e2e4 e7e5").await;
    let again = back_up(desk.journal.path(), &copy).expect_err("it overwrites nothing").to_string();
    assert!(again.contains("exists already"), "{again}");
    assert_eq!(Archive::open(&copy).expect("a journal").games(&Filter::default()).expect("readable").len(), 1);
    let nowhere = back_up(desk.journal.path(), &desk.directory.path().join("no/such/folder.db"));
    assert!(matches!(nowhere, Err(JournalError::Backup { .. })), "{nowhere:?}");
    let left = std::fs::read_dir(desk.directory.path()).expect("a folder").filter_map(Result::ok);
    assert_eq!(left.filter(|file| file.file_name().to_string_lossy().contains("part")).count(), 0, "no draft stays");
}

/// Before a new program brings a journal up to date, it can be kept as it is.
#[tokio::test]
async fn old_journal_is_backed_up_unchanged() {
    let folder = tempfile::tempdir().expect("a folder");
    let (old, copy) = (folder.path().join("old.db"), folder.path().join("copy.db"));
    let connection = rusqlite::Connection::open(&old).expect("a database");
    connection.execute_batch("CREATE TABLE game (id); PRAGMA user_version = 1").expect("an old journal");
    assert!(matches!(Archive::open(&old), Err(JournalError::Open { .. })));
    back_up(&old, &copy).expect("copied");
    let copied = rusqlite::Connection::open(&copy).expect("a database");
    assert_eq!(copied.pragma_query_value(None, "user_version", |row| row.get::<_, u32>(0)), Ok(1));
}

/// Promise 5: games of one file may end at the same time.
#[tokio::test(flavor = "multi_thread")]
async fn simultaneous_ends_are_all_in_the_file() {
    const GAMES: usize = 40;
    let desk = Desk::grouped(PgnGrouping::All);
    let keys: Vec<GameKey> =
        (0..GAMES).map(|number| desk.start(&format!("game{number:04}"), Variant::Standard, "").0).collect();
    let ending = keys.iter().map(|key| desk.journal.game_over(key, &GameStatus::Draw, None));
    let files = futures_util::future::join_all(ending).await;
    let file = files.into_iter().next_back().expect("games").expect("written").expect("a PGN");
    let text = std::fs::read_to_string(file).expect("a file");
    assert_eq!(text.matches("[Event ").count(), GAMES);
}

/// After a kill, a file that cannot be written keeps no other one waiting, and is written when it can be.
#[tokio::test(start_paused = true)]
async fn unwritable_pgn_delays_no_other() {
    let desk = Desk::new();
    let mut files = Vec::new();
    for id in ["game0001", "game0002"] {
        let (key, start) = desk.start(id, Variant::Standard, "");
        desk.play(&key, &start, "e2e4 e7e5 g1f3").await;
        let file = desk.over(&key, GameStatus::Draw, None).await;
        std::fs::remove_file(&file).expect("there");
        files.push(file);
    }
    let killed = rusqlite::Connection::open(desk.journal.path()).expect("the journal");
    killed.execute("UPDATE games SET pgn_path = NULL", []).expect("as after a kill");
    std::fs::create_dir(&files[0]).expect("something stands in its place");
    assert!(matches!(desk.journal.write_missing_pgn().await, Err(JournalError::Pgn { .. })));
    assert!(files[1].is_file());
    std::fs::remove_dir(&files[0]).expect("there");
    within_a_minute(|| files[0].is_file()).await;
}

#[cfg(unix)]
#[tokio::test]
async fn its_files_are_their_owners_alone() {
    use std::os::unix::fs::PermissionsExt as _;

    let (desk, key) = desk_with_a_game().await;
    let pgn = desk.over(&key, GameStatus::Draw, None).await;
    let copy = desk.directory.path().join("copy.db");
    back_up(desk.journal.path(), &copy).expect("copied");
    let [journal, log, lock] = ["", "-wal", ".lock"].map(|ending| beside(desk.journal.path(), ending));
    for file in [journal, log, lock, pgn, copy] {
        let mode = std::fs::metadata(&file).expect("a file").permissions().mode() & 0o777;
        assert_eq!(mode, 0o600, "{}: {mode:o}", file.display());
    }
}

#[tokio::test]
async fn long_names_get_a_pgn() {
    for grouping in [PgnGrouping::Game, PgnGrouping::Opponent] {
        let desk = Desk::grouped(grouping);
        let mut long = info("abcdefgh", Variant::Standard, "");
        long.black = Player::named(&"x".repeat(5000));
        desk.journal.game_started(&desk.server, &long);
        let key = GameKey::new(&desk.server, &long.id);
        let text = desk.pgn(&key, GameStatus::Mate, Some(Color::White)).await;
        assert!(text.contains(&"x".repeat(5000)), "the whole name stands in it");
    }
}

/// The files of a journal as a kill leaves them: the database and its log, of which nothing was brought in at the end.
fn files_after_a_kill(journal: &Path, to: &Path) {
    std::fs::create_dir_all(to.parent().expect("a folder")).expect("a folder");
    for ending in ["", "-wal", "-shm"] {
        std::fs::copy(beside(journal, ending), beside(to, ending)).expect("copied");
    }
}

fn state_in(file: &Path, key: &str) -> Option<String> {
    let database = rusqlite::Connection::open(file).expect("a database");
    let found: String = database.pragma_query_value(None, "integrity_check", |row| row.get(0)).expect("an answer");
    assert_eq!(found, "ok", "{}", file.display());
    database.query_row("SELECT value FROM state WHERE key = ?", [key], |row| row.get(0)).ok()
}

/// Promise 5: backup, kill -9, restore, go on; nothing that was committed is lost.
#[tokio::test]
async fn hundred_kills_lose_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    let in_round = |round: usize| JournalSettings::in_folder(&folder.path().join(format!("{round}")));
    for round in 0..100_usize {
        let (settings, next) = (in_round(round), in_round(round + 1));
        let journal = Journal::open(&settings).expect("a journal");
        assert_eq!(journal.state("round").await.expect("readable"), round.checked_sub(1).map(|last| last.to_string()));
        journal.set_state("round", round.to_string()).await.expect("written");
        let backup = folder.path().join(format!("backup-{round}.db"));
        back_up(&settings.path, &backup).expect("copied");
        journal.set_state("later", round.to_string()).await.expect("written");
        files_after_a_kill(&settings.path, &next.path);
        let (_, kept) = restore(&backup, &next.path).expect("restored");
        let kept = kept.expect("the old journal");
        assert_eq!(state_in(&kept, "later"), Some(round.to_string()), "what came after the backup is kept beside it");
        assert_eq!((state_in(&next.path, "round"), state_in(&next.path, "later")), (Some(round.to_string()), None));
        journal.close().await.expect("closed");
    }
}

/// A journal that is damaged cannot take its log along.
#[tokio::test]
async fn damaged_journal_is_set_aside() {
    let (desk, key) = desk_with_a_game().await;
    let backup = desk.directory.path().join("backup.db");
    back_up(desk.journal.path(), &backup).expect("copied");
    let damaged = desk.directory.path().join("damaged/journal.db");
    // Were everything in the log, the journal would be whole all the same.
    desk.journal.writer.empty_log().await.expect("empty");
    desk.journal.set_state("games", "1".to_owned()).await.expect("written");
    files_after_a_kill(desk.journal.path(), &damaged);
    std::fs::write(&damaged, "no database, but long enough to be taken for one by its size alone".repeat(99))
        .expect("written");
    let (_, kept) = restore(&backup, &damaged).expect("restored");
    let kept = kept.expect("the old journal");
    assert!(std::fs::read_to_string(&kept).expect("kept as it was").starts_with("no database"));
    assert!(beside(&kept, "-wal").exists(), "its log may still be of use");
    assert!(!beside(&damaged, "-wal").exists());
    assert_eq!(moves_in(&damaged, &key), 3);
    let (_, again) = restore(&backup, &damaged).expect("once more");
    assert!(again.is_some() && again != Some(kept), "nothing is overwritten");
}

#[tokio::test]
async fn a_restore_refuses_what_it_should() {
    let (desk, key) = desk_with_a_game().await;
    let (journal, folder) = (desk.journal.path().to_owned(), desk.directory.path());
    let backup = folder.join("backup.db");
    back_up(&journal, &backup).expect("copied");
    let refused = |backup: &Path, journal: &Path| restore(backup, journal).expect_err("refused").to_string();
    assert!(refused(&backup, &journal).contains("is writing it"), "a daemon runs");
    let other = folder.join("other.db");
    std::fs::write(&other, "no database".repeat(1000)).expect("written");
    assert!(refused(&other, &folder.join("new.db")).contains("no journal but another file"));
    assert!(refused(&folder.join("nowhere.db"), &folder.join("new.db")).contains("no such file"));
    let empty = folder.join("empty.db");
    rusqlite::Connection::open(&empty).expect("a database").execute_batch("CREATE TABLE x (y)").expect("made");
    assert!(refused(&empty, &folder.join("new.db")).contains("but no journal"));
    let mut bytes = std::fs::read(&backup).expect("a backup");
    let damaged = folder.join("damaged.db");
    bytes[4096..].fill(7);
    std::fs::write(&damaged, bytes).expect("written");
    let error = refused(&damaged, &folder.join("new.db"));
    assert!(error.contains("damaged.db") && error.lines().count() == 1, "{error}");
    assert!(!folder.join("new.db").exists());
    assert_eq!(moves_in(&journal, &key), 3, "the journal is as it was");
}

#[test]
fn unopenable_journal_names_the_remedy() {
    let folder = tempfile::tempdir().expect("a folder");
    let opened = |name: &str| {
        let settings = JournalSettings { path: folder.path().join(name), ..JournalSettings::in_folder(folder.path()) };
        let error = Journal::open(&settings).err().expect("refused").to_string();
        assert!(error.contains(name) && error.lines().count() == 1, "{error}");
        error
    };
    std::fs::create_dir(folder.path().join("folder.db")).expect("made");
    assert!(opened("folder.db").contains("it is a folder; set journal.path to a file"));
    std::fs::write(folder.path().join("text.db"), "no database".repeat(1000)).expect("written");
    assert!(opened("text.db").contains("no journal but another file; set another journal.path"));
    let damaged = folder.path().join("damaged.db");
    drop(schema::open_to_write(&damaged).expect("a journal"));
    let mut bytes = std::fs::read(&damaged).expect("a file");
    bytes[100..4096].fill(7);
    std::fs::write(&damaged, bytes).expect("written");
    assert!(opened("damaged.db").contains("concilio journal restore FILE"));
    std::fs::write(folder.path().join("file"), "").expect("written");
    assert!(opened("file/journal.db").contains("set another journal.path"));
}

#[tokio::test]
async fn queue_for_a_hanging_disk_is_bounded() {
    let desk = Desk::new();
    let (release, held) = std::sync::mpsc::channel::<()>();
    let (reached, mut hangs) = tokio::sync::mpsc::unbounded_channel();
    let hanging = desk.journal.writer.call(move |_| {
        let _ = reached.send(());
        held.recv().map_err(|_| JournalError::Closed)
    });
    hangs.recv().await.expect("the disk hangs");
    for _ in 0..3000 {
        desk.journal.fault(&desk.server, None, "as a server says it again and again");
    }
    let refused = desk.journal.set_state("x", String::new()).await;
    assert!(matches!(&refused, Err(JournalError::Unwritable(why)) if why.contains("hangs")), "{refused:?}");
    release.send(()).expect("the disk goes on");
    hanging.await.expect("written");
    while desk.journal.flush().await.is_err() {
        tokio::task::yield_now().await;
    }
    assert_eq!(desk.count("faults"), 1000);
    desk.journal.set_state("x", String::new()).await.expect("there is room again");
}

#[tokio::test]
async fn panicking_entry_spares_its_neighbours() {
    let (desk, key) = desk_with_a_game().await;
    desk.journal.fault(&desk.server, None, "before");
    let panics = desk.journal.writer.call(|store| -> Result<(), JournalError> {
        store.set_state("half", "done", 0)?;
        panic!("a defect")
    });
    desk.journal.fault(&desk.server, None, "after");
    assert!(matches!(panics.await, Err(JournalError::Sqlite(why)) if why.contains("panicked")));
    desk.journal.flush().await.expect("written");
    assert_eq!((desk.count("faults"), desk.journal.state("half").await), (2, Ok(None)));
    assert_eq!(moves_in(desk.journal.path(), &key), 3);
}
