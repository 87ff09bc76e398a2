//! Requests and their answers, for one account.
//!
//! - Streams, moves and all else have connections of their own: a proxy that allows few concurrent streams a connection, a packet
//!   that is lost, an answer of a megabyte hold back nothing on which a clock waits. Each stream has a whole connection (HTTP/1.1).
//! - Ordinary requests go one at a time, as Lichess asks. A 429 closes their topic for a while: requests of this topic then fail
//!   without being sent, other topics go on (the limits are of one endpoint each), except the long lists, which rest for a full
//!   minute after a 429 on anything. What is said in games has a turn of its own, and so have answers to challenges, the lists, the question
//!   which games run and the records of those that are over: no challenge waits for a greeting or a list of 600 kB, and no game
//!   for a slow answer to something else.
//! - Urgent requests, those on which a clock waits, go at once beside everything else, and are held back by nothing.
//! - Nothing is sent twice: an answer that did not come is [`ActionError::Unavailable`], and the caller decides.

use std::{
    collections::HashMap,
    sync::{Arc, OnceLock, PoisonError},
    time::Duration,
};

use reqwest::{
    ClientBuilder, Method, Response, StatusCode,
    header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderValue, RETRY_AFTER, USER_AGENT},
};
use tokio::{
    sync::{Mutex, Notify, OnceCell},
    time::Instant,
};

use super::{
    BELIEVED_AT_START, BELIEVED_IN_GAMES, Token,
    account::AccountReport,
    asked_until_believed,
    connections::Connections,
    request::{HttpCall, Lane, Topic, Turn},
    settings::LichessSettings,
    wire,
};
use domain::{Account, ActionError};

/// No wait is longer, whatever the server says.
const LONGEST_PAUSE: Duration = Duration::from_secs(7 * 24 * 60 * 60);

/// Longer answers are cut off, in bytes. The longest, the list of bots online, takes about 600 kB.
const LONGEST_ANSWER: usize = 8 * 1024 * 1024;

/// Longer words of the server are cut off in errors, in characters.
const LONGEST_DETAIL: usize = 300;

const NOT_THE_SERVER: &str = "a page came instead of the server's answer";

#[derive(Debug, thiserror::Error)]
#[error("cannot set up HTTPS: {0} (are the system's CA certificates installed?)")]
pub struct SetupError(String);

#[derive(Debug)]
pub(super) struct Http {
    pub(super) settings: LichessSettings,
    connections: Connections,
    token: Token,
    authorization: HeaderValue,
    /// Owner of the token, requested once, and the `User-Agent` that names it.
    owner: OnceCell<(Arc<Account>, HeaderValue)>,
    /// Our id when we last stopped.
    remembered: OnceLock<String>,
    /// Notified when a valid token starts getting 401.
    pub(super) doubt: Notify,
    /// Locks by [`Turn`], held while its request runs, with the times until which topics rest.
    turns: [Mutex<HashMap<Topic, Instant>>; Turn::COUNT],
    /// End of the pause of the long lists.
    lists_rest: std::sync::Mutex<Option<Instant>>,
}

impl Http {
    pub(super) fn new(settings: &LichessSettings, token: Token) -> Result<Self, SetupError> {
        Self::with(settings, token, |builder| builder)
    }

    /// Creates the client; `change` customises the connections of moves and ordinary requests.
    pub(super) fn with(
        settings: &LichessSettings,
        token: Token,
        change: impl Fn(ClientBuilder) -> ClientBuilder,
    ) -> Result<Self, SetupError> {
        let setup = |error: &dyn std::fmt::Display| SetupError(error.to_string());
        let mut authorization =
            HeaderValue::try_from(format!("Bearer {}", token.secret())).map_err(|error| setup(&error))?;
        authorization.set_sensitive(true);
        // Another part of the program may have installed it before; it is the same one.
        let _ = rustls::crypto::ring::default_provider().install_default();
        Ok(Self {
            connections: Connections::new(&settings.url, change).map_err(|error| setup(&chain(&error)))?,
            settings: settings.clone(),
            token,
            authorization,
            owner: OnceCell::new(),
            remembered: OnceLock::new(),
            doubt: Notify::new(),
            turns: Default::default(),
            lists_rest: std::sync::Mutex::default(),
        })
    }

    /// Returns our account, if it may play. Asks the server until it has answered once, and never
    /// again: Lichess limits these requests strictly.
    ///
    /// # Errors
    /// [`ActionError::Unauthorised`] with the remedy, if the token or the account does not let us
    /// play, or if the server keeps refusing us; other errors unchanged.
    pub(super) async fn account(&self) -> Result<Arc<Account>, ActionError> {
        let ask = || async {
            let report = self.report().await?;
            if let Some(obstacle) = report.obstacle() {
                return Err(ActionError::Unauthorised(obstacle));
            }
            let account = report.account;
            let user_agent = HeaderValue::try_from(format!("{} user:{}", user_agent(), account.player.id))
                .unwrap_or(HeaderValue::from_static(user_agent()));
            Ok((Arc::new(account), user_agent))
        };
        self.owner.get_or_try_init(ask).await.map(|(account, _)| Arc::clone(account))
    }

    /// We were this user when we last stopped.
    pub(super) fn remember(&self, id: &str) {
        let _ = self.remembered.set(id.to_owned());
    }

    /// Our name in lower case. A running game does not wait until a server in trouble, or one that wants to be left alone for a
    /// minute, says who we are: it is ours if it was, until the server says otherwise.
    ///
    /// # Errors
    /// Where neither the server nor an earlier process has said who we are.
    pub(super) async fn our_id(&self) -> Result<String, ActionError> {
        let told = self.owner.get().map(|(account, _)| &account.player.id);
        match told.or(self.remembered.get()) {
            Some(id) => Ok(id.clone()),
            None => self.account().await.map(|account| account.player.id.clone()),
        }
    }

    /// Returns the token's owner and scopes. Refusals are believed once they have lasted.
    pub(super) async fn report(&self) -> Result<AccountReport, ActionError> {
        let test = HttpCall::post(&["api", "token", "test"], Topic::Account).text(self.token.secret());
        let scopes = match asked_until_believed(|| self.call(test.clone()), || self.patience_at_start()).await {
            Ok(body) => {
                let mut tokens: HashMap<String, Option<wire::TokenInfo>> = decode("the token's test", &body)?;
                let unknown = || ActionError::Unauthorised(format!("{} does not know this token", self.settings.url));
                Some(tokens.remove(self.token.secret()).flatten().ok_or_else(unknown)?.scopes())
            }
            // A server that has no such test will say in time what the token does not allow.
            // It may say so with a page, as one that is in trouble does; the next question shows that.
            Err(ActionError::NotFound(_) | ActionError::Refused(_) | ActionError::Unavailable(_)) => None,
            Err(error) => return Err(error),
        };
        let account = asked_until_believed(|| self.fetch_account(), || self.patience_at_start()).await?;
        Ok(AccountReport { account, scopes })
    }

    /// Returns the time that a refusal must last before the first connection. An operator with a
    /// wrong token should hear of it soon; an earlier process that left games running had a good
    /// one.
    pub(super) fn patience_at_start(&self) -> Duration {
        if self.remembered.get().is_some() { BELIEVED_IN_GAMES } else { BELIEVED_AT_START }
    }

    pub(super) async fn fetch_account(&self) -> Result<Account, ActionError> {
        let body = self.call(HttpCall::get(&["api", "account"], Topic::Account)).await?;
        decode::<wire::AccountJson>("the account", &body).map(wire::AccountJson::into_account)
    }

    /// Sends one request in its lane and gives the body of a good answer.
    pub(super) async fn call(&self, call: HttpCall<'_>) -> Result<String, ActionError> {
        let Lane::Ordinary(topic) = call.lane else { return self.send(call, self.settings.move_timeout).await };
        let (turn, _) = topic.turn_and_word();
        let mut closed = self.turns[turn as usize].lock().await;
        let rest = if turn == Turn::Lists { *self.lists_rest() } else { None };
        let until = closed.get(&topic).copied().max(rest);
        if let Some(left) = until.map(|until| until.saturating_duration_since(Instant::now())).filter(|d| !d.is_zero())
        {
            return Err(ActionError::Limited {
                retry_after: Some(left),
                key: None,
                opponent: false,
                detail: "not sent: the server's wait has not passed".to_owned(),
            });
        }
        let answer = self.send(call, self.settings.request_timeout).await;
        // A limit with a name (a hundred games a day against bots) concerns only some requests of the topic; who asked knows which.
        // Whether the server named a time is left as it was: who asked may want to wait longer each time.
        if let Err(ActionError::Limited { retry_after, key: None, opponent: false, .. }) = &answer {
            closed.insert(topic, Instant::now() + retry_after.unwrap_or(self.settings.limited_pause));
        }
        answer
    }

    /// Notes an answer of the server's that it has had too many requests.
    fn note_limit<T>(&self, lane: Lane, answer: &Result<T, ActionError>) {
        let Err(ActionError::Limited { key, opponent, .. }) = answer else { return };
        metrics::counter!(crate::REQUESTS_LIMITED, "endpoint" => lane.word()).increment(1);
        // A limit with a name is none on the number of requests.
        if key.is_none() && !opponent {
            *self.lists_rest() = Some(Instant::now() + self.settings.limited_pause);
        }
    }

    fn lists_rest(&self) -> std::sync::MutexGuard<'_, Option<Instant>> {
        self.lists_rest.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn send(&self, call: HttpCall<'_>, timeout: Duration) -> Result<String, ActionError> {
        let mut request = self.request(call.method, call.path, call.lane).timeout(timeout);
        if !call.query.is_empty() {
            request = request.query(call.query);
        }
        if !call.form.is_empty() {
            request = request.form(call.form);
        }
        if call.json {
            request = request.header(ACCEPT, "application/json");
        }
        if let Some(text) = call.text {
            request = request.header(CONTENT_TYPE, "text/plain").body(text.to_owned());
        }
        let response = request.send().await.map_err(unavailable)?;
        let answer = self.read(response).await;
        self.note_limit(call.lane, &answer);
        answer
    }

    /// Opens a stream of lines, which the server may take `patience` to begin.
    pub(super) async fn open(&self, path: &[&str], patience: Duration) -> Result<Response, ActionError> {
        let answer = async {
            let response = self.request(Method::GET, path, Lane::Stream).send().await.map_err(unavailable)?;
            match response.status().is_success() {
                true if has_page(&response) => Err(ActionError::Unavailable(NOT_THE_SERVER.to_owned())),
                true => Ok(response),
                false => Err(self.refusal(response).await),
            }
        };
        match tokio::time::timeout(patience, answer).await {
            Ok(answer) => {
                self.note_limit(Lane::Stream, &answer);
                answer
            }
            Err(_) => Err(ActionError::Unavailable("the stream does not open".to_owned())),
        }
    }

    fn request(&self, method: Method, path: &[&str], lane: Lane) -> reqwest::RequestBuilder {
        let named = self.owner.get().map(|(_, user_agent)| user_agent.clone());
        let user_agent = named.unwrap_or_else(|| HeaderValue::from_static(user_agent()));
        self.connections
            .of(lane)
            .request(method, self.settings.url.at(path))
            .header(AUTHORIZATION, self.authorization.clone())
            .header(USER_AGENT, user_agent)
    }

    async fn read(&self, response: Response) -> Result<String, ActionError> {
        if !response.status().is_success() {
            return Err(self.refusal(response).await);
        }
        let body = body(response).await.map_err(unavailable)?;
        if is_page(&body) { Err(ActionError::Unavailable(NOT_THE_SERVER.to_owned())) } else { Ok(body) }
    }

    async fn refusal(&self, response: Response) -> ActionError {
        let status = response.status();
        if status == StatusCode::UNAUTHORIZED && self.owner.initialized() {
            self.doubt.notify_one();
        }
        let header = response.headers().get(RETRY_AFTER).and_then(|value| retry_after(value.to_str().ok()?));
        let body = body(response).await.unwrap_or_default();
        let detail = self.detail(status, &body);
        let limit = wire::limit(&body);
        if status == StatusCode::TOO_MANY_REQUESTS || limit.is_some() {
            let (key, wait) = limit.unwrap_or_default();
            return ActionError::Limited {
                retry_after: wait.or(header).map(|wait| wait.min(LONGEST_PAUSE)),
                key,
                opponent: status == StatusCode::BAD_REQUEST,
                detail,
            };
        }
        // A page is by a proxy, which knows nothing of games and tokens: the server itself says why in JSON. Nor is it the server
        // that leads elsewhere (3xx), or finds a request too slow (408) or too early (425).
        match status.as_u16() {
            400..=499 if is_page(&body) => ActionError::Unavailable(detail),
            401 | 403 => ActionError::Unauthorised(detail),
            404 => ActionError::NotFound(detail),
            code @ 400..=499 if !matches!(code, 408 | 425) => ActionError::Refused(detail),
            _ => ActionError::Unavailable(detail),
        }
    }

    /// The server's words, as far as they are words: a proxy's page is not.
    fn detail(&self, status: StatusCode, body: &str) -> String {
        let words = wire::error_text(body).or_else(|| {
            let body = body.trim();
            (!body.is_empty() && !body.starts_with(['<', '{', '['])).then(|| body.to_owned())
        });
        let Some(words) = words else { return status.to_string() };
        let line = self.printable(&words);
        format!("{line} ({})", status.as_u16())
    }

    /// Words from outside in one line of bounded length that may be logged: without our secret, should the server echo it.
    pub(super) fn printable(&self, words: &str) -> String {
        words
            .replace(self.token.secret(), "***")
            .chars()
            .map(|c| if c.is_control() { ' ' } else { c })
            .take(LONGEST_DETAIL)
            .collect()
    }
}

pub(super) fn decode<T: serde::de::DeserializeOwned>(what: &str, body: &str) -> Result<T, ActionError> {
    wire::read(what, body).map_err(|error| ActionError::Unavailable(error.to_string()))
}

const fn user_agent() -> &'static str {
    concat!("concilio/", env!("CARGO_PKG_VERSION"))
}

/// `Retry-After`: seconds, or the time at which to come back.
fn retry_after(text: &str) -> Option<Duration> {
    let text = text.trim();
    if let Ok(seconds) = text.parse() {
        return Some(Duration::from_secs(seconds));
    }
    let until = jiff::fmt::rfc2822::parse(text).ok()?.timestamp();
    Some(Duration::try_from(until.duration_since(jiff::Timestamp::now())).unwrap_or_default())
}

/// Returns true if an answer is a page for people, which is by a proxy: the server answers in JSON.
fn is_page(body: &str) -> bool {
    body.trim_start().starts_with('<')
}

/// Returns true for an answer with a page, by its header, if its body is not read at once.
fn has_page(response: &Response) -> bool {
    let kind = response.headers().get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
    kind.is_some_and(|kind| kind.trim_start().to_ascii_lowercase().starts_with("text/html"))
}

async fn body(mut response: Response) -> reqwest::Result<String> {
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await? {
        if body.len() + chunk.len() > LONGEST_ANSWER {
            break;
        }
        body.extend_from_slice(&chunk);
    }
    Ok(String::from_utf8_lossy(&body).into_owned())
}

fn unavailable(error: reqwest::Error) -> ActionError {
    ActionError::Unavailable(chain(&error))
}

/// An error of the network by its first cause, which is where it tells what happened.
pub(super) fn chain(error: &reqwest::Error) -> String {
    if error.is_timeout() {
        return if error.is_connect() { "no connection in time".to_owned() } else { "no answer in time".to_owned() };
    }
    let mut cause: &dyn std::error::Error = error;
    while let Some(deeper) = cause.source() {
        cause = deeper;
    }
    let text = cause.to_string();
    // What plain HTTP says is no TLS.
    let speaks_no_tls = text.contains("InvalidContentType");
    if speaks_no_tls { "the server speaks no TLS; is its address http://?".to_owned() } else { text }
}

#[cfg(test)]
mod tests {
    use tokio::{
        io::{AsyncReadExt, AsyncWriteExt},
        net::{TcpListener, TcpStream},
        sync::mpsc,
        task::JoinSet,
    };

    use super::*;

    const OK: &str = r#"{"ok":true}"#;

    /// A server that allows ten requests at a time on a connection of HTTP/2. A stream it begins never ends.
    async fn server() -> String {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let url = format!("http://{}", listener.local_addr().expect("an address"));
        tokio::spawn(async move {
            while let Ok((socket, _)) = listener.accept().await {
                tokio::spawn(async move {
                    let mut start = [0; 3];
                    let _ = socket.peek(&mut start).await;
                    if &start == b"PRI" { over_http2(socket).await } else { over_http1(socket).await }
                });
            }
        });
        url
    }

    fn client(settings: &LichessSettings) -> Http {
        let token = Token::parse("lip_secret", "the test").expect("a token");
        Http::with(settings, token, reqwest::ClientBuilder::http2_prior_knowledge).expect("a client")
    }

    async fn over_http2(socket: TcpStream) {
        let mut builder = h2::server::Builder::new();
        let mut connection =
            builder.max_concurrent_streams(10).handshake::<_, bytes::Bytes>(socket).await.expect("HTTP/2");
        let mut open = Vec::new();
        while let Some(Ok((request, mut respond))) = connection.accept().await {
            let response = ::http::Response::new(());
            if request.uri().path().contains("/stream/") {
                open.push(respond.send_response(response, false));
            } else if let Ok(mut body) = respond.send_response(response, false) {
                let _ = body.send_data(OK.into(), true);
            }
        }
    }

    async fn over_http1(mut socket: TcpStream) {
        let mut request = vec![0; 4096];
        let length = socket.read(&mut request).await.unwrap_or(0);
        let is_stream = request[..length].windows(8).any(|part| part == b"/stream/");
        let head = if is_stream { "Transfer-Encoding: chunked" } else { "Content-Length: 11" };
        let body = if is_stream { "" } else { OK };
        let answer = format!("HTTP/1.1 200 OK\r\n{head}\r\n\r\n{body}");
        let _ = socket.write_all(answer.as_bytes()).await;
        // It stays open until the client has gone.
        while socket.read(&mut request).await.is_ok_and(|count| count > 0) {}
    }

    /// Moves share nothing with the streams, and streams share no connection with each other.
    #[tokio::test]
    async fn hundred_games_move_despite_stream_limit() {
        let settings = LichessSettings {
            url: server().await.parse().expect("an address"),
            move_timeout: Duration::from_secs(60),
            idle_timeout: Duration::from_secs(60),
            ..LichessSettings::default()
        };
        let http = client(&settings);
        let http = Arc::new(http);
        let mut streams = Vec::new();
        for game in 0..100 {
            let path = ["api", "bot", "game", "stream", &format!("game{game:04}")];
            streams.push(http.open(&path, settings.idle_timeout).await.expect("a stream"));
        }
        let mut moves = JoinSet::new();
        let (waited, mut waits) = mpsc::unbounded_channel();
        for game in 0..100 {
            let (http, waited) = (Arc::clone(&http), waited.clone());
            moves.spawn(async move {
                let asked = Instant::now();
                let path = ["api", "bot", "game", &format!("game{game:04}"), "move", "e2e4"];
                let answer = http.call(HttpCall::urgent(&path)).await;
                let _ = waited.send(asked.elapsed());
                answer
            });
        }
        while let Some(answer) = moves.join_next().await {
            assert_eq!(answer.expect("no panic").as_deref(), Ok(OK));
        }
        drop(waited);
        let mut longest = Duration::ZERO;
        while let Some(wait) = waits.recv().await {
            longest = longest.max(wait);
        }
        println!("{} streams are open; the slowest of 100 moves took {longest:?}", streams.len());
    }

    /// Promise 4: the clock stands still until the answer is there, so that a request which waits for a timer comes late by it.
    #[tokio::test(start_paused = true)]
    async fn no_timer_delays_a_move() {
        let (_until_answered, answers) = std::sync::mpsc::channel::<()>();
        tokio::task::spawn_blocking(move || answers.recv_timeout(Duration::from_secs(30)));
        let settings =
            LichessSettings { url: server().await.parse().expect("an address"), ..LichessSettings::default() };
        let http = client(&settings);
        let asked = tokio::time::Instant::now();
        for uci in ["e2e4", "d2d4"] {
            let path = ["api", "bot", "game", "game0001", "move", uci];
            assert_eq!(http.call(HttpCall::urgent(&path)).await.as_deref(), Ok(OK));
        }
        assert_eq!(asked.elapsed(), Duration::ZERO);
    }

    #[test]
    fn retry_after_is_seconds_or_a_date() {
        assert_eq!(retry_after(" 7 "), Some(Duration::from_secs(7)));
        assert_eq!(retry_after("Sun, 06 Nov 1994 08:49:37 GMT"), Some(Duration::ZERO));
        let later = jiff::Zoned::now().saturating_add(jiff::Span::new().hours(1));
        let wait = jiff::fmt::rfc2822::to_string(&later).ok().and_then(|date| retry_after(&date)).expect("a wait");
        assert!((3500..=3600).contains(&wait.as_secs()), "{wait:?}");
        assert_eq!(retry_after("soon"), None);
    }
}
