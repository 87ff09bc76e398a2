//! Finished games studied while no game runs. The start of a game stops the searches.

use std::{
    collections::HashSet,
    path::PathBuf,
    sync::{
        Arc, Condvar, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    thread,
    time::Duration,
};

use crate::{ReportProgress, ReportRequest, judge::give_way, make_report};
use util::{Failure, values::WholeNumber};

/// The delay after the last game: another often follows at once.
const CALM: Duration = Duration::from_secs(5);

util::settings! {
    /// The `report` table: games studied while nothing is played.
    #[derive(Eq)]
    pub struct ReportSettings {
        /// Judge finished games while none is played. Then `concilio report` has nothing left to
        /// search.
        pub when_idle: bool = false,
        /// The UCI engine that judges; empty is the built-in one.
        pub engine: PathBuf = PathBuf::new(),
        /// Nodes a position. 100 to 1000000000.
        #[serde(with = "WholeNumber::<100, 1_000_000_000>")]
        pub nodes: u64 = 20_000,
        /// The folder of the pages, made anew when games were judged; empty writes none.
        pub output: PathBuf = PathBuf::new(),
    }
}

/// The handle of the thread. Dropping it ends the thread.
#[derive(Debug)]
pub struct IdleStudy(Arc<IdleShared>);

#[derive(Debug)]
struct IdleShared {
    state: Mutex<IdleState>,
    changed: Condvar,
    /// Stops the searches. It stays set until the next study begins: a short game may end before a
    /// search has looked at it.
    stop: AtomicBool,
}

#[derive(Debug, Default)]
struct IdleState {
    games: HashSet<String>,
    /// True if games have ended since the last study.
    due: bool,
    ended: bool,
}

impl Drop for IdleStudy {
    fn drop(&mut self) {
        self.0.change(|state| state.ended = true);
    }
}

impl IdleShared {
    fn state(&self) -> MutexGuard<'_, IdleState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes the state, and stops the searches if a game runs or the study ends.
    fn change(&self, change: impl FnOnce(&mut IdleState)) {
        let mut state = self.state();
        change(&mut state);
        if state.ended || !state.games.is_empty() {
            self.stop.store(true, Relaxed);
        }
        self.changed.notify_all();
    }

    /// Waits until a study is due and no game runs; returns `false` at the end.
    fn wait(&self, calm: Duration) -> bool {
        let mut state = self.state();
        loop {
            let ready = |state: &IdleState| state.due && state.games.is_empty();
            while !state.ended && !ready(&state) {
                state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
            }
            if state.ended {
                return false;
            }
            let (later, timeout) = self.changed.wait_timeout(state, calm).unwrap_or_else(PoisonError::into_inner);
            state = later;
            if timeout.timed_out() && !state.ended && ready(&state) {
                state.due = false;
                self.stop.store(false, Relaxed);
                return true;
            }
        }
    }
}

impl IdleStudy {
    /// Starts the thread, which studies the games of `request` whenever no game runs, and calls
    /// `studied` after each complete study. Errors are logged; the next game starts
    /// another study.
    pub fn start(request: ReportRequest, studied: impl Fn() + Send + 'static) -> std::io::Result<Self> {
        Self::start_after(request, CALM, studied)
    }

    fn start_after(
        request: ReportRequest,
        calm: Duration,
        studied: impl Fn() + Send + 'static,
    ) -> std::io::Result<Self> {
        let state = IdleState { due: true, ..IdleState::default() };
        let shared =
            Arc::new(IdleShared { state: Mutex::new(state), changed: Condvar::new(), stop: AtomicBool::new(false) });
        let own = Arc::clone(&shared);
        thread::Builder::new().name("idle study".to_owned()).spawn(move || {
            give_way();
            while own.wait(calm) {
                match study_once(&request, &own.stop) {
                    Ok(true) => studied(),
                    Ok(false) => {
                        tracing::debug!("the study of finished games gives way to a game");
                        own.change(|state| state.due = true);
                    }
                    Err(error) => tracing::warn!(%error, "studies are disabled"),
                }
            }
        })?;
        Ok(Self(shared))
    }

    /// Notes the start of a game, named `game`: searches end at once.
    pub fn game_started(&self, game: &str) {
        self.0.change(|state| _ = state.games.insert(game.to_owned()));
    }

    /// Treats all running games as over, after missed events.
    pub fn forget_games(&self) {
        self.0.change(|state| {
            state.games.clear();
            state.due = true;
        });
    }

    pub fn game_over(&self, game: &str) {
        self.0.change(|state| {
            state.games.remove(game);
            state.due = true;
        });
    }
}

/// Studies all games not studied yet; returns `false` if a game has begun before the end.
fn study_once(request: &ReportRequest, stop: &AtomicBool) -> Result<bool, Failure> {
    let mut searching = false;
    let mut progress = |at: ReportProgress| {
        if !searching && at.positions < at.of_positions {
            searching = true;
            tracing::debug!(games = at.of, "finished games are being judged");
        }
    };
    Ok(make_report(request, stop, &mut progress, &mut |_| ())?.is_some())
}

#[cfg(test)]
mod tests {
    use std::{num::NonZeroUsize, sync::mpsc};

    use super::*;
    use crate::judge::{JudgeEffort, JudgeSpec};
    use bot::journal::{Filter, Journal, JournalSettings};

    const PATIENCE: Duration = Duration::from_secs(60);

    #[test]
    fn short_games_stop_searches() {
        let (state, changed) = (Mutex::default(), Condvar::new());
        let shared = IdleShared { state, changed, stop: AtomicBool::new(false) };
        shared.change(|state| _ = state.games.insert("one".to_owned()));
        shared.change(|state| {
            state.games.clear();
            state.due = true;
        });
        assert!(shared.stop.load(Relaxed), "the game is over, the study was told to stop");
        assert!(shared.wait(Duration::ZERO) && !shared.stop.load(Relaxed), "the next one begins afresh");
    }

    #[test]
    fn idle_study_gives_way_to_games() {
        let directory = tempfile::tempdir().expect("a directory");
        let settings = JournalSettings { path: directory.path().join("journal.db"), ..JournalSettings::default() };
        let _daemon = Journal::open(&settings).expect("a journal");
        let request = ReportRequest {
            journal: settings.path,
            filter: Filter::default(),
            judge: JudgeSpec::own(JudgeEffort::Nodes(500)),
            threads: NonZeroUsize::MIN,
            tables: None,
            output: None,
            suggest: false,
        };
        let (tell, studied) = mpsc::channel();
        let study = IdleStudy::start_after(request, Duration::ZERO, move || _ = tell.send(())).expect("a thread");
        studied.recv_timeout(PATIENCE).expect("games in the journal are studied at the start");

        study.game_started("one");
        study.game_started("two");
        assert!(study.0.stop.load(Relaxed), "searches are told to stop at once");
        study.game_over("one");
        assert!(study.0.stop.load(Relaxed), "another one runs");
        assert!(studied.try_recv().is_err());
        study.game_over("two");
        studied.recv_timeout(PATIENCE).expect("both are studied when the last is over");

        drop(study);
        assert!(studied.recv_timeout(PATIENCE).is_err(), "the thread ends with its handle");
    }
}
