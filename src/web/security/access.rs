//! Access of a request: by the operator's secret, by a session opened with it, or through the Unix
//! socket.

use std::{
    path::PathBuf,
    sync::{Arc, Mutex, PoisonError},
    time::Instant,
};

use axum::{
    Extension, Json,
    extract::{FromRequestParts, Request, State},
    http::{HeaderMap, HeaderValue, StatusCode, header, request::Parts},
    middleware::Next,
    response::{IntoResponse, Response},
};
use serde::Deserialize;
use subtle::ConstantTimeEq;
use tokio::task::spawn_blocking;

use super::{guesses::Guesses, sessions::Sessions};
use crate::{listen::Visitor, problem::HttpProblem};
use util::Secret;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Access {
    /// May log in.
    Anonymous,
    /// May read.
    Reader,
    /// May read, and play in the page.
    Player,
    Operator,
}

pub(crate) struct OperatorKeys {
    secret: Option<Secret>,
    public: bool,
    cookie: String,
    sessions: Sessions,
    guesses: Mutex<Guesses>,
}

impl OperatorKeys {
    /// Creates the keys of a page on this port, with its sessions in `file`. Browsers keep cookies
    /// by host and not by port, so the cookie of each page of a host has its own name.
    pub(crate) fn new(secret: Option<Secret>, public: bool, port: Option<u16>, file: Option<PathBuf>) -> Arc<Self> {
        let cookie = port.map_or_else(|| "concilio".to_owned(), |port| format!("concilio-{port}"));
        let sessions = Sessions::read(file.filter(|_| secret.is_some()));
        Arc::new(Self { secret, public, cookie, sessions, guesses: Mutex::default() })
    }

    /// Returns the session in the cookie of a request.
    fn session<'a>(&self, headers: &'a HeaderMap) -> Option<&'a str> {
        let cookies = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
        let mut pairs = cookies.flat_map(|value| value.split(';')).filter_map(|pair| pair.trim().split_once('='));
        pairs.find_map(|(name, value)| (name == self.cookie).then_some(value))
    }

    fn check_secret(&self, given: &str, visitor: Visitor) -> Result<(), HttpProblem> {
        let now = Instant::now();
        let mut guesses = self.guesses.lock().unwrap_or_else(PoisonError::into_inner);
        if !guesses.may_guess(visitor, now) {
            let why = "too many wrong secrets came from this address; wait a minute";
            return Err(HttpProblem::new(StatusCode::TOO_MANY_REQUESTS, why));
        }
        if self.is_secret(given) {
            return Ok(());
        }
        guesses.was_wrong(visitor, now);
        Err(HttpProblem::new(StatusCode::UNAUTHORIZED, "that is not the operator's secret"))
    }

    fn is_secret(&self, given: &str) -> bool {
        self.secret.as_ref().is_some_and(|secret| bool::from(secret.reveal().as_bytes().ct_eq(given.as_bytes())))
    }

    fn is_session(&self, given: &str) -> bool {
        self.secret.as_ref().is_some_and(|secret| self.sessions.is_open(secret, given))
    }

    /// Returns the access of these headers on this listener. A wrong secret in the headers is an
    /// error, not a reader.
    fn access(&self, visitor: Visitor, headers: &HeaderMap) -> Result<Access, HttpProblem> {
        if visitor == Visitor::OwnUser {
            return Ok(Access::Operator);
        }
        if let Some(secret) = bearer(headers) {
            return self.check_secret(secret, visitor).map(|()| Access::Operator);
        }
        if self.session(headers).is_some_and(|session| self.is_session(session)) {
            return Ok(Access::Operator);
        }
        Ok(match (&self.secret, self.public) {
            (None, _) => Access::Player,
            (Some(_), true) => Access::Reader,
            (Some(_), false) => Access::Anonymous,
        })
    }

    fn missing(&self, wanted: u8) -> HttpProblem {
        match self.secret {
            None => HttpProblem::refused(
                "the page changes nothing of the bot without an operator's secret; name its file in web.secret_file, or use \
                 concilio ctl on this machine",
            ),
            Some(_) if wanted == Access::Operator as u8 => {
                HttpProblem::new(StatusCode::UNAUTHORIZED, "this needs the operator's secret; log in")
            }
            Some(_) => HttpProblem::new(StatusCode::UNAUTHORIZED, "this page is not public; log in"),
        }
    }
}

fn bearer(headers: &HeaderMap) -> Option<&str> {
    headers.get(header::AUTHORIZATION)?.to_str().ok()?.strip_prefix("Bearer ")
}

/// Determines the access of a request for the handlers behind it.
pub(crate) async fn recognise(
    State(keys): State<Arc<OperatorKeys>>,
    Extension(visitor): Extension<Visitor>,
    mut request: Request,
    next: Next,
) -> Response {
    match keys.access(visitor, request.headers()) {
        Ok(access) => {
            request.extensions_mut().insert(Requester { access, keys });
            next.run(request).await
        }
        Err(problem) => problem.into_response(),
    }
}

#[derive(Clone)]
pub(crate) struct Requester {
    access: Access,
    keys: Arc<OperatorKeys>,
}

impl Requester {
    pub(crate) fn may(&self, wanted: Access) -> bool {
        self.access >= wanted
    }

    pub(crate) fn can_log_in(&self) -> bool {
        self.keys.secret.is_some()
    }
}

/// Extractor for handlers that need an [`Access`], given as a number.
pub struct Allowed<const ACCESS: u8>;

pub(crate) type PageReader = Allowed<{ Access::Reader as u8 }>;
pub type PagePlayer = Allowed<{ Access::Player as u8 }>;
pub(crate) type Operator = Allowed<{ Access::Operator as u8 }>;

impl<S: Sync, const ACCESS: u8> FromRequestParts<S> for Allowed<ACCESS> {
    type Rejection = HttpProblem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, HttpProblem> {
        let requester = parts.extensions.get::<Requester>();
        let requester = requester.ok_or_else(|| HttpProblem::internal("the request has no access level"))?;
        if requester.access as u8 >= ACCESS { Ok(Self) } else { Err(requester.keys.missing(ACCESS)) }
    }
}

#[derive(Deserialize)]
pub(crate) struct LoginForm {
    secret: String,
}

pub(crate) async fn login(
    State(keys): State<Arc<OperatorKeys>>,
    Extension(visitor): Extension<Visitor>,
    Json(login): Json<LoginForm>,
) -> Result<Response, HttpProblem> {
    let secret = keys.secret.clone().ok_or_else(|| keys.missing(Access::Operator as u8))?;
    keys.check_secret(&login.secret, visitor)?;
    let opened = Arc::clone(&keys);
    let session = spawn_blocking(move || opened.sessions.open(&secret)).await.map_err(HttpProblem::internal)?;
    Ok(with_cookie(&format!("{}={session}; Path=/; HttpOnly; SameSite=Strict", keys.cookie)))
}

pub(crate) async fn logout(State(keys): State<Arc<OperatorKeys>>, headers: HeaderMap) -> Result<Response, HttpProblem> {
    let session = keys.session(&headers).filter(|session| keys.is_session(session)).map(str::to_owned);
    if let (Some(session), Some(secret)) = (session, keys.secret.clone()) {
        let closed = Arc::clone(&keys);
        spawn_blocking(move || closed.sessions.close(&secret, &session)).await.map_err(HttpProblem::internal)?;
    }
    Ok(with_cookie(&format!("{}=; Path=/; HttpOnly; SameSite=Strict; Max-Age=0", keys.cookie)))
}

fn with_cookie(cookie: &str) -> Response {
    let mut response = StatusCode::NO_CONTENT.into_response();
    if let Ok(value) = HeaderValue::from_str(cookie) {
        response.headers_mut().insert(header::SET_COOKIE, value);
    }
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys(secret: Option<&str>, public: bool) -> Arc<OperatorKeys> {
        OperatorKeys::new(secret.map(Secret::new), public, Some(8080), None)
    }

    fn access(keys: &OperatorKeys, header: Option<(header::HeaderName, String)>) -> Option<Access> {
        let headers = header.into_iter().map(|(name, value)| (name, value.parse().expect("a value"))).collect();
        keys.access(Visitor::Remote([192, 0, 2, 1].into()), &headers).ok()
    }

    #[test]
    fn access_by_secret_session_or_socket() {
        let keys = keys(Some("sesame"), false);
        let bearer = |secret: &str| Some((header::AUTHORIZATION, format!("Bearer {secret}")));
        let cookie = |session: &str| {
            Some((header::COOKIE, format!("theme=dark; concilio-8081=another; concilio-8080={session}")))
        };
        assert_eq!(access(&keys, None), Some(Access::Anonymous));
        assert_eq!(access(&keys, bearer("sesame")), Some(Access::Operator));
        for wrong in ["", "sesam", "sesame ", "Sesame"] {
            assert_eq!(access(&keys, bearer(wrong)), None, "{wrong:?}");
        }
        let secret = Secret::new("sesame");
        let session = keys.sessions.open(&secret);
        assert_eq!(access(&keys, cookie(&session)), Some(Access::Operator));
        keys.sessions.close(&secret, &session);
        assert_eq!(access(&keys, cookie(&session)), Some(Access::Anonymous));
        assert_eq!(keys.access(Visitor::OwnUser, &HeaderMap::new()).ok(), Some(Access::Operator));
    }

    #[test]
    fn page_without_secret_is_read_only() {
        assert_eq!(access(&keys(None, false), None), Some(Access::Player));
        assert_eq!(access(&keys(Some("sesame"), true), None), Some(Access::Reader));
        assert!(!keys(None, false).is_secret(""), "no secret is not an empty one");
    }
}
