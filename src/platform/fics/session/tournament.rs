//! The tournament manager (`mamer` on freechess.org): an account that is a program, and whose lines
//! begin with a colon.

/// Returns the answer to a line of the manager's; `join` says whether its tournaments are joined.
pub(super) fn answer(line: &str, join: bool) -> Option<String> {
    // `You play white against Ann in this round of tourney #12.`
    if line.starts_with("You play ") {
        let (_, number) = line.split_once("tourney #")?;
        return read_number(number).map(|number| format!("td play {number}"));
    }
    // `| 12  | open | TM | 2 12 r SS\4 | ...`
    let mut columns = line.strip_prefix('|')?.split('|').map(str::trim);
    let number = read_number(columns.next()?)?;
    let is_open = columns.next()?.starts_with("open");
    (join && is_open).then(|| format!("td join {number}"))
}

pub(super) fn has_next_page(line: &str) -> bool {
    line.contains("\"td next\"")
}

fn read_number(text: &str) -> Option<u32> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    text.get(..digits)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tournaments_are_joined_if_wanted() {
        let round = "You play white against Ann in this round of tourney #12.";
        assert_eq!(answer(round, false).as_deref(), Some("td play 12"));
        assert_eq!(answer("| 7   | open   | TM | 2 12 r SS\\4 |", true).as_deref(), Some("td join 7"));
        assert_eq!(answer("| 7   | open   | TM | 2 12 r SS\\4 |", false), None);
        assert_eq!(answer("| 7   | closed | TM | 2 12 r SS\\4 |", true), None);
        assert_eq!(answer("mamer's tourney list:", true), None);
    }
}
