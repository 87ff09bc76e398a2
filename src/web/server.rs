use std::{
    io,
    net::SocketAddr,
    path::{Path, PathBuf},
};

use axum::Router;
use tokio::net::TcpListener;
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use crate::{PagePart, WebContext, WebSettings, listen, router};
use util::{Secret, SecretError};

#[derive(Debug, thiserror::Error)]
pub enum WebError {
    #[error("the page cannot listen on {address}: {source}; set another web.address")]
    Listen { address: SocketAddr, source: io::Error },
    #[error("the control channel cannot listen on {}: {source}; set another web.socket", path.display())]
    Socket { path: PathBuf, source: io::Error },
    /// Public addresses need a secret for changes.
    #[error(
        "the page would be reachable from other machines on {0} without a secret; name a file in web.secret_file (or set CONCILIO_WEB_SECRET), or listen on 127.0.0.1"
    )]
    NoSecret(SocketAddr),
    #[error(transparent)]
    Secret(#[from] SecretError),
}

/// A running server of the page. Dropping it does not end it; cancel the token of its start.
#[derive(Debug)]
pub struct WebServer {
    address: Option<SocketAddr>,
    tasks: TaskTracker,
    #[cfg(unix)]
    _socket: Option<listen::SocketFile>,
}

impl WebServer {
    /// Returns the URL of the page, such as `http://127.0.0.1:8080/`; `None` if only the socket is
    /// served.
    pub fn url(&self) -> Option<String> {
        self.address.map(|address| format!("http://{address}/"))
    }

    /// Waits until every connection has ended after the token was cancelled.
    pub async fn closed(self) {
        self.tasks.wait().await;
    }
}

/// Returns the operator's secret, if there is one; [`WebError::NoSecret`] if there is none and the address of the page needs it.
pub fn secret_for(settings: &WebSettings) -> Result<Option<Secret>, WebError> {
    let secret = settings.secret()?;
    match settings.listen_address().filter(|address| !address.ip().is_loopback() && secret.is_none()) {
        Some(address) => Err(WebError::NoSecret(address)),
        None => Ok(secret),
    }
}

/// Serves the journal at `path` on the address of the settings until `stop`, read-only and without a
/// daemon, with the tabs of `parts`. A daemon may write the journal meanwhile.
pub async fn serve_journal(
    settings: &WebSettings,
    path: PathBuf,
    parts: &[PagePart],
    stop: CancellationToken,
) -> Result<WebServer, WebError> {
    let end = stop.clone();
    serve_router(settings, None, stop, |secret, port| {
        router::build_for_journal(settings, secret, port, path, parts, end)
    })
    .await
}

/// Serves the page on the address of the settings, if they name one, and the control channel on
/// `socket`, if one is given, until `stop`. Systems without Unix sockets ignore `socket`.
pub async fn serve(
    settings: &WebSettings,
    context: WebContext,
    socket: Option<&Path>,
    stop: CancellationToken,
) -> Result<WebServer, WebError> {
    let end = stop.clone();
    serve_router(settings, socket, stop, |secret, port| router::build(settings, secret, port, context, end)).await
}

async fn serve_router(
    settings: &WebSettings,
    socket: Option<&Path>,
    stop: CancellationToken,
    build: impl FnOnce(Option<Secret>, Option<u16>) -> Router,
) -> Result<WebServer, WebError> {
    let secret = secret_for(settings)?;
    let listener = match settings.listen_address() {
        Some(address) => Some(TcpListener::bind(address).await.map_err(|source| WebError::Listen { address, source })?),
        None => None,
    };
    let address = listener.as_ref().and_then(|listener| listener.local_addr().ok());
    let router = build(secret, address.map(|address| address.port()));
    let tasks = TaskTracker::new();
    #[cfg(unix)]
    let socket = match socket {
        Some(path) => Some(
            listen::on_unix(path, router.clone(), settings.watchers, &tasks, stop.clone())
                .await
                .map_err(|source| WebError::Socket { path: path.to_owned(), source })?,
        ),
        None => None,
    };
    #[cfg(not(unix))]
    let _ = socket;
    if let Some(listener) = listener {
        listen::on_tcp(listener, router, settings.watchers, &tasks, stop);
    }
    tasks.close();
    Ok(WebServer {
        address,
        tasks,
        #[cfg(unix)]
        _socket: socket,
    })
}
