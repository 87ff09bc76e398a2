//! What every handler has at hand, and how it asks.

use std::sync::Arc;

use serde_json::{Value, json};

use super::{error::ApiError, tokens::Tokens};
use crate::{
    faults::FaultInjector,
    settings::PracticeSettings,
    state::{Denied, ServerState, StateHandle},
};

/// What every handler has at hand.
#[derive(Clone)]
pub(crate) struct LichessApi {
    /// Everything is asked here.
    pub server_state: StateHandle,
    pub tokens: Tokens,
    pub faults: FaultInjector,
    /// How the server behaves.
    pub settings: Arc<PracticeSettings>,
    /// Where the server is, without a slash at the end.
    pub url: Arc<str>,
}

impl LichessApi {
    /// Asks the server's state, and turns a refusal into Lichess's answer.
    pub(crate) async fn ask<T, F>(&self, job: F) -> Result<T, ApiError>
    where
        T: Send + 'static,
        F: FnOnce(&mut ServerState) -> Result<T, Denied> + Send + 'static,
    {
        Ok(self.server_state.ask(job).await??)
    }
}

/// `{"ok":true}`.
pub(crate) fn ok() -> axum::Json<Value> {
    axum::Json(json!({ "ok": true }))
}
