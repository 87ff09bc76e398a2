//! Addresses of services.

use reqwest::Url;

/// The accepted forms of an address.
pub(crate) const ADDRESS: &str = "https://..., or http://... only to localhost, 127.0.0.1 or [::1]";

/// Returns the address of a service, if the connection is private.
pub(crate) fn address(text: &str) -> Option<Url> {
    let url: Url = text.parse().ok()?;
    let is_here = matches!(url.host_str()?, "localhost" | "127.0.0.1" | "[::1]");
    (url.scheme() == "https" || url.scheme() == "http" && is_here).then_some(url)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_http_is_local_only() {
        for good in ["https://lichess.org", "http://127.0.0.1:9663", "http://[::1]:80/below"] {
            assert!(address(good).is_some(), "{good}");
        }
        for bad in ["lichess.org", "http://lichess.org", "ftp://localhost", ""] {
            assert!(address(bad).is_none(), "{bad}");
        }
    }
}
