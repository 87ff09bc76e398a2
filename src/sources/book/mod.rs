//! Opening books: reading Polyglot's `.bin` format, and making it from lines of text.
//!
//! A book is a sorted list of 16-byte entries (big-endian): key of the position, move, weight, and a number we leave zero.
//! Positions are recognised by key, so transpositions are found however they came about. The keys are Polyglot's own, which
//! `shakmaty` computes.

mod make;

use std::{
    fs::File,
    io::{self, Read, Seek, SeekFrom},
    path::Path,
    sync::{Mutex, PoisonError},
};

use shakmaty::{CastlingMode, Chess, EnPassantMode, Position as _, fen::Fen, uci::UciMove, zobrist::Zobrist64};

use engine::{Move, Position, board::Role};

pub use make::{BookError, BookMaker};

const ENTRY: u64 = 16;

/// An opened book. Entries are read on demand.
#[derive(Debug)]
pub struct Book {
    file: Mutex<File>,
    entries: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BookMove {
    pub mv: Move,
    /// The weight in proportion to the position's other moves.
    pub weight: u16,
}

/// The choice among several book moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Choice {
    /// The heaviest; the first of equals.
    Best,
    /// Any, with the probability of its weight, by a random number. Equal numbers choose equal moves.
    Weighted(u64),
}

impl Book {
    /// Opens a Polyglot book.
    ///
    /// # Errors
    /// When the file cannot be read or is no book.
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

    /// The book's moves for a position, heaviest first; none if it does not know the position.
    pub fn moves(&self, position: &Position) -> io::Result<Vec<BookMove>> {
        let Some(key) = key(position) else { return Ok(Vec::new()) };
        let known = self.entries(key)?.into_iter();
        Ok(known.filter_map(|(code, weight)| decode(position, code).map(|mv| BookMove { mv, weight })).collect())
    }

    /// Returns the moves of a position of any variant, as `shakmaty` represents it.
    pub fn moves_at(&self, position: &impl shakmaty::Position) -> io::Result<Vec<(shakmaty::Move, u16)>> {
        let key: Zobrist64 = position.zobrist_hash(EnPassantMode::Legal);
        let (known, legal) = (self.entries(key.0)?, position.legal_moves());
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

    /// Returns one move of the book if it knows the position. Moves of weight zero are never
    /// chosen.
    pub fn choose(&self, position: &Position, choice: Choice) -> io::Result<Option<Move>> {
        let mut moves = self.moves(position)?;
        moves.retain(|entry| entry.weight > 0);
        Ok(match choice {
            Choice::Best => moves.first().map(|entry| entry.mv),
            Choice::Weighted(random) => {
                let total: u64 = moves.iter().map(|entry| u64::from(entry.weight)).sum();
                let mut left = random.checked_rem(total).unwrap_or(0);
                let chosen = moves.iter().find(|entry| {
                    let weight = u64::from(entry.weight);
                    let here = left < weight;
                    left = left.saturating_sub(weight);
                    here
                });
                chosen.map(|entry| entry.mv)
            }
        })
    }
}

/// Returns Polyglot's key of a position.
fn key(position: &Position) -> Option<u64> {
    let chess: Chess = position.board().to_fen().parse::<Fen>().ok()?.into_position(CastlingMode::Chess960).ok()?;
    let key: Zobrist64 = chess.zobrist_hash(EnPassantMode::Legal);
    Some(key.0)
}

/// The legal move that sixteen bits of a book mean: to (file, rank), from (file, rank), promotion, three bits each.
fn decode(position: &Position, code: u16) -> Option<Move> {
    position.legal_moves().into_iter().find(|mv| encode(*mv) == code)
}

/// Castling is the king taking its rook there, as it is here.
fn encode(mv: Move) -> u16 {
    let promotion = mv.promotion().map_or(0, Role::index) as u16;
    mv.to().index() as u16 | (mv.from().index() as u16) << 6 | promotion << 12
}

/// Returns the code of a move of any variant. A drop goes from its square to itself, and the piece
/// has the place of a promotion.
fn code_of(mv: shakmaty::Move) -> Option<u16> {
    let number = |role: shakmaty::Role| role as u16 - shakmaty::Role::Pawn as u16;
    let (from, to, piece) = match mv.to_uci(CastlingMode::Chess960) {
        UciMove::Normal { from, to, promotion } => (from, to, promotion.map_or(0, number)),
        UciMove::Put { role, to } => (to, to, number(role)),
        UciMove::Null => return None,
    };
    Some(u16::from(to) | u16::from(from) << 6 | piece << 12)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "! Four Knights\ne2e4 e7e5 g1f3 b8c6\nb1c3 g8f6 f1b5 f8b4 o-o o-o\n\
                        ! The same by another way\nb1c3 b8c6 g1f3 g8f6 e2e4 e7e5 f1b5\n! English\nc2c4\n";

    fn book() -> (tempfile::NamedTempFile, Book) {
        let mut file = tempfile::NamedTempFile::new().expect("a temporary file");
        let mut maker = BookMaker::default();
        maker.add_text(TEXT).expect("a good book");
        assert_eq!(maker.len(), 17);
        maker.write(&mut file).expect("it can be written");
        let book = Book::open(file.path()).expect("it was just made");
        (file, book)
    }

    fn after(moves: &[&str]) -> Position {
        Position::from_line("startpos", false, moves.iter().copied()).expect("legal moves")
    }

    #[test]
    fn book_knows_transpositions() {
        let (_file, book) = book();
        let crossing = after(&["b1c3", "g8f6", "e2e4", "e7e5", "g1f3", "b8c6"]);
        let known = book.moves(&crossing).expect("the file is there");
        assert_eq!(known.len(), 1);
        assert_eq!((crossing.move_to_uci(known[0].mv).as_str(), known[0].weight), ("f1b5", 2));
        let castling = after(&["e2e4", "e7e5", "g1f3", "b8c6", "b1c3", "g8f6", "f1b5", "f8b4"]);
        let chosen = book.choose(&castling, Choice::Best).expect("the file is there").expect("a known position");
        assert_eq!(castling.move_to_uci(chosen), "e1g1");
        assert_eq!(book.choose(&after(&["h2h4"]), Choice::Best).expect("the file is there"), None);
    }

    #[test]
    fn both_ways_to_ask_know_the_same() {
        let (_file, book) = book();
        let crossing = after(&["e2e4", "e7e5", "g1f3", "b8c6", "b1c3", "g8f6", "f1b5", "f8b4"]);
        let chess: Chess = crossing
            .board()
            .to_fen()
            .parse::<Fen>()
            .expect("a FEN")
            .into_position(CastlingMode::Standard)
            .expect("legal");
        let known = book.moves_at(&chess).expect("the file is there");
        let known: Vec<_> =
            known.iter().map(|(mv, weight)| (mv.to_uci(CastlingMode::Standard).to_string(), *weight)).collect();
        let ours = book.moves(&crossing).expect("the file is there");
        let ours: Vec<_> = ours.iter().map(|entry| (crossing.move_to_uci(entry.mv), entry.weight)).collect();
        assert_eq!((known.as_slice(), known.len()), (ours.as_slice(), 1));
        // The first moves are the same in other variants.
        let atomic = shakmaty::variant::Atomic::default();
        assert_eq!(book.moves_at(&atomic).expect("the file is there").len(), 3);
    }

    #[test]
    fn weighted_choice_is_reproducible() {
        let (_file, book) = book();
        let start = after(&[]);
        let choose = |n| book.choose(&start, Choice::Weighted(n)).expect("the file is there");
        assert_eq!(choose(7), choose(7));
        let mut chosen: Vec<_> = (0..3).filter_map(|n| Some(start.move_to_uci(choose(n)?))).collect();
        chosen.sort();
        assert_eq!(chosen, ["b1c3", "c2c4", "e2e4"]);
    }

    #[test]
    fn start_has_polyglots_key() {
        assert_eq!(key(&after(&[])), Some(0x463b_9618_1691_fc9c));
    }

    #[test]
    fn what_is_no_book_is_named() {
        assert!(Book::open(Path::new("/no/such.bin")).expect_err("not there").to_string().contains("/no/such.bin"));
    }
}
