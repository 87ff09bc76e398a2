//! Making a Polyglot book of lines of play in text (docs/method.md §10).
//!
//! `! Name` begins a line of play from the starting position; then come its moves, as coordinates (`e2e4`, `e7e8q`, `o-o`,
//! `o-o-o`) or in algebraic notation, separated by blanks or ends of lines:
//!
//! ```text
//! ! Four Knights
//! e2e4 e7e5 g1f3 b8c6
//! b1c3 g8f6 f1b5 f8b4 o-o o-o
//! ```

use std::{
    collections::BTreeMap,
    io::{self, Read},
};

use domain::{Line, Variant};

use super::{ENTRY, code_of, key};

/// A book in the making. A move weighs as often as it was added.
#[derive(Debug, Default)]
pub struct BookMaker {
    /// Keyed by position and move code, which is the order of the file.
    weights: BTreeMap<(u64, u16), u16>,
}

fn no_name(line: usize) -> String {
    format!("{line}: moves before the first line of play; begin it with ! and a name")
}

impl BookMaker {
    pub fn add_text(&mut self, text: &str) -> Result<(), String> {
        let mut found = Vec::new();
        let mut opening = None;
        for (number, text) in (1..).zip(text.trim_start_matches('\u{feff}').lines()) {
            if let Some(name) = text.trim_start().strip_prefix('!') {
                opening = Some((name.trim(), Line::start(Variant::Standard)));
                continue;
            }
            for word in text.split_whitespace() {
                let (name, line) = opening.as_mut().ok_or_else(|| no_name(number))?;
                let wrong = |plies: usize| {
                    let remedy = "correct it, or begin another line of play with ! and a name";
                    format!("{number}: {word:?} is no legal move of {name:?} after {plies} plies; {remedy}")
                };
                let uci = line.read_move(word).ok_or_else(|| wrong(line.ply()))?;
                let mv = uci.to_move(line.position()).map_err(|_| wrong(line.ply()))?;
                found.extend(code_of(mv).map(|code| (key(line.position()), code)));
                line.play(uci).map_err(|_| wrong(line.ply()))?;
            }
        }
        for entry in found {
            self.add(entry, 1);
        }
        Ok(())
    }

    /// Adds the moves of a book that was made before, with their weights.
    ///
    /// # Errors
    /// When it cannot be read or ends within an entry.
    pub fn add_book(&mut self, book: &mut impl Read) -> io::Result<()> {
        let mut entry = [0; ENTRY as usize];
        let mut bytes = Vec::new();
        book.read_to_end(&mut bytes)?;
        if bytes.len() % entry.len() != 0 {
            let problem = format!("{} bytes are no whole number of entries of {ENTRY}", bytes.len());
            return Err(io::Error::new(io::ErrorKind::InvalidData, problem));
        }
        for chunk in bytes.chunks_exact(entry.len()) {
            entry.copy_from_slice(chunk);
            let [a, b, c, d, e, f, g, h, code @ ..] = entry;
            let key = u64::from_be_bytes([a, b, c, d, e, f, g, h]);
            self.add((key, u16::from_be_bytes([code[0], code[1]])), u16::from_be_bytes([code[2], code[3]]));
        }
        Ok(())
    }

    fn add(&mut self, entry: (u64, u16), weight: u16) {
        let sum = self.weights.entry(entry).or_default();
        *sum = sum.saturating_add(weight);
    }

    pub fn len(&self) -> usize {
        self.weights.len()
    }

    pub fn is_empty(&self) -> bool {
        self.weights.is_empty()
    }

    /// Returns the bytes of the book's file.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        for ((key, code), weight) in &self.weights {
            bytes.extend(key.to_be_bytes());
            bytes.extend(code.to_be_bytes());
            bytes.extend(weight.to_be_bytes());
            bytes.extend([0; 4]);
        }
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faulty_lines_are_named_and_skipped() {
        let mut maker = BookMaker::default();
        let error = maker.add_text("! Bad\ne2e4 e7e6\ne4e6").expect_err("a pawn does not go there");
        assert!(error.starts_with("3: \"e4e6\" is no legal move of \"Bad\" after 2 plies; "), "{error}");
        assert_eq!(maker.add_text("\ne2e4"), Err(no_name(2)));
        assert!(maker.is_empty());
        assert!(maker.add_book(&mut [0_u8; 17].as_slice()).is_err());
    }

    #[test]
    fn byte_order_mark_is_ignored() {
        let mut maker = BookMaker::default();
        assert_eq!(maker.add_text("\u{feff}! One\ne2e4 e7e5"), Ok(()));
        assert_eq!(maker.len(), 2);
    }

    #[test]
    fn later_books_add_to_earlier_ones() {
        let mut maker = BookMaker::default();
        maker.add_text("! One\ne2e4 e7e5").expect("a good text");
        let mut second = BookMaker::default();
        second.add_book(&mut maker.to_bytes().as_slice()).expect("a good book");
        second.add_text("! Two\ne2e4 c7c5").expect("a good text");
        let weights: Vec<_> = second.weights.values().copied().collect();
        assert_eq!((second.len(), weights.iter().sum::<u16>(), weights.iter().max()), (3, 4, Some(&2)));
    }
}
