//! Games: whole states, changes, and chat.

use std::time::Instant;

use serde::Deserialize;
use serde_json::Value;

use super::{
    LichessLineError, VariantKey, color, field, malformed, milliseconds, player::User, seconds, variant, whole_days,
};
use crate::lichess::settings::ServerUrl;
use domain::{
    ChatLine, ChatRoom, Clock, Clocks, Color, GameId, GameInfo, GameState, GameStatus, GameTerms, Line, Offers, Player,
    ServerEvent, TimeControl,
};

#[derive(Deserialize)]
pub(super) struct GameEnvelope {
    game: Value,
}

impl GameEnvelope {
    pub(super) fn into_start(self) -> Result<ServerEvent, LichessLineError> {
        game_id(&self.game).map(ServerEvent::GameStarted)
    }

    pub(super) fn into_finish(self) -> Result<ServerEvent, LichessLineError> {
        Ok(ServerEvent::GameFinished {
            id: game_id(&self.game)?,
            status: field(&self.game, "/status").map(WireStatus::into_status),
            winner: color(field::<String>(&self.game, "/winner").as_deref()),
            rating_change: field(&self.game, "/ratingDiff"),
        })
    }
}

fn game_id(game: &Value) -> Result<GameId, LichessLineError> {
    let id = field::<String>(game, "/gameId").or_else(|| field(game, "/id"));
    id.map(GameId::from).ok_or_else(|| malformed("a game", "it has no id"))
}

/// A status is an object on the event stream and a bare name in games.
#[derive(Deserialize)]
#[serde(untagged)]
enum WireStatus {
    Name(String),
    Object { name: String },
}

impl WireStatus {
    fn into_status(self) -> GameStatus {
        let (Self::Name(name) | Self::Object { name }) = self;
        GameStatus::from_name(&name)
    }
}

/// The games we are playing, by `/api/account/playing`.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Playing {
    now_playing: Vec<Value>,
}

impl Playing {
    /// The games, each with whether we are to move.
    pub(crate) fn into_games(self) -> Vec<(GameId, bool)> {
        let is_our_turn = |game: &Value| field(game, "/isMyTurn").unwrap_or(true);
        self.now_playing.iter().filter_map(|game| Some((game_id(game).ok()?, is_our_turn(game)))).collect()
    }
}

/// A whole game: the first line of its stream.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct GameFull {
    id: String,
    variant: Option<VariantKey>,
    clock: Option<ClockJson>,
    days_per_turn: Option<f64>,
    rated: Option<bool>,
    white: User,
    black: User,
    initial_fen: Option<String>,
    state: GameStateJson,
    #[serde(flatten)]
    more: Value,
}

/// A game's clock at the start, in milliseconds.
#[derive(Deserialize)]
struct ClockJson {
    initial: Option<f64>,
    increment: Option<f64>,
}

impl GameFull {
    pub(super) fn into_game(
        self,
        us: &str,
        url: &ServerUrl,
        received: Instant,
    ) -> Result<(GameInfo, GameState), LichessLineError> {
        let variant = variant(self.variant.as_ref())?;
        let time_control = match (self.clock, self.days_per_turn) {
            (Some(ClockJson { initial: Some(initial), increment }), _) => {
                TimeControl::real_time(milliseconds(initial), milliseconds(increment.unwrap_or_default()))
            }
            (_, Some(days)) => TimeControl::Correspondence { days: whole_days(days) },
            (_, None) => TimeControl::Unlimited,
        };
        let terms = GameTerms { variant, time_control, rated: self.rated.unwrap_or(false) };
        let players = [self.white, self.black].map(User::into_player);
        let mut info = game_info(self.id, terms, players, self.initial_fen.as_deref(), us, url)?;
        info.tournament = field(&self.more, "/tournamentId");
        Ok((info, self.state.into_state(received)))
    }
}

/// A game of `us` on these terms between White and Black, from a position where that is not the variant's own.
pub(super) fn game_info(
    id: String,
    terms: GameTerms,
    [white, black]: [Player; 2],
    fen: Option<&str>,
    us: &str,
    url: &ServerUrl,
) -> Result<GameInfo, LichessLineError> {
    let our_color = match us {
        us if us == white.id => Color::White,
        us if us == black.id => Color::Black,
        _ => return Err(malformed("a game of ours", format!("{id} is between {white} and {black}"))),
    };
    let start = Line::from_fen(terms.variant, fen.unwrap_or_default())
        .map_err(|error| LichessLineError::Unplayable(error.to_string()))?;
    let url = Some(url.page(&id));
    Ok(GameInfo { url, id: GameId::from(id), terms, white, black, our_color, start, tournament: None })
}

/// A change of a game. Clocks are milliseconds.
#[derive(Deserialize)]
pub(super) struct GameStateJson {
    moves: Option<String>,
    wtime: Option<f64>,
    btime: Option<f64>,
    winc: Option<f64>,
    binc: Option<f64>,
    status: WireStatus,
    winner: Option<String>,
    wdraw: Option<bool>,
    bdraw: Option<bool>,
    wtakeback: Option<bool>,
    btakeback: Option<bool>,
}

impl GameStateJson {
    pub(super) fn into_state(self, received: Instant) -> GameState {
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
pub(super) struct ChatJson {
    username: Option<String>,
    text: Option<String>,
    room: Option<String>,
}

impl ChatJson {
    pub(super) fn into_line(self) -> ChatLine {
        ChatLine {
            room: if self.room.as_deref() == Some("player") { ChatRoom::Player } else { ChatRoom::Spectator },
            username: self.username.unwrap_or_default(),
            text: self.text.unwrap_or_default(),
        }
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct OpponentGone {
    gone: bool,
    claim_win_in_seconds: Option<f64>,
}

impl OpponentGone {
    pub(super) fn into_event(self, id: GameId) -> ServerEvent {
        ServerEvent::OpponentGone { id, gone: self.gone, claim_after: self.claim_win_in_seconds.map(seconds) }
    }
}
