use std::{
    collections::HashSet,
    path::{Path, PathBuf},
    sync::Arc,
};

use serde::{Deserialize, Serialize};

use domain::{Line, UciMove, moves_text};
use util::values::{WholeNumber, WholeNumberOrNone};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum BookChoice {
    /// Random, in proportion to the weights.
    #[default]
    Weighted,
    /// Random, with equal chances.
    Uniform,
    /// The move of the most weight.
    Best,
}

/// The unit of the least weight of a move.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum WeightScale {
    /// The weight as in the book.
    #[default]
    None,
    /// Per cent of all weights in the position together.
    Sum,
    /// Per cent of the greatest weight in the position.
    Max,
}

util::settings! {
    pub struct BookSettings {
        /// Opening books in Polyglot's format, tried in this order. One may have its own `selection`,
        /// `min_weight` and `max_plies`:
        ///
        /// ```toml
        /// ["main.bin", { file = "gambits.bin", max_plies = 10 }]
        /// ```
        pub files: Vec<BookFile> = Vec::new(),
        /// Choice of a book's move: "weighted" or "uniform" (at random), or "best".
        pub selection: BookChoice = BookChoice::default(),
        /// The least weight of a move that is played. 1 to 65535.
        #[serde(with = "WholeNumber::<1, 65535>")]
        pub min_weight: u16 = 1,
        /// Unit of `min_weight`: "none" (the weight as it stands in the book), or per cent of the "sum"
        /// of all weights in the position or of the "max", the greatest.
        pub normalization: WeightScale = WeightScale::default(),
        /// Last ply at which books are asked. 0 to 1000.
        #[serde(with = "WholeNumber::<0, 1000>")]
        pub max_plies: usize = 24,
        /// Repeat a line of a book with which a game was lost. Otherwise no book plays its last move in
        /// that line again; the newest 500 lost games of the journal count.
        pub repeat_lost: bool = true,
    }
}

/// A book: its file alone, or with what is different in it from the other books.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged, deny_unknown_fields)]
pub enum BookFile {
    /// A book with the table's settings.
    Usual(PathBuf),
    /// A book with keys of its own; those that are not set are the table's.
    Special {
        file: PathBuf,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        selection: Option<BookChoice>,
        /// The least weight of a move that is played. 1 to 65535.
        #[serde(default, skip_serializing_if = "Option::is_none", with = "WholeNumberOrNone::<1, 65535>")]
        min_weight: Option<u16>,
        /// Last ply at which it is asked. 0 to 1000.
        #[serde(default, skip_serializing_if = "Option::is_none", with = "WholeNumberOrNone::<0, 1000>")]
        max_plies: Option<usize>,
    },
}

impl From<PathBuf> for BookFile {
    fn from(path: PathBuf) -> Self {
        Self::Usual(path)
    }
}

impl AsRef<Path> for BookFile {
    fn as_ref(&self) -> &Path {
        match self {
            Self::Usual(file) | Self::Special { file, .. } => file,
        }
    }
}

util::settings! {
    pub struct TablebaseSettings {
        /// Folders with Syzygy tables: of chess, antichess and atomic.
        pub paths: Vec<PathBuf> = Vec::new(),
        /// Pieces on the board, including kings, from which on they are asked. 2 to 7.
        #[serde(with = "WholeNumber::<2, 7>")]
        pub max_pieces: usize = 7,
        /// Use of their knowledge: "play" plays the quickest win at once, "suggest" lets the electors
        /// choose among all moves that win. Of moves that draw, or lose, they always choose among those
        /// that keep the result.
        #[serde(rename = "use")]
        pub usage: TablebaseUse = TablebaseUse::default(),
    }
}

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
    /// Creates the list from moves in UCI notation separated by blanks, all from the start of the
    /// same game.
    pub fn new(lines: impl IntoIterator<Item = String>) -> Self {
        Self(Arc::new(lines.into_iter().collect()))
    }

    /// Returns true if a game was lost with this move at the end of the book's line.
    pub(crate) fn has(&self, line: &Line, next: UciMove) -> bool {
        if self.0.is_empty() {
            return false;
        }
        let moves: Vec<UciMove> = line.moves().iter().copied().chain([next]).collect();
        self.0.contains(&moves_text(&moves))
    }
}
