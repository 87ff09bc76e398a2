//! A way to the server that is long, narrow, or can be cut (what is sent meanwhile is held back, as on a cable that was pulled), and whose
//! connections can break.

use std::{net::SocketAddr, time::Duration};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    sync::{mpsc, watch},
    time::{Instant, sleep_until},
};

pub(super) struct Proxy {
    address: SocketAddr,
    open: watch::Sender<bool>,
    /// Counts broken connections.
    breaks: watch::Sender<u32>,
}

impl Proxy {
    pub(super) async fn to(port: u16) -> Self {
        Self::long(port, Duration::ZERO).await
    }

    /// Starts a proxy that delays each direction by `delay`.
    pub(super) async fn long(port: u16, delay: Duration) -> Self {
        Self::over(port, delay, Duration::ZERO).await
    }

    /// Starts a proxy that carries `bits` bits a second each way.
    pub(super) async fn narrow(port: u16, delay: Duration, bits: u32) -> Self {
        Self::over(port, delay, Duration::from_secs(8) / bits).await
    }

    /// Delays each direction by `delay`, and by `by_byte` for each byte.
    async fn over(port: u16, delay: Duration, by_byte: Duration) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.expect("a free port");
        let address = listener.local_addr().expect("an address");
        let (open, state) = watch::channel(true);
        let (breaks, broken) = watch::channel(0);
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                let (state, mut broken) = (state.clone(), broken.clone());
                broken.mark_unchanged();
                tokio::spawn(async move {
                    let Ok(server) = TcpStream::connect(("127.0.0.1", port)).await else { return };
                    let ((from_client, to_client), (from_server, to_server)) =
                        (client.into_split(), server.into_split());
                    let to_server = pass(from_client, to_server, delay, by_byte, state.clone());
                    let to_client = pass(from_server, to_client, delay, by_byte, state);
                    let both = async { tokio::join!(to_server, to_client) };
                    tokio::select! {
                        _ = both => {}
                        _ = broken.changed() => {}
                    }
                });
            }
        });
        Self { address, open, breaks }
    }

    pub(super) fn url(&self) -> String {
        format!("nats://{}", self.address)
    }

    pub(super) fn cut(&self) {
        self.open.send_replace(false);
    }

    pub(super) fn mend(&self) {
        self.open.send_replace(true);
    }

    /// All connections end; new ones can be made.
    pub(super) fn breaks(&self) {
        self.breaks.send_modify(|breaks| *breaks += 1);
    }
}

async fn pass(
    mut from: impl AsyncReadExt + Unpin,
    mut to: impl AsyncWriteExt + Unpin,
    delay: Duration,
    by_byte: Duration,
    mut open: watch::Receiver<bool>,
) {
    let (sent, mut under_way) = mpsc::unbounded_channel::<(Instant, Vec<u8>)>();
    let sends = async move {
        let (mut buffer, mut free) = (vec![0; 64 << 10], Instant::now());
        while let Ok(read @ 1..) = from.read(&mut buffer).await {
            free = free.max(Instant::now()) + by_byte * u32::try_from(read).unwrap_or(u32::MAX);
            if sent.send((free + delay, buffer[..read].to_vec())).is_err() {
                return;
            }
        }
    };
    let arrives = async move {
        while let Some((due, bytes)) = under_way.recv().await {
            sleep_until(due).await;
            if open.wait_for(|open| *open).await.is_err() || to.write_all(&bytes).await.is_err() {
                return;
            }
        }
    };
    tokio::join!(sends, arrives);
}
