//! What people look at: annotated games, pages, tables, and a short text. Everything is written from the same [`Report`].
//!
//! | file in the folder | what |
//! |---|---|
//! | `index.html`, `council.html`, `games-N.html`, `game/*.html` | pages that need no script, with their look in `style.css` |
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

pub use folder::{OutputError, ReportFolder};
pub use pgn::annotated_pgn;
pub use text::{council_text, totals_text};

use bot::journal::GameRecord;
use serde::Serialize;

use crate::{
    suggest::Suggestion,
    totals::{Change, Totals},
    votes::CouncilStudy,
};

/// All figures of a report.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// Who judged, and with what effort.
    pub judge: String,
    /// When it was made.
    pub made_at: String,
    /// All games together.
    pub totals: Totals,
    /// The council.
    pub council: CouncilStudy,
    /// What changed since the report that was in the folder before.
    pub changes: Vec<Change>,
    /// The rule that would have done best, where one was asked for.
    pub suggestion: Option<Suggestion>,
}

/// A name for a game's files: what comes from a server is reduced to harmless characters.
fn file_stem(game: &GameRecord) -> String {
    let plain = |text: &str| -> String {
        text.chars().map(|letter| if letter.is_ascii_alphanumeric() { letter } else { '-' }).take(60).collect()
    };
    format!("{}_{}", plain(game.server.as_str()), plain(game.game.as_str()))
}
