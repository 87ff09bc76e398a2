//! A game against the council in the browser.
//!
//! The game is played on a practice server inside this program, through the same session as other
//! games: the council has an account there and is challenged like any bot; the browser has another
//! account. So the game is in the journal and in the overview. The server starts with the
//! first game.

mod hint;
mod request;
mod side;
mod stage;

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};

use axum::{
    Json, Router,
    extract::{Path, Query, State},
    response::Response,
    routing::{get, post},
};
use futures_util::stream;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::sync::OnceCell;
use tokio_util::sync::CancellationToken;

use crate::{WebContext, problem::HttpProblem, security::PagePlayer, watch};
use bot::session::PreparedPlayer;
use domain::GameId;
use request::GameRequest;
use side::{BrowserKey, BrowserSide};
use stage::PlayStage;

pub use stage::connect_to_practice;

const MOST_GAMES: usize = 4;

const MOST_REMEMBERED: usize = 64;

pub(crate) struct PageGames {
    context: WebContext,
    stop: CancellationToken,
    stage: OnceCell<PlayStage>,
    /// The games, each with the browser's key and the council's player.
    games: Mutex<Vec<(GameId, BrowserKey, Arc<PreparedPlayer>)>>,
}

impl PageGames {
    pub(crate) fn new(context: WebContext, stop: CancellationToken) -> Self {
        Self { context, stop, stage: OnceCell::new(), games: Mutex::default() }
    }

    async fn stage(&self) -> Result<&PlayStage, HttpProblem> {
        let begin = || PlayStage::begin(&self.context, &self.stop);
        self.stage.get_or_try_init(begin).await.map_err(HttpProblem::internal)
    }

    /// Returns the browser's side of a game, for the holder of its key, and the council's player.
    async fn side(&self, game: &str, key: &str) -> Result<(BrowserSide<'_>, Arc<PreparedPlayer>), HttpProblem> {
        let known = {
            let games = self.games.lock().unwrap_or_else(PoisonError::into_inner);
            games.iter().find(|(id, ..)| id.as_str() == game).cloned()
        };
        match known {
            Some((game, known, player)) if known.is(key) => {
                Ok((BrowserSide { stage: self.stage().await?, game }, player))
            }
            Some(_) => Err(HttpProblem::refused("another browser plays this game")),
            None => Err(HttpProblem::not_found("the page has no such game")),
        }
    }
}

pub(crate) fn routes(games: Arc<PageGames>) -> Router {
    Router::new()
        .route("/api/play", get(menu).post(begin))
        .route("/api/play/{game}", post(act))
        .route("/api/play/{game}/events", get(events))
        .with_state(games)
}

async fn menu(_: PagePlayer, State(games): State<Arc<PageGames>>) -> Json<Value> {
    let usual = games.context.player.borrow().clone();
    Json(request::menu(&usual))
}

/// Begins a game. The answer has its name, the browser's key, and its key in the overview.
async fn begin(
    _: PagePlayer,
    State(games): State<Arc<PageGames>>,
    Json(request): Json<GameRequest>,
) -> Result<Json<Value>, HttpProblem> {
    let usual = games.context.player.borrow().clone();
    let (player, terms) = request.check(&usual)?;
    let stage = games.stage().await?;
    if stage.running().await? >= MOST_GAMES {
        return Err(HttpProblem::busy(format!("the page plays {MOST_GAMES} games already; finish one of them")));
    }
    let game = stage.challenge(Arc::clone(&player), terms).await?;
    let key = BrowserKey::draw();
    let answer = json!({ "game": game.as_str(), "key": key, "overview": format!("{}/{game}", stage::SERVER) });
    let mut games = games.games.lock().unwrap_or_else(PoisonError::into_inner);
    games.push((game, key, player));
    if games.len() > MOST_REMEMBERED {
        games.remove(0);
    }
    Ok(Json(answer))
}

#[derive(Deserialize)]
struct Act {
    key: String,
    #[serde(flatten)]
    what: ActKind,
}

#[derive(Deserialize)]
#[serde(tag = "act", rename_all = "snake_case")]
enum ActKind {
    Move { uci: String },
    Takeback,
    OfferDraw,
    DeclineDraw,
    Resign,
    Hint,
}

async fn act(
    _: PagePlayer,
    State(games): State<Arc<PageGames>>,
    Path(game): Path<String>,
    Json(Act { key, what }): Json<Act>,
) -> Result<Json<Value>, HttpProblem> {
    let (side, player) = games.side(&game, &key).await?;
    match what {
        ActKind::Hint => {
            let hint = hint::ask(&games.context.pool, &player, side.line().await?).await?;
            return Ok(Json(json!({ "hint": hint })));
        }
        ActKind::Move { uci } => {
            let uci = uci.parse().map_err(|_| HttpProblem::bad(format!("{uci:?} is not a move such as e2e4")))?;
            side.act(move |state, game, me| state.play(game, me, uci, None)).await?;
        }
        ActKind::Takeback => {
            side.act(|state, id, me| state.act(id, me, |game, color, now| game.takeback(color, true, now))).await?
        }
        ActKind::OfferDraw => {
            side.act(|state, id, me| state.act(id, me, |game, color, now| game.draw(color, true, now))).await?
        }
        ActKind::DeclineDraw => {
            side.act(|state, id, me| state.act(id, me, |game, color, now| game.draw(color, false, now))).await?
        }
        // Before the first move the game is dropped.
        ActKind::Resign => {
            side.act(|state, game, me| state.abort(game, me).or_else(|_| state.resign(game, me))).await?;
        }
    }
    Ok(Json(json!({})))
}

/// Answers with the board and all its changes, as server-sent events.
async fn events(
    _: PagePlayer,
    State(games): State<Arc<PageGames>>,
    Path(game): Path<String>,
    Query(query): Query<HashMap<String, String>>,
) -> Result<Response, HttpProblem> {
    let key = query.get("key").map(String::as_str).unwrap_or_default();
    let (side, _) = games.side(&game, key).await?;
    let board = side.watch(games.stop.clone()).await?;
    Ok(watch::event_stream(stream::unfold(board, async |mut board| Some((board.next().await?, board)))))
}
