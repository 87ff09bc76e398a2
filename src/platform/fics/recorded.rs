//! Sessions of two people on the practice server, as each received them, in every dialect, plain and sealed; and a session
//! written by hand. Every line that concerns a game is known, and the games come out as they were played.

use std::time::{Duration, Instant};

use bytes::BytesMut;
use practice::{FicsEndpoint, PracticeServer, PracticeSettings};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    time::timeout,
};

use super::{
    codec::{ServerFrame, TelnetCodec},
    message::{FicsMessage, Speaker},
    session::{FicsSession, SessionEffect},
    settings::FicsSettings,
};
use domain::{Action, ChallengeRequest, ServerEvent};
use util::timeseal::{self, PONG, Version};

/// Turns a hang into a failure.
const PATIENCE: Duration = Duration::from_secs(120);

/// Dialects of the practice server, each with the version of timeseal that is spoken.
const SESSIONS: [(&str, Option<Version>); 6] = [
    ("freechess", None),
    ("freechess", Some(Version::Two)),
    ("fatics", None),
    ("fatics", Some(Version::Two)),
    ("capablanca", Some(Version::One)),
    ("uhlin", None),
];

/// Games between Ann and Bob: the moves, the proposal of Ann that Bob accepts or else Bob's last command, the server's word for
/// the end, and what becomes known of it.
const GAMES: [(&str, &str, &str, &str); 6] = [
    ("e2e4 e7e5 g1f3", "resign", "resigns}", "resign white"),
    ("e2e4 e7e5 f1c4 b8c6 d1h5 g8f6 h5f7", "", "checkmated}", "mate white"),
    ("e2e4 e7e5 g1f3 g8f6 f1c4 f8c5 e1g1 e8g8", "draw", "agreement}", "draw none"),
    ("e2e4 g8f6 e4e5 d7d5 e5d6 b8c6 d6c7 a8b8 c7d8q c6d8", "abort", "aborted", "aborted none"),
    (
        "e2e3 a7a5 d1h5 a8a6 h5a5 h7h5 h2h4 a6h6 a5c7 f7f6 c7d7 e8f7 d7b7 d8d3 b7b8 d3h7 b8c8 f7g6 c8e6",
        "",
        "stalemate}",
        "stalemate none",
    ),
    ("d2d4 d7d5", "adjourn", "adjourned", "adjourned none"),
];

/// A telnet client, with all that it received, in the pieces in which it came.
struct Person {
    name: String,
    stream: TcpStream,
    version: Option<Version>,
    pieces: Vec<Vec<u8>>,
    /// Text that no wait has consumed.
    text: String,
}

impl Person {
    async fn login(server: &PracticeServer, name: &str, version: Option<Version>) -> Self {
        server.add_fics_account(name, false, "sesame").await.expect("a new account");
        let stream = TcpStream::connect(server.fics_address().expect("a FICS face")).await.expect("a connection");
        let (name, pieces) = (name.to_owned(), Vec::new());
        let mut person = Self { name, stream, version, pieces, text: String::new() };
        if let Some(version) = version {
            person.say(&version.hello()).await;
        }
        let name = person.name.clone();
        for (question, answer) in [("login: ", name.as_str()), ("password: ", "sesame"), ("fics% ", "set style 12")] {
            person.until(question).await;
            person.say(answer).await;
        }
        person.until("fics% ").await;
        person
    }

    async fn say(&mut self, line: &str) {
        let mut packet = Vec::new();
        match self.version {
            Some(_) => timeseal::seal(line.as_bytes(), 1 + self.pieces.len() as u64, &mut packet),
            None => packet.extend(format!("{line}\n").into_bytes()),
        }
        self.stream.write_all(&packet).await.expect("writable");
    }

    /// Reads up to and with `wanted`, and answers the pings of timeseal.
    async fn until(&mut self, wanted: &str) {
        let read = async {
            while !self.text.contains(wanted) {
                let mut bytes = [0; 4096];
                let count = self.stream.read(&mut bytes).await.expect("readable");
                assert!(count > 0, "the server hung up after {:?}", self.text);
                self.pieces.push(bytes[..count].to_vec());
                self.text.push_str(&String::from_utf8_lossy(&bytes[..count]));
                while let Some(at) = self.text.find("[G]") {
                    self.text.replace_range(at..at + 3, "");
                    self.say(std::str::from_utf8(PONG).expect("ASCII")).await;
                }
            }
        };
        let read = timeout(PATIENCE, read).await;
        assert!(read.is_ok(), "waited in vain for {wanted:?} after {:?}", self.text);
        let end = self.text.find(wanted).expect("it was read") + wanted.len();
        self.text.drain(..end);
    }
}

/// The move as style 12 writes it at length, without its piece.
fn at_length(uci: &str) -> String {
    match uci {
        "e1g1" | "e8g8" => " o-o ".to_owned(),
        _ if uci.len() == 5 => format!("/{}-{}={}", &uci[..2], &uci[2..4], uci[4..].to_uppercase()),
        _ => format!("/{}-{}", &uci[..2], &uci[2..]),
    }
}

/// Plays all games in one session. Returns Ann and Bob.
async fn recorded(dialect: &str, version: Option<Version>) -> [Person; 2] {
    let settings = PracticeSettings {
        faults: format!("dialect={dialect}").parse().expect("a plan of faults"),
        fics: Some(FicsEndpoint::at(std::net::SocketAddr::from(([127, 0, 0, 1], 0)))),
        seed: Some(1),
        ..PracticeSettings::default()
    };
    let server = PracticeServer::start(settings).await.expect("a free port");
    let mut people = [Person::login(&server, "Ann", version).await, Person::login(&server, "Bob", version).await];
    for (moves, said, told, _) in &GAMES {
        people[0].say("match Bob 5 0 unrated white").await;
        people[1].until("Challenge: Ann").await;
        people[1].say("accept").await;
        for person in &mut people {
            person.until("Creating").await;
            person.until("<12> ").await;
        }
        for (ply, uci) in moves.split(' ').enumerate() {
            let promotion = if uci.len() == 5 { "=" } else { "" };
            people[ply % 2].say(&[&uci[..4], promotion, &uci[4..]].concat()).await;
            for person in &mut people {
                person.until(&at_length(uci)).await;
            }
        }
        match *said {
            "" => {}
            "resign" => people[1].say("resign").await,
            proposal => {
                people[0].say(proposal).await;
                people[1].until("Ann ").await;
                people[1].until(proposal).await;
                people[1].say("accept").await;
            }
        }
        for person in &mut people {
            person.until(told).await;
            person.until("fics% ").await;
        }
    }
    people
}

fn frames(pieces: &[Vec<u8>], is_sealed: bool) -> Vec<ServerFrame> {
    let mut codec = if is_sealed { TelnetCodec::sealed() } else { TelnetCodec::plain() };
    let mut buffer = BytesMut::new();
    let mut frames = Vec::new();
    for piece in pieces {
        buffer.extend_from_slice(piece);
        while let Some(frame) = codec.decode(&mut buffer) {
            frames.push(frame);
        }
    }
    while let Some(frame) = codec.decode_eof(&mut buffer) {
        frames.push(frame);
    }
    frames
}

/// Returns the moves and the end of each game, as the player called `name` received them.
fn games(name: &str, frames: Vec<ServerFrame>) -> Vec<String> {
    let mut player = FicsSession::new(FicsSettings { resume: false, ..FicsSettings::default() }, "run".to_owned());
    let mut now = Instant::now();
    let mut games = Vec::new();
    // Not every server greets by name: who logged in knows it.
    player.connected(Speaker { name: name.to_owned(), titles: Vec::new(), game: None }, now);
    for frame in frames {
        let ServerFrame::Line(line) = frame else { continue };
        now += Duration::from_millis(10);
        let message = FicsMessage::read(line);
        // The challenges of the recorded player were wanted.
        if let FicsMessage::Issued(terms) = &message {
            let (opponent, terms) = (terms.second.name.clone(), terms.game_terms());
            let request = ChallengeRequest { opponent, terms, our_color: None, initial_fen: None };
            player.act(Action::Challenge(request), 0, now);
        }
        if !matches!(message, FicsMessage::Session(_)) {
            player.on(message, now);
        }
        for effect in player.effects() {
            match effect {
                SessionEffect::Event(ServerEvent::Challenge(challenge)) if challenge.incoming => {
                    player.act(Action::Accept(challenge.id), 0, now);
                }
                SessionEffect::Event(ServerEvent::GameState(_, state)) if !state.status.is_running() => {
                    let winner = state.winner.map_or("none", |color| color.fold_wb("white", "black"));
                    games.push(format!("{} {} {winner}", state.moves, state.status.name()).trim_start().to_owned());
                }
                SessionEffect::Event(event @ (ServerEvent::Fault { .. } | ServerEvent::GameGone(_))) => {
                    panic!("{event:?}")
                }
                _ => {}
            }
        }
    }
    games
}

fn expected() -> Vec<String> {
    GAMES.iter().map(|(moves, .., end)| format!("{moves} {end}")).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn recorded_games_are_read_as_played() {
    for (dialect, version) in SESSIONS {
        for Person { name, pieces, .. } in recorded(dialect, version).await {
            let case = format!("{name} on {dialect}");
            let is_sealed = version.is_some();
            assert_eq!(games(&name, frames(&pieces, is_sealed)), expected(), "{case}");
            every_line_about_a_game_is_known(frames(&pieces, is_sealed), &case);
            // However the network cuts it.
            let bytes: Vec<Vec<u8>> = pieces.concat().into_iter().map(|byte| vec![byte]).collect();
            assert_eq!(games(&name, frames(&bytes, is_sealed)), expected(), "{case}");
        }
    }
}

fn every_line_about_a_game_is_known(frames: Vec<ServerFrame>, case: &str) {
    let (mut boards, mut starts, mut ends) = (0, 0, 0);
    for frame in frames {
        let ServerFrame::Line(line) = frame else { continue };
        match FicsMessage::read(line) {
            FicsMessage::Board(_) => boards += 1,
            FicsMessage::GameStart(_) => starts += 1,
            FicsMessage::GameEnd(_) => ends += 1,
            FicsMessage::Unknown(line) => {
                let marks = ["<", "{", "Challenge", "Creating", "Issuing", "Illegal", "You ", "Your "];
                assert!(!marks.iter().any(|mark| line.starts_with(mark)), "{case}: {line}");
            }
            _ => {}
        }
    }
    let plies: usize = GAMES.iter().map(|(moves, ..)| moves.split(' ').count()).sum();
    assert!(boards >= plies && starts >= GAMES.len() && ends == GAMES.len(), "{case}: {boards} {starts} {ends}");
}

/// The shortest mate, in the formats of the server's help files, with a prompt wherever the server has one.
const BY_HAND: &str = "**** Starting FICS session as Somebot ****\n\r\n\rfics% \n\r\
    Challenge: Ann (1671) Somebot (1500) rated blitz 5 0.\n\r\
    You can \"accept\" or \"decline\", or propose different parameters.\n\rfics% \
    You accept the match offer from Ann.\n\r\n\rCreating: Ann (1671) Somebot (1500) rated blitz 5 0\n\r\
    {Game 7 (Ann vs. Somebot) Creating rated blitz match.}\n\r\x07\n\r\
    <12> rnbqkbnr pppppppp -------- -------- -------- -------- PPPPPPPP RNBQKBNR W -1 1 1 1 1 0 7 Ann Somebot -1 5 0 39 39 300 300 1 none (0:00) none 1 0 0\n\r\n\rfics% \n\r\
    <12> rnbqkbnr pppppppp -------- -------- -------- -----P-- PPPPP-PP RNBQKBNR B -1 1 1 1 1 0 7 Ann Somebot 1 5 0 39 39 300 300 1 P/f2-f3 (0:00) f3 1 0 0\n\r\n\rfics% \n\r\
    <12> rnbqkbnr pppp-ppp -------- ----p--- -------- -----P-- PPPPP-PP RNBQKBNR W 4 1 1 1 1 0 7 Ann Somebot -1 5 0 39 39 300 298 2 P/e7-e5 (0:02) e5 1 1 0\n\r\n\rfics% \n\r\
    <12> rnbqkbnr pppp-ppp -------- ----p--- ------P- -----P-- PPPPP--P RNBQKBNR B 6 1 1 1 1 0 7 Ann Somebot 1 5 0 39 39 297 298 2 P/g2-g4 (0:03) g4 1 1 0\n\r\n\rfics% \n\r\
    <12> rnb-kbnr pppp-ppp -------- ----p--- ------Pq -----P-- PPPPP--P RNBQKBNR W -1 1 1 1 1 1 7 Ann Somebot -1 5 0 39 39 297 297 3 Q/d8-h4 (0:01) Qh4# 1 1 0\n\r\n\r\
    {Game 7 (Ann vs. Somebot) Ann checkmated} 0-1\n\r\n\rBlitz rating adjustment: 1500 --> 1532\n\rfics% ";

#[test]
fn session_written_by_hand_is_read() {
    let frames = frames(&[BY_HAND.as_bytes().to_vec()], false);
    assert_eq!(games("Somebot", frames), ["f2f3 e7e5 g2g4 d8h4 mate black"]);
}
