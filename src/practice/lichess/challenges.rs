//! Challenges: made, listed, shown, accepted, declined, withdrawn; and games against the server's own engine.

use std::sync::Arc;

use axum::{
    Json, Router,
    body::{Body, Bytes},
    extract::{Path, Query},
    http::StatusCode,
    response::{IntoResponse, Response},
    routing::{get, post},
};
use futures_util::{StreamExt, stream};
use serde_json::{Value, json};

use super::{
    api::{Caller, JsonAnswer, LichessApi, ndjson, ok},
    error::ApiError,
    fields::{FormFields, QueryFields},
    render,
};
use crate::{
    account::{AccountId, open_to_bots},
    state::{ChallengeState, ChallengeView, Denied, StateHandle},
};
use domain::{ChallengeId, DeclineReason, Variant};

const MAY_CHALLENGE: [&str; 3] = ["challenge:write", "bot:play", "board:play"];

pub(crate) fn routes() -> Router<LichessApi> {
    Router::new()
        .route("/api/challenge", get(list))
        .route("/api/challenge/ai", post(challenge_ai))
        .route("/api/challenge/open", post(challenge_anybody))
        .route("/api/challenge/{name}", post(challenge))
        .route("/api/challenge/{id}/show", get(show))
        .route("/api/challenge/{id}/accept", post(accept))
        .route("/api/challenge/{id}/decline", post(decline))
        .route("/api/challenge/{id}/cancel", post(cancel))
}

async fn list(api: LichessApi, caller: Caller) -> JsonAnswer {
    caller.must_have(&["challenge:read"])?;
    let me = caller.account.clone();
    let standing = api.server_state.ask(move |state| state.challenges_of(&me)).await?;
    let (outgoing, incoming): (Vec<_>, Vec<_>) =
        standing.iter().partition(|challenge| challenge.challenger.account == caller.account);
    let render = |challenges: Vec<&Arc<ChallengeView>>, out: bool| -> Vec<Value> {
        challenges.into_iter().map(|view| render::challenge(view, &api.url, out)).collect()
    };
    Ok(Json(json!({ "in": render(incoming, false), "out": render(outgoing, true) })))
}

async fn show(api: LichessApi, Path(id): Path<ChallengeId>, caller: Caller) -> JsonAnswer {
    caller.must_have(&["challenge:read"])?;
    let view = api.ask(move |state| state.challenge_view(&id).ok_or(Denied::NoSuchChallenge)).await?;
    let outgoing = view.challenger.account == caller.account;
    if !outgoing && view.dest.account != caller.account {
        return Err(ApiError::missing("Not found"));
    }
    Ok(Json(render::challenge(&view, &api.url, outgoing)))
}

async fn challenge(
    api: LichessApi,
    Path(name): Path<String>,
    caller: Caller,
    fields: FormFields,
) -> Result<Response, ApiError> {
    caller.must_have(&MAY_CHALLENGE)?;
    let strict = api.settings.strict_terms;
    let terms = fields.challenge_terms(strict)?;
    if strict && terms.game.rated && terms.game.variant == Variant::FromPosition {
        return Err(ApiError::Form("global", "can't be rated".to_owned()));
    }
    let keep_alive = fields.is_true("keepAliveStream");
    let has_rules = fields.text("rules").is_some();
    let (from, to) = (caller.account, AccountId::of(&name));
    let view = api
        .server_state
        .ask(move |state| {
            let with_bot = [&from, &to].into_iter().filter_map(|id| state.account(id)).any(|account| account.bot);
            if has_rules && with_bot {
                return Err(ApiError::bad("Rules not applicable for bots"));
            }
            if strict && with_bot && !open_to_bots(terms.game.time_control) {
                return Err(ApiError::bad("Game incompatible with a BOT account"));
            }
            Ok(state.challenge(&from, &to, terms, keep_alive)?)
        })
        .await??;
    let body = render::challenge(&view, &api.url, true);
    if keep_alive { Ok(keep_alive_stream(&api, view.id.clone(), &body)) } else { Ok(Json(body).into_response()) }
}

/// Lets a challenge go when its maker hangs up.
struct KeptAlive {
    server_state: StateHandle,
    id: ChallengeId,
}

impl Drop for KeptAlive {
    fn drop(&mut self) {
        self.server_state.release_challenge(self.id.clone());
    }
}

/// Streams the challenge, empty lines while it is pending, and its answer.
fn keep_alive_stream(api: &LichessApi, id: ChallengeId, challenge: &Value) -> Response {
    let kept = KeptAlive { server_state: api.server_state.clone(), id };
    let period = api.settings.keep_alive;
    let first = stream::iter([Some(Bytes::from(format!("{challenge}\n")))]);
    let rest = stream::unfold(Some(kept), move |kept| async move {
        let kept = kept?;
        match tokio::time::timeout(period, answered(&kept.server_state, kept.id.clone())).await {
            Err(_still_standing) => Some((Some(Bytes::from_static(b"\n")), Some(kept))),
            Ok(word) => Some((word.map(|word| Bytes::from(format!("{}\n", json!({ "done": word })))), None)),
        }
    });
    let lines = first.chain(rest).filter_map(|line| async move { line.map(Ok::<_, std::convert::Infallible>) });
    ndjson(Body::from_stream(lines))
}

async fn answered(server_state: &StateHandle, id: ChallengeId) -> Option<&'static str> {
    server_state
        .wait(move |state| match state.challenge_view(&id).map_or(ChallengeState::Cancelled, |view| view.state) {
            ChallengeState::Created | ChallengeState::Offline => None,
            ChallengeState::Accepted => Some("accepted"),
            ChallengeState::Declined(_) => Some("declined"),
            ChallengeState::Cancelled => Some("canceled"),
        })
        .await
        .ok()
}

async fn challenge_anybody(api: LichessApi, fields: FormFields) -> JsonAnswer {
    let terms = fields.challenge_terms(api.settings.strict_terms)?;
    let challenge = api.ask(move |state| state.challenge_anybody(terms)).await?;
    Ok(Json(render::open_challenge(&challenge, &api.url)))
}

async fn accept(
    api: LichessApi,
    Path(id): Path<ChallengeId>,
    Query(QueryFields { color, .. }): Query<QueryFields>,
    caller: Caller,
) -> JsonAnswer {
    caller.must_have(&MAY_CHALLENGE)?;
    let color = color.and_then(|name| name.parse().ok());
    api.ask(move |state| {
        if state.is_open_to_anybody(&id) {
            state.join_open_challenge(&id, &caller.account, color).map(drop)
        } else {
            state.accept(&id, &caller.account).map(drop)
        }
    })
    .await?;
    ok()
}

/// A challenge that is no longer open counts as gone for a player who declines or withdraws it.
fn gone(denied: Denied) -> Denied {
    match denied {
        Denied::ChallengeClosed(_) => Denied::NoSuchChallenge,
        other => other,
    }
}

async fn decline(api: LichessApi, Path(id): Path<ChallengeId>, caller: Caller, fields: FormFields) -> JsonAnswer {
    caller.must_have(&MAY_CHALLENGE)?;
    let reason = fields.text("reason").map(DeclineReason::from_key).unwrap_or_default();
    api.ask(move |state| state.decline(&id, &caller.account, reason).map_err(gone)).await?;
    ok()
}

async fn cancel(api: LichessApi, Path(id): Path<ChallengeId>, caller: Caller) -> JsonAnswer {
    caller.must_have(&MAY_CHALLENGE)?;
    api.ask(move |state| state.cancel(&id, &caller.account).map_err(gone)).await?;
    ok()
}

async fn challenge_ai(
    api: LichessApi,
    caller: Caller,
    fields: FormFields,
) -> Result<(StatusCode, Json<Value>), ApiError> {
    caller.must_have(&MAY_CHALLENGE)?;
    let level = fields.parse::<u8>("level")?.filter(|level| (1..=8).contains(level));
    let level = level.ok_or_else(|| ApiError::Form("level", "Invalid value".to_owned()))?;
    let mut terms = fields.challenge_terms(api.settings.strict_terms)?;
    terms.game.rated = false;
    let (view, side) = api.ask(move |state| state.play_ai(&caller.account, level, terms)).await?;
    Ok((StatusCode::CREATED, Json(render::ai_game(&view, side))))
}
