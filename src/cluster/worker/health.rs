//! The state of a worker over HTTP: `/live` and `/ready` for what restarts it when it hangs, `/metrics` for Prometheus.

use std::{
    io,
    net::SocketAddr,
    sync::{
        Arc, Mutex, OnceLock, PoisonError,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    time::{Duration, Instant},
};

use async_nats::{Client, connection::State};
use hyper::{
    Request, Response, StatusCode,
    body::Incoming,
    header::{CONTENT_TYPE, HeaderValue},
    server::conn::http1,
    service::service_fn,
};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::{
    net::TcpListener,
    sync::Semaphore,
    time::{sleep, timeout},
};

use crate::wire::Heartbeat;

/// Time without a turn of its loop after which a worker counts as hung.
const HANGS_AFTER: Duration = Duration::from_secs(5);
/// Maximum number of open connections; others wait.
const MOST_CONNECTIONS: usize = 32;
const CONNECTION_FOR: Duration = Duration::from_secs(60);
/// The pause after a connection that could not be accepted, so that a lack of file handles does not spin.
const ACCEPT_AGAIN: Duration = Duration::from_millis(50);

pub(super) struct WorkerHealth {
    begun: Instant,
    /// Time of the last turn of the loop, ms since the start; 0: no turn yet.
    round: AtomicU64,
    client: OnceLock<Client>,
    /// The last heartbeat, and the number of searches so far.
    load: Mutex<(Heartbeat, u64)>,
}

impl Default for WorkerHealth {
    fn default() -> Self {
        let (round, client) = (AtomicU64::new(0), OnceLock::new());
        let load = Mutex::new((Heartbeat::idle(0, 0), 0));
        Self { begun: Instant::now(), round, client, load }
    }
}

impl WorkerHealth {
    /// Answers at an address; returns it with the port that it has.
    pub(super) async fn serve(self: &Arc<Self>, address: SocketAddr) -> io::Result<SocketAddr> {
        let listener = TcpListener::bind(address).await?;
        let bound = listener.local_addr()?;
        let (health, places) = (Arc::clone(self), Arc::new(Semaphore::new(MOST_CONNECTIONS)));
        tokio::spawn(async move {
            while let Ok(place) = Arc::clone(&places).acquire_owned().await {
                let Ok((stream, _)) = listener.accept().await else {
                    sleep(ACCEPT_AGAIN).await;
                    continue;
                };
                let health = health.clone();
                tokio::spawn(async move {
                    let answer = service_fn(|request| std::future::ready(io::Result::Ok(health.answer(&request))));
                    let mut server = http1::Builder::new();
                    let connection = server.timer(TokioTimer::new()).serve_connection(TokioIo::new(stream), answer);
                    let _ = timeout(CONNECTION_FOR, connection).await;
                    drop(place);
                });
            }
        });
        Ok(bound)
    }

    fn answer(&self, request: &Request<Incoming>) -> Response<String> {
        let code = |well: bool| (if well { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE }, String::new());
        let (status, text) = match request.uri().path() {
            "/live" => code(self.is_live()),
            "/ready" => code(self.is_ready()),
            "/metrics" => (StatusCode::OK, self.metrics()),
            _ => (StatusCode::NOT_FOUND, String::new()),
        };
        let mut response = Response::new(text);
        *response.status_mut() = status;
        response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
        response
    }

    pub(super) fn connected(&self, client: Client) {
        let _ = self.client.set(client);
    }

    /// The worker has gone round once more, and does this.
    pub(super) fn went_round(&self, heartbeat: Heartbeat, searches: u64) {
        self.round.store(self.now().max(1), Relaxed);
        *self.load.lock().unwrap_or_else(PoisonError::into_inner) = (heartbeat, searches);
    }

    /// Returns the figures in Prometheus' text format.
    fn metrics(&self) -> String {
        let (heartbeat, searches) = &*self.load.lock().unwrap_or_else(PoisonError::into_inner);
        let (cores, searching, daemons) = (heartbeat.cores, heartbeat.busy(), heartbeat.daemons.len());
        let connected = u8::from(self.is_connected());
        format!(
            "# TYPE concilio_worker_connected gauge\nconcilio_worker_connected {connected}\n\
             # TYPE concilio_worker_cores gauge\nconcilio_worker_cores {cores}\n\
             # TYPE concilio_worker_threads_searching gauge\nconcilio_worker_threads_searching {searching}\n\
             # TYPE concilio_worker_daemons gauge\nconcilio_worker_daemons {daemons}\n\
             # TYPE concilio_worker_searches_total counter\nconcilio_worker_searches_total {searches}\n"
        )
    }

    fn is_connected(&self) -> bool {
        self.client.get().is_some_and(|client| client.connection_state() == State::Connected)
    }

    fn now(&self) -> u64 {
        u64::try_from(self.begun.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    /// One that waits for its server is alive; a restart would not help.
    fn is_live(&self) -> bool {
        let round = self.round.load(Relaxed);
        round == 0 || u128::from(self.now().saturating_sub(round)) < HANGS_AFTER.as_millis()
    }

    fn is_ready(&self) -> bool {
        self.is_connected() && self.is_live() && self.round.load(Relaxed) > 0
    }
}

#[cfg(test)]
mod tests {
    use tokio::{
        io::{AsyncReadExt, AsyncWriteExt},
        net::TcpStream,
    };

    use super::*;

    async fn get(address: SocketAddr, path: &str) -> String {
        let mut stream = TcpStream::connect(address).await.expect("it listens");
        let request = format!("GET {path} HTTP/1.1\r\nhost: worker\r\nconnection: close\r\n\r\n");
        stream.write_all(request.as_bytes()).await.expect("sent");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.expect("an answer");
        answer
    }

    #[tokio::test]
    async fn unconnected_worker_is_alive_and_unready() {
        let health = Arc::<WorkerHealth>::default();
        let address = health.serve(SocketAddr::from(([127, 0, 0, 1], 0))).await.expect("a free port");
        health.went_round(Heartbeat::idle(3, 0), 0);
        for (path, status) in [("/live", 200), ("/ready", 503), ("/metrics", 200), ("/", 404)] {
            let answer = get(address, path).await;
            assert!(answer.starts_with(&format!("HTTP/1.1 {status} ")), "{path}: {answer}");
        }
        let metrics = get(address, "/metrics").await;
        assert!(metrics.contains("concilio_worker_connected 0\n") && metrics.contains("concilio_worker_cores 3\n"));
    }
}
