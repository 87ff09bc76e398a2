//! Opening books: reading Polyglot's `.bin` format, and making it from lines of text.
//!
//! A book is a sorted list of 16-byte entries (big-endian): key of the position, move, weight, and an unused number.
//! Positions are recognised by key, so transpositions are found however they came about. The keys are Polyglot's own, which
//! `shakmaty` computes.

mod make;

use std::{
    fs::File,
    io::{self, Read, Seek, SeekFrom},
    path::Path,
    sync::{Mutex, PoisonError},
};

use shakmaty::{CastlingMode, EnPassantMode, Move, Position, Role, uci::UciMove, zobrist::Zobrist64};

pub use make::BookMaker;

const ENTRY: u64 = 16;

/// An opened book. Entries are read on demand.
#[derive(Debug)]
pub struct Book {
    file: Mutex<File>,
    entries: u64,
}

impl Book {
    pub fn open(path: &Path) -> io::Result<Self> {
        let explain = |error: io::Error| io::Error::new(error.kind(), format!("book {}: {error}", path.display()));
        let file = File::open(path).map_err(explain)?;
        let metadata = file.metadata().map_err(explain)?;
        if !metadata.is_file() {
            return Err(explain(io::Error::new(io::ErrorKind::InvalidInput, "no file")));
        }
        let length = metadata.len();
        if length == 0 || length % ENTRY != 0 {
            let problem = format!("{length} bytes are no whole number of entries of {ENTRY}");
            return Err(explain(io::Error::new(io::ErrorKind::InvalidData, problem)));
        }
        Ok(Self { file: Mutex::new(file), entries: length / ENTRY })
    }

    /// Returns the moves of a position of any variant with their weights, heaviest first; none if the book does not know it.
    pub fn moves(&self, position: &impl Position) -> io::Result<Vec<(Move, u16)>> {
        let (known, legal) = (self.entries(key(position))?, position.legal_moves());
        let legal = |code| legal.iter().copied().find(|mv| code_of(*mv) == Some(code));
        Ok(known.into_iter().filter_map(|(code, weight)| Some((legal(code)?, weight))).collect())
    }

    /// Returns the codes of the moves under a key, with their weights, heaviest first.
    fn entries(&self, key: u64) -> io::Result<Vec<(u16, u16)>> {
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        let mut read = |index: u64| -> io::Result<(u64, u16, u16)> {
            let mut entry = [0; ENTRY as usize];
            file.seek(SeekFrom::Start(index * ENTRY))?;
            file.read_exact(&mut entry)?;
            let number = |from: usize, to: usize| entry[from..to].iter().fold(0, |n, byte| n << 8 | u64::from(*byte));
            Ok((number(0, 8), number(8, 10) as u16, number(10, 12) as u16))
        };
        // The first entry with this key or a higher one.
        let (mut low, mut high) = (0, self.entries);
        while low < high {
            let middle = low + (high - low) / 2;
            if read(middle)?.0 < key { low = middle + 1 } else { high = middle }
        }
        let mut known = Vec::new();
        for index in low..self.entries {
            let (found, code, weight) = read(index)?;
            if found != key {
                break;
            }
            known.push((code, weight));
        }
        known.sort_by_key(|(_, weight)| std::cmp::Reverse(*weight));
        Ok(known)
    }
}

fn key(position: &impl Position) -> u64 {
    position.zobrist_hash::<Zobrist64>(EnPassantMode::Legal).0
}

/// Returns the code of a move of any variant: target, origin and promotion. Castling goes to the rook's square. A drop goes from
/// its square to itself, with the piece in the place of a promotion.
fn code_of(mv: Move) -> Option<u16> {
    let number = |role: Role| role as u16 - Role::Pawn as u16;
    let (from, to, piece) = match mv.to_uci(CastlingMode::Chess960) {
        UciMove::Normal { from, to, promotion } => (from, to, promotion.map_or(0, number)),
        UciMove::Put { role, to } => (to, to, number(role)),
        UciMove::Null => return None,
    };
    Some(u16::from(to) | u16::from(from) << 6 | piece << 12)
}

#[cfg(test)]
mod tests {
    use domain::{Line, Variant};

    use super::*;

    const TEXT: &str = "! Four Knights\ne2e4 e7e5 g1f3 b8c6\nb1c3 g8f6 f1b5 f8b4 o-o o-o\n\
                        ! The same by another way\nb1c3 b8c6 g1f3 g8f6 e2e4 e7e5 f1b5\n! English\nc2c4\n";

    fn book() -> (tempfile::NamedTempFile, Book) {
        let file = tempfile::NamedTempFile::new().expect("a temporary file");
        let mut maker = BookMaker::default();
        maker.add_text(TEXT).expect("a good book");
        assert_eq!(maker.len(), 17);
        std::fs::write(file.path(), maker.to_bytes()).expect("it can be written");
        let book = Book::open(file.path()).expect("it was just made");
        (file, book)
    }

    fn after(moves: &str) -> Line {
        let mut line = Line::start(Variant::Standard);
        line.play_all(moves).expect("legal moves");
        line
    }

    fn known(book: &Book, moves: &str) -> Vec<(String, u16)> {
        let known = book.moves(after(moves).position()).expect("the file is there");
        known.iter().map(|(mv, weight)| (mv.to_uci(CastlingMode::Standard).to_string(), *weight)).collect()
    }

    #[test]
    fn book_knows_transpositions() {
        let (_file, book) = book();
        assert_eq!(known(&book, "b1c3 g8f6 e2e4 e7e5 g1f3 b8c6"), [("f1b5".to_owned(), 2)]);
        assert_eq!(known(&book, "e2e4 e7e5 g1f3 b8c6 b1c3 g8f6 f1b5 f8b4"), [("e1g1".to_owned(), 1)]);
        assert!(known(&book, "h2h4").is_empty());
    }

    #[test]
    fn variants_share_the_first_moves() {
        let (_file, book) = book();
        let mut chosen: Vec<_> = known(&book, "").into_iter().map(|(mv, _)| mv).collect();
        chosen.sort();
        assert_eq!(chosen, ["b1c3", "c2c4", "e2e4"]);
        let atomic = shakmaty::variant::Atomic::default();
        assert_eq!(book.moves(&atomic).expect("the file is there").len(), 3);
    }

    #[test]
    fn start_has_polyglots_key() {
        assert_eq!(key(after("").position()), 0x463b_9618_1691_fc9c);
    }

    #[test]
    fn what_is_no_book_is_named() {
        assert!(Book::open(Path::new("/no/such.bin")).expect_err("not there").to_string().contains("/no/such.bin"));
    }
}
