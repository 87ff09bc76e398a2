//! An open stream of lines, watched for silence.

use std::{
    collections::VecDeque,
    time::{Duration, Instant},
};

use reqwest::Response;

use tokio::time::timeout_at;

use super::{
    http::{self, Http},
    ndjson::{LineReader, LineTooLong},
};
use domain::ActionError;

pub(super) struct Stream {
    response: Response,
    reader: LineReader,
    lines: VecDeque<Result<String, LineTooLong>>,
    received: Instant,
    /// The time of the last bytes of a line, without blank keep-alive lines.
    pub progress: Instant,
    /// The longest silence of the open stream.
    pub patience: Duration,
    opened: Instant,
    is_over: bool,
}

/// The duration after which the loss of a stream is a new failure, not the last one again.
const GOOD: Duration = Duration::from_secs(1);

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum StreamEnd {
    #[error("the server closed the stream")]
    Closed,
    /// Not even a keep-alive line came in time: the connection is dead without notice.
    #[error("the stream was silent for {} s", .0.as_secs_f32())]
    Silent(Duration),
    #[error("the stream broke: {0}")]
    Broken(String),
}

impl Stream {
    /// Opens the stream at `path` within `patience`; silence of that length ends it afterwards.
    pub(super) async fn open(http: &Http, path: &[&str], patience: Duration) -> Result<Self, ActionError> {
        let response = http.open(path, patience).await?;
        let now = Instant::now();
        Ok(Self {
            response,
            reader: LineReader::default(),
            lines: VecDeque::new(),
            received: now,
            progress: now,
            patience,
            opened: now,
            is_over: false,
        })
    }

    /// Returns true if it was open long enough for an immediate reconnection.
    pub(super) fn was_good(&self) -> bool {
        self.opened.elapsed() >= GOOD
    }

    /// The next line, unless it was too long, and the arrival of its last bytes. Nothing is lost if the future is dropped.
    pub(super) async fn next(&mut self) -> Result<(Result<String, LineTooLong>, Instant), StreamEnd> {
        loop {
            if let Some(text) = self.lines.pop_front() {
                return Ok((text, self.received));
            }
            if self.is_over {
                return Err(StreamEnd::Closed);
            }
            let silent_at = self.received + self.patience;
            match timeout_at(silent_at.into(), self.response.chunk()).await {
                Ok(Ok(Some(bytes))) => {
                    self.received = Instant::now();
                    if !bytes.trim_ascii().is_empty() {
                        self.progress = self.received;
                    }
                    self.lines.extend(self.reader.feed(&bytes));
                }
                Ok(Ok(None)) => {
                    self.is_over = true;
                    self.lines.extend(std::mem::take(&mut self.reader).finish().map(Ok));
                }
                Ok(Err(error)) => return Err(StreamEnd::Broken(http::chain(&error))),
                Err(_) => return Err(StreamEnd::Silent(self.patience)),
            }
        }
    }
}
