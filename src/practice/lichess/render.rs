//! The server's state in Lichess's JSON.

use std::{ops::Not, time::Duration};

use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::{
    account::{Category, PracticeAccount, open_to_bots},
    state::{BoardEvent, ChallengeState, ChallengeView, GameView, OpenChallenge, PlayerView, PracticeAccountEvent},
};
use domain::{
    ChallengeId, ChatLine, Clock, Color, DeclineReason, GameStatus, GameTerms, Line, Speed, TimeControl, Tournament,
    TournamentKind, Variant, color_word, moves_text,
};

/// Lichess's clock of a game without one.
const NO_CLOCK_MILLIS: u64 = i32::MAX as u64;

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

/// Adds a field that Lichess leaves out where it says nothing.
pub(super) fn put(object: &mut Value, key: &str, value: Option<impl Serialize>) {
    if let Some(value) = value {
        object[key] = json!(value);
    }
}

/// The name of a variant, and a short one.
const fn variant_names(variant: Variant) -> (&'static str, &'static str) {
    match variant {
        Variant::Standard => ("Standard", "Std"),
        Variant::Chess960 => ("Chess960", "960"),
        Variant::FromPosition => ("From Position", "FEN"),
        Variant::Crazyhouse => ("Crazyhouse", "Crazy"),
        Variant::Antichess => ("Antichess", "Anti"),
        Variant::Atomic => ("Atomic", "Atom"),
        Variant::Horde => ("Horde", "Horde"),
        Variant::KingOfTheHill => ("King of the Hill", "KotH"),
        Variant::RacingKings => ("Racing Kings", "Racing"),
        Variant::ThreeCheck => ("Three-check", "3check"),
    }
}

pub(super) fn variant(variant: Variant) -> Value {
    let (name, short) = variant_names(variant);
    json!({ "key": variant.key(), "name": name, "short": short })
}

pub(super) fn category_name(category: Category) -> &'static str {
    match category {
        Category::Speed(Speed::UltraBullet) => "UltraBullet",
        Category::Speed(Speed::Bullet) => "Bullet",
        Category::Speed(Speed::Blitz) => "Blitz",
        Category::Speed(Speed::Rapid) => "Rapid",
        Category::Speed(Speed::Classical) => "Classical",
        Category::Speed(Speed::Correspondence) => "Correspondence",
        Category::Variant(variant) => variant_names(variant).0,
    }
}

/// A clock of minutes and seconds, such as `5+3`, `½+0` or `0.5`.
fn show_clock(initial: Duration, increment: Duration) -> String {
    let minutes = match initial.as_secs() {
        15 => "¼".to_owned(),
        30 => "½".to_owned(),
        45 => "¾".to_owned(),
        90 => "1.5".to_owned(),
        seconds if seconds % 60 == 0 => (seconds / 60).to_string(),
        seconds => format!("{:.2}", seconds as f64 / 60.0),
    };
    format!("{minutes}+{}", increment.as_secs_f64())
}

/// Seconds; a fraction where there is one, as only games against our own sparring partners have.
pub(super) fn whole_or_fraction(time: Duration) -> Value {
    if time.subsec_nanos() == 0 { json!(time.as_secs()) } else { json!(time.as_secs_f64()) }
}

fn status(status: &GameStatus) -> Value {
    let id = match status {
        GameStatus::Created => 10,
        GameStatus::Started | GameStatus::Adjourned | GameStatus::Other(_) => 20,
        GameStatus::Aborted => 25,
        GameStatus::Mate => 30,
        GameStatus::Resign => 31,
        GameStatus::Stalemate => 32,
        GameStatus::Timeout => 33,
        GameStatus::Draw => 34,
        GameStatus::OutOfTime => 35,
        GameStatus::Cheat => 36,
        GameStatus::NoStart => 37,
        GameStatus::UnknownFinish => 38,
        GameStatus::InsufficientMaterialClaim => 39,
        GameStatus::VariantEnd => 60,
    };
    json!({ "id": id, "name": status.name() })
}

/// Returns whether bots may be played with these terms, and humans with their own boards.
fn compat(terms: &GameTerms, any_speed: bool) -> Value {
    let board = !matches!(terms.time_control.speed(), Speed::UltraBullet | Speed::Bullet);
    json!({ "bot": any_speed || open_to_bots(terms.time_control), "board": board })
}

/// Returns twelve letters: the game's name and four that only its player knows.
fn full_id(game: &GameView, side: Color) -> String {
    format!("{}{}", game.pairing.id, color_word(side).get(..4).unwrap_or("play"))
}

fn last_move(line: &Line) -> String {
    line.moves().last().map(ToString::to_string).unwrap_or_default()
}

fn has_moved(line: &Line, side: Color) -> bool {
    let first_to_move = if line.ply().is_multiple_of(2) { line.turn() } else { !line.turn() };
    line.ply() > usize::from(side != first_to_move)
}

/// The user as Lichess shows it to anybody; `extended` as on its own page.
pub(crate) fn user(account: &PracticeAccount, created_at: u64, now: u64, url: &str, extended: bool) -> Value {
    let perfs: Map<String, Value> = Category::all()
        .map(|category| {
            let rating = account.rating(category);
            let mut perf = json!({
                "games": rating.games,
                "rating": rating.points(),
                "rd": rating.deviation(),
                "prog": 0,
            });
            put(&mut perf, "prov", rating.is_provisional().then_some(true));
            (category.key().to_owned(), perf)
        })
        .collect();
    let mut user = json!({
        "id": account.id.as_str(),
        "username": account.name,
        "perfs": perfs,
        "createdAt": created_at,
        "seenAt": now,
        "playTime": { "total": 0, "tv": 0 },
    });
    put(&mut user, "title", account.bot.then_some("BOT"));
    if extended {
        let counts = account.counts;
        user["url"] = json!(format!("{url}/@/{}", account.name));
        user["count"] = json!({
            "all": counts.all(), "rated": counts.rated, "draw": counts.drawn, "loss": counts.lost, "win": counts.won,
            "bookmark": 0, "playing": 0, "import": 0, "me": 0,
        });
        user["followable"] = json!(true);
        user["following"] = json!(false);
        user["blocking"] = json!(false);
    }
    user
}

fn challenge_user(seat: &PlayerView, online: bool) -> Value {
    let mut user = json!({ "id": seat.account.as_str(), "name": seat.name, "rating": seat.rating.points() });
    put(&mut user, "title", seat.bot.then_some("BOT"));
    put(&mut user, "provisional", seat.rating.is_provisional().then_some(true));
    if online {
        user["online"] = json!(true);
        user["lag"] = json!(4);
    }
    user
}

fn time_control(time_control: TimeControl) -> Value {
    match time_control {
        TimeControl::RealTime { initial, increment } => json!({
            "type": "clock",
            "limit": initial.as_secs(),
            "increment": whole_or_fraction(increment),
            "show": show_clock(initial, increment),
        }),
        TimeControl::Correspondence { days } => json!({ "type": "correspondence", "daysPerTurn": days }),
        TimeControl::Unlimited => json!({ "type": "unlimited" }),
    }
}

/// A challenge as its maker (`out`) or its receiver (`in`) sees it.
pub(crate) fn challenge(challenge: &ChallengeView, url: &str, outgoing: bool) -> Value {
    let status = match challenge.state {
        ChallengeState::Created => "created",
        ChallengeState::Offline => "offline",
        ChallengeState::Cancelled => "canceled",
        ChallengeState::Declined(_) => "declined",
        ChallengeState::Accepted => "accepted",
    };
    let mut value = any_challenge(&challenge.id, &challenge.terms, &challenge.start, url);
    value["status"] = json!(status);
    value["challenger"] = challenge_user(&challenge.challenger, challenge.online.0);
    value["destUser"] = challenge_user(&challenge.dest, challenge.online.1);
    value["color"] = json!(challenge.color.map_or("random", color_word));
    value["finalColor"] = json!(color_word(challenge.final_color));
    value["direction"] = json!(if outgoing { "out" } else { "in" });
    if let ChallengeState::Declined(reason) = challenge.state {
        value["declineReason"] = json!(decline_text(reason));
        value["declineReasonKey"] = json!(reason.key().to_lowercase());
    }
    value
}

pub(crate) fn open_challenge(challenge: &OpenChallenge, url: &str) -> Value {
    let mut value = any_challenge(&challenge.id, &challenge.terms, &challenge.start, url);
    value["open"] = json!({});
    value["urlWhite"] = json!(format!("{url}/{}?color=white", challenge.id));
    value["urlBlack"] = json!(format!("{url}/{}?color=black", challenge.id));
    value
}

/// The fields of every challenge, before anything is known of its players.
fn any_challenge(id: &ChallengeId, terms: &GameTerms, start: &Line, url: &str) -> Value {
    let mut value = json!({
        "id": id.as_str(),
        "url": format!("{url}/{id}"),
        "status": "created",
        "challenger": null,
        "destUser": null,
        "variant": variant(terms.variant),
        "rated": terms.rated,
        "speed": terms.time_control.speed().key(),
        "timeControl": time_control(terms.time_control),
        "color": "random",
        "perf": { "icon": "", "name": category_name(Category::of(terms)) },
    });
    put(&mut value, "initialFen", start.start_fen());
    value
}

const fn decline_text(reason: DeclineReason) -> &'static str {
    match reason {
        DeclineReason::Generic => "I take no challenges now.",
        DeclineReason::Later => "Not now, please ask again later.",
        DeclineReason::TooFast => "This is too fast for me, please challenge me to a slower game.",
        DeclineReason::TooSlow => "This is too slow for me, please challenge me to a faster game.",
        DeclineReason::TimeControl => "I do not play this time control.",
        DeclineReason::Rated => "Please challenge me to a rated game.",
        DeclineReason::Casual => "Please challenge me to a casual game.",
        DeclineReason::Standard => "I play standard chess only.",
        DeclineReason::Variant => "I do not play this variant.",
        DeclineReason::NoBot => "I do not play bots.",
        DeclineReason::OnlyBot => "I play bots only.",
    }
}

/// A line of the event stream of a player, `me`. Lichess has no word for games that are put off.
pub(crate) fn account_event(event: &PracticeAccountEvent, me: &str, url: &str, any_speed: bool) -> Option<Value> {
    let about = |view: &ChallengeView| challenge(view, url, view.challenger.account.as_str() == me);
    let mine = |view: &GameView| {
        let side = if view.pairing.players.white.account.as_str() == me { Color::White } else { Color::Black };
        let mut game = game_info(view, side);
        game["compat"] = compat(&view.pairing.terms, any_speed);
        game["id"] = json!(view.pairing.id.as_str());
        game
    };
    Some(match event {
        PracticeAccountEvent::GameAdjourned(_) | PracticeAccountEvent::ResumeOffer(_) => return None,
        PracticeAccountEvent::GameStart(view) => json!({ "type": "gameStart", "game": mine(view) }),
        PracticeAccountEvent::GameFinish(view) => json!({ "type": "gameFinish", "game": mine(view) }),
        PracticeAccountEvent::Challenge(view) => {
            json!({ "type": "challenge", "challenge": about(view), "compat": compat(&view.terms, any_speed) })
        }
        PracticeAccountEvent::ChallengeCancelled(view) => {
            json!({ "type": "challengeCanceled", "challenge": about(view) })
        }
        PracticeAccountEvent::ChallengeDeclined(view) => {
            json!({ "type": "challengeDeclined", "challenge": about(view) })
        }
    })
}

/// A game as one of its players sees it in lists and events.
fn game_info(view: &GameView, side: Color) -> Value {
    let pairing = &view.pairing;
    let (own, other) = (pairing.players.get(side), pairing.players.get(!side));
    let mut opponent = match other.ai_level {
        Some(level) => json!({ "id": null, "username": other.name, "ai": level }),
        None => json!({ "id": other.account.as_str(), "username": other.name, "rating": other.rating.points() }),
    };
    let mut game = json!({
        "fullId": full_id(view, side),
        "gameId": pairing.id.as_str(),
        "fen": view.line.fen(),
        "color": color_word(side),
        "lastMove": last_move(&view.line),
        "source": source(view),
        "status": status(&view.status()),
        "variant": variant(pairing.terms.variant),
        "speed": pairing.terms.time_control.speed().key(),
        "perf": pairing.category().key(),
        "rated": pairing.terms.rated,
        "hasMoved": has_moved(&view.line, side),
        "isMyTurn": view.is_turn_of(side),
        "rating": own.rating.points(),
    });
    if let Some(clocks) = view.clocks {
        game["secondsLeft"] = json!(clocks.of(side).remaining.as_secs());
    }
    put(&mut game, "winner", view.winner().map(color_word));
    if let Some(changes) = view.rating_changes {
        game["ratingDiff"] = json!(changes.get(side));
        opponent["ratingDiff"] = json!(changes.get(!side));
    }
    game["opponent"] = opponent;
    game
}

/// An entry of `/api/account/playing`, which names the status by its name alone.
pub(crate) fn now_playing(view: &GameView, side: Color) -> Value {
    let mut game = game_info(view, side);
    game["status"] = json!(view.status().name());
    game
}

pub(crate) fn source(view: &GameView) -> &'static str {
    match &view.pairing.tournament {
        Some(tournament) => tournament.kind.map_or("friend", TournamentKind::key),
        None if view.pairing.players.iter().any(|seat| seat.ai_level.is_some()) => "ai",
        None => "friend",
    }
}

/// Returns the answer to a challenge of the server's own engine.
pub(crate) fn ai_game(view: &GameView, side: Color) -> Value {
    json!({
        "id": view.pairing.id.as_str(),
        "variant": variant(view.pairing.terms.variant),
        "speed": view.pairing.terms.time_control.speed().key(),
        "perf": view.pairing.category().key(),
        "rated": view.pairing.terms.rated,
        "source": source(view),
        "createdAt": view.pairing.created_at,
        "fen": view.line.fen(),
        "turns": view.line.ply(),
        "status": status(&view.status()),
        "player": color_word(side),
        "fullId": full_id(view, side),
    })
}

fn game_player(seat: &PlayerView) -> Value {
    if let Some(level) = seat.ai_level {
        return json!({ "aiLevel": level });
    }
    let mut player = json!({
        "id": seat.account.as_str(),
        "name": seat.name,
        "title": seat.bot.then_some("BOT"),
        "rating": seat.rating.points(),
    });
    put(&mut player, "provisional", seat.rating.is_provisional().then_some(true));
    player
}

/// Returns the starting position; for games from many positions the usual one is written as the
/// others are.
fn initial_fen(start: &Line) -> String {
    match start.variant() {
        Variant::Chess960 | Variant::FromPosition => start.any_start_fen(),
        _ => start.start_fen().unwrap_or_else(|| "startpos".to_owned()),
    }
}

fn game_full(view: &GameView) -> Value {
    let pairing = &view.pairing;
    let mut full = json!({
        "type": "gameFull",
        "id": pairing.id.as_str(),
        "variant": variant(pairing.terms.variant),
        "speed": pairing.terms.time_control.speed().key(),
        "perf": { "name": category_name(pairing.category()) },
        "rated": pairing.terms.rated,
        "createdAt": pairing.created_at,
        "white": game_player(&pairing.players.white),
        "black": game_player(&pairing.players.black),
        "initialFen": initial_fen(&view.line),
        "state": serde_json::to_value(StateLine::of(view)).unwrap_or_default(),
    });
    if let Some(Tournament { id, kind: Some(TournamentKind::Arena) }) = &pairing.tournament {
        full["tournamentId"] = json!(id);
    }
    match pairing.terms.time_control {
        TimeControl::RealTime { initial, increment } => {
            full["clock"] = json!({ "initial": millis(initial), "increment": millis(increment) });
        }
        TimeControl::Correspondence { days } => full["daysPerTurn"] = json!(days),
        TimeControl::Unlimited => {}
    }
    full
}

/// A `gameState` line. A type of its own because it is the one that must be quick.
#[derive(Serialize)]
struct StateLine {
    r#type: &'static str,
    moves: String,
    wtime: u64,
    btime: u64,
    winc: u64,
    binc: u64,
    status: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    winner: Option<&'static str>,
    #[serde(skip_serializing_if = "Not::not")]
    wdraw: bool,
    #[serde(skip_serializing_if = "Not::not")]
    bdraw: bool,
    #[serde(skip_serializing_if = "Not::not")]
    wtakeback: bool,
    #[serde(skip_serializing_if = "Not::not")]
    btakeback: bool,
}

impl StateLine {
    fn of(view: &GameView) -> Self {
        let shown = |clock: Clock| (millis(clock.remaining), millis(clock.increment));
        let clock = |color| view.clocks.map_or((NO_CLOCK_MILLIS, 0), |clocks| shown(clocks.of(color)));
        let ((wtime, winc), (btime, binc)) = (clock(Color::White), clock(Color::Black));
        let takeback = view.takeback_offer.map(|(by, _)| by);
        Self {
            r#type: "gameState",
            moves: moves_text(view.line.moves()),
            wtime,
            btime,
            winc,
            binc,
            status: view.status().name().to_owned(),
            winner: view.winner().map(color_word),
            wdraw: view.draw_offer == Some(Color::White),
            bdraw: view.draw_offer == Some(Color::Black),
            wtakeback: takeback == Some(Color::White),
            btakeback: takeback == Some(Color::Black),
        }
    }
}

pub(crate) fn board_event(event: &BoardEvent) -> String {
    match event {
        BoardEvent::Full(view) => game_full(view).to_string(),
        BoardEvent::State(view) => serde_json::to_string(&StateLine::of(view)).unwrap_or_default(),
        BoardEvent::Chat(line) => chat_line(line).to_string(),
        BoardEvent::OpponentGone(claim_after) => {
            let seconds = claim_after.as_millis().div_ceil(1000);
            json!({ "type": "opponentGone", "gone": true, "claimWinInSeconds": u64::try_from(seconds).unwrap_or(u64::MAX) })
                .to_string()
        }
        BoardEvent::OpponentBack => json!({ "type": "opponentGone", "gone": false }).to_string(),
    }
}

fn chat_line(line: &ChatLine) -> Value {
    json!({ "type": "chatLine", "room": line.room.key(), "username": line.username, "text": line.text })
}
