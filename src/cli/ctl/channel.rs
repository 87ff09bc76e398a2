//! The way to a running daemon: HTTP over its Unix socket, or over the network with the page's secret.

use std::{error::Error, io, path::Path, time::Duration};

use reqwest::{Client, ClientBuilder, RequestBuilder, Url};
use rustls::crypto::ring;
use serde_json::Value;

use crate::cli::Failure;
use bot::session::ControlCommand;
use util::Secret;
use web::WebSettings;

/// Timeout of an answer: a challenge waits for the chess server's own answer.
const PATIENCE: Duration = Duration::from_secs(60);

const REMEDY: &str = "only root and the daemon's user may open it: run this command with sudo";

pub(super) struct Channel {
    client: Client,
    url: Url,
    secret: Option<Secret>,
    /// Location of the daemon, for errors.
    place: String,
}

impl Channel {
    #[cfg(unix)]
    pub(super) fn to_socket(socket: &Path) -> Result<Self, Failure> {
        use std::os::unix::fs::FileTypeExt as _;

        let is_socket = match std::fs::metadata(socket) {
            Ok(file) => file.file_type().is_socket(),
            Err(error) if is_denied(&error) => {
                return Err(Failure::failed(format_args!("{}: {error}; {REMEDY}", socket.display())));
            }
            Err(_) => false,
        };
        if !is_socket {
            return Err(Failure::failed(format_args!(
                "no daemon is running here: no socket {} (pass --config or --socket as for the daemon, or --address)",
                socket.display()
            )));
        }
        let client = client(|builder| builder.unix_socket(socket))?;
        let url = Url::parse("http://localhost").map_err(Failure::failed)?;
        Ok(Self { client, url, secret: None, place: socket.display().to_string() })
    }

    #[cfg(not(unix))]
    pub(super) fn to_socket(_: &Path) -> Result<Self, Failure> {
        Err(Failure::usage("this system has no Unix sockets: pass the page's --address"))
    }

    pub(super) fn to_page(address: &str, secret_file: Option<&Path>) -> Result<Self, Failure> {
        let wrong = |_| Failure::usage(format_args!("--address {address}: expected http://HOST:PORT or https://HOST"));
        let text = if address.contains("://") { address.to_owned() } else { format!("http://{address}") };
        let url = Url::parse(&text).map_err(wrong)?;
        let secret = Secret::find("page's secret", secret_file, WebSettings::SECRET_VARIABLE, "web-secret");
        let secret = secret.map_err(Failure::usage)?;
        Ok(Self { client: client(|builder| builder)?, place: url.to_string(), url, secret })
    }

    pub(super) async fn perform(&self, command: &ControlCommand) -> Result<String, Failure> {
        let request = self.client.post(self.address("/api/control")?).json(command);
        let text = self.send(request).await?;
        let done = serde_json::from_str(&text).ok().and_then(|answer: Value| said(&answer, "done"));
        done.ok_or_else(|| self.no_daemon_of_ours())
    }

    /// Returns the daemon's answer from this address, as JSON.
    pub(super) async fn get(&self, path: &str) -> Result<String, Failure> {
        self.send(self.client.get(self.address(path)?)).await
    }

    fn address(&self, path: &str) -> Result<Url, Failure> {
        self.url.join(path).map_err(Failure::failed)
    }

    async fn send(&self, request: RequestBuilder) -> Result<String, Failure> {
        let request = match &self.secret {
            Some(secret) => request.bearer_auth(secret.reveal()),
            None => request,
        };
        let unreachable = |error: reqwest::Error| {
            let cause = causes(&error).last().map(ToString::to_string).unwrap_or_default();
            if is_denied(&error) {
                return Failure::failed(format_args!("{}: {cause}; {REMEDY}", self.place));
            }
            Failure::failed(format_args!("no daemon answers at {}: {cause}", self.place))
        };
        let response = request.send().await.map_err(unreachable)?;
        let status = response.status();
        let text = response.text().await.map_err(unreachable)?;
        if status.is_success() {
            return Ok(text);
        }
        match serde_json::from_str(&text).ok().and_then(|answer: Value| said(&answer, "error")) {
            Some(error) => Err(Failure::failed(error)),
            None => Err(self.no_daemon_of_ours()),
        }
    }

    fn no_daemon_of_ours(&self) -> Failure {
        Failure::failed(format_args!("the program at {} is not concilio of this version", self.place))
    }
}

/// The text of an answer such as `{"done": "paused"}`.
fn said(answer: &Value, key: &str) -> Option<String> {
    answer[key].as_str().map(str::to_owned)
}

fn client(way: impl FnOnce(ClientBuilder) -> ClientBuilder) -> Result<Client, Failure> {
    // A provider may be installed already; whichever it is will do.
    let _ = ring::default_provider().install_default();
    let builder = Client::builder().timeout(PATIENCE).no_proxy().redirect(reqwest::redirect::Policy::none());
    way(builder).build().map_err(Failure::failed)
}

/// An error, its cause, and so on to the first cause.
fn causes<'a>(error: &'a (dyn Error + 'static)) -> impl Iterator<Item = &'a (dyn Error + 'static)> {
    std::iter::successors(Some(error), |&error| error.source())
}

/// Returns true if the system denies access.
fn is_denied(error: &(dyn Error + 'static)) -> bool {
    let errors = causes(error).filter_map(|error| error.downcast_ref::<io::Error>());
    errors.map(io::Error::kind).any(|kind| kind == io::ErrorKind::PermissionDenied)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn denied_differs_from_absent() {
        assert!(is_denied(&io::Error::from(io::ErrorKind::PermissionDenied)));
        assert!(!is_denied(&io::Error::from(io::ErrorKind::ConnectionRefused)));
    }
}
