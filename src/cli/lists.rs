//! The lists of names in files and at addresses, kept up to date: an operator edits a file, a community maintains a block
//! list, and the running daemon follows.

use std::{
    collections::{BTreeMap, BTreeSet},
    io,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use rustls::crypto::ring;
use tokio::{
    sync::watch,
    time::{Instant, sleep_until},
};
use tokio_util::sync::CancellationToken;

use super::Failure;
use crate::settings::Settings;
use bot::policy::{NameLists, challenge::Names};

const EVERY: Duration = Duration::from_secs(3600);
/// Interval at which failed URLs are tried again.
const AGAIN: Duration = Duration::from_secs(60);
const TIMEOUT: Duration = Duration::from_secs(15);
/// A longer list is taken for a mistake.
const LONGEST: usize = 4 << 20;

/// Last list of each URL. Reloaded settings begin with it.
static KNOWN: Mutex<BTreeMap<String, Names>> = Mutex::new(BTreeMap::new());

/// A list does not begin like a page for browsers; an error of a proxy does.
const IS_A_PAGE: &str = "received a page instead of a list";
/// An empty answer is most likely a fault, since an emptied list can keep a comment.
const IS_EMPTY: &str = "received an empty list, where there were names before";

/// Reads the lists again and again and sends every change, until the receiver is gone or `stop`. A
/// URL without a list keeps its last names, and is tried again every minute.
pub(super) fn follow(settings: Arc<Settings>, stop: CancellationToken) -> Result<watch::Receiver<NameLists>, Failure> {
    let no_urls = settings.challenge.block_urls.is_empty() && settings.matchmaking.avoid_urls.is_empty();
    // Without URLs no client is needed: it would hold the system's certificates in memory.
    let client = if no_urls { None } else { Some(client()?) };
    let (sender, receiver) = watch::channel(known_lists(&settings)?);
    tokio::spawn(async move {
        let urls = settings.challenge.block_urls.iter().chain(&settings.matchmaking.avoid_urls);
        let all: BTreeSet<String> = urls.cloned().collect();
        let (mut wanted, mut is_repeated) = (all.clone(), false);
        let mut all_due = Instant::now() + EVERY;
        while !sender.is_closed() {
            let failed = match &client {
                Some(client) => fetch_all(client, &wanted, is_repeated).await,
                None => BTreeSet::new(),
            };
            match known_lists(&settings) {
                Ok(lists) => {
                    sender.send_if_modified(|known| {
                        let changed = *known != lists;
                        *known = lists;
                        changed
                    });
                }
                Err(error) => tracing::warn!(%error, "cannot read the lists of names; keeping the last ones"),
            }
            tokio::select! {
                () = sleep_until(next_fetch(Instant::now(), all_due, !failed.is_empty())) => (),
                () = sender.closed() => (),
                () = stop.cancelled() => return,
            }
            let now = Instant::now();
            is_repeated = now < all_due;
            if is_repeated {
                wanted = failed;
            } else {
                wanted = all.clone();
                all_due = now + EVERY;
            }
        }
    });
    Ok(receiver)
}

/// Returns the time of the next fetch: when all lists are due, or earlier for failed ones.
fn next_fetch(now: Instant, all_due: Instant, has_failed: bool) -> Instant {
    if has_failed { all_due.min(now + AGAIN) } else { all_due }
}

/// The names of the settings, of their files, and those that their addresses gave last.
fn known_lists(settings: &Settings) -> io::Result<NameLists> {
    let mut lists = settings.name_lists()?;
    lists.block.extend(known_names(&settings.challenge.block_urls));
    lists.avoid.extend(known_names(&settings.matchmaking.avoid_urls));
    Ok(lists)
}

/// Fetches the lists at these addresses, and gives the addresses whose lists could not be had. Where they are tried again
/// (`is_repeated`), the log has already said that they failed.
async fn fetch_all(client: &reqwest::Client, urls: &BTreeSet<String>, is_repeated: bool) -> BTreeSet<String> {
    let mut failed = BTreeSet::new();
    for url in urls {
        let has_names = known().get(url).is_some_and(|names| !names.is_empty());
        match fetch(client, url, has_names).await {
            Ok(names) => {
                if is_repeated {
                    tracing::info!(url, "list of names received");
                }
                known().insert(url.clone(), names);
            }
            Err(error) => {
                let holds = if has_names { "keeping the last ones" } else { "it has given none yet" };
                if is_repeated {
                    tracing::debug!(url, %error, "still cannot fetch a list of names; {holds}");
                } else {
                    tracing::warn!(url, %error, "cannot fetch a list of names; {holds}; retrying every minute");
                }
                failed.insert(url.clone());
            }
        }
    }
    failed
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

/// A list at an address: one name a line, as in a file. Whether it `has_names` already says what is to be thought of an empty one.
async fn fetch(client: &reqwest::Client, url: &str, has_names: bool) -> Result<Names, Failure> {
    let mut response = client.get(url).send().await?.error_for_status()?;
    let mut text = Vec::new();
    while let Some(chunk) = response.chunk().await? {
        text.extend_from_slice(&chunk);
        if text.len() > LONGEST {
            tracing::warn!(url, "the list is longer than {LONGEST} bytes; using its beginning");
            break;
        }
    }
    read(&String::from_utf8_lossy(&text), has_names)
}

/// The names in an answer, if it is a list of names.
fn read(text: &str, has_names: bool) -> Result<Names, Failure> {
    let text = text.trim_start_matches('\u{feff}').trim();
    if text.starts_with('<') {
        Err(Failure::failed(IS_A_PAGE))
    } else if text.is_empty() && has_names {
        Err(Failure::failed(IS_EMPTY))
    } else {
        Ok(Names::parse(text))
    }
}

#[cfg(test)]
mod tests {
    use tokio::{
        io::{AsyncReadExt as _, AsyncWriteExt as _},
        net::TcpListener,
    };

    use super::*;

    /// The address of a server that answers so, with one text after another, and then no more.
    async fn address_of(texts: &'static [&'static str]) -> String {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let url = format!("http://{}/list", listener.local_addr().expect("an address"));
        tokio::spawn(async move {
            for text in texts {
                let (mut socket, _) = listener.accept().await.expect("a client");
                // A connection closed with unread bytes is reset, and its answer may be lost.
                let mut request = [0; 4096];
                let _ = socket.read(&mut request).await;
                let head = format!("HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: {}", text.len());
                socket.write_all(format!("{head}\r\n\r\n{text}").as_bytes()).await.expect("answered");
            }
        });
        url
    }

    #[tokio::test]
    async fn block_list_at_a_url_is_followed() {
        let mut settings = Settings::default();
        settings.challenge.block = vec!["Eve".to_owned()];
        settings.challenge.block_urls = vec![address_of(&["# cheats\nMallory\n"]).await];
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

    /// An answer that is no list removes no names, whatever its status, and counts as a failure.
    #[tokio::test]
    async fn failing_url_keeps_its_names() {
        let url =
            address_of(&["Mallory\n", "<!doctype html>\n<title>Down for maintenance</title>", "", "# none\n"]).await;
        let (client, urls) = (client().expect("a client"), BTreeSet::from([url.clone()]));
        assert!(fetch_all(&client, &urls, false).await.is_empty());
        for _ in ["a page", "nothing"] {
            assert_eq!(fetch_all(&client, &urls, false).await, urls);
            assert!(known_names(std::slice::from_ref(&url)).contains("mallory"));
        }
        assert!(fetch_all(&client, &urls, true).await.is_empty());
        assert!(known_names(std::slice::from_ref(&url)).is_empty(), "a comment alone is a list without names");
        assert_eq!(fetch_all(&client, &urls, false).await, urls, "the server is gone");
    }

    #[test]
    fn only_lists_of_names_are_accepted() {
        for page in ["<html>", " \r\n<!doctype html>", "\u{feff}<html>"] {
            assert!(read(page, false).is_err_and(|error| error.to_string() == IS_A_PAGE), "{page:?}");
        }
        assert!(read(" \n", true).is_err_and(|error| error.to_string() == IS_EMPTY));
        assert!(read(" \n", false).is_ok_and(|names| names.is_empty()), "nothing is lost by it");
        assert!(read("\u{feff}Mallory\n", true).is_ok_and(|names| names.contains("mallory")));
    }

    #[test]
    fn failed_lists_are_retried_in_a_minute() {
        let now = Instant::now();
        assert_eq!(next_fetch(now, now + EVERY, false), now + EVERY);
        assert_eq!(next_fetch(now, now + EVERY, true), now + AGAIN);
        assert_eq!(next_fetch(now, now + AGAIN / 2, true), now + AGAIN / 2, "together with all others");
    }

    #[tokio::test]
    async fn lists_are_followed_until_replaced() {
        let stop = CancellationToken::new();
        let mut lists = follow(Arc::new(Settings::default()), stop.clone()).expect("readable");
        stop.cancel();
        let next = tokio::time::timeout(TIMEOUT, lists.changed()).await.expect("no hang");
        assert!(next.is_err(), "the reader has stopped");
    }
}
