//! Tournaments: joined and left.

use axum::{
    Json, Router,
    extract::{Path, State as Shared},
    routing::post,
};
use serde_json::Value;

use super::{
    api::{LichessApi, ok},
    auth::Caller,
    error::ApiError,
};
use chess::TournamentKind;

pub(crate) fn routes() -> Router<LichessApi> {
    let (arena, swiss) = (TournamentKind::Arena, TournamentKind::Swiss);
    let door = |kind, join| {
        post(move |api: Shared<LichessApi>, id: Path<String>, caller: Caller| take_part(api, id, caller, kind, join))
    };
    Router::new()
        .route("/api/tournament/{id}/join", door(arena, true))
        .route("/api/tournament/{id}/withdraw", door(arena, false))
        .route("/api/swiss/{id}/join", door(swiss, true))
        .route("/api/swiss/{id}/withdraw", door(swiss, false))
}

async fn take_part(
    Shared(api): Shared<LichessApi>,
    Path(id): Path<String>,
    caller: Caller,
    kind: TournamentKind,
    join: bool,
) -> Result<Json<Value>, ApiError> {
    caller.must_have(&["tournament:write"])?;
    let account = caller.account.clone();
    api.ask(move |state| state.take_part(&account, kind, &id, join)).await?;
    Ok(ok())
}
