use axum::{extract::FromRequestParts, http::request::Parts};

use super::{api::LichessApi, error::ApiError, tokens::Caller};
use crate::{
    account::AccountId,
    state::{Denied, ServerState},
};

impl Caller {
    /// Goes on only if the token has one of these scopes.
    pub(crate) fn must_have(&self, any_of: &[&str]) -> Result<(), ApiError> {
        if any_of.iter().any(|scope| self.scopes.contains(*scope)) { Ok(()) } else { Err(ApiError::MissingScope) }
    }
}

impl FromRequestParts<LichessApi> for Caller {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, api: &LichessApi) -> Result<Self, ApiError> {
        let header = parts.headers.get("authorization").and_then(|value| value.to_str().ok());
        let token = header.and_then(|value| value.strip_prefix("Bearer ")).ok_or(ApiError::MissingToken)?.trim();
        api.tokens.owner(token).ok_or(ApiError::NoSuchToken)
    }
}

impl LichessApi {
    /// Runs `job` on the server's state for an account that must be a bot, and turns a refusal into
    /// Lichess's answer.
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
