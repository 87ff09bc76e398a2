//! Access of a request: by the operator's secret, by a session that was opened with it, or through
//! the Unix socket.

use std::{
    collections::VecDeque,
    net::IpAddr,
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
use rand::RngExt;
use serde::{Deserialize, Serialize};
use subtle::ConstantTimeEq;

use super::guesses::Guesses;
use crate::{
    listen::{Door, Visitor},
    problem::HttpProblem,
};
use util::Secret;

/// Maximum number of sessions; the oldest is dropped first.
const MOST_SESSIONS: usize = 64;

/// Permissions of a request.
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

/// The secret and the sessions that were opened with it. Cheap to clone.
#[derive(Clone)]
pub(crate) struct OperatorKeys(Arc<KeyRing>);

struct KeyRing {
    secret: Option<Secret>,
    public: bool,
    cookie: String,
    sessions: Mutex<VecDeque<String>>,
    guesses: Guesses,
}

impl OperatorKeys {
    /// A page on this port. Browsers keep cookies by host and not by port, so each page of a host needs a cookie of its own name.
    pub(crate) fn new(secret: Option<Secret>, public: bool, port: Option<u16>) -> Self {
        let cookie = port.map_or_else(|| "concilio".to_owned(), |port| format!("concilio-{port}"));
        let (sessions, guesses) = (Mutex::default(), Guesses::default());
        Self(Arc::new(KeyRing { secret, public, cookie, sessions, guesses }))
    }

    /// The session that a request's cookie names.
    fn session<'a>(&self, headers: &'a HeaderMap) -> Option<&'a str> {
        let cookies = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
        let mut pairs = cookies.flat_map(|value| value.split(';')).filter_map(|pair| pair.trim().split_once('='));
        pairs.find_map(|(name, value)| (name == self.0.cookie).then_some(value))
    }

    /// Looks at a secret that was given from this address, or through the Unix socket.
    fn check_secret(&self, given: &str, from: Option<IpAddr>) -> Result<(), HttpProblem> {
        let now = Instant::now();
        if !self.0.guesses.may_guess(from, now) {
            let why = "too many wrong secrets came from this address; wait a minute";
            return Err(HttpProblem::new(StatusCode::TOO_MANY_REQUESTS, why));
        }
        if self.is_secret(given) {
            return Ok(());
        }
        self.0.guesses.was_wrong(from, now);
        Err(HttpProblem::new(StatusCode::UNAUTHORIZED, "that is not the operator's secret"))
    }

    fn is_secret(&self, given: &str) -> bool {
        self.0.secret.as_ref().is_some_and(|secret| bool::from(secret.reveal().as_bytes().ct_eq(given.as_bytes())))
    }

    fn is_session(&self, given: &str) -> bool {
        let sessions = self.0.sessions.lock().unwrap_or_else(PoisonError::into_inner);
        sessions.iter().fold(false, |found, known| found | bool::from(known.as_bytes().ct_eq(given.as_bytes())))
    }

    fn open_session(&self) -> String {
        let session: String = rand::rng().random::<[u8; 32]>().iter().map(|byte| format!("{byte:02x}")).collect();
        let mut sessions = self.0.sessions.lock().unwrap_or_else(PoisonError::into_inner);
        sessions.push_back(session.clone());
        if sessions.len() > MOST_SESSIONS {
            sessions.pop_front();
        }
        session
    }

    fn close_session(&self, session: &str) {
        self.0.sessions.lock().unwrap_or_else(PoisonError::into_inner).retain(|known| known != session);
    }

    /// Returns the access of these headers on this listener. A wrong secret in the headers is an
    /// error, not a reader.
    fn access(&self, Visitor { door, from }: Visitor, headers: &HeaderMap) -> Result<Access, HttpProblem> {
        if door == Door::OwnUser {
            return Ok(Access::Operator);
        }
        if let Some(secret) = bearer(headers) {
            return self.check_secret(secret, from).map(|()| Access::Operator);
        }
        if self.session(headers).is_some_and(|session| self.is_session(session)) {
            return Ok(Access::Operator);
        }
        Ok(match (&self.0.secret, self.0.public) {
            (None, _) => Access::Player,
            (Some(_), true) => Access::Reader,
            (Some(_), false) => Access::Anonymous,
        })
    }

    fn missing(&self, wanted: Access) -> HttpProblem {
        match self.0.secret {
            None => HttpProblem::refused(
                "the page changes nothing of the bot without an operator's secret; name its file in web.secret_file, or use \
                 concilio ctl on this machine",
            ),
            Some(_) if wanted == Access::Operator => {
                HttpProblem::new(StatusCode::UNAUTHORIZED, "this needs the operator's secret; log in")
            }
            Some(_) => HttpProblem::new(StatusCode::UNAUTHORIZED, "this page is not public; log in"),
        }
    }
}

fn bearer(headers: &HeaderMap) -> Option<&str> {
    headers.get(header::AUTHORIZATION)?.to_str().ok()?.strip_prefix("Bearer ")
}

/// Finds out who asks, for the handlers behind it.
pub(crate) async fn recognise(
    State(keys): State<OperatorKeys>,
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

/// Access of a request, as determined by the middleware.
#[derive(Clone)]
struct Requester {
    access: Access,
    keys: OperatorKeys,
}

fn at_least(parts: &Parts, wanted: Access) -> Result<Access, HttpProblem> {
    let caller =
        parts.extensions.get::<Requester>().ok_or_else(|| HttpProblem::internal("the request has no access level"))?;
    if caller.access >= wanted { Ok(caller.access) } else { Err(caller.keys.missing(wanted)) }
}

/// Extractor for handlers that need read access.
pub(crate) struct PageReader;

impl<S: Sync> FromRequestParts<S> for PageReader {
    type Rejection = HttpProblem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, HttpProblem> {
        at_least(parts, Access::Reader).map(|_| Self)
    }
}

/// Extractor for handlers that need play access.
pub struct PagePlayer;

impl<S: Sync> FromRequestParts<S> for PagePlayer {
    type Rejection = HttpProblem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, HttpProblem> {
        at_least(parts, Access::Player).map(|_| Self)
    }
}

/// Lets a handler be called by the operator.
pub(crate) struct Operator;

impl<S: Sync> FromRequestParts<S> for Operator {
    type Rejection = HttpProblem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, HttpProblem> {
        at_least(parts, Access::Operator).map(|_| Self)
    }
}

#[derive(Deserialize)]
pub(crate) struct LoginForm {
    secret: String,
}

/// Opens a session for a client with the secret.
pub(crate) async fn login(
    State(keys): State<OperatorKeys>,
    Extension(visitor): Extension<Visitor>,
    Json(login): Json<LoginForm>,
) -> Result<Response, HttpProblem> {
    if keys.0.secret.is_none() {
        return Err(keys.missing(Access::Operator));
    }
    keys.check_secret(&login.secret, visitor.from)?;
    let (name, session) = (&keys.0.cookie, keys.open_session());
    Ok(with_cookie(&format!("{name}={session}; Path=/; HttpOnly; SameSite=Strict")))
}

/// Closes the client's session.
pub(crate) async fn logout(State(keys): State<OperatorKeys>, headers: HeaderMap) -> Response {
    if let Some(session) = keys.session(&headers) {
        keys.close_session(session);
    }
    with_cookie(&format!("{}=; Path=/; HttpOnly; SameSite=Strict; Max-Age=0", keys.0.cookie))
}

fn with_cookie(cookie: &str) -> Response {
    let mut response = StatusCode::NO_CONTENT.into_response();
    if let Ok(value) = HeaderValue::from_str(cookie) {
        response.headers_mut().insert(header::SET_COOKIE, value);
    }
    response
}

/// Permissions of the client, for the page.
#[derive(Serialize)]
pub(crate) struct WhoAmI {
    reads: bool,
    plays: bool,
    /// The bot may be told what to do.
    operates: bool,
    can_log_in: bool,
}

impl WhoAmI {
    /// Removes play and operation, without a daemon.
    pub(crate) fn without_a_daemon(self) -> Self {
        Self { plays: false, operates: false, ..self }
    }
}

impl<S: Sync> FromRequestParts<S> for WhoAmI {
    type Rejection = HttpProblem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, HttpProblem> {
        at_least(parts, Access::Anonymous)?;
        let caller = parts
            .extensions
            .get::<Requester>()
            .ok_or_else(|| HttpProblem::internal("the request has no access level"))?;
        let may = |wanted| caller.access >= wanted;
        Ok(Self {
            reads: may(Access::Reader),
            plays: may(Access::Player),
            operates: may(Access::Operator),
            can_log_in: caller.keys.0.secret.is_some(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys(secret: Option<&str>, public: bool) -> OperatorKeys {
        OperatorKeys::new(secret.map(Secret::new), public, Some(8080))
    }

    fn access(keys: &OperatorKeys, header: Option<(header::HeaderName, String)>) -> Option<Access> {
        let headers = header.into_iter().map(|(name, value)| (name, value.parse().expect("a value"))).collect();
        keys.access(Visitor { door: Door::Network, from: None }, &headers).ok()
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
        let session = keys.open_session();
        assert_eq!(access(&keys, cookie(&session)), Some(Access::Operator));
        keys.close_session(&session);
        assert_eq!(access(&keys, cookie(&session)), Some(Access::Anonymous));
        let own = Visitor { door: Door::OwnUser, from: None };
        assert_eq!(keys.access(own, &HeaderMap::new()).ok(), Some(Access::Operator));
    }

    #[test]
    fn page_without_secret_is_read_only() {
        assert_eq!(access(&keys(None, false), None), Some(Access::Player));
        assert_eq!(access(&keys(Some("sesame"), true), None), Some(Access::Reader));
        assert!(!keys(None, false).is_secret(""), "no secret is not an empty one");
    }

    #[test]
    fn oldest_sessions_are_dropped() {
        let keys = keys(Some("sesame"), false);
        let first = keys.open_session();
        (0..MOST_SESSIONS).for_each(|_| drop(keys.open_session()));
        assert!(!keys.is_session(&first));
        assert_eq!(keys.0.sessions.lock().expect("a lock").len(), MOST_SESSIONS);
    }
}
