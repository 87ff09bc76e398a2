//! One game with earlier verdicts, for display: no searches, no writing.

use bot::journal::JournalError;
use domain::{BySide, Line};
use serde::Serialize;

use crate::{
    judge::{GameMaterial, Verdicts},
    study::{GameStudy, MoveStudy},
};

#[derive(Clone, Debug, Serialize)]
pub struct JudgedGame {
    pub judge: String,
    /// The accuracy of each side, 0 to 100.
    pub accuracy: BySide<Option<f64>>,
    pub moves: Vec<JudgedMove>,
}

#[derive(Clone, Debug, Serialize)]
pub struct JudgedMove {
    /// White's expectation after it, per cent of a point.
    pub expected: f64,
    /// Its cost, per cent of a point.
    pub loss: f64,
    pub label: Option<&'static str>,
    /// The label's sign in a game's text, such as `??`.
    pub sign: Option<&'static str>,
    /// The judge's move in algebraic notation, if it is another one.
    pub better: Option<String>,
}

impl JudgedGame {
    /// Returns the report of a game by the newest judge with verdicts on all of it; `None` without one.
    pub fn of(material: &GameMaterial, judges: &[(String, Verdicts)]) -> Result<Option<Self>, JournalError> {
        let studied = Self::study(material, judges)?;
        Ok(studied.map(|(judge, study)| {
            let moves = study.moves.iter().map(JudgedMove::from).collect();
            Self { judge, accuracy: study.accuracy, moves }
        }))
    }

    /// Returns the whole study of a game, with the judge's name.
    pub fn study(
        material: &GameMaterial,
        judges: &[(String, Verdicts)],
    ) -> Result<Option<(String, GameStudy)>, JournalError> {
        for (name, known) in judges {
            if let Some(verdicts) = material.verdicts(known)?
                && let Some(study) = GameStudy::of(material, &verdicts, None)
            {
                return Ok(Some((name.clone(), study)));
            }
        }
        Ok(None)
    }

    /// Returns true if a judge has reached the end of a game; a quick test, for a list of games.
    pub fn is_likely(line: &Line, judges: &[(String, Verdicts)]) -> Result<bool, JournalError> {
        let mut before_last = line.clone();
        // The rules may decide the last position; then no judge has a verdict on it.
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
