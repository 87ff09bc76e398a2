//! A game against the council in the browser.
//!
//! It is played on a practice server inside this program, through the same session as everywhere: the council has an account
//! there and is challenged like any bot; the browser is the other player. So its games are in the journal, and its boards
//! among the others. The server and the account begin with the first game.

mod hint;
mod request;
mod seat;
mod stage;

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};

use axum::{
    Json, Router,
    body::Body,
    extract::{FromRef, Path, Query, State},
    response::Response,
    routing::{get, post},
};
use futures_util::stream;
use serde::{Deserialize, Serialize};
use tokio::sync::OnceCell;
use tokio_util::sync::CancellationToken;

use crate::{WebContext, problem::HttpProblem, security::PagePlayer, watch};
use bot::session::PreparedPlayer;
use domain::{GameId, UciMove};
use hint::Hint;
use request::{GameRequest, Menu};
use seat::{SeatKey, Seated};
use stage::PlayStage;

/// The number of simultaneous games on the page.
const MOST_GAMES: usize = 4;

/// The number of games remembered; the oldest is forgotten first.
const MOST_REMEMBERED: usize = 64;

pub(crate) struct PlayRoom {
    context: WebContext,
    stop: CancellationToken,
    stage: OnceCell<PlayStage>,
    games: Mutex<Vec<(GameId, PageGame)>>,
}

#[derive(Clone)]
struct PageGame {
    key: SeatKey,
    player: Arc<PreparedPlayer>,
}

impl PlayRoom {
    pub(crate) fn new(context: WebContext, stop: CancellationToken) -> Self {
        Self { context, stop, stage: OnceCell::new(), games: Mutex::default() }
    }

    async fn stage(&self) -> Result<&PlayStage, HttpProblem> {
        let begin = || PlayStage::begin(&self.context, &self.stop);
        self.stage.get_or_try_init(begin).await.map_err(HttpProblem::internal)
    }

    async fn start(&self, request: GameRequest) -> Result<NewGame, HttpProblem> {
        let usual = self.context.player.borrow().clone();
        let order = request.check(&usual)?;
        let stage = self.stage().await?;
        if stage.running().await? >= MOST_GAMES {
            return Err(HttpProblem::busy(format!("{MOST_GAMES} games are running here already; finish one of them")));
        }
        let (key, player) = (SeatKey::draw(), Arc::clone(&order.player));
        let game = stage.challenge(order).await?;
        let mut games = self.games.lock().unwrap_or_else(PoisonError::into_inner);
        games.push((game.clone(), PageGame { key: key.clone(), player }));
        if games.len() > MOST_REMEMBERED {
            games.remove(0);
        }
        let overview = format!("{}/{game}", stage::SERVER);
        Ok(NewGame { game, seat: key, overview })
    }

    /// Returns the player's side of a game, for the holder of its key.
    async fn seat(&self, game: &str, key: &str) -> Result<(Seated<'_>, PageGame), HttpProblem> {
        let known = {
            let games = self.games.lock().unwrap_or_else(PoisonError::into_inner);
            games.iter().find(|(id, _)| id.as_str() == game).cloned()
        };
        match known {
            Some((id, game)) if game.key.is(key) => Ok((Seated { stage: self.stage().await?, game: id }, game)),
            Some(_) => Err(HttpProblem::refused("another browser plays this game")),
            None => Err(HttpProblem::not_found("there is no such game in the page")),
        }
    }
}

#[derive(Serialize)]
struct NewGame {
    game: GameId,
    seat: SeatKey,
    /// The game's key in the overview.
    overview: String,
}

/// The addresses below which games are played.
pub(crate) fn routes<S>() -> Router<S>
where
    Arc<PlayRoom>: FromRef<S>,
    S: Clone + Send + Sync + 'static,
{
    Router::new()
        .route("/api/play", get(menu).post(begin))
        .route("/api/play/{game}", post(act))
        .route("/api/play/{game}/events", get(events))
}

async fn menu(_: PagePlayer, State(room): State<Arc<PlayRoom>>) -> Json<Menu> {
    let usual = room.context.player.borrow().clone();
    Json(Menu::new(&usual))
}

async fn begin(
    _: PagePlayer,
    State(room): State<Arc<PlayRoom>>,
    Json(request): Json<GameRequest>,
) -> Result<Json<NewGame>, HttpProblem> {
    room.start(request).await.map(Json)
}

#[derive(Deserialize)]
struct Act {
    seat: String,
    #[serde(flatten)]
    what: WhatIsDone,
}

#[derive(Deserialize)]
#[serde(tag = "act", rename_all = "snake_case")]
enum WhatIsDone {
    Move { uci: String },
    Takeback,
    OfferDraw,
    DeclineDraw,
    Resign,
    Hint,
}

#[derive(Serialize)]
struct Acted {
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<Hint>,
}

async fn act(
    _: PagePlayer,
    State(room): State<Arc<PlayRoom>>,
    Path(game): Path<String>,
    Json(Act { seat, what }): Json<Act>,
) -> Result<Json<Acted>, HttpProblem> {
    let (seat, page_game) = room.seat(&game, &seat).await?;
    let hint = match what {
        WhatIsDone::Hint => Some(hint::ask(&room.context.pool, &page_game.player, seat.line().await?).await?),
        WhatIsDone::Move { uci } => {
            let uci =
                uci.parse::<UciMove>().map_err(|_| HttpProblem::bad(format!("{uci:?} is no move such as e2e4")))?;
            seat.play(uci).await.map(|()| None)?
        }
        WhatIsDone::Takeback => seat.take_back().await.map(|()| None)?,
        WhatIsDone::OfferDraw => seat.draw(true).await.map(|()| None)?,
        WhatIsDone::DeclineDraw => seat.draw(false).await.map(|()| None)?,
        WhatIsDone::Resign => seat.resign().await.map(|()| None)?,
    };
    Ok(Json(Acted { hint }))
}

/// The board as it is, and every change of it, as server-sent events.
async fn events(
    _: PagePlayer,
    State(room): State<Arc<PlayRoom>>,
    Path(game): Path<String>,
    Query(query): Query<HashMap<String, String>>,
) -> Result<Response, HttpProblem> {
    let key = query.get("seat").map(String::as_str).unwrap_or_default();
    let (seat, _) = room.seat(&game, key).await?;
    let board = seat.watch(room.stop.clone()).await?;
    let frames = stream::unfold(board, |mut board| async move {
        let bytes = board.next().await?;
        Some((Ok::<_, std::convert::Infallible>(bytes), board))
    });
    Ok(watch::event_stream(Body::from_stream(frames)))
}
