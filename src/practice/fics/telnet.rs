//! One connection as lines: telnet's marks and timeseal's wrapping are removed from the input, and
//! the output suffers the faults of the plan.

use std::{collections::VecDeque, future::pending, io, time::Duration};

use bytes::{Buf, BytesMut};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    time::{Instant, sleep_until, timeout},
};

use crate::{
    connection::ClientConnection,
    dialect::Dialect,
    faults::{FaultInjector, LineFacts, StreamFault, StreamFaults},
    or_never,
};
use util::timeseal::{self, Version};

/// The time a client may take to read.
const WRITE: Duration = Duration::from_secs(10);
/// Into how many pieces a slow connection cuts what it sends in a second.
const PIECES_PER_SECOND: u32 = 20;
const LONGEST: usize = 1023;
/// Telnet's "interpret as command", and the first of the commands that name an option.
const IAC: u8 = 0xff;
const FIRST_WITH_OPTION: u8 = 251;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Incoming {
    Line(String),
    /// The answer to a ping of timeseal's.
    Pong,
    TooLong,
    Fault(StreamFault),
    /// Something that is sent late is due.
    Due,
}

pub(crate) struct TelnetConnection {
    connection: ClientConnection,
    read: BytesMut,
    skipping: bool,
    first_line: bool,
    /// The version of timeseal that the client speaks.
    pub seal: Option<Version>,
    /// True if a line may be taken from the input: with one command at a time, not before more
    /// arrives.
    ready: bool,
    /// Pings that the client has not answered yet.
    pub pings: u32,
    injector: FaultInjector,
    /// Set after the login.
    pub faults: Option<StreamFaults>,
    silent: bool,
    next_block: Option<StreamFault>,
    held: Option<String>,
    /// Late output, and the output behind it, each with its earliest time. The times never
    /// decrease.
    late: VecDeque<(Instant, Vec<u8>)>,
    gathered: Option<Vec<u8>>,
}

impl TelnetConnection {
    pub(crate) fn new(connection: ClientConnection, injector: FaultInjector) -> Self {
        Self {
            connection,
            read: BytesMut::with_capacity(1024),
            skipping: false,
            first_line: true,
            seal: None,
            ready: true,
            pings: 0,
            injector,
            faults: None,
            silent: false,
            next_block: None,
            held: None,
            late: VecDeque::new(),
            gathered: None,
        }
    }

    /// The next thing that comes. Nothing is lost when this is dropped while it waits.
    pub(crate) async fn next(&mut self) -> io::Result<Incoming> {
        loop {
            if self.silent {
                pending::<()>().await;
            }
            if self.ready
                && let Some(input) = self.next_line()?
            {
                self.ready = self.faults.is_none() || self.injector.plan().dialect != Dialect::Uhlin;
                return Ok(input);
            }
            let Self { connection, read, faults, late, .. } = self;
            tokio::select! {
                biased;
                fault = or_never(faults.as_mut().map(StreamFaults::next)) => return Ok(Incoming::Fault(fault)),
                () = or_never(late.front().map(|(at, _)| sleep_until(*at))) => return Ok(Incoming::Due),
                read = connection.read_buf(read) => if read? == 0 {
                    return Err(io::ErrorKind::UnexpectedEof.into());
                },
            }
            self.ready = true;
        }
    }

    fn next_line(&mut self) -> io::Result<Option<Incoming>> {
        let Some(end) = self.read.iter().position(|byte| *byte == b'\n') else {
            if self.read.len() > LONGEST {
                self.read.clear();
                self.skipping = true;
            }
            return Ok(None);
        };
        let line = self.read.split_to(end);
        self.read.advance(1);
        if std::mem::take(&mut self.skipping) || line.len() > LONGEST {
            return Ok(Some(Incoming::TooLong));
        }
        if std::mem::take(&mut self.first_line)
            && let Ok((hello, _)) = timeseal::open(&line)
        {
            let Some(version) = Version::of_hello(&hello) else {
                return Err(io::Error::new(io::ErrorKind::InvalidData, "unknown timeseal version"));
            };
            if self.injector.plan().dialect.has_timeseal(if version == Version::One { 1 } else { 2 }) {
                self.seal = Some(version);
                // The name may have come along with it.
                return self.next_line();
            }
        }
        if self.seal.is_none() {
            return Ok(Some(Incoming::Line(without_telnet(&line))));
        }
        let (line, _) = timeseal::open(&line).map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))?;
        if line == timeseal::PONG {
            self.pings = self.pings.saturating_sub(1);
            return Ok(Some(Incoming::Pong));
        }
        Ok(Some(Incoming::Line(without_telnet(&line))))
    }

    /// Gathers output until [`release`](Self::release): a board must not arrive before its timeseal
    /// question, or a fast player would move before answering.
    pub(crate) fn gather(&mut self) {
        self.gathered = Some(Vec::new());
    }

    /// Sends the gathered output.
    pub(crate) async fn release(&mut self) -> io::Result<()> {
        let gathered = self.gathered.take().unwrap_or_default();
        self.write_at_its_rate(&gathered).await
    }

    /// Sends bytes behind late output, without faults.
    pub(crate) async fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        if self.silent {
            return Ok(());
        }
        if !self.late.is_empty() {
            self.write_late(Duration::ZERO, bytes);
            return Ok(());
        }
        if let Some(gathered) = &mut self.gathered {
            gathered.extend_from_slice(bytes);
            return Ok(());
        }
        self.write_at_its_rate(bytes).await
    }

    /// Lets bytes be sent after this time, and not before what is late already.
    fn write_late(&mut self, after: Duration, bytes: &[u8]) {
        let at = Instant::now() + after;
        let at = self.late.back().map_or(at, |(last, _)| at.max(*last));
        self.late.push_back((at, bytes.to_vec()));
    }

    /// Sends late output that is due.
    pub(crate) async fn send_due(&mut self) -> io::Result<()> {
        while let Some((_, bytes)) = self.late.pop_front_if(|(at, _)| *at <= Instant::now()) {
            self.write_at_its_rate(&bytes).await?;
        }
        Ok(())
    }

    /// Sends all late output, each at its time.
    pub(crate) async fn finish(&mut self) -> io::Result<()> {
        while let Some((at, bytes)) = self.late.pop_front() {
            sleep_until(at).await;
            self.write_at_its_rate(&bytes).await?;
        }
        Ok(())
    }

    async fn write_at_its_rate(&mut self, bytes: &[u8]) -> io::Result<()> {
        let Some(rate) = self.injector.plan().slow else { return self.write_now(bytes).await };
        for piece in bytes.chunks((rate.get() / PIECES_PER_SECOND).max(1) as usize) {
            self.write_now(piece).await?;
            tokio::time::sleep(Duration::from_secs_f64(piece.len() as f64 / f64::from(rate.get()))).await;
        }
        Ok(())
    }

    async fn write_now(&mut self, bytes: &[u8]) -> io::Result<()> {
        timeout(WRITE, self.connection.write_all(bytes)).await.map_err(|_| io::Error::from(io::ErrorKind::TimedOut))?
    }

    pub(crate) async fn ping(&mut self) -> io::Result<()> {
        if self.silent {
            return Ok(());
        }
        let ping: &[u8] = match self.seal {
            None => return Ok(()),
            Some(Version::One) => b"\n\r[G]\n\r",
            Some(Version::Two) => b"[G]\0",
        };
        self.pings += 1;
        self.write(ping).await
    }

    /// Sends a piece of text, whole lines that belong together; `facts` are what faults go by. Fails when the
    /// connection is over, the client does not read, or a fault ends it.
    pub(crate) async fn send(&mut self, block: &str, facts: LineFacts) -> io::Result<()> {
        let struck = self.next_block.take().or_else(|| self.faults.as_mut().and_then(|faults| faults.on_line(facts)));
        match struck {
            None => self.write(block.as_bytes()).await?,
            Some(StreamFault::Reorder) => {
                if let Some(held) = self.held.replace(block.to_owned()) {
                    self.write(held.as_bytes()).await?;
                }
                return Ok(());
            }
            Some(fault) => self.apply(fault, Some(block)).await?,
        }
        match self.held.take() {
            Some(held) => self.write(held.as_bytes()).await,
            None => Ok(()),
        }
    }

    pub(crate) async fn apply(&mut self, fault: StreamFault, block: Option<&str>) -> io::Result<()> {
        if fault.ends_the_stream() {
            // The fault strikes at once and drops everything still queued.
            self.late.clear();
            self.release().await?;
        }
        if matches!(fault, StreamFault::CutMidLine | StreamFault::AbortMidLine) {
            let half = block.map_or("\n\r<12> rnbqkb", |block| &block[..block.floor_char_boundary(block.len() / 2)]);
            self.write(half.as_bytes()).await?;
        }
        if matches!(fault, StreamFault::Abort | StreamFault::AbortMidLine) {
            self.reset();
        }
        match (fault, block) {
            (StreamFault::Silence, _) => self.silent = true,
            _ if fault.ends_the_stream() => {
                return Err(io::Error::new(io::ErrorKind::ConnectionAborted, "cut by the plan"));
            }
            (StreamFault::Duplicate, Some(block)) => self.write(block.repeat(2).as_bytes()).await?,
            (StreamFault::Late(time), Some(block)) if !self.silent => self.write_late(time, block.as_bytes()),
            (StreamFault::Drop | StreamFault::Late(_), Some(_)) => {}
            // It strikes the next block.
            _ => self.next_block = Some(fault),
        }
        Ok(())
    }

    pub(crate) fn reset(&self) {
        self.connection.control.reset();
    }
}

/// A line without telnet's commands, carriage returns and anything else that is not text.
fn without_telnet(line: &[u8]) -> String {
    let mut text = String::with_capacity(line.len());
    let mut bytes = line.iter().copied();
    while let Some(byte) = bytes.next() {
        match byte {
            IAC => {
                let command = bytes.next().unwrap_or(IAC);
                let _option = (FIRST_WITH_OPTION..IAC).contains(&command).then(|| bytes.next());
            }
            b' '..=b'~' => text.push(char::from(byte)),
            _ => {}
        }
    }
    text.trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn telnet_is_not_part_of_a_line() {
        assert_eq!(without_telnet(b"\xff\xfd\x03gue\xff\xf1st\r"), "guest");
        assert_eq!(without_telnet(b"\xff\xff"), "");
        assert_eq!(without_telnet(b"tell ann gr\xc3\xbc\xc3\x9fe\x07"), "tell ann gre");
    }
}
