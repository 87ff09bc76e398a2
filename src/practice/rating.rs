//! Ratings by Glicko-2, with the constants that Lichess has published.
//!
//! Mark Glickman, "Example of the Glicko-2 system" (<http://www.glicko.net/glicko/glicko2.pdf>); a rating begins at 1500 with a
//! deviation of 500, is provisional above a deviation of 110, and every game is a rating period of its own.

use skillratings::{
    Outcomes,
    glicko2::{Glicko2Config, Glicko2Rating, glicko2},
};

/// Lichess's system constant: how much volatility may change.
const TAU: f64 = 0.75;
/// A newcomer's rating, its deviation and volatility.
const FIRST: Glicko2Rating = Glicko2Rating { rating: 1500.0, deviation: 500.0, volatility: 0.09 };
const LEAST_DEVIATION: f64 = 45.0;
const PROVISIONAL_DEVIATION: f64 = 110.0;

/// A rating and the number of rated games behind it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PlayerRating {
    estimate: Glicko2Rating,
    pub games: u32,
}

impl PlayerRating {
    pub fn established(points: i32, games: u32) -> Self {
        let estimate = Glicko2Rating { rating: f64::from(points), deviation: LEAST_DEVIATION, volatility: 0.06 };
        Self { estimate, games }
    }

    pub fn points(self) -> i32 {
        self.estimate.rating.round() as i32
    }

    /// The rating deviation in points, as it is shown.
    pub fn deviation(self) -> u32 {
        self.estimate.deviation.round() as u32
    }

    pub fn is_provisional(self) -> bool {
        self.estimate.deviation > PROVISIONAL_DEVIATION
    }

    /// Returns the rating after a game against `opponent`, whose rating is the one before it.
    #[must_use]
    pub fn after(self, opponent: Self, outcome: Outcomes) -> Self {
        let config = Glicko2Config { tau: TAU, ..Glicko2Config::default() };
        let (mut estimate, _) = glicko2(&self.estimate, &opponent.estimate, &outcome, &config);
        estimate.deviation = estimate.deviation.clamp(LEAST_DEVIATION, FIRST.deviation);
        Self { estimate, games: self.games + 1 }
    }
}

impl Default for PlayerRating {
    fn default() -> Self {
        Self { estimate: FIRST, games: 0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn new_ratings_move_most() {
        let (newcomer, old_hand) = (PlayerRating::default(), PlayerRating::established(1500, 1000));
        let won = newcomer.after(old_hand, Outcomes::WIN);
        assert!(won.points() > 1600 && won.deviation() < newcomer.deviation(), "{won:?}");
        assert!(won.is_provisional() && won.games == 1);
        let lost = old_hand.after(newcomer, Outcomes::LOSS);
        assert!((1490..1500).contains(&lost.points()) && !lost.is_provisional(), "{lost:?}");
        assert_eq!(old_hand.after(old_hand, Outcomes::DRAW).points(), 1500);
    }

    #[test]
    fn many_games_make_a_rating_certain() {
        let opponent = PlayerRating::established(1500, 1000);
        let results = [Outcomes::WIN, Outcomes::LOSS].into_iter().cycle().take(40);
        let rating = results.fold(PlayerRating::default(), |rating, outcome| rating.after(opponent, outcome));
        assert!(!rating.is_provisional() && (1400..1600).contains(&rating.points()), "{rating:?}");
    }
}
