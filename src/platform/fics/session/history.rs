//! The server's list of our last games: it says what became of one that ended while we were away.
//!
//! The list has no names for games that we would know, so a game is recognised by being new: the newest row is remembered when a
//! game begins, and a row that is newer and names the same opponent is this game's.

use crate::fics::message::PastGame;
use domain::GameInfo;

#[derive(Debug, Default)]
pub(super) struct History {
    /// The newest row; `None` before the first list.
    newest: Option<Option<PastGame>>,
    /// Newest row when the game on the board began, if it was known.
    before: Option<Option<PastGame>>,
}

impl History {
    /// A row of the list, which is told from the oldest to the newest.
    pub(super) fn row(&mut self, game: PastGame) {
        self.newest = Some(Some(game));
    }

    /// The list has been told, if only to say that it is empty.
    pub(super) fn is_told(&mut self) {
        self.newest.get_or_insert(None);
    }

    pub(super) fn game_begins(&mut self) {
        self.before.clone_from(&self.newest);
    }

    /// A game has ended before our eyes, and the list that will show it is on its way.
    pub(super) fn game_ends(&mut self) {
        self.newest = None;
    }

    /// Returns the end of the `game` that was on the board when the connection was lost.
    pub(super) fn end_of(&self, game: &GameInfo) -> Option<&PastGame> {
        let newest = self.newest.as_ref()?.as_ref()?;
        let is_new = self.before.as_ref()?.as_ref() != Some(newest);
        (is_new && newest.may_be(game)).then_some(newest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::{Color, GameStatus, GameTerms, Line, Player, TimeControl, Variant};

    fn row(number: u32, opponent: &str) -> PastGame {
        let (opponent, line) = (opponent.to_owned(), format!("{number}: {opponent}"));
        PastGame {
            number,
            opponent,
            our_color: Color::White,
            status: GameStatus::Resign,
            winner: None,
            terms: None,
            ended: None,
            line,
        }
    }

    fn game(opponent: &str) -> GameInfo {
        let time_control = TimeControl::Unlimited;
        GameInfo {
            id: "g".into(),
            terms: GameTerms { variant: Variant::Standard, time_control, rated: false },
            white: Player::named("Somebot"),
            black: Player::named(opponent),
            our_color: Color::White,
            start: Line::start(Variant::Standard),
            tournament: None,
            url: None,
        }
    }

    #[test]
    fn only_a_new_history_row_counts() {
        let mut history = History::default();
        history.game_begins();
        history.row(row(1, "Ann"));
        assert_eq!(history.end_of(&game("Ann")), None, "the list was not known when the game began");
        history.game_begins();
        assert_eq!(history.end_of(&game("Ann")), None, "the row is of an older game");
        history.row(row(2, "Ann"));
        assert_eq!(history.end_of(&game("Bob")), None);
        assert_eq!(history.end_of(&game("ann")), Some(&row(2, "Ann")));
        history.game_ends();
        history.is_told();
        history.game_begins();
        history.row(row(3, "Ann"));
        assert!(history.end_of(&game("Ann")).is_some());
    }
}
