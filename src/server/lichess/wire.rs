//! Lichess's JSON as it comes, and its way into our types. Everything may be absent or null that we can do without; fields
//! and events we do not know are passed over, for the server grows faster than we do.
//!
//! Units: clocks are milliseconds in games and seconds in challenges; all of it is [`Duration`] past this file.

use std::{
    borrow::Cow,
    collections::BTreeMap,
    time::{Duration, Instant},
};

use serde::{Deserialize, Deserializer, de::DeserializeOwned};

use super::settings::ServerUrl;
use crate::{
    chess::{ChallengeId, Clock, Clocks, Color, GameId, Line, TimeControl, Variant},
    server::{
        Account, Challenge, ChatLine, ChatRoom, DeclineReason, GameInfo, GameState, GameStatus, GameTerms, Offers,
        Player, ServerEvent,
    },
};

/// A line of a stream that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum WireError {
    /// The server says that something is wrong.
    #[error("the server says: {0}")]
    Server(String),
    /// It is no JSON, or lacks what it must have.
    #[error("cannot read {what}: {reason}")]
    Malformed {
        /// What it should be.
        what: String,
        /// Why it is not.
        reason: String,
    },
    /// A game or challenge whose rules we do not know, or that begins where no game can.
    #[error("{0}")]
    Unplayable(String),
}

/// What every line of a stream has.
#[derive(Deserialize)]
struct Head<'a> {
    #[serde(borrow, rename = "type")]
    kind: Option<Cow<'a, str>>,
    error: Option<serde_json::Value>,
}

/// A line of the event stream, as the account `us` sees it. `None`: an event we do not know.
///
/// # Errors
/// [`WireError`], which concerns this line alone.
pub fn event(line: &str, us: &str) -> Result<Option<ServerEvent>, WireError> {
    let kind = kind(line)?;
    Ok(Some(match &*kind {
        "gameStart" => ServerEvent::GameStarted(read::<GameEnvelope>(&kind, line)?.game.id(&kind)?),
        "gameFinish" => {
            let game = read::<GameEnvelope>(&kind, line)?.game;
            ServerEvent::GameFinished {
                id: game.id(&kind)?,
                status: game.status.map(Status::into_status),
                winner: color(game.winner.as_deref()),
            }
        }
        "challenge" => {
            let envelope = read::<ChallengeEnvelope>(&kind, line)?;
            let playable = envelope.compat.and_then(|compat| compat.bot).unwrap_or(true);
            ServerEvent::Challenge(envelope.challenge.into_challenge(us, playable)?)
        }
        "challengeCanceled" => {
            ServerEvent::ChallengeCancelled(ChallengeId::from(read::<ChallengeEnvelope>(&kind, line)?.challenge.id))
        }
        "challengeDeclined" => {
            let challenge = read::<ChallengeEnvelope>(&kind, line)?.challenge;
            ServerEvent::ChallengeDeclined {
                id: ChallengeId::from(challenge.id),
                by: challenge.dest_user.map(User::into_player),
                reason: DeclineReason::from_key(challenge.decline_reason_key.as_deref().unwrap_or_default()),
            }
        }
        _ => {
            tracing::debug!(%kind, "an event we do not know");
            return Ok(None);
        }
    }))
}

/// A line of the stream of `game`, read from the network at `received`. `None`: an event we do not know.
///
/// # Errors
/// [`WireError`], which concerns this line alone.
pub fn game_event(
    line: &str,
    game: &GameId,
    us: &str,
    url: &ServerUrl,
    received: Instant,
) -> Result<Option<ServerEvent>, WireError> {
    let kind = kind(line)?;
    Ok(Some(match &*kind {
        "gameState" => ServerEvent::GameState(game.clone(), read::<State>(&kind, line)?.into_state(received)),
        "gameFull" => {
            let (info, state) = read::<GameFull>(&kind, line)?.into_game(us, url, received)?;
            ServerEvent::Game(Box::new(info), state)
        }
        "chatLine" => ServerEvent::Chat(game.clone(), read::<Chat>(&kind, line)?.into_line()),
        "opponentGone" => {
            let gone = read::<OpponentGone>(&kind, line)?;
            ServerEvent::OpponentGone {
                id: game.clone(),
                gone: gone.gone,
                claim_after: gone.claim_win_in_seconds.map(seconds),
            }
        }
        _ => {
            tracing::debug!(%kind, %game, "an event we do not know");
            return Ok(None);
        }
    }))
}

/// Reads the answer to a request.
///
/// # Errors
/// [`WireError::Malformed`], naming `what` it should have been.
pub fn read<T: DeserializeOwned>(what: &str, text: &str) -> Result<T, WireError> {
    serde_json::from_str(text).map_err(|error| malformed(what, error))
}

/// The server's words in the body of an error: `{"error": "..."}`, or the faults of a form by field.
pub fn error_text(body: &str) -> Option<String> {
    fn words(value: &serde_json::Value) -> Option<String> {
        use serde_json::Value;
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
    let value: serde_json::Value = serde_json::from_str(body).ok()?;
    match value.get("error") {
        Some(error) => words(error),
        None => value.is_object().then(|| words(&value)).flatten(),
    }
    .filter(|text| !text.is_empty())
}

fn kind(line: &str) -> Result<Cow<'_, str>, WireError> {
    let head: Head<'_> = serde_json::from_str(line).map_err(|error| malformed("a line of the stream", error))?;
    match head {
        Head { kind: Some(kind), .. } => Ok(kind),
        Head { error: Some(_), .. } => Err(WireError::Server(error_text(line).unwrap_or_default())),
        _ => Err(malformed("a line of the stream", "it has no type")),
    }
}

fn malformed(what: &str, reason: impl std::fmt::Display) -> WireError {
    WireError::Malformed { what: what.to_owned(), reason: reason.to_string() }
}

/// `null` and anything of another type than expected are as good as nothing, for fields that we can do without.
fn lenient<'de, D: Deserializer<'de>, T: DeserializeOwned>(deserializer: D) -> Result<Option<T>, D::Error> {
    let value = serde_json::Value::deserialize(deserializer)?;
    Ok(serde_json::from_value(value).ok())
}

/// Milliseconds or seconds from outside: negative, endless and absurd ones become the nearest that make sense.
fn milliseconds(value: f64) -> Duration {
    Duration::from_secs_f64(value.clamp(0.0, 1e15) / 1000.0)
}

fn seconds(value: f64) -> Duration {
    milliseconds(value * 1000.0)
}

fn color(name: Option<&str>) -> Option<Color> {
    match name {
        Some("white") => Some(Color::White),
        Some("black") => Some(Color::Black),
        _ => None,
    }
}

fn variant(key: Option<&VariantKey>) -> Result<Variant, WireError> {
    match key {
        None => Ok(Variant::Standard),
        Some(VariantKey { key }) => key.parse().map_err(|error| WireError::Unplayable(format!("{error}"))),
    }
}

#[derive(Deserialize)]
struct GameEnvelope {
    game: GameEvent,
}

/// The game as the event stream tells of it.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct GameEvent {
    game_id: Option<String>,
    id: Option<String>,
    #[serde(default, deserialize_with = "lenient")]
    status: Option<Status>,
    #[serde(default, deserialize_with = "lenient")]
    winner: Option<String>,
}

impl GameEvent {
    fn id(&self, kind: &str) -> Result<GameId, WireError> {
        let id = self.game_id.as_deref().or(self.id.as_deref());
        id.map(GameId::new).ok_or_else(|| malformed(kind, "the game has no id"))
    }
}

/// A status is an object on the event stream and a bare name in games.
#[derive(Deserialize)]
#[serde(untagged)]
enum Status {
    Name(String),
    Object { name: String },
}

impl Status {
    fn into_status(self) -> GameStatus {
        let (Self::Name(name) | Self::Object { name }) = self;
        GameStatus::from_name(&name)
    }
}

/// The games we are playing, by `/api/account/playing`.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Playing {
    now_playing: Vec<GameEvent>,
}

impl Playing {
    pub fn into_ids(self) -> Vec<GameId> {
        self.now_playing.iter().filter_map(|game| game.id("nowPlaying").ok()).collect()
    }
}

#[derive(Deserialize)]
struct ChallengeEnvelope {
    challenge: ChallengeJson,
    #[serde(default, deserialize_with = "lenient")]
    compat: Option<Compat>,
}

#[derive(Deserialize)]
struct Compat {
    bot: Option<bool>,
}

/// A challenge.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ChallengeJson {
    pub id: String,
    challenger: Option<User>,
    dest_user: Option<User>,
    variant: Option<VariantKey>,
    rated: Option<bool>,
    time_control: Option<TimeControlJson>,
    #[serde(default, deserialize_with = "lenient")]
    color: Option<String>,
    #[serde(default, deserialize_with = "lenient")]
    direction: Option<String>,
    #[serde(default, deserialize_with = "lenient")]
    initial_fen: Option<String>,
    #[serde(default, deserialize_with = "lenient")]
    rematch_of: Option<String>,
    #[serde(default, deserialize_with = "lenient")]
    rules: Option<Vec<String>>,
    #[serde(default, deserialize_with = "lenient")]
    decline_reason_key: Option<String>,
}

impl ChallengeJson {
    fn into_challenge(self, us: &str, playable: bool) -> Result<Challenge, WireError> {
        let challenger = self.challenger.map(User::into_player);
        let challenged = self.dest_user.map(User::into_player);
        let incoming = match &challenger {
            Some(player) => player.id != us,
            None => self.direction.as_deref() != Some("out"),
        };
        let (opponent, our_self) = if incoming { (challenger, challenged) } else { (challenged, challenger) };
        let challengers_color = color(self.color.as_deref());
        Ok(Challenge {
            id: ChallengeId::from(self.id),
            incoming,
            opponent,
            terms: GameTerms {
                variant: variant(self.variant.as_ref())?,
                time_control: self.time_control.map_or(TimeControl::Unlimited, TimeControlJson::into_time_control),
                rated: self.rated.unwrap_or(false),
            },
            our_color: if incoming { challengers_color.map(|color| !color) } else { challengers_color },
            initial_fen: self.initial_fen.filter(|fen| !fen.is_empty() && fen != "startpos"),
            rules: self.rules.unwrap_or_default(),
            rematch_of: self.rematch_of.map(GameId::from),
            our_rating: our_self.and_then(|player| player.rating),
            playable,
        })
    }
}

/// The answer to a challenge of ours: the challenge, at times in an envelope.
#[derive(Deserialize)]
#[serde(untagged)]
pub enum ChallengeCreated {
    Bare(Id),
    Envelope { challenge: Id },
}

#[derive(Deserialize)]
pub struct Id {
    id: String,
}

impl ChallengeCreated {
    pub fn into_id(self) -> ChallengeId {
        let (Self::Bare(Id { id }) | Self::Envelope { challenge: Id { id } }) = self;
        ChallengeId::from(id)
    }
}

/// Somebody, by any of the names that the server has for the same things.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct User {
    id: Option<String>,
    name: Option<String>,
    username: Option<String>,
    #[serde(default, deserialize_with = "lenient")]
    title: Option<String>,
    #[serde(default, deserialize_with = "lenient")]
    rating: Option<u32>,
    #[serde(default, deserialize_with = "lenient")]
    provisional: Option<bool>,
    #[serde(default, alias = "ai", deserialize_with = "lenient")]
    ai_level: Option<u8>,
}

impl User {
    fn into_player(self) -> Player {
        if let Some(level) = self.ai_level {
            let name = format!("Stockfish level {level}");
            return Player { name, ai_level: self.ai_level, rating: self.rating, ..Player::default() };
        }
        let name = self.name.or(self.username).or_else(|| self.id.clone()).unwrap_or_else(|| "anonymous".to_owned());
        // Names have no blanks, so what stands before one is a title ("BOT zeekat").
        let (prefix, name) = match name.rsplit_once(' ') {
            Some((prefix, bare)) => (Some(prefix.to_owned()), bare.to_owned()),
            None => (None, name),
        };
        Player {
            id: self.id.unwrap_or_else(|| name.clone()).to_lowercase(),
            name,
            title: self.title.or(prefix).filter(|title| !title.is_empty()),
            rating: self.rating,
            provisional: self.provisional.unwrap_or(false),
            ai_level: None,
        }
    }
}

#[derive(Deserialize)]
struct VariantKey {
    key: String,
}

/// A challenge's clock, in seconds.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct TimeControlJson {
    limit: Option<f64>,
    increment: Option<f64>,
    days_per_turn: Option<f64>,
}

impl TimeControlJson {
    fn into_time_control(self) -> TimeControl {
        match (self.limit, self.days_per_turn) {
            (Some(limit), _) => TimeControl::real_time(seconds(limit), seconds(self.increment.unwrap_or_default())),
            (None, Some(days)) => TimeControl::Correspondence { days: whole_days(days) },
            (None, None) => TimeControl::Unlimited,
        }
    }
}

fn whole_days(days: f64) -> u32 {
    // Float to integer saturates.
    days.clamp(1.0, 365.0) as u32
}

/// All of a game: the first line of its stream.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct GameFull {
    id: String,
    variant: Option<VariantKey>,
    clock: Option<ClockJson>,
    days_per_turn: Option<f64>,
    rated: Option<bool>,
    white: User,
    black: User,
    initial_fen: Option<String>,
    #[serde(default, deserialize_with = "lenient")]
    tournament_id: Option<String>,
    state: State,
}

/// A game's clock at the start, in milliseconds.
#[derive(Deserialize)]
struct ClockJson {
    initial: Option<f64>,
    increment: Option<f64>,
}

impl GameFull {
    fn into_game(self, us: &str, url: &ServerUrl, received: Instant) -> Result<(GameInfo, GameState), WireError> {
        let variant = variant(self.variant.as_ref())?;
        let time_control = match (self.clock, self.days_per_turn) {
            (Some(ClockJson { initial: Some(initial), increment }), _) => {
                TimeControl::real_time(milliseconds(initial), milliseconds(increment.unwrap_or_default()))
            }
            (_, Some(days)) => TimeControl::Correspondence { days: whole_days(days) },
            (_, None) => TimeControl::Unlimited,
        };
        let white = self.white.into_player();
        let black = self.black.into_player();
        let our_color = if white.id == us {
            Color::White
        } else if black.id == us {
            Color::Black
        } else {
            return Err(WireError::Unplayable(format!("game {} is between {white} and {black}, not ours", self.id)));
        };
        let start = Line::from_fen(variant, self.initial_fen.as_deref().unwrap_or_default())
            .map_err(|error| WireError::Unplayable(error.to_string()))?;
        let info = GameInfo {
            url: Some(url.page(&self.id)),
            id: GameId::from(self.id),
            terms: GameTerms { variant, time_control, rated: self.rated.unwrap_or(false) },
            white,
            black,
            our_color,
            start,
            tournament: self.tournament_id,
        };
        Ok((info, self.state.into_state(received)))
    }
}

/// What changes in a game. Clocks are milliseconds.
#[derive(Deserialize)]
struct State {
    moves: Option<String>,
    wtime: Option<f64>,
    btime: Option<f64>,
    winc: Option<f64>,
    binc: Option<f64>,
    status: Status,
    winner: Option<String>,
    wdraw: Option<bool>,
    bdraw: Option<bool>,
    wtakeback: Option<bool>,
    btakeback: Option<bool>,
}

impl State {
    fn into_state(self, received: Instant) -> GameState {
        let clock = |time: Option<f64>, increment: Option<f64>| {
            // The largest 32-bit integer stands for a game without a clock.
            time.filter(|&time| time < f64::from(i32::MAX)).map(|time| Clock {
                remaining: milliseconds(time),
                increment: milliseconds(increment.unwrap_or_default()),
            })
        };
        let clocks = clock(self.wtime, self.winc)
            .zip(clock(self.btime, self.binc))
            .map(|(white, black)| Clocks { white, black });
        GameState {
            moves: self.moves.unwrap_or_default(),
            clocks,
            status: self.status.into_status(),
            winner: color(self.winner.as_deref()),
            draw_offers: offers(self.wdraw, self.bdraw),
            takeback_offers: offers(self.wtakeback, self.btakeback),
            received,
        }
    }
}

fn offers(white: Option<bool>, black: Option<bool>) -> Offers {
    Offers { white: white.unwrap_or(false), black: black.unwrap_or(false) }
}

#[derive(Deserialize)]
struct Chat {
    username: Option<String>,
    text: Option<String>,
    room: Option<String>,
}

impl Chat {
    fn into_line(self) -> ChatLine {
        ChatLine {
            room: if self.room.as_deref() == Some("player") { ChatRoom::Player } else { ChatRoom::Spectator },
            username: self.username.unwrap_or_default(),
            text: self.text.unwrap_or_default(),
        }
    }
}

/// A line of the players' chat as `GET .../chat` has it: without the room.
#[derive(Deserialize)]
pub struct PlayerChat {
    #[serde(alias = "username")]
    user: Option<String>,
    text: Option<String>,
}

impl PlayerChat {
    pub fn into_line(self) -> ChatLine {
        ChatLine {
            room: ChatRoom::Player,
            username: self.user.unwrap_or_default(),
            text: self.text.unwrap_or_default(),
        }
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct OpponentGone {
    gone: bool,
    claim_win_in_seconds: Option<f64>,
}

/// An account: `/api/account`, and each of the bots that are online.
#[derive(Deserialize)]
pub struct AccountJson {
    id: String,
    username: Option<String>,
    #[serde(default, deserialize_with = "lenient")]
    title: Option<String>,
    #[serde(default, deserialize_with = "lenient")]
    perfs: Option<BTreeMap<String, Performance>>,
    #[serde(default, deserialize_with = "lenient")]
    count: Option<Count>,
}

#[derive(Deserialize)]
struct Performance {
    #[serde(default, deserialize_with = "lenient")]
    rating: Option<u32>,
    #[serde(default, deserialize_with = "lenient")]
    games: Option<u64>,
}

#[derive(Deserialize)]
struct Count {
    #[serde(default, deserialize_with = "lenient")]
    all: Option<u64>,
}

impl AccountJson {
    pub fn into_account(self) -> Account {
        let perfs = self.perfs.unwrap_or_default();
        let played = perfs.iter().filter(|(name, _)| *name != "puzzle").filter_map(|(_, perf)| perf.games).sum();
        Account {
            is_bot: self.title.as_deref() == Some("BOT"),
            player: Player {
                name: self.username.unwrap_or_else(|| self.id.clone()),
                id: self.id.to_lowercase(),
                title: self.title,
                ..Player::default()
            },
            ratings: perfs.into_iter().filter_map(|(name, perf)| Some((name, perf.rating?))).collect(),
            games_played: self.count.and_then(|count| count.all).unwrap_or(played),
        }
    }
}

/// Whether somebody is there: `/api/users/status`.
#[derive(Deserialize)]
pub struct UserStatus {
    pub id: String,
    online: Option<bool>,
    playing: Option<bool>,
}

impl UserStatus {
    pub fn is_available(&self) -> bool {
        self.online.unwrap_or(false) && !self.playing.unwrap_or(false)
    }
}

/// What a token is good for: `/api/token/test`.
#[derive(Deserialize)]
pub struct TokenInfo {
    #[serde(default, deserialize_with = "lenient")]
    scopes: Option<String>,
}

impl TokenInfo {
    pub fn scopes(&self) -> Vec<String> {
        let scopes = self.scopes.as_deref().unwrap_or_default().split(',').map(str::trim);
        scopes.filter(|scope| !scope.is_empty()).map(str::to_owned).collect()
    }
}

/// The body of a 429, or of a 400 where it is the opponent's limit.
#[derive(Deserialize)]
pub struct Limited {
    pub ratelimit: RateLimit,
}

#[derive(Deserialize)]
pub struct RateLimit {
    pub key: Option<String>,
    seconds: Option<f64>,
}

impl RateLimit {
    pub fn wait(&self) -> Option<Duration> {
        self.seconds.map(seconds)
    }
}

#[cfg(test)]
mod tests;
