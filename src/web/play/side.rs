use std::time::Duration;

use bytes::Bytes;
use rand::RngExt;
use serde::Serialize;
use serde_json::{Value, json};
use shakmaty::Position as _;
use subtle::ConstantTimeEq;
use tokio_util::sync::CancellationToken;

use super::stage::{PlayStage, guest};
use crate::{overview::ending, problem::HttpProblem, watch};
use domain::{Color, GameId, Line, color_word};
use practice::{AccountId, BoardEvent, Denied, GameView, ListenerKey, ServerState, Subscription};

/// The interval of keep-alives, so that both sides notice a dead connection.
const KEEP_ALIVE: Duration = Duration::from_secs(15);

/// The secret key of the browser's side of a game. All browsers may watch a game, and the holder of the
/// key may move.
#[derive(Clone, Serialize)]
#[serde(transparent)]
pub(super) struct BrowserKey(String);

impl BrowserKey {
    pub(super) fn draw() -> Self {
        Self(rand::rng().random::<[u8; 16]>().iter().map(|byte| format!("{byte:02x}")).collect())
    }

    pub(super) fn is(&self, shown: &str) -> bool {
        self.0.as_bytes().ct_eq(shown.as_bytes()).into()
    }
}

pub(super) struct BrowserSide<'a> {
    pub stage: &'a PlayStage,
    pub game: GameId,
}

impl BrowserSide<'_> {
    pub(super) async fn act(
        &self,
        act: impl FnOnce(&mut ServerState, &GameId, &AccountId) -> Result<(), Denied> + Send + 'static,
    ) -> Result<(), HttpProblem> {
        let game = self.game.clone();
        let done = self.stage.ask(move |state| act(state, &game, &guest())).await?;
        done.map_err(|denied| HttpProblem::bad(denied.to_string()))
    }

    pub(super) async fn line(&self) -> Result<Line, HttpProblem> {
        let game = self.game.clone();
        let view = self.stage.ask(move |state| state.game_view(&game)).await?;
        view.map(|view| view.line.clone()).ok_or_else(|| HttpProblem::not_found("the game is no longer available"))
    }

    /// Watches the board until `stop`. Several browsers may share it.
    pub(super) async fn watch(&self, stop: CancellationToken) -> Result<SideEvents, HttpProblem> {
        let (game, client) = (self.game.clone(), BrowserKey::draw().0);
        let joined = self.stage.ask(move |state| {
            let color = state.color_at(&game, &guest())?;
            Ok::<_, Denied>((color, state.join(&game, ListenerKey { account: guest(), client })?))
        });
        let (color, events) = joined.await?.map_err(|denied| HttpProblem::bad(denied.to_string()))?;
        Ok(SideEvents { color, events, stop })
    }
}

pub(super) struct SideEvents {
    color: Color,
    events: Subscription<BoardEvent>,
    stop: CancellationToken,
}

impl SideEvents {
    pub(super) async fn next(&mut self) -> Option<Bytes> {
        loop {
            let event = self.stop.run_until_cancelled(tokio::time::timeout(KEEP_ALIVE, self.events.next())).await?;
            let Ok(event) = event else { return Some(Bytes::from_static(b": still here\n\n")) };
            let frame = match event? {
                BoardEvent::Full(view) | BoardEvent::State(view) => watch::event("board", &board(&view, self.color)),
                BoardEvent::Chat(line) => watch::event("chat", &[line.username, line.text]),
                BoardEvent::OpponentGone(_) | BoardEvent::OpponentBack => continue,
            };
            return Some(frame);
        }
    }
}

/// Returns the board as the page shows it. Times are in milliseconds, White's first; legal moves are
/// empty during the council's turn, and `to` is the square to click: for castling the king's.
fn board(view: &GameView, color: Color) -> Value {
    let line = &view.line;
    let legal = if view.is_turn_of(color) { line.legal_moves() } else { Vec::new() };
    let legal = legal.into_iter().map(|uci| {
        let to = uci.to().map(|square| square.to_string()).unwrap_or_default();
        json!({ "uci": uci.to_string(), "san": line.san(uci), "to": to })
    });
    let milliseconds = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
    json!({
        "color": color_word(color),
        "fen": line.fen(),
        "ply": line.ply(),
        "moves": line.prefix(0).sans(line.moves().iter().copied()),
        "last": line.moves().last().map(ToString::to_string),
        "turn": color_word(line.turn()),
        "check": line.position().is_check(),
        "clocks": view.clocks.map(|clocks| [clocks.white, clocks.black].map(|clock| milliseconds(clock.remaining))),
        "running": view.clocks.is_some() && line.ply() >= 2 && view.outcome.is_none(),
        "legal": legal.collect::<Vec<_>>(),
        "draw_offered": view.draw_offer == Some(!color),
        "draw_asked": view.draw_offer == Some(color),
        "over": view.outcome.as_ref().map(|_| ending(&view.status(), view.winner())),
    })
}
