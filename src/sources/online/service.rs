//! One service: questions over HTTP, rate-limited, with pauses after failures.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError, Weak},
    time::{Duration, Instant},
};

use domain::{Decision, Line, UciMove};
use reqwest::{
    Client, StatusCode, Url,
    header::{AUTHORIZATION, HeaderValue, RETRY_AFTER},
};
use serde::de::DeserializeOwned;
use util::{Backoff, Secret, printable};

use super::settings::{ADDRESS, OnlineKind, ServiceSettings, address};

/// The longest accepted answer, bytes. The explorer's take some 10 kB.
const LONGEST_ANSWER: usize = 1 << 20;

/// The pause after a failure; longer each time.
const REST: (Duration, Duration) = (Duration::from_secs(10), Duration::from_secs(30 * 60));

/// The shortest and longest pause after a rate limit.
const REST_WHEN_LIMITED: (Duration, Duration) = (Duration::from_mins(1), Duration::from_hours(24));

/// A question: a path below the service's address, and its parameters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ServiceQuestion {
    /// Without a slash at either end.
    pub path: &'static str,
    /// Names and values, not yet escaped.
    pub query: Vec<(&'static str, String)>,
}

/// The move of an answer as the line writes it, if it is legal there.
pub(crate) fn legal(line: &Line, text: &str) -> Option<UciMove> {
    let uci: UciMove = text.parse().ok()?;
    let mv = uci.to_move(line.position()).ok()?;
    Some(mv.to_uci(line.castling_mode()))
}

/// The service was not asked, or did not answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Unanswered;

#[derive(Debug)]
pub(crate) struct OnlineService {
    pub(crate) kind: OnlineKind,
    settings: ServiceSettings,
    url: Url,
    authorization: Option<HeaderValue>,
    spared: Arc<Mutex<Spared>>,
}

type ServicePlace = (OnlineKind, String);

/// The services used in this process. A rate limit belongs to the service, not to the player that
/// asks: profiles with services of their own, and settings read again, respect it.
static SPARED: Mutex<BTreeMap<ServicePlace, Weak<Mutex<Spared>>>> = Mutex::new(BTreeMap::new());

#[derive(Debug)]
struct Spared {
    asked: Option<Instant>,
    backoff: Backoff,
    /// The pause that the service asked for.
    until: Option<Instant>,
}

impl Spared {
    /// Returns the state of the service of this kind at this address, shared by all callers.
    fn shared(kind: OnlineKind, url: &Url) -> Arc<Mutex<Self>> {
        let mut all = SPARED.lock().unwrap_or_else(PoisonError::into_inner);
        all.retain(|_, spared| spared.strong_count() > 0);
        let known = all.entry((kind, url.as_str().trim_end_matches('/').to_owned())).or_default();
        known.upgrade().unwrap_or_else(|| {
            let spared = Self { asked: None, backoff: Backoff::new(REST.0, REST.1), until: None };
            let spared = Arc::new(Mutex::new(spared));
            *known = Arc::downgrade(&spared);
            spared
        })
    }
}

impl OnlineService {
    /// Creates a service at the address of the settings, or at its public one. Sends `token` with every question.
    pub(crate) fn new(
        kind: OnlineKind,
        public: &str,
        settings: &ServiceSettings,
        token: Option<&Secret>,
    ) -> Result<Self, String> {
        let text = if settings.url.is_empty() { public } else { settings.url.as_str() };
        let url = address(text).ok_or_else(|| format!("{text}: {ADDRESS} is wanted"))?;
        let header = |token: &Secret| {
            let mut header = HeaderValue::try_from(format!("Bearer {}", token.reveal()))
                .map_err(|_| "the token holds letters that no token has".to_owned())?;
            header.set_sensitive(true);
            Ok::<_, String>(header)
        };
        let authorization = token.map(header).transpose()?;
        let spared = Spared::shared(kind, &url);
        Ok(Self { kind, settings: settings.clone(), url, authorization, spared })
    }

    /// Asks a question with `left` on the bot's clock; `None` if the service does not know the
    /// position.
    ///
    /// # Errors
    /// [`Unanswered`] if it may not be asked now, or does not answer in time.
    async fn ask<T: DeserializeOwned>(
        &self,
        client: &Client,
        question: &ServiceQuestion,
        left: Option<Duration>,
    ) -> Result<Option<T>, Unanswered> {
        let now = Instant::now();
        let is_out_of_time = left.is_some_and(|left| {
            left < self.settings.min_time || self.settings.max_time.is_some_and(|most| left > most)
        });
        if is_out_of_time || !self.may_be_asked(now) {
            return Err(Unanswered);
        }
        let answer = tokio::time::timeout(self.settings.timeout, self.fetch(client, question)).await;
        match answer.unwrap_or_else(|_| Err((format!("no answer in {:?}", self.settings.timeout), None))) {
            Ok(answer) => {
                self.spared().backoff.reset();
                Ok(answer)
            }
            Err((why, limit)) => {
                self.failed(&why, limit);
                Err(Unanswered)
            }
        }
    }

    /// Asks a question, if there is one, and chooses a move of the answer.
    pub(crate) async fn choose<T: DeserializeOwned>(
        &self,
        client: &Client,
        question: Option<ServiceQuestion>,
        left: Option<Duration>,
        choose: impl FnOnce(&T) -> Option<Decision>,
    ) -> Result<Option<Decision>, Unanswered> {
        let answer = self.ask(client, &question.ok_or(Unanswered)?, left).await?;
        Ok(answer.and_then(|answer| choose(&answer)))
    }

    /// Returns true if the service may be asked now, and counts it as asked.
    fn may_be_asked(&self, now: Instant) -> bool {
        let mut spared = self.spared();
        let too_soon = spared.asked.is_some_and(|asked| now.saturating_duration_since(asked) < self.settings.pause);
        let rests = spared.backoff.rest(now).is_some() || spared.until.is_some_and(|until| until > now);
        if too_soon || rests {
            return false;
        }
        spared.asked = Some(now);
        true
    }

    /// Returns the answer, or `None` if the service does not know the position.
    ///
    /// # Errors
    /// The reason, and after a rate limit the pause that the service asks for.
    async fn fetch<T: DeserializeOwned>(
        &self,
        client: &Client,
        question: &ServiceQuestion,
    ) -> Result<Option<T>, (String, Option<Duration>)> {
        let other = |error: &dyn std::fmt::Display| (error.to_string(), None);
        let mut url = self.url.clone();
        url.set_path(&format!("{}/{}", self.url.path().trim_end_matches('/'), question.path));
        url.query_pairs_mut().extend_pairs(&question.query);
        let mut request = client.get(url);
        if let Some(authorization) = &self.authorization {
            request = request.header(AUTHORIZATION, authorization.clone());
        }
        let mut response = request.send().await.map_err(|error| other(&error.without_url()))?;
        match response.status() {
            StatusCode::NOT_FOUND => return Ok(None),
            StatusCode::TOO_MANY_REQUESTS => {
                let seconds = response.headers().get(RETRY_AFTER).and_then(|value| value.to_str().ok()?.parse().ok());
                let limit = Duration::from_secs(seconds.unwrap_or_default());
                return Err(("there were too many questions".to_owned(), Some(limit)));
            }
            status if !status.is_success() => return Err(other(&status)),
            _ => {}
        }
        let mut body = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(|error| other(&error.without_url()))? {
            if body.len() + chunk.len() > LONGEST_ANSWER {
                return Err(other(&"an answer without end"));
            }
            body.extend_from_slice(&chunk);
            // The explorer of a player's games sends another line whenever it has found more games.
            if let Some(end) = body.iter().position(|byte| *byte == b'\n')
                && let Ok(answer) = serde_json::from_slice(&body[..end])
            {
                return Ok(Some(answer));
            }
        }
        serde_json::from_slice(&body).map(Some).map_err(|error| other(&error))
    }

    /// Begins a pause, of at least `limit` after a rate limit.
    fn failed(&self, why: &str, limit: Option<Duration>) {
        let now = Instant::now();
        let mut spared = self.spared();
        let first = spared.backoff.is_fresh();
        spared.backoff.fail(now);
        if let Some(limit) = limit {
            spared.until = Some(now + limit.clamp(REST_WHEN_LIMITED.0, REST_WHEN_LIMITED.1));
        }
        let service = self.kind.word();
        let why = printable(why);
        if first {
            tracing::warn!("{service} does not answer ({why}); pausing its requests");
        } else {
            tracing::debug!("{service} does not answer again ({why})");
        }
    }

    fn spared(&self) -> std::sync::MutexGuard<'_, Spared> {
        self.spared.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

    use axum::{Router, body::Body, response::Response, routing::get};
    use domain::Variant;

    use super::*;

    /// Starts a service that answers everything alike, and counts questions.
    async fn service(
        status: u16,
        body: impl Fn() -> Body + Clone + Send + Sync + 'static,
    ) -> (OnlineService, Arc<AtomicUsize>) {
        let asked = Arc::<AtomicUsize>::default();
        let count = Arc::clone(&asked);
        let answer = move || {
            count.fetch_add(1, Relaxed);
            let answer = Response::builder().status(status).body(body()).expect("an answer");
            async move { answer }
        };
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let url = format!("http://{}", listener.local_addr().expect("an address"));
        tokio::spawn(async move { axum::serve(listener, Router::new().route("/x", get(answer))).await });
        let settings = ServiceSettings { url, timeout: Duration::from_secs(60), ..ServiceSettings::default() };
        let settings = ServiceSettings { pause: Duration::ZERO, ..settings };
        (OnlineService::new(OnlineKind::Cloud, "", &settings, None).expect("a service"), asked)
    }

    async fn ask(service: &OnlineService, left: u64) -> Result<Option<Vec<u32>>, Unanswered> {
        let question = ServiceQuestion { path: "x", query: vec![("fen", "a b/c".to_owned())] };
        let _ = rustls::crypto::ring::default_provider().install_default();
        service.ask(&Client::new(), &question, Some(Duration::from_secs(left))).await
    }

    #[tokio::test]
    async fn unknown_position_is_no_failure() {
        let (known, asked) = service(200, || Body::from("[1,\n2]")).await;
        assert_eq!(ask(&known, 60).await, Ok(Some(vec![1, 2])));
        assert_eq!(ask(&known, 5).await, Err(Unanswered), "our clock is too low");
        let (unknown, _) = service(404, || Body::from("{}")).await;
        assert_eq!((ask(&unknown, 60).await, ask(&unknown, 60).await), (Ok(None), Ok(None)));
        assert_eq!(asked.load(Relaxed), 1);
    }

    #[tokio::test]
    async fn a_full_clock_is_searched_instead() {
        let (mut service, asked) = service(200, || Body::from("[1]")).await;
        service.settings.max_time = Some(Duration::from_secs(100));
        assert_eq!(ask(&service, 101).await, Err(Unanswered));
        assert_eq!(ask(&service, 100).await, Ok(Some(vec![1])));
        assert_eq!(asked.load(Relaxed), 1);
    }

    #[tokio::test]
    async fn failing_services_rest() {
        for status in [429, 500] {
            let (failing, asked) = service(status, || Body::from("[]")).await;
            for _ in 0..5 {
                assert_eq!(ask(&failing, 60).await, Err(Unanswered));
            }
            assert_eq!(asked.load(Relaxed), 1, "{status}");
        }
    }

    #[test]
    fn retry_after_is_respected() {
        let settings = ServiceSettings::default();
        let service = OnlineService::new(OnlineKind::Explorer, "https://example.org", &settings, None);
        let (service, now) = (service.expect("a service"), Instant::now());
        service.failed("limited", Some(Duration::from_hours(2)));
        assert!(!service.may_be_asked(now + Duration::from_mins(119)));
        assert!(service.may_be_asked(now + Duration::from_mins(121)));
    }

    #[test]
    fn pauses_are_shared_by_players() {
        let asks = |kind, url| OnlineService::new(kind, url, &ServiceSettings::default(), None).expect("a service");
        let first = asks(OnlineKind::Explorer, "https://example.net");
        let another_player = asks(OnlineKind::Explorer, "https://example.net/");
        let [another_kind, elsewhere] =
            [asks(OnlineKind::Cloud, "https://example.net"), asks(OnlineKind::Explorer, "https://example.net/there")];
        first.failed("limited", Some(Duration::ZERO));
        let now = Instant::now();
        assert!(!another_player.may_be_asked(now));
        assert!(another_kind.may_be_asked(now) && elsewhere.may_be_asked(now));
        drop(first);
        assert!(!asks(OnlineKind::Explorer, "https://example.net").may_be_asked(now), "as after a reload");
    }

    #[tokio::test]
    async fn an_answer_without_end_is_none() {
        let (endless, _) = service(200, || Body::from(vec![b' '; LONGEST_ANSWER + 1])).await;
        assert_eq!(ask(&endless, 60).await, Err(Unanswered));
    }

    #[test]
    fn illegal_answers_are_ignored() {
        let line = Line::start(Variant::Standard);
        assert!(legal(&line, "e2e4").is_some());
        for nonsense in ["e2e5", "0000", "", "e2e4e5", "\u{0}"] {
            assert!(legal(&line, nonsense).is_none(), "{nonsense}");
        }
    }
}
