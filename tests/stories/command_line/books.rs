//! Books made by the command line.

use std::fs;

use domain::{Line, Variant};
use shakmaty::CastlingMode;
use sources::book::Book;

use super::concilio;

#[testkit::test]
fn books_are_merged_and_extended() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name).to_string_lossy().into_owned();
    fs::write(path("a.txt"), "! Four Knights\ne2e4 e7e5 g1f3 b8c6\nb1c3 g8f6 f1b5 f8b4 o-o o-o\n").expect("written");
    fs::write(path("b.txt"), "! Italian\ne2e4 e7e5 g1f3 b8c6 f1c4\n").expect("written");
    fs::write(path("c.txt"), "! Vienna, transposed\nb1c3 e7e5 e2e4 g8f6\n").expect("written");
    let output = path("book.bin");

    for (texts, made) in
        [(&["a.txt", "b.txt"][..], "11 moves, 11 of them new"), (&["c.txt"], "15 moves, 4 of them new")]
    {
        let mut command = concilio(&["book", "make", "--output", &output]);
        let done = command.args(texts.iter().map(|name| path(name))).output().expect("it starts");
        let [said, error] = [done.stdout, done.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
        assert_eq!(said, format!("{output}: {made}\n"), "{error}");
    }

    let book = Book::open(output.as_ref()).expect("it was just made");
    let best = |moves: &str| {
        let mut line = Line::start(Variant::Standard);
        line.play_all(moves).expect("legal moves");
        let known = book.moves(line.position()).expect("it can be read");
        known.first().map(|(mv, _)| mv.to_uci(CastlingMode::Standard).to_string())
    };
    assert_eq!(best("").as_deref(), Some("e2e4"));
    assert_eq!(best("e2e4 e7e5 b1c3").as_deref(), Some("g8f6"), "the order of moves does not matter");
}

#[testkit::test]
fn invalid_move_keeps_the_old_book() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name).to_string_lossy().into_owned();
    fs::write(path("bad.txt"), "! Good\ne2e4\n! Bad\nd2d4\nd7d5 e2e5\n").expect("written");
    let mut command = concilio(&["book", "make", &path("bad.txt"), "--output", &path("book.bin")]);
    let made = command.output().expect("it starts");
    assert_eq!(made.status.code(), Some(1));
    let error = String::from_utf8_lossy(&made.stderr);
    assert!(error.contains("bad.txt:5: \"e2e5\" is no legal move of \"Bad\" after 2 plies; correct it"), "{error}");
    assert!(!folder.path().join("book.bin").exists());
}
