//! What every handler needs: the server's parts, tokens and what they allow.

use std::{
    collections::{BTreeSet, HashMap},
    convert::Infallible,
    sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock},
};

use axum::{
    Json,
    body::Body,
    extract::FromRequestParts,
    http::{header, request::Parts},
    response::{IntoResponse, Response},
};
use serde_json::{Value, json};

use super::{error::ApiError, response_times::ResponseTimes};
use crate::{
    account::AccountId,
    faults::FaultInjector,
    settings::PracticeSettings,
    state::{Denied, ServerState, StateHandle},
};

pub const BOT_SCOPES: &str = "bot:play,challenge:read,challenge:write,preference:read,tournament:write";
/// The scopes of a human's token; with `bot:play` the account can be upgraded.
pub const HUMAN_SCOPES: &str = "bot:play,board:play,challenge:read,challenge:write,preference:read";

pub(crate) type JsonAnswer = Result<Json<Value>, ApiError>;

#[derive(Clone)]
pub(crate) struct LichessApi {
    pub server_state: StateHandle,
    pub tokens: Arc<RwLock<HashMap<String, Caller>>>,
    pub faults: FaultInjector,
    pub response_times: Arc<Mutex<ResponseTimes>>,
    pub settings: Arc<PracticeSettings>,
    /// The server's address, without a slash at the end.
    pub url: Arc<str>,
}

/// The owner of a valid token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Caller {
    pub account: AccountId,
    pub token: String,
    pub scopes: BTreeSet<String>,
}

impl LichessApi {
    /// Makes a token valid. `scopes` are separated by commas.
    pub(crate) fn add_token(&self, token: &str, account: AccountId, scopes: &str) {
        let scopes = scopes.split(',').map(|scope| scope.trim().to_owned()).filter(|scope| !scope.is_empty()).collect();
        let caller = Caller { account, token: token.to_owned(), scopes };
        self.tokens.write().unwrap_or_else(PoisonError::into_inner).insert(token.to_owned(), caller);
    }

    pub(crate) fn revoke_token(&self, token: &str) {
        self.tokens.write().unwrap_or_else(PoisonError::into_inner).remove(token);
    }

    pub(crate) fn owner(&self, token: &str) -> Option<Caller> {
        self.tokens.read().unwrap_or_else(PoisonError::into_inner).get(token).cloned()
    }

    pub(crate) fn response_times(&self) -> MutexGuard<'_, ResponseTimes> {
        self.response_times.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs `job` on the server's state, and turns a refusal into Lichess's answer.
    pub(crate) async fn ask<T, F>(&self, job: F) -> Result<T, ApiError>
    where
        T: Send + 'static,
        F: FnOnce(&mut ServerState) -> Result<T, Denied> + Send + 'static,
    {
        Ok(self.server_state.ask(job).await??)
    }

    /// Does the same for an account that must be a bot.
    pub(crate) async fn ask_as_bot<T, F>(&self, caller: &Caller, job: F) -> Result<T, ApiError>
    where
        T: Send + 'static,
        F: FnOnce(&mut ServerState, &AccountId) -> Result<T, Denied> + Send + 'static,
    {
        caller.must_have(&["bot:play"])?;
        let me = caller.account.clone();
        let answer = self.server_state.ask(move |state| {
            let is_bot = state.account(&me).is_some_and(|account| account.bot);
            is_bot.then(|| job(state, &me))
        });
        match answer.await? {
            Some(answer) => Ok(answer?),
            None => Err(ApiError::bad("This endpoint can only be used with a Bot account.")),
        }
    }
}

impl Caller {
    /// Goes on only if the token has one of these scopes.
    pub(crate) fn must_have(&self, any_of: &[&str]) -> Result<(), ApiError> {
        if any_of.iter().any(|scope| self.scopes.contains(*scope)) { Ok(()) } else { Err(ApiError::MissingScope) }
    }
}

impl FromRequestParts<Self> for LichessApi {
    type Rejection = Infallible;

    async fn from_request_parts(_: &mut Parts, api: &Self) -> Result<Self, Infallible> {
        Ok(api.clone())
    }
}

impl FromRequestParts<LichessApi> for Caller {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, api: &LichessApi) -> Result<Self, ApiError> {
        let header = parts.headers.get("authorization").and_then(|value| value.to_str().ok());
        let token = header.and_then(|value| value.strip_prefix("Bearer ")).ok_or(ApiError::MissingToken)?.trim();
        api.owner(token).ok_or(ApiError::NoSuchToken)
    }
}

pub(crate) fn ok() -> JsonAnswer {
    Ok(Json(json!({ "ok": true })))
}

/// Returns an answer of JSON objects, one a line.
pub(crate) fn ndjson(lines: impl Into<Body>) -> Response {
    ([(header::CONTENT_TYPE, "application/x-ndjson")], lines.into()).into_response()
}
