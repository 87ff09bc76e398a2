//! The rules of a game by name.

use std::fmt;

/// The rules of a game.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Rules {
    /// The federation's rules: all four priorities among captures, and draws.
    #[default]
    Official,
    /// The rules of the program IntellidAma (2010): any capture that takes most, and no draws.
    Relaxed,
}

impl Rules {
    /// Both rules, the official ones first.
    pub const ALL: [Self; 2] = [Self::Official, Self::Relaxed];
}

impl fmt::Display for Rules {
    /// The word by which records of games know them.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Official => "italian-draughts",
            Self::Relaxed => "italian-draughts-relaxed",
        })
    }
}
