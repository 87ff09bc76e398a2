//! The page in the browser, the control channel and the health checks of a running command.

use std::{
    collections::BTreeMap,
    net::SocketAddr,
    path::Path,
    sync::{Arc, Mutex, PoisonError},
};

use tokio::sync::{broadcast::error::RecvError, watch};
use tokio_util::sync::CancellationToken;

use super::{Failure, other_games};
use bot::{
    metrics,
    session::{AccountEvent, BotEvent, PlayerSettings, Runtime},
};
use domain::ServerName;
use web::{AnotherGame, HealthChecks, WebContext, WebError, WebServer, WebSettings};

/// Serves the page, if the settings want one, and the control channel on `socket`, until `stop`. Without a control
/// channel play goes on, with a warning.
pub(super) async fn serve(
    settings: &WebSettings,
    runtime: &Runtime,
    player: watch::Receiver<PlayerSettings>,
    socket: Option<&Path>,
    health: HealthChecks,
    another_game: Option<AnotherGame>,
    stop: CancellationToken,
) -> Result<WebServer, Failure> {
    let context = WebContext {
        event_bus: runtime.event_bus.clone(),
        journal: runtime.journal.clone(),
        pool: runtime.pool.clone(),
        player,
        control: Some(runtime.control.clone()),
        health,
        another_game,
        parts: other_games::PARTS.to_vec(),
        routes: other_games::routes(runtime.pool.clone(), runtime.journal.clone(), stop.clone()),
    };
    match web::serve(settings, context.clone(), socket, stop.clone()).await {
        Err(error @ WebError::Socket { .. }) => {
            tracing::warn!("cannot open the control channel, so `concilio ctl` cannot reach this program: {error}");
            web::serve(settings, context, None, stop).await.map_err(failure)
        }
        served => served.map_err(failure),
    }
}

/// Returns the failure of an address that is in use, or not ours before the network is up, as one
/// that a restart may mend. Other failures are faults of the settings.
pub(super) fn failure(error: WebError) -> Failure {
    match error {
        WebError::Listen { .. } => Failure::failed(error),
        WebError::Socket { .. } | WebError::NoSecret(_) | WebError::Secret(_) => Failure::usage(error),
    }
}

/// Serves the page on 127.0.0.1:8080, or on a free port if that one is taken.
pub(super) async fn near_the_usual_address<T, F>(serve: impl Fn(SocketAddr) -> F) -> Result<T, Failure>
where
    F: Future<Output = Result<T, Failure>>,
{
    let port = |port| SocketAddr::from(([127, 0, 0, 1], port));
    match serve(port(8080)).await {
        Err(_taken) => serve(port(0)).await,
        served => served,
    }
}

/// Returns the health checks: measurements, and true if all these accounts are connected.
pub(super) fn health(runtime: &Runtime, accounts: impl Iterator<Item = ServerName>) -> HealthChecks {
    let metrics = match metrics::install() {
        Ok(recorder) => {
            let pool = runtime.pool.clone();
            tokio::spawn(recorder.clone().sum_up());
            Some(Arc::new(move || recorder.text(&pool)) as Arc<dyn Fn() -> String + Send + Sync>)
        }
        Err(error) => {
            tracing::warn!(%error, "nothing is measured");
            None
        }
    };
    let connected = Arc::new(Mutex::new(accounts.map(|account| (account, false)).collect::<BTreeMap<_, _>>()));
    let mut events = runtime.event_bus.listen_without_moves();
    let known = Arc::clone(&connected);
    tokio::spawn(async move {
        loop {
            match events.recv().await {
                Ok(event) => note(&known, &event),
                Err(RecvError::Lagged(_)) => (),
                Err(RecvError::Closed) => return,
            }
        }
    });
    let ready = move || {
        let connected = connected.lock().unwrap_or_else(PoisonError::into_inner);
        let missing: Vec<&str> = connected.iter().filter(|(_, is)| !**is).map(|(name, _)| name.as_str()).collect();
        if missing.is_empty() { Ok(()) } else { Err(format!("not connected: {}", missing.join(", "))) }
    };
    HealthChecks { metrics, ready: Arc::new(ready) }
}

fn note(connected: &Mutex<BTreeMap<ServerName, bool>>, event: &BotEvent) {
    let BotEvent::Account(account, event) = event else { return };
    let is = match event {
        AccountEvent::Connected { .. } => true,
        AccountEvent::Disconnected { .. } | AccountEvent::Rejected { .. } | AccountEvent::Closed => false,
        _ => return,
    };
    connected.lock().unwrap_or_else(PoisonError::into_inner).insert(account.clone(), is);
}

#[cfg(test)]
mod tests {
    use std::{io, process::ExitCode};

    use super::*;

    #[test]
    fn address_in_use_is_retried() {
        let status = |error| format!("{:?}", failure(error).code());
        let address = SocketAddr::from(([127, 0, 0, 1], 8080));
        let taken = WebError::Listen { address, source: io::ErrorKind::AddrInUse.into() };
        assert_eq!(status(taken), format!("{:?}", ExitCode::FAILURE), "it is started again");
        assert_eq!(status(WebError::NoSecret(address)), format!("{:?}", ExitCode::from(2)), "it is not");
    }
}
