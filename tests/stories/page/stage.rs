//! Test helpers for the browser.

pub(super) use crate::lichess::harness::within;

/// A client for plain requests; it wants a provider of encryption all the same.
pub(crate) fn client() -> reqwest::Client {
    let _ = rustls::crypto::ring::default_provider().install_default();
    reqwest::Client::builder().no_proxy().build().expect("a client")
}
