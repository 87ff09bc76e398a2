//! The table at which the council sits under a chess program: the line on the board, the setup, and the player.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use tokio::sync::mpsc;

use super::Setup;
use chess::{Clock, Clocks, Color, GameId, Limits, Line, TimeControl, UciMove, Variant};
use council::{
    council::Council,
    player::{GamePlayer, PlayerConfig, PlayerEvent, RequestId, SearchHandle, SearchRequest, Time},
};

/// One game after the other, against whoever sits at the program's other side.
pub(super) struct EngineSession {
    /// How the council plays. What is changed holds from the next [`EngineSession::reseat`] on.
    pub setup: Setup,
    /// The position on the board.
    pub line: Arc<Line>,
    /// Seated for the first search, and seated anew after a change.
    player: Option<GamePlayer>,
    /// The running thought.
    thinking: Option<SearchHandle>,
    events: mpsc::UnboundedSender<PlayerEvent>,
    thoughts: u64,
}

/// What a search is asked, beside its position.
pub(super) struct Question {
    pub time: Time,
    pub limits: Limits,
    /// Moves not to be considered.
    pub excluded: Vec<UciMove>,
    /// Whether electors are asked even where a book knows the move.
    pub always_search: bool,
}

impl EngineSession {
    /// A table in the starting position, and what its player will say.
    pub(super) fn new(setup: Setup) -> (Self, mpsc::UnboundedReceiver<PlayerEvent>) {
        let (events, inbox) = mpsc::unbounded_channel();
        let line = Arc::new(Line::start(Variant::Standard));
        (Self { setup, line, player: None, thinking: None, events, thoughts: 0 }, inbox)
    }

    /// Dismisses the council; the next search seats another, which has learnt nothing yet.
    pub(super) fn reseat(&mut self) {
        self.thinking = None;
        self.player = None;
    }

    /// Another game begins, of the same variant: the council forgets the last one.
    pub(super) fn new_game(&mut self) {
        self.thinking = None;
        if let Some(player) = &self.player {
            player.new_game();
        }
    }

    /// Seats the council, if it is not there yet: engines need a while before they can search.
    ///
    /// # Errors
    /// Where the settings name no roster.
    pub(super) fn seat(&mut self) -> Result<(), String> {
        self.player().map(|_| ())
    }

    /// Begins to think about a line, and forgets what was thought about before.
    ///
    /// # Errors
    /// Where the settings name no roster.
    pub(super) fn think(&mut self, line: Arc<Line>, question: Question) -> Result<RequestId, String> {
        self.thinking = None;
        self.thoughts += 1;
        let thought = RequestId(self.thoughts);
        let Question { time, limits, excluded, always_search } = question;
        let topic = SearchRequest { thought, line, others: Vec::new(), time, limits, excluded, always_search };
        let thinking = self.player()?.think(topic);
        self.thinking = Some(thinking);
        Ok(thought)
    }

    /// Asks for the decision at once.
    pub(super) fn answer_now(&self) {
        if let Some(thinking) = &self.thinking {
            thinking.answer_now();
        }
    }

    /// The time of the running thought is known now: its position has come about.
    pub(super) fn comes_about(&self, time: Time) {
        if let Some(thinking) = &self.thinking {
            thinking.comes_about(&self.line, time);
        }
    }

    /// Drops the running thought; nothing will be said of it.
    pub(super) fn drop_thought(&mut self) {
        self.thinking = None;
    }

    fn player(&mut self) -> Result<&GamePlayer, String> {
        if self.player.is_none() {
            let roster = self.setup.roster().map_err(|error| error.to_string())?;
            let council = Council::new(&self.setup.pool(), &roster, &self.setup.council, self.line.variant());
            let config = PlayerConfig {
                game: GameId::new("face"),
                clock: self.setup.clock.clone(),
                lag: Arc::new(Mutex::new(self.setup.lag())),
                library: self.setup.library(),
            };
            self.player = Some(GamePlayer::start(config, council, self.events.clone()));
        }
        self.player.as_ref().ok_or_else(|| "no council".to_owned())
    }
}

/// What a program's clocks give: our clock and the opponent's, and the moves until the next control.
pub(super) fn clock(us: Color, ours: Clock, theirs: Clock, moves_to_go: Option<u32>) -> Time {
    let mut clocks = Clocks::both(theirs);
    *clocks.of_mut(us) = ours;
    // The program does not say with what the game began; what is left now is the careful guess.
    let control = TimeControl::real_time(ours.remaining, ours.increment);
    Time::Clock { control, clocks: Some(clocks), moves_to_go, spent: Duration::ZERO }
}
