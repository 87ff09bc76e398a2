//! The services of a player in their order, and the limits of a game's questions.

use std::{sync::Arc, time::Duration};

use council::player::{MoveAnswer, MoveService};
use domain::{Decision, Line};
use reqwest::{
    Client,
    header::{ACCEPT_ENCODING, HeaderValue},
};
use util::Secret;

use super::{
    chessdb, cloud, explorer,
    service::{OnlineService, Unanswered},
    settings::{OnlineKind, OnlineSettings},
    soundness::is_sound,
    tablebase,
};

const USER_AGENT: &str = concat!("concilio/", env!("CARGO_PKG_VERSION"));

/// The services of one player's settings, shared by all its games. All players that ask one service share its rate limit.
#[derive(Debug)]
pub struct OnlineServices {
    settings: OnlineSettings,
    client: Client,
    services: Vec<OnlineService>,
}

impl OnlineServices {
    /// Builds the services of the settings; `None` if there are none. Opens no connection yet.
    pub fn new(settings: &OnlineSettings) -> Result<Option<Arc<Self>>, String> {
        if settings.sources.is_empty() {
            return Ok(None);
        }
        let token = settings.token_file().map(|file| Secret::read("Lichess token", file)).transpose();
        let token = token.map_err(|error| error.to_string())?;
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
                .map_err(|reason| format!("online.{key}.service.url: {reason}"))
        };
        let services = settings.sources.iter().map(service).collect::<Result<_, _>>()?;
        // Another part of the program may have installed the same provider before.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let client = Client::builder()
            .user_agent(USER_AGENT)
            // No answer is unpacked here, so no proxy may pack one.
            .default_headers([(ACCEPT_ENCODING, HeaderValue::from_static("identity"))].into_iter().collect())
            .redirect(reqwest::redirect::Policy::none());
        let client = client.build().map_err(|error| format!("online.sources: cannot set up HTTPS: {error}"))?;
        Ok(Some(Arc::new(Self { settings: settings.clone(), client, services })))
    }

    /// Returns the services for one game, which stops asking once its opening is unknown.
    pub fn for_a_game(self: &Arc<Self>) -> OnlineGame {
        OnlineGame { services: Arc::clone(self), out_of_book: 0 }
    }

    /// Asks one service, unless it has no rules for the position.
    async fn known_to(
        &self,
        service: &OnlineService,
        line: &Line,
        left: Option<Duration>,
    ) -> Result<Option<Decision>, Unanswered> {
        let (client, settings) = (&self.client, &self.settings);
        match service.kind {
            OnlineKind::Explorer => {
                let question = explorer::question(&settings.explorer, line);
                let choose = |answer: &_| explorer::choose(answer, line, &settings.explorer);
                match (service.choose(client, question, left, choose).await?, settings.explorer.max_loss) {
                    (Some(known), Some(most)) => {
                        let (line, uci) = (line.clone(), known.best);
                        let checked = tokio::task::spawn_blocking(move || is_sound(&line, uci, most)).await;
                        Ok(checked.unwrap_or(false).then_some(known))
                    }
                    (known, _) => Ok(known),
                }
            }
            OnlineKind::Cloud => {
                let choose = |answer: &_| cloud::choose(answer, line, &settings.cloud);
                service.choose(client, Some(cloud::question(line)), left, choose).await
            }
            OnlineKind::Chessdb => {
                let choose = |answer: &_| chessdb::choose(answer, line, &settings.chessdb);
                service.choose(client, chessdb::question(line), left, choose).await
            }
            OnlineKind::Tablebase => {
                let question = tablebase::question(&settings.tablebase, line);
                service.choose(client, question, left, |answer| tablebase::choose(answer, line)).await
            }
        }
    }
}

#[derive(Debug)]
pub struct OnlineGame {
    services: Arc<OnlineServices>,
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
        let settings = &self.services.settings;
        let in_opening = line.ply() < settings.max_plies && self.out_of_book < settings.max_out_of_book;
        let mut unknown = false;
        for service in &self.services.services {
            let of_openings = service.kind.is_of_openings();
            if of_openings && !in_opening {
                continue;
            }
            match self.services.known_to(service, line, left).await {
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

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use axum::{
        Router,
        http::{HeaderMap, StatusCode, header::AUTHORIZATION},
    };
    use domain::Variant;

    use super::{super::ServiceSettings, *};

    /// Starts a server that knows nothing, and collects what each question has to show.
    async fn listener() -> (String, Arc<Mutex<Vec<String>>>) {
        let shown = Arc::<Mutex<Vec<String>>>::default();
        let seen = Arc::clone(&shown);
        let answer = move |headers: HeaderMap| {
            let token = headers.get(AUTHORIZATION).and_then(|value| value.to_str().ok()).unwrap_or("none");
            seen.lock().expect("unpoisoned").push(token.to_owned());
            async { StatusCode::NOT_FOUND }
        };
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let url = format!("http://{}", listener.local_addr().expect("an address"));
        tokio::spawn(async move { axum::serve(listener, Router::new().fallback(answer)).await });
        (url, shown)
    }

    #[tokio::test]
    async fn token_goes_to_lichess_services_only() {
        let folder = tempfile::tempdir().expect("a folder");
        let token_file = folder.path().join("token");
        std::fs::write(&token_file, "lip_secret\n").expect("written");
        let few_men = Line::from_fen(Variant::Standard, "8/8/8/8/4k3/8/4P3/4K3 w - - 0 1").expect("a position");
        for (kind, token) in [
            (OnlineKind::Explorer, "Bearer lip_secret"),
            (OnlineKind::Cloud, "Bearer lip_secret"),
            (OnlineKind::Tablebase, "Bearer lip_secret"),
            (OnlineKind::Chessdb, "none"),
        ] {
            let (url, shown) = listener().await;
            let service = ServiceSettings { url, pause: Duration::ZERO, ..ServiceSettings::default() };
            let mut settings =
                OnlineSettings { sources: vec![kind], token_file: token_file.clone(), ..OnlineSettings::default() };
            settings.explorer.service = service.clone();
            settings.cloud.service = service.clone();
            settings.tablebase.service = service.clone();
            settings.chessdb.service = service;
            let services = OnlineServices::new(&settings).expect("settings").expect("a service");
            assert!(services.for_a_game().known(&few_men, Some(Duration::from_hours(1))).await.is_none());
            assert_eq!(*shown.lock().expect("unpoisoned"), [token], "{kind:?}");
        }
    }
}
