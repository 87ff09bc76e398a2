//! A server that does what the test says, over a real socket: it hands every request to the test, which answers it.

use std::{collections::VecDeque, fmt::Write as _};

use testkit::within;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    sync::mpsc,
};

pub(crate) struct ScriptedServer {
    pub url: String,
    requests: mpsc::UnboundedReceiver<Request>,
    /// Came before anybody asked for them.
    waiting: VecDeque<Request>,
}

impl ScriptedServer {
    pub(crate) async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let url = format!("http://{}", listener.local_addr().expect("an address"));
        let (sender, requests) = mpsc::unbounded_channel();
        tokio::spawn(async move {
            while let Ok((socket, _)) = listener.accept().await {
                tokio::spawn(read_request(socket, sender.clone()));
            }
        });
        Self { url, requests, waiting: VecDeque::new() }
    }

    /// The next request that begins with `start`, such as `POST /api/challenge`. Others wait for their turn.
    pub(crate) async fn expect(&mut self, start: &str) -> Request {
        if let Some(at) = self.waiting.iter().position(|request| request.line.starts_with(start)) {
            return self.waiting.remove(at).expect("just found");
        }
        loop {
            let request = within(start, self.requests.recv()).await.expect("the listener lives");
            if request.line.starts_with(start) {
                return request;
            }
            self.waiting.push_back(request);
        }
    }

    /// Returns the number of requests beginning with `start` that wait for an answer.
    pub(crate) fn count(&mut self, start: &str) -> usize {
        while let Ok(request) = self.requests.try_recv() {
            self.waiting.push_back(request);
        }
        self.waiting.iter().filter(|request| request.line.starts_with(start)).count()
    }
}

pub(crate) struct Request {
    pub line: String,
    pub headers: Vec<(String, String)>,
    pub body: String,
    socket: TcpStream,
    next: mpsc::UnboundedSender<Request>,
}

impl Request {
    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers.iter().find(|(known, _)| known == name).map_or("", |(_, value)| value)
    }

    pub(crate) async fn ok(self, body: &str) {
        self.answer(200, "Content-Type: application/json\r\n", body).await;
    }

    /// Answers, and keeps the connection for the next request. Headers end in `\r\n` each.
    pub(crate) async fn answer(mut self, status: u16, headers: &str, body: &str) {
        let text = format!("HTTP/1.1 {status} Words\r\nContent-Length: {}\r\n{headers}\r\n{body}", body.len());
        self.socket.write_all(text.as_bytes()).await.expect("the client listens");
        tokio::spawn(read_request(self.socket, self.next));
    }

    pub(crate) async fn stream(mut self) -> Lines {
        let head = "HTTP/1.1 200 OK\r\nContent-Type: application/x-ndjson\r\nTransfer-Encoding: chunked\r\n\r\n";
        self.socket.write_all(head.as_bytes()).await.expect("the client listens");
        self.socket.set_nodelay(true).expect("a socket");
        Lines { socket: self.socket }
    }
}

/// An open stream. Dropped, its connection breaks off in the middle.
pub(crate) struct Lines {
    socket: TcpStream,
}

impl Lines {
    pub(crate) async fn line(&mut self, line: &str) {
        self.bytes(format!("{line}\n").as_bytes()).await;
    }

    pub(crate) async fn bytes(&mut self, bytes: &[u8]) {
        let mut chunk = format!("{:x}\r\n", bytes.len()).into_bytes();
        chunk.extend_from_slice(bytes);
        chunk.extend_from_slice(b"\r\n");
        self.socket.write_all(&chunk).await.expect("the client listens");
    }

    pub(crate) async fn end(mut self) {
        self.socket.write_all(b"0\r\n\r\n").await.expect("the client listens");
    }

    pub(crate) fn reset(self) {
        self.socket.set_zero_linger().expect("a socket");
    }

    /// Waits until the client has closed the connection.
    pub(crate) async fn closed(mut self) {
        let mut nothing = [0; 16];
        while within("the end", self.socket.read(&mut nothing)).await.is_ok_and(|count| count > 0) {}
    }
}

async fn read_request(mut socket: TcpStream, next: mpsc::UnboundedSender<Request>) {
    let mut bytes = Vec::new();
    let head_end = loop {
        if let Some(at) = bytes.windows(4).position(|window| window == b"\r\n\r\n") {
            break at;
        }
        if socket.read_buf(&mut bytes).await.unwrap_or(0) == 0 {
            return;
        }
    };
    let head = String::from_utf8(bytes[..head_end].to_vec()).expect("a head of text");
    let mut lines = head.split("\r\n");
    let mut line = String::new();
    for word in lines.next().unwrap_or_default().split(' ').take(2) {
        let _ = write!(line, "{}{word}", if line.is_empty() { "" } else { " " });
    }
    let headers: Vec<(String, String)> = lines
        .filter_map(|line| line.split_once(": "))
        .map(|(name, value)| (name.to_lowercase(), value.to_owned()))
        .collect();
    let length = headers
        .iter()
        .find(|(name, _)| name == "content-length")
        .map_or(0, |(_, value)| value.parse().expect("a length"));
    let mut body = bytes.split_off(head_end + 4);
    while body.len() < length {
        if socket.read_buf(&mut body).await.unwrap_or(0) == 0 {
            return;
        }
    }
    let body = String::from_utf8(body).expect("a body of text");
    let _ = next.send(Request { line, headers, body, socket, next: next.clone() });
}
