//! The practice server of the page, with the accounts of council and browser.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use tokio_util::sync::CancellationToken;

use super::MOST_GAMES;
use crate::{WebContext, problem::HttpProblem};
use bot::session::{self, AccountPolicy, Connection, Control, PreparedPlayer, Runtime, ShutdownGames};
use domain::{GameId, GameInfo};
use platform::lichess::{self, LichessSettings, Token};
use practice::{AccountId, ChallengeTerms, GamePatience, PracticeServer, PracticeSettings, ServerState};
use util::{Failure, Shutdown};

/// The name of the account in the overview and in the journal.
pub(super) const SERVER: &str = "page";

const COUNCIL: &str = "Concilio";

const GUEST: &str = "Guest";

/// The time after which an abandoned game is lost, so that it keeps no place.
const ABANDONED_AFTER: Duration = Duration::from_mins(5);

pub(super) struct PlayStage {
    server: PracticeServer,
    /// Known before the start of a game.
    players: Arc<Mutex<HashMap<GameId, Arc<PreparedPlayer>>>>,
}

/// Connects an account of a practice server, under `name`, through the client that talks to Lichess.
pub fn connect_to_practice(
    name: &str,
    server: &PracticeServer,
    token: &str,
    stop: CancellationToken,
) -> Result<Connection, Failure> {
    let unreachable =
        |error: &dyn std::fmt::Display| Failure::failed(format_args!("the practice server cannot be reached: {error}"));
    let url = server.url().parse().map_err(|error| unreachable(&error))?;
    let token = Token::parse(token, "the practice server").map_err(|error| unreachable(&error))?;
    let settings = LichessSettings { url, ..LichessSettings::default() };
    let (lichess, events) = lichess::connect(settings, token, stop.clone()).map_err(|error| unreachable(&error))?;
    Ok(Connection { name: name.into(), server: Arc::new(lichess), events, stop })
}

impl PlayStage {
    pub(super) async fn begin(context: &WebContext, stop: &CancellationToken) -> Result<Self, Failure> {
        let patience = GamePatience { abandoned_after: Some(ABANDONED_AFTER), ..GamePatience::default() };
        let failed = |error: practice::PracticeError| Failure::failed(format_args!("the practice server: {error}"));
        let settings = PracticeSettings { patience, ..PracticeSettings::default() };
        let server = PracticeServer::start(settings).await.map_err(failed)?;
        let token = server.add_account(COUNCIL, true).await.map_err(failed)?;
        server.add_account(GUEST, false).await.map_err(failed)?;
        let stage = Self { server, players: Arc::default() };
        let shutdown = Shutdown { drain: stop.child_token(), now: stop.child_token() };
        let connection = connect_to_practice(SERVER, &stage.server, &token, shutdown.now.child_token())?;
        let runtime = stage.runtime(context, &shutdown)?;
        tokio::spawn(session::play(connection, runtime, shutdown));
        stage.server.wait_until_online(COUNCIL).await.map_err(failed)?;
        Ok(stage)
    }

    fn runtime(&self, context: &WebContext, shutdown: &Shutdown) -> Result<Runtime, Failure> {
        let usual = Arc::new(PreparedPlayer::new(context.player.borrow().clone())?);
        let players = Arc::clone(&self.players);
        let choose = move |game: &GameInfo| {
            let known = players.lock().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(known.get(&game.id).unwrap_or(&usual))
        };
        // The browser may play on any terms.
        let policy = AccountPolicy::among_friends(GUEST, MOST_GAMES);
        Ok(Runtime {
            pool: context.pool.clone(),
            event_bus: context.event_bus.clone(),
            policy: Arc::new(AccountPolicy { games_at_shutdown: ShutdownGames::Resign, ..policy }),
            control: Control::new(shutdown.clone()),
            ..Runtime::new(context.journal.clone(), Arc::new(choose))
        })
    }

    pub(super) async fn running(&self) -> Result<usize, HttpProblem> {
        let running = self.ask(|state| state.running_games().len()).await?;
        let mut players = self.players.lock().unwrap_or_else(PoisonError::into_inner);
        if running == 0 {
            players.clear();
        }
        Ok(running)
    }

    pub(super) async fn challenge(
        &self,
        player: Arc<PreparedPlayer>,
        terms: ChallengeTerms,
    ) -> Result<GameId, HttpProblem> {
        let players = Arc::clone(&self.players);
        let challenged = self.ask(move |state| {
            let challenge = state.challenge(&AccountId::of(GUEST), &AccountId::of(COUNCIL), terms, true)?;
            let game = GameId::from(&challenge.id);
            // The council learns of the challenge after this.
            players.lock().unwrap_or_else(PoisonError::into_inner).insert(game.clone(), player);
            Ok::<_, practice::Denied>(game)
        });
        let game = challenged.await?.map_err(|denied| HttpProblem::bad(denied.to_string()))?;
        let (awaited, challenge) = (game.clone(), game.as_str().into());
        let begun = self.server.wait(move |state| {
            let begun = state.game_view(&awaited).is_some();
            let open = state.challenge_view(&challenge).is_some_and(|challenge| challenge.state.is_open());
            (begun || !open).then_some(begun)
        });
        match begun.await.map_err(HttpProblem::internal)? {
            true => Ok(game),
            false => Err(HttpProblem::busy("the council declined the game")),
        }
    }

    pub(super) async fn ask<T: Send + 'static>(
        &self,
        job: impl FnOnce(&mut ServerState) -> T + Send + 'static,
    ) -> Result<T, HttpProblem> {
        self.server.ask(job).await.map_err(HttpProblem::internal)
    }
}

pub(super) fn guest() -> AccountId {
    AccountId::of(GUEST)
}
