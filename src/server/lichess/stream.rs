//! An open stream of lines, watched for silence.

use std::{
    collections::VecDeque,
    time::{Duration, Instant},
};

use reqwest::Response;

use super::{
    http::{self, Http},
    ndjson::{LineReader, LineTooLong},
};
use chess::ActionError;

/// A stream that the server keeps open.
pub struct Stream {
    response: Response,
    reader: LineReader,
    lines: VecDeque<Result<String, LineTooLong>>,
    received: Instant,
    idle_timeout: Duration,
    opened: Instant,
    is_over: bool,
}

/// A stream that held for so long was a good one: its loss is a new misfortune, not the last one again.
const GOOD: Duration = Duration::from_secs(1);

/// What a stream brings.
pub struct Line {
    /// The line, unless it was too long.
    pub text: Result<String, LineTooLong>,
    /// When its last bytes arrived.
    pub received: Instant,
}

/// Why a stream is over.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StreamEnd {
    /// The server closed it in good order.
    #[error("the server closed the stream")]
    Closed,
    /// Not even a keep-alive line came in time: the connection is dead, though nobody said so.
    #[error("the stream was silent for {} s", .0.as_secs_f32())]
    Silent(Duration),
    /// The connection broke.
    #[error("the stream broke: {0}")]
    Broken(String),
}

impl Stream {
    /// Opens the stream at `path`.
    ///
    /// # Errors
    /// As the server answers.
    pub async fn open(http: &Http, path: &[&str]) -> Result<Self, ActionError> {
        let response = http.open(path).await?;
        Ok(Self {
            response,
            reader: LineReader::default(),
            lines: VecDeque::new(),
            received: Instant::now(),
            idle_timeout: http.idle_timeout(),
            opened: Instant::now(),
            is_over: false,
        })
    }

    /// Whether it has been open long enough for its loss to be answered at once by another one.
    pub fn was_good(&self) -> bool {
        self.opened.elapsed() >= GOOD
    }

    /// The next line. Nothing is lost if the future is dropped.
    ///
    /// # Errors
    /// When the stream is over.
    pub async fn next(&mut self) -> Result<Line, StreamEnd> {
        loop {
            if let Some(text) = self.lines.pop_front() {
                return Ok(Line { text, received: self.received });
            }
            if self.is_over {
                return Err(StreamEnd::Closed);
            }
            match tokio::time::timeout(self.idle_timeout, self.response.chunk()).await {
                Ok(Ok(Some(bytes))) => {
                    self.received = Instant::now();
                    self.lines.extend(self.reader.feed(&bytes));
                }
                Ok(Ok(None)) => {
                    self.is_over = true;
                    self.lines.extend(std::mem::take(&mut self.reader).finish().map(Ok));
                }
                Ok(Err(error)) => return Err(StreamEnd::Broken(http::chain(&error))),
                Err(_) => return Err(StreamEnd::Silent(self.idle_timeout)),
            }
        }
    }
}
