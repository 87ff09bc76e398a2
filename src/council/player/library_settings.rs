//! What the settings say about books and tablebases, and what a game says about them.

use std::{
    collections::HashSet,
    path::{Path, PathBuf},
    sync::Arc,
};

use serde::{Deserialize, Serialize};

use chess::{
    Line, UciMove, moves_text,
    values::{WholeNumber, WholeNumberOrNone},
};

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

/// What the least weight of a move is measured in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum WeightScale {
    /// The weight as it stands in the book.
    #[default]
    None,
    /// Per cent of all weights in the position together.
    Sum,
    /// Per cent of the greatest weight in the position.
    Max,
}

/// The `player.book` table.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct BookSettings {
    /// Books in Polyglot's format, tried in this order.
    pub files: Vec<BookFile>,
    /// Which of a book's moves is played.
    pub selection: BookChoice,
    /// The least weight of a move that is played. 1 to 65535.
    #[serde(with = "WholeNumber::<1, 65535>")]
    pub min_weight: u16,
    /// What `min_weight` is measured in.
    pub normalization: WeightScale,
    /// How far into the game books are asked, in plies. 0 to 1000.
    #[serde(with = "WholeNumber::<0, 1000>")]
    pub max_plies: usize,
    /// Whether a book's line is played again with which a game was lost.
    pub repeat_lost: bool,
}

impl Default for BookSettings {
    fn default() -> Self {
        Self {
            files: Vec::new(),
            selection: BookChoice::default(),
            min_weight: 1,
            normalization: WeightScale::default(),
            max_plies: 24,
            repeat_lost: true,
        }
    }
}

/// A book: its file alone, or with what is different in it from the other books.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum BookFile {
    /// As the table says.
    Usual(PathBuf),
    /// With keys of its own.
    Special(SpecialBook),
}

/// A book with keys of its own; those that are not set are the table's.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SpecialBook {
    /// The book.
    pub file: PathBuf,
    /// Which of its moves is played.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub selection: Option<BookChoice>,
    /// The least weight of a move that is played. 1 to 65535.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "WholeNumberOrNone::<1, 65535>")]
    pub min_weight: Option<u16>,
    /// How far into the game it is asked, in plies. 0 to 1000.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "WholeNumberOrNone::<0, 1000>")]
    pub max_plies: Option<usize>,
}

impl From<PathBuf> for BookFile {
    fn from(path: PathBuf) -> Self {
        Self::Usual(path)
    }
}

impl AsRef<Path> for BookFile {
    fn as_ref(&self) -> &Path {
        match self {
            Self::Usual(path) => path,
            Self::Special(special) => &special.file,
        }
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
    /// What is done with what they know.
    #[serde(rename = "use")]
    pub usage: TablebaseUse,
}

impl Default for TablebaseSettings {
    fn default() -> Self {
        Self { paths: Vec::new(), max_pieces: 7, usage: TablebaseUse::default() }
    }
}

/// What is done with what tablebases know.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TablebaseUse {
    /// The quickest win is played at once; where there is none, the electors choose among the moves that keep the result.
    #[default]
    Play,
    /// The electors choose among all moves that keep the result, a win too.
    Suggest,
}

/// Lines of lost games, each up to our last move that was a book's. No book goes on with one of them once more. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub struct LostLines(Arc<HashSet<String>>);

impl LostLines {
    /// These, as moves in UCI notation with blanks between them, all from the start of the same game.
    pub fn new(lines: impl IntoIterator<Item = String>) -> Self {
        Self(Arc::new(lines.into_iter().collect()))
    }

    /// Whether a game was lost with this move at the end of the book's line.
    pub(super) fn has(&self, line: &Line, next: UciMove) -> bool {
        if self.0.is_empty() {
            return false;
        }
        let moves: Vec<UciMove> = line.moves().iter().copied().chain([next]).collect();
        self.0.contains(&moves_text(&moves))
    }
}
