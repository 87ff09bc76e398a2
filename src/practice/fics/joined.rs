//! What a visitor has before him: a game that is played or watched, or one that is looked through.

use std::sync::Arc;

use super::text;
use crate::state::{BoardEvent, GameView, Subscription};
use chess::GameId;

/// A game that a visitor plays or watches.
pub(crate) struct JoinedBoard {
    pub id: GameId,
    /// Its number on this server.
    pub number: u32,
    /// The player's colour, or what it is to a watcher.
    pub relation: text::BoardRelation,
    /// What is heard there.
    pub events: Subscription<BoardEvent>,
    /// As it was shown last.
    pub view: Option<Arc<GameView>>,
}

/// A finished game that somebody looks through.
pub(crate) struct Examination {
    pub view: Arc<GameView>,
    /// How many plies are on the board.
    pub ply: usize,
    pub number: u32,
    /// The name under which it has its number: a finished game has none of its own.
    pub id: GameId,
}
