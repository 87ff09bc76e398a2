//! Output on the terminal: outside texts are made harmless, and a closed output ends the program
//! cleanly.

use std::{
    borrow::Cow,
    fmt::{self, Write as _},
    io::{self, Write as _},
    process,
};

/// Escapes a text from outside for a terminal: control characters, line ends among them, and marks of the direction of writing
/// become `\u{1b}` and the like.
pub fn printable(text: &str) -> Cow<'_, str> {
    if !text.chars().any(steers) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len());
    for letter in text.chars() {
        match steers(letter) {
            true => shown.extend(letter.escape_unicode()),
            false => shown.push(letter),
        }
    }
    Cow::Owned(shown)
}

/// Escapes JSON for a terminal. Keeps its ends of lines and its meaning.
pub fn printable_json(json: &str) -> String {
    let mut shown = String::with_capacity(json.len());
    for letter in json.chars() {
        if letter != '\n' && steers(letter) {
            // Writing to a text does not fail; all these characters are in the first plane.
            let _ = write!(shown, "\\u{:04x}", u32::from(letter));
        } else {
            shown.push(letter);
        }
    }
    shown
}

/// Control characters of all kinds, Unicode's own ends of lines and paragraphs, and its marks that reorder what follows.
pub fn steers(letter: char) -> bool {
    letter.is_control()
        || matches!(letter, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Prints on standard output; see [`outln`](crate::outln).
///
/// If the reader has closed the pipe, as after `| head`, the program ends with exit code 0; if the
/// text cannot be written, as on a full disk, with one error and exit code 1.
pub fn print(text: fmt::Arguments<'_>) {
    let mut out = io::stdout().lock();
    match out.write_fmt(text).and_then(|()| out.flush()) {
        Ok(()) => (),
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => process::exit(0),
        Err(error) => {
            // If standard error is closed too, the message is lost.
            let _ = writeln!(io::stderr(), "concilio: standard output: {error}");
            process::exit(1);
        }
    }
}

/// Prints a line on standard output as `println!` does, but does not panic where it cannot: see [`print()`].
#[macro_export]
macro_rules! outln {
    () => { $crate::print(format_args!("\n")) };
    ($($text:tt)*) => { $crate::print(format_args!("{}\n", format_args!($($text)*))) };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_are_escaped() {
        assert_eq!(printable("Ann ♞ Müller"), "Ann ♞ Müller");
        assert_eq!(printable("\x1b]0;owned\x07"), "\\u{1b}]0;owned\\u{7}");
        assert_eq!(printable("a\nb\r\u{9b}2J\u{202e}x"), "a\\u{a}b\\u{d}\\u{9b}2J\\u{202e}x");
        // Arabic's letter mark turns the direction of writing, and Unicode has ends of lines of its own.
        assert_eq!(printable("\u{61c}\u{2028}\u{2029}"), "\\u{61c}\\u{2028}\\u{2029}");
    }

    #[test]
    fn escaped_json_keeps_its_meaning() {
        let json = "{\"name\": \"\u{9b}2J\u{202e}x\"}\n";
        let shown = printable_json(json);
        assert_eq!(shown, "{\"name\": \"\\u009b2J\\u202ex\"}\n");
    }
}
