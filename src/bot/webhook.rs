//! Sends chosen events to a URL: a chat service, a pager, a script.
//!
//! It listens as any watcher does, so play never waits for it. Failed messages are tried again with
//! growing pauses, and finally dropped.

use std::{path::PathBuf, sync::Arc, time::Duration};

use reqwest::{Client, header::CONTENT_TYPE};
use rustls::crypto::ring;
use serde::{Deserialize, Serialize};
use tokio::{
    sync::{
        broadcast::{self, error::RecvError},
        mpsc,
    },
    task::JoinHandle,
    time::{sleep, timeout},
};
use tokio_util::sync::CancellationToken;

use crate::{
    metrics,
    session::{BotEvent, EventBus, GameEvent, Sentence},
};
use domain::GameId;
use util::{Backoff, Fault, Secret, SecretError};

/// Capacity of the queue of messages; further ones are dropped.
const MOST_WAITING: usize = 100;
/// Timeout of one attempt, and the number of attempts.
const PATIENCE: Duration = Duration::from_secs(15);
const ATTEMPTS: u32 = 8;
/// Timeout for the last messages at the end of the program.
const LAST_WORDS: Duration = Duration::from_secs(10);
/// The first and the longest pause between two attempts.
const PAUSES: (Duration, Duration) = (Duration::from_secs(1), Duration::from_mins(5));

/// The `webhook` table: what is told to an address, and how.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct WebhookSettings {
    /// URL for POST requests. `{secret}` stands for the secret. Empty: nothing is sent.
    pub url: String,
    pub events: Vec<String>,
    /// The message. `{text}` stands for the event's sentence, `{event}` for its kind, `{account}` and `{game}` for where it
    /// happened. A message that begins with `{` is JSON, and what is put into it is written as JSON wants it.
    pub template: String,
    /// The file that holds the secret, and nothing else. Empty: it is in `CONCILIO_WEBHOOK_SECRET`, or there is none. A
    /// secret that does not stand in the address is sent as `Authorization: Bearer`.
    pub secret_file: PathBuf,
}

impl Default for WebhookSettings {
    fn default() -> Self {
        Self {
            url: String::new(),
            events: ["game_lost", "fault", "rejected", "limit"].map(str::to_owned).to_vec(),
            template: r#"{"text": "{text}"}"#.to_owned(),
            secret_file: PathBuf::new(),
        }
    }
}

impl WebhookSettings {
    pub const SECRET_VARIABLE: &str = "CONCILIO_WEBHOOK_SECRET";

    /// Returns faults of values that are well-formed each.
    pub fn faults(&self) -> Vec<Fault> {
        let mut faults = Vec::new();
        let is_address = |scheme: &str| self.url.strip_prefix(scheme).is_some_and(|rest| !rest.is_empty());
        if !self.url.is_empty() && !is_address("https://") && !is_address("http://") {
            faults.push(Fault::value("url", "an address that begins with https:// or http://, or \"\" for none"));
        }
        let unknown = self.events.iter().find(|event| !Sentence::KINDS.contains(&event.as_str()) && *event != LOST);
        if let Some(unknown) = unknown {
            let known = Sentence::KINDS.join(", ");
            faults.push(Fault::value("events", format!("{LOST} or some of {known} ({unknown} is none)")));
        }
        if !self.secret_file.as_os_str().is_empty() && !self.secret_file.is_file() {
            faults.push(Fault::value("secret_file", "a file that exists"));
        }
        faults
    }
}

/// The kind of a game that is over and that we have lost, besides its own.
const LOST: &str = "game_lost";

/// Stands for the secret in the address.
const SECRET_PLACE: &str = "{secret}";

#[derive(Debug, thiserror::Error)]
pub enum WebhookError {
    #[error(transparent)]
    Secret(#[from] SecretError),
    /// The address has a place for it, and there is none.
    #[error(
        "webhook.url has {{secret}} in it, and there is no secret: name its file in webhook.secret_file, or set {}",
        WebhookSettings::SECRET_VARIABLE
    )]
    NoSecret,
    #[error("webhook: HTTPS cannot be set up: {0}")]
    Client(#[from] reqwest::Error),
}

/// Sends the events of the bus that the settings name; nothing where they name no address. To be called within a runtime.
///
/// # Errors
/// [`WebhookError`] if the secret cannot be read or HTTPS cannot be spoken.
pub fn start(settings: &WebhookSettings, bus: &EventBus) -> Result<Webhook, WebhookError> {
    let stop = CancellationToken::new();
    if settings.url.is_empty() {
        return Ok(Webhook { stop, delivery: None });
    }
    let file = Some(settings.secret_file.as_path()).filter(|file| !file.as_os_str().is_empty());
    let secret = Secret::find("webhook's secret", file, WebhookSettings::SECRET_VARIABLE, "webhook-secret")?;
    if secret.is_none() && settings.url.contains(SECRET_PLACE) {
        return Err(WebhookError::NoSecret);
    }
    // A provider may be installed already; whichever it is will do.
    let _ = ring::default_provider().install_default();
    let client = Client::builder().timeout(PATIENCE).redirect(reqwest::redirect::Policy::none()).build()?;
    let address = Address::new(&settings.url, secret);
    let events = match settings.events.iter().any(|event| event == Sentence::MOVE) {
        true => bus.listen(),
        false => bus.listen_without_moves(),
    };
    let (sender, messages) = mpsc::channel(MOST_WAITING);
    tokio::spawn(choose(settings.clone(), events, sender, stop.clone()));
    let delivery = tokio::spawn(deliver(client, address, messages, PAUSES));
    Ok(Webhook { stop, delivery: Some(delivery) })
}

/// Task that sends messages. It goes on if this is dropped.
#[derive(Debug)]
pub struct Webhook {
    stop: CancellationToken,
    delivery: Option<JoinHandle<()>>,
}

impl Webhook {
    /// Sends what has happened so far and ends; what takes longer than ten seconds is given up.
    pub async fn close(self) {
        self.stop.cancel();
        if let Some(delivery) = self.delivery
            && timeout(LAST_WORDS, delivery).await.is_err()
        {
            tracing::warn!("the webhook did not accept the last messages");
        }
    }
}

struct Address {
    url: String,
    /// The secret, where it does not stand in the address.
    bearer: Option<Secret>,
}

impl Address {
    fn new(url: &str, secret: Option<Secret>) -> Self {
        match secret {
            Some(secret) if url.contains(SECRET_PLACE) => {
                Self { url: url.replace(SECRET_PLACE, secret.reveal()), bearer: None }
            }
            bearer => Self { url: url.to_owned(), bearer },
        }
    }
}

/// Makes messages of the events that are wanted, of those that have happened before `stop`. Where too many wait already, the newest
/// is dropped.
async fn choose(
    settings: WebhookSettings,
    mut events: broadcast::Receiver<Arc<BotEvent>>,
    messages: mpsc::Sender<String>,
    stop: CancellationToken,
) {
    loop {
        let event = tokio::select! {
            biased;
            event = events.recv() => event,
            () = stop.cancelled() => return,
        };
        let event = match event {
            Ok(event) => event,
            Err(RecvError::Lagged(_)) => continue,
            Err(RecvError::Closed) => return,
        };
        if let Some(message) = message(&settings, &event)
            && messages.try_send(message).is_err()
        {
            metrics::webhook("dropped");
        }
    }
}

fn message(settings: &WebhookSettings, event: &BotEvent) -> Option<String> {
    let sentence = event.sentence()?;
    let wanted = |kind: &str| settings.events.iter().any(|event| event == kind);
    let kind = match event {
        BotEvent::Game(_, GameEvent::Over { info: Some(info), winner: Some(winner), .. })
            if *winner != info.our_color && wanted(LOST) =>
        {
            LOST
        }
        _ if wanted(sentence.kind) => sentence.kind,
        _ => return None,
    };
    let as_json = settings.template.trim_start().starts_with('{');
    let value = |text: &str| if as_json { in_json(text) } else { text.to_owned() };
    let parts = [
        ("{text}", value(&sentence.text)),
        ("{event}", value(kind)),
        ("{account}", value(event.server().as_str())),
        ("{game}", value(event.game().map_or("", GameId::as_str))),
    ];
    Some(fill_in(&settings.template, &parts))
}

/// Puts values in the places of a template; what a value says is no place.
fn fill_in(template: &str, parts: &[(&str, String)]) -> String {
    let mut filled = String::new();
    let mut rest = template;
    while let Some(at) = rest.find('{') {
        let (before, from) = rest.split_at(at);
        filled.push_str(before);
        match parts.iter().find_map(|(place, value)| Some((value, from.strip_prefix(place)?))) {
            Some((value, after)) => {
                filled.push_str(value);
                rest = after;
            }
            None => {
                filled.push('{');
                rest = from.get(1..).unwrap_or_default();
            }
        }
    }
    filled + rest
}

/// A text as it stands between the quotes of a JSON string.
fn in_json(text: &str) -> String {
    let quoted = serde_json::Value::from(text).to_string();
    quoted.get(1..quoted.len() - 1).unwrap_or_default().to_owned()
}

/// Sends messages in their order, each until it is taken or was tried often enough.
async fn deliver(client: Client, address: Address, mut messages: mpsc::Receiver<String>, pauses: (Duration, Duration)) {
    let mut told = false;
    while let Some(message) = messages.recv().await {
        let mut backoff = Backoff::new(pauses.0, pauses.1);
        for attempt in 1..=ATTEMPTS {
            match send(&client, &address, &message).await {
                Ok(()) => {
                    metrics::webhook("sent");
                    told = false;
                    break;
                }
                Err(_) if attempt < ATTEMPTS => sleep(backoff.next_delay()).await,
                Err(error) => {
                    metrics::webhook("failed");
                    if !std::mem::replace(&mut told, true) {
                        tracing::warn!(error, "the webhook accepts no messages; unsent ones are dropped");
                    }
                }
            }
        }
    }
}

/// Sends a message once. The error does not name the address, which may hold the secret.
async fn send(client: &Client, address: &Address, message: &str) -> Result<(), String> {
    let kind = if message.trim_start().starts_with('{') { "application/json" } else { "text/plain; charset=utf-8" };
    let mut request = client.post(&address.url).header(CONTENT_TYPE, kind).body(message.to_owned());
    if let Some(secret) = &address.bearer {
        request = request.bearer_auth(secret.reveal());
    }
    let response = request.send().await.map_err(|error| error.without_url().to_string())?;
    let status = response.status();
    if status.is_success() { Ok(()) } else { Err(format!("it answers {status}")) }
}

#[cfg(test)]
mod tests {
    use tokio::{
        io::{AsyncReadExt as _, AsyncWriteExt as _},
        net::TcpListener,
    };

    use super::*;
    use crate::session::AccountEvent;

    fn fault(what: &str) -> BotEvent {
        BotEvent::Account("lichess".into(), AccountEvent::Fault(what.to_owned()))
    }

    #[test]
    fn chosen_events_use_the_template() {
        let mut settings = WebhookSettings::default();
        let hostile = "he said \"{game}\"\n";
        let text = message(&settings, &fault(hostile)).expect("wanted");
        let json: serde_json::Value = serde_json::from_str(&text).expect("JSON");
        assert_eq!(json["text"], format!("lichess: {hostile}"), "{text}");
        settings.template = "{event} on {account}: {text} {other".to_owned();
        assert_eq!(message(&settings, &fault("x")).as_deref(), Some("fault on lichess: lichess: x {other"));
        assert_eq!(message(&settings, &BotEvent::Account("lichess".into(), AccountEvent::Closed)), None);
    }

    #[test]
    fn unknown_event_is_named() {
        let settings = WebhookSettings { events: vec!["fualt".to_owned()], ..WebhookSettings::default() };
        assert!(matches!(settings.faults().as_slice(), [Fault::Value { accepted, .. }] if accepted.contains("fualt")));
        assert_eq!(WebhookSettings::default().faults(), []);
    }

    /// A server in trouble gets the message when it is well again, with the secret.
    #[tokio::test]
    async fn message_is_retried_until_accepted() {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let url = format!("http://{}/hook", listener.local_addr().expect("an address"));
        let (sender, messages) = mpsc::channel(10);
        let address = Address::new(&url, Some(Secret::new("sesame")));
        let pauses = (Duration::from_millis(1), Duration::from_millis(1));
        let _ = ring::default_provider().install_default();
        tokio::spawn(deliver(Client::new(), address, messages, pauses));
        sender.send("hello".to_owned()).await.expect("it listens");
        for status in ["500 Internal Server Error", "200 OK"] {
            let (mut socket, _) = listener.accept().await.expect("a client");
            let mut heard = Vec::new();
            while !heard.ends_with(b"hello") {
                assert_ne!(socket.read_buf(&mut heard).await.expect("readable"), 0);
            }
            let request = String::from_utf8_lossy(&heard).to_lowercase();
            assert!(request.contains("authorization: bearer sesame"), "{request}");
            let answer = format!("HTTP/1.1 {status}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
            socket.write_all(answer.as_bytes()).await.expect("answered");
        }
    }

    /// The program ends with what is worth telling most: that the server refuses the account.
    #[tokio::test]
    async fn last_events_are_sent_at_the_end() {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let url = format!("http://{}/hook", listener.local_addr().expect("an address"));
        let bus = EventBus::new();
        let webhook = start(&WebhookSettings { url, ..WebhookSettings::default() }, &bus).expect("settings");
        let receiver = tokio::spawn(async move {
            let (mut socket, _) = listener.accept().await.expect("a client");
            let mut heard = Vec::new();
            while !heard.ends_with(b"the last word\"}") {
                assert_ne!(socket.read_buf(&mut heard).await.expect("readable"), 0);
            }
            socket.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n").await.expect("answered");
        });
        bus.tell(fault("the last word"));
        webhook.close().await;
        assert!(receiver.is_finished(), "nothing was sent");
        receiver.await.expect("no panic");
    }

    #[test]
    fn secret_in_the_url_is_sent_once() {
        let address = Address::new("https://chat.example.org/{secret}", Some(Secret::new("sesame")));
        assert!(address.url.ends_with("/sesame") && address.bearer.is_none());
    }
}
