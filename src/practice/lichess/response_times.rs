//! Response times of clients: from the line that shows a player the opponent's move to the arrival of the request with the
//! answer. The time that the server itself takes before and after is not in them.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use domain::GameId;

/// The number of times that are kept until they are taken.
const MOST_KEPT: usize = 1_000_000;

/// The response times since they were last taken. Cheap to clone; clones are the same list.
#[derive(Clone, Debug, Default)]
pub(crate) struct ResponseTimes(Arc<Mutex<Measured>>);

#[derive(Debug, Default)]
struct Measured {
    /// Times at which the opponent's moves were shown, by the game that waits for an answer.
    shown: HashMap<GameId, Instant>,
    taken: Vec<(GameId, Duration)>,
}

impl ResponseTimes {
    /// A line with the opponent's move is about to be sent.
    pub(crate) fn shown(&self, game: &GameId) {
        self.measured().shown.insert(game.clone(), Instant::now());
    }

    /// The request with a move has arrived.
    pub(crate) fn answered(&self, game: &GameId) {
        let mut measured = self.measured();
        if let Some(shown) = measured.shown.remove(game)
            && measured.taken.len() < MOST_KEPT
        {
            measured.taken.push((game.clone(), shown.elapsed()));
        }
    }

    /// Takes the times that were measured until now.
    pub(crate) fn take(&self) -> Vec<(GameId, Duration)> {
        std::mem::take(&mut self.measured().taken)
    }

    fn measured(&self) -> MutexGuard<'_, Measured> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
