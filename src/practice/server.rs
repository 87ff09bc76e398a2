//! The practice server as a whole: its state, both protocols and its sparring players, behind one handle.

use std::{future::Future, io, net::SocketAddr, sync::Arc, time::Duration};

use tokio::{
    sync::{mpsc, oneshot},
    task::JoinSet,
};
use tokio_util::sync::CancellationToken;

use super::{
    PracticeSettings,
    account::{AccountId, Category},
    connection::{PracticeListener, Restart},
    faults::FaultInjector,
    fics::{self, FicsContext, FicsLobby, Notice},
    lichess::{self, BOT_SCOPES, HUMAN_SCOPES, LichessApi},
    sparring::{self, Sparring, SparringKind},
    state::{ChallengeTerms, Denied, GameReport, ServerState, ServerStopped, StateHandle},
};
use domain::{ChallengeId, GameId, GameTerms, TimeControl, Variant};

/// The pause before a challenge that came to nothing is made again.
const ASKS_AGAIN: Duration = Duration::from_millis(50);

/// The number of games behind a sparring player's rating.
const SPARRING_GAMES: u32 = 100;

/// A sparring player's seek on FICS: five minutes, unrated. It accepts any other challenge as well.
const ADVERTISED: GameTerms = GameTerms {
    variant: Variant::Standard,
    time_control: TimeControl::RealTime { initial: Duration::from_secs(300), increment: Duration::ZERO },
    rated: false,
};

const AI_LEVELS: u8 = 8;

#[derive(Debug, thiserror::Error)]
pub enum PracticeError {
    #[error("cannot listen on {address}: {source}; end the program that listens there, or choose another address")]
    Listen { address: SocketAddr, source: io::Error },
    #[error(transparent)]
    Denied(#[from] Denied),
    #[error(transparent)]
    Stopped(#[from] ServerStopped),
    #[error("no game {0}")]
    NoSuchGame(GameId),
}

/// A practice server that runs in this process. Dropping the handle stops it.
pub struct PracticeServer {
    api: LichessApi,
    lobby: FicsLobby,
    fics_address: Option<SocketAddr>,
    /// One for each protocol.
    restarts: Vec<mpsc::UnboundedSender<Restart>>,
    stop: CancellationToken,
    _serving: JoinSet<()>,
}

impl PracticeServer {
    /// Starts a server on loopback, on a port that is free.
    pub async fn start(settings: PracticeSettings) -> Result<Self, PracticeError> {
        Self::start_on(SocketAddr::from(([127, 0, 0, 1], 0)), settings).await
    }

    /// Starts a server on an address; port 0 is any that is free.
    pub async fn start_on(address: SocketAddr, settings: PracticeSettings) -> Result<Self, PracticeError> {
        let stop = CancellationToken::new();
        let settings = Arc::new(settings);
        let faults = FaultInjector::new(settings.faults.clone(), settings.seed);
        let listen = async |address| {
            let listener = PracticeListener::bind(address, faults.clone(), stop.clone()).await;
            listener.map_err(|source| PracticeError::Listen { address, source })
        };
        let (listener, restart) = listen(address).await?;
        let mut restarts = vec![restart];
        let server_state = StateHandle::start(Arc::clone(&settings), stop.clone());
        let mut serving = JoinSet::new();
        let lobby = FicsLobby::default();
        let mut fics_address = None;
        if let Some(endpoint) = settings.fics {
            let (listener, restart) = listen(endpoint.address).await?;
            restarts.push(restart);
            fics_address = Some(listener.address);
            let (server_state, lobby, faults) = (server_state.clone(), lobby.clone(), faults.clone());
            let context = FicsContext { server_state, lobby, faults, noise: endpoint.noise };
            serving.spawn(fics::serve(context, listener, stop.clone()));
        }
        let url = Arc::from(format!("http://{}", listener.address));
        let (tokens, response_times) = (Arc::default(), Arc::default());
        let api = LichessApi { server_state, tokens, faults, response_times, settings, url };
        serving.spawn(lichess::serve(api.clone(), listener, stop.clone()));
        let server = Self { api, lobby, fics_address, restarts, stop, _serving: serving };
        for level in 1..=AI_LEVELS {
            let account = server.ask(move |state| state.add_ai(level)).await?;
            let kind = if level <= AI_LEVELS / 2 { SparringKind::Random } else { SparringKind::Greedy };
            server.attend(account, kind.player()).await?;
        }
        Ok(server)
    }

    /// Returns its address, such as `http://127.0.0.1:4321`, without a slash at the end.
    pub fn url(&self) -> String {
        self.api.url.to_string()
    }

    pub fn fics_address(&self) -> Option<SocketAddr> {
        self.fics_address
    }

    pub async fn add_fics_account(&self, name: &str, computer: bool, password: &str) -> Result<(), PracticeError> {
        let account = self.open_account(name, computer).await?;
        self.lobby.register(&account, password);
        Ok(())
    }

    pub fn set_fics_password(&self, name: &str, password: &str) {
        self.lobby.register(&AccountId::of(name), password);
    }

    /// Opens an account, and returns a token with all the scopes it needs to play.
    pub async fn add_account(&self, name: &str, bot: bool) -> Result<String, PracticeError> {
        let account = self.open_account(name, bot).await?;
        let letters: String =
            account.as_str().chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
        let token = format!("lip_{letters}_practice");
        self.api.add_token(&token, account, if bot { BOT_SCOPES } else { HUMAN_SCOPES });
        Ok(token)
    }

    /// Makes another token valid for an account, with scopes separated by commas.
    pub fn add_token(&self, name: &str, token: &str, scopes: &str) {
        self.api.add_token(token, AccountId::of(name), scopes);
    }

    pub fn revoke_token(&self, token: &str) {
        self.api.revoke_token(token);
    }

    /// Opens an account for a sparring player of the server's own, with a rating that many games have made certain.
    pub async fn sparring(&self, name: &str, kind: SparringKind) -> Result<(), PracticeError> {
        let points = kind.points();
        self.open_sparring_account(name, kind.player(), Some(points)).await
    }

    /// Opens an account for a sparring player of yours.
    pub async fn sparring_with(&self, name: &str, player: Arc<dyn Sparring>) -> Result<(), PracticeError> {
        self.open_sparring_account(name, player, None).await
    }

    /// Lets a person play who answers challenges and moves as `player` does: no bot, for those who count games against bots.
    pub async fn sparring_person(&self, name: &str, player: Arc<dyn Sparring>) -> Result<(), PracticeError> {
        let account = self.open_account(name, false).await?;
        self.attend(account, player).await
    }

    async fn open_sparring_account(
        &self,
        name: &str,
        player: Arc<dyn Sparring>,
        points: Option<i32>,
    ) -> Result<(), PracticeError> {
        let account = self.open_account(name, true).await?;
        let resident = account.clone();
        let seat = self.ask(move |state| {
            if let Some(points) = points {
                state.establish_rating(&resident, points, SPARRING_GAMES);
            }
            state.seat(&resident, Category::of(&ADVERTISED))
        });
        self.lobby.add_resident(seat.await??, ChallengeTerms::new(ADVERTISED));
        self.attend(account, player).await
    }

    async fn open_account(&self, name: &str, bot: bool) -> Result<AccountId, PracticeError> {
        let owned = name.to_owned();
        Ok(self.ask(move |state| state.add_account(&owned, bot)).await??)
    }

    async fn attend(&self, account: AccountId, player: Arc<dyn Sparring>) -> Result<(), PracticeError> {
        Ok(sparring::attend(self.api.server_state.clone(), account, player, self.stop.clone()).await?)
    }

    /// Lets one account challenge another. The challenge stays until it is answered or withdrawn.
    pub async fn challenge(&self, from: &str, to: &str, terms: ChallengeTerms) -> Result<ChallengeId, PracticeError> {
        let (from, to) = (AccountId::of(from), AccountId::of(to));
        Ok(self.ask(move |state| state.challenge(&from, &to, terms, true)).await??.id.clone())
    }

    /// Lets one account challenge another until a game results: on FICS a player who plays or is
    /// cut off takes no challenges.
    pub async fn game_between(&self, from: &str, to: &str, terms: ChallengeTerms) -> Result<GameId, PracticeError> {
        loop {
            let id = self.challenge(from, to, terms.clone()).await?;
            let game = GameId::from(&id);
            let awaited = game.clone();
            let answered = self.wait(move |state| {
                let open = state.challenge_view(&id).is_some_and(|challenge| challenge.state.is_open());
                (!open).then(|| state.game_view(&awaited).is_some())
            });
            if answered.await? {
                return Ok(game);
            }
            tokio::time::sleep(ASKS_AGAIN).await;
        }
    }

    /// Takes how long clients of the Bot API took for their moves since this was last called: from the line with the opponent's
    /// move to the request with the answer, each with its game.
    pub fn take_response_times(&self) -> Vec<(GameId, Duration)> {
        self.api.response_times().take()
    }

    /// Runs `job` on the server's state: see the methods of [`ServerState`].
    pub async fn ask<T, F>(&self, job: F) -> Result<T, PracticeError>
    where
        T: Send + 'static,
        F: FnOnce(&mut ServerState) -> T + Send + 'static,
    {
        Ok(self.api.server_state.ask(job).await?)
    }

    /// Waits until `condition` returns a value; it is tried again after every event.
    pub async fn wait<T, F>(&self, condition: F) -> Result<T, PracticeError>
    where
        T: Send + 'static,
        F: FnMut(&ServerState) -> Option<T> + Send + 'static,
    {
        Ok(self.api.server_state.wait(condition).await?)
    }

    pub async fn game(&self, id: &GameId) -> Result<GameReport, PracticeError> {
        let wanted = id.clone();
        self.ask(move |state| state.report(&wanted)).await?.ok_or_else(|| PracticeError::NoSuchGame(id.clone()))
    }

    /// Returns the reports of all games, oldest first.
    pub async fn games(&self) -> Result<Vec<GameReport>, PracticeError> {
        self.ask(|state| state.reports()).await
    }

    /// Waits for the end of a game, which need not have begun.
    pub async fn wait_for_end(&self, id: &GameId) -> Result<GameReport, PracticeError> {
        let id = id.clone();
        self.wait(move |state| state.outcome(&id).is_some().then(|| state.report(&id)).flatten()).await
    }

    /// Waits until `ply` plies were played in a game, or it is over.
    pub async fn wait_for_ply(&self, id: &GameId, ply: usize) -> Result<GameReport, PracticeError> {
        let id = id.clone();
        self.wait(move |state| {
            let reached = state.ply(&id)? >= ply || state.outcome(&id).is_some();
            reached.then(|| state.report(&id)).flatten()
        })
        .await
    }

    /// Waits until `count` games were begun and none runs any more.
    pub async fn wait_for_games(&self, count: usize) -> Result<Vec<GameReport>, PracticeError> {
        self.wait(move |state| {
            let (begun, running) = state.game_counts();
            (begun >= count && running == 0).then(|| state.reports())
        })
        .await
    }

    /// Waits until an account listens to its events.
    pub async fn wait_until_online(&self, name: &str) -> Result<(), PracticeError> {
        let id = AccountId::of(name);
        self.wait(move |state| state.is_online(&id).then_some(())).await
    }

    /// Sends an announcement to all visitors on FICS, indented as there: `**** Server going down in
    /// 5 minutes and 0 seconds. ****`.
    pub fn announce(&self, text: &str) {
        self.lobby.tell_everybody(&Notice::Text(format!("\n    {text}\n")));
    }

    pub fn faults(&self) -> &FaultInjector {
        &self.api.faults
    }

    /// Restarts the server: all connections drop, for `downtime` connecting fails, and its state is
    /// kept. Returns when it answers again.
    pub async fn restart(&self, downtime: Duration) -> Result<(), PracticeError> {
        let mut coming_back = Vec::new();
        for restart in &self.restarts {
            let (done, back) = oneshot::channel();
            restart.send((downtime, done)).map_err(|_| ServerStopped)?;
            coming_back.push(back);
        }
        for back in coming_back {
            back.await.map_err(|_| ServerStopped)?;
        }
        Ok(())
    }
}

impl Drop for PracticeServer {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}

/// Runs a server until `stop` is cancelled. `prepare` is called with its handle once it listens: to open accounts, to print where it is.
pub async fn serve<F>(
    address: SocketAddr,
    settings: PracticeSettings,
    stop: CancellationToken,
    prepare: impl FnOnce(Arc<PracticeServer>) -> F,
) -> Result<(), PracticeError>
where
    F: Future<Output = Result<(), PracticeError>>,
{
    let server = Arc::new(PracticeServer::start_on(address, settings).await?);
    prepare(Arc::clone(&server)).await?;
    stop.cancelled().await;
    server.stop.cancel();
    Ok(())
}
