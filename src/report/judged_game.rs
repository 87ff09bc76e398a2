//! One game as it was judged before, for whoever shows it: nothing is searched and nothing is written.

use bot::journal::JournalError;
use chess::Line;
use serde::Serialize;

use crate::{
    formulas::BySide,
    judge::{GameMaterial, Verdicts},
    study::{GameStudy, MoveStudy},
};

/// What a judge has made of a game.
#[derive(Clone, Debug, Serialize)]
pub struct JudgedGame {
    /// The judge, with what it spent on each position.
    pub judge: String,
    /// How exactly each side played, 0 to 100.
    pub accuracy: BySide<Option<f64>>,
    /// Centipawns each side lost a move, on average.
    pub average_loss: BySide<Option<f64>>,
    /// The move that decided the game, as an index of `moves`.
    pub turning_point: Option<usize>,
    /// The moves of both sides.
    pub moves: Vec<JudgedMove>,
}

/// What a judge has made of a move.
#[derive(Clone, Debug, Serialize)]
pub struct JudgedMove {
    /// What White could expect after it, per cent of a point.
    pub expected: f64,
    /// What it cost, per cent of a point.
    pub loss: f64,
    /// What such a move is called, such as `blunder`.
    pub label: Option<&'static str>,
    /// The label's sign in a game's text, such as `??`.
    pub sign: Option<&'static str>,
    /// What the judge would have played, in algebraic notation, where it is another move.
    pub better: Option<String>,
}

impl JudgedGame {
    /// The report of a game by the newest judge that has judged all of it; `None` while none has.
    ///
    /// # Errors
    /// Where the journal cannot be read.
    pub fn of(material: &GameMaterial, judges: &[(String, Verdicts)]) -> Result<Option<Self>, JournalError> {
        for (name, known) in judges {
            if let Some(verdicts) = material.verdicts(known)?
                && let Some(study) = GameStudy::of(material, &verdicts, None)
            {
                return Ok(Some(Self::from_study(name.clone(), study)));
            }
        }
        Ok(None)
    }

    fn from_study(judge: String, study: GameStudy) -> Self {
        let moves = study.moves.iter().map(JudgedMove::from).collect();
        let GameStudy { accuracy, average_loss, turning_point, .. } = study;
        Self { judge, accuracy, average_loss, turning_point, moves }
    }

    /// Whether a judge has come to the end of a game; quickly found, for a list of games.
    ///
    /// # Errors
    /// Where the journal cannot be read.
    pub fn is_likely(line: &Line, judges: &[(String, Verdicts)]) -> Result<bool, JournalError> {
        let mut before_last = line.clone();
        // The last position may be one that the rules decide, so that nobody judges it.
        before_last.truncate(line.ply().saturating_sub(1));
        for (_, known) in judges {
            if line.ply() > 1 && known.of(&before_last)?.is_some() {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

impl From<&MoveStudy> for JudgedMove {
    fn from(played: &MoveStudy) -> Self {
        Self {
            expected: played.expected_for_white(),
            loss: played.loss,
            label: played.label.map(|label| label.word()),
            sign: played.label.map(|label| label.sign()),
            better: played.better.and_then(|_| played.best_line.first().cloned()),
        }
    }
}
