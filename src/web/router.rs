//! Routes of the page.

use std::{path::PathBuf, sync::Arc, time::Duration};

use axum::{
    Extension, Json, Router,
    extract::{DefaultBodyLimit, FromRef, Request, State},
    http::StatusCode,
    middleware::{self, Next},
    response::{IntoResponse, Response},
    routing::{get, post},
};
use serde::Serialize;
use tokio_util::sync::CancellationToken;

use crate::{
    AnotherGame, HealthChecks, PagePart, WebContext, WebSettings, archive,
    assets::{self, Assets},
    context::ProgramKind,
    control, machines,
    play::{self, PlayRoom},
    problem::{HttpProblem, in_one_form},
    security::{self, HostNames, OperatorKeys, PagePlayer, PageReader, WhoAmI},
    watch::{self, OverviewWatch},
};
use bot::{
    journal::Journal,
    session::{Control, EventBus},
};
use council::electors::Pool;
use util::Secret;

/// Maximum length of a request's body, in bytes.
const LONGEST_BODY: usize = 16 << 10;

/// Every answer has begun by then.
const ANSWER_WITHIN: Duration = Duration::from_secs(60);

/// Many games are written before they are sent, which takes longer.
const EXPORT_WITHIN: Duration = Duration::from_mins(10);

#[derive(Clone)]
pub(crate) struct WebState {
    pub keys: OperatorKeys,
    pub watch: OverviewWatch,
    pub archive: archive::JournalReader,
    pub pool: Pool,
    pub play_room: Arc<PlayRoom>,
    pub journal: Journal,
    pub control: Option<Control>,
    pub health: HealthChecks,
    pub another_game: Option<AnotherGame>,
}

/// State of the handlers with a journal and without a daemon.
#[derive(Clone)]
struct JournalState {
    keys: OperatorKeys,
    watch: OverviewWatch,
    archive: archive::JournalReader,
}

/// Lets a handler have one part of the state alone.
macro_rules! parts {
    ($state:ty: $($field:ident: $part:ty),* $(,)?) => {
        $(impl FromRef<$state> for $part {
            fn from_ref(state: &$state) -> Self {
                state.$field.clone()
            }
        })*
    };
}

parts! { JournalState:
    keys: OperatorKeys,
    watch: OverviewWatch,
    archive: archive::JournalReader,
}

parts! { WebState:
    keys: OperatorKeys,
    watch: OverviewWatch,
    archive: archive::JournalReader,
    pool: Pool,
    play_room: Arc<PlayRoom>,
    journal: Journal,
    control: Option<Control>,
    health: HealthChecks,
    another_game: Option<AnotherGame>,
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
    let (assets, others) = (Assets::new(&context.parts), context.routes.clone());
    let state = WebState {
        keys: keys.clone(),
        watch: OverviewWatch::start(context.event_bus.listen(), settings.watchers, stop.clone()),
        archive: archive::JournalReader::new(context.journal.path().to_owned()),
        pool: context.pool.clone(),
        control: context.control.clone(),
        health: context.health.clone(),
        journal: context.journal.clone(),
        another_game: context.another_game.clone(),
        play_room: Arc::new(PlayRoom::new(context, stop)),
    };
    let kind = ProgramKind { daemon: true, demo: state.another_game.is_some() };
    let routes = Router::new()
        .merge(archive::routes())
        .merge(play::routes())
        .route("/api/login", post(security::login))
        .route("/api/logout", post(security::logout))
        .route("/api/status", get(watch::status))
        .route("/api/events", get(watch::events))
        .route("/api/control", post(control::perform))
        .route("/api/demo/game", post(another_game))
        .route("/api/machines", get(machines::list))
        .route("/metrics", get(metrics))
        .route("/ready", get(ready))
        .with_state(state)
        .merge(others);
    page(routes, kind, keys, settings, assets)
}

/// The page in front of a journal, without a daemon: what was played can be read, and nothing else is there.
pub(crate) fn build_for_journal(
    settings: &WebSettings,
    secret: Option<Secret>,
    port: Option<u16>,
    journal: PathBuf,
    parts: &[PagePart],
    stop: CancellationToken,
) -> Router {
    let keys = OperatorKeys::new(secret, settings.public, port);
    let state = JournalState {
        keys: keys.clone(),
        // Nothing happens on this bus; browsers notice on its stream when the program ends.
        watch: OverviewWatch::start(EventBus::new().listen(), settings.watchers, stop),
        archive: archive::JournalReader::new(journal),
    };
    let routes = Router::new()
        .merge(archive::routes())
        .route("/api/login", post(security::login))
        .route("/api/logout", post(security::logout))
        .route("/api/events", get(watch::events))
        .with_state(state);
    page(routes, ProgramKind { daemon: false, demo: false }, keys, settings, Assets::new(parts))
}

/// The page's own files around these routes, and what every request passes.
fn page(routes: Router, kind: ProgramKind, keys: OperatorKeys, settings: &WebSettings, assets: Assets) -> Router {
    routes
        .route("/api/me", get(me))
        .route("/live", get(async || "alive\n"))
        .layer(Extension(kind))
        .layer(DefaultBodyLimit::max(LONGEST_BODY))
        .layer(middleware::from_fn_with_state(keys, security::recognise))
        .route("/", get(assets::index))
        .route("/assets/{edition}/{*name}", get(assets::file))
        .layer(Extension(assets))
        .fallback(async || HttpProblem::not_found("there is no such page"))
        .layer(middleware::from_fn(answer_in_time))
        .layer(middleware::from_fn(in_one_form))
        .layer(middleware::from_fn_with_state(HostNames::new(&settings.hosts), security::refuse_foreign))
        .layer(middleware::from_fn(security::add_headers))
}

/// The browser and the program, as the page sees them.
#[derive(Serialize)]
struct Introduction {
    #[serde(flatten)]
    who: WhoAmI,
    #[serde(flatten)]
    kind: ProgramKind,
    /// Changes with any file of the page.
    edition: String,
}

async fn me(who: WhoAmI, Extension(kind): Extension<ProgramKind>, Extension(assets): Extension<Assets>) -> Response {
    let who = if kind.daemon { who } else { who.without_a_daemon() };
    Json(Introduction { who, kind, edition: assets.edition().to_owned() }).into_response()
}

/// Starts another game of the demo.
async fn another_game(
    _: PagePlayer,
    State(another_game): State<Option<AnotherGame>>,
) -> Result<StatusCode, HttpProblem> {
    let ask = another_game.ok_or_else(|| HttpProblem::not_found("this program is not the demo"))?;
    match ask() {
        true => Ok(StatusCode::NO_CONTENT),
        false => Err(HttpProblem::busy("a game is running already")),
    }
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
