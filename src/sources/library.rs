//! Moves without a search: opening books and endgame tablebases, asked before the council.

use std::{io, path::Path, sync::Arc};

use rand::seq::IndexedRandom as _;
use shakmaty::Position as _;

use super::{
    book::Book,
    settings::{BookChoice, BookFile, BookSettings, LostLines, TablebaseSettings, TablebaseUse, WeightScale},
};
use council::player::{Known, KnownMoves, TABLEBASE_WIN};
use domain::{Decision, Line, Score, Source, UciMove, engine_position};
use engine::{Outcome, Tablebases, VariantTablebases};

/// The books and tablebases of one player. Cheap to share; files stay open.
#[derive(Clone, Debug, Default)]
pub struct Library {
    books: Vec<OpenBook>,
    tablebases: Option<OpenTablebases>,
    lost_lines: LostLines,
}

#[derive(Clone, Debug)]
struct OpenBook {
    book: Arc<Book>,
    choice: BookChoice,
    min_weight: u16,
    scale: WeightScale,
    max_plies: usize,
}

#[derive(Clone, Debug)]
struct OpenTablebases {
    standard: Tablebases,
    variants: VariantTablebases,
    max_pieces: usize,
    usage: TablebaseUse,
}

impl Library {
    pub fn open(books: &BookSettings, tablebases: &TablebaseSettings) -> io::Result<Self> {
        Self::default().with_books(books)?.with_tablebases(tablebases)
    }

    /// Opens books in place of those that were open.
    pub fn with_books(mut self, settings: &BookSettings) -> io::Result<Self> {
        self.books = settings.files.iter().map(|file| OpenBook::open(file, settings)).collect::<io::Result<_>>()?;
        Ok(self)
    }

    #[must_use]
    pub fn with_books_of(self, other: &Self) -> Self {
        Self { books: other.books.clone(), ..self }
    }

    #[must_use]
    pub fn with_tablebases_of(self, other: &Self) -> Self {
        Self { tablebases: other.tablebases.clone(), ..self }
    }

    /// Opens Syzygy tables in place of those that were open; no folder leaves those.
    ///
    /// # Errors
    /// Names the folder that cannot be read, or holds tables of another kind.
    pub fn with_tablebases(mut self, settings: &TablebaseSettings) -> io::Result<Self> {
        if !settings.paths.is_empty() {
            settings.paths.iter().try_for_each(|path| refuse_gaviota(path))?;
            let joined = std::env::join_paths(&settings.paths).map_err(|error| io::Error::other(error.to_string()))?;
            let directories = joined.to_string_lossy();
            self.tablebases = Some(OpenTablebases {
                standard: Tablebases::open(&directories)?,
                variants: VariantTablebases::open(&directories)?,
                max_pieces: settings.max_pieces,
                usage: settings.usage,
            });
        }
        Ok(self)
    }

    /// Returns the moves of the first book that knows the position, with their weights, heaviest
    /// first. Reads files.
    pub fn book_moves(&self, line: &Line) -> Vec<(UciMove, u16)> {
        self.books.iter().filter_map(|open| open.moves(line).ok()).find(|moves| !moves.is_empty()).unwrap_or_default()
    }

    /// Returns the library for one game, without the book moves in `lost_lines`; `None` if there are neither books nor
    /// tablebases.
    pub fn for_a_game(&self, lost_lines: LostLines) -> Option<Arc<dyn KnownMoves>> {
        let is_empty = self.books.is_empty() && self.tablebases.is_none();
        (!is_empty).then(|| Arc::new(Self { lost_lines, ..self.clone() }) as _)
    }
}

impl KnownMoves for Library {
    fn look_up(&self, line: &Line) -> Option<Known> {
        match self.books.iter().find_map(|open| open.choose(line, &self.lost_lines)) {
            Some(best) => Some(Known::Decided(Box::new(Decision::without_vote(best, Source::Book)))),
            None => self.tablebases.as_ref()?.look_up(line),
        }
    }
}

impl OpenBook {
    fn open(file: &BookFile, settings: &BookSettings) -> io::Result<Self> {
        let path: &Path = file.as_ref();
        let (choice, min_weight, max_plies) = match *file {
            BookFile::Usual(_) => (None, None, None),
            BookFile::Special { selection, min_weight, max_plies, .. } => (selection, min_weight, max_plies),
        };
        Ok(Self {
            book: Arc::new(Book::open(path)?),
            choice: choice.unwrap_or(settings.selection),
            min_weight: min_weight.unwrap_or(settings.min_weight),
            scale: settings.normalization,
            max_plies: max_plies.unwrap_or(settings.max_plies),
        })
    }

    /// Returns its moves with their weights, heaviest first.
    fn moves(&self, line: &Line) -> io::Result<Vec<(UciMove, u16)>> {
        let known = self.book.moves(line.position())?.into_iter();
        Ok(known.map(|(mv, weight)| (mv.to_uci(line.castling_mode()), weight)).collect())
    }

    fn choose(&self, line: &Line, lost_lines: &LostLines) -> Option<UciMove> {
        if line.ply() >= self.max_plies {
            return None;
        }
        let known = self.moves(line).unwrap_or_else(|error| {
            tracing::warn!(%error, "cannot read a book");
            Vec::new()
        });
        let known: Vec<_> = known.into_iter().filter(|(mv, _)| !lost_lines.has(line, *mv)).collect();
        let weights = || known.iter().map(|(_, weight)| u64::from(*weight));
        let whole = match self.scale {
            WeightScale::None => 100,
            WeightScale::Sum => weights().sum(),
            WeightScale::Max => weights().max().unwrap_or_default(),
        };
        let heavy = |weight: u16| weight > 0 && u64::from(weight) * 100 >= u64::from(self.min_weight) * whole;
        let moves: Vec<_> = known.iter().filter(|(_, weight)| heavy(*weight)).collect();
        let mut lots = rand::rng();
        let chosen = match self.choice {
            BookChoice::Weighted => moves.choose_weighted(&mut lots, |(_, weight)| u32::from(*weight)).ok(),
            BookChoice::Uniform => moves.choose(&mut lots),
            BookChoice::Best => moves.first(),
        };
        chosen.map(|(mv, _)| *mv)
    }
}

impl OpenTablebases {
    fn look_up(&self, line: &Line) -> Option<Known> {
        if line.position().board().occupied().count() > self.max_pieces {
            return None;
        }
        let (outcome, moves) = self.best_moves(line)?;
        let best = *moves.first()?;
        // To an opponent without tables, drawing or losing moves are not alike.
        if moves.len() > 1 && (self.usage == TablebaseUse::Suggest || outcome != Outcome::Win) {
            return Some(Known::Among(moves));
        }
        let score = match outcome {
            Outcome::Win => TABLEBASE_WIN,
            Outcome::Draw => 0,
            Outcome::Loss => -TABLEBASE_WIN,
        };
        let decision = Decision { score: Some(Score::Cp(score)), ..Decision::without_vote(best, Source::Tablebase) };
        Some(Known::Decided(Box::new(decision)))
    }

    /// Returns the result and the moves that keep it; of a win to be played at once, only the quickest.
    fn best_moves(&self, line: &Line) -> Option<(Outcome, Vec<UciMove>)> {
        let quickest = self.usage == TablebaseUse::Play;
        if !line.variant().is_standard_rules() {
            let known = self.variants.settle(line.position(), quickest)?;
            return Some((known.outcome, known.moves.iter().map(|mv| mv.to_uci(line.castling_mode())).collect()));
        }
        let position = engine_position(line).ok()?;
        let known = self.standard.settle(&position, &position.legal_moves(), quickest)?;
        Some((known.outcome, known.moves.into_iter().filter_map(|mv| uci(line, &position, mv)).collect()))
    }
}

fn refuse_gaviota(folder: &Path) -> io::Result<()> {
    let names: Vec<String> = std::fs::read_dir(folder)
        .into_iter()
        .flatten()
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .collect();
    let syzygy = |name: &String| name.ends_with("tbw") || name.ends_with("tbz");
    let gaviota = |name: &&String| name.ends_with(".gtb") || name.ends_with(".gtb.cp4");
    match names.iter().find(gaviota) {
        Some(table) if !names.iter().any(syzygy) => {
            let folder = folder.display();
            let problem = format!(
                "{folder}: Gaviota's tables ({table}) are not read; name a folder with Syzygy's (.rtbw, .rtbz) instead"
            );
            Err(io::Error::new(io::ErrorKind::InvalidData, problem))
        }
        _ => Ok(()),
    }
}

/// The move as the line writes it, if it is legal there.
fn uci(line: &Line, position: &engine::Position, mv: engine::Move) -> Option<UciMove> {
    position.move_to_uci(mv).parse().ok().filter(|uci| line.is_legal(*uci))
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;
    use domain::Variant;

    fn line(moves: &str) -> Line {
        let mut line = Line::start(Variant::Standard);
        line.play_all(moves).expect("legal moves");
        line
    }

    /// A folder with a book of these lines of play.
    fn book_of(text: &str) -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("book.bin");
        let mut maker = crate::book::BookMaker::default();
        maker.add_text(text).expect("a good text");
        std::fs::write(&path, maker.to_bytes()).expect("a book");
        (folder, path)
    }

    fn library(settings: BookSettings) -> Library {
        Library::default().with_books(&settings).expect("opened")
    }

    fn books(files: Vec<BookFile>) -> BookSettings {
        BookSettings { files, ..BookSettings::default() }
    }

    fn move_of(known: Option<Known>) -> Option<String> {
        match known? {
            Known::Decided(decision) => Some(decision.best.to_string()),
            Known::Among(moves) => panic!("one move: {moves:?}"),
        }
    }

    fn played(library: &Library, moves: &str) -> Vec<String> {
        let mut played: Vec<String> = (0..60).filter_map(|_| move_of(library.look_up(&line(moves)))).collect();
        played.sort();
        played.dedup();
        played
    }

    #[test]
    fn book_is_played_to_its_end() {
        let (_folder, path) = book_of("! Ruy Lopez\ne2e4 e7e5 g1f3 b8c6 f1b5\n");
        let library = library(books(vec![path.into()]));
        let mut line = Line::start(Variant::Standard);
        while let Some(best) = move_of(library.look_up(&line)) {
            line.play_all(&best).expect("legal");
        }
        let played: Vec<String> = line.moves().iter().map(ToString::to_string).collect();
        assert_eq!(played.join(" "), "e2e4 e7e5 g1f3 b8c6 f1b5");
    }

    #[test]
    fn first_book_with_a_move_is_used() {
        let (_one, sharp) = book_of("! Gambit\ne2e4 e7e5 f2f4\n");
        let (_other, solid) = book_of("! Solid\ne2e4 e7e5 g1f3\n! Other\nd2d4\n");
        let text = format!("files = [{{ file = {sharp:?}, max_plies = 2 }}, {solid:?}]\nselection = \"best\"");
        let settings: BookSettings = toml::from_str(&text).expect("settings");
        assert_eq!(toml::from_str::<BookSettings>(&toml::to_string(&settings).expect("text")), Ok(settings.clone()));
        let library = library(settings);
        assert_eq!(played(&library, ""), ["e2e4"]);
        assert_eq!(played(&library, "e2e4 e7e5"), ["g1f3"], "the gambit is too deep in its book");
    }

    #[test]
    fn the_least_weight_may_be_a_share() {
        let (_folder, path) = book_of(&format!("{}! Once\nd2d4\n", "! Often\ne2e4\n".repeat(9)));
        let with = |normalization, min_weight| {
            let library = library(BookSettings { normalization, min_weight, ..books(vec![path.clone().into()]) });
            played(&library, "").len()
        };
        assert_eq!((with(WeightScale::None, 1), with(WeightScale::None, 2)), (2, 1));
        assert_eq!((with(WeightScale::Sum, 10), with(WeightScale::Sum, 11)), (2, 1));
        assert_eq!((with(WeightScale::Max, 11), with(WeightScale::Max, 12)), (2, 1));
    }

    #[test]
    fn lost_line_is_not_repeated() {
        let (_folder, path) = book_of("! One\ne2e4 e7e5 g1f3\n! Two\ne2e4 e7e5 f2f4\n");
        let mut library = library(books(vec![path.into()]));
        library.lost_lines = LostLines::new(["e2e4 e7e5 g1f3".to_owned()]);
        assert_eq!(played(&library, ""), ["e2e4"], "only its last move is to blame");
        assert_eq!(played(&library, "e2e4 e7e5"), ["f2f4"]);
        library.lost_lines = LostLines::new(["e2e4 e7e5 g1f3", "e2e4 e7e5 f2f4"].map(str::to_owned));
        assert!(library.look_up(&line("e2e4 e7e5")).is_none(), "now it is searched");
    }

    #[test]
    fn what_cannot_be_read_is_named() {
        let missing = books(vec![PathBuf::from("nowhere.bin").into()]);
        let error = Library::default().with_books(&missing).expect_err("there is none").to_string();
        assert!(error.contains("nowhere.bin"), "{error}");
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::write(folder.path().join("kqk.gtb.cp4"), "").expect("written");
        let settings = TablebaseSettings { paths: vec![folder.path().to_owned()], ..TablebaseSettings::default() };
        let error = Library::default().with_tablebases(&settings).expect_err("not ours").to_string();
        assert!(error.contains("Gaviota") && error.contains(".rtbw"), "{error}");
    }
}
