//! What needs no search: opening books and endgame tablebases, asked before the council.

use std::{io, path::PathBuf, sync::Arc};

use rand::{RngExt, seq::IndexedRandom};
use serde::{Deserialize, Serialize};
use shakmaty::Position as _;

use chess::{Decision, Line, Score, Source, UciMove, engine_position, values::WholeNumber};
use engine::{Outcome, Tablebases, book::Book};

/// The value of a game that a tablebase knows to be won, in centipawns. Less than any mate.
pub const TABLEBASE_WIN: i32 = 19_000;

/// Which of a book's moves is played.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum BookChoice {
    /// By lot, in proportion to the weights.
    #[default]
    Weighted,
    /// By lot, all alike.
    Uniform,
    /// The move of the most weight.
    Best,
}

/// The `player.book` table.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct BookSettings {
    /// Books in Polyglot's format, tried in this order.
    pub files: Vec<PathBuf>,
    /// Which of a book's moves is played.
    pub selection: BookChoice,
    /// The least weight of a move that is played. 1 to 65535.
    #[serde(with = "WholeNumber::<1, 65535>")]
    pub min_weight: u16,
    /// How far into the game books are asked, in plies. 0 to 1000.
    #[serde(with = "WholeNumber::<0, 1000>")]
    pub max_plies: usize,
}

impl Default for BookSettings {
    fn default() -> Self {
        Self { files: Vec::new(), selection: BookChoice::default(), min_weight: 1, max_plies: 24 }
    }
}

/// The `player.tablebases` table.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct TablebaseSettings {
    /// Folders with Syzygy tables.
    pub paths: Vec<PathBuf>,
    /// With how many pieces on the board they are asked, kings among them. 2 to 7.
    #[serde(with = "WholeNumber::<2, 7>")]
    pub max_pieces: usize,
}

impl Default for TablebaseSettings {
    fn default() -> Self {
        Self { paths: Vec::new(), max_pieces: 7 }
    }
}

/// The books and tablebases of one player. Cheap to share; files stay open.
#[derive(Clone, Debug, Default)]
pub struct Library {
    books: Vec<Arc<Book>>,
    choice: BookChoice,
    min_weight: u16,
    max_plies: usize,
    tablebases: Option<Tablebases>,
    max_pieces: usize,
}

impl Library {
    /// Opens the books and tablebases of the settings.
    ///
    /// # Errors
    /// Names the file or folder that cannot be read.
    pub fn open(books: &BookSettings, tablebases: &TablebaseSettings) -> io::Result<Self> {
        Self::default().with_books(books)?.with_tablebases(tablebases)
    }

    /// Opens books in place of those that were open.
    ///
    /// # Errors
    /// Names the file that cannot be read.
    pub fn with_books(mut self, settings: &BookSettings) -> io::Result<Self> {
        let open = |path: &PathBuf| {
            let named = |error: io::Error| io::Error::new(error.kind(), format!("book {}: {error}", path.display()));
            Book::open(path).map(Arc::new).map_err(named)
        };
        self.books = settings.files.iter().map(open).collect::<io::Result<_>>()?;
        (self.choice, self.min_weight, self.max_plies) = (settings.selection, settings.min_weight, settings.max_plies);
        Ok(self)
    }

    /// Opens Syzygy tables in place of those that were open; no folder leaves those.
    ///
    /// # Errors
    /// Names the folder that cannot be read.
    pub fn with_tablebases(mut self, settings: &TablebaseSettings) -> io::Result<Self> {
        if !settings.paths.is_empty() {
            let joined = std::env::join_paths(&settings.paths).map_err(|error| io::Error::other(error.to_string()))?;
            self.tablebases = Some(Tablebases::open(&joined.to_string_lossy())?);
            self.max_pieces = settings.max_pieces;
        }
        Ok(self)
    }

    /// The same without its books.
    #[must_use]
    pub fn without_books(self) -> Self {
        Self { books: Vec::new(), ..self }
    }

    /// The moves of the first book that knows the position, with their weights, heaviest first. Reads files.
    pub fn book_moves(&self, line: &Line) -> Vec<(UciMove, u16)> {
        let Some(position) = line.variant().is_standard_rules().then(|| engine_position(line).ok()).flatten() else {
            return Vec::new();
        };
        let known = self.books.iter().filter_map(|book| book.moves(&position).ok()).find(|moves| !moves.is_empty());
        let moves = known.unwrap_or_default().into_iter();
        moves.filter_map(|entry| Some((uci(line, &position, entry.mv)?, entry.weight))).collect()
    }

    /// Whether there is nothing to ask.
    pub(super) fn is_empty(&self) -> bool {
        self.books.is_empty() && self.tablebases.is_none()
    }

    /// The move that a book or a tablebase knows. Reads files.
    pub(super) fn look_up(&self, line: &Line) -> Option<Decision> {
        let position = line.variant().is_standard_rules().then(|| engine_position(line).ok())??;
        self.book_move(line, &position).or_else(|| self.tablebase_move(line, &position))
    }

    fn book_move(&self, line: &Line, position: &engine::Position) -> Option<Decision> {
        if line.ply() >= self.max_plies {
            return None;
        }
        self.books.iter().find_map(|book| {
            let mut moves = book.moves(position).unwrap_or_else(|error| {
                tracing::warn!(%error, "a book cannot be read");
                Vec::new()
            });
            moves.retain(|entry| entry.weight >= self.min_weight.max(1));
            let mut lots = rand::rng();
            let chosen = match self.choice {
                BookChoice::Weighted => {
                    let total: u32 = moves.iter().map(|entry| u32::from(entry.weight)).sum();
                    let mut drawn = lots.random_range(0..total.max(1));
                    moves.iter().find(|entry| {
                        let before = drawn;
                        drawn = drawn.wrapping_sub(u32::from(entry.weight));
                        before < u32::from(entry.weight)
                    })
                }
                BookChoice::Uniform => moves.choose(&mut lots),
                BookChoice::Best => moves.iter().max_by_key(|entry| entry.weight),
            };
            let best = uci(line, position, chosen?.mv)?;
            Some(Decision::without_vote(best, Source::Book))
        })
    }

    fn tablebase_move(&self, line: &Line, position: &engine::Position) -> Option<Decision> {
        let tables = self.tablebases.as_ref()?;
        if line.position().board().occupied().count() > self.max_pieces {
            return None;
        }
        let (outcome, moves) = tables.best_moves(position, &position.legal_moves())?;
        let best = uci(line, position, *moves.first()?)?;
        let score = match outcome {
            Outcome::Win => TABLEBASE_WIN,
            Outcome::Draw => 0,
            Outcome::Loss => -TABLEBASE_WIN,
        };
        Some(Decision { score: Some(Score::Cp(score)), ..Decision::without_vote(best, Source::Tablebase) })
    }
}

/// The move as the line writes it, if it is legal there.
fn uci(line: &Line, position: &engine::Position, mv: engine::Move) -> Option<UciMove> {
    position.move_to_uci(mv).parse().ok().filter(|uci| line.is_legal(*uci))
}

#[cfg(test)]
mod tests {
    use super::*;
    use chess::Variant;

    fn books(path: PathBuf) -> BookSettings {
        BookSettings { files: vec![path], ..BookSettings::default() }
    }

    #[test]
    fn a_book_is_played_until_it_knows_no_more() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("book.bin");
        let mut file = std::fs::File::create(&path).expect("a file");
        let mut maker = engine::book::BookMaker::default();
        maker.add_text("! Ruy Lopez\ne2e4 e7e5 g1f3 b8c6 f1b5\n").expect("a good text");
        maker.write(&mut file).expect("a book");
        let library = Library::default().with_books(&books(path)).expect("opened");
        let mut line = Line::start(Variant::Standard);
        while let Some(decision) = library.look_up(&line) {
            assert_eq!(decision.source, Source::Book);
            line.play(decision.best).expect("legal");
        }
        let played: Vec<String> = line.moves().iter().map(ToString::to_string).collect();
        assert_eq!(played.join(" "), "e2e4 e7e5 g1f3 b8c6 f1b5");
    }

    #[test]
    fn a_missing_book_is_named() {
        let error = Library::default().with_books(&books("nowhere.bin".into())).expect_err("there is none").to_string();
        assert!(error.contains("nowhere.bin"), "{error}");
    }
}
