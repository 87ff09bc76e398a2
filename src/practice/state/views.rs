//! Events for listeners: complete states, never differences.

use std::{ops::Deref, sync::Arc, time::Duration};

use shakmaty::ByColor;
use tokio::sync::mpsc;

use crate::{
    account::{AccountId, Category},
    faults::LineFacts,
    game::{GameRefusal, PracticeGame},
    rating::PlayerRating,
};
use domain::{ChallengeId, ChatLine, Clocks, Color, DeclineReason, GameId, GameTerms, Line, Tournament, UciMove};

#[derive(Clone, Debug, PartialEq)]
pub struct PlayerView {
    pub account: AccountId,
    pub name: String,
    pub bot: bool,
    pub ai_level: Option<u8>,
    /// The rating in the game's category, when the game or challenge began.
    pub rating: PlayerRating,
}

/// The part of a game that does not change while it runs.
#[derive(Clone, Debug)]
pub struct Pairing {
    /// The game's name, eight letters and digits.
    pub id: GameId,
    pub terms: GameTerms,
    /// The players by colour, as they were when the game began.
    pub players: ByColor<PlayerView>,
    pub tournament: Option<Tournament>,
    /// The time of its start, in milliseconds since 1970.
    pub created_at: u64,
}

impl Pairing {
    pub fn category(&self) -> Category {
        Category::of(&self.terms)
    }

    pub fn color_of(&self, account: &AccountId) -> Option<Color> {
        Color::ALL.into_iter().find(|color| self.players.get(*color).account == *account)
    }
}

#[derive(Clone, Debug)]
pub struct GameView {
    pub pairing: Arc<Pairing>,
    /// The game at that moment.
    pub game: PracticeGame,
    /// Both clocks at that moment; `None` without a clock.
    pub clocks: Option<Clocks>,
    /// The rating changes, once a rated game is over.
    pub rating_changes: Option<ByColor<i32>>,
    /// The time of the last change, in milliseconds since 1970.
    pub changed_at: u64,
}

impl Deref for GameView {
    type Target = PracticeGame;

    fn deref(&self) -> &PracticeGame {
        &self.game
    }
}

impl GameView {
    /// Returns the facts for faults when `reader` gets this state.
    pub fn line_facts(&self, reader: &AccountId) -> LineFacts {
        let ply = self.line.ply();
        let mover = (ply > 0).then(|| !self.line.turn());
        LineFacts { ply: Some(ply), own_move: mover.is_some() && mover == self.pairing.color_of(reader) }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RefusedMove {
    pub color: Color,
    pub uci: UciMove,
    pub ply: usize,
    pub refusal: GameRefusal,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChallengeState {
    Created,
    /// It has waited long; it can still be accepted.
    Offline,
    Cancelled,
    Declined(DeclineReason),
    /// Accepted: the game has the same name.
    Accepted,
}

impl ChallengeState {
    pub const fn is_open(self) -> bool {
        matches!(self, Self::Created | Self::Offline)
    }
}

#[derive(Clone, Debug)]
pub struct ChallengeView {
    /// The challenge's name, which its game will have too.
    pub id: ChallengeId,
    pub challenger: PlayerView,
    pub dest: PlayerView,
    /// True for each of the two who is online; set when it is shown.
    pub online: (bool, bool),
    pub terms: GameTerms,
    /// The colour the challenger asked for; `None` is random.
    pub color: Option<Color>,
    /// The colour the challenger will have.
    pub final_color: Color,
    pub start: Line,
    pub state: ChallengeState,
    pub(super) number: u64,
    /// The time at which it goes offline or, after that or once it is answered, is forgotten;
    /// `None` while its maker keeps it alive.
    pub(super) due: Option<Duration>,
}

#[derive(Clone, Debug)]
pub enum PracticeAccountEvent {
    GameStart(Arc<GameView>),
    GameFinish(Arc<GameView>),
    /// A game of its is put off.
    GameAdjourned(Arc<GameView>),
    /// A player of an adjourned game of its wants to go on, or no longer does.
    ResumeOffer(Arc<GameView>),
    Challenge(Arc<ChallengeView>),
    ChallengeCancelled(Arc<ChallengeView>),
    ChallengeDeclined(Arc<ChallengeView>),
}

#[derive(Clone, Debug)]
pub enum BoardEvent {
    /// The whole game: first of all.
    Full(Arc<GameView>),
    /// A move, an offer, a takeback or the end has changed it.
    State(Arc<GameView>),
    Chat(ChatLine),
    /// The opponent is gone; the win may be claimed after this time.
    OpponentGone(Duration),
    OpponentBack,
}

/// The identity of a listener: an account may listen several times, under different keys. A second
/// subscription under a key ends the first.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ListenerKey {
    pub account: AccountId,
    /// The client, in any form that its protocol needs to tell clients apart.
    pub client: String,
}

/// An open subscription. Dropping it reports to the server's state.
pub struct Subscription<E> {
    pub(super) events: mpsc::UnboundedReceiver<E>,
    pub(super) departures: mpsc::UnboundedSender<(u64, Option<GameId>)>,
    pub(super) listener: u64,
    /// The game it listens at; `None` for an account's events.
    pub(super) game: Option<GameId>,
}

impl<E> Subscription<E> {
    /// The next event; `None` once the server's state has ended the subscription: the game is over, or the same client listens anew.
    pub async fn next(&mut self) -> Option<E> {
        self.events.recv().await
    }
}

impl<E> Drop for Subscription<E> {
    fn drop(&mut self) {
        let _ = self.departures.send((self.listener, self.game.take()));
    }
}
