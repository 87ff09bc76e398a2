//! Watching: one task keeps the overview, and sends changes to all browsers as server-sent events.
//!
//! - A frame is made once, for all, at most ten times a second, and less often if making one takes long: never more than a
//!   twentieth of a core is spent on it.
//! - A browser that is slow misses frames and then gets the whole picture again; nothing is kept for it.
//! - Without watchers, no frame is made.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use axum::{
    body::{Body, Bytes},
    extract::State,
    http::{HeaderName, header},
    response::{IntoResponse, Response},
};
use futures_util::stream;
use jiff::Timestamp;
use serde::Serialize;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, broadcast, mpsc, oneshot};
use tokio_util::sync::CancellationToken;

use crate::{overview::Overview, problem::HttpProblem, security::PageReader};
use bot::session::BotEvent;
use util::supervised;

/// The shortest time between two frames.
const FRAME_EVERY: Duration = Duration::from_millis(100);

/// Pause after a frame, as a multiple of the time that it took.
const PAUSE_FACTOR: u32 = 20;

/// Frames that a browser may be behind before it gets the whole picture instead.
const FRAMES_BEHIND: usize = 8;

/// Interval of signs of life: both sides notice a dead connection within seconds.
const KEEP_ALIVE: Duration = Duration::from_secs(4);

/// Event sent when nothing has changed. An event and no comment, because a page does not see
/// comments.
const BEAT: &[u8] = b"event: beat\ndata: 1\n\n";

/// Tells browsers to connect again a second after a stream has ended.
const RETRY: &[u8] = b"retry: 1000\n\n";

/// The pause after events were taken, in which new ones stay where they are: each of them would wake the task, several times a
/// move.
const REST: Duration = Duration::from_millis(50);

/// Maximum number of events of the bot that are handled before frames get their turn.
const EVENTS_AT_ONCE: usize = 256;

type BotEvents = broadcast::Receiver<Arc<BotEvent>>;

/// The whole picture, and the frames that follow it.
struct Picture {
    whole: Bytes,
    frames: broadcast::Receiver<Bytes>,
}

/// Requests to the task.
enum WatchQuestion {
    Status(oneshot::Sender<Bytes>),
    /// The whole picture as the first frame, and a place at the frames.
    Watch(oneshot::Sender<Picture>),
}

/// The handle of the task that keeps the overview. Cheap to clone.
#[derive(Clone)]
pub(crate) struct OverviewWatch {
    questions: mpsc::Sender<WatchQuestion>,
    places: Arc<Semaphore>,
    stop: CancellationToken,
}

impl OverviewWatch {
    /// Starts the task; it ends with `stop`. No more than `watchers` browsers watch at a time.
    pub(crate) fn start(mut events: BotEvents, watchers: usize, stop: CancellationToken) -> Self {
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

    async fn ask<T>(&self, question: impl FnOnce(oneshot::Sender<T>) -> WatchQuestion) -> Result<T, HttpProblem> {
        let (reply, answer) = oneshot::channel();
        let closing = |_| HttpProblem::busy("the program is ending");
        self.questions.send(question(reply)).await.map_err(|_| HttpProblem::busy("the program is ending"))?;
        answer.await.map_err(closing)
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
    async fn run(&mut self, events: &mut BotEvents, questions: &mut mpsc::Receiver<WatchQuestion>) {
        loop {
            let wanted = self.frames.receiver_count() > 0 && self.overview.has_changed();
            let rests = self.rests_until > Instant::now();
            tokio::select! {
                question = questions.recv() => match question {
                    Some(question) => {
                        self.take_waiting(events);
                        self.answer(question);
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
                    // The bot has ended: what it was can still be looked at.
                    Err(broadcast::error::RecvError::Closed) => {
                        while let Some(question) = questions.recv().await {
                            self.answer(question);
                        }
                        return;
                    }
                },
            }
        }
    }

    /// Takes the events that wait, and rests where those were all.
    fn take_waiting(&mut self, events: &mut BotEvents) {
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

    fn answer(&mut self, question: WatchQuestion) {
        let whole = self.overview.whole(Instant::now());
        match question {
            WatchQuestion::Status(reply) => _ = reply.send(json(&whole).into()),
            WatchQuestion::Watch(reply) => {
                let whole = [&*sse("whole", &whole), RETRY].concat().into();
                // What has changed until now is in the picture; the others get it with the next frame.
                _ = reply.send(Picture { whole, frames: self.frames.subscribe() });
            }
        }
    }

    fn send_frame(&mut self) {
        let begun = Instant::now();
        let _ = self.frames.send(sse("change", &self.overview.changes(begun)));
        self.overview.forget_changes();
        self.next_frame = Instant::now() + FRAME_EVERY.max(begun.elapsed() * PAUSE_FACTOR);
    }
}

fn json(value: &impl Serialize) -> Vec<u8> {
    // Our own plain structures fail at nothing.
    serde_json::to_vec(value).unwrap_or_default()
}

/// A server-sent event. JSON has no line ends outside of its texts, where they are escaped.
fn sse(name: &str, value: &impl Serialize) -> Bytes {
    let mut frame = format!("event: {name}\ndata: ").into_bytes();
    frame.extend(json(value));
    frame.extend(b"\n\n");
    frame.into()
}

pub(crate) async fn status(_: PageReader, State(watch): State<OverviewWatch>) -> Result<Response, HttpProblem> {
    let whole = watch.ask(WatchQuestion::Status).await?;
    Ok(([(header::CONTENT_TYPE, "application/json")], whole).into_response())
}

/// The whole picture, and from then on what changes, as server-sent events.
pub(crate) async fn events(_: PageReader, State(watch): State<OverviewWatch>) -> Result<Response, HttpProblem> {
    let place = Arc::clone(&watch.places).try_acquire_owned();
    let place =
        place.map_err(|_| HttpProblem::busy("too many browsers are watching (limit: web.watchers in the settings)"))?;
    let Picture { whole, frames } = watch.ask(WatchQuestion::Watch).await?;
    let watcher = Watcher { first: Some(whole), frames, watch: watch.clone(), _place: place };
    let sent = stream::unfold(watcher, |mut watcher| async move {
        let bytes = watcher.next().await?;
        Some((Ok::<_, std::convert::Infallible>(bytes), watcher))
    });
    Ok(event_stream(Body::from_stream(sent)))
}

pub(crate) fn event_stream(body: Body) -> Response {
    // A proxy that gathers an answer before it passes it on would gather for ever.
    let unbuffered = HeaderName::from_static("x-accel-buffering");
    let headers =
        [(header::CONTENT_TYPE, "text/event-stream"), (header::CACHE_CONTROL, "no-store"), (unbuffered, "no")];
    (headers, body).into_response()
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
                let picture = self.watch.ask(WatchQuestion::Watch).await.ok()?;
                self.frames = picture.frames;
                Some(picture.whole)
            }
            Ok(Err(broadcast::error::RecvError::Closed)) => None,
            Err(_) => Some(Bytes::from_static(BEAT)),
        }
    }
}
