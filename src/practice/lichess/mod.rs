//! The Lichess face: the Bot API over HTTP, as <https://lichess.org/api> describes it and as its server behaves.
//!
//! Handlers only translate: a request becomes a question to the hub, its answer JSON. Whatever is to go wrong happens in
//! [`faulty`] (requests) and [`stream`] (streams), before or after the handlers, which know nothing of it.

mod auth;
mod challenges;
mod error;
mod export;
mod fields;
mod people;
mod play;
mod render;
mod stream;

use std::{future::pending, sync::Arc};

use axum::{
    Extension, Router,
    extract::{ConnectInfo, Request, State as Shared},
    http::{Method, StatusCode},
    middleware::{self, Next},
    response::{IntoResponse, Response},
};
use hyper_util::{
    rt::{TokioExecutor, TokioIo},
    server::conn::auto::Builder,
    service::TowerToHyperService,
};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

pub use auth::{BOT_SCOPES, HUMAN_SCOPES, Tokens};
use error::ApiError;

use super::{
    Settings,
    account::AccountId,
    connection::{ConnectionControl, PracticeListener},
    faults::{FaultInjector, RequestFault, RequestKind},
    hub::{Denied, Hub, State},
};

/// What every handler has at hand.
#[derive(Clone)]
pub struct Face {
    /// Everything is asked here.
    pub hub: Hub,
    /// Who may ask.
    pub tokens: Tokens,
    /// What goes wrong.
    pub faults: FaultInjector,
    /// How the server behaves.
    pub settings: Arc<Settings>,
    /// Where the server is, without a slash at the end.
    pub url: Arc<str>,
}

impl Face {
    /// Asks the hub, and turns a refusal into Lichess's answer.
    async fn ask<T, F>(&self, job: F) -> Result<T, ApiError>
    where
        T: Send + 'static,
        F: FnOnce(&mut State) -> Result<T, Denied> + Send + 'static,
    {
        Ok(self.hub.ask(job).await??)
    }

    /// The same for an account that must be a bot's.
    async fn ask_as_bot<T, F>(&self, caller: &auth::Caller, job: F) -> Result<T, ApiError>
    where
        T: Send + 'static,
        F: FnOnce(&mut State, &AccountId) -> Result<T, Denied> + Send + 'static,
    {
        caller.must_have(&["bot:play"])?;
        let me = caller.account.clone();
        let answer = self.hub.ask(move |state| {
            let is_bot = state.account(&me).is_some_and(|account| account.bot);
            is_bot.then(|| job(state, &me))
        });
        match answer.await? {
            Some(answer) => Ok(answer?),
            None => Err(ApiError::bad("This endpoint can only be used with a Bot account.")),
        }
    }
}

/// Serves HTTP/1.1 and HTTP/2 until `stop` is cancelled. (Without TLS an HTTP/2 client must know beforehand what is spoken.)
pub async fn serve(face: Face, mut listener: PracticeListener, stop: CancellationToken) {
    let (router, faults) = (router(face.clone()), face.faults);
    // The listener restarts within `accept`, so that nothing but the end may interrupt it.
    while let Some((connection, _peer)) = stop.run_until_cancelled(listener.accept()).await {
        let service = router.clone().layer(Extension(ConnectInfo(connection.control().clone())));
        let mut builder = Builder::new(TokioExecutor::new());
        if let Some(most) = faults.streams_per_connection() {
            builder.http2().max_concurrent_streams(most.get());
        }
        tokio::spawn(stop.clone().run_until_cancelled_owned(async move {
            let service = TowerToHyperService::new(service);
            if let Err(error) = builder.serve_connection(TokioIo::new(connection), service).await {
                tracing::debug!(error, "an HTTP connection is lost");
            }
        }));
    }
}

/// The whole API.
fn router(face: Face) -> Router {
    Router::new()
        .merge(people::routes())
        .merge(challenges::routes())
        .merge(play::routes())
        .merge(export::routes())
        .fallback(|| async { ApiError::missing("Not found") })
        .layer(middleware::from_fn_with_state(face.clone(), faulty))
        .with_state(face)
}

/// `{"ok":true}`.
fn ok() -> axum::Json<Value> {
    axum::Json(json!({ "ok": true }))
}

/// Lets a request suffer what is arranged for its kind.
async fn faulty(
    Shared(face): Shared<Face>,
    ConnectInfo(control): ConnectInfo<ConnectionControl>,
    request: Request,
    next: Next,
) -> Response {
    let kind = kind_of(request.method(), request.uri().path());
    match face.faults.on_request(kind) {
        None => next.run(request).await,
        Some(RequestFault::Answer(429)) => ApiError::TooMany.into_response(),
        Some(RequestFault::Answer(status)) => {
            ApiError::Broken(StatusCode::from_u16(status).unwrap_or(StatusCode::BAD_GATEWAY)).into_response()
        }
        Some(RequestFault::Delay(time)) => {
            tokio::time::sleep(time).await;
            next.run(request).await
        }
        Some(RequestFault::DelayAnswer(time)) => {
            let answer = next.run(request).await;
            tokio::time::sleep(time).await;
            answer
        }
        Some(RequestFault::LoseRequest) => {
            control.reset();
            pending().await
        }
        Some(RequestFault::LoseAnswer) => {
            let _ = next.run(request).await;
            control.reset();
            pending().await
        }
        Some(RequestFault::Ignore) => pending().await,
    }
}

fn kind_of(method: &Method, path: &str) -> RequestKind {
    let mut parts = path.trim_matches('/').split('/');
    match (parts.next(), parts.next(), parts.next()) {
        (Some("api"), Some("stream"), Some("event")) => RequestKind::EventStream,
        (Some("api"), Some("challenge"), _) => RequestKind::Challenge,
        (Some("api"), Some("account" | "token"), _) => RequestKind::Account,
        (Some("api"), Some("bot"), Some("account")) => RequestKind::Account,
        (Some("api"), Some("bot"), Some("game")) => match (parts.next(), parts.next()) {
            (Some("stream"), _) => RequestKind::GameStream,
            (_, Some("move")) => RequestKind::Move,
            (_, Some("chat")) => RequestKind::Chat,
            _ if method == Method::POST => RequestKind::GameAction,
            _ => RequestKind::Other,
        },
        _ => RequestKind::Other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_told_apart() {
        for (path, kind) in [
            ("/api/stream/event", RequestKind::EventStream),
            ("/api/bot/game/stream/abcdefgh", RequestKind::GameStream),
            ("/api/bot/game/abcdefgh/move/e2e4", RequestKind::Move),
            ("/api/bot/game/abcdefgh/chat", RequestKind::Chat),
            ("/api/bot/game/abcdefgh/resign", RequestKind::GameAction),
            ("/api/challenge/somebody", RequestKind::Challenge),
            ("/api/account", RequestKind::Account),
            ("/api/bot/online", RequestKind::Other),
        ] {
            assert_eq!(kind_of(&Method::POST, path), kind, "{path}");
        }
    }
}
