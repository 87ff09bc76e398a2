//! The files of a journal: whole, private, copied while they are written.

use super::*;

async fn desk_with_a_game() -> (Desk, GameKey) {
    let desk = Desk::new();
    let (key, start) = desk.start("abcdefgh", Variant::Standard, "");
    desk.play(&key, &start, "e2e4 e7e5 g1f3").await;
    (desk, key)
}

fn moves_in(file: &Path, key: &GameKey) -> usize {
    let archive = Archive::open(file).expect("a journal");
    let game = archive.game(key).expect("readable").expect("the game");
    archive.moves(&game).expect("readable").len()
}

/// Who copies the one file of a journal that was closed copies the journal.
#[tokio::test]
async fn a_closed_journal_is_one_whole_file() {
    let (desk, key) = desk_with_a_game().await;
    let copy = desk.directory.path().join("copy.db");
    let path = desk.journal.path().to_owned();
    desk.journal.close().await.expect("closed");
    std::fs::copy(path, &copy).expect("copied");
    assert_eq!(moves_in(&copy, &key), 3);
}

/// A page that is asked for the games at the last moment must not make a failure of a good end.
#[tokio::test]
async fn a_journal_that_somebody_reads_is_closed_all_the_same() {
    let (desk, key) = desk_with_a_game().await;
    let path = desk.journal.path().to_owned();
    let reader = rusqlite::Connection::open(&path).expect("a database");
    reader.execute_batch("BEGIN; SELECT count(*) FROM moves").expect("a reader in the midst of it");
    desk.journal.set_state("games", "1".to_owned()).await.expect("written");
    desk.journal.close().await.expect("nothing is lost");
    drop(reader);
    assert_eq!(moves_in(&path, &key), 3);
}

/// The log is shortened from time to time and at the end, which SQLite lets nobody do at the same time.
#[tokio::test]
async fn a_journal_that_is_closed_while_its_log_is_shortened_is_one_whole_file() {
    let (desk, _) = desk_with_a_game().await;
    let log = PathBuf::from(format!("{}-wal", desk.journal.path().display()));
    for _ in 0..20 {
        // Long enough for the second to come while the first is at work.
        desk.journal.set_state("games", "1".repeat(3_000_000)).await.expect("written");
        let (once, twice) = tokio::join!(desk.journal.writer.empty_log(), desk.journal.writer.empty_log());
        assert_eq!((once, twice), (Ok(()), Ok(())));
        assert_eq!(std::fs::metadata(&log).expect("a log").len(), 0);
    }
}

#[tokio::test]
async fn a_backup_is_whole_while_the_journal_is_being_written() {
    let (desk, key) = desk_with_a_game().await;
    let copy = desk.directory.path().join("copy.db");
    let size = desk.archive().back_up(&copy).expect("copied");
    assert_eq!((moves_in(&copy, &key), std::fs::metadata(&copy).expect("a file").len()), (3, size));
    // The game goes on, and the copy stays as it is.
    let (key, start) = desk.start("game0002", Variant::Standard, "");
    desk.play(&key, &start, "e2e4 e7e5").await;
    let again = desk.archive().back_up(&copy).expect_err("it overwrites nothing").to_string();
    assert!(again.contains("exists already"), "{again}");
    assert_eq!(Archive::open(&copy).expect("a journal").games(&Filter::default()).expect("readable").len(), 1);
    let nowhere = desk.archive().back_up(&desk.directory.path().join("no/such/folder.db"));
    assert!(matches!(nowhere, Err(JournalError::Backup { .. })), "{nowhere:?}");
    let left = std::fs::read_dir(desk.directory.path()).expect("a folder").filter_map(Result::ok);
    assert_eq!(left.filter(|file| file.file_name().to_string_lossy().contains("part")).count(), 0, "no draft stays");
}

#[cfg(unix)]
#[tokio::test]
async fn its_files_are_their_owners_alone() {
    use std::os::unix::fs::PermissionsExt as _;

    let (desk, key) = desk_with_a_game().await;
    let pgn = desk.journal.game_over(&key, &GameStatus::Draw, None).await.expect("written").expect("a PGN");
    let copy = desk.directory.path().join("copy.db");
    desk.archive().back_up(&copy).expect("copied");
    let beside = |ending: &str| PathBuf::from(format!("{}{ending}", desk.journal.path().display()));
    for file in [beside(""), beside("-wal"), beside(".lock"), pgn, copy] {
        let mode = std::fs::metadata(&file).expect("a file").permissions().mode() & 0o777;
        assert_eq!(mode, 0o600, "{}: {mode:o}", file.display());
    }
}

#[tokio::test]
async fn a_name_of_any_length_gets_its_pgn() {
    for grouping in [PgnGrouping::Game, PgnGrouping::Opponent] {
        let desk = Desk::grouped(grouping);
        let mut long = info("abcdefgh", Variant::Standard, "");
        long.black = Player::named(&"x".repeat(5000));
        desk.journal.game_started(&desk.server, &long);
        let key = GameKey::new(&desk.server, &long.id);
        let written = desk.journal.game_over(&key, &GameStatus::Mate, Some(Color::White)).await;
        let text = std::fs::read_to_string(written.expect("written").expect("a PGN")).expect("a file");
        assert!(text.contains(&"x".repeat(5000)), "the whole name stands in it");
    }
}
