//! Meanings of the lines of a server: `golden/messages.txt` holds the lines, `golden/meanings.txt` how each is read.
//! After a wanted change, `CONCILIO_BLESS=1 cargo test -p concilio-platform --test fics` writes the second file anew.

use platform::fics::message::FicsMessage;

#[testkit::test]
fn every_line_means_what_it_did() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fics/golden");
    let lines = std::fs::read_to_string(format!("{folder}/messages.txt")).expect("the lines");
    let read: String =
        lines.lines().map(|line| format!("{line}\n    {:?}\n", FicsMessage::read(line.to_owned()))).collect();
    let file = format!("{folder}/meanings.txt");
    if std::env::var_os("CONCILIO_BLESS").is_some() {
        std::fs::write(&file, &read).expect("a writable file");
    }
    let known = std::fs::read_to_string(&file).expect("the meanings");
    for (is, was) in read.lines().zip(known.lines()) {
        assert_eq!(is, was);
    }
    assert_eq!(read.lines().count(), known.lines().count());
}
