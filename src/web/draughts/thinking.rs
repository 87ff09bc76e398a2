//! A search on a thread of its own: so long and no longer, and only so many at a time.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    thread,
    time::Duration,
};

use draughts::game::Game;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot};
use tokio_util::sync::CancellationToken;

use super::opponent::{Choice, Opponent};
use crate::problem::HttpProblem;

/// How many opponents may think at a time.
const MOST_SEARCHES: usize = 2;

/// How long a search waits for its turn. Those before it may be told to stop at this moment.
const TURN_WITHIN: Duration = Duration::from_secs(3);

/// How long an opponent thinks at most.
const LONGEST_SEARCH: Duration = Duration::from_secs(15);

/// How much a search gives way to the games that the bot plays.
const NICENESS: i32 = 10;

/// Where opponents think. Clones are the same room.
#[derive(Clone)]
pub(crate) struct ThinkingRoom {
    places: Arc<Semaphore>,
    stop: CancellationToken,
}

/// Tells a search to stop when nobody waits for it any more.
struct StopFlag(Arc<AtomicBool>);

impl StopFlag {
    fn set(&self) {
        self.0.store(true, Relaxed);
    }
}

impl Drop for StopFlag {
    fn drop(&mut self) {
        self.set();
    }
}

impl ThinkingRoom {
    /// Searches end early when the program ends, at `stop`.
    pub(crate) fn new(stop: CancellationToken) -> Self {
        Self { places: Arc::new(Semaphore::new(MOST_SEARCHES)), stop }
    }

    /// Has an opponent choose a move in a game that has one. Whoever gives up waiting ends the search.
    ///
    /// # Errors
    /// A 503 where too many think already.
    pub(super) async fn choose(&self, opponent: Opponent, game: Game) -> Result<Choice, HttpProblem> {
        let turn = tokio::time::timeout(TURN_WITHIN, Arc::clone(&self.places).acquire_owned()).await;
        let Ok(Ok(place)) = turn else {
            return Err(HttpProblem::busy(format!(
                "{MOST_SEARCHES} games of draughts are being thought about already; ask again in some seconds"
            )));
        };
        let flag = StopFlag(Arc::default());
        let mut found = search(opponent, game, Arc::clone(&flag.0), place)?;
        let found = tokio::select! {
            found = &mut found => found,
            () = tokio::time::sleep(LONGEST_SEARCH) => { flag.set(); found.await }
            () = self.stop.cancelled() => { flag.set(); found.await }
        };
        found.ok().flatten().ok_or_else(|| HttpProblem::internal("the search found no move"))
    }
}

/// Begins a search, which keeps its place until it ends.
fn search(
    opponent: Opponent,
    game: Game,
    stop: Arc<AtomicBool>,
    place: OwnedSemaphorePermit,
) -> Result<oneshot::Receiver<Option<Choice>>, HttpProblem> {
    let (sender, found) = oneshot::channel();
    let think = move || {
        // On Linux niceness belongs to the thread; elsewhere it would be the whole process's.
        #[cfg(target_os = "linux")]
        let _ = rustix::process::nice(NICENESS);
        let choice = opponent.choose(&game, rand::random(), &stop);
        drop(place);
        let _ = sender.send(choice);
    };
    thread::Builder::new().name("draughts".to_owned()).spawn(think).map_err(HttpProblem::internal)?;
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::draughts::opponent::OpponentRequest;

    /// An opponent that is not ready before somebody's patience is.
    fn deep() -> Opponent {
        let request: OpponentRequest = serde_json::from_str(r#"{ "depth": 8 }"#).expect("a request");
        request.check().expect("an opponent")
    }

    #[tokio::test(start_paused = true)]
    async fn an_opponent_plays_what_it_has_found_when_its_time_is_over() {
        let room = ThinkingRoom::new(CancellationToken::new());
        let choice = room.choose(deep(), Game::default()).await.expect("a move");
        assert!(!choice.in_full);
    }

    #[tokio::test]
    async fn an_opponent_plays_what_it_has_found_when_the_program_ends() {
        let stop = CancellationToken::new();
        stop.cancel();
        let choice = ThinkingRoom::new(stop).choose(deep(), Game::default()).await.expect("a move");
        assert!(!choice.in_full);
    }

    #[tokio::test(start_paused = true)]
    async fn where_all_places_are_taken_it_is_said() {
        let room = ThinkingRoom::new(CancellationToken::new());
        let _taken = room.places.acquire_many(MOST_SEARCHES as u32).await.expect("places");
        let refused = room.choose(deep(), Game::default()).await.expect_err("no place");
        assert!(format!("{refused:?}").contains("503"), "{refused:?}");
    }

    #[tokio::test]
    async fn a_search_that_nobody_waits_for_any_more_gives_its_place_back() {
        let room = ThinkingRoom::new(CancellationToken::new());
        let mut given_up = Box::pin(room.choose(deep(), Game::default()));
        // It has begun once its place is taken.
        while room.places.available_permits() == MOST_SEARCHES {
            assert!(futures_util::poll!(&mut given_up).is_pending());
        }
        drop(given_up);
        let all = room.places.acquire_many(MOST_SEARCHES as u32).await;
        assert!(all.is_ok());
    }
}
