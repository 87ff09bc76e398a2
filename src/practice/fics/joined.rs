//! A visitor's board: a game played or watched, or one examined.

use std::sync::Arc;

use super::text;
use crate::state::{BoardEvent, GameView, Subscription};
use domain::GameId;

/// A game that a visitor plays or watches.
pub(crate) struct JoinedBoard {
    pub id: GameId,
    pub number: u32,
    /// The player's colour, or what it is to a watcher.
    pub relation: text::ViewerRole,
    pub events: Subscription<BoardEvent>,
    /// The view shown last.
    pub view: Option<Arc<GameView>>,
}

pub(crate) struct Examination {
    pub view: Arc<GameView>,
    /// The number of plies on the board.
    pub ply: usize,
    pub number: u32,
    /// The name under which it has its number: a finished game has none of its own.
    pub id: GameId,
}
