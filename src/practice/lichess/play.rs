//! Playing: the event stream, the streams of games, and what players do in them.

use std::time::Duration;

use axum::{
    Json, Router,
    extract::{ConnectInfo, Path, Query},
    http::{HeaderMap, header},
    response::Response,
    routing::{get, post},
};
use serde_json::json;

use super::{
    api::{Caller, JsonAnswer, LichessApi, ok},
    error::ApiError,
    fields::{FormFields, QueryFields},
    render,
    stream::LineStream,
};
use crate::{
    connection::ConnectionControl,
    faults::{LineFacts, Streams},
    game::{GameRefusal, PracticeGame},
    state::{BoardEvent, Denied, Gauge, ListenerKey, PracticeAccountEvent},
};
use domain::{ChatRoom, Color, GameId};

const CHAT_CHARACTERS: usize = 140;

type GameAct = fn(&mut PracticeGame, Color, Duration) -> Result<(), GameRefusal>;
/// The answer to an offer of the opponent's, or an offer.
type GameOffer = fn(&mut PracticeGame, Color, bool, Duration);

/// Each with Lichess's answer for a finished game.
const ACTS: [(&str, &str, GameAct); 4] = [
    ("abort", "This game can no longer be aborted", PracticeGame::abort),
    ("resign", "This game cannot be resigned", PracticeGame::resign),
    ("claim-victory", "You cannot claim the win on this game", PracticeGame::claim_victory),
    ("claim-draw", "You cannot claim a draw on this game", PracticeGame::claim_draw),
];
const OFFERS: [(&str, GameOffer); 2] = [("draw", PracticeGame::draw), ("takeback", PracticeGame::takeback)];

pub(crate) fn routes() -> Router<LichessApi> {
    let mut routes = Router::new()
        .route("/api/stream/event", get(event_stream))
        .route("/api/bot/game/stream/{game}", get(game_stream))
        .route("/api/bot/game/{game}/move/{uci}", post(play))
        .route("/api/bot/game/{game}/chat", get(read_chat).post(say));
    for (word, over, act) in ACTS {
        let handler = async move |api: LichessApi, Path(game): Path<GameId>, caller: Caller| {
            let latency = word.starts_with("claim").then_some(api.settings.claim_latency);
            let done = api.ask_as_bot(&caller, move |state, me| state.act(&game, me, act)).await;
            if let Some(latency) = latency {
                tokio::time::sleep(latency).await;
            }
            match done? {
                Ok(()) => ok(),
                Err(GameRefusal::Over) => Err(ApiError::bad(over)),
                Err(refusal) => Err(Denied::from(refusal).into()),
            }
        };
        routes = routes.route(&format!("/api/bot/game/{{game}}/{word}"), post(handler));
    }
    for (word, offer) in OFFERS {
        let handler = async move |api: LichessApi, Path((game, accept)): Path<(GameId, String)>, caller: Caller| {
            // Everything else means no.
            let yes = matches!(accept.as_str(), "yes" | "true");
            let act = move |game: &mut PracticeGame, color, now| offer(game, color, yes, now);
            api.ask_as_bot(&caller, move |state, me| state.act(&game, me, act)).await?;
            ok()
        };
        routes = routes.route(&format!("/api/bot/game/{{game}}/{word}/{{accept}}"), post(handler));
    }
    routes
}

async fn event_stream(
    api: LichessApi,
    ConnectInfo(control): ConnectInfo<ConnectionControl>,
    caller: Caller,
) -> Result<Response, ApiError> {
    caller.must_have(&["bot:play", "board:play", "challenge:read"])?;
    let me = caller.account.clone();
    let key = ListenerKey { account: me.clone(), client: caller.token };
    // The faults know the stream before the account is online: a player who sees the account can
    // break its stream.
    let faults = api.faults.open_stream(Streams::Events(me.to_string()));
    let subscription = api
        .ask(move |state| {
            state.count(&key.account, Gauge::EventStreams)?;
            Ok(state.listen(key))
        })
        .await?;
    let (url, any_speed) = (api.url, !api.settings.strict_terms);
    let line_of = move |event: &PracticeAccountEvent| {
        let event = render::account_event(event, me.as_str(), &url, any_speed)?;
        Some((event.to_string(), LineFacts::default()))
    };
    tokio::time::sleep(api.faults.plan().open.unwrap_or_default()).await;
    Ok(LineStream::new(subscription, line_of, api.settings.keep_alive, faults, control).into_response())
}

async fn game_stream(
    api: LichessApi,
    ConnectInfo(control): ConnectInfo<ConnectionControl>,
    Path(game): Path<GameId>,
    headers: HeaderMap,
    caller: Caller,
) -> Result<Response, ApiError> {
    let agent = headers.get(header::USER_AGENT).and_then(|value| value.to_str().ok()).unwrap_or("").to_owned();
    let id = game.clone();
    let faults = api.faults.open_stream(Streams::Board(game, caller.account.to_string()));
    let subscription = api
        .ask_as_bot(&caller, move |state, me| state.join(&id, ListenerKey { account: me.clone(), client: agent }))
        .await?;
    let (me, measured) = (caller.account, api.clone());
    let line_of = move |event: &BoardEvent| {
        let facts = match event {
            BoardEvent::Full(view) => LineFacts { ply: Some(view.line.ply()), own_move: false },
            BoardEvent::State(view) => view.line_facts(&me),
            _ => LineFacts::default(),
        };
        let text = render::board_event(event);
        if let BoardEvent::State(view) = event
            && view.outcome.is_none()
            && !facts.own_move
        {
            measured.response_times().shown(&view.pairing.id);
        }
        Some((text, facts))
    };
    tokio::time::sleep(api.faults.plan().open.unwrap_or_default()).await;
    Ok(LineStream::new(subscription, line_of, api.settings.keep_alive, faults, control).into_response())
}

async fn play(
    api: LichessApi,
    Path((game, uci)): Path<(GameId, String)>,
    Query(options): Query<QueryFields>,
    caller: Caller,
) -> JsonAnswer {
    let uci = uci.parse().map_err(|_| ApiError::bad(format!("Invalid UCI: {uci}")))?;
    api.ask_as_bot(&caller, move |state, me| state.play(&game, me, uci, options.offering_draw)).await?;
    ok()
}

async fn say(api: LichessApi, Path(game): Path<GameId>, caller: Caller, fields: FormFields) -> JsonAnswer {
    let room = match fields.text("room") {
        Some("player") => ChatRoom::Player,
        Some("spectator") => ChatRoom::Spectator,
        _ => return Err(ApiError::Form("room", "Invalid value".to_owned())),
    };
    let text = fields.text("text").map(str::trim).filter(|text| !text.is_empty());
    let text = text.ok_or_else(|| ApiError::Form("text", "This field is required".to_owned()))?.to_owned();
    if text.chars().count() > CHAT_CHARACTERS {
        return Err(ApiError::Form("text", format!("Maximum length is {CHAT_CHARACTERS}")));
    }
    api.ask_as_bot(&caller, move |state, me| state.say(&game, me, room, &text)).await?;
    ok()
}

async fn read_chat(api: LichessApi, Path(game): Path<GameId>, caller: Caller) -> JsonAnswer {
    let lines = api.ask_as_bot(&caller, move |state, me| state.chat(&game, me, ChatRoom::Player)).await?;
    Ok(Json(lines.into_iter().map(|line| json!({ "text": line.text, "user": line.username })).collect()))
}
