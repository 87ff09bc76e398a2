//! Effects of a finished game on ratings and counts.

use std::sync::Arc;

use shakmaty::ByColor;
use skillratings::Outcomes;

use super::{server_state::ServerState, views::PlayerView};
use crate::game::End;
use domain::{Color, GameId};

impl ServerState {
    /// Counts a finished game for both players.
    pub(super) fn rate(&mut self, id: &GameId) {
        let Some(hosted) = self.games.get_mut(id) else { return };
        let Some(outcome) = hosted.game.outcome.filter(|outcome| outcome.end != End::Aborted) else { return };
        let pairing = Arc::clone(&hosted.pairing);
        let category = pairing.category();
        let rated = pairing.terms.rated && pairing.players.iter().all(|seat| seat.ai_level.is_none());
        let result = |color: Color| match outcome.winner {
            None => Outcomes::DRAW,
            Some(winner) if winner == color => Outcomes::WIN,
            Some(_) => Outcomes::LOSS,
        };
        // Other games may have moved the ratings since this one began.
        let rating_of = |seat: &PlayerView| self.accounts.get(&seat.account).map(|account| account.rating(category));
        let before = pairing.players.as_ref().map(|seat| rating_of(seat).unwrap_or_default());
        let after = ByColor::new_with(|color| before.get(color).after(*before.get(!color), result(color)));
        hosted.rating_changes =
            rated.then(|| ByColor::new_with(|color| after.get(color).points() - before.get(color).points()));
        for color in Color::ALL {
            let Some(account) = self.accounts.get_mut(&pairing.players.get(color).account) else { continue };
            match result(color) {
                Outcomes::DRAW => account.counts.drawn += 1,
                Outcomes::WIN => account.counts.won += 1,
                Outcomes::LOSS => account.counts.lost += 1,
            }
            if rated {
                account.counts.rated += 1;
                account.ratings.insert(category, *after.get(color));
            }
        }
    }
}
