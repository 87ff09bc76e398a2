//! TCP connections that can be cut from the inside, and a listener that can be restarted, for both
//! protocols.

use std::{
    io,
    net::SocketAddr,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    task::{Context, Poll},
    time::Duration,
};

use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    net::{TcpListener, TcpStream},
    sync::{mpsc, oneshot},
    time::Instant,
};
use tokio_util::sync::{CancellationToken, WaitForCancellationFutureOwned};

use crate::{faults::FaultInjector, or_never};

/// The duration of a restart by plan.
const DOWNTIME: Duration = Duration::from_millis(500);

#[derive(Clone)]
pub(crate) struct ConnectionControl {
    cut: CancellationToken,
    reset: Arc<AtomicBool>,
}

impl ConnectionControl {
    /// Tears the connection down with a TCP reset.
    pub(crate) fn reset(&self) {
        self.reset.store(true, Ordering::Relaxed);
        self.cut.cancel();
    }
}

pub(crate) struct ClientConnection {
    stream: TcpStream,
    pub(crate) control: ConnectionControl,
    is_cut: Pin<Box<WaitForCancellationFutureOwned>>,
}

impl ClientConnection {
    fn new(stream: TcpStream, cut: CancellationToken) -> Self {
        let is_cut = Box::pin(cut.clone().cancelled_owned());
        Self { stream, control: ConnectionControl { cut, reset: Arc::new(AtomicBool::new(false)) }, is_cut }
    }

    fn must_stand(&mut self, context: &mut Context<'_>) -> io::Result<()> {
        if self.is_cut.as_mut().poll(context).is_pending() {
            return Ok(());
        }
        if self.control.reset.load(Ordering::Relaxed) {
            let _ = self.stream.set_zero_linger();
        }
        Err(io::ErrorKind::ConnectionAborted.into())
    }
}

impl AsyncRead for ClientConnection {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        self.must_stand(context)?;
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl AsyncWrite for ClientConnection {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        self.must_stand(context)?;
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.must_stand(context)?;
        Pin::new(&mut self.stream).poll_write_vectored(context, slices)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.must_stand(context)?;
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

/// An order to restart: its duration, and a signal for its end.
pub(crate) type Restart = (Duration, oneshot::Sender<()>);

/// Accepts connections until it is told to restart: then all of them drop, and for a while
/// connecting fails.
pub(crate) struct PracticeListener {
    socket: TcpListener,
    pub(crate) address: SocketAddr,
    restarts: mpsc::UnboundedReceiver<Restart>,
    faults: FaultInjector,
    stop: CancellationToken,
    generation: CancellationToken,
    up_since: Instant,
}

impl PracticeListener {
    /// Listens on `address`; all connections drop when `stop` is cancelled. Returns the sender of orders to restart as well.
    pub(crate) async fn bind(
        address: SocketAddr,
        faults: FaultInjector,
        stop: CancellationToken,
    ) -> io::Result<(Self, mpsc::UnboundedSender<Restart>)> {
        let socket = TcpListener::bind(address).await?;
        let address = socket.local_addr()?;
        let (restart, restarts) = mpsc::unbounded_channel();
        let generation = stop.child_token();
        Ok((Self { socket, address, restarts, faults, stop, generation, up_since: Instant::now() }, restart))
    }

    async fn restart(&mut self, downtime: Duration) {
        tracing::info!(?downtime, "the practice server restarts");
        self.generation.cancel();
        self.generation = self.stop.child_token();
        // Swapping in a listener on another port closes the old one, so that connecting fails as it
        // does without a server.
        let Ok(elsewhere) = TcpListener::bind((self.address.ip(), 0)).await else { return };
        self.socket = elsewhere;
        tokio::time::sleep(downtime).await;
        loop {
            match TcpListener::bind(self.address).await {
                Ok(socket) => {
                    self.socket = socket;
                    self.up_since = Instant::now();
                    return;
                }
                Err(error) => {
                    tracing::warn!(address = %self.address, %error, "cannot listen again yet");
                    tokio::time::sleep(Duration::from_millis(100)).await;
                }
            }
        }
    }

    /// The next connection; restarts happen in here.
    pub(crate) async fn accept(&mut self) -> (ClientConnection, SocketAddr) {
        loop {
            let planned = self.faults.plan().restart.map(|period| tokio::time::sleep_until(self.up_since + period));
            tokio::select! {
                Some((downtime, done)) = self.restarts.recv() => {
                    self.restart(downtime).await;
                    let _ = done.send(());
                }
                () = or_never(planned) => self.restart(DOWNTIME).await,
                accepted = self.socket.accept() => match accepted {
                    Ok((stream, peer)) => {
                        // Every line goes out at once: clients measure latency here.
                        let _ = stream.set_nodelay(true);
                        return (ClientConnection::new(stream, self.generation.child_token()), peer);
                    }
                    Err(error) => {
                        tracing::debug!(%error, "a connection failed before it began");
                        tokio::time::sleep(Duration::from_millis(10)).await;
                    }
                },
            }
        }
    }
}
