//! Open challenges, played by the first two players who join.

use std::time::Duration;

use super::{
    hosted::{ChallengeTerms, OpenChallenge},
    server_state::{Denied, Due, ServerState},
};
use crate::account::{AccountId, Category};
use domain::{ChallengeId, Color, GameId};

/// An open challenge that has not become a game is forgotten after this time.
const FORGOTTEN_AFTER: Duration = Duration::from_hours(24);

impl ServerState {
    /// Makes a challenge that anybody may join.
    pub fn challenge_anybody(&mut self, terms: ChallengeTerms) -> Result<OpenChallenge, Denied> {
        let start = self.starting_line(terms.game.variant, terms.fen.as_deref())?;
        let id = ChallengeId::new(self.fresh_id().as_str());
        let challenge = OpenChallenge { id: id.clone(), terms: terms.game, start, first: None };
        self.deadlines.insert((self.now + FORGOTTEN_AFTER, Due::Challenge(id.clone())));
        self.open_challenges.insert(id, challenge.clone());
        Ok(challenge)
    }

    pub fn is_open_to_anybody(&self, id: &ChallengeId) -> bool {
        self.open_challenges.contains_key(id)
    }

    /// Joins an open challenge; with the second player the game begins. A colour that is taken is not given again.
    pub fn join_open_challenge(
        &mut self,
        id: &ChallengeId,
        by: &AccountId,
        color: Option<Color>,
    ) -> Result<Option<GameId>, Denied> {
        let challenge = self.open_challenges.get_mut(id).ok_or(Denied::NoSuchChallenge)?;
        let (first, wanted) = match &challenge.first {
            Some((first, wanted)) if first != by => (first.clone(), *wanted),
            _ => {
                challenge.first = Some((by.clone(), color));
                return Ok(None);
            }
        };
        let (terms, start) = (challenge.terms, challenge.start.clone());
        let category = Category::of(&terms);
        for account in [&first, by] {
            self.check_free(account)?;
        }
        let (one, other) = (self.seat(&first, category)?, self.seat(by, category)?);
        let first_has = wanted.or(color.map(|color| !color)).unwrap_or_else(|| self.random_color());
        let (white, black) = first_has.fold_wb((one.clone(), other.clone()), (other, one));
        self.open_challenges.remove(id);
        let game = GameId::from(id);
        self.start_game(game.clone(), terms, start, white, black, None);
        Ok(Some(game))
    }
}
