//! The lists of names in files and at addresses, kept up to date: an operator edits a file, a community maintains a block
//! list, and the running daemon follows.

use std::{
    collections::BTreeMap,
    io,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use rustls::crypto::ring;
use tokio::{sync::watch, time::sleep};
use tokio_util::sync::CancellationToken;

use super::Failure;
use crate::settings::Settings;
use bot::policy::{NameLists, challenge::Names};

/// How often the lists are read again.
const EVERY: Duration = Duration::from_secs(3600);
/// How long one list may take to arrive.
const TIMEOUT: Duration = Duration::from_secs(15);
/// A longer list is taken for a mistake.
const LONGEST: usize = 4 << 20;

/// What each address gave last. Settings that are read again begin with it.
static KNOWN: Mutex<BTreeMap<String, Names>> = Mutex::new(BTreeMap::new());

/// Reads the lists again and again and tells of every change, until nobody listens or `stop`. An address that does not
/// answer keeps the names it gave last.
pub(super) fn follow(settings: Arc<Settings>, stop: CancellationToken) -> Result<watch::Receiver<NameLists>, Failure> {
    let no_urls = settings.challenge.block_urls.is_empty() && settings.matchmaking.avoid_urls.is_empty();
    // Who fetches nothing needs no client, which would hold the system's certificates in memory.
    let client = if no_urls { None } else { Some(client()?) };
    let (sender, receiver) = watch::channel(known_lists(&settings)?);
    tokio::spawn(async move {
        while !sender.is_closed() {
            if let Some(client) = &client {
                fetch_all(client, &settings.challenge.block_urls).await;
                fetch_all(client, &settings.matchmaking.avoid_urls).await;
            }
            match known_lists(&settings) {
                Ok(lists) => {
                    sender.send_if_modified(|known| {
                        let changed = *known != lists;
                        *known = lists;
                        changed
                    });
                }
                Err(error) => tracing::warn!(%error, "the lists of names cannot be read; the last ones hold"),
            }
            tokio::select! {
                () = sleep(EVERY) => (),
                () = sender.closed() => (),
                () = stop.cancelled() => return,
            }
        }
    });
    Ok(receiver)
}

/// The names of the settings, of their files, and those that their addresses gave last.
fn known_lists(settings: &Settings) -> io::Result<NameLists> {
    let mut lists = settings.name_lists()?;
    lists.block.extend(known_names(&settings.challenge.block_urls));
    lists.avoid.extend(known_names(&settings.matchmaking.avoid_urls));
    Ok(lists)
}

/// Fetches the lists at these addresses.
async fn fetch_all(client: &reqwest::Client, urls: &[String]) {
    for url in urls {
        match fetch(client, url).await {
            Ok(names) => {
                known().insert(url.clone(), names);
            }
            Err(error) => tracing::warn!(url, %error, "a list of names cannot be had; the last one holds"),
        }
    }
}

/// All names that these addresses gave last.
fn known_names(urls: &[String]) -> Names {
    let (mut all, known) = (Names::default(), known());
    urls.iter().filter_map(|url| known.get(url)).for_each(|names| all.extend(names.clone()));
    all
}

fn known() -> MutexGuard<'static, BTreeMap<String, Names>> {
    KNOWN.lock().unwrap_or_else(PoisonError::into_inner)
}

fn client() -> Result<reqwest::Client, reqwest::Error> {
    // A provider may be installed already; whichever it is will do.
    let _ = ring::default_provider().install_default();
    reqwest::Client::builder().timeout(TIMEOUT).build()
}

/// A list at an address: one name a line, as in a file.
async fn fetch(client: &reqwest::Client, url: &str) -> Result<Names, reqwest::Error> {
    let mut response = client.get(url).send().await?.error_for_status()?;
    let mut text = Vec::new();
    while let Some(chunk) = response.chunk().await? {
        text.extend_from_slice(&chunk);
        if text.len() > LONGEST {
            tracing::warn!(url, "the list is longer than {LONGEST} bytes; what came so far holds");
            break;
        }
    }
    Ok(Names::parse(&String::from_utf8_lossy(&text)))
}

#[cfg(test)]
mod tests {
    use tokio::{io::AsyncWriteExt as _, net::TcpListener};

    use super::*;

    #[tokio::test]
    async fn a_block_list_at_an_address_is_followed() {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let url = format!("http://{}/list", listener.local_addr().expect("an address"));
        tokio::spawn(async move {
            let (mut socket, _) = listener.accept().await.expect("a client");
            let body = "# cheats\nMallory\n";
            let answer = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n{body}", body.len());
            socket.write_all(answer.as_bytes()).await.expect("answered");
        });
        let mut settings = Settings::default();
        settings.challenge.block = vec!["Eve".to_owned()];
        settings.challenge.block_urls = vec![url];
        let settings = Arc::new(settings);
        let mut lists = follow(Arc::clone(&settings), CancellationToken::new()).expect("readable");
        assert!(lists.borrow_and_update().block.contains("eve"), "what is known at once holds at once");
        lists.changed().await.expect("fetched");
        let is_whole = |lists: &NameLists| lists.block.contains("mallory") && lists.block.contains("eve");
        assert!(is_whole(&lists.borrow()), "{:?}", lists.borrow());
        // The address gives it no second time.
        let again = follow(settings, CancellationToken::new()).expect("readable");
        assert!(is_whole(&again.borrow()), "settings that are read again lose no names");
    }

    #[tokio::test]
    async fn lists_are_followed_until_others_hold() {
        let stop = CancellationToken::new();
        let mut lists = follow(Arc::new(Settings::default()), stop.clone()).expect("readable");
        stop.cancel();
        let next = tokio::time::timeout(TIMEOUT, lists.changed()).await.expect("no hang");
        assert!(next.is_err(), "nobody reads them any more");
    }
}
