use bot::journal::GameRecord;
use domain::GameStatus;
use serde::Serialize;

use crate::{formulas::MoveLabel, study::GameStudy};

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum LossCause {
    /// The bot's time ran out.
    Time,
    /// The bot was away: the opponent claimed the game, or it was forfeited before the start.
    Connection,
    /// One move lost a good enough position.
    Blunder,
    /// The ending was lost, though it began well enough.
    Ending,
    /// Lost gradually.
    Outplayed,
    NotStudied,
}

/// The expectation from which on a side stands well enough, per cent.
const WELL_ENOUGH: f64 = 40.0;

impl LossCause {
    pub const fn word(self) -> &'static str {
        match self {
            Self::Time => "time",
            Self::Connection => "connection",
            Self::Blunder => "a blunder",
            Self::Ending => "the ending",
            Self::Outplayed => "outplayed",
            Self::NotStudied => "not studied",
        }
    }

    pub(super) fn of(record: &GameRecord, study: Option<&GameStudy>) -> Self {
        match record.status {
            GameStatus::OutOfTime => return Self::Time,
            GameStatus::Timeout | GameStatus::NoStart | GameStatus::Aborted => return Self::Connection,
            _ => (),
        }
        let Some(study) = study else { return Self::NotStudied };
        let decisive = study.turning_point.and_then(|index| study.moves.get(index));
        if decisive.is_some_and(|played| played.label == Some(MoveLabel::Blunder)) {
            return Self::Blunder;
        }
        let ours = |ply: usize| {
            let expected = study.moves.get(ply)?.expected_for_white();
            Some(if record.our_color.is_white() { expected } else { 100.0 - expected })
        };
        let at_ending = study.ending.and_then(|(ply, _)| ours(ply));
        if at_ending.is_some_and(|expected| expected >= WELL_ENOUGH) { Self::Ending } else { Self::Outplayed }
    }
}
