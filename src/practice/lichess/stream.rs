//! Streams of lines, with empty ones in between to show that the connection lives, and the faults they suffer.

use std::{collections::VecDeque, future::pending, time::Duration};

use axum::{
    body::{Body, Bytes},
    http::header,
    response::{IntoResponse, Response},
};
use futures_util::stream;
use tokio::time::Instant;

use crate::{
    connection::ConnectionControl,
    faults::{StreamFault, StreamFaults},
    hub::Subscription,
};

/// How long a line that is to be overtaken waits for another one.
const REORDER_PATIENCE: Duration = Duration::from_millis(100);

/// A line to send.
pub struct Line {
    /// Without its end.
    pub text: String,
    /// How many plies it shows, if it is about a game.
    pub ply: Option<usize>,
}

/// Writes an event as a line.
type Render<E> = Box<dyn Fn(&E) -> Option<Line> + Send>;

/// What the connection is to do next.
enum Step {
    Send(Bytes),
    /// Lets what was sent reach the wire before the next step.
    Flush,
    End,
    Reset,
    Silence,
}

/// A subscription on its way to a client.
pub struct LineStream<E> {
    subscription: Subscription<E>,
    render: Render<E>,
    keep_alive: Duration,
    last_sent: Instant,
    faults: StreamFaults,
    next_line: Option<StreamFault>,
    held: Option<Bytes>,
    control: ConnectionControl,
    steps: VecDeque<Step>,
}

impl<E: Send + 'static> LineStream<E> {
    /// Sends every event as the line that `render` makes of it.
    pub fn new(
        subscription: Subscription<E>,
        render: impl Fn(&E) -> Option<Line> + Send + 'static,
        keep_alive: Duration,
        faults: StreamFaults,
        control: ConnectionControl,
    ) -> Self {
        Self {
            subscription,
            render: Box::new(render),
            keep_alive,
            last_sent: Instant::now(),
            faults,
            next_line: None,
            held: None,
            control,
            steps: VecDeque::new(),
        }
    }

    /// As the answer to a request.
    pub fn into_response(self) -> Response {
        let lines = stream::unfold(self, |mut lines| async move {
            let bytes = lines.next().await?;
            Some((Ok::<_, std::convert::Infallible>(bytes), lines))
        });
        ([(header::CONTENT_TYPE, "application/x-ndjson")], Body::from_stream(lines)).into_response()
    }

    async fn next(&mut self) -> Option<Bytes> {
        loop {
            match self.steps.pop_front() {
                Some(Step::Send(bytes)) => {
                    self.last_sent = Instant::now();
                    return Some(bytes);
                }
                Some(Step::Flush) => tokio::task::yield_now().await,
                Some(Step::End) => return None,
                Some(Step::Reset) => {
                    self.control.reset();
                    pending::<()>().await;
                }
                Some(Step::Silence) => pending::<()>().await,
                None => self.plan_next_steps().await,
            }
        }
    }

    async fn plan_next_steps(&mut self) {
        let idle = if self.held.is_some() { REORDER_PATIENCE } else { self.keep_alive };
        tokio::select! {
            biased;
            fault = self.faults.next() => self.strike(fault, None),
            event = self.subscription.next() => match event {
                Some(event) => {
                    if let Some(line) = (self.render)(&event) {
                        self.send(line);
                    }
                }
                None => {
                    self.release_held();
                    self.steps.push_back(Step::End);
                }
            },
            () = tokio::time::sleep_until(self.last_sent + idle) => {
                if self.held.is_some() {
                    self.release_held();
                } else {
                    self.steps.push_back(Step::Send(Bytes::from_static(b"\n")));
                }
            }
        }
    }

    fn send(&mut self, line: Line) {
        let fault = self.next_line.take().or_else(|| self.faults.on_line(line.ply));
        let mut text = line.text;
        text.push('\n');
        let bytes = Bytes::from(text);
        match fault {
            Some(fault) => self.strike(fault, Some(bytes)),
            None => self.steps.push_back(Step::Send(bytes)),
        }
        if fault != Some(StreamFault::Reorder) {
            self.release_held();
        }
    }

    fn release_held(&mut self) {
        self.steps.extend(self.held.take().map(Step::Send));
    }

    fn strike(&mut self, fault: StreamFault, line: Option<Bytes>) {
        let half = || match &line {
            Some(line) => line.slice(..line.len() / 2),
            None => Bytes::from_static(b"{\"type\":\"gameSta"),
        };
        match (fault, &line) {
            (StreamFault::CleanEnd, _) => self.steps.push_back(Step::End),
            (StreamFault::CutMidLine, _) => self.steps.extend([Step::Send(half()), Step::Flush, Step::End]),
            (StreamFault::Abort, _) => self.steps.push_back(Step::Reset),
            (StreamFault::AbortMidLine, _) => self.steps.extend([Step::Send(half()), Step::Flush, Step::Reset]),
            (StreamFault::Silence, _) => self.steps.push_back(Step::Silence),
            (StreamFault::Duplicate, Some(line)) => {
                self.steps.extend([Step::Send(line.clone()), Step::Send(line.clone())]);
            }
            (StreamFault::Reorder, Some(line)) => {
                self.release_held();
                self.held = Some(line.clone());
                self.last_sent = Instant::now();
            }
            (StreamFault::Drop, Some(_)) => {}
            (StreamFault::Duplicate | StreamFault::Reorder | StreamFault::Drop, None) => self.next_line = Some(fault),
        }
    }
}
