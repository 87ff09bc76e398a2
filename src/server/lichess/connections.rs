//! The connections to the server, by what they carry: nothing on which a clock waits shares one with a stream or a long answer.

use std::time::Duration;

use reqwest::{Client, ClientBuilder};

use super::{http::Lane, settings::ServerUrl};

/// The connections, by what they carry.
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

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use tokio::{
        io::{AsyncReadExt, AsyncWriteExt},
        net::{TcpListener, TcpStream},
        sync::mpsc,
        task::JoinSet,
    };

    use crate::lichess::{
        LichessSettings, Token,
        http::{Http, HttpCall},
    };

    const OK: &str = r#"{"ok":true}"#;

    /// A server that allows ten requests at a time on a connection of HTTP/2. A stream it begins never ends.
    async fn server() -> String {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let url = format!("http://{}", listener.local_addr().expect("an address"));
        tokio::spawn(async move {
            while let Ok((socket, _)) = listener.accept().await {
                tokio::spawn(async move {
                    let mut start = [0; 3];
                    let _ = socket.peek(&mut start).await;
                    if &start == b"PRI" { over_http2(socket).await } else { over_http1(socket).await }
                });
            }
        });
        url
    }

    async fn over_http2(socket: TcpStream) {
        let mut builder = h2::server::Builder::new();
        let mut connection =
            builder.max_concurrent_streams(10).handshake::<_, bytes::Bytes>(socket).await.expect("HTTP/2");
        let mut open = Vec::new();
        while let Some(Ok((request, mut respond))) = connection.accept().await {
            let response = http::Response::new(());
            if request.uri().path().contains("/stream/") {
                open.push(respond.send_response(response, false));
            } else if let Ok(mut body) = respond.send_response(response, false) {
                let _ = body.send_data(OK.into(), true);
            }
        }
    }

    async fn over_http1(mut socket: TcpStream) {
        let mut request = vec![0; 4096];
        let length = socket.read(&mut request).await.unwrap_or(0);
        let is_stream = request[..length].windows(8).any(|part| part == b"/stream/");
        let head = if is_stream { "Transfer-Encoding: chunked" } else { "Content-Length: 11" };
        let body = if is_stream { "" } else { OK };
        let answer = format!("HTTP/1.1 200 OK\r\n{head}\r\n\r\n{body}");
        let _ = socket.write_all(answer.as_bytes()).await;
        // It stays open until the client has gone.
        while socket.read(&mut request).await.is_ok_and(|count| count > 0) {}
    }

    /// Moves share nothing with the streams, and streams share no connection with each other.
    #[tokio::test]
    async fn a_hundred_games_behind_a_limit_of_ten_streams_move_without_waiting() {
        let settings = LichessSettings {
            url: server().await.parse().expect("an address"),
            move_timeout: std::time::Duration::from_secs(60),
            idle_timeout: std::time::Duration::from_secs(60),
            ..LichessSettings::default()
        };
        let token = Token::parse("lip_secret", "the test").expect("a token");
        let http = Http::with(&settings, token, reqwest::ClientBuilder::http2_prior_knowledge).expect("a client");
        let http = Arc::new(http);
        let mut streams = Vec::new();
        for game in 0..100 {
            let path = ["api", "bot", "game", "stream", &format!("game{game:04}")];
            streams.push(http.open(&path, settings.idle_timeout).await.expect("a stream"));
        }
        let mut moves = JoinSet::new();
        let (waited, mut waits) = mpsc::unbounded_channel();
        for game in 0..100 {
            let (http, waited) = (Arc::clone(&http), waited.clone());
            moves.spawn(async move {
                let asked = std::time::Instant::now();
                let path = ["api", "bot", "game", &format!("game{game:04}"), "move", "e2e4"];
                let answer = http.call(HttpCall::urgent(&path)).await;
                let _ = waited.send(asked.elapsed());
                answer
            });
        }
        while let Some(answer) = moves.join_next().await {
            assert_eq!(answer.expect("no panic").as_deref(), Ok(OK));
        }
        drop(waited);
        let mut longest = std::time::Duration::ZERO;
        while let Some(wait) = waits.recv().await {
            longest = longest.max(wait);
        }
        println!("{} streams are open; the slowest of 100 moves took {longest:?}", streams.len());
    }
}
