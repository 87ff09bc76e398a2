//! The stream of one game: always open, or being reopened, while its game runs.
//!
//! - The first line of a stream is the whole state. A stream that begins otherwise is in disorder:
//!   its whole state may be old by the time it comes, so the stream is opened again.
//! - An opening lives while bytes of its first line come, and serves all requests for the whole
//!   state meanwhile. After a timeout it is repeated with twice the patience, because requests do
//!   not hasten a slow server.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use futures_util::FutureExt;
use tokio::{
    sync::{Notify, mpsc},
    time::sleep_until,
};
use tokio_util::sync::CancellationToken;

use super::{
    MOST_RUNNING_GAMES,
    http::Http,
    ndjson::LineTooLong,
    patience::Patience,
    running_games,
    stream::{Stream, StreamEnd},
    wire::{self, LichessLineError},
};
use domain::{ActionError, Color, GameId, GameState, ServerEvent};
use util::Backoff;

/// Time for which a stream is read after the end of its game, until the server closes it.
const LINGER: Duration = Duration::from_secs(3);

/// Time for which an announced game may be unknown to its stream and to the list of our games, or
/// be refused to us, before that is believed.
const BIRTH: Duration = Duration::from_secs(10);

/// The longest pause between two attempts to open the stream: short while clocks run, and longer the longer the server has been away,
/// by which time most clocks have run out.
const PAUSE: (Duration, Duration) = (Duration::from_secs(2), Duration::from_secs(30));
/// Divisor of the outage for that pause.
const PAUSE_SHARE: u32 = 30;

/// Reason for giving up a stream that sends moves before the game.
const DISORDER: &str = "the stream did not begin with the whole state";

#[derive(Clone, Debug, Default)]
pub(super) struct GameSignals {
    pub finished: CancellationToken,
    pub reopen: Arc<Notify>,
    /// The event stream tells of the game once more: a stream that is away need not wait to be opened.
    pub told_again: Arc<Notify>,
}

enum StreamOutcome {
    Reopen,
    Lost(String),
    /// The opponent has days to move: the stream is closed until then.
    Parked,
}

pub(super) struct GameStream {
    id: GameId,
    http: Arc<Http>,
    events: mpsc::Sender<ServerEvent>,
    signals: GameSignals,
    /// The game's own stream said so.
    is_over: bool,
    was_open: bool,
    /// The game's rules have no name with us; only its end is of interest.
    is_unplayable: bool,
    backoff: Backoff,
    /// Since when the game is not heard, and the reason that was told last.
    outage: Option<(Instant, String)>,
    patience: Patience,
    /// Number of times that the stream was reopened to get the whole state.
    resyncs: u32,
    /// Time at which we heard of the game.
    since: Instant,
    /// Start of an opening that has not brought the whole state yet.
    opening_since: Option<Instant>,
    /// Our colour in a game of days a move or without a clock.
    correspondence: Option<Color>,
    /// 1 in a game that Black begins.
    plies_before: usize,
    /// When the stream is closed because the opponent has days to move.
    parks_at: Option<Instant>,
}

impl GameStream {
    pub(super) fn new(id: GameId, http: Arc<Http>, events: mpsc::Sender<ServerEvent>, signals: GameSignals) -> Self {
        let patience = Patience::new(http.settings.idle_timeout);
        Self {
            id,
            http,
            events,
            signals,
            is_over: false,
            was_open: false,
            is_unplayable: false,
            backoff: Backoff::new(Duration::from_millis(100), PAUSE.1).first_at_once(),
            outage: None,
            patience,
            resyncs: 0,
            since: Instant::now(),
            opening_since: None,
            correspondence: None,
            plies_before: 0,
            parks_at: None,
        }
    }

    /// Tells of the game until it is over, gone or not for us (false), or until its opponent has days to move (true).
    pub(super) async fn follow(mut self) -> bool {
        loop {
            // Once the game is finished elsewhere, one more look at it gives the last moves; then it is enough.
            let last_look = self.signals.finished.is_cancelled();
            let outcome = self.open_and_read().await;
            if let Some(since) = self.opening_since.take() {
                self.patience.did_not_open(since.elapsed());
            }
            let named = match &outcome {
                Err(ActionError::Limited { retry_after, .. }) => *retry_after,
                _ => None,
            };
            let reason = match outcome {
                Ok(StreamOutcome::Reopen) => continue,
                Ok(StreamOutcome::Parked) => return true,
                Ok(StreamOutcome::Lost(reason)) => reason,
                Err(ActionError::NotFound(_)) if self.is_running().await == Some(false) => {
                    self.tell(ServerEvent::GameGone(self.id.clone())).await;
                    return false;
                }
                Err(error @ (ActionError::Refused(_) | ActionError::Unsupported(_))) if !self.was_open => {
                    match self.is_running().await {
                        Some(running) => {
                            self.give_up(&error, running).await;
                            return false;
                        }
                        None => error.to_string(),
                    }
                }
                Err(error) => error.to_string(),
            };
            if self.is_over || last_look {
                // Of a game that we cannot play nothing was told that shows its end.
                if self.is_unplayable && !self.signals.finished.is_cancelled() {
                    self.tell(ServerEvent::GameGone(self.id.clone())).await;
                }
                return false;
            }
            let mut pause = self.not_heard(reason).await;
            // Before the time that the server names it would refuse again.
            if let Some(named) = named.filter(|named| self.patience.allows(*named, Instant::now())) {
                pause = pause.max(named);
            }
            tokio::select! {
                () = tokio::time::sleep(pause) => {}
                () = self.signals.told_again.notified() => {}
                () = self.signals.finished.cancelled() => {}
            }
        }
    }

    /// Tells why the game is not heard, and says how long to wait before the next attempt.
    async fn not_heard(&mut self, reason: String) -> Duration {
        if self.outage.as_ref().is_none_or(|(_, told)| *told != reason) {
            self.fault(&reason).await;
        }
        let since = self.outage.take().map_or_else(Instant::now, |(since, _)| since);
        self.outage = Some((since, reason));
        self.backoff.next_delay().min((since.elapsed() / PAUSE_SHARE).clamp(PAUSE.0, PAUSE.1))
    }

    /// The server refuses us this game for good, as one that is closed to bots: it is left if it runs, and holds no place.
    async fn give_up(&self, refusal: &ActionError, running: bool) {
        let reason = self.http.printable(&format!("the game cannot be followed: {refusal}"));
        if running {
            self.tell(ServerEvent::GameUnplayable { id: self.id.clone(), reason }).await;
        } else {
            self.fault(&reason).await;
        }
        self.tell(ServerEvent::GameGone(self.id.clone())).await;
    }

    async fn open_and_read(&mut self) -> Result<StreamOutcome, ActionError> {
        let us = self.http.our_id().await?;
        let asked = Instant::now();
        let path = ["api", "bot", "game", "stream", self.id.as_str()];
        let patience = self.patience.with_opening();
        self.opening_since = Some(asked);
        let mut stream = Stream::open(&self.http, &path, patience).await?;
        self.was_open = true;
        let mut ends_at: Option<Instant> = None;
        let mut reopen_at: Option<Instant> = None;
        loop {
            let has_begun = self.opening_since.is_none();
            let whole_state_due = (!has_begun).then(|| stream.progress + patience);
            let line = tokio::select! {
                line = stream.next() => line,
                () = self.signals.finished.cancelled(), if ends_at.is_none() => {
                    ends_at = Some(Instant::now() + LINGER);
                    continue;
                }
                () = at(ends_at) => {
                    self.is_over = true;
                    return Ok(StreamOutcome::Lost("the game is over".to_owned()));
                }
                () = self.signals.reopen.notified(), if has_begun && reopen_at.is_none() => {
                    reopen_at = Some(Instant::now() + self.patience.before_resync(self.resyncs));
                    continue;
                }
                () = at(self.parks_at), if has_begun && reopen_at.is_none() && ends_at.is_none() => {
                    return Ok(StreamOutcome::Parked);
                }
                () = at(reopen_at) => {
                    self.resyncs += 1;
                    return Ok(StreamOutcome::Reopen);
                }
                () = at(whole_state_due) => {
                    if stream.progress + patience > Instant::now() {
                        // More of the first line came meanwhile.
                        continue;
                    }
                    return Ok(StreamOutcome::Lost("the whole state did not come".to_owned()));
                }
            };
            let line = match line {
                Ok(line) => line,
                Err(end) => {
                    if stream.was_good() {
                        self.backoff.reset();
                    }
                    if matches!(end, StreamEnd::Silent(_)) {
                        self.patience.was_lost_to_silence();
                    }
                    return Ok(StreamOutcome::Lost(end.to_string()));
                }
            };
            match self.read(line, &us).await {
                Some(ServerEvent::GameState(..)) if !has_begun => return Ok(StreamOutcome::Lost(DISORDER.to_owned())),
                Some(event) => {
                    if matches!(event, ServerEvent::Game(..) | ServerEvent::GameUnplayable { .. }) {
                        self.opening_since = None;
                        self.outage = None;
                        self.patience.opened(asked.elapsed());
                        // This state serves all requests until now.
                        let _ = self.signals.reopen.notified().now_or_never();
                    }
                    if self.patience.heard(&event) {
                        reopen_at = None;
                    }
                    self.hear(event).await;
                    if self.opening_since.is_none() {
                        stream.patience = self.patience.with_silence();
                    }
                }
                None => {}
            }
            if self.is_over && ends_at.is_none() {
                ends_at = Some(Instant::now() + LINGER);
            }
        }
    }

    /// Returns the event of a line; an unknown line is reported as a fault.
    async fn read(&self, (text, received): (Result<String, LineTooLong>, Instant), us: &str) -> Option<ServerEvent> {
        let event = text
            .map_err(LichessLineError::from)
            .and_then(|text| wire::game_event(&text, &self.id, us, &self.http.settings.url, received));
        match event {
            Ok(event) => return Some(event),
            Err(unknown @ LichessLineError::Unknown(_)) => {
                tracing::debug!("{}", self.http.printable(&unknown.to_string()));
            }
            Err(LichessLineError::Unplayable(why)) => {
                let reason = self.http.printable(&why);
                return Some(ServerEvent::GameUnplayable { id: self.id.clone(), reason });
            }
            Err(error) => self.fault(&error.to_string()).await,
        }
        None
    }

    async fn hear(&mut self, event: ServerEvent) {
        match &event {
            ServerEvent::Game(info, state) => {
                let correspondence = !info.terms.time_control.is_real_time();
                self.correspondence = correspondence.then_some(info.our_color);
                self.plies_before = usize::from(info.start.turn() == Color::Black);
                self.note(state);
            }
            ServerEvent::GameState(_, state) => self.note(state),
            ServerEvent::GameUnplayable { .. } => self.is_unplayable = true,
            _ => {}
        }
        if self.is_unplayable && matches!(event, ServerEvent::GameState(..)) {
            return;
        }
        self.tell(event).await;
    }

    fn note(&mut self, state: &GameState) {
        self.is_over = !state.status.is_running();
        let parks = !self.is_over
            && self.correspondence.is_some_and(|ours| {
                let plies = self.plies_before + state.plies();
                ours.is_black() == plies.is_multiple_of(2)
            });
        self.parks_at = parks.then(|| Instant::now() + self.http.settings.attention);
    }

    /// Returns true if the game, which its stream does not show, is among our running ones. `None`
    /// if the server does not say, or may not know it yet.
    async fn is_running(&self) -> Option<bool> {
        if !self.was_open && self.since.elapsed() < BIRTH {
            return None;
        }
        let running = running_games(&self.http).await.ok()?;
        match running.contains(&self.id) {
            false if running.len() >= MOST_RUNNING_GAMES => None,
            known => Some(known),
        }
    }

    async fn fault(&self, what: &str) {
        self.tell(ServerEvent::Fault { game: Some(self.id.clone()), what: self.http.printable(what) }).await;
    }

    async fn tell(&self, event: ServerEvent) {
        // The receiver is gone shortly before this task is stopped.
        let _ = self.events.send(event).await;
    }
}

/// Waits for a time; for ever, if there is none.
async fn at(time: Option<Instant>) {
    match time {
        Some(time) => sleep_until(time.into()).await,
        None => std::future::pending().await,
    }
}
