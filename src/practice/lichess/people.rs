//! Accounts and players: who am I, who is there, what am I playing.

use axum::{
    Json, Router,
    extract::{Path, Query},
    response::Response,
    routing::{get, post},
};
use serde_json::{Map, Value, json};

use super::{
    api::{Caller, JsonAnswer, LichessApi, ndjson, ok},
    error::ApiError,
    fields::QueryFields,
    render,
};
use crate::{
    account::AccountId,
    state::{Denied, Gauge, ServerState},
};

pub(crate) fn routes() -> Router<LichessApi> {
    Router::new()
        .route("/api/account", get(account))
        .route("/api/account/playing", get(playing))
        .route("/api/account/preferences", get(preferences))
        .route("/api/bot/account/upgrade", post(upgrade))
        .route("/api/bot/online", get(online_bots))
        .route("/api/token/test", post(test_tokens))
        .route("/api/user/{name}", get(user))
        .route("/api/users", post(users))
        .route("/api/users/status", get(users_status))
}

fn user_json(state: &ServerState, id: &AccountId, url: &str, extended: bool) -> Result<Value, Denied> {
    let account = state.account(id).ok_or_else(|| Denied::NoSuchPlayer(id.to_string()))?;
    Ok(render::user(account, state.unix_millis(account.created), state.unix_now(), url, extended))
}

async fn account(api: LichessApi, caller: Caller) -> JsonAnswer {
    let url = api.url.clone();
    let user = api
        .ask(move |state| {
            state.count(&caller.account, Gauge::AccountRequests)?;
            user_json(state, &caller.account, &url, true)
        })
        .await?;
    Ok(Json(user))
}

async fn playing(api: LichessApi, Query(QueryFields { nb, .. }): Query<QueryFields>, caller: Caller) -> JsonAnswer {
    let me = caller.account.clone();
    let games = api.server_state.ask(move |state| state.games_of(&me)).await?;
    let sides = games.iter().filter_map(|view| Some((view, view.pairing.color_of(&caller.account)?)));
    let mut sides: Vec<_> = sides.collect();
    let mine = sides.iter().filter(|(view, side)| view.is_turn_of(*side)).count();
    // As Lichess does: what waits for the caller comes first.
    sides.sort_by_key(|(view, side)| !view.is_turn_of(*side));
    let shown: Vec<Value> = sides
        .into_iter()
        .take(nb.unwrap_or(9).clamp(1, 50))
        .map(|(view, side)| render::now_playing(view, side))
        .collect();
    Ok(Json(json!({ "nowPlaying": shown, "nbMyTurn": mine })))
}

async fn upgrade(api: LichessApi, caller: Caller) -> JsonAnswer {
    caller.must_have(&["bot:play"])?;
    api.ask(move |state| state.upgrade(&caller.account)).await?;
    ok()
}

async fn online_bots(api: LichessApi, Query(QueryFields { nb, .. }): Query<QueryFields>) -> Result<Response, ApiError> {
    let url = api.url.clone();
    let most = nb.unwrap_or(100).clamp(1, 512);
    let lines = api.server_state.ask(move |state| {
        let mut lines = String::new();
        for bot in state.online_bots().iter().take(most) {
            let user = render::user(bot, state.unix_millis(bot.created), state.unix_now(), &url, false);
            lines.push_str(&format!("{user}\n"));
        }
        lines
    });
    Ok(ndjson(lines.await?))
}

/// Answers for up to a thousand tokens, separated by commas.
async fn test_tokens(api: LichessApi, body: String) -> Json<Value> {
    let answers: Map<String, Value> = body
        .split(',')
        .map(str::trim)
        .filter(|token| !token.is_empty())
        .take(1000)
        .map(|token| {
            let owner = api.owner(token).map(|owner| {
                let scopes: Vec<String> = owner.scopes.into_iter().collect();
                json!({ "userId": owner.account.as_str(), "scopes": scopes.join(","), "expires": null })
            });
            (token.to_owned(), owner.unwrap_or(Value::Null))
        })
        .collect();
    Json(answers.into())
}

async fn user(api: LichessApi, Path(name): Path<String>) -> JsonAnswer {
    let url = api.url.clone();
    let user = api.server_state.ask(move |state| user_json(state, &AccountId::of(&name), &url, true)).await?;
    user.map(Json).map_err(|_| ApiError::missing("Not found"))
}

/// Answers for up to 300 users, separated by commas; unknown ones are left out.
async fn users(api: LichessApi, ids: String) -> JsonAnswer {
    let url = api.url.clone();
    let users = api.server_state.ask(move |state| {
        let known = ids.split(',').take(300).map(|name| AccountId::of(name.trim()));
        known.filter_map(|id| user_json(state, &id, &url, false).ok()).collect::<Vec<Value>>()
    });
    Ok(Json(users.await?.into()))
}

/// Returns the default preferences, for every account.
async fn preferences(caller: Caller) -> JsonAnswer {
    caller.must_have(&["preference:read"])?;
    Ok(Json(json!({
        "prefs": {
            "dark": false, "transp": false, "is3d": false, "theme": "brown", "pieceSet": "cburnett", "theme3d": "Wax",
            "pieceSet3d": "Basic", "soundSet": "silent", "blindfold": 0, "autoQueen": 2, "autoThreefold": 3, "takeback": 3,
            "moretime": 3, "clockTenths": 1, "clockBar": true, "clockSound": false, "premove": true, "animation": 1,
            "captured": true, "follow": true, "highlight": true, "destination": true, "coords": 1, "replay": 2,
            "challenge": 4, "message": 3, "submitMove": 0, "confirmResign": 1, "insightShare": 1, "keyboardMove": 0,
            "zen": 0, "moveEvent": 2, "rookCastle": 1,
        },
        "language": "en-GB",
    })))
}

async fn users_status(api: LichessApi, Query(QueryFields { ids, .. }): Query<QueryFields>) -> JsonAnswer {
    let users = api.server_state.ask(move |state| {
        let known = ids.split(',').take(100).filter_map(|name| state.account(&AccountId::of(name.trim())));
        known
            .map(|account| {
                let mut user = json!({ "id": account.id.as_str(), "name": account.name });
                render::put(&mut user, "title", account.bot.then_some("BOT"));
                render::put(&mut user, "online", state.is_online(&account.id).then_some(true));
                render::put(&mut user, "playing", (!state.games_of(&account.id).is_empty()).then_some(true));
                user
            })
            .collect::<Vec<Value>>()
    });
    Ok(Json(users.await?.into()))
}
