//! Games to take away: PGN and JSON.

use std::{borrow::Cow, sync::Arc};

use axum::{
    Json, Router,
    extract::{Path, Query},
    http::{HeaderMap, header},
    response::{IntoResponse, Response},
    routing::{get, post},
};
use jiff::{Timestamp, tz::TimeZone};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{
    api::{LichessApi, ndjson},
    error::ApiError,
    render::put,
};
use crate::{
    account::AccountId,
    game::End,
    state::{Denied, GameView, PlayerView},
};
use domain::{Color, GameId, Line, PgnWriter, TimeControl, Tournament, TournamentKind, color_word};

/// The delay of running games, in moves.
const DELAY_PLIES: usize = 3;

pub(crate) fn routes() -> Router<LichessApi> {
    Router::new()
        .route("/game/export/{game}", get(export))
        .route("/api/games/export/_ids", post(export_several))
        .route("/api/games/user/{name}", get(games_of_user))
        .route("/api/user/{name}/current-game", get(current_game))
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct ExportOptions {
    moves: bool,
    tags: bool,
    clocks: bool,
    pgn_in_json: bool,
}

impl Default for ExportOptions {
    fn default() -> Self {
        Self { moves: true, tags: true, clocks: true, pgn_in_json: false }
    }
}

async fn export(
    api: LichessApi,
    Path(game): Path<GameId>,
    Query(options): Query<ExportOptions>,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    let view = api.ask(move |state| state.game_view(&game).ok_or(Denied::NoSuchGame)).await?;
    Ok(one(&view, &options, &headers, &api.url))
}

async fn current_game(
    api: LichessApi,
    Path(name): Path<String>,
    Query(options): Query<ExportOptions>,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    let games = api.server_state.ask(move |state| state.all_games_of(&AccountId::of(&name))).await?;
    let last = games.last().ok_or_else(|| ApiError::missing("No game found"))?;
    Ok(one(last, &options, &headers, &api.url))
}

/// Up to 300 games, named in the body and separated by commas.
async fn export_several(
    api: LichessApi,
    Query(options): Query<ExportOptions>,
    headers: HeaderMap,
    ids: String,
) -> Result<Response, ApiError> {
    let games = api.server_state.ask(move |state| {
        let ids = ids.split(',').take(300).map(|id| GameId::new(id.trim()));
        ids.filter_map(|id| state.game_view(&id)).collect::<Vec<_>>()
    });
    Ok(several(&games.await?, &options, &headers, &api.url))
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct GameSelection {
    since: Option<u64>,
    until: Option<u64>,
    max: Option<usize>,
    vs: Option<String>,
    rated: Option<bool>,
    perf_type: Option<String>,
    color: Option<String>,
    ongoing: bool,
    finished: Option<bool>,
    sort: Option<String>,
}

impl GameSelection {
    fn contains(&self, view: &GameView, user: &AccountId) -> bool {
        let pairing = &view.pairing;
        let Some(side) = pairing.color_of(user) else { return false };
        let opponent = &pairing.players.get(!side).account;
        let over = view.outcome.is_some();
        self.since.is_none_or(|since| pairing.created_at >= since)
            && self.until.is_none_or(|until| pairing.created_at <= until)
            && self.vs.as_ref().is_none_or(|name| AccountId::of(name) == *opponent)
            && self.rated.is_none_or(|rated| pairing.terms.rated == rated)
            && self.perf_type.as_ref().is_none_or(|keys| keys.split(',').any(|key| key == pairing.category().key()))
            && self.color.as_ref().is_none_or(|name| color_word(side) == name)
            && if over { self.finished.unwrap_or(true) } else { self.ongoing }
    }
}

/// Returns the games of a user, newest first by default.
async fn games_of_user(
    api: LichessApi,
    Path(name): Path<String>,
    Query(selection): Query<GameSelection>,
    Query(options): Query<ExportOptions>,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    let user = AccountId::of(&name);
    let games = api.server_state.ask(move |state| {
        state.account(&user)?;
        let mut games = state.all_games_of(&user);
        games.retain(|view| selection.contains(view, &user));
        if selection.sort.as_deref() != Some("dateAsc") {
            games.reverse();
        }
        games.truncate(selection.max.unwrap_or(usize::MAX));
        Some(games)
    });
    let games = games.await?.ok_or_else(|| ApiError::missing("Not found"))?;
    Ok(several(&games, &options, &headers, &api.url))
}

fn accepts(headers: &HeaderMap, kind: &str) -> bool {
    headers.get(header::ACCEPT).and_then(|value| value.to_str().ok()).is_some_and(|accept| accept.contains(kind))
}

fn one(view: &GameView, options: &ExportOptions, headers: &HeaderMap, url: &str) -> Response {
    let view = delayed(view);
    if accepts(headers, "application/json") {
        return Json(game_json(&view, options, url)).into_response();
    }
    ([(header::CONTENT_TYPE, "application/x-chess-pgn")], pgn(&view, options, url)).into_response()
}

fn several(games: &[Arc<GameView>], options: &ExportOptions, headers: &HeaderMap, url: &str) -> Response {
    let games = games.iter().map(|view| delayed(view));
    if accepts(headers, "application/x-ndjson") {
        let lines: String = games.map(|view| format!("{}\n", game_json(&view, options, url))).collect();
        return ndjson(lines);
    }
    let texts: String = games.map(|view| pgn(&view, options, url)).collect();
    ([(header::CONTENT_TYPE, "application/x-chess-pgn")], texts).into_response()
}

/// A game as it is shown to everybody: one that runs some moves behind.
fn delayed(view: &GameView) -> Cow<'_, GameView> {
    if view.outcome.is_some() {
        return Cow::Borrowed(view);
    }
    let mut delayed = view.clone();
    delayed.game.truncate(view.line.ply().saturating_sub(DELAY_PLIES));
    Cow::Owned(delayed)
}

fn sans(line: &Line) -> Vec<String> {
    line.prefix(0).sans(line.moves().iter().copied())
}

fn pgn(view: &GameView, options: &ExportOptions, url: &str) -> String {
    let tags = if options.tags { tags(view, url) } else { Vec::new() };
    let mut text = PgnWriter::begin(&tags).on_one_line();
    if options.moves {
        let mut line = view.line.prefix(0);
        for (ply, uci) in view.line.moves().iter().enumerate() {
            if text.play(&mut line, *uci, options.clocks).is_err() {
                break;
            }
            if options.clocks
                && let Some(left) = view.move_times.get(ply).copied().flatten()
            {
                let seconds = left.as_secs();
                let clock = format!("[%clk {}:{:02}:{:02}]", seconds / 3600, seconds / 60 % 60, seconds % 60);
                text.comment(&[clock]);
            }
        }
    }
    text.end(result(view))
}

fn result(view: &GameView) -> &'static str {
    view.outcome.map_or("*", |outcome| outcome.result())
}

fn tags(view: &GameView, url: &str) -> Vec<(&'static str, String)> {
    let pairing = &view.pairing;
    let began = i64::try_from(pairing.created_at).ok().and_then(|millis| Timestamp::from_millisecond(millis).ok());
    let began = began.unwrap_or_default().to_zoned(TimeZone::UTC);
    let date = began.strftime("%Y.%m.%d").to_string();
    let elo =
        |seat: &PlayerView| if seat.ai_level.is_some() { "?".to_owned() } else { seat.rating.points().to_string() };
    let rated = if pairing.terms.rated { "Rated" } else { "Casual" };
    let mut tags = vec![
        ("Event", format!("{rated} {} game", pairing.category().key())),
        ("Site", format!("{url}/{}", pairing.id)),
        ("Date", date.clone()),
        ("Round", "-".to_owned()),
        ("White", pairing.players.white.name.clone()),
        ("Black", pairing.players.black.name.clone()),
        ("Result", result(view).to_owned()),
        ("GameId", pairing.id.to_string()),
        ("UTCDate", date),
        ("UTCTime", began.strftime("%H:%M:%S").to_string()),
        ("WhiteElo", elo(&pairing.players.white)),
        ("BlackElo", elo(&pairing.players.black)),
    ];
    if let Some(changes) = view.rating_changes {
        tags.push(("WhiteRatingDiff", format!("{:+}", changes.white)));
        tags.push(("BlackRatingDiff", format!("{:+}", changes.black)));
    }
    for (tag, seat) in [("WhiteTitle", &pairing.players.white), ("BlackTitle", &pairing.players.black)] {
        if seat.bot {
            tags.push((tag, "BOT".to_owned()));
        }
    }
    tags.push(("Variant", pairing.terms.variant.pgn_name().to_owned()));
    tags.push((
        "TimeControl",
        match pairing.terms.time_control {
            control @ TimeControl::RealTime { .. } => control.to_string(),
            TimeControl::Correspondence { .. } | TimeControl::Unlimited => "-".to_owned(),
        },
    ));
    tags.push(("Termination", termination(view).to_owned()));
    if let Some(fen) = view.line.start_fen() {
        tags.push(("FEN", fen));
        tags.push(("SetUp", "1".to_owned()));
    }
    tags
}

fn termination(view: &GameView) -> &'static str {
    match view.outcome.map(|outcome| outcome.end) {
        None => "Unterminated",
        Some(End::OutOfTime) => "Time forfeit",
        Some(End::Abandoned | End::Aborted) => "Abandoned",
        Some(_) => "Normal",
    }
}

fn game_json(view: &GameView, options: &ExportOptions, url: &str) -> Value {
    let pairing = &view.pairing;
    let player = |side: Color| {
        let seat = pairing.players.get(side);
        if let Some(level) = seat.ai_level {
            return json!({ "aiLevel": level });
        }
        let mut user = json!({ "name": seat.name, "id": seat.account.as_str() });
        put(&mut user, "title", seat.bot.then_some("BOT"));
        let mut player = json!({ "user": user, "rating": seat.rating.points() });
        if let Some(changes) = view.rating_changes {
            player["ratingDiff"] = json!(changes.get(side));
        }
        player
    };
    let mut game = json!({
        "id": pairing.id.as_str(),
        "rated": pairing.terms.rated,
        "variant": pairing.terms.variant.key(),
        "speed": pairing.terms.time_control.speed().key(),
        "perf": pairing.category().key(),
        "createdAt": pairing.created_at,
        "lastMoveAt": view.changed_at,
        "status": view.status().name(),
        "source": super::render::source(view),
        "players": { "white": player(Color::White), "black": player(Color::Black) },
    });
    put(&mut game, "winner", view.winner().map(color_word));
    put(&mut game, "initialFen", view.line.start_fen());
    if let Some(Tournament { id, kind: Some(kind) }) = &pairing.tournament {
        let field = match kind {
            TournamentKind::Arena => "arenaTour",
            TournamentKind::Swiss => "swissTour",
        };
        game[field] = json!({ "id": id });
    }
    if options.moves {
        game["moves"] = json!(sans(&view.line).join(" "));
    }
    if options.pgn_in_json {
        game["pgn"] = json!(pgn(view, options, url));
    }
    if options.clocks {
        let clocks = view.move_times.iter().flatten();
        let centiseconds: Vec<u128> = clocks.map(|left| left.as_millis() / 10).collect();
        game["clocks"] = json!(centiseconds);
    }
    match pairing.terms.time_control {
        control @ TimeControl::RealTime { initial, increment } => {
            game["clock"] = json!({
                "initial": initial.as_secs(),
                "increment": super::render::whole_or_fraction(increment),
                "totalTime": control.estimate().map_or(0, |estimate| estimate.as_secs()),
            });
        }
        TimeControl::Correspondence { days } => game["daysPerTurn"] = json!(days),
        TimeControl::Unlimited => {}
    }
    game
}
