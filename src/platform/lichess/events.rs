//! The event stream: challenges, and games that start and finish. Always open or being reopened.

use std::{
    collections::HashSet,
    convert::Infallible,
    sync::Arc,
    time::{Duration, Instant},
};

use tokio::sync::mpsc;

use super::{
    REFUSED_PAUSES,
    games::GameStreams,
    http::Http,
    patience::Patience,
    running_games,
    stream::Stream,
    wire::{self, LichessLineError},
};
use domain::{ActionError, GameId, ServerEvent};
use util::Backoff;

const PATH: [&str; 3] = ["api", "stream", "event"];

/// The span over which the server counts openings: there is no cause to wait longer.
const LIMIT_SPAN: Duration = Duration::from_secs(600);

/// The first pause between questions for our games while the event stream must stay closed, and the longest; each is twice the
/// last.
const ASK: Duration = Duration::from_secs(2);
const ASK_AT_LEAST: Duration = Duration::from_secs(8);

/// The server allows thirty openings in ten minutes: a few may come at once, then one in each interval.
const OPEN_BURST: u32 = 5;
const OPEN_INTERVAL: Duration = Duration::from_secs(25);

/// Takes one opening, and returns the time to wait for it.
fn wait_to_open(due: &mut Option<Instant>, now: Instant) -> Duration {
    let this = due.map_or(now, |due| due.max(now));
    *due = Some(this + OPEN_INTERVAL);
    this.duration_since(now).saturating_sub(OPEN_INTERVAL * (OPEN_BURST - 1))
}

pub(super) struct EventStream {
    http: Arc<Http>,
    games: GameStreams,
    events: mpsc::Sender<ServerEvent>,
    backoff: Backoff,
    /// The time at which the openings so far would be due if each had waited its interval.
    open_due: Option<Instant>,
    patience: Patience,
    /// Games that the stream has told of since it was opened last, or that were found since, and that have not finished.
    running: HashSet<GameId>,
    was_connected: bool,
    /// The reason of the loss that was told last, while the stream is lost.
    told_lost: Option<String>,
}

impl EventStream {
    pub(super) fn new(http: Arc<Http>, games: GameStreams, events: mpsc::Sender<ServerEvent>) -> Self {
        let patience = Patience::new(http.settings.idle_timeout);
        Self {
            http,
            games,
            events,
            patience,
            backoff: Backoff::new(Duration::from_secs(1), Duration::from_secs(30)).first_at_once(),
            open_due: None,
            running: HashSet::new(),
            was_connected: false,
            told_lost: None,
        }
    }

    /// Returns only when the server refuses the account.
    pub(super) async fn follow(&mut self) {
        loop {
            let (reason, at_least) = match self.open_and_read().await {
                Ok(reason) => (reason, Duration::ZERO),
                // Before we were connected this is an obstacle that a good answer has told, or a refusal that has lasted. A server
                // that knew us once and now does not is a server in trouble, until it says so for good.
                Err(ActionError::Unauthorised(reason)) if !self.was_connected => {
                    self.tell(ServerEvent::Rejected { reason }).await;
                    return;
                }
                Err(error) => {
                    let at_least = match &error {
                        ActionError::Limited { retry_after, .. } => {
                            retry_after.unwrap_or(self.http.settings.limited_pause).min(LIMIT_SPAN)
                        }
                        _ => Duration::ZERO,
                    };
                    (error.to_string(), at_least)
                }
            };
            self.tell_lost(&reason).await;
            let wait = self.backoff.next_delay().max(at_least);
            self.wait(wait).await;
        }
    }

    /// Tells of everything the stream brings until it ends, and gives the reason of its end.
    async fn open_and_read(&mut self) -> Result<String, ActionError> {
        let http = Arc::clone(&self.http);
        // A server in trouble may take long to say who we are.
        let account = tokio::select! {
            account = http.account() => account?,
            never = self.look_for_games() => match never {},
        };
        let (asked, mut pause) = (tokio::time::Instant::now(), REFUSED_PAUSES.0);
        let mut stream = loop {
            match self.open_within_limit().await {
                // As with the token, one refusal is not believed. Where it is the token's, that is tried meanwhile.
                Err(ActionError::Unauthorised(_))
                    if !self.was_connected && asked.elapsed() < http.patience_at_start() =>
                {
                    self.wait(pause).await;
                    pause = (pause * 2).min(REFUSED_PAUSES.1);
                }
                opened => break opened?,
            }
        };
        self.was_connected = true;
        self.told_lost = None;
        // It begins with all games that run. Others have ended meanwhile, and their ends may never be told.
        self.running.clear();
        self.tell(ServerEvent::Connected(account.as_ref().clone())).await;
        loop {
            let text = match stream.next().await {
                Ok((text, _)) => text,
                Err(end) => {
                    if stream.was_good() {
                        self.backoff.reset();
                    }
                    return Ok(end.to_string());
                }
            };
            match text.map_err(LichessLineError::from).and_then(|text| wire::event(&text, &account.player.id)) {
                Ok(ServerEvent::GameStarted(id)) => self.start(id).await,
                Ok(ServerEvent::GameFinished { id, status, winner, rating_change }) => {
                    self.tell(ServerEvent::GameFinished { id: id.clone(), status, winner, rating_change }).await;
                    self.running.remove(&id);
                    self.games.finished(id);
                }
                Ok(event) => self.tell(event).await,
                Err(unknown @ LichessLineError::Unknown(_)) => {
                    tracing::debug!("{}", self.http.printable(&unknown.to_string()))
                }
                Err(error) => self.fault(&error.to_string()).await,
            }
        }
    }

    async fn open_within_limit(&mut self) -> Result<Stream, ActionError> {
        let held_back = wait_to_open(&mut self.open_due, Instant::now());
        self.wait(held_back).await;
        self.open().await
    }

    /// Opens the stream. A server in trouble may take long over it, and is given more time after it has taken all there was.
    async fn open(&mut self) -> Result<Stream, ActionError> {
        let http = Arc::clone(&self.http);
        let (asked, patience) = (Instant::now(), self.patience.with_opening());
        let opened = tokio::select! {
            opened = Stream::open(&http, &PATH, patience) => opened,
            never = self.look_for_games() => match never {},
        };
        match opened {
            Ok(mut stream) => {
                self.patience.opened(asked.elapsed());
                stream.patience = self.patience.with_silence();
                Ok(stream)
            }
            Err(error) => {
                self.patience.did_not_open(asked.elapsed());
                Err(error)
            }
        }
    }

    async fn start(&mut self, id: GameId) {
        self.tell(ServerEvent::GameStarted(id.clone())).await;
        self.running.insert(id.clone());
        self.games.watch(id);
    }

    /// Waits; during a long wait it looks for games that have begun, since their clocks run.
    async fn wait(&mut self, pause: Duration) {
        // The end of the pause is what is waited for.
        let _ = tokio::time::timeout(pause, self.look_for_games()).await;
    }

    /// Starts the games that have begun as it finds them, and never returns by itself.
    async fn look_for_games(&mut self) -> Infallible {
        let mut ask = ASK;
        loop {
            tokio::time::sleep(ask).await;
            ask = (ask * 2).min(ASK_AT_LEAST);
            for id in running_games(&self.http).await.unwrap_or_default() {
                if !self.running.contains(&id) {
                    self.start(id).await;
                }
            }
        }
    }

    async fn tell_lost(&mut self, reason: &str) {
        let reason = self.http.printable(reason);
        tracing::debug!(%reason, "no event stream");
        // A reason that lasts is told once.
        if self.told_lost.as_ref() == Some(&reason) {
            return;
        }
        if self.told_lost.replace(reason.clone()).is_some() {
            self.fault(&format!("the event stream does not open: {reason}")).await;
        } else {
            self.tell(ServerEvent::Disconnected { reason }).await;
        }
    }

    async fn fault(&self, what: &str) {
        self.tell(ServerEvent::Fault { game: None, what: self.http.printable(what) }).await;
    }

    async fn tell(&self, event: ServerEvent) {
        // The receiver is gone shortly before this task is stopped.
        let _ = self.events.send(event).await;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn thirty_openings_in_ten_minutes(lives in proptest::collection::vec(0_u64..60_000, 100)) {
            let start = Instant::now();
            let mut due = None;
            let mut now = start;
            let mut opened = Vec::new();
            for (index, life) in lives.into_iter().enumerate() {
                let wait = wait_to_open(&mut due, now);
                prop_assert!(index >= 5 || wait.is_zero(), "a burst is free");
                now += wait;
                opened.push(now);
                now += Duration::from_millis(life);
            }
            for (index, first) in opened.iter().enumerate() {
                let within = opened.iter().skip(index).filter(|at| **at - *first < Duration::from_secs(600)).count();
                prop_assert!(within <= 30, "{within} openings in ten minutes");
            }
        }
    }
}
