//! Names of players, which are data from the server: they become part of commands, so only what can be a name is read as one.

/// No server of this family has names this long.
const LONGEST: usize = 32;

/// True if `text` can be a player's name: letters and digits, a letter first. Anything else would be another word of a command, an
/// offer's number, or a command of its own.
pub(in crate::fics) fn is_name(text: &str) -> bool {
    text.len() <= LONGEST
        && text.as_bytes().first().is_some_and(u8::is_ascii_alphabetic)
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_letters_and_digits() {
        for name in ["Ann", "GuestZHMG", "resign", "Bob2"] {
            assert!(is_name(name), "{name}");
        }
        let long = "a".repeat(LONGEST + 1);
        for text in ["", "17", "evil;resign", "an n", "-", "Ann\n", "Ann(C)", "\u{e9}ve", long.as_str()] {
            assert!(!is_name(text), "{text:?}");
        }
    }
}
