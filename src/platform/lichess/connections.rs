//! The connections to the server, by what they carry: nothing on which a clock waits shares one with a stream or a long answer.

use std::time::Duration;

use reqwest::{
    Client, ClientBuilder,
    header::{ACCEPT_ENCODING, HeaderValue},
};

use super::{request::Lane, settings::ServerUrl};

#[derive(Debug)]
pub(super) struct Connections {
    streams: Client,
    moves: Client,
    others: Client,
}

impl Connections {
    /// Opens none yet. `change` has the last word on those of moves and ordinary requests.
    pub(super) fn new(url: &ServerUrl, change: impl Fn(ClientBuilder) -> ClientBuilder) -> reqwest::Result<Self> {
        let builder = || {
            let builder = Client::builder()
                .tcp_nodelay(true)
                .connect_timeout(Duration::from_secs(5))
                .pool_idle_timeout(None)
                // No answer is unpacked here, so no proxy may pack one.
                .default_headers([(ACCEPT_ENCODING, HeaderValue::from_static("identity"))].into_iter().collect())
                // A redirected POST would arrive as a GET, elsewhere.
                .redirect(reqwest::redirect::Policy::none());
            // The practice server: no proxy stands between, and no certificates need to be read.
            if url.is_plain() { builder.no_proxy().tls_certs_only([]) } else { builder }
        };
        // Over HTTP/2 the pings keep a connection warm between moves, and find out when it is dead.
        let pinged = || {
            change(builder())
                .http2_keep_alive_interval(Duration::from_secs(2))
                .http2_keep_alive_timeout(Duration::from_secs(3))
                .http2_keep_alive_while_idle(true)
                .build()
        };
        // Over HTTP/1.1 the system's probes find out, and no limit of streams holds: every stream is a connection.
        let streams = builder()
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
