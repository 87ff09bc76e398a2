//! Games: whole states, changes, and chat.

use std::time::Instant;

use serde::Deserialize;

use super::{
    ClockJson, LichessLineError, VariantKey, color, lenient, malformed, milliseconds, our_color, player::User, seconds,
    start_line, time_control, variant,
};
use crate::lichess::settings::ServerUrl;
use domain::{
    ChatLine, ChatRoom, Clock, Clocks, GameId, GameInfo, GameState, GameStatus, GameTerms, Offers, ServerEvent,
};

#[derive(Deserialize)]
pub(super) struct GameEnvelope {
    pub game: WireGameEvent,
}

impl GameEnvelope {
    pub(super) fn into_finish(self) -> Result<ServerEvent, LichessLineError> {
        Ok(ServerEvent::GameFinished {
            id: self.game.id()?,
            status: self.game.status.map(WireStatus::into_status),
            winner: color(self.game.winner.as_deref()),
            rating_change: self.game.rating_diff,
        })
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct WireGameEvent {
    game_id: Option<String>,
    id: Option<String>,
    #[serde(default, deserialize_with = "lenient")]
    status: Option<WireStatus>,
    #[serde(default, deserialize_with = "lenient")]
    is_my_turn: Option<bool>,
    #[serde(default, deserialize_with = "lenient")]
    winner: Option<String>,
    #[serde(default, deserialize_with = "lenient")]
    rating_diff: Option<i32>,
}

impl WireGameEvent {
    pub(super) fn id(&self) -> Result<GameId, LichessLineError> {
        let id = self.game_id.as_deref().or(self.id.as_deref());
        id.map(GameId::new).ok_or_else(|| malformed("a game", "it has no id"))
    }
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
    now_playing: Vec<WireGameEvent>,
}

impl Playing {
    /// The games, each with whether we are to move.
    pub(crate) fn into_games(self) -> Vec<(GameId, bool)> {
        self.now_playing.iter().filter_map(|game| Some((game.id().ok()?, game.is_my_turn.unwrap_or(true)))).collect()
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
    #[serde(default, deserialize_with = "lenient")]
    tournament_id: Option<String>,
    state: GameStateJson,
}

impl GameFull {
    pub(super) fn into_game(
        self,
        us: &str,
        url: &ServerUrl,
        received: Instant,
    ) -> Result<(GameInfo, GameState), LichessLineError> {
        let variant = variant(self.variant.as_ref().map(|variant| variant.key.as_str()))?;
        let time_control = time_control(self.clock, self.days_per_turn, milliseconds);
        let (white, black) = (self.white.into_player(), self.black.into_player());
        let our_color = our_color(us, &white, &black, &self.id)?;
        let start = start_line(variant, self.initial_fen.as_deref())?;
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
