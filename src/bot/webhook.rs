//! Sends chosen events to a URL: a chat service, a pager, a script.
//!
//! It listens like any watcher, so play never waits for it. Failed messages are tried again with
//! growing pauses, and finally dropped.

use std::{path::PathBuf, sync::Arc, time::Duration};

use reqwest::{Client, header::CONTENT_TYPE};
use rustls::crypto::ring;
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
    policy::chat::fill_in,
    session::{BotEvent, EventBus, GameEvent, Sentence},
};
use domain::GameId;
use util::{Backoff, Failure, Fault, Secret, values::named};

/// Capacity of the queue of messages; further ones are dropped.
const MOST_WAITING: usize = 100;
/// Timeout of one attempt, and the number of attempts.
const PATIENCE: Duration = Duration::from_secs(15);
const ATTEMPTS: u32 = 8;
/// Timeout for the last messages at the end of the program.
const LAST_WORDS: Duration = Duration::from_secs(10);
/// The first and the longest pause between two attempts.
const PAUSES: (Duration, Duration) = (Duration::from_secs(1), Duration::from_mins(5));

util::settings! {
    /// The `webhook` table: the address, the events and the form of messages.
    #[derive(Eq)]
    pub struct WebhookSettings {
        /// URL for POST requests. `{secret}` stands for the secret. Empty: nothing is sent.
        pub url: String = String::new(),
        /// Events to send: "game_lost", and the kinds that a log in JSON names, such as "fault",
        /// "rejected", "limit", "game_over", "disconnected", "challenge".
        pub events: Vec<String> = ["game_lost", "fault", "rejected", "limit"].map(str::to_owned).to_vec(),
        /// The message. `{text}` stands for the event's sentence, `{event}` for its kind, `{account}` and `{game}` for where it
        /// happened. A message that begins with `{` is JSON, and what is put into it is written as JSON wants it.
        pub template: String = r#"{"text": "{text}"}"#.to_owned(),
        /// The file that holds the secret, and nothing else. Empty: it is in CONCILIO_WEBHOOK_SECRET or
        /// in systemd's credential webhook-secret, or there is none. A secret that does not stand in
        /// the address is sent as "Authorization: Bearer".
        pub secret_file: PathBuf = PathBuf::new(),
    }
}

impl WebhookSettings {
    pub const SECRET_VARIABLE: &str = "CONCILIO_WEBHOOK_SECRET";

    /// Returns the faults of well-formed values.
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
        if named(&self.secret_file).is_some_and(|file| !file.is_file()) {
            faults.push(Fault::value("secret_file", "a file that exists"));
        }
        faults
    }
}

/// The second kind of the end of a lost game.
const LOST: &str = "game_lost";

/// Stands for the secret in the address.
const SECRET_PLACE: &str = "{secret}";

/// Sends the chosen events of the bus, unless the address is empty. Call this within a runtime.
pub fn start(settings: &WebhookSettings, bus: &EventBus) -> Result<Webhook, Failure> {
    let stop = CancellationToken::new();
    if settings.url.is_empty() {
        return Ok(Webhook { stop, delivery: None });
    }
    let file = named(&settings.secret_file);
    let secret = Secret::find("webhook's secret", file, WebhookSettings::SECRET_VARIABLE, "webhook-secret")
        .map_err(Failure::usage)?;
    if secret.is_none() && settings.url.contains(SECRET_PLACE) {
        return Err(Failure::usage(format_args!(
            "webhook.url has {SECRET_PLACE} in it, and there is no secret: name its file in webhook.secret_file, or set {}",
            WebhookSettings::SECRET_VARIABLE
        )));
    }
    // Another provider, installed before, is as good.
    let _ = ring::default_provider().install_default();
    let client = Client::builder().timeout(PATIENCE).redirect(reqwest::redirect::Policy::none()).build();
    let client = client.map_err(|error| Failure::usage(format_args!("webhook: HTTPS cannot be set up: {error}")))?;
    let address = address(&settings.url, secret);
    let events = match settings.events.iter().any(|event| event == Sentence::MOVE) {
        true => bus.listen(),
        false => bus.listen_without_moves(),
    };
    let (sender, messages) = mpsc::channel(MOST_WAITING);
    tokio::spawn(choose(settings.clone(), events, sender, stop.clone()));
    let delivery = tokio::spawn(deliver(client, address, messages, PAUSES));
    Ok(Webhook { stop, delivery: Some(delivery) })
}

/// The task that sends messages; it outlives this handle.
#[derive(Debug)]
pub struct Webhook {
    stop: CancellationToken,
    delivery: Option<JoinHandle<()>>,
}

impl Webhook {
    /// Sends the messages so far and ends, after ten seconds at the latest.
    pub async fn close(self) {
        self.stop.cancel();
        if let Some(delivery) = self.delivery
            && timeout(LAST_WORDS, delivery).await.is_err()
        {
            tracing::warn!("the webhook did not accept the last messages");
        }
    }
}

/// Puts the secret into the URL; a secret without a place there is returned, to be sent beside it.
fn address(url: &str, secret: Option<Secret>) -> (String, Option<Secret>) {
    match secret {
        Some(secret) if url.contains(SECRET_PLACE) => (url.replace(SECRET_PLACE, secret.reveal()), None),
        bearer => (url.to_owned(), bearer),
    }
}

/// Makes messages of the chosen events before `stop`. A full queue drops the newest message.
async fn choose(
    settings: WebhookSettings,
    mut events: broadcast::Receiver<Arc<BotEvent>>,
    messages: mpsc::Sender<String>,
    stop: CancellationToken,
) {
    loop {
        let event = tokio::select! {
            biased;
            event = events.recv() => match event {
                Ok(event) => event,
                Err(RecvError::Lagged(_)) => continue,
                Err(RecvError::Closed) => return,
            },
            () = stop.cancelled() => return,
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
    let (account, game) = (event.server().as_str(), event.game().map_or("", GameId::as_str));
    let values = [sentence.text.as_str(), kind, account, game].map(value);
    let [text, event, account, game] = values.each_ref().map(String::as_str);
    Some(fill_in(&settings.template, &[("text", text), ("event", event), ("account", account), ("game", game)]))
}

/// Returns a text for the inside of a JSON string.
fn in_json(text: &str) -> String {
    let quoted = serde_json::Value::from(text).to_string();
    quoted.get(1..quoted.len() - 1).unwrap_or_default().to_owned()
}

/// Sends messages in their order. Each is repeated until the receiver accepts it, [`ATTEMPTS`] times at most.
async fn deliver(
    client: Client,
    (url, bearer): (String, Option<Secret>),
    mut messages: mpsc::Receiver<String>,
    pauses: (Duration, Duration),
) {
    let mut told = false;
    while let Some(message) = messages.recv().await {
        let mut backoff = Backoff::new(pauses.0, pauses.1);
        for attempt in 1..=ATTEMPTS {
            match send(&client, &url, bearer.as_ref(), &message).await {
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

/// Sends a message once. The error does not name the address: it may hold the secret.
async fn send(client: &Client, url: &str, bearer: Option<&Secret>, message: &str) -> Result<(), String> {
    let kind = if message.trim_start().starts_with('{') { "application/json" } else { "text/plain; charset=utf-8" };
    let mut request = client.post(url).header(CONTENT_TYPE, kind).body(message.to_owned());
    if let Some(secret) = bearer {
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

    /// Accepts a request that ends with `last`, and answers with this status. Returns the request in lower case.
    async fn receive(listener: &TcpListener, last: &str, status: &str) -> String {
        let (mut socket, _) = listener.accept().await.expect("a client");
        let mut heard = Vec::new();
        while !heard.ends_with(last.as_bytes()) {
            assert_ne!(socket.read_buf(&mut heard).await.expect("readable"), 0);
        }
        let answer = format!("HTTP/1.1 {status}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
        socket.write_all(answer.as_bytes()).await.expect("answered");
        String::from_utf8_lossy(&heard).to_lowercase()
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

    /// A server gets the message, with the secret, after its recovery.
    #[tokio::test]
    async fn message_is_retried_until_accepted() {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let url = format!("http://{}/hook", listener.local_addr().expect("an address"));
        let (sender, messages) = mpsc::channel(10);
        let address = address(&url, Some(Secret::new("sesame")));
        let pauses = (Duration::from_millis(1), Duration::from_millis(1));
        let _ = ring::default_provider().install_default();
        tokio::spawn(deliver(Client::new(), address, messages, pauses));
        sender.send("hello".to_owned()).await.expect("it listens");
        for status in ["500 Internal Server Error", "200 OK"] {
            let request = receive(&listener, "hello", status).await;
            assert!(request.contains("authorization: bearer sesame"), "{request}");
        }
    }

    /// The last event may be the most important one: the server rejects the account.
    #[tokio::test]
    async fn last_events_are_sent_at_the_end() {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let url = format!("http://{}/hook", listener.local_addr().expect("an address"));
        let bus = EventBus::new();
        let webhook = start(&WebhookSettings { url, ..WebhookSettings::default() }, &bus).expect("settings");
        let receiver = tokio::spawn(async move { receive(&listener, "the last word\"}", "200 OK").await });
        bus.tell(fault("the last word"));
        webhook.close().await;
        assert!(receiver.is_finished(), "nothing was sent");
        receiver.await.expect("no panic");
    }

    #[test]
    fn secret_in_the_url_is_sent_once() {
        let (url, bearer) = address("https://chat.example.org/{secret}", Some(Secret::new("sesame")));
        assert!(url.ends_with("/sesame") && bearer.is_none());
    }
}
