//! The connections to the server, by what they carry: nothing on which a clock waits shares one with a stream or a long answer.

use std::time::Duration;

use reqwest::{
    Client, ClientBuilder,
    header::{ACCEPT_ENCODING, HeaderValue},
};
use rustls::{ClientConfig, RootCertStore};

use super::{request::Lane, settings::ServerUrl};

/// The names of the protocols in the negotiation of TLS.
const HTTP_1: &str = "http/1.1";
const HTTP_2: &str = "h2";

#[derive(Debug)]
pub(super) struct Connections {
    streams: Client,
    moves: Client,
    others: Client,
}

impl Connections {
    /// Opens none yet. `change` has the last word on those of moves and ordinary requests.
    pub(super) fn new(url: &ServerUrl, change: impl Fn(ClientBuilder) -> ClientBuilder) -> reqwest::Result<Self> {
        let tls = if url.is_plain() { None } else { tls() };
        let builder = |protocols: &[&str]| {
            let builder = Client::builder()
                .tcp_nodelay(true)
                .connect_timeout(Duration::from_secs(5))
                .pool_idle_timeout(None)
                // No answer is unpacked here, so no proxy may pack one.
                .default_headers([(ACCEPT_ENCODING, HeaderValue::from_static("identity"))].into_iter().collect())
                // A redirected POST would arrive as a GET, elsewhere.
                .redirect(reqwest::redirect::Policy::none());
            match &tls {
                // The practice server: no proxy stands between, and no certificates need to be read.
                _ if url.is_plain() => builder.no_proxy().tls_certs_only([]),
                Some(tls) => {
                    let mut tls = tls.clone();
                    tls.alpn_protocols = protocols.iter().map(|protocol| protocol.as_bytes().to_vec()).collect();
                    builder.tls_backend_preconfigured(tls)
                }
                None => builder,
            }
        };
        // Over HTTP/2 the pings keep a connection warm between moves, and find out when it is dead.
        let pinged = || {
            change(builder(&[HTTP_2, HTTP_1]))
                .http2_keep_alive_interval(Duration::from_secs(2))
                .http2_keep_alive_timeout(Duration::from_secs(3))
                .http2_keep_alive_while_idle(true)
                .build()
        };
        // Over HTTP/1.1 the system's probes find out, and no limit of streams holds: every stream is a connection.
        let streams = builder(&[HTTP_1])
            .http1_only()
            .tcp_keepalive(Duration::from_secs(3))
            .tcp_keepalive_interval(Duration::from_secs(2))
            .tcp_keepalive_retries(3)
            .build()?;
        Ok(Self { streams, moves: pinged()?, others: pinged()? })
    }

    pub(super) fn of(&self, lane: Lane) -> &Client {
        match lane {
            Lane::Stream => &self.streams,
            Lane::Urgent => &self.moves,
            Lane::Ordinary(_) => &self.others,
        }
    }
}

/// TLS for all connections, which read the certificates of the system once and resume each other's sessions. `None` for what
/// the client does by itself: where the system judges certificates, and where it has none.
fn tls() -> Option<ClientConfig> {
    if cfg!(any(target_vendor = "apple", windows)) {
        return None;
    }
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    (!roots.is_empty()).then(|| ClientConfig::builder().with_root_certificates(roots).with_no_client_auth())
}
