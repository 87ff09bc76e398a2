//! Lichess's JSON as it comes, and its way into our types. Everything may be absent or null that we can do without; fields
//! and events we do not know are passed over, for the server grows faster than we do.
//!
//! Units: clocks are milliseconds in games and seconds in challenges; all of it is [`Duration`] past this file.

mod challenge;
mod export;
mod game;
mod player;
mod tournament;

use std::{
    borrow::Cow,
    time::{Duration, Instant},
};

use serde::{
    Deserialize, Deserializer,
    de::{DeserializeOwned, IgnoredAny},
};
use serde_json::Value;

pub use self::export::exported_game;
pub(super) use self::{
    challenge::ChallengeCreated,
    game::Playing,
    player::{AccountJson, TokenInfo, UserStatus},
    tournament::TournamentJson,
};
use self::{
    challenge::ChallengeEnvelope,
    game::{ChatJson, GameEnvelope, GameFull, GameStateJson, OpponentGone},
};
use super::{ndjson::LineTooLong, settings::ServerUrl};
use domain::{Color, GameId, Line, Player, ServerEvent, TimeControl, Variant};

/// A line of a stream that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum LichessLineError {
    #[error("the server says: {0}")]
    Server(String),
    /// It is no JSON, or lacks what it must have.
    #[error("cannot read {what}: {reason}")]
    Malformed { what: String, reason: String },
    #[error(transparent)]
    TooLong(#[from] LineTooLong),
    #[error("unknown event: {0}")]
    Unknown(String),
    /// A game whose rules have no name with us, or that begins where no game can.
    #[error("{0}")]
    Unplayable(String),
}

/// Fields of every line of a stream.
#[derive(Deserialize)]
struct Head<'a> {
    #[serde(borrow, rename = "type")]
    kind: Option<Cow<'a, str>>,
    error: Option<Value>,
}

/// A line of the event stream, as the account `us` sees it.
pub fn event(line: &str, us: &str) -> Result<ServerEvent, LichessLineError> {
    let kind = kind(line)?;
    Ok(match &*kind {
        "gameStart" => ServerEvent::GameStarted(read::<GameEnvelope>(&kind, line)?.game.id()?),
        "gameFinish" => read::<GameEnvelope>(&kind, line)?.into_finish()?,
        "challenge" => {
            let challenge = read::<ChallengeEnvelope>(&kind, line)?;
            if !challenge.concerns(us) {
                return Err(LichessLineError::Unknown("a challenge between two others".to_owned()));
            }
            ServerEvent::Challenge(challenge.into_challenge(us))
        }
        "challengeCanceled" => ServerEvent::ChallengeCancelled(read::<ChallengeEnvelope>(&kind, line)?.id()),
        "challengeDeclined" => read::<ChallengeEnvelope>(&kind, line)?.into_decline(),
        _ => return Err(unknown(&kind, line)),
    })
}

/// A line of the stream of `game`, read from the network at `received`.
pub fn game_event(
    line: &str,
    game: &GameId,
    us: &str,
    url: &ServerUrl,
    received: Instant,
) -> Result<ServerEvent, LichessLineError> {
    let kind = kind(line)?;
    Ok(match &*kind {
        "gameState" => ServerEvent::GameState(game.clone(), read::<GameStateJson>(&kind, line)?.into_state(received)),
        "gameFull" => {
            let (info, state) = read::<GameFull>(&kind, line)?.into_game(us, url, received)?;
            ServerEvent::Game(Box::new(info), state)
        }
        "chatLine" => ServerEvent::Chat(game.clone(), read::<ChatJson>(&kind, line)?.into_line()),
        "opponentGone" => read::<OpponentGone>(&kind, line)?.into_event(game.clone()),
        _ => return Err(unknown(&kind, line)),
    })
}

/// Reads the answer to a request.
pub(super) fn read<T: DeserializeOwned>(what: &str, text: &str) -> Result<T, LichessLineError> {
    serde_json::from_str(text).map_err(|error| malformed(what, error))
}

/// The server's words in the body of an error: `{"error": "..."}`, or the faults of a form by field.
pub(super) fn error_text(body: &str) -> Option<String> {
    fn words(value: &Value) -> Option<String> {
        match value {
            Value::String(text) => Some(text.clone()),
            Value::Array(texts) => Some(texts.iter().filter_map(words).collect::<Vec<_>>().join(", ")),
            Value::Object(fields) => {
                let faults = fields.iter().filter_map(|(field, fault)| Some(format!("{field}: {}", words(fault)?)));
                Some(faults.collect::<Vec<_>>().join("; "))
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => None,
        }
    }
    let value: Value = serde_json::from_str(body).ok()?;
    match value.get("error") {
        Some(error) => words(error),
        None => value.is_object().then(|| words(&value)).flatten(),
    }
    .filter(|text| !text.is_empty())
}

/// Returns the type of a line. Lichess writes it first but in `gameFull`: other lines need not be read twice.
fn kind(line: &str) -> Result<Cow<'_, str>, LichessLineError> {
    let first = line.strip_prefix(r#"{"type":""#).and_then(|rest| rest.split_once('"'));
    if let Some((kind, _)) = first.filter(|(kind, _)| kind.bytes().all(|byte| byte.is_ascii_alphabetic())) {
        return Ok(Cow::Borrowed(kind));
    }
    let head: Head<'_> = serde_json::from_str(line).map_err(|error| malformed("a line of the stream", error))?;
    match head {
        Head { kind: Some(kind), .. } => Ok(kind),
        Head { error: Some(_), .. } => Err(LichessLineError::Server(error_text(line).unwrap_or_default())),
        _ => Err(malformed("a line of the stream", "it has no type")),
    }
}

fn unknown(kind: &str, line: &str) -> LichessLineError {
    match read::<IgnoredAny>(kind, line) {
        Ok(_) => LichessLineError::Unknown(kind.to_owned()),
        Err(malformed) => malformed,
    }
}

fn malformed(what: &str, reason: impl std::fmt::Display) -> LichessLineError {
    LichessLineError::Malformed { what: what.to_owned(), reason: reason.to_string() }
}

/// `null` and anything of another type than expected are as good as nothing, for fields that we can do without.
fn lenient<'de, D: Deserializer<'de>, T: DeserializeOwned>(deserializer: D) -> Result<Option<T>, D::Error> {
    Ok(serde_json::from_value(Value::deserialize(deserializer)?).ok())
}

/// Milliseconds or seconds from outside: negative, endless and absurd ones become the nearest that make sense.
fn milliseconds(value: f64) -> Duration {
    Duration::from_secs_f64(value.clamp(0.0, 1e15) / 1000.0)
}

fn seconds(value: f64) -> Duration {
    milliseconds(value * 1000.0)
}

fn our_color(us: &str, white: &Player, black: &Player, game: &str) -> Result<Color, LichessLineError> {
    match us {
        id if id == white.id => Ok(Color::White),
        id if id == black.id => Ok(Color::Black),
        _ => Err(malformed("a game of the bot", format!("{game} is between {white} and {black}"))),
    }
}

/// Returns a game before its first move; without `fen` it begins as usual.
fn start_line(variant: Variant, fen: Option<&str>) -> Result<Line, LichessLineError> {
    Line::from_fen(variant, fen.unwrap_or_default()).map_err(|error| LichessLineError::Unplayable(error.to_string()))
}

fn color(name: Option<&str>) -> Option<Color> {
    name?.parse().ok()
}

fn variant(key: Option<&str>) -> Result<Variant, LichessLineError> {
    key.map_or(Ok(Variant::Standard), str::parse).map_err(LichessLineError::Unplayable)
}

#[derive(Deserialize)]
struct VariantKey {
    key: String,
}

/// A clock at the start of a game: milliseconds in the stream of a game, seconds elsewhere.
#[derive(Deserialize)]
struct ClockJson {
    initial: Option<f64>,
    #[serde(default, deserialize_with = "lenient")]
    limit: Option<f64>,
    increment: Option<f64>,
    #[serde(default, rename = "daysPerTurn", deserialize_with = "lenient")]
    days: Option<f64>,
}

fn time_control(clock: Option<ClockJson>, days: Option<f64>, unit: fn(f64) -> Duration) -> TimeControl {
    let (initial, increment, days) = match clock {
        Some(clock) => (clock.initial.or(clock.limit), clock.increment, days.or(clock.days)),
        None => (None, None, days),
    };
    match (initial, days) {
        (Some(initial), _) => TimeControl::real_time(unit(initial), unit(increment.unwrap_or_default())),
        // Float to integer saturates.
        (None, Some(days)) => TimeControl::Correspondence { days: days.clamp(1.0, 365.0) as u32 },
        (None, None) => TimeControl::Unlimited,
    }
}

/// Reads the limit in the body of a 429, or of a 400 where it is the opponent's: its key, and the time to wait.
pub(super) fn limit(body: &str) -> Option<(Option<String>, Option<Duration>)> {
    let body: Value = serde_json::from_str(body).ok()?;
    let limit = body.get("ratelimit")?.as_object()?;
    Some((
        limit.get("key").and_then(Value::as_str).map(str::to_owned),
        limit.get("seconds").and_then(Value::as_f64).map(seconds),
    ))
}

#[cfg(test)]
mod tests;
