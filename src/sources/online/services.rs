//! The services of a player in their order, and the limits of a game's questions.

use std::{sync::Arc, time::Duration};

use council::player::{MoveAnswer, MoveService};
use domain::{Decision, Line};
use reqwest::{
    Client,
    header::{ACCEPT_ENCODING, HeaderValue},
};
use util::{Secret, SecretError};

use super::{
    chessdb, cloud, explorer,
    service::{OnlineService, Unanswered},
    settings::{OnlineKind, OnlineSettings},
    soundness::is_sound,
    tablebase,
};

const USER_AGENT: &str = concat!("concilio/", env!("CARGO_PKG_VERSION"));

/// The services of one player's settings, shared by all its games. A limit is of all players that ask one service together.
#[derive(Clone, Debug)]
pub struct OnlineServices(Arc<SharedServices>);

#[derive(Debug)]
struct SharedServices {
    settings: OnlineSettings,
    client: Client,
    services: Vec<OnlineService>,
}

#[derive(Debug, thiserror::Error)]
pub enum OnlineError {
    #[error(transparent)]
    Token(#[from] SecretError),
    /// A key and what is wrong with it.
    #[error("online.{0}")]
    Setting(String),
}

impl OnlineServices {
    /// Builds the services of the settings; `None` if there are none. Opens no connection yet.
    pub fn new(settings: &OnlineSettings) -> Result<Option<Self>, OnlineError> {
        if settings.sources.is_empty() {
            return Ok(None);
        }
        let token = settings.token_file().map(|file| Secret::read("Lichess token", file)).transpose()?;
        let service = |kind: &OnlineKind| {
            let (key, public, service) = match kind {
                OnlineKind::Explorer => ("explorer", explorer::URL, &settings.explorer.service),
                OnlineKind::Cloud => ("cloud", cloud::URL, &settings.cloud.service),
                OnlineKind::Chessdb => ("chessdb", chessdb::URL, &settings.chessdb.service),
                OnlineKind::Tablebase => ("tablebase", tablebase::URL, &settings.tablebase.service),
            };
            // It is Lichess' token, for Lichess' services.
            let token = token.as_ref().filter(|_| *kind != OnlineKind::Chessdb);
            OnlineService::new(*kind, public, service, token)
                .map_err(|reason| OnlineError::Setting(format!("{key}.service.url: {reason}")))
        };
        let services = settings.sources.iter().map(service).collect::<Result<_, _>>()?;
        // Another part of the program may have installed the same provider before.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let client = Client::builder()
            .user_agent(USER_AGENT)
            // No answer is unpacked here, so no proxy may pack one.
            .default_headers([(ACCEPT_ENCODING, HeaderValue::from_static("identity"))].into_iter().collect())
            .redirect(reqwest::redirect::Policy::none());
        let client =
            client.build().map_err(|error| OnlineError::Setting(format!("sources: cannot set up HTTPS: {error}")))?;
        Ok(Some(Self(Arc::new(SharedServices { settings: settings.clone(), client, services }))))
    }

    /// Returns the services for one game, which stops asking once its opening is unknown.
    pub fn for_a_game(&self) -> OnlineGame {
        OnlineGame { shared: Arc::clone(&self.0), out_of_book: 0 }
    }
}

#[derive(Debug)]
pub struct OnlineGame {
    shared: Arc<SharedServices>,
    /// Our moves in a row that no service of openings knew.
    out_of_book: u32,
}

impl MoveService for OnlineGame {
    fn ask<'a>(&'a mut self, line: &'a Line, left: Option<Duration>) -> MoveAnswer<'a> {
        Box::pin(self.known(line, left))
    }
}

impl OnlineGame {
    async fn known(&mut self, line: &Line, left: Option<Duration>) -> Option<Decision> {
        let settings = &self.shared.settings;
        let in_opening = line.ply() < settings.max_plies && self.out_of_book < settings.max_out_of_book;
        let mut unknown = false;
        for service in &self.shared.services {
            let of_openings = service.kind.is_of_openings();
            if of_openings && !in_opening {
                continue;
            }
            match self.shared.known_to(service, line, left).await {
                Ok(Some(known)) => {
                    self.out_of_book = if of_openings { 0 } else { self.out_of_book };
                    return Some(known);
                }
                Ok(None) => unknown |= of_openings,
                Err(Unanswered) => {}
            }
        }
        self.out_of_book += u32::from(unknown);
        None
    }
}

impl SharedServices {
    /// Asks one service, unless it has no rules for the position.
    async fn known_to(
        &self,
        service: &OnlineService,
        line: &Line,
        left: Option<Duration>,
    ) -> Result<Option<Decision>, Unanswered> {
        let (client, settings) = (&self.client, &self.settings);
        let known = match service.kind {
            OnlineKind::Explorer => {
                let question = explorer::question(&settings.explorer, line).ok_or(Unanswered)?;
                let answer = service.ask(client, &question, left).await?;
                let known =
                    answer.and_then(|answer| explorer::choose(&answer, line, &settings.explorer, &mut rand::rng()));
                match (known, settings.explorer.max_loss) {
                    (Some(known), Some(most)) => {
                        let (line, uci) = (line.clone(), known.best);
                        let checked = tokio::task::spawn_blocking(move || is_sound(&line, uci, most)).await;
                        checked.unwrap_or(false).then_some(known)
                    }
                    (known, _) => known,
                }
            }
            OnlineKind::Cloud => {
                let answer = service.ask(client, &cloud::question(line), left).await?;
                answer.and_then(|answer| cloud::choose(&answer, line, &settings.cloud, &mut rand::rng()))
            }
            OnlineKind::Chessdb => {
                let question = chessdb::question(line).ok_or(Unanswered)?;
                let answer = service.ask(client, &question, left).await?;
                answer.and_then(|answer| chessdb::choose(&answer, line, &settings.chessdb, &mut rand::rng()))
            }
            OnlineKind::Tablebase => {
                let question = tablebase::question(&settings.tablebase, line).ok_or(Unanswered)?;
                let answer = service.ask(client, &question, left).await?;
                answer.and_then(|answer| tablebase::choose(&answer, line))
            }
        };
        Ok(known)
    }
}
