//! Watching: one task keeps the overview, and sends changes to all browsers as server-sent events.
//!
//! - A frame is made once for all browsers, at most ten times a second, and less often if it takes
//!   long: frames cost at most a twentieth of a core.
//! - A slow browser misses frames and then gets the whole overview again; nothing is kept for it.
//! - Without watchers, no frame is made.

use std::{
    convert::Infallible,
    sync::Arc,
    time::{Duration, Instant},
};

use axum::{
    body::{Body, Bytes},
    extract::State,
    http::{HeaderName, header},
    response::{IntoResponse, Response},
};
use futures_util::{Stream, StreamExt as _, stream};
use jiff::Timestamp;
use serde::Serialize;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, broadcast, mpsc, oneshot};
use tokio_util::sync::CancellationToken;

use crate::{overview::Overview, problem::HttpProblem, security::PageReader};
use bot::session::BotEvent;
use util::supervised;

/// The shortest time between two frames.
const FRAME_EVERY: Duration = Duration::from_millis(100);

/// Pause after a frame, as a multiple of its duration.
const PAUSE_FACTOR: u32 = 20;

/// After this number of missed frames a browser gets the whole overview.
const FRAMES_BEHIND: usize = 8;

/// Interval of signs of life: both sides notice a dead connection within seconds.
const KEEP_ALIVE: Duration = Duration::from_secs(4);

/// Event sent when nothing has changed. It is an event because pages do not see comments.
const BEAT: &[u8] = b"event: beat\ndata: 1\n\n";

/// Tells browsers to connect again a second after a stream has ended.
const RETRY: &[u8] = b"retry: 1000\n\n";

/// The pause after events were taken: each new event would otherwise wake the task, several times a
/// move.
const REST: Duration = Duration::from_millis(50);

/// Maximum number of events of the bot between two frames.
const EVENTS_AT_ONCE: usize = 256;

/// The whole overview as JSON, and its later changes as server-sent events.
type WholeAndChanges = (Bytes, broadcast::Receiver<Bytes>);

/// The handle of the overview's task. Cheap to clone.
#[derive(Clone)]
pub(crate) struct OverviewWatch {
    questions: mpsc::Sender<oneshot::Sender<WholeAndChanges>>,
    places: Arc<Semaphore>,
    stop: CancellationToken,
}

impl OverviewWatch {
    /// Starts the task until `stop`. At most `watchers` browsers watch at a time.
    pub(crate) fn start(
        mut events: broadcast::Receiver<Arc<BotEvent>>,
        watchers: usize,
        stop: CancellationToken,
    ) -> Self {
        let (questions, mut asked) = mpsc::channel(64);
        let mut keeper = OverviewKeeper {
            overview: Overview::default(),
            frames: broadcast::Sender::new(FRAMES_BEHIND),
            next_frame: Instant::now(),
            rests_until: Instant::now(),
        };
        let keeps = async move { supervised!("overview", keeper.run(&mut events, &mut asked)).await };
        tokio::spawn(stop.clone().run_until_cancelled_owned(keeps));
        Self { questions, places: Arc::new(Semaphore::new(watchers)), stop }
    }

    async fn ask(&self) -> Result<WholeAndChanges, HttpProblem> {
        let (reply, answer) = oneshot::channel();
        let ending = "the program is ending";
        self.questions.send(reply).await.map_err(|_| HttpProblem::busy(ending))?;
        answer.await.map_err(|_| HttpProblem::busy(ending))
    }
}

struct OverviewKeeper {
    overview: Overview,
    frames: broadcast::Sender<Bytes>,
    next_frame: Instant,
    /// Earliest time of the next event.
    rests_until: Instant,
}

impl OverviewKeeper {
    async fn run(
        &mut self,
        events: &mut broadcast::Receiver<Arc<BotEvent>>,
        questions: &mut mpsc::Receiver<oneshot::Sender<WholeAndChanges>>,
    ) {
        loop {
            let wanted = self.frames.receiver_count() > 0 && self.overview.has_changed();
            let rests = self.rests_until > Instant::now();
            tokio::select! {
                question = questions.recv() => match question {
                    Some(reply) => {
                        self.take_waiting(events);
                        self.answer(reply);
                    }
                    None => return,
                },
                () = tokio::time::sleep_until(self.next_frame.into()), if wanted => self.send_frame(),
                () = tokio::time::sleep_until(self.rests_until.into()), if rests => (),
                event = events.recv(), if !rests => match event {
                    Ok(event) => {
                        self.overview.take(&event, Instant::now(), Timestamp::now());
                        self.take_waiting(events);
                    }
                    Err(broadcast::error::RecvError::Lagged(missed)) => self.overview.missed(missed, Timestamp::now()),
                    // The bot has ended; browsers may still read its last state.
                    Err(broadcast::error::RecvError::Closed) => {
                        while let Some(reply) = questions.recv().await {
                            self.answer(reply);
                        }
                        return;
                    }
                },
            }
        }
    }

    /// Takes the waiting events, and rests after the last of them.
    fn take_waiting(&mut self, events: &mut broadcast::Receiver<Arc<BotEvent>>) {
        let (now, time) = (Instant::now(), Timestamp::now());
        for _ in 0..EVENTS_AT_ONCE {
            match events.try_recv() {
                Ok(event) => self.overview.take(&event, now, time),
                Err(broadcast::error::TryRecvError::Lagged(missed)) => self.overview.missed(missed, time),
                Err(_) => {
                    self.rests_until = now + REST;
                    return;
                }
            }
        }
    }

    fn answer(&mut self, reply: oneshot::Sender<WholeAndChanges>) {
        let whole = json(&self.overview.whole(Instant::now()));
        // Older watchers get the changes until now with the next frame.
        let _ = reply.send((whole.into(), self.frames.subscribe()));
    }

    fn send_frame(&mut self) {
        let begun = Instant::now();
        let _ = self.frames.send(event("change", &self.overview.changes(begun)));
        self.overview.forget_changes();
        self.next_frame = Instant::now() + FRAME_EVERY.max(begun.elapsed() * PAUSE_FACTOR);
    }
}

fn json(value: &impl Serialize) -> Vec<u8> {
    // Plain values always serialise.
    serde_json::to_vec(value).unwrap_or_default()
}

pub(crate) fn event(name: &str, value: &impl Serialize) -> Bytes {
    event_of_json(name, &json(value))
}

/// Returns a server-sent event. JSON has only escaped line ends, within texts.
fn event_of_json(name: &str, json: &[u8]) -> Bytes {
    [b"event: ", name.as_bytes(), b"\ndata: ", json, b"\n\n"].concat().into()
}

pub(crate) async fn status(_: PageReader, State(watch): State<OverviewWatch>) -> Result<Response, HttpProblem> {
    let (whole, _) = watch.ask().await?;
    Ok(([(header::CONTENT_TYPE, "application/json")], whole).into_response())
}

pub(crate) async fn events(_: PageReader, State(watch): State<OverviewWatch>) -> Result<Response, HttpProblem> {
    let place = Arc::clone(&watch.places).try_acquire_owned();
    let place =
        place.map_err(|_| HttpProblem::busy("too many browsers are watching (limit: web.watchers in the settings)"))?;
    let (whole, frames) = watch.ask().await?;
    let watcher = Watcher { first: Some(beginning(&whole)), frames, watch, _place: place };
    Ok(event_stream(stream::unfold(watcher, async |mut watcher| Some((watcher.next().await?, watcher)))))
}

pub(crate) fn event_stream(events: impl Stream<Item = Bytes> + Send + 'static) -> Response {
    // A buffering proxy would wait for the end of the stream.
    let unbuffered = HeaderName::from_static("x-accel-buffering");
    let headers =
        [(header::CONTENT_TYPE, "text/event-stream"), (header::CACHE_CONTROL, "no-store"), (unbuffered, "no")];
    (headers, Body::from_stream(events.map(Ok::<_, Infallible>))).into_response()
}

/// Returns the beginning of a stream: the whole overview, and the time until a reconnection.
fn beginning(whole: &[u8]) -> Bytes {
    [&*event_of_json("whole", whole), RETRY].concat().into()
}

struct Watcher {
    first: Option<Bytes>,
    frames: broadcast::Receiver<Bytes>,
    watch: OverviewWatch,
    _place: OwnedSemaphorePermit,
}

impl Watcher {
    async fn next(&mut self) -> Option<Bytes> {
        if let Some(first) = self.first.take() {
            return Some(first);
        }
        let stop = self.watch.stop.clone();
        match stop.run_until_cancelled(tokio::time::timeout(KEEP_ALIVE, self.frames.recv())).await? {
            Ok(Ok(frame)) => Some(frame),
            Ok(Err(broadcast::error::RecvError::Lagged(_))) => {
                let (whole, frames) = self.watch.ask().await.ok()?;
                self.frames = frames;
                Some(beginning(&whole))
            }
            Ok(Err(broadcast::error::RecvError::Closed)) => None,
            Err(_) => Some(Bytes::from_static(BEAT)),
        }
    }
}
