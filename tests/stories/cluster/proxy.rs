//! A way to the server that is long, or can be cut: what is sent meanwhile is held back, as on a cable that was pulled.

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
}

impl Proxy {
    /// A way to that port of this machine.
    pub(super) async fn to(port: u16) -> Self {
        Self::long(port, Duration::ZERO).await
    }

    /// The same, of which each direction takes so long.
    pub(super) async fn long(port: u16, delay: Duration) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.expect("a free port");
        let address = listener.local_addr().expect("an address");
        let (open, state) = watch::channel(true);
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                let state = state.clone();
                tokio::spawn(async move {
                    let Ok(server) = TcpStream::connect(("127.0.0.1", port)).await else { return };
                    let ((from_client, to_client), (from_server, to_server)) =
                        (client.into_split(), server.into_split());
                    let to_server = pass(from_client, to_server, delay, state.clone());
                    tokio::join!(to_server, pass(from_server, to_client, delay, state));
                });
            }
        });
        Self { address, open }
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
}

async fn pass(
    mut from: impl AsyncReadExt + Unpin,
    mut to: impl AsyncWriteExt + Unpin,
    delay: Duration,
    mut open: watch::Receiver<bool>,
) {
    let (sent, mut under_way) = mpsc::unbounded_channel::<(Instant, Vec<u8>)>();
    let sends = async move {
        let mut buffer = vec![0; 64 << 10];
        while let Ok(read @ 1..) = from.read(&mut buffer).await {
            if sent.send((Instant::now() + delay, buffer[..read].to_vec())).is_err() {
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
