//! Output for people: annotated games, pages, tables, and a short text, all from the same
//! [`Report`].
//!
//! | file in the folder | contents |
//! |---|---|
//! | `index.html`, `council.html`, `games-N.html`, `game/*.html` | pages without scripts, with their style in `style.css` |
//! | `games.pgn` | every game with its annotations |
//! | `games.csv`, `moves.csv` | one line a game, one line a move |
//! | `report.json` | all figures; a later report compares itself with it |

mod board;
mod csv;
mod curve;
mod folder;
mod game_page;
mod html;
mod pages;
mod pgn;
mod text;

pub use folder::ReportFolder;
pub use game_page::study_page;
pub use html::{PALETTE, STYLE};
pub use pgn::annotated_pgn;
pub use text::{council_text, totals_text};

use std::path::PathBuf;

use bot::journal::GameRecord;
use serde::Serialize;

use crate::{
    suggest::Suggestion,
    totals::{Change, Totals},
    votes::CouncilStudy,
};

#[derive(Debug, Serialize)]
pub struct Report {
    pub judge: String,
    pub made_at: String,
    pub totals: Totals,
    pub council: CouncilStudy,
    pub changes: Vec<Change>,
    pub suggestion: Option<Suggestion>,
    /// The first page, if pages were requested.
    #[serde(skip)]
    pub index: Option<PathBuf>,
}

/// Returns a name for a game's files. Characters other than ASCII letters and digits become `-`.
fn file_stem(game: &GameRecord) -> String {
    let plain = |text: &str| -> String {
        text.chars().map(|letter| if letter.is_ascii_alphanumeric() { letter } else { '-' }).take(60).collect()
    };
    format!("{}_{}", plain(game.server.as_str()), plain(game.game.as_str()))
}
