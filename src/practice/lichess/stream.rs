//! Streams of lines, with empty ones in between to show that the connection lives, and the faults they suffer.

use std::{collections::VecDeque, future::pending, time::Duration};

use axum::{
    body::{Body, Bytes},
    response::Response,
};
use futures_util::stream;
use tokio::time::Instant;

use super::api::ndjson;
use crate::{
    connection::ConnectionControl,
    faults::{LineFacts, StreamFault, StreamFaults},
    or_never,
    state::Subscription,
};

/// The time that a line to be overtaken waits for another one.
const REORDER_PATIENCE: Duration = Duration::from_millis(100);

/// Into how many pieces a slow stream cuts what it sends in a second.
const PIECES_PER_SECOND: u32 = 20;

type Render<E> = Box<dyn Fn(&E) -> Option<(String, LineFacts)> + Send>;

enum StreamStep {
    Send(Bytes),
    /// Lets what was sent reach the wire before the next step.
    Flush,
    End,
    Reset,
    Silence,
}

/// A subscription on its way to a client.
pub(crate) struct LineStream<E> {
    /// `None` once it has ended.
    subscription: Option<Subscription<E>>,
    render: Render<E>,
    keep_alive: Duration,
    last_sent: Instant,
    /// The time before which not even empty lines are sent.
    opens_at: Instant,
    faults: StreamFaults,
    next_line: Option<StreamFault>,
    held: Option<Bytes>,
    control: ConnectionControl,
    /// Each with its earliest time; the times never decrease.
    steps: VecDeque<(Instant, StreamStep)>,
}

impl<E: Send + 'static> LineStream<E> {
    /// Sends every event as the line that `render` makes of it.
    pub(crate) fn new(
        subscription: Subscription<E>,
        render: impl Fn(&E) -> Option<(String, LineFacts)> + Send + 'static,
        keep_alive: Duration,
        faults: StreamFaults,
        control: ConnectionControl,
    ) -> Self {
        let now = Instant::now();
        Self {
            subscription: Some(subscription),
            render: Box::new(render),
            keep_alive,
            last_sent: now,
            opens_at: now + faults.plan().first_line.unwrap_or_default(),
            faults,
            next_line: None,
            held: None,
            control,
            steps: VecDeque::new(),
        }
    }

    pub(crate) fn into_response(self) -> Response {
        let lines = stream::unfold(self, |mut lines| async move {
            let bytes = lines.next().await?;
            Some((Ok::<_, std::convert::Infallible>(bytes), lines))
        });
        ndjson(Body::from_stream(lines))
    }

    async fn next(&mut self) -> Option<Bytes> {
        loop {
            let due = self.steps.front().is_some_and(|(at, _)| *at <= Instant::now());
            match self.steps.pop_front_if(|_| due).map(|(_, step)| step) {
                Some(StreamStep::Send(bytes)) => {
                    self.last_sent = Instant::now();
                    return Some(self.trickled(bytes));
                }
                Some(StreamStep::Flush) => tokio::task::yield_now().await,
                Some(StreamStep::End) => return None,
                Some(StreamStep::Reset) => {
                    self.control.reset();
                    pending::<()>().await;
                }
                Some(StreamStep::Silence) => pending::<()>().await,
                None => self.wait().await,
            }
        }
    }

    /// Returns the part of `bytes` that goes out at once; on a slow stream the rest becomes a later
    /// step.
    fn trickled(&mut self, mut bytes: Bytes) -> Bytes {
        let Some(rate) = self.faults.plan().slow else { return bytes };
        let most = (rate.get() / PIECES_PER_SECOND).max(1);
        if bytes.len() as u64 <= u64::from(most) {
            return bytes;
        }
        let rest = bytes.split_off(most as usize);
        let due = Instant::now() + Duration::from_secs_f64(f64::from(most) / f64::from(rate.get()));
        // Further steps are due when their turn comes.
        self.steps.push_front((due, StreamStep::Send(rest)));
        bytes
    }

    /// Waits until a step is due, or there are new ones.
    async fn wait(&mut self) {
        let idle = if self.held.is_some() { REORDER_PATIENCE } else { self.keep_alive };
        let quiet_until = (self.last_sent + idle).max(self.opens_at);
        let next_step = self.steps.front().map(|(at, _)| *at);
        let event = self.subscription.as_mut().map(Subscription::next);
        tokio::select! {
            biased;
            fault = self.faults.next() => self.apply(fault, None),
            event = or_never(event) => match event {
                Some(event) => {
                    if let Some((text, facts)) = (self.render)(&event) {
                        self.send(text, facts);
                    }
                }
                None => {
                    self.subscription = None;
                    self.release_held();
                    self.push(StreamStep::End);
                }
            },
            () = tokio::time::sleep_until(next_step.unwrap_or(quiet_until)) => {
                if next_step.is_some() {
                    return;
                }
                if self.held.is_some() {
                    self.release_held();
                } else {
                    self.push(StreamStep::Send(Bytes::from_static(b"\n")));
                }
            }
        }
    }

    fn push(&mut self, step: StreamStep) {
        self.push_after(Duration::ZERO, step);
    }

    /// Adds a step that is due after `delay`, and not before those that are planned already.
    fn push_after(&mut self, delay: Duration, step: StreamStep) {
        let last = self.steps.back().map_or(self.opens_at, |(at, _)| *at);
        self.steps.push_back(((Instant::now() + delay).max(last), step));
    }

    fn send(&mut self, mut text: String, facts: LineFacts) {
        let fault = self.next_line.take().or_else(|| self.faults.on_line(facts));
        text.push('\n');
        let bytes = Bytes::from(text);
        match fault {
            Some(fault) => self.apply(fault, Some(bytes)),
            None => self.push(StreamStep::Send(bytes)),
        }
        if fault != Some(StreamFault::Reorder) {
            self.release_held();
        }
    }

    fn release_held(&mut self) {
        if let Some(held) = self.held.take() {
            self.push(StreamStep::Send(held));
        }
    }

    fn apply(&mut self, fault: StreamFault, line: Option<Bytes>) {
        let half = match &line {
            Some(line) => line.slice(..line.len() / 2),
            None => Bytes::from_static(b"{\"type\":\"gameSta"),
        };
        if fault.ends_the_stream() && line.is_none() {
            // The fault strikes at once and drops everything still queued.
            self.steps.clear();
            self.opens_at = Instant::now();
        }
        if matches!(fault, StreamFault::CutMidLine | StreamFault::AbortMidLine) {
            self.push(StreamStep::Send(half));
            self.push(StreamStep::Flush);
        }
        match (fault, line) {
            (StreamFault::CleanEnd | StreamFault::CutMidLine, _) => self.push(StreamStep::End),
            (StreamFault::Abort | StreamFault::AbortMidLine, _) => self.push(StreamStep::Reset),
            (StreamFault::Silence, _) => self.push(StreamStep::Silence),
            (StreamFault::Duplicate, Some(line)) => {
                self.push(StreamStep::Send(line.clone()));
                self.push(StreamStep::Send(line));
            }
            (StreamFault::Late(time), Some(line)) => self.push_after(time, StreamStep::Send(line)),
            (StreamFault::Drop, Some(_)) => {}
            (StreamFault::Reorder, Some(line)) => {
                self.release_held();
                self.held = Some(line);
                self.last_sent = Instant::now();
            }
            (_, None) => self.next_line = Some(fault),
        }
    }
}
