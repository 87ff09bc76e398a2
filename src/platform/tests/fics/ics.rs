//! A chess server that does as it is told: the tests speak its lines and wait for the client's.

use std::{collections::VecDeque, time::Duration};

use domain::{Color, Line};
use platform::fics::{FicsSettings, Timeseal};
use shakmaty::{CastlingSide, Position, san::SanPlus};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    time::timeout,
};
use util::timeseal;

/// Turns a hang into a failure.
pub(crate) const PATIENCE: Duration = Duration::from_secs(20);

pub(crate) struct Ics {
    listener: TcpListener,
}

impl Ics {
    pub(crate) async fn start() -> Self {
        Self { listener: TcpListener::bind("127.0.0.1:0").await.expect("a free port") }
    }

    pub(crate) fn settings(&self, name: &str) -> FicsSettings {
        FicsSettings {
            host: "127.0.0.1".to_owned(),
            port: self.listener.local_addr().expect("an address").port(),
            fallback_port: 0,
            timeseal: Timeseal::Off,
            username: name.to_owned(),
            reconnect_max: 1,
            ..FicsSettings::default()
        }
    }

    /// The next connection, with nothing said yet.
    pub(crate) async fn connection(&self) -> Connection {
        let (stream, _) = timeout(PATIENCE, self.listener.accept()).await.expect("a client").expect("a connection");
        Connection { stream, received: Vec::new(), commands: VecDeque::new(), sealed: false }
    }

    /// Accepts the next connection, as a guest of this name.
    pub(crate) async fn guest(&self, name: &str) -> Connection {
        let mut connection = self.connection().await;
        connection.say("Welcome\n\nlogin: ").await;
        connection.expect("guest").await;
        connection.say(&format!("\nPress return to enter the server as \"{name}\":\n")).await;
        connection.expect("").await;
        connection.say(&format!("\n**** Starting FICS session as {name}(U) ****\n\nfics% ")).await;
        connection
    }

    /// The next connection, logged in as `name` with `sesame`, set up, and asking for its adjourned games.
    pub(crate) async fn session(&self, name: &str) -> Connection {
        self.session_after(name, "stored").await
    }

    /// The next connection, set up, of a client that sends `first` before all else.
    pub(crate) async fn session_after(&self, name: &str, first: &str) -> Connection {
        let mut connection = self.connection().await;
        connection.log_in(name).await;
        connection.set_up_until(first).await;
        connection
    }
}

/// One client, from the server's side.
pub(crate) struct Connection {
    stream: TcpStream,
    received: Vec<u8>,
    commands: VecDeque<String>,
    sealed: bool,
}

impl Connection {
    /// Sends text; line ends become the server's own.
    pub(crate) async fn say(&mut self, text: &str) {
        self.write(text.replace('\n', "\n\r").as_bytes()).await;
    }

    /// Sends something unasked, as the server does: on lines of its own, and the prompt after it.
    pub(crate) async fn announce(&mut self, text: &str) {
        self.say(&format!("\n{text}\nfics% ")).await;
    }

    pub(crate) async fn write(&mut self, bytes: &[u8]) {
        self.stream.write_all(bytes).await.expect("the client reads");
    }

    pub(crate) async fn command(&mut self) -> String {
        timeout(PATIENCE, self.next_command()).await.expect("a command").expect("a connection that stands")
    }

    /// The next command, or nothing when the client has gone.
    pub(crate) async fn next_command(&mut self) -> Option<String> {
        loop {
            if let Some(command) = self.commands.pop_front() {
                return Some(command);
            }
            let mut bytes = [0; 4096];
            let count = self.stream.read(&mut bytes).await.unwrap_or(0);
            if count == 0 {
                return None;
            }
            self.received.extend_from_slice(&bytes[..count]);
            while let Some(end) = self.received.iter().position(|byte| *byte == b'\n') {
                let line: Vec<u8> = self.received.drain(..=end).take(end).collect();
                let line = if self.sealed || line.first().is_some_and(|byte| *byte >= 0x80) {
                    self.sealed = true;
                    timeseal::open(&line).expect("a sealed line").0
                } else {
                    line
                };
                self.commands.push_back(String::from_utf8(line).expect("plain letters"));
            }
        }
    }

    /// The next command must be this one; questions for a sign of life and for our last games are answered on the way.
    pub(crate) async fn expect(&mut self, expected: &str) {
        loop {
            let command = self.command().await;
            let answer = match command.as_str() {
                command if command == expected => return,
                "date" => "Server time    - Fri Nov 20, 21:11 UTC 2026",
                "history" => "Somebot has no history games.",
                "endoflists" => "endoflists: Command not found.",
                other => panic!("{other} came instead of {expected}"),
            };
            self.say(&format!("{answer}\nfics% ")).await;
        }
    }

    /// The next command must be this one; it is answered.
    pub(crate) async fn answers(&mut self, command: &str, answer: &str) {
        self.expect(command).await;
        self.say(&format!("{answer}\nfics% ")).await;
    }

    pub(crate) async fn log_in(&mut self, name: &str) {
        self.say("Welcome\n\nlogin: ").await;
        self.expect(name).await;
        self.say(&format!("\n\"{name}\" is a registered name.  If it is yours, type the password.\n\npassword: "))
            .await;
        self.write(b"\xff\xfb\x01").await;
        self.expect("sesame").await;
        self.write(b"\xff\xfc\x01").await;
        self.say(&format!("\n**** Starting FICS session as {name}(C) ****\n\nfics% ")).await;
    }

    /// Takes every setting, and the question for adjourned games that follows; a client that lost a game has the board shown first.
    pub(crate) async fn set_up(&mut self) -> Vec<String> {
        self.set_up_until("stored").await
    }

    pub(crate) async fn set_up_until(&mut self, last: &str) -> Vec<String> {
        let mut commands = Vec::new();
        loop {
            let command = self.command().await;
            match command.as_str() {
                command if command == last => return commands,
                "ivariables" => self.say("Interface variable settings\n\nms=1   pendinfo=1  nowrap=1\n\nfics% ").await,
                _ => self.say(&format!("{command}.\nfics% ")).await,
            }
            commands.push(command);
        }
    }
}

pub(crate) struct Board {
    pub number: u32,
    pub white: &'static str,
    pub black: &'static str,
    pub line: Line,
}

impl Board {
    pub(crate) fn new(number: u32, white: &'static str, black: &'static str) -> Self {
        Self { number, white, black, line: Line::start(domain::Variant::Standard) }
    }

    pub(crate) fn play(&mut self, uci: &str) {
        self.line.play_all(uci).expect("a legal move");
    }

    /// The lines with which the game begins or goes on, for the player of `color`.
    pub(crate) fn start(&self, verb: &str, color: Color) -> String {
        let Self { number, white, black, .. } = self;
        format!(
            "Creating: {white} (1500) {black} (++++) unrated blitz 5 2\n\
             {{Game {number} ({white} vs. {black}) {verb} unrated blitz match.}}\n\n\
             <g1> {number} p=0 t=blitz r=0 u=0,1 it=300,2 i=300,2 pt=0 rt=1500,0 ts=1,0\n\n{}",
            self.style12(color)
        )
    }

    pub(crate) fn end(&self, reason: &str) -> String {
        format!("{{Game {} ({} vs. {}) {reason}", self.number, self.white, self.black)
    }

    pub(crate) fn moves(&self) -> String {
        let mut text = format!(
            "\nMovelist for game {}:\n\n{} (1500) vs. {} (UNR) --- Fri Nov 20, 21:11 UTC 2026\n\
             Unrated blitz match, initial time: 5 minutes, increment: 2 seconds.\n\nMove  White   Black\n----  -----   -----\n",
            self.number, self.white, self.black
        );
        for (number, pair) in self.sans().chunks(2).enumerate() {
            text.push_str(&format!("{:3}.  {}\n", number + 1, pair.join("   (0:00.100)   ")));
        }
        text + "      {Still in progress} *\n\nfics% "
    }

    fn sans(&self) -> Vec<String> {
        let mut position = self.line.start_position().clone();
        let san = |uci: &domain::UciMove| {
            let mv = uci.to_move(&position).expect("a legal move");
            SanPlus::from_move_and_play_unchecked(&mut position, mv).to_string()
        };
        self.line.moves().iter().map(san).collect()
    }

    /// Style 12, as the player of `color` sees it.
    pub(crate) fn style12(&self, color: Color) -> String {
        let position = self.line.position();
        let fen = position.board().board_fen().to_string();
        let ranks: Vec<String> = fen
            .split('/')
            .map(|rank| {
                rank.chars().map(|c| c.to_digit(10).map_or(c.to_string(), |n| "-".repeat(n as usize))).collect()
            })
            .collect();
        let rights = [Color::White, Color::Black].map(|color| {
            [CastlingSide::KingSide, CastlingSide::QueenSide].map(|side| u8::from(position.castles().has(color, side)))
        });
        let [[ws, wl], [bs, bl]] = rights;
        let san = self.sans().pop().unwrap_or_else(|| "none".to_owned());
        let verbose = self.line.moves().last().map_or("none".to_owned(), |uci| format!("P/{uci}"));
        format!(
            "<12> {} {} -1 {ws} {wl} {bs} {bl} {} {} {} {} {} 5 2 39 39 300000 298000 {} {verbose} (0:00.352) {san} 0 1 12",
            ranks.join(" "),
            position.turn().fold_wb('W', 'B'),
            position.halfmoves(),
            self.number,
            self.white,
            self.black,
            if position.turn() == color { 1 } else { -1 },
            position.fullmoves(),
        )
    }
}
