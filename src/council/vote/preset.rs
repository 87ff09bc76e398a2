//! The published players, as complete sets of council settings.

use super::{CouncilSettings, GroupMode};
use domain::{CriterionName, SecondPhaseMode};

impl CouncilSettings {
    /// A published player: `gnupar` or `chesspar`.
    pub fn preset(name: &str) -> Option<Self> {
        match name {
            "gnupar" => Some(gnupar()),
            "chesspar" => Some(chesspar()),
            _ => None,
        }
    }

    /// Iterates over the names that [`Self::preset`] knows.
    pub fn presets() -> impl Iterator<Item = &'static str> {
        ["gnupar", "chesspar"].into_iter()
    }
}

/// Gnupar (Santi 1993): the balanced seven, re-search with a third of the time for proposing, the second phase on the master
/// alone. 13.18 of 20 against its sequential base (docs/method.md §8).
fn gnupar() -> CouncilSettings {
    CouncilSettings {
        roster: "balanced-7".to_owned(),
        criterion: CriterionName::ReSearch,
        split: 1.0 / 3.0,
        second_phase: SecondPhaseMode::Sequential,
        groups: GroupMode::None,
        advisers: String::new(),
        ..CouncilSettings::default()
    }
}

/// ChessPar (Castellani 2002): the balanced seven, half of the time for proposing, PV-split within the groups of the first phase
/// and by all in the second. 12.95 of 20 (docs/method.md §8).
fn chesspar() -> CouncilSettings {
    CouncilSettings {
        roster: "balanced-7".to_owned(),
        criterion: CriterionName::ReSearch,
        split: 0.5,
        second_phase: SecondPhaseMode::PvSplit,
        groups: GroupMode::PvSplit,
        advisers: String::new(),
        ..CouncilSettings::default()
    }
}
