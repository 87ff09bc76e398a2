//! Games of any kind: their start, the types of their rules and moves, and games without a server.

use std::{
    fmt::Display,
    str::FromStr,
    sync::Arc,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use super::{DecidedMove, GameKey, Journal, JournalError};
use domain::{
    Color, Decision, GameId, GameInfo, GameLine, GameStatus, Player, ServerName, TimeControl, UciMove, Variant,
};

pub trait RecordedRules: FromStr + Display {
    type Move: FromStr + Display;
}

impl RecordedRules for Variant {
    type Move = UciMove;
}

/// Rules and moves as texts, for a game of another package.
impl RecordedRules for String {
    type Move = String;
}

/// A game as the journal notes its start: of chess or not.
#[derive(Clone, Debug)]
pub struct StartedGame {
    pub id: GameId,
    pub variant: String,
    /// The position it begins with; `None` for the usual one of these rules.
    pub start: Option<String>,
    pub time_control: TimeControl,
    pub rated: bool,
    pub white: Player,
    pub black: Player,
    pub our_color: Color,
    pub tournament: Option<String>,
    pub url: Option<String>,
}

impl StartedGame {
    /// Creates a game between two players without a server, from this line on.
    pub fn local(id: GameId, line: &impl GameLine, players: [&str; 2], our_color: Color, clock: TimeControl) -> Self {
        Self {
            id,
            variant: line.variant().to_string(),
            start: line.start_text(),
            time_control: clock,
            rated: false,
            white: Player::named(players[0]),
            black: Player::named(players[1]),
            our_color,
            tournament: None,
            url: None,
        }
    }

    pub(super) fn opponent(&self) -> &Player {
        self.our_color.fold_wb(&self.black, &self.white)
    }
}

impl From<&GameInfo> for StartedGame {
    fn from(info: &GameInfo) -> Self {
        Self {
            id: info.id.clone(),
            variant: info.terms.variant.to_string(),
            start: info.start.start_text(),
            time_control: info.terms.time_control,
            rated: info.terms.rated,
            white: info.white.clone(),
            black: info.black.clone(),
            our_color: info.our_color,
            tournament: info.tournament.clone(),
            url: info.url.clone(),
        }
    }
}

/// A game without a server: its player reports it. A failure to write is logged, and the game goes on.
#[derive(Clone)]
pub struct LocalGame {
    journal: Journal,
    key: GameKey,
}

impl LocalGame {
    pub fn new_id() -> GameId {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        GameId::new(format!("{:x}{:04x}", since.as_millis(), rand::random::<u16>()))
    }

    /// Records a game's start, or resumes a known one; `place` stands for a server's name.
    pub fn start(journal: &Journal, place: &str, game: StartedGame) -> Self {
        let server = ServerName::new(place);
        let key = GameKey::new(&server, &game.id);
        journal.game_started(&server, game);
        Self { journal: journal.clone(), key }
    }

    pub fn seen(&self, line: &Arc<impl GameLine>) {
        self.journal.line_seen(&self.key, line, None);
    }

    /// Writes a move of the bot with its votes, and returns when it is stored; `response` is its granted time.
    pub async fn decided<L: GameLine>(
        &self,
        line: Arc<L>,
        decision: Decision<L::Move, L::Knowledge>,
        response: Duration,
    ) {
        let decided = DecidedMove {
            game: self.key.clone(),
            line,
            decision: Arc::new(decision),
            clock: None,
            spent: Duration::ZERO,
            response,
            extra: Duration::ZERO,
            lag: Duration::ZERO,
        };
        self.log(self.journal.move_decided(decided).await);
    }

    pub async fn over(&self, status: GameStatus, winner: Option<Color>) {
        self.log(self.journal.game_over(&self.key, &status, winner).await.map(|_| ()));
    }

    fn log(&self, written: Result<(), JournalError>) {
        if let Err(error) = written {
            tracing::warn!(game = %self.key, %error, "the journal lacks a part of the game");
        }
    }
}
