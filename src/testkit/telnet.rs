//! Telnet client of the tests.

use std::net::SocketAddr;

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};

use crate::within;

/// The password of all accounts.
pub const PASSWORD: &str = "sesame";

/// A person at a chess server.
pub struct Telnet {
    /// Stream of the bytes that were not read yet.
    pub stream: TcpStream,
    text: String,
}

impl Telnet {
    pub async fn connect(address: SocketAddr) -> Self {
        let stream = TcpStream::connect(address).await.expect("a connection");
        let mut telnet = Self { stream, text: String::new() };
        telnet.until("login: ").await;
        telnet
    }

    /// Logs in, and sets what a client sets.
    pub async fn login(address: SocketAddr, name: &str) -> Self {
        let mut telnet = Self::connect(address).await;
        telnet.say(name).await;
        telnet.until("password: ").await;
        telnet.say(PASSWORD).await;
        telnet.until("fics% ").await;
        for command in ["set style 12", "iset nowrap 1", "iset ms 1"] {
            telnet.ask(command).await;
        }
        telnet
    }

    pub async fn say(&mut self, line: &str) {
        self.stream.write_all(format!("{line}\r\n").as_bytes()).await.expect("writable");
    }

    /// Reads up to and with `wanted`; returns what was read.
    pub async fn until(&mut self, wanted: &str) -> String {
        let read = async {
            loop {
                if let Some(at) = self.text.find(wanted) {
                    let rest = self.text.split_off(at + wanted.len());
                    return std::mem::replace(&mut self.text, rest);
                }
                let mut bytes = [0; 4096];
                let count = self.stream.read(&mut bytes).await.expect("readable");
                assert!(count > 0, "the server closed the connection; it had said {:?}", self.text);
                self.text.push_str(&String::from_utf8_lossy(&bytes[..count]));
            }
        };
        within(wanted, read).await
    }

    /// Sends a line and a second, unknown one; returns the text up to the answer to the second.
    pub async fn ask(&mut self, line: &str) -> String {
        self.say(line).await;
        self.say("that_was_all").await;
        let answer = self.until("that_was_all: Command ").await;
        self.until("\n\rfics% ").await;
        answer
    }

    /// Makes a move, and sees it on the board.
    pub async fn play(&mut self, command: &str, san: &str) {
        self.say(command).await;
        self.until(&format!(") {san} ")).await;
        self.until("fics% ").await;
    }
}
