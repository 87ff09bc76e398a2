//! Searches on threads of their own, limited in time and number.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    thread,
    time::Duration,
};

use crate::player::{DraughtsPlayer, PlayerSpec};
use council::electors::Pool;
use domain::Limits;
use draughts_core::{game::Game, search::published::PublishedSettings};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot};
use tokio_util::sync::CancellationToken;

use super::{choice::Choice, opponent::Opponent};
use web::HttpProblem;

const MOST_SEARCHES: usize = 2;

/// The time a search waits for its turn. Earlier ones may be stopping at this moment.
const TURN_WITHIN: Duration = Duration::from_secs(3);

const LONGEST_SEARCH: Duration = Duration::from_secs(15);

/// The niceness of a search beside the bot's games.
const NICENESS: i32 = 10;

/// The searches of opponents, at most [`MOST_SEARCHES`] at a time. Clones share that bound.
#[derive(Clone)]
pub(crate) struct BoundedSearches {
    places: Arc<Semaphore>,
    pool: Pool,
    stop: CancellationToken,
}

/// Stops a search when its request is gone.
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

impl BoundedSearches {
    /// Councils search in the pool. Searches end early when the program ends, at `stop`.
    pub(crate) fn new(pool: Pool, stop: CancellationToken) -> Self {
        Self { places: Arc::new(Semaphore::new(MOST_SEARCHES)), pool, stop }
    }

    /// Searches an opponent's move in a game that has one. Dropping the request ends the search.
    pub(super) async fn choose(&self, opponent: Opponent, game: Game) -> Result<Choice, HttpProblem> {
        let turn = tokio::time::timeout(TURN_WITHIN, Arc::clone(&self.places).acquire_owned()).await;
        let Ok(Ok(place)) = turn else {
            return Err(HttpProblem::busy(format!(
                "{MOST_SEARCHES} draughts searches are running already; try again in some seconds"
            )));
        };
        let found = match opponent {
            Opponent::Published(settings) => self.published(settings, game, place).await?,
            Opponent::Today(player, limits) => self.today(&player, limits, game, place).await,
        };
        found.ok_or_else(|| HttpProblem::internal("the search found no move"))
    }

    async fn published(
        &self,
        settings: PublishedSettings,
        game: Game,
        place: OwnedSemaphorePermit,
    ) -> Result<Option<Choice>, HttpProblem> {
        let flag = StopFlag(Arc::default());
        let mut found = search(settings, game, Arc::clone(&flag.0), place)?;
        let found = tokio::select! {
            found = &mut found => found,
            () = tokio::time::sleep(LONGEST_SEARCH) => { flag.set(); found.await }
            () = self.stop.cancelled() => { flag.set(); found.await }
        };
        Ok(found.ok().flatten())
    }

    async fn today(
        &self,
        player: &PlayerSpec,
        limits: Limits,
        game: Game,
        _place: OwnedSemaphorePermit,
    ) -> Option<Choice> {
        let mut player = DraughtsPlayer::new(player, &self.pool);
        let mut ignored = |_: &_| ();
        let decision = self.stop.run_until_cancelled(player.decide(&game, &limits, &mut ignored)).await??;
        Some(Choice::elected(decision, game))
    }
}

/// Begins a search of 2010, which keeps its place until it ends.
fn search(
    settings: PublishedSettings,
    game: Game,
    stop: Arc<AtomicBool>,
    place: OwnedSemaphorePermit,
) -> Result<oneshot::Receiver<Option<Choice>>, HttpProblem> {
    let (sender, found) = oneshot::channel();
    let think = move || {
        // On Linux niceness belongs to the thread; elsewhere it would be the whole process's.
        #[cfg(target_os = "linux")]
        let _ = rustix::process::nice(NICENESS);
        let choice = Choice::published(settings, &game, rand::random(), &stop);
        drop(place);
        let _ = sender.send(choice);
    };
    thread::Builder::new().name("draughts".to_owned()).spawn(think).map_err(HttpProblem::internal)?;
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::page::opponent::OpponentRequest;

    /// An opponent slower than the request's patience.
    fn deep() -> Opponent {
        let request: OpponentRequest = serde_json::from_str(r#"{ "depth": 8 }"#).expect("a request");
        request.check().expect("an opponent")
    }

    fn searches(stop: CancellationToken) -> BoundedSearches {
        BoundedSearches::new(Pool::new(1), stop)
    }

    #[tokio::test(start_paused = true)]
    async fn opponent_plays_when_time_is_over() {
        let searches = searches(CancellationToken::new());
        let choice = searches.choose(deep(), Game::default()).await.expect("a move");
        assert!(choice.summary.contains("no time"));
    }

    #[tokio::test]
    async fn opponent_plays_at_shutdown() {
        let stop = CancellationToken::new();
        stop.cancel();
        let choice = searches(stop).choose(deep(), Game::default()).await.expect("a move");
        assert!(choice.summary.contains("no time"));
    }

    #[tokio::test(start_paused = true)]
    async fn full_server_is_reported() {
        let searches = searches(CancellationToken::new());
        let _taken = searches.places.acquire_many(MOST_SEARCHES as u32).await.expect("places");
        let refused = searches.choose(deep(), Game::default()).await.expect_err("no place");
        assert!(format!("{refused:?}").contains("503"), "{refused:?}");
    }

    #[tokio::test]
    async fn abandoned_search_frees_its_place() {
        let searches = searches(CancellationToken::new());
        let mut given_up = Box::pin(searches.choose(deep(), Game::default()));
        // It has begun once its place is taken.
        while searches.places.available_permits() == MOST_SEARCHES {
            assert!(futures_util::poll!(&mut given_up).is_pending());
        }
        drop(given_up);
        let all =
            tokio::time::timeout(Duration::from_secs(60), searches.places.acquire_many(MOST_SEARCHES as u32)).await;
        assert!(all.is_ok_and(|places| places.is_ok()), "the search goes on");
    }
}
