//! The published players, as complete sets of council settings.

use super::{CouncilSettings, GroupMode};
use domain::{CriterionName, SecondPhaseMode};

impl CouncilSettings {
    /// Returns a published player: `gnupar` or `chesspar` (docs/method.md §8). Both are the balanced seven with re-search.
    pub fn preset(name: &str) -> Option<Self> {
        let (split, second_phase, groups) = match name {
            // Santi 1993: a third of the time for proposing, the second phase on the master alone. 13.18 of 20 against its
            // sequential base.
            "gnupar" => (1.0 / 3.0, SecondPhaseMode::Sequential, GroupMode::None),
            // Castellani 2002: half of the time for proposing, PV-split within the groups of the first phase and by all in the
            // second. 12.95 of 20.
            "chesspar" => (0.5, SecondPhaseMode::PvSplit, GroupMode::PvSplit),
            _ => return None,
        };
        let (roster, criterion, advisers) = ("balanced-7".to_owned(), CriterionName::ReSearch, String::new());
        Some(Self { roster, criterion, split, second_phase, groups, advisers, ..Self::default() })
    }

    /// Iterates over the names of [`Self::preset`].
    pub fn presets() -> impl Iterator<Item = &'static str> {
        ["gnupar", "chesspar"].into_iter()
    }
}
