//! Games to take away: PGN and JSON.

use std::fmt::Write;

use axum::{
    Json, Router,
    extract::{Path, Query, State as Shared},
    http::{HeaderMap, header},
    response::{IntoResponse, Response},
    routing::get,
};
use jiff::{Timestamp, tz::TimeZone};
use serde::Deserialize;
use serde_json::{Value, json};
use shakmaty::{Position, san::SanPlus};

use super::{api::LichessApi, error::ApiError, render::color};
use crate::{
    game::{End, GameOutcome},
    state::{Denied, GameView, PlayerView},
};
use chess::{Color, GameId, Line, TimeControl};

/// Games that still run are shown so many moves behind.
const DELAY_PLIES: usize = 3;

pub(crate) fn routes() -> Router<LichessApi> {
    Router::new().route("/game/export/{game}", get(export))
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
    Shared(api): Shared<LichessApi>,
    Path(game): Path<GameId>,
    Query(options): Query<ExportOptions>,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    let mut view = api.ask(move |state| state.game_view(&game).ok_or(Denied::NoSuchGame)).await?;
    if view.outcome.is_none() {
        let mut delayed = (*view).clone();
        delayed.line.truncate(delayed.line.ply().saturating_sub(DELAY_PLIES));
        view = delayed.into();
    }
    let wants_json = headers
        .get(header::ACCEPT)
        .and_then(|value| value.to_str().ok())
        .is_some_and(|accept| accept.contains("application/json"));
    Ok(if wants_json {
        Json(game_json(&view, &options, &api.url)).into_response()
    } else {
        ([(header::CONTENT_TYPE, "application/x-chess-pgn")], pgn(&view, &options, &api.url)).into_response()
    })
}

/// The moves in the notation people read.
fn sans(line: &Line) -> Vec<String> {
    let mut position = line.start_position().clone();
    let mut sans = Vec::with_capacity(line.ply());
    for uci in line.moves() {
        let Ok(mv) = uci.to_move(&position) else { break };
        sans.push(SanPlus::from_move_and_play_unchecked(&mut position, mv).to_string());
    }
    sans
}

fn pgn(view: &GameView, options: &ExportOptions, url: &str) -> String {
    let mut text = String::new();
    if options.tags {
        for (name, value) in tags(view, url) {
            let _ = writeln!(text, "[{name} \"{value}\"]");
        }
        text.push('\n');
    }
    if options.moves {
        let start = view.line.start_position();
        let first = start.turn();
        let number = usize::try_from(start.fullmoves().get()).unwrap_or(1);
        for (ply, san) in sans(&view.line).into_iter().enumerate() {
            let halves = ply + usize::from(first == Color::Black);
            if halves.is_multiple_of(2) {
                let _ = write!(text, "{}. ", number + halves / 2);
            } else if ply == 0 || options.clocks {
                let _ = write!(text, "{}... ", number + halves / 2);
            }
            let _ = write!(text, "{san} ");
            if options.clocks
                && let Some(left) = view.move_times.get(ply).copied().flatten()
            {
                let seconds = left.as_secs();
                let _ = write!(text, "{{ [%clk {}:{:02}:{:02}] }} ", seconds / 3600, seconds / 60 % 60, seconds % 60);
            }
        }
    }
    text.push_str(result(view));
    text.push_str("\n\n");
    text
}

fn result(view: &GameView) -> &'static str {
    view.outcome.as_ref().map_or("*", GameOutcome::result)
}

fn tags(view: &GameView, url: &str) -> Vec<(&'static str, String)> {
    let pairing = &view.pairing;
    let began = i64::try_from(pairing.created_at).ok().and_then(|millis| Timestamp::from_millisecond(millis).ok());
    let began = began.unwrap_or_default().to_zoned(TimeZone::UTC);
    let date = began.strftime("%Y.%m.%d").to_string();
    let elo = |seat: &PlayerView| if seat.ai_level.is_some() { "?".to_owned() } else { seat.rating.points.to_string() };
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
    match view.outcome.as_ref().map(|outcome| outcome.end) {
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
        if seat.bot {
            user["title"] = json!("BOT");
        }
        let mut player = json!({ "user": user, "rating": seat.rating.points });
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
    if let Some(winner) = view.winner() {
        game["winner"] = json!(color(winner));
    }
    if let Some(fen) = view.line.start_fen() {
        game["initialFen"] = json!(fen);
    }
    if options.moves {
        game["moves"] = json!(sans(&view.line).join(" "));
    }
    if options.pgn_in_json {
        game["pgn"] = json!(pgn(view, options, url));
    }
    if options.clocks {
        let clocks = view.move_times.iter().take(view.line.ply()).flatten();
        let centiseconds: Vec<u128> = clocks.map(|left| left.as_millis() / 10).collect();
        game["clocks"] = json!(centiseconds);
    }
    match pairing.terms.time_control {
        control @ TimeControl::RealTime { initial, increment } => {
            game["clock"] = json!({
                "initial": initial.as_secs(),
                "increment": increment.as_secs(),
                "totalTime": control.estimate().map_or(0, |estimate| estimate.as_secs()),
            });
        }
        TimeControl::Correspondence { days } => game["daysPerTurn"] = json!(days),
        TimeControl::Unlimited => {}
    }
    game
}
