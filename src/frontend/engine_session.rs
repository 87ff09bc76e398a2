//! The council as a chess program's engine: the position on the board, the settings, and the player that searches.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use tokio::{sync::mpsc, time::timeout};

use super::Setup;
use council::{
    Council,
    player::{GamePlayer, PlayerConfig, PlayerEvent, RequestId, SearchHandle, SearchRequest, Time},
};
use domain::{Clock, Clocks, Color, GameId, Limits, Line, TimeControl, UciMove, Variant};
use sources::LostLines;

/// The time to wait for electors before the program reports that it is ready. Match runners give up
/// an engine that is silent for fifteen seconds.
const START_PATIENCE: Duration = Duration::from_secs(8);

/// One game after the other, against the program's user.
pub(super) struct EngineSession {
    /// The settings. Changes take effect at the next [`EngineSession::replace_council`].
    pub setup: Setup,
    pub line: Arc<Line>,
    /// Started for the first search, and replaced after a change of the settings.
    player: Option<GamePlayer>,
    events: mpsc::UnboundedSender<PlayerEvent>,
    requests: u64,
}

impl EngineSession {
    pub(super) fn new(setup: Setup) -> (Self, mpsc::UnboundedReceiver<PlayerEvent>) {
        let (events, inbox) = mpsc::unbounded_channel();
        let line = Arc::new(Line::start(Variant::Standard));
        (Self { setup, line, player: None, events, requests: 0 }, inbox)
    }

    /// Dismisses the council; the next search starts another, which has learnt nothing yet.
    pub(super) fn replace_council(&mut self) {
        self.player = None;
    }

    /// Begins another game of the same variant: the council forgets the last one.
    pub(super) fn new_game(&mut self) {
        if let Some(player) = &self.player {
            player.new_game();
        }
    }

    /// Starts the council, if it does not run yet, and waits for a limited time until it can search: engines need time to start.
    /// Not to be called during a search, because it would wait for its end.
    pub(super) async fn start_council(&mut self) -> Result<(), String> {
        // An elector that has not started by then costs its vote.
        let _ = timeout(START_PATIENCE, self.player()?.started()).await;
        Ok(())
    }

    /// Begins to search a position, after the search of the last one. With `always_search` the electors are asked even if a book
    /// knows the move.
    pub(super) fn think(
        &mut self,
        line: Arc<Line>,
        time: Time,
        limits: Limits,
        excluded: Vec<UciMove>,
        always_search: bool,
    ) -> Result<(RequestId, SearchHandle), String> {
        self.requests += 1;
        let id = RequestId(self.requests);
        let request = SearchRequest { id, line, others: Vec::new(), time, limits, excluded, always_search };
        Ok((id, self.player()?.think(request)))
    }

    fn player(&mut self) -> Result<&GamePlayer, String> {
        if self.player.is_none() {
            let roster = self.setup.roster().map_err(|error| error.to_string())?;
            let council = Council::new(&self.setup.pool(), &roster, &self.setup.council, self.line.variant());
            let config = PlayerConfig {
                game: GameId::new("engine"),
                clock: self.setup.clock.clone(),
                lag: Arc::new(Mutex::new(self.setup.lag())),
                known: self.setup.library().for_a_game(LostLines::default()),
                online: None,
            };
            self.player = Some(GamePlayer::start(config, council, self.events.clone()));
        }
        self.player.as_ref().ok_or_else(|| "no council".to_owned())
    }
}

/// Builds the clock of a game from a program's clocks: the own one and the opponent's, and the
/// moves until the next control.
pub(super) fn clock(us: Color, ours: Clock, theirs: Clock, moves_to_go: Option<u32>) -> Time {
    let mut clocks = Clocks::both(theirs);
    *clocks.of_mut(us) = ours;
    // The program does not report the initial time; the current time is the careful guess.
    let control = TimeControl::real_time(ours.remaining, ours.increment);
    Time::Clock { control, clocks: Some(clocks), moves_to_go, spent: Duration::ZERO }
}
