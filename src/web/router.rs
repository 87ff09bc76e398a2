//! Which address leads where.

use std::{sync::Arc, time::Duration};

use axum::{
    Extension, Json, Router,
    extract::{DefaultBodyLimit, FromRef, Request, State},
    http::StatusCode,
    middleware::{self, Next},
    response::{IntoResponse, Response},
    routing::{get, post},
};
use tokio_util::sync::CancellationToken;

use crate::{
    HealthChecks, WebContext, WebSettings, archive,
    assets::{self, Assets},
    control,
    draughts::{self, BoundedSearches},
    machines,
    play::{self, PlayRoom},
    problem::{HttpProblem, in_one_form},
    security::{self, HostNames, OperatorKeys, PageReader, WhoAmI},
    watch::{self, OverviewWatch},
};
use bot::{journal::Journal, session::Control};
use chess::Secret;
use council::pool::Pool;

/// Nothing that is sent to us is longer, in bytes.
const LONGEST_BODY: usize = 16 << 10;

/// Every answer has begun by then.
const ANSWER_WITHIN: Duration = Duration::from_secs(60);

/// Many games are written before they are sent, which takes longer.
const EXPORT_WITHIN: Duration = Duration::from_mins(10);

/// What the handlers share.
#[derive(Clone)]
pub(crate) struct WebState {
    pub keys: OperatorKeys,
    pub watch: OverviewWatch,
    pub archive: archive::JournalReader,
    pub pool: Pool,
    pub play_room: Arc<PlayRoom>,
    pub thinking: BoundedSearches,
    pub journal: Journal,
    pub control: Option<Control>,
    pub health: HealthChecks,
}

/// Lets a handler have one part of the state alone.
macro_rules! parts {
    ($($field:ident: $part:ty),* $(,)?) => {
        $(impl FromRef<WebState> for $part {
            fn from_ref(state: &WebState) -> Self {
                state.$field.clone()
            }
        })*
    };
}

parts! {
    keys: OperatorKeys,
    watch: OverviewWatch,
    archive: archive::JournalReader,
    pool: Pool,
    play_room: Arc<PlayRoom>,
    thinking: BoundedSearches,
    journal: Journal,
    control: Option<Control>,
    health: HealthChecks,
}

/// The whole of the page's server, in front of `context`; `port` is where browsers find it, if they do.
pub(crate) fn build(
    settings: &WebSettings,
    secret: Option<Secret>,
    port: Option<u16>,
    context: WebContext,
    stop: CancellationToken,
) -> Router {
    let keys = OperatorKeys::new(secret, settings.public, port);
    let state = WebState {
        keys: keys.clone(),
        watch: OverviewWatch::start(context.event_bus.listen(), settings.watchers, stop.clone()),
        archive: archive::JournalReader::new(context.journal.path().to_owned()),
        pool: context.pool.clone(),
        control: context.control.clone(),
        health: context.health.clone(),
        journal: context.journal.clone(),
        thinking: BoundedSearches::new(context.pool.clone(), stop.clone()),
        play_room: Arc::new(PlayRoom::new(context, stop)),
    };
    Router::new()
        .merge(archive::routes())
        .merge(play::routes())
        .merge(draughts::routes())
        .route("/api/me", get(async |me: WhoAmI| Json(me)))
        .route("/api/login", post(security::login))
        .route("/api/logout", post(security::logout))
        .route("/api/status", get(watch::status))
        .route("/api/events", get(watch::events))
        .route("/api/control", post(control::perform))
        .route("/api/machines", get(machines::list))
        .route("/metrics", get(metrics))
        .route("/live", get(async || "alive\n"))
        .route("/ready", get(ready))
        .with_state(state)
        .layer(DefaultBodyLimit::max(LONGEST_BODY))
        .layer(middleware::from_fn_with_state(keys, security::recognise))
        .route("/", get(assets::index))
        .route("/assets/{edition}/{*name}", get(assets::file))
        .layer(Extension(Assets::new()))
        .fallback(async || HttpProblem::not_found("there is no such page"))
        .layer(middleware::from_fn(answer_in_time))
        .layer(middleware::from_fn(in_one_form))
        .layer(middleware::from_fn_with_state(HostNames::new(&settings.hosts), security::refuse_foreign))
        .layer(middleware::from_fn(security::add_headers))
}

/// A request that takes too long, or whose body does not come, is given up.
async fn answer_in_time(request: Request, next: Next) -> Response {
    let is_export = request.uri().path().starts_with("/api/export/");
    let within = if is_export { EXPORT_WITHIN } else { ANSWER_WITHIN };
    match tokio::time::timeout(within, next.run(request)).await {
        Ok(response) => response,
        Err(_) => HttpProblem::new(StatusCode::REQUEST_TIMEOUT, "that took too long").into_response(),
    }
}

async fn metrics(_: PageReader, State(health): State<HealthChecks>) -> Result<Response, HttpProblem> {
    let measured = health.metrics.ok_or_else(|| HttpProblem::not_found("nothing is measured"))?;
    Ok(([("content-type", "text/plain; version=0.0.4")], measured()).into_response())
}

async fn ready(State(health): State<HealthChecks>) -> Result<&'static str, HttpProblem> {
    (health.ready)().map(|()| "ready\n").map_err(HttpProblem::busy)
}
