//! Opening books: where games begin. PGN or EPD/FEN, as they are or in a zip file.
//!
//! A book is opened whole and read lazily: an entry becomes an opening when a game needs it, because books have a hundred
//! thousand of them. The order is shuffled by a seed, so that any part of a match is a sample of the book.

use std::{
    collections::HashSet,
    fs,
    io::{self, Cursor, Read},
    ops::Range,
    path::Path,
    sync::Arc,
};

use rand::{SeedableRng, rngs::StdRng, seq::SliceRandom};
use shakmaty::{EnPassantMode, fen::Epd};

use super::{epd, state::fnv1a};
use domain::{Line, PgnGame, Variant};
use util::Failure;

/// A book without a file, for quick tests: the usual start, four sound moves into common openings.
const BUILT_IN: &str = include_str!("common.pgn");

#[derive(Clone, Debug)]
pub struct OpeningBook {
    text: Arc<str>,
    /// The number of each opening in the order of the file, from 1, and its place in the text.
    entries: Vec<(usize, Range<usize>)>,
    /// Moves taken of each game, in plies; `None` for a book of positions.
    plies: Option<usize>,
}

impl OpeningBook {
    /// Opens a book and shuffles it. Of games, the first `plies` moves are played.
    pub fn open(path: &Path, plies: usize, seed: u64) -> Result<Self, Failure> {
        let (name, text) =
            read_text(path).map_err(|error| Failure::failed(format_args!("book {}: {error}", path.display())))?;
        let book = Self::new(text, is_pgn(&name).then_some(plies), seed);
        if book.is_empty() {
            Err(Failure::failed(format_args!("book {}: no game and no position in it", path.display())))
        } else {
            Ok(book)
        }
    }

    pub fn built_in(seed: u64) -> Self {
        Self::new(BUILT_IN.to_owned(), Some(usize::MAX), seed)
    }

    fn new(text: String, plies: Option<usize>, seed: u64) -> Self {
        let places = if plies.is_some() { games(&text) } else { lines(&text) };
        let mut entries: Vec<_> = (1..).zip(places).collect();
        entries.shuffle(&mut StdRng::seed_from_u64(seed));
        Self { text: text.into(), entries, plies }
    }

    /// Returns the first openings of the book that lead to different positions, at most `most`. The
    /// games of a file often begin alike, and with budgets of nodes they would go on alike.
    /// Fails at the first that cannot be played.
    pub fn different(&self, most: usize) -> Result<Vec<Arc<Line>>, Failure> {
        let mut reached = HashSet::new();
        let mut is_new =
            |opening: &Arc<Line>| reached.insert(Epd::from_position(opening.position(), EnPassantMode::Legal));
        let openings = (0..self.len()).map(|place| self.opening(place));
        openings.filter(|opening| opening.as_ref().is_ok_and(&mut is_new) || opening.is_err()).take(most).collect()
    }

    pub fn len(&self) -> usize {
        self.entries.len()
    }

    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Returns the identity of a book, whatever the order of its openings.
    pub fn checksum(&self) -> u64 {
        fnv1a(self.text.as_bytes())
    }

    /// The opening at a place. After the last one the first comes again.
    pub fn opening(&self, pair: usize) -> Result<Arc<Line>, Failure> {
        let (number, place) = self.entry(pair);
        let text = &self.text[place];
        let read = self.plies.map_or_else(|| opening_of_position(text), |plies| opening_of_game(text, plies));
        read.map(Arc::new).map_err(|reason| {
            let text: String = text.chars().take(60).collect();
            Failure::failed(format_args!("book, opening {number} ({text:?}): {reason}"))
        })
    }

    /// The number of that opening in the order of the file, from 1.
    pub fn number(&self, pair: usize) -> usize {
        self.entry(pair).0
    }

    fn entry(&self, pair: usize) -> (usize, Range<usize>) {
        self.entries.get(pair % self.len().max(1)).cloned().unwrap_or_default()
    }
}

/// Returns the file's text and the name that shows its kind; of a zip those of the first file.
pub(super) fn read_text(path: &Path) -> io::Result<(String, String)> {
    let bytes = fs::read(path)?;
    let name = path.to_string_lossy().into_owned();
    if !name.to_lowercase().ends_with(".zip") {
        return Ok((name, decoded(&bytes)));
    }
    let mut archive = zip::ZipArchive::new(Cursor::new(bytes))?;
    // The zip of a folder begins with the folder itself.
    let is_file = |place: &usize| matches!(archive.name_for_index(*place), Some(Ok(name)) if !name.ends_with('/'));
    let place = (0..archive.len()).find(is_file).ok_or_else(|| io::Error::other("no file in it"))?;
    let mut file = archive.by_index(place)?;
    let mut content = Vec::new();
    file.read_to_end(&mut content)?;
    let name = file.name()?.into_owned();
    Ok((name, decoded(&content)))
}

/// Decodes bytes, without a byte order mark, which would hide the first tag.
fn decoded(bytes: &[u8]) -> String {
    let text = bytes.strip_prefix("\u{feff}".as_bytes()).unwrap_or(bytes);
    String::from_utf8_lossy(text).into_owned()
}

/// Returns true if a file of this name has games; others have positions.
pub(super) fn is_pgn(name: &str) -> bool {
    name.to_lowercase().ends_with(".pgn")
}

/// Returns every game of a PGN text: from a tag after movetext to the next.
fn games(text: &str) -> Vec<Range<usize>> {
    let mut starts = Vec::new();
    let (mut offset, mut in_tags, mut in_comment, mut after_blank) = (0, false, false, true);
    for line in text.split_inclusive('\n') {
        // A comment that is never closed ends with its game.
        in_comment &= !(after_blank && line.starts_with("[Event "));
        let tag = !in_comment && line.starts_with('[');
        if tag && !in_tags {
            starts.push(offset);
        }
        if !tag {
            in_comment = leaves_comment_open(line, in_comment);
        }
        after_blank = line.trim().is_empty();
        in_tags = tag || (in_tags && after_blank);
        offset += line.len();
    }
    let ends = starts.iter().skip(1).copied().chain([text.len()]).collect::<Vec<_>>();
    starts.into_iter().zip(ends).map(|(start, end)| start..end).collect()
}

/// Returns true if a comment in braces is open after a line of moves.
fn leaves_comment_open(line: &str, mut open: bool) -> bool {
    for letter in line.chars() {
        match (open, letter) {
            (true, '}') => open = false,
            (false, '{') => open = true,
            (false, ';') => break,
            _ => (),
        }
    }
    open
}

/// Returns every line of an EPD text that is neither empty nor a comment.
fn lines(text: &str) -> Vec<Range<usize>> {
    let mut offset = 0;
    let spans = text.split_inclusive('\n').map(|line| {
        let range = offset..offset + line.len();
        offset = range.end;
        range
    });
    let has_entry = |range: &Range<usize>| {
        let line = text[range.clone()].trim();
        !line.is_empty() && !line.starts_with('#')
    };
    spans.filter(has_entry).collect()
}

fn opening_of_position(text: &str) -> Result<Line, String> {
    match epd::read(text) {
        (records, _) if !records.is_empty() => Ok((*records[0].line).clone()),
        (_, bad) => Err(bad.first().map_or_else(|| "no position".to_owned(), |line| line.reason.clone())),
    }
}

/// The game of a PGN text, up to a number of plies.
pub(crate) fn opening_of_game(text: &str, plies: usize) -> Result<Line, String> {
    let start = |game: &PgnGame| match game.tag("FEN") {
        "" => Ok(Line::start(Variant::Standard)),
        fen => Line::from_fen(Variant::FromPosition, fen).map_err(|error| error.to_string()),
    };
    let game = PgnGame::read_all(text.as_bytes(), plies, start).next().ok_or("no game")?;
    game.map_err(|error| error.to_string())?.line
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    const TWO_GAMES: &str = "[Event \"?\"]\n[Result \"*\"]\n\n1. e4 e5 (1... c5) 2. Nf3 {fine} Nc6\n3. Bb5 *\n\n\
                             [Event \"?\"]\n[FEN \"4k3/8/8/8/8/8/8/4K2R w K - 0 1\"]\n\n1. O-O Ke7 *\n";

    fn moves(book: &OpeningBook, pair: usize) -> Vec<String> {
        book.opening(pair).expect("an opening").moves().iter().map(ToString::to_string).collect()
    }

    #[test]
    fn book_games_are_cut_after_n_plies() {
        let book = OpeningBook::new(TWO_GAMES.to_owned(), Some(3), 0);
        let mut openings = vec![moves(&book, 0), moves(&book, 1)];
        openings.sort();
        assert_eq!(openings, [vec!["e1g1", "e8e7"], vec!["e2e4", "e7e5", "g1f3"]]);
        assert_eq!(moves(&book, 2), moves(&book, 0), "after the last opening the first comes again");
    }

    #[test]
    fn transposed_openings_count_once() {
        let text: String = ["e4 e5 Nf3 Nc6", "d4 d5 c4 e6", "Nf3 Nc6 e4 e5", "e4 e5 Nf3 Nf6"]
            .map(|moves| format!("[Event \"?\"]\n\n{moves} *\n\n"))
            .concat();
        let different = |plies, most| {
            let book = OpeningBook::new(text.clone(), Some(plies), 1);
            book.different(most).expect("legal moves").len()
        };
        assert_eq!([different(4, 9), different(3, 9), different(4, 2)], [3, 3, 2]);
    }

    #[test]
    fn comment_lines_may_look_like_tags() {
        let text = "[Event \"?\"]\n\n1. e4 { [%clk 0:03:00]\n[%eval 0.3] } e5\n{\n[%clk 0:02:57]\n} 2. Nf3 *\n";
        let book = OpeningBook::new(format!("{text}\n{text}"), Some(16), 0);
        assert_eq!(book.len(), 2);
        assert_eq!(moves(&book, 1), ["e2e4", "e7e5", "g1f3"]);
    }

    #[test]
    fn open_comment_keeps_the_next_game() {
        for first in ["1. e4 ; a brace { in a comment\ne5 *", "1. e4 e5 { never closed *"] {
            let text = format!("[Event \"?\"]\n\n{first}\n\n");
            let book = OpeningBook::new(text.repeat(3), Some(16), 0);
            assert_eq!(book.len(), 3, "{first}");
        }
    }

    #[test]
    fn books_are_read_from_zip_files() -> Result<(), Failure> {
        let folder = tempfile::tempdir()?;
        let path = folder.path().join("book.epd.zip");
        let mut zip = zip::ZipWriter::new(fs::File::create(&path)?);
        // As a folder is packed.
        zip.add_directory("books/", zip::write::SimpleFileOptions::default())?;
        zip.start_file("books/book.epd", zip::write::SimpleFileOptions::default())?;
        zip.write_all(b"r1bqkbnr/1ppp1ppp/p1n5/1B2p3/4P3/5N2/PPPP1PPP/RNBQK2R w KQkq - 0 4\n\n")?;
        zip.finish()?;
        let book = OpeningBook::open(&path, 16, 1)?;
        assert_eq!(book.len(), 1);
        assert!(book.opening(7)?.fen().starts_with("r1bqkbnr/1ppp1ppp"));
        Ok(())
    }

    #[test]
    fn a_byte_order_mark_hides_no_tag() -> Result<(), Failure> {
        let folder = tempfile::tempdir()?;
        let path = folder.path().join("book.pgn");
        fs::write(&path, "\u{feff}[FEN \"4k3/8/8/8/8/8/8/4K2R w K - 0 1\"]\n\n1. O-O *\n")?;
        let book = OpeningBook::open(&path, 16, 1)?;
        assert_eq!((book.len(), moves(&book, 0)), (1, vec!["e1g1".to_owned()]));
        Ok(())
    }

    #[test]
    fn epd_comments_are_skipped() {
        let text = "# Endings\n4k3/8/8/8/8/8/8/4K2R w K - 0 1\n\n # drawn\n4k3/8/8/8/8/8/8/4K2B w - - 0 1\n";
        let book = OpeningBook::new(text.to_owned(), None, 0);
        assert_eq!(book.len(), 2);
        assert!((0..2).all(|pair| book.opening(pair).is_ok()));
    }

    #[test]
    fn openings_are_named_by_their_place() {
        let text: String = (1..=20).map(|number| format!("4k3/8/8/8/8/8/8/4K2R w K - 0 {number}\n")).collect();
        let book = OpeningBook::new(text, None, 3);
        for pair in 0..40 {
            let opening = book.opening(pair).expect("an opening").fen();
            assert!(opening.ends_with(&format!(" {}", book.number(pair))), "{opening}");
        }
    }

    #[test]
    fn seed_only_changes_the_order() {
        let text: String = (0..50).map(|i| format!("4k3/8/8/8/8/8/8/4K2R w K - 0 {}\n", i + 1)).collect();
        let order = |seed| -> Vec<String> {
            let book = OpeningBook::new(text.clone(), None, seed);
            (0..book.len()).map(|pair| book.opening(pair).expect("an opening").fen()).collect()
        };
        assert_eq!(order(1), order(1));
        assert_ne!(order(1), order(2));
        let mut sorted = order(1);
        sorted.sort();
        sorted.dedup();
        assert_eq!(sorted.len(), 50);
    }

    #[test]
    fn the_built_in_book_can_be_played() {
        let book = OpeningBook::built_in(3);
        assert!(book.len() >= 40, "{}", book.len());
        for pair in 0..book.len() {
            let opening = book.opening(pair).unwrap_or_else(|error| panic!("{error}"));
            assert!(opening.ply() >= 6, "{opening:?}");
        }
    }

    #[test]
    fn a_broken_opening_is_told() {
        let book = OpeningBook::new("[Event \"?\"]\n\n1. e4 e4 *\n".to_owned(), Some(8), 0);
        let error = book.opening(0).expect_err("no such move").to_string();
        assert!(error.contains("opening 1") && error.contains("e4 cannot be played"), "{error}");
    }
}
