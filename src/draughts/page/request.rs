//! A browser's request: a game, the opponent, the head of its text.

use std::collections::BTreeMap;

use domain::GameId;
use draughts_core::{
    board::{Board, Rules},
    game::{Game, pdn::PdnRecord},
};
use jiff::Zoned;
use serde::Deserialize;

use super::opponent::OpponentRequest;
use web::HttpProblem;

/// The longest text of a position, bytes: twenty-four kings need 112.
const LONGEST_START: usize = 200;

/// The longest text of a move, bytes: a king that takes nine pieces needs 29.
const LONGEST_MOVE: usize = 32;

/// The longest game, in plies. Games by the relaxed rules know no draw, so they need an end.
const MOST_PLIES: usize = 1000;

const LONGEST_ID: usize = 32;

const LONGEST_NAME: usize = 80;

/// A game: where it began, and every move since.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct SentGame {
    /// The position it began with, as `W:W21,K30:B1,2`. Empty: the usual one.
    start: String,
    rules: RulesName,
    /// Written as `22-18` or `22x15x6`.
    moves: Vec<String>,
    /// The browser's name for the game, under which the journal keeps it. Empty: it is not recorded.
    id: String,
}

#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
enum RulesName {
    #[default]
    Official,
    Relaxed,
}

impl SentGame {
    /// Plays it through. A 400 names the first thing that is no game.
    pub(super) fn play(&self) -> Result<Game, HttpProblem> {
        if self.moves.len() > MOST_PLIES {
            return Err(HttpProblem::bad(format!(
                "a game in the page has at most {MOST_PLIES} moves; begin another one"
            )));
        }
        let rules = match self.rules {
            RulesName::Official => Rules::Official,
            RulesName::Relaxed => Rules::Relaxed,
        };
        let mut game = Game::new(self.board()?, rules);
        for (ply, text) in (1..).zip(&self.moves) {
            if text.len() > LONGEST_MOVE {
                return Err(HttpProblem::bad(format!("move {ply} is longer than any move of draughts")));
            }
            game.play_text(text).map_err(|error| HttpProblem::bad(format!("move {ply}: {error}")))?;
        }
        Ok(game)
    }

    /// Returns the journal's name of the game, if it is to be recorded.
    pub(super) fn id(&self) -> Result<Option<GameId>, HttpProblem> {
        let plain = self.id.len() <= LONGEST_ID && self.id.bytes().all(|byte| byte.is_ascii_alphanumeric());
        if !plain {
            return Err(HttpProblem::bad(format!("a game's id is at most {LONGEST_ID} letters and digits")));
        }
        Ok((!self.id.is_empty()).then(|| GameId::new(&self.id)))
    }

    fn board(&self) -> Result<Board, HttpProblem> {
        match self.start.trim() {
            "" => Ok(Board::default()),
            long if long.len() > LONGEST_START => Err(HttpProblem::bad("the position is longer than any of draughts")),
            text => {
                text.parse().map_err(|error: draughts_core::board::DraughtsError| HttpProblem::bad(error.to_string()))
            }
        }
    }
}

/// A game in which the side to move is played by an opponent.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct AnswerRequest {
    pub game: SentGame,
    #[serde(default)]
    pub opponent: OpponentRequest,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PdnRequest {
    game: SentGame,
    white: String,
    black: String,
}

impl PdnRequest {
    pub(super) fn record(self) -> Result<PdnRecord, HttpProblem> {
        let game = self.game.play()?;
        // A tag is one line.
        let name = |text: &str| text.chars().filter(|letter| !letter.is_control()).take(LONGEST_NAME).collect();
        let tags = [
            ("Event", "Italian draughts in the page of concilio".to_owned()),
            ("Date", Zoned::now().strftime("%Y.%m.%d").to_string()),
            ("White", name(&self.white)),
            ("Black", name(&self.black)),
        ];
        let tags = tags.map(|(tag, value)| (tag.to_owned(), value)).into();
        Ok(PdnRecord { tags, result: game.outcome().into(), comments: BTreeMap::new(), game })
    }
}
