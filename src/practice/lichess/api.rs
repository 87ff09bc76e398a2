use std::sync::Arc;

use serde_json::{Value, json};

use super::{error::ApiError, response_times::ResponseTimes, tokens::Tokens};
use crate::{
    faults::FaultInjector,
    settings::PracticeSettings,
    state::{Denied, ServerState, StateHandle},
};

pub(crate) type JsonAnswer = Result<axum::Json<Value>, ApiError>;

#[derive(Clone)]
pub(crate) struct LichessApi {
    pub server_state: StateHandle,
    pub tokens: Tokens,
    pub faults: FaultInjector,
    pub response_times: ResponseTimes,
    pub settings: Arc<PracticeSettings>,
    /// The server's address, without a slash at the end.
    pub url: Arc<str>,
}

impl LichessApi {
    /// Runs `job` on the server's state, and turns a refusal into Lichess's answer.
    pub(crate) async fn ask<T, F>(&self, job: F) -> Result<T, ApiError>
    where
        T: Send + 'static,
        F: FnOnce(&mut ServerState) -> Result<T, Denied> + Send + 'static,
    {
        Ok(self.server_state.ask(job).await??)
    }
}

/// Returns `{"ok":true}`.
pub(crate) fn ok() -> JsonAnswer {
    Ok(axum::Json(json!({ "ok": true })))
}
