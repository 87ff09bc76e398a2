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
use axum::{Router, http::StatusCode, routing::get};
use tokio::net::TcpListener;

/// Time without a turn of its loop after which a worker counts as hung.
const HANGS_AFTER: Duration = Duration::from_secs(5);

#[derive(Clone)]
pub(super) struct WorkerHealth(Arc<HealthState>);

struct HealthState {
    begun: Instant,
    /// Time of the last turn of the loop, ms since the start; 0: no turn yet.
    round: AtomicU64,
    client: OnceLock<Client>,
    load: Mutex<WorkerLoad>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct WorkerLoad {
    pub cores: usize,
    pub searching: usize,
    pub searches: u64,
    /// Daemons that have slots on it.
    pub daemons: usize,
}

impl WorkerLoad {
    /// Returns the figures in Prometheus' text format.
    fn text(self, connected: bool) -> String {
        let Self { cores, searching, searches, daemons } = self;
        let connected = u8::from(connected);
        format!(
            "# TYPE concilio_worker_connected gauge\nconcilio_worker_connected {connected}\n\
             # TYPE concilio_worker_cores gauge\nconcilio_worker_cores {cores}\n\
             # TYPE concilio_worker_threads_searching gauge\nconcilio_worker_threads_searching {searching}\n\
             # TYPE concilio_worker_daemons gauge\nconcilio_worker_daemons {daemons}\n\
             # TYPE concilio_worker_searches_total counter\nconcilio_worker_searches_total {searches}\n"
        )
    }
}

impl Default for WorkerHealth {
    fn default() -> Self {
        Self(Arc::new(HealthState {
            begun: Instant::now(),
            round: AtomicU64::new(0),
            client: OnceLock::new(),
            load: Mutex::default(),
        }))
    }
}

impl WorkerHealth {
    pub(super) async fn serve(&self, address: SocketAddr) -> io::Result<()> {
        let listener = TcpListener::bind(address).await?;
        let (live, ready, measured) = (self.clone(), self.clone(), self.clone());
        let code = |well: bool| if well { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
        let router = Router::new()
            .route("/live", get(move || std::future::ready(code(live.is_live()))))
            .route("/ready", get(move || std::future::ready(code(ready.is_ready()))))
            .route("/metrics", get(move || std::future::ready(measured.metrics())));
        tokio::spawn(async move { axum::serve(listener, router).await });
        Ok(())
    }

    /// The connection to the NATS server stands.
    pub(super) fn connected(&self, client: Client) {
        let _ = self.0.client.set(client);
    }

    /// The worker has gone round once more, and does this.
    pub(super) fn went_round(&self, load: WorkerLoad) {
        self.0.round.store(self.now().max(1), Relaxed);
        *self.0.load.lock().unwrap_or_else(PoisonError::into_inner) = load;
    }

    fn metrics(&self) -> String {
        let load = *self.0.load.lock().unwrap_or_else(PoisonError::into_inner);
        load.text(self.is_connected())
    }

    fn is_connected(&self) -> bool {
        self.0.client.get().is_some_and(|client| client.connection_state() == State::Connected)
    }

    fn now(&self) -> u64 {
        u64::try_from(self.0.begun.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    /// One that waits for its server is alive; a restart would not help.
    fn is_live(&self) -> bool {
        let round = self.0.round.load(Relaxed);
        round == 0 || u128::from(self.now().saturating_sub(round)) < HANGS_AFTER.as_millis()
    }

    fn is_ready(&self) -> bool {
        self.is_connected() && self.is_live() && self.0.round.load(Relaxed) > 0
    }
}
