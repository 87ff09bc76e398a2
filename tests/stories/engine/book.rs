use std::fs;

use engine::Position;
use sources::book::{Book, Choice};

use super::{concilio, text};

#[testkit::test]
fn books_are_merged_and_extended() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name).to_string_lossy().into_owned();
    fs::write(path("a.txt"), "! Four Knights\ne2e4 e7e5 g1f3 b8c6\nb1c3 g8f6 f1b5 f8b4 o-o o-o\n").expect("written");
    fs::write(path("b.txt"), "! Italian\ne2e4 e7e5 g1f3 b8c6 f1c4\n").expect("written");
    fs::write(path("c.txt"), "! Vienna, transposed\nb1c3 e7e5 e2e4 g8f6\n").expect("written");
    let output = path("book.bin");

    let first = concilio(&["book", "make", &path("a.txt"), &path("b.txt"), "--output", &output]);
    assert_eq!(text(&first.stdout), format!("{output}: 11 moves, 11 of them new\n"), "{}", text(&first.stderr));
    let second = concilio(&["book", "make", &path("c.txt"), "--output", &output]);
    assert_eq!(text(&second.stdout), format!("{output}: 15 moves, 4 of them new\n"));

    let book = Book::open(output.as_ref()).expect("it was just made");
    let known = |moves: &[&str]| {
        let position = Position::from_line("startpos", false, moves.iter().copied()).expect("legal moves");
        let chosen = book.choose(&position, Choice::Best).expect("it can be read");
        chosen.map(|mv| position.move_to_uci(mv))
    };
    assert_eq!(known(&[]).as_deref(), Some("e2e4"));
    assert_eq!(known(&["e2e4", "e7e5", "b1c3"]).as_deref(), Some("g8f6"), "the order of moves does not matter");
}

#[testkit::test]
fn invalid_move_keeps_the_old_book() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name).to_string_lossy().into_owned();
    fs::write(path("bad.txt"), "! Good\ne2e4\n! Bad\nd2d4\nd7d5 e2e5\n").expect("written");
    let made = concilio(&["book", "make", &path("bad.txt"), "--output", &path("book.bin")]);
    assert_eq!(made.status.code(), Some(1));
    let error = text(&made.stderr);
    assert!(error.contains("bad.txt:5: \"e2e5\" is no legal move of \"Bad\" after 2 plies; correct it"), "{error}");
    assert!(!folder.path().join("book.bin").exists());
}
