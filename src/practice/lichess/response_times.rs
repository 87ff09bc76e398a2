//! Response times of clients: from the line that shows a player the opponent's move to the arrival of the request with the
//! answer. The time that the server itself takes before and after is not in them.

use std::{
    collections::HashMap,
    time::{Duration, Instant},
};

use domain::GameId;

const MOST_KEPT: usize = 1_000_000;

/// The response times since they were last taken.
#[derive(Debug, Default)]
pub(crate) struct ResponseTimes {
    /// Times at which the opponent's moves were shown, by the game that waits for an answer.
    shown: HashMap<GameId, Instant>,
    taken: Vec<(GameId, Duration)>,
}

impl ResponseTimes {
    /// A line with the opponent's move is about to be sent.
    pub(crate) fn shown(&mut self, game: &GameId) {
        self.shown.insert(game.clone(), Instant::now());
    }

    /// The request with a move has arrived.
    pub(crate) fn answered(&mut self, game: &GameId) {
        if let Some(shown) = self.shown.remove(game)
            && self.taken.len() < MOST_KEPT
        {
            self.taken.push((game.clone(), shown.elapsed()));
        }
    }

    pub(crate) fn take(&mut self) -> Vec<(GameId, Duration)> {
        std::mem::take(&mut self.taken)
    }
}
