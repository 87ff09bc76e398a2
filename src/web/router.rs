use std::{path::PathBuf, sync::Arc, time::Duration};

use axum::{
    Extension, Json, Router,
    extract::{DefaultBodyLimit, Request, State},
    http::StatusCode,
    middleware::{self, Next},
    response::{IntoResponse, Response},
    routing::{get, post},
};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::{
    AnotherGame, HealthChecks, PagePart, WebContext, WebSettings,
    archive::{self, JournalReader},
    assets::{self, Assets},
    control, machines,
    play::{self, PageGames},
    problem::{HttpProblem, in_one_form},
    security::{self, Access, OperatorKeys, PagePlayer, PageReader, Requester},
    watch::{self, OverviewWatch},
};
use bot::session::EventBus;
use util::Secret;

/// Maximum length of a request's body, in bytes.
const LONGEST_BODY: usize = 16 << 10;

/// Timeout for the beginning of an answer.
const ANSWER_WITHIN: Duration = Duration::from_secs(60);

/// Exports of many games take longer: they are written to a file before the answer begins.
const EXPORT_WITHIN: Duration = Duration::from_mins(10);

/// Returns the routes of a page in front of `context`, on `port` if browsers can reach it.
pub(crate) fn build(
    settings: &WebSettings,
    secret: Option<Secret>,
    port: Option<u16>,
    context: WebContext,
    stop: CancellationToken,
) -> Router {
    let mut sessions = context.journal.path().as_os_str().to_owned();
    sessions.push(".sessions");
    let keys = OperatorKeys::new(secret, settings.public, port, Some(sessions.into()));
    let watch = OverviewWatch::start(context.event_bus.listen(), settings.watchers, stop.clone());
    let reader = JournalReader::new(context.journal.path().to_owned());
    let (another, health) = (context.another_game.clone(), context.health.clone());
    let demo = another.is_some();
    let (assets, others) = (Assets::new(&context.parts), context.routes.clone());
    let routes = shared_routes(reader, &keys, &watch)
        .route("/api/status", get(watch::status).with_state(watch))
        .route("/api/control", post(control::perform).with_state(context.control.clone()))
        .route("/api/demo/game", post(another_game).with_state(another))
        .route("/api/machines", get(machines::list).with_state(context.pool.clone()))
        .route("/metrics", get(metrics).with_state(health.clone()))
        .route("/ready", get(ready).with_state(health))
        .merge(play::routes(Arc::new(PageGames::new(context, stop))))
        .merge(others);
    page(routes, true, demo, keys, settings, assets)
}

/// Returns the routes of a read-only page in front of a journal, without a daemon.
pub(crate) fn build_for_journal(
    settings: &WebSettings,
    secret: Option<Secret>,
    port: Option<u16>,
    journal: PathBuf,
    parts: &[PagePart],
    stop: CancellationToken,
) -> Router {
    let keys = OperatorKeys::new(secret, settings.public, port, None);
    // This bus carries no event; browsers notice the end of the program by the end of the stream.
    let watch = OverviewWatch::start(EventBus::new().listen(), settings.watchers, stop);
    let routes = shared_routes(JournalReader::new(journal), &keys, &watch);
    page(routes, false, false, keys, settings, Assets::new(parts))
}

fn shared_routes(reader: JournalReader, keys: &Arc<OperatorKeys>, watch: &OverviewWatch) -> Router {
    Router::new()
        .merge(archive::routes(reader))
        .route("/api/login", post(security::login).with_state(Arc::clone(keys)))
        .route("/api/logout", post(security::logout).with_state(Arc::clone(keys)))
        .route("/api/events", get(watch::events).with_state(watch.clone()))
}

/// Adds the files of the page to these routes, and the checks of every request.
fn page(
    routes: Router,
    daemon: bool,
    demo: bool,
    keys: Arc<OperatorKeys>,
    settings: &WebSettings,
    assets: Assets,
) -> Router {
    let edition = assets.edition().to_owned();
    let me = async move |Extension(requester): Extension<Requester>| {
        Json(json!({
            "reads": requester.may(Access::Reader),
            "plays": daemon && requester.may(Access::Player),
            "operates": daemon && requester.may(Access::Operator),
            "can_log_in": requester.can_log_in(),
            "daemon": daemon,
            "demo": demo,
            "edition": edition,
        }))
    };
    routes
        .route("/api/me", get(me))
        .route("/live", get(async || "alive\n"))
        .layer(DefaultBodyLimit::max(LONGEST_BODY))
        .layer(middleware::from_fn_with_state(keys, security::recognise))
        .route("/", get(assets::index))
        .route("/assets/{edition}/{*name}", get(assets::file))
        .layer(Extension(assets))
        .fallback(async || HttpProblem::not_found("there is no such page"))
        .layer(middleware::from_fn(answer_in_time))
        .layer(middleware::from_fn(in_one_form))
        .layer(middleware::from_fn_with_state(
            Arc::<[String]>::from(settings.hosts.as_slice()),
            security::refuse_foreign,
        ))
        .layer(middleware::from_fn(security::add_headers))
}

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

/// Gives up a request after a timeout, for example if its body does not arrive.
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
