//! The player's side of a board: actions and events.

use std::time::Duration;

use bytes::Bytes;
use rand::RngExt;
use serde::Serialize;
use shakmaty::Position as _;
use subtle::ConstantTimeEq;
use tokio_util::sync::CancellationToken;

use super::stage::{PlayStage, guest};
use crate::{overview::ending, problem::HttpProblem};
use domain::{Color, GameId, Line, UciMove};
use practice::{AccountId, BoardEvent, Denied, GameView, ListenerKey, ServerState, Subscription};

/// The interval of keep-alives, so that both sides notice a dead connection.
const KEEP_ALIVE: Duration = Duration::from_secs(15);

/// The secret of the player who began a game. Everybody may watch a game, and one may move.
#[derive(Clone, Serialize)]
#[serde(transparent)]
pub(super) struct SeatKey(String);

impl SeatKey {
    pub(super) fn draw() -> Self {
        Self(rand::rng().random::<[u8; 16]>().iter().map(|byte| format!("{byte:02x}")).collect())
    }

    pub(super) fn is(&self, shown: &str) -> bool {
        self.0.as_bytes().ct_eq(shown.as_bytes()).into()
    }
}

pub(super) struct Seated<'a> {
    pub stage: &'a PlayStage,
    pub game: GameId,
}

impl Seated<'_> {
    async fn act(
        &self,
        act: impl FnOnce(&mut ServerState, &GameId, &AccountId) -> Result<(), Denied> + Send + 'static,
    ) -> Result<(), HttpProblem> {
        let game = self.game.clone();
        let done = self.stage.ask(move |state| act(state, &game, &guest())).await?;
        done.map_err(|denied| HttpProblem::bad(denied.to_string()))
    }

    pub(super) async fn play(&self, uci: UciMove) -> Result<(), HttpProblem> {
        self.act(move |state, game, me| state.play(game, me, uci, None)).await
    }

    pub(super) async fn take_back(&self) -> Result<(), HttpProblem> {
        self.act(|state, game, me| state.takeback(game, me, true)).await
    }

    pub(super) async fn draw(&self, yes: bool) -> Result<(), HttpProblem> {
        self.act(move |state, game, me| state.draw(game, me, yes)).await
    }

    /// Resigns; before the first move the game is dropped.
    pub(super) async fn resign(&self) -> Result<(), HttpProblem> {
        self.act(|state, game, me| state.abort(game, me).or_else(|_| state.resign(game, me))).await
    }

    pub(super) async fn line(&self) -> Result<Line, HttpProblem> {
        let game = self.game.clone();
        let view = self.stage.ask(move |state| state.game_view(&game)).await?;
        view.map(|view| view.line.clone()).ok_or_else(|| HttpProblem::not_found("the game is no longer available"))
    }

    /// Watches the board until `stop`. Several browsers may share it.
    pub(super) async fn watch(&self, stop: CancellationToken) -> Result<SeatEvents, HttpProblem> {
        let (game, client) = (self.game.clone(), SeatKey::draw().0);
        let joined = self.stage.ask(move |state| {
            let color = state.color_at(&game, &guest())?;
            Ok::<_, Denied>((color, state.join(&game, ListenerKey { account: guest(), client })?))
        });
        let (color, events) = joined.await?.map_err(|denied| HttpProblem::bad(denied.to_string()))?;
        Ok(SeatEvents { color, events, stop })
    }
}

/// The board's events for a player.
pub(super) struct SeatEvents {
    color: Color,
    events: Subscription<BoardEvent>,
    stop: CancellationToken,
}

impl SeatEvents {
    pub(super) async fn next(&mut self) -> Option<Bytes> {
        loop {
            let event = self.stop.run_until_cancelled(tokio::time::timeout(KEEP_ALIVE, self.events.next())).await?;
            let Ok(event) = event else { return Some(Bytes::from_static(b": still here\n\n")) };
            let frame = match event? {
                BoardEvent::Full(view) | BoardEvent::State(view) => frame("board", &SeatView::of(&view, self.color)),
                BoardEvent::Chat(line) => frame("chat", &[line.username, line.text]),
                BoardEvent::OpponentGone(_) | BoardEvent::OpponentBack => continue,
            };
            return Some(frame);
        }
    }
}

fn frame(name: &str, value: &impl Serialize) -> Bytes {
    // Our own plain structures fail at nothing.
    let json = serde_json::to_string(value).unwrap_or_default();
    Bytes::from(format!("event: {name}\ndata: {json}\n\n"))
}

/// The board as it is sent. Times in milliseconds, White's first.
#[derive(Serialize)]
struct SeatView {
    color: &'static str,
    fen: String,
    ply: usize,
    moves: Vec<String>,
    last: Option<String>,
    turn: &'static str,
    check: bool,
    clocks: Option<[u64; 2]>,
    running: bool,
    /// The legal moves; none during the other side's turn.
    legal: Vec<LegalMove>,
    draw_offered: bool,
    draw_asked: bool,
    over: Option<String>,
}

#[derive(Serialize)]
struct LegalMove {
    uci: String,
    san: String,
    /// The square that is clicked, which for castling is where the king goes.
    to: String,
}

impl SeatView {
    fn of(view: &GameView, color: Color) -> Self {
        let line = &view.line;
        let mut position = line.prefix(0);
        let moves = line.moves().iter().map(|uci| {
            let san = position.san(*uci);
            let _ = position.play(*uci);
            san
        });
        let moves = moves.collect();
        let legal = if view.is_turn_of(color) { line.legal_moves() } else { Vec::new() };
        let milliseconds = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        Self {
            color: word(color),
            fen: line.fen(),
            ply: line.ply(),
            moves,
            last: line.moves().last().map(ToString::to_string),
            turn: word(line.turn()),
            check: line.position().is_check(),
            clocks: view.clocks.map(|clocks| [clocks.white, clocks.black].map(|clock| milliseconds(clock.remaining))),
            running: view.clocks.is_some() && line.ply() >= 2 && view.outcome.is_none(),
            legal: legal.into_iter().map(|uci| LegalMove::of(line, uci)).collect(),
            draw_offered: view.draw_offers.by(!color),
            draw_asked: view.draw_offers.by(color),
            over: view.outcome.as_ref().map(|_| ending(&view.status(), view.winner())),
        }
    }
}

impl LegalMove {
    fn of(line: &Line, uci: UciMove) -> Self {
        let to = uci.to().map(|square| square.to_string()).unwrap_or_default();
        Self { uci: uci.to_string(), san: line.san(uci), to }
    }
}

const fn word(color: Color) -> &'static str {
    match color {
        Color::White => "white",
        Color::Black => "black",
    }
}
