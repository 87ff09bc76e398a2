//! One connection: a socket with its codec.

use std::{io, time::Duration};

use bytes::BytesMut;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    time::{Instant, timeout},
};
use util::timeseal::Version;

use super::{
    codec::{ServerFrame, TelnetCodec},
    settings::Password,
};

/// A server that hangs up because of our first word does so within this time.
const FIRST_WORD: Duration = Duration::from_secs(5);

/// Timeout for sending a line. A longer wait means that the other end does not read.
const WRITE: Duration = Duration::from_secs(10);

pub(super) struct TelnetLink {
    stream: TcpStream,
    codec: TelnetCodec,
    read: BytesMut,
    opened: Instant,
    pub heard: Instant,
    pub spoke: Instant,
}

impl TelnetLink {
    /// Connects within `patience`, and says the first word of timeseal if it is to be used.
    pub(super) async fn open(host: &str, port: u16, seal: Option<Version>, patience: Duration) -> io::Result<Self> {
        let stream =
            timeout(patience, TcpStream::connect((host, port))).await.map_err(|_| io::ErrorKind::TimedOut)??;
        stream.set_nodelay(true)?;
        let codec = if seal.is_some() { TelnetCodec::sealed() } else { TelnetCodec::plain() };
        let now = Instant::now();
        let mut link = Self { stream, codec, read: BytesMut::with_capacity(8192), opened: now, heard: now, spoke: now };
        if let Some(version) = seal {
            let hello = link.codec.line(&version.hello());
            link.write(&hello).await?;
        }
        Ok(link)
    }

    pub(super) fn is_young(&self) -> bool {
        self.opened.elapsed() < FIRST_WORD
    }

    /// The next frame. Nothing is lost when this is dropped while it waits.
    pub(super) async fn frame(&mut self) -> io::Result<ServerFrame> {
        loop {
            if let Some(frame) = self.codec.decode(&mut self.read) {
                return Ok(frame);
            }
            if self.stream.read_buf(&mut self.read).await? == 0 {
                let closed = || io::Error::new(io::ErrorKind::UnexpectedEof, "the server closed the connection");
                return self.codec.decode_eof(&mut self.read).ok_or_else(closed);
            }
            self.heard = Instant::now();
        }
    }

    /// Sends a command. Must not be dropped half-way.
    pub(super) async fn send(&mut self, line: &str) -> io::Result<()> {
        tracing::trace!(line, "sent");
        self.spoke = Instant::now();
        let line = self.codec.line(line);
        self.write(&line).await
    }

    /// Lets the server do what it may have left lying. Must not be dropped half-way.
    pub(super) async fn nudge(&mut self) -> io::Result<()> {
        self.write(self.codec.nudge()).await
    }

    /// Sends the password, and does not log it.
    pub(super) async fn send_password(&mut self, password: &Password) -> io::Result<()> {
        let line = self.codec.line(password.reveal());
        self.write(&line).await
    }

    pub(super) async fn pong(&mut self) -> io::Result<()> {
        let pong = self.codec.pong();
        self.write(&pong).await
    }

    async fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        let unread = |_| io::Error::new(io::ErrorKind::TimedOut, "the server does not read commands");
        timeout(WRITE, self.stream.write_all(bytes)).await.map_err(unread)?
    }
}
