//! Reports of games for tests.

use shakmaty::ByColor;

use super::{hosted::HostedGame, server_state::ServerState, views::RefusedMove};
use crate::game::{End, GameOutcome};
use domain::{ChatLine, Color, GameId, GameTerms, Line};

#[derive(Clone, Debug)]
pub struct GameReport {
    /// The game's name, eight letters and digits.
    pub id: GameId,
    pub white: String,
    pub black: String,
    pub terms: GameTerms,
    pub line: Line,
    pub outcome: Option<GameOutcome>,
    pub is_adjourned: bool,
    /// Moves that were sent and not taken, the first hundred.
    pub refused: Vec<RefusedMove>,
    pub streams_opened: ByColor<u32>,
    /// Messages of players and spectators, oldest first.
    pub chat: Vec<ChatLine>,
}

impl GameReport {
    pub fn end(&self) -> Option<End> {
        self.outcome.map(|outcome| outcome.end)
    }

    pub fn loser(&self) -> Option<&str> {
        Some(self.outcome?.loser()?.fold_wb(&self.white, &self.black))
    }

    pub fn winner(&self) -> Option<&str> {
        Some(self.outcome?.winner?.fold_wb(&self.white, &self.black))
    }

    pub fn color_of(&self, name: &str) -> Option<Color> {
        Color::ALL.into_iter().find(|color| color.fold_wb(&self.white, &self.black).eq_ignore_ascii_case(name))
    }
}

impl ServerState {
    pub fn report(&self, id: &GameId) -> Option<GameReport> {
        self.games.get(id).map(report_of)
    }

    /// Returns the reports of all games, oldest first.
    pub fn reports(&self) -> Vec<GameReport> {
        self.hosted(|_| true).map(report_of).collect()
    }
}

fn report_of(hosted: &HostedGame) -> GameReport {
    let players = &hosted.pairing.players;
    GameReport {
        id: hosted.pairing.id.clone(),
        white: players.white.name.clone(),
        black: players.black.name.clone(),
        terms: hosted.pairing.terms,
        line: hosted.game.line.clone(),
        outcome: hosted.game.outcome,
        is_adjourned: hosted.game.is_adjourned,
        refused: hosted.refused.clone(),
        streams_opened: hosted.streams_opened,
        chat: hosted.chat.iter().map(|(_, _, line)| line.clone()).collect(),
    }
}
