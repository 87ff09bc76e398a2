//! Services beside Lichess: opening explorer, cloud evaluations, tablebases, and chessdb.cn. Their
//! real addresses differ; here they share one.
//!
//! Their answers are a few nodes of the built-in engine: plausible, and the same each time.

use std::sync::atomic::AtomicBool;

use axum::{Json, Router, extract::Query, routing::get};
use serde::Deserialize;
use serde_json::{Value, json};
use shakmaty::Position as _;

use super::{
    api::{Caller, JsonAnswer, LichessApi},
    error::ApiError,
};
use domain::{Line, LineError, Score, Variant, engine_move, engine_position};
use engine::{Engine, EngineOptions, Limits};

/// Nodes of what is known about a position.
const NODES: u64 = 2_000;

/// The last full move of the explorer.
const EXPLORED: usize = 8;

/// The tablebases have as many pieces.
const PIECES: usize = 7;

pub(crate) fn routes() -> Router<LichessApi> {
    Router::new()
        .route("/masters", get(explorer))
        .route("/lichess", get(explorer))
        .route("/player", get(explorer))
        .route("/api/cloud-eval", get(cloud))
        .route("/standard", get(tablebase))
        .route("/atomic", get(|| async { Json(unknown_ending()) }))
        .route("/antichess", get(|| async { Json(unknown_ending()) }))
        .route("/cdb.php", get(chessdb))
}

#[derive(Deserialize)]
struct Asked {
    #[serde(alias = "board", default)]
    fen: String,
    /// Moves from there on, in UCI notation with commas between them.
    #[serde(default)]
    play: String,
    variant: Option<String>,
    action: Option<String>,
}

impl Asked {
    /// The position, its at most two best moves with their values for the player to move, the best first, and the depth of
    /// the search. A position of other rules than our engine's has no best moves.
    async fn known(self) -> Result<(Line, Vec<(String, Score)>, u32), ApiError> {
        let variant = self.variant.as_deref().unwrap_or("standard");
        let variant: Variant = variant.parse().map_err(|_| ApiError::bad("Unknown variant"))?;
        let bad = |error: LineError| ApiError::bad(error.to_string());
        let mut line = match self.fen.as_str() {
            "" => Line::start(variant),
            fen => Line::from_fen(variant, &fen.replace('_', " ")).map_err(bad)?,
        };
        line.play_all(&self.play.replace(',', " ")).map_err(bad)?;
        // Searches block, so they run where blocking is allowed.
        let known = tokio::task::spawn_blocking(move || {
            let (best, depth) = search(&line);
            (line, best, depth)
        });
        known.await.map_err(|_| ApiError::Broken(axum::http::StatusCode::INTERNAL_SERVER_ERROR))
    }
}

fn search(line: &Line) -> (Vec<(String, Score)>, u32) {
    let (mut best_moves, mut depth) = (Vec::new(), 0);
    let Some(position) = line.variant().is_standard_rules().then(|| engine_position(line).ok()).flatten() else {
        return (best_moves, depth);
    };
    let mut engine = Engine::new(EngineOptions { hash: 1, ..EngineOptions::default() });
    let mut left = line.legal_moves();
    for _ in 0..2 {
        let root: Vec<_> = left.iter().filter_map(|uci| engine_move(&position, *uci)).collect();
        let limits = Limits { nodes: Some(NODES), ..Limits::default() };
        let found = engine.search(&position, &root, &limits, &AtomicBool::new(false), &mut |_| {});
        let Some(found) = found.filter(|_| !root.is_empty()) else { break };
        let best = position.move_to_uci(found.best);
        left.retain(|uci| uci.to_string() != best);
        best_moves.push((best, found.score));
        depth = depth.max(found.depth);
    }
    (best_moves, depth)
}

/// The explorer requires a token.
async fn explorer(_: Caller, Query(asked): Query<Asked>) -> JsonAnswer {
    let (line, best, _) = asked.known().await?;
    let explored = line.position().fullmoves().get() as usize <= EXPLORED;
    let share = |place: usize| if place == 0 { 10 } else { 4 };
    let moves = best.iter().enumerate().filter(|_| explored).map(|(place, (uci, _))| {
        let (won, lost) = line.turn().fold_wb((6, 1), (1, 6));
        let (white, draws, black) = (won * share(place), 3 * share(place), lost * share(place));
        let san = uci.parse().map_or_else(|_| uci.clone(), |uci| line.san(uci));
        json!({
            "uci": uci, "san": san, "white": white, "draws": draws, "black": black, "game": null, "opening": null,
            "averageRating": 2500, "averageOpponentRating": 2500, "performance": 2500,
        })
    });
    let moves: Vec<Value> = moves.collect();
    let sum = |key: &str| moves.iter().filter_map(|known| known[key].as_u64()).sum::<u64>();
    let (white, draws, black) = (sum("white"), sum("draws"), sum("black"));
    Ok(Json(json!({ "white": white, "draws": draws, "black": black, "moves": moves, "topGames": [], "opening": null })))
}

async fn cloud(Query(asked): Query<Asked>) -> JsonAnswer {
    let (line, best, depth) = asked.known().await?;
    if best.is_empty() {
        return Err(ApiError::missing("No cloud evaluation available for that position"));
    }
    let sign = line.turn().fold_wb(1, -1);
    let variation = |(uci, score): &(String, Score)| match score {
        Score::Cp(centipawns) => json!({ "cp": sign * centipawns, "moves": uci }),
        Score::Mate(moves) => json!({ "mate": sign * moves, "moves": uci }),
    };
    let pvs: Vec<Value> = best.iter().map(variation).collect();
    Ok(Json(json!({ "fen": line.fen(), "knodes": NODES / 1000, "depth": depth, "pvs": pvs })))
}

async fn chessdb(Query(asked): Query<Asked>) -> JsonAnswer {
    if asked.action.as_deref() != Some("queryall") {
        return Err(ApiError::bad("queryall alone is played here"));
    }
    let (_, best, _) = asked.known().await?;
    let moves: Vec<Value> =
        best.iter().map(|(uci, score)| json!({ "uci": uci, "score": score.as_centipawns(), "rank": 2 })).collect();
    Ok(Json(if moves.is_empty() { json!({ "status": "unknown" }) } else { json!({ "status": "ok", "moves": moves }) }))
}

fn unknown_ending() -> Value {
    json!({ "category": "unknown", "moves": [] })
}

async fn tablebase(Query(asked): Query<Asked>) -> JsonAnswer {
    let (line, best, _) = asked.known().await?;
    let few = line.position().board().occupied().count() <= PIECES;
    let category = match best.first() {
        Some((_, Score::Mate(1..))) if few => "win",
        Some((_, Score::Mate(_))) if few => "loss",
        _ => return Ok(Json(unknown_ending())),
    };
    let moves: Vec<Value> = best.iter().map(|(uci, _)| json!({ "uci": uci })).collect();
    Ok(Json(json!({ "category": category, "moves": moves })))
}
