//! A connection from its banner to its end: what comes in is obeyed, what happens is shown.

use std::{io, sync::Arc};

use tokio::{sync::mpsc, time::Interval};

use super::{
    FicsContext, commands,
    lobby::Notice,
    login,
    session::VisitorSession,
    telnet::{Incoming, TelnetConnection},
};
use crate::{
    connection::ClientConnection,
    faults::{RequestFault, Streams},
    or_never,
};

pub(crate) async fn visit(context: Arc<FicsContext>, connection: ClientConnection) {
    tokio::time::sleep(context.faults.plan().open.unwrap_or_default()).await;
    let mut telnet = TelnetConnection::new(connection, context.faults.clone());
    let ended = match login::enter(&context, &mut telnet).await {
        Ok(Some((visitor, bits))) => {
            let (mut session, notices, displaced) = VisitorSession::new(context, visitor, bits.as_deref(), telnet);
            let ended = session.attend(notices, displaced).await;
            session.leave().await;
            ended
        }
        Ok(None) => Ok(()),
        Err(error) => Err(error),
    };
    if let Err(error) = ended {
        tracing::debug!(%error, "a FICS connection is lost");
    }
}

impl VisitorSession {
    async fn attend(&mut self, mut notices: mpsc::UnboundedReceiver<Notice>, displaced: bool) -> io::Result<()> {
        let mut events = self.enter(displaced).await?;
        self.telnet.faults = Some(self.context.faults.open_stream(Streams::Events(self.me.name.clone())));
        while !self.leaving {
            tokio::select! {
                biased;
                // Events of a board come before messages about it.
                event = or_never(self.playing.as_mut().map(|board| board.events.next())) => self.at_board(event),
                event = or_never(self.watching.as_mut().map(|board| board.events.next())) => self.at_watched_board(event),
                Some(event) = events.next() => self.account_event(event).await?,
                Some(notice) = notices.recv() => self.notice(notice).await?,
                incoming = self.telnet.next() => match incoming? {
                    Incoming::Fault(fault) => self.telnet.apply(fault, None).await?,
                    Incoming::Due => self.telnet.send_due().await?,
                    Incoming::Pong => {}
                    Incoming::TooLong => {
                        self.line("Command ignored: line too long.");
                        self.flush(false).await?;
                    }
                    Incoming::Line(line) => {
                        let fault = self.context.faults.on_request(commands::kind_of(&line));
                        self.obey(&line, fault).await?;
                    }
                },
                _ = or_never(self.noise.as_mut().map(Interval::tick)) => self.make_noise().await?,
            }
            self.flush(true).await?;
        }
        self.telnet.finish().await
    }

    /// Executes a line with its fault. HTTP statuses do not apply here.
    async fn obey(&mut self, line: &str, fault: Option<RequestFault>) -> io::Result<()> {
        match fault {
            Some(RequestFault::Ignore) => return Ok(()),
            Some(RequestFault::Delay(time) | RequestFault::DelayAnswer(time)) => tokio::time::sleep(time).await,
            Some(RequestFault::LoseRequest) => {
                self.telnet.reset();
                return Err(io::ErrorKind::ConnectionReset.into());
            }
            Some(RequestFault::LoseAnswer) => {
                self.command(line).await?;
                self.telnet.reset();
                return Err(io::ErrorKind::ConnectionReset.into());
            }
            Some(RequestFault::Answer(_)) | None => {}
        }
        self.command(line).await?;
        self.flush(false).await
    }
}
