//! Several games in a row with one opponent, the colours in turn.

use rand::{Rng, RngExt};

use domain::{ChallengeRequest, Color, GameTerms};

/// The rest of a series with an opponent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Series {
    /// The opponent's id.
    pub opponent: String,
    pub terms: GameTerms,
    /// The bot's colour in the next game.
    color: Color,
    /// The number of games still to begin.
    pub left: u32,
}

impl Series {
    /// Starts a series of `games` games and returns its first challenge. The first colour is
    /// random; for a single game the server chooses the colours.
    pub(super) fn start(
        opponent: String,
        terms: GameTerms,
        games: u32,
        random: &mut impl Rng,
    ) -> (Option<Self>, ChallengeRequest) {
        if games <= 1 {
            return (None, ChallengeRequest { opponent, terms, our_color: None, initial_fen: None });
        }
        let color = if random.random() { Color::White } else { Color::Black };
        let series = Self { opponent, terms, color, left: games };
        let first = series.next();
        (Some(series), first)
    }

    /// Returns the challenge to the next game, also after a failed attempt.
    pub(super) fn next(&self) -> ChallengeRequest {
        let (opponent, our_color) = (self.opponent.clone(), Some(self.color));
        ChallengeRequest { opponent, terms: self.terms, our_color, initial_fen: None }
    }

    /// Counts the start of its next game.
    pub(super) fn begins(&mut self) {
        self.left = self.left.saturating_sub(1);
        self.color = !self.color;
    }
}
