//! Openings drawn by lot, so that equal players do not always play the same game: each side starts with eleven men and has
//! made one move.
//!
//! Federations draw from printed lists; here every such position is on the list in which no capture is possible yet, for
//! neither side. Some are better for one side, which is why a match plays each with both colours.

use crate::{
    board::{Board, Color, Rules},
    random::Random,
};

pub fn all() -> Vec<Board> {
    let start = Board::default();
    let (white, black) = (start.pieces(Color::White), start.pieces(Color::Black));
    let mut ballots = Vec::new();
    for less_white in white {
        for less_black in black {
            let eleven = Board::of(
                white & !less_white.set(),
                black & !less_black.set(),
                start.kings(Color::White),
                Color::White,
            );
            for first in eleven.legal_moves(Rules::Official) {
                let answered = eleven.after(&first);
                ballots.extend(answered.legal_moves(Rules::Official).iter().map(|second| answered.after(second)));
            }
        }
    }
    ballots.retain(|ballot| {
        let men = [Color::White, Color::Black].map(|color| ballot.men(color));
        let other_side = Board::of(men[0], men[1], ballot.kings(Color::White), Color::Black);
        men.iter().all(|side| side.len() == 11) && !ballot.must_capture() && !other_side.must_capture()
    });
    let key = |ballot: &Board| (ballot.pieces(Color::White).0, ballot.pieces(Color::Black).0);
    ballots.sort_by_key(key);
    ballots.dedup();
    ballots
}

/// Draws `count` different ballots, or all there are, by a seed.
pub fn draw(count: usize, seed: u64) -> Vec<Board> {
    let mut ballots = all();
    let mut random = Random::new(seed);
    let count = count.min(ballots.len());
    for place in 0..count {
        let other = place + random.below((ballots.len() - place) as u64) as usize;
        ballots.swap(place, other);
    }
    ballots.truncate(count);
    ballots
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ballots_are_distinct_and_quiet() {
        let ballots = all();
        assert!(ballots.len() > 2_000, "{}", ballots.len());
        assert!(ballots.iter().all(|ballot| !ballot.must_capture() && ballot.occupied().len() == 22));
        let drawn = draw(100, 1);
        assert_eq!(drawn, draw(100, 1));
        assert_ne!(drawn, draw(100, 2));
        assert!((0..100).all(|i| !drawn[i + 1..].contains(&drawn[i])));
    }
}
