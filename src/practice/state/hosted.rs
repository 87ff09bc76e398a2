//! Challenges, open challenges and games, as plain values.

use std::{sync::Arc, time::Duration};

use shakmaty::ByColor;
use tokio::sync::mpsc;

use super::views::{BoardEvent, ListenerKey, Pairing, RefusedMove};
use crate::{account::AccountId, game::PracticeGame};
use domain::{ChallengeId, ChatLine, Color, GameTerms, Line};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChallengeTerms {
    pub game: GameTerms,
    /// The colour the challenger wants; `None` is drawn by lot.
    pub color: Option<Color>,
    /// The position to begin with, where it is not the variant's own.
    pub fen: Option<String>,
}

impl ChallengeTerms {
    /// Colours by lot, the usual position.
    pub const fn new(game: GameTerms) -> Self {
        Self { game, color: None, fen: None }
    }

    #[must_use]
    pub const fn with_color(mut self, color: Color) -> Self {
        self.color = Some(color);
        self
    }
}

#[derive(Clone, Debug)]
pub struct OpenChallenge {
    pub id: ChallengeId,
    pub terms: GameTerms,
    pub start: Line,
    /// The player who has joined, and the colour that player wants.
    pub(super) first: Option<(AccountId, Option<Color>)>,
}

pub(super) struct Listener<E> {
    pub(super) id: u64,
    pub(super) key: ListenerKey,
    pub(super) sender: mpsc::UnboundedSender<E>,
}

pub(super) struct HostedGame {
    pub(super) number: u64,
    pub(super) pairing: Arc<Pairing>,
    pub(super) game: PracticeGame,
    /// The players who play one game at a time, of which this is theirs.
    pub(super) solo: ByColor<bool>,
    pub(super) listeners: Vec<Listener<BoardEvent>>,
    pub(super) chat: Vec<(Option<AccountId>, Duration, ChatLine)>,
    pub(super) deadline: Option<Duration>,
    pub(super) changed: Duration,
    pub(super) rating_changes: Option<ByColor<i32>>,
    pub(super) refused: Vec<RefusedMove>,
    pub(super) streams_opened: ByColor<u32>,
}

impl HostedGame {
    /// Returns true if it is the one game of an account that plays one at a time.
    pub(super) fn is_solo_game_of(&self, account: &AccountId) -> bool {
        self.pairing.color_of(account).is_some_and(|color| *self.solo.get(color))
    }
}
