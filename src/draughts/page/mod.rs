//! Italian draughts in the browser.
//!
//! The server keeps no game except in the journal, for reading. A browser sends the game's start
//! and every move since; the answer is the position and its legal moves, the opponent's move, or
//! the game's text. So a game survives any restart, moves may be taken back at will, and the
//! opponent may change at every move. Only the server knows the rules: every request is played
//! through from the start.
//!
//! - `request`: the browser's request, and its validity;
//! - `view`: a game for the browser;
//! - `opponent`: the opponents;
//! - `choice`: their moves and the proposals;
//! - `record`: the game in the journal;
//! - `thinking`: searches on threads of their own, limited in time and number.

mod choice;
mod opponent;
mod record;
mod request;
mod thinking;
mod view;

use axum::{
    Json, Router,
    extract::State,
    routing::{get, post},
};
use serde_json::{Value, json};

use bot::journal::Journal;
use council::electors::Pool;
use request::{AnswerRequest, PdnRequest, SentGame};
use thinking::BoundedSearches;
use tokio_util::sync::CancellationToken;
use view::view;
use web::{HttpProblem, PagePart, PagePlayer};

pub const PART: PagePart = PagePart {
    name: "draughts",
    title: "Draughts",
    scripts: &[("draughts.js", include_str!("draughts.js")), ("draughtboard.js", include_str!("draughtboard.js"))],
    pictures: &[("draughts.svg", include_str!("draughts.svg"))],
    pieces: &[("man", include_str!("pieces/man.svg")), ("dama", include_str!("pieces/dama.svg"))],
    style: include_str!("draughts.css"),
};

/// Returns the addresses below which draughts is played. Councils search in `pool`, games go into `journal`, and searches
/// end early at `stop`.
pub fn routes(pool: Pool, journal: Journal, stop: CancellationToken) -> Router {
    Router::new()
        .route("/api/draughts", get(menu).post(look))
        .route("/api/draughts/answer", post(answer))
        .route("/api/draughts/pdn", post(pdn))
        .with_state((BoundedSearches::new(pool, stop), journal))
}

async fn menu(_: PagePlayer) -> Json<Value> {
    Json(opponent::menu())
}

async fn look(
    _: PagePlayer,
    State((_, journal)): State<(BoundedSearches, Journal)>,
    Json(request): Json<SentGame>,
) -> Result<Json<Value>, HttpProblem> {
    let (game, id) = (request.play()?, request.id()?);
    if let Some(id) = id.filter(|_| game.outcome().is_some()) {
        record::ended(&journal, id, &game).await;
    }
    Ok(Json(view(&game)))
}

async fn answer(
    _: PagePlayer,
    State((searches, journal)): State<(BoundedSearches, Journal)>,
    Json(AnswerRequest { game, opponent }): Json<AnswerRequest>,
) -> Result<Json<Value>, HttpProblem> {
    let (id, mut game) = (game.id()?, game.play()?);
    let (player, name) = (opponent.check()?, opponent.name);
    if game.legal_moves().is_empty() {
        return Err(HttpProblem::bad("the game is over; take a move back or begin another one"));
    }
    let choice = searches.choose(player, game.clone()).await?;
    if let Some(id) = id {
        record::answered(&journal, id, &mut game, &name, &choice.decision).await?;
    } else {
        game.play(choice.decision.best).map_err(HttpProblem::internal)?;
    }
    Ok(Json(json!({"choice": choice, "game": view(&game)})))
}

async fn pdn(_: PagePlayer, Json(request): Json<PdnRequest>) -> Result<Json<Value>, HttpProblem> {
    Ok(Json(json!({"pdn": request.record()?.to_string()})))
}

#[cfg(test)]
mod tests {
    use super::PART;

    #[test]
    fn page_has_no_inline_or_foreign_code() {
        assert_eq!(PART.faults(), Vec::<String>::new());
    }
}
