//! Extended Position Description: positions with facts about them (Edwards, *Portable Game Notation Specification*,
//! 1994, section 16.2), in all the dialects that test suites are found in.
//!
//! Understood beside the standard: a full FEN of six fields before the operations; a semicolon after the position; move
//! counters glued to the en-passant field (`-1 12`); moves in UCI notation, with `0-0`, with marks (`Qd1 +`, `Rxf7!`) or
//! with commas between them; identifiers without quotes; quoted texts that run over the end of a line.
//! Lines that cannot be understood are left out and listed with their numbers.

use std::sync::Arc;

use domain::{Line, UciMove, Variant};

#[derive(Clone, Debug)]
pub struct EpdRecord {
    /// The number of its line in the file, from 1.
    pub number: usize,
    /// The position, as a line without moves.
    pub line: Arc<Line>,
    /// Operation codes with their operands, quotes taken off, in the order of the file.
    operations: Vec<(String, String)>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadLine {
    /// Counted from 1.
    pub number: usize,
    pub reason: String,
}

const NO_POSITION: &str = "no position (expected the four fields of EPD or the six of FEN)";

impl EpdRecord {
    pub fn operand(&self, code: &str) -> Option<&str> {
        self.operations.iter().find(|(name, _)| name == code).map(|(_, operand)| operand.as_str())
    }

    /// The moves that an operation such as `bm` names; none if it is not there.
    pub fn moves(&self, code: &str) -> Result<Vec<UciMove>, String> {
        let texts = self.operand(code).unwrap_or_default().split([' ', '\t', ',']);
        let marks = ['+', '#', '!', '?'];
        texts
            .map(|text| text.trim_matches(marks))
            .filter(|text| !text.is_empty())
            .map(|text| self.line.read_move(text).ok_or_else(|| format!("{code} {text:?}: no legal move here")))
            .collect()
    }
}

pub fn read(text: &str) -> (Vec<EpdRecord>, Vec<BadLine>) {
    let (mut records, mut bad) = (Vec::new(), Vec::new());
    for (number, line) in logical_lines(text) {
        match record(number, &line) {
            Ok(record) => records.push(record),
            Err(reason) => bad.push(BadLine { number, reason }),
        }
    }
    (records, bad)
}

/// Lines that say something, with their numbers; a quoted text that runs over a line's end is put together again.
fn logical_lines(text: &str) -> Vec<(usize, String)> {
    let mut lines: Vec<(usize, String)> = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        let line = line.trim_start_matches('\u{feff}').trim();
        let open = lines.last().is_some_and(|(_, last)| last.matches('"').count() % 2 == 1);
        match lines.last_mut() {
            Some((_, last)) if open && !begins_with_board(line) => {
                last.push(' ');
                last.push_str(line);
            }
            _ if line.is_empty() || line.starts_with('#') => {}
            _ => lines.push((number, line.to_owned())),
        }
    }
    lines
}

fn begins_with_board(line: &str) -> bool {
    line.split_ascii_whitespace().next().is_some_and(|word| word.matches('/').count() == 7)
}

fn record(number: usize, text: &str) -> Result<EpdRecord, String> {
    let mut rest = text;
    let mut fields = Vec::new();
    for _ in 0..4 {
        fields.push(field(&mut rest).ok_or(NO_POSITION)?);
    }
    let mut counters = Vec::new();
    if let Some(glued) = fields[3].strip_prefix('-').filter(|glued| glued.parse::<u32>().is_ok()) {
        counters.push(glued);
        fields[3] = "-";
    }
    while counters.len() < 2 {
        let mut ahead = rest;
        let Some(counter) = field(&mut ahead).filter(|word| word.parse::<u32>().is_ok()) else { break };
        counters.push(counter);
        rest = ahead;
    }
    let operations = operations(rest);
    let operation = |code: &str| operations.iter().find(|(name, _)| name == code).map(|(_, value)| value.as_str());
    let halfmoves = counters.first().copied().or_else(|| operation("hmvc")).unwrap_or("0");
    let fullmoves = counters.get(1).copied().or_else(|| operation("fmvn")).unwrap_or("1");
    let fen = format!("{} {halfmoves} {fullmoves}", fields.join(" "));
    let line = Line::from_fen(Variant::FromPosition, &fen).map_err(|error| error.to_string())?;
    Ok(EpdRecord { number, line: Arc::new(line), operations })
}

/// Takes the next word, which ends at a blank or before a semicolon.
fn field<'a>(rest: &mut &'a str) -> Option<&'a str> {
    let text = rest.trim_start();
    let end = text.find(|letter: char| letter.is_whitespace() || letter == ';').unwrap_or(text.len());
    let (word, left) = text.split_at(end);
    *rest = left;
    (!word.is_empty()).then_some(word)
}

/// Splits at semicolons outside quotes, and each part into code and operand.
fn operations(text: &str) -> Vec<(String, String)> {
    let mut quoted = false;
    let parts = text.split(move |letter| {
        quoted ^= letter == '"';
        letter == ';' && !quoted
    });
    parts
        .map(str::trim)
        .filter(|part| !part.is_empty())
        .map(|part| {
            let (code, operand) = part.split_once(char::is_whitespace).unwrap_or((part, ""));
            (code.to_owned(), operand.trim().trim_matches('"').to_owned())
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn one(text: &str) -> EpdRecord {
        let (records, bad) = read(text);
        assert!(records.len() == 1 && bad.is_empty(), "{bad:?}");
        records.into_iter().next().expect("one record")
    }

    fn best(text: &str) -> Vec<String> {
        one(text).moves("bm").expect("moves").iter().map(ToString::to_string).collect()
    }

    #[test]
    fn all_suite_dialects_are_read() {
        let standard = "2rr3k/pp3pp1/1nnqbN1p/3pN3/2pP4/2P3Q1/PPB4P/R4RK1 w - - bm Qg6; id \"WAC.001\";";
        assert_eq!(best(standard), ["g3g6"]);
        assert_eq!(one(standard).operand("id"), Some("WAC.001"));
        // Bratko–Kopec: a semicolon after the position, a check apart from its move, an identifier without quotes.
        let kopec = "1k1r4/pp1b1R2/3q2pp/4p3/2B5/4Q3/PPP2B2/2K5 b - - ; bm Qd1 + ; id BK.01 ";
        assert_eq!((best(kopec), one(kopec).operand("id")), (vec!["d6d1".to_owned()], Some("BK.01")));
        // Kaufman: six fields, or the counters glued to the en-passant field.
        assert_eq!(best("rn1qkb1r/pp2pppp/5n2/3p1b2/3P4/2N1P3/PP3PPP/R1BQKBNR w KQkq - 0 1 ; bm Qb3 "), ["d1b3"]);
        let glued = one("r1bqrnk1/pp2bp1p/2p2np1/3p2B1/3P4/2NBPN2/PPQ2PPP/1R3RK1 w - -1 12 ; bm b4 ");
        assert!(glued.line.fen().ends_with("- - 1 12"), "{}", glued.line.fen());
        // Moves in coordinates, castling with zeros, commas.
        let castles = "r3k2r/8/8/8/8/8/8/R3K2R w KQkq - bm 0-0, e1c1 a1a8!;";
        assert_eq!(best(castles), ["e1g1", "e1c1", "a1a8"]);
    }

    #[test]
    fn quoted_text_may_span_lines() {
        let two = "8/8/1p1K4/Pp6/2k1p3/8/1P6/8 w - - bm a6; c0 \"Kubbel 1927, 1 ... e3\na8/Q e1/Q; wins\"; id \"6\";\n\
                   8/1p5k/1P1p4/3p4/3Pp2p/2K1P2p/7P/8 w - - bm Kb2; id \"7\";";
        let (records, bad) = read(two);
        assert_eq!(bad, []);
        assert_eq!(records.iter().map(|record| record.number).collect::<Vec<_>>(), [1, 3]);
        assert_eq!(records[0].operand("c0"), Some("Kubbel 1927, 1 ... e3 a8/Q e1/Q; wins"));
    }

    #[test]
    fn bad_lines_are_numbered_and_skipped() {
        let text = "# a comment\n\nnonsense\n8/8/8/8/8/8/8/8 w - - bm e4;\n4k3/8/8/8/8/8/8/4K2R w - - bm Rh8+;";
        let (records, bad) = read(text);
        assert_eq!(bad.iter().map(|line| line.number).collect::<Vec<_>>(), [3, 4]);
        assert_eq!(bad[0].reason, NO_POSITION);
        assert_eq!(records.len(), 1);
        let wrong = one("4k3/8/8/8/8/8/8/4K2R w - - bm Rh8 Rg9;").moves("bm");
        assert_eq!(wrong, Err("bm \"Rg9\": no legal move here".to_owned()));
    }

    proptest! {
        #[test]
        fn no_text_panics(text in "[rnbqkpRNBQKP1-8/ wb;\"a-h0-9-]{0,120}\n?.{0,40}") {
            let (records, _) = read(&text);
            for record in records {
                let _ = record.moves("bm");
            }
        }
    }
}
