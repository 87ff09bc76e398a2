//! The Lichess Bot API over HTTP, as <https://lichess.org/api> describes it and as its server
//! behaves.
//!
//! Handlers only translate: a request becomes a job on the server's state, its result JSON. Faults
//! happen in [`faulty`] (requests) and [`stream`] (streams), outside of the handlers.

mod api;
mod challenges;
mod error;
mod export;
mod fields;
mod people;
mod play;
mod render;
mod response_times;
mod services;
mod stream;
mod tournaments;

use std::future::pending;

use axum::{
    Extension, Router,
    extract::{ConnectInfo, Request},
    http::{Method, StatusCode},
    middleware::{self, Next},
    response::{IntoResponse, Response},
};
use hyper_util::{
    rt::{TokioExecutor, TokioIo},
    server::conn::auto::Builder,
    service::TowerToHyperService,
};
use tokio_util::sync::CancellationToken;

pub(crate) use api::LichessApi;
pub use api::{BOT_SCOPES, HUMAN_SCOPES};
use error::ApiError;

use super::{
    connection::{ConnectionControl, PracticeListener},
    faults::{RequestFault, RequestKind},
};
use domain::GameId;

/// Serves HTTP/1.1 and HTTP/2 until `stop` is cancelled. (Without TLS an HTTP/2 client needs prior
/// knowledge.)
pub(crate) async fn serve(api: LichessApi, mut listener: PracticeListener, stop: CancellationToken) {
    let (router, faults) = (router(api.clone()), api.faults);
    // The listener restarts within `accept`, so that nothing but the end may interrupt it.
    while let Some((connection, _peer)) = stop.run_until_cancelled(listener.accept()).await {
        let service = router.clone().layer(Extension(ConnectInfo(connection.control.clone())));
        let mut builder = Builder::new(TokioExecutor::new());
        if let Some(most) = faults.plan().streams {
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

fn router(api: LichessApi) -> Router {
    Router::new()
        .merge(people::routes())
        .merge(challenges::routes())
        .merge(play::routes())
        .merge(export::routes())
        .merge(tournaments::routes())
        .merge(services::routes())
        .fallback(|| async { ApiError::missing("Not found") })
        .layer(middleware::from_fn_with_state(api.clone(), faulty))
        .with_state(api)
}

/// Lets a request suffer what is arranged for its kind.
async fn faulty(
    api: LichessApi,
    ConnectInfo(control): ConnectInfo<ConnectionControl>,
    request: Request,
    next: Next,
) -> Response {
    let kind = kind_of(request.method(), request.uri().path());
    if kind == RequestKind::Move
        && let Some(game) = request.uri().path().split('/').nth(4)
    {
        api.response_times().answered(&GameId::new(game));
    }
    match api.faults.on_request(kind) {
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
            ("/api/challenge/ann", RequestKind::Challenge),
            ("/api/account", RequestKind::Account),
            ("/api/bot/online", RequestKind::Other),
        ] {
            assert_eq!(kind_of(&Method::POST, path), kind, "{path}");
        }
    }
}
