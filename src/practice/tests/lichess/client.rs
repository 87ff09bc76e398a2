//! A plain HTTP client: no retries, no cleverness.

use std::time::Duration;

use practice::{PracticeServer, PracticeSettings};
use reqwest::{Method, Response, StatusCode};
use serde_json::Value;

/// Turns a hang into a failure.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);

#[derive(Clone)]
pub(crate) struct Client {
    http: reqwest::Client,
    url: String,
    token: String,
}

impl Client {
    pub(crate) async fn bot(server: &PracticeServer, name: &str) -> Self {
        Self::with_token(server, &server.add_account(name, true).await.expect("a new account"))
    }

    pub(crate) fn with_token(server: &PracticeServer, token: &str) -> Self {
        let http = reqwest::Client::builder().user_agent("practice-test").build().expect("a client");
        Self { http, url: server.url(), token: token.to_owned() }
    }

    /// Returns a client of the same account over another connection.
    pub(crate) fn over(&self, http: reqwest::ClientBuilder) -> Self {
        Self { http: http.build().expect("a client"), ..self.clone() }
    }

    pub(crate) fn request(&self, method: Method, path: &str) -> reqwest::RequestBuilder {
        self.http.request(method, format!("{}{path}", self.url)).bearer_auth(&self.token).timeout(PATIENCE)
    }

    pub(crate) async fn get(&self, path: &str) -> Reply {
        Reply::of(self.request(Method::GET, path).send().await.expect("an answer")).await
    }

    pub(crate) async fn post(&self, path: &str) -> Reply {
        Reply::of(self.request(Method::POST, path).send().await.expect("an answer")).await
    }

    pub(crate) async fn post_form(&self, path: &str, form: &[(&str, &str)]) -> Reply {
        Reply::of(self.request(Method::POST, path).form(form).send().await.expect("an answer")).await
    }

    pub(crate) async fn play(&self, game: &str, uci: &str) -> Reply {
        self.post(&format!("/api/bot/game/{game}/move/{uci}")).await
    }

    pub(crate) async fn events(&self) -> Lines {
        self.lines("/api/stream/event").await
    }

    pub(crate) async fn board(&self, game: &str) -> Lines {
        self.lines(&format!("/api/bot/game/stream/{game}")).await
    }

    pub(crate) async fn lines(&self, path: &str) -> Lines {
        let response = self.request(Method::GET, path).send().await.expect("an answer");
        assert_eq!(response.status(), StatusCode::OK, "{path}");
        Lines::of(response)
    }
}

#[derive(Debug)]
pub(crate) struct Reply {
    pub status: StatusCode,
    pub text: String,
}

impl Reply {
    async fn of(response: Response) -> Self {
        let status = response.status();
        Self { status, text: response.text().await.expect("a body") }
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or_else(|error| panic!("{error}: {}", self.text))
    }

    pub(crate) fn error(&self) -> String {
        self.json()["error"].as_str().unwrap_or_default().to_owned()
    }

    /// Fails unless it is a success.
    #[track_caller]
    pub(crate) fn ok(self) -> Self {
        assert!(self.status.is_success(), "{}: {}", self.status, self.text);
        self
    }
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) enum StreamEnd {
    /// The server closed it in good order; what is left is a line without an end.
    Clean(String),
    /// The connection broke.
    Broken,
}

pub(crate) struct Lines {
    response: Response,
    buffer: Vec<u8>,
    pub keep_alives: usize,
}

impl Lines {
    pub(crate) fn of(response: Response) -> Self {
        Self { response, buffer: Vec::new(), keep_alives: 0 }
    }

    pub(crate) async fn next(&mut self) -> Result<Value, StreamEnd> {
        loop {
            match &self.line().await?[..] {
                [] => self.keep_alives += 1,
                line => return Ok(serde_json::from_slice(line).expect("a line of JSON")),
            }
        }
    }

    pub(crate) async fn line(&mut self) -> Result<Vec<u8>, StreamEnd> {
        loop {
            if let Some(end) = self.buffer.iter().position(|byte| *byte == b'\n') {
                let mut line: Vec<u8> = self.buffer.drain(..=end).collect();
                line.pop();
                return Ok(line);
            }
            let chunk =
                tokio::time::timeout(PATIENCE, self.response.chunk()).await.expect("a stream that is not silent");
            match chunk {
                Ok(Some(bytes)) => self.buffer.extend_from_slice(&bytes),
                Ok(None) => return Err(StreamEnd::Clean(String::from_utf8_lossy(&self.buffer).into_owned())),
                Err(_) => return Err(StreamEnd::Broken),
            }
        }
    }

    /// The next line of a type; others are passed over.
    pub(crate) async fn next_of(&mut self, kind: &str) -> Value {
        loop {
            let line = self.next().await.unwrap_or_else(|end| panic!("{kind} expected, but the stream ended: {end:?}"));
            if line["type"] == kind {
                return line;
            }
        }
    }

    /// Returns the end of the stream, after any number of lines.
    pub(crate) async fn end(&mut self) -> StreamEnd {
        loop {
            if let Err(end) = self.next().await {
                return end;
            }
        }
    }
}

pub(crate) async fn server() -> PracticeServer {
    server_with(PracticeSettings::default()).await
}

pub(crate) async fn server_with(settings: PracticeSettings) -> PracticeServer {
    let _ = rustls::crypto::ring::default_provider().install_default();
    PracticeServer::start(settings).await.expect("a server on a free port")
}
