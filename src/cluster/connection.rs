//! The connection to the NATS server. Once made, the library keeps it: it reconnects and subscribes again by itself.

use std::{
    collections::BTreeSet,
    error::Error,
    io,
    path::PathBuf,
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    time::{Duration, Instant},
};

use async_nats::{
    Client, ClientError, ConnectError, ConnectErrorKind, ConnectOptions, Event, PublishError, ServerAddr, Statistics,
    connection::State,
};
use bytes::Bytes;
use futures_util::FutureExt;
use rand::RngExt;
use tokio::{sync::mpsc, task::unconstrained};

use super::settings::ClusterSettings;
use util::{Backoff, Secret, SecretError, values::named};

/// The environment variable that may hold the password for the NATS server, and the systemd credential.
pub const PASSWORD: (&str, &str) = ("CONCILIO_NATS_PASSWORD", "nats-password");
/// The environment variable that may hold the token, and the systemd credential.
pub const TOKEN: (&str, &str) = ("CONCILIO_NATS_TOKEN", "nats-token");

const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
/// Interval of pings: a half-open connection is noticed after two.
const PING_EVERY: Duration = Duration::from_secs(5);
/// Pause before a refused login is tried again.
const REFUSED_PAUSE: Duration = Duration::from_secs(1);
/// The longest pause between two attempts to connect.
const LONGEST_PAUSE: Duration = Duration::from_secs(2);
/// Messages that wait in a queue until they are read; those that come then are dropped.
const QUEUE: usize = 512;
/// Bytes without a whole message beyond any message of ours.
const LONGEST_READ: u64 = 1 << 20;
/// The log tells of slow consumers no more often than this.
const TELL_EVERY: Duration = Duration::from_secs(60);

#[derive(Debug, thiserror::Error)]
pub enum ConnectionError {
    #[error("{what} {}: {reason}", file.display())]
    File { what: &'static str, file: PathBuf, reason: String },
    #[error(transparent)]
    Secret(#[from] SecretError),
    #[error(
        "the NATS server {server} refuses the login: {reason}; see `concilio worker --help` for the ways to log in"
    )]
    Refused { server: String, reason: String },
    /// The server is not the one it says it is, or not by anybody we trust.
    #[error("the NATS server {server} is not trusted: {reason}; name the certificate of its authority with --ca-file")]
    Untrusted { server: String, reason: String },
    #[error("the NATS server {server} does not let {name} do that: {reason}; {remedy} (docs/cluster.md)")]
    NotAllowed { server: String, name: String, reason: String, remedy: &'static str },
    #[error(
        "the NATS server {server} announced a message of more than {LONGEST_READ} bytes: disconnected, since no member sends such a message"
    )]
    TooLong { server: String },
    #[error("cannot reach the NATS server {server}: {reason}; is nats-server running there?")]
    Unreachable { server: String, reason: String },
}

impl ConnectionError {
    pub(super) fn unreachable(settings: &ClusterSettings, reason: &impl std::fmt::Display) -> Self {
        Self::Unreachable { server: settings.nats.clone(), reason: reason.to_string() }
    }

    pub(super) fn not_allowed(settings: &ClusterSettings, reason: String) -> Self {
        let remedy = "its name must be the one that its key was made for";
        Self::NotAllowed { server: settings.nats.clone(), name: settings.name(), reason, remedy }
    }

    /// The server does not let a worker subscribe to any daemon that it is to serve. Without a list
    /// those are all daemons, and permissions by `members` never allow that.
    pub(super) fn no_daemon_to_serve(settings: &ClusterSettings, reason: String) -> Self {
        let remedy = match &settings.daemons[..] {
            [] => "at a server with keys a worker names each daemon that it serves: --daemon NAME",
            _ => {
                "check --daemon, which names daemons as they were added there, and --name, which is the one its key was made for"
            }
        };
        Self::NotAllowed { server: settings.nats.clone(), name: settings.name(), reason, remedy }
    }

    /// Returns true if a retry is useless: the owner has to change a key, a file or the server
    /// first.
    pub fn is_final(&self) -> bool {
        !matches!(self, Self::Unreachable { .. })
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ConnectionChange {
    /// The connection stands again.
    Up,
    /// It is lost; the library is already reconnecting.
    Down,
    /// The server does not let us listen to something, in its words, which name the subject. It says so of each subject, and again with
    /// every connection.
    NotAllowed(String),
}

/// Refusals of the server that were logged: each once, and at most [`Self::MOST`].
#[derive(Debug, Default)]
struct Refusals {
    told: Mutex<BTreeSet<String>>,
    /// True if a connection stood before, so that its loss is news.
    stood: AtomicBool,
    /// Time of the last log line about a slow consumer.
    slow: Mutex<Option<Instant>>,
}

impl Refusals {
    const MOST: usize = 20;

    fn is_first(&self, words: &str) -> bool {
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        told.len() < Self::MOST && told.insert(words.to_owned())
    }

    fn tells_of_slowness(&self, now: Instant) -> bool {
        let mut told = self.slow.lock().unwrap_or_else(PoisonError::into_inner);
        let is_news = told.is_none_or(|last| now.saturating_duration_since(last) > TELL_EVERY);
        if is_news {
            *told = Some(now);
        }
        is_news
    }
}

/// The client of the library, and all changes from the first connection on.
pub(crate) type NatsConnection = (Client, mpsc::UnboundedReceiver<ConnectionChange>);

/// Connects to the server of the settings, in one attempt.
///
/// # Errors
/// [`ConnectionError`] if there is no server, or it does not want us.
pub(crate) async fn connect(settings: &ClusterSettings) -> Result<NatsConnection, ConnectionError> {
    warn_if_readable(settings);
    let (news, links) = mpsc::unbounded_channel();
    let refusals = Refusals::default();
    let options = options(settings).await?.event_callback(move |event| {
        tell(&event, &news, &refusals);
        std::future::ready(())
    });
    let connected = options.connect(settings.servers().unwrap_or_default()).await;
    let client = connected.map_err(|error| reason(settings, &error))?;
    Ok((client, links))
}

/// Returns the reason of a refused connection. An error that the library calls network trouble may
/// be a certificate error, which no retry mends.
fn reason(settings: &ClusterSettings, error: &ConnectError) -> ConnectionError {
    let server = settings.nats.clone();
    match (error.kind(), tls_error(error)) {
        (_, Some(reason @ rustls::Error::InvalidCertificate(_))) => {
            ConnectionError::Untrusted { server, reason: reason.to_string() }
        }
        (_, Some(reason)) => ConnectionError::Refused { server, reason: reason.to_string() },
        (ConnectErrorKind::Authentication | ConnectErrorKind::AuthorizationViolation | ConnectErrorKind::Tls, None) => {
            ConnectionError::Refused { server, reason: error.to_string() }
        }
        _ => ConnectionError::unreachable(settings, error),
    }
}

fn tls_error<'a>(error: &'a (dyn Error + 'static)) -> Option<&'a rustls::Error> {
    let inner = || error.downcast_ref::<io::Error>()?.get_ref().map(|inner| inner as &(dyn Error + 'static));
    error.downcast_ref::<rustls::Error>().or_else(|| tls_error(inner().or_else(|| error.source())?))
}

/// Connects, however long the server takes to be there. A refused login is tried a second time: a
/// server that is reading its configuration again refuses logins that it allows before and after.
pub(crate) async fn connect_patiently(settings: &ClusterSettings) -> Result<NatsConnection, ConnectionError> {
    let mut pauses = Backoff::new(Duration::from_millis(100), LONGEST_PAUSE);
    let mut was_refused = false;
    loop {
        match connect(settings).await {
            Err(ConnectionError::Refused { .. }) if !was_refused => {
                was_refused = true;
                tokio::time::sleep(REFUSED_PAUSE).await;
            }
            Err(error) if !error.is_final() => {
                if pauses.is_fresh() {
                    tracing::warn!("{error} Retrying.");
                }
                tokio::time::sleep(pauses.next_delay()).await;
            }
            made => return made,
        }
    }
}

async fn options(settings: &ClusterSettings) -> Result<ConnectOptions, ConnectionError> {
    // An earlier caller has chosen the same.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let mut options = ConnectOptions::new()
        .name(format!("concilio {}", settings.name()))
        .connection_timeout(CONNECT_TIMEOUT)
        .ping_interval(PING_EVERY)
        .subscription_capacity(QUEUE)
        .reconnect_delay_callback(|attempts| {
            let doublings = u32::try_from(attempts.min(10)).unwrap_or(10);
            let pause = (Duration::from_millis(20) * 2_u32.pow(doublings)).min(LONGEST_PAUSE);
            // All members lose a server together; they do not all come back together.
            pause.mul_f64(rand::rng().random_range(0.5..1.0))
        });
    if !settings.user.is_empty() {
        let file = named(&settings.password_file);
        let password = Secret::find("NATS password", file, PASSWORD.0, PASSWORD.1)?;
        let password = password.as_ref().map(Secret::reveal).unwrap_or_default().to_owned();
        options = options.user_and_password(settings.user.clone(), password);
    } else if let Some(file) = named(&settings.nkey_file) {
        options = options.nkey(Secret::read("nkey seed", file)?.reveal().to_owned());
    } else if let Some(file) = named(&settings.credentials_file) {
        options = options.credentials_file(file).await.map_err(|error| ConnectionError::File {
            what: "credentials_file",
            file: file.to_owned(),
            reason: error.to_string(),
        })?;
    } else if let Some(token) = Secret::find("NATS token", named(&settings.token_file), TOKEN.0, TOKEN.1)? {
        options = options.token(token.reveal().to_owned());
    }
    if let Some(file) = named(&settings.ca_file) {
        options = options.add_root_certificates(file.to_owned()).require_tls(true);
    }
    if let (Some(certificate), Some(key)) = (named(&settings.certificate_file), named(&settings.key_file)) {
        options = options.add_client_certificate(certificate.to_owned(), key.to_owned()).require_tls(true);
    }
    Ok(options)
}

fn tell(event: &Event, news: &mpsc::UnboundedSender<ConnectionChange>, refusals: &Refusals) {
    match event {
        Event::Connected => {
            refusals.stood.store(true, Relaxed);
            let _ = news.send(ConnectionChange::Up);
        }
        Event::Disconnected => {
            // Each attempt that is refused ends so as well.
            if refusals.stood.swap(false, Relaxed) {
                tracing::warn!("the connection to the NATS server is lost; reconnecting");
                let _ = news.send(ConnectionChange::Down);
            }
        }
        Event::SlowConsumer(_) => {
            metrics::counter!(crate::SLOW_CONSUMERS).increment(1);
            if refusals.tells_of_slowness(Instant::now()) {
                tracing::warn!("cluster messages arrive faster than they are read: some are dropped");
            }
        }
        Event::ClientError(ClientError::Other(words)) if is_refusal(words) => {
            // With every attempt it does so again.
            if refusals.is_first(words) {
                tracing::error!("the NATS server refuses the reconnection: {words}; retrying");
            }
        }
        Event::ServerError(error) => {
            let words = error.to_string();
            if words.to_lowercase().contains("permissions violation for subscription") {
                // The subscriber reports the consequence.
                let _ = news.send(ConnectionChange::NotAllowed(words));
            } else if refusals.is_first(&words) {
                // With every message that it refuses it says so again.
                tracing::error!("the NATS server says: {words}");
            }
        }
        other => tracing::debug!("NATS: {other}"),
    }
}

/// Returns true if the library's message about a reconnection means that the server refuses us, and
/// not that it is absent.
fn is_refusal(words: &str) -> bool {
    use ConnectErrorKind::{Authentication, AuthorizationViolation, Tls};
    [Authentication, AuthorizationViolation, Tls].iter().any(|kind| words == kind.to_string())
}

fn warn_if_readable(settings: &ClusterSettings) {
    if let Some(server) = readable(settings) {
        tracing::warn!(
            "the connection to the NATS server {server} is not encrypted: anyone on the way can read and forge messages; give the server a certificate and use tls:// (docs/cluster.md)"
        );
    }
}

/// A server on another machine to which the settings do not ask for TLS.
fn readable(settings: &ClusterSettings) -> Option<String> {
    let has_tls = named(&settings.ca_file).is_some() || named(&settings.certificate_file).is_some();
    let is_here = |server: &ServerAddr| {
        let host = server.host().trim_matches(['[', ']']);
        host == "localhost" || host.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
    };
    let servers = settings.servers().unwrap_or_default();
    let readable = servers.iter().find(|server| !has_tls && !server.tls_required() && !is_here(server))?;
    Some(format!("{}:{}", readable.host(), readable.port()))
}

/// Watches how much comes without ever being a whole message, which the library keeps in memory until it is one.
pub(crate) struct ReadWatch {
    statistics: std::sync::Arc<Statistics>,
    messages: u64,
    bytes: u64,
}

impl ReadWatch {
    pub(crate) fn of(client: &Client) -> Self {
        let statistics = client.statistics();
        let (messages, bytes) = (statistics.in_messages.load(Relaxed), statistics.in_bytes.load(Relaxed));
        Self { statistics, messages, bytes }
    }

    pub(crate) fn is_too_long(&mut self) -> bool {
        let (messages, bytes) = (self.statistics.in_messages.load(Relaxed), self.statistics.in_bytes.load(Relaxed));
        if messages != self.messages {
            (self.messages, self.bytes) = (messages, bytes);
        }
        bytes.saturating_sub(self.bytes) > LONGEST_READ
    }
}

/// Sends a message without waiting: `false` if the connection is down or cannot take it now. Nothing is kept to be sent later.
pub(crate) fn send(client: &Client, subject: String, message: Bytes) -> bool {
    now_or_never(client, client.publish(subject, message))
}

/// Publishes a message whose answers go to `answer`; if it has no receivers, the server says so
/// there at once.
pub(crate) fn ask(client: &Client, subject: String, answer: String, message: Bytes) -> bool {
    now_or_never(client, client.publish_with_reply(subject, answer, message))
}

fn now_or_never(client: &Client, sending: impl Future<Output = Result<(), PublishError>>) -> bool {
    client.connection_state() == State::Connected
        && unconstrained(sending).now_or_never().is_some_and(|sent| sent.is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A member that is refused tries again every two seconds, for ever; each attempt ends with the same event.
    #[test]
    fn lost_connection_is_logged_once() {
        let (news, mut links) = mpsc::unbounded_channel();
        let refusals = Refusals::default();
        for event in [Event::Connected, Event::Disconnected, Event::Disconnected, Event::Disconnected] {
            tell(&event, &news, &refusals);
        }
        drop(news);
        let told: Vec<_> = std::iter::from_fn(|| links.try_recv().ok()).collect();
        assert_eq!(told, [ConnectionChange::Up, ConnectionChange::Down]);
    }

    #[test]
    fn remote_connection_without_tls_warns() {
        let settings = |nats: &str| ClusterSettings { nats: nats.to_owned(), ..ClusterSettings::default() };
        for here in ["nats://127.0.0.1:4222", "localhost", "nats://[::1]:4222", "tls://10.0.0.1:4222"] {
            assert_eq!(readable(&settings(here)), None, "{here}");
        }
        let both = "nats://127.0.0.1:4222,nats://10.0.0.1:4223";
        assert_eq!(readable(&settings(both)), Some("10.0.0.1:4223".to_owned()));
        let certified = ClusterSettings { ca_file: "ca.pem".into(), ..settings("nats://nats.example.org") };
        assert_eq!(readable(&certified), None);
    }

    #[test]
    fn refusal_differs_from_absence() {
        for (kind, refuses) in [
            (ConnectErrorKind::AuthorizationViolation, true),
            (ConnectErrorKind::Tls, true),
            (ConnectErrorKind::Io, false),
            (ConnectErrorKind::TimedOut, false),
            (ConnectErrorKind::Dns, false),
        ] {
            assert_eq!(is_refusal(&kind.to_string()), refuses, "{kind}");
        }
    }
}
