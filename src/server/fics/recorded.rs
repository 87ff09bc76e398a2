//! Sessions recorded with real servers, where they lie beside the checkout: every line that concerns a game is known, and the
//! games come out as they were played.

use std::{
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use bytes::BytesMut;
use tokio_util::codec::Decoder;

use super::{
    codec::{ServerFrame, TelnetCodec},
    message::FicsMessage,
    session::{FicsSession, SessionEffect, Ticket},
    settings::FicsSettings,
};
use chess::{Action, ChallengeRequest, ServerEvent};

/// What one side of a recorded session received, in the pieces in which it came.
struct RecordedSide {
    name: String,
    sealed: bool,
    pieces: Vec<Vec<u8>>,
}

/// Every connection of every recording.
fn recorded() -> Vec<RecordedSide> {
    let checkout = Path::new(env!("CARGO_MANIFEST_DIR"));
    let Some(folder) = checkout.ancestors().map(|above| above.join("shared/fics")).find(|folder| folder.is_dir())
    else {
        return Vec::new();
    };
    let files = std::fs::read_dir(folder).expect("a folder that was there");
    let mut paths: Vec<PathBuf> = files.filter_map(|file| Some(file.ok()?.path())).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "log"));
    paths.sort();
    let mut sides = Vec::new();
    for path in paths {
        let file = path.file_stem().expect("a file name").to_string_lossy().into_owned();
        let text = std::fs::read_to_string(&path).expect("a recording");
        let sealed = text.contains("[timeseal b'");
        for letter in ["A", "B"] {
            let mut connection: Option<RecordedSide> = None;
            let mut count = 0;
            for line in text.lines() {
                let words: Vec<&str> = line.splitn(2, &format!(" {letter} ")).collect();
                let [time, rest] = words[..] else { continue };
                if time.trim().parse::<f64>().is_err() {
                    continue;
                }
                if let Some(literal) = rest.strip_prefix("<< ") {
                    let count = count + usize::from(connection.is_none());
                    let name = format!("{file}-{letter}{count}");
                    let side = connection.get_or_insert_with(|| RecordedSide { name, sealed, pieces: Vec::new() });
                    side.pieces.push(bytes_of(literal));
                } else if rest.contains("connected to") {
                    count += 1;
                    sides.extend(connection.take());
                }
            }
            sides.extend(connection);
        }
    }
    sides
}

/// Reads a Python byte string.
fn bytes_of(literal: &str) -> Vec<u8> {
    let inner = literal.strip_prefix("b").and_then(|text| text.get(1..text.len() - 1)).expect("a byte string");
    let mut bytes = Vec::new();
    let mut rest = inner.bytes();
    while let Some(byte) = rest.next() {
        if byte != b'\\' {
            bytes.push(byte);
            continue;
        }
        bytes.push(match rest.next().expect("an escape") {
            b'n' => b'\n',
            b'r' => b'\r',
            b't' => b'\t',
            b'x' => {
                let digits = [rest.next().expect("a digit"), rest.next().expect("a digit")];
                u8::from_str_radix(std::str::from_utf8(&digits).expect("digits"), 16).expect("a number")
            }
            other => other,
        });
    }
    bytes
}

/// The frames of a side.
fn frames(side: &RecordedSide) -> Vec<ServerFrame> {
    let mut codec = if side.sealed { TelnetCodec::sealed() } else { TelnetCodec::plain() };
    let mut buffer = BytesMut::new();
    let mut frames = Vec::new();
    for piece in &side.pieces {
        buffer.extend_from_slice(piece);
        while let Some(frame) = codec.decode(&mut buffer).expect("decoding cannot fail") {
            frames.push(frame);
        }
    }
    while let Some(frame) = codec.decode_eof(&mut buffer).expect("decoding cannot fail") {
        frames.push(frame);
    }
    frames
}

#[test]
fn every_line_about_a_game_is_known() {
    let (mut boards, mut starts, mut ends, mut challenges) = (0, 0, 0, 0);
    let sides = recorded();
    for side in &sides {
        for frame in frames(side) {
            let ServerFrame::Line(line) = frame else { continue };
            match FicsMessage::read(line) {
                FicsMessage::Board(_) => boards += 1,
                FicsMessage::GameStart(_) => starts += 1,
                FicsMessage::GameEnd(_) => ends += 1,
                FicsMessage::Challenge(_) => challenges += 1,
                FicsMessage::Unknown(line) => {
                    let marks = ["<", "{", "Challenge", "Creating", "Issuing", "Illegal", "You ", "Your "];
                    assert!(!marks.iter().any(|mark| line.starts_with(mark)), "{}: {line}", side.name);
                }
                _ => {}
            }
        }
    }
    let seen = boards > 300 && starts > 50 && ends > 40 && challenges > 30;
    assert!(sides.is_empty() || seen, "{boards} boards, {starts} starts, {ends} ends, {challenges} challenges");
}

/// What a player tells who hears what this side heard: the moves and the end of each game.
fn games(side: &RecordedSide) -> Vec<String> {
    let mut player = FicsSession::new(FicsSettings { resume: false, ..FicsSettings::default() }, "run".to_owned());
    let mut now = Instant::now();
    let mut games = Vec::new();
    for frame in frames(side) {
        let ServerFrame::Line(line) = frame else { continue };
        now += Duration::from_millis(10);
        match FicsMessage::read(line) {
            FicsMessage::Session(us) => player.connected(us, now),
            message => {
                // The challenges of the recorded player were wanted.
                if let FicsMessage::Issued(terms) = &message {
                    let (opponent, terms) = (terms.second.name.clone(), terms.game_terms());
                    let request = ChallengeRequest { opponent, terms, our_color: None, initial_fen: None };
                    player.act(Action::Challenge(request), Ticket(0), now);
                }
                player.on(message, now);
            }
        }
        for effect in player.effects() {
            match effect {
                SessionEffect::Event(ServerEvent::Challenge(challenge)) if challenge.incoming => {
                    player.act(Action::Accept(challenge.id), Ticket(0), now);
                }
                SessionEffect::Event(ServerEvent::GameState(_, state)) if !state.status.is_running() => {
                    let winner = state.winner.map_or("nobody", |color| color.fold_wb("white", "black"));
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

#[test]
fn games_come_out_as_they_were_played() {
    const RESIGNED: &str = "e2e4 e7e5 g1f3 resign white";
    const MATED: &str = "e2e4 e7e5 f1c4 b8c6 d1h5 g8f6 h5f7 mate white";
    const ABORTED: &str = "aborted nobody";
    const CASTLED: &str = "e2e4 e7e5 g1f3 g8f6 f1c4 f8c5 e1g1 e8g8 aborted nobody";
    const SPANISH: &str = "e2e4 e7e5 g1f3 b8c6 f1b5 a7a6 b5a4 g8f6 e1g1 f8e7 f1e1 b7b5 a4b3 adjourned nobody";
    // It goes on, and so bears all its moves.
    const SPANISH_RESUMED: &str = "e2e4 e7e5 g1f3 b8c6 f1b5 a7a6 b5a4 g8f6 e1g1 f8e7 f1e1 b7b5 a4b3 d7d6 draw nobody";
    const FLAGGED: &str = "e2e4 e7e5 g1f3 b8c6 outoftime black";
    const EN_PASSANT: &str = "e2e4 g8f6 e4e5 d7d5 e5d6 b8c6 d6c7 c6d4 b1c3 d4c6 c3b1 c6d4 resign black";
    const STALEMATE: &str = "e2e3 a7a5 d1h5 a8a6 h5a5 h7h5 h2h4 a6h6 a5c7 f7f6 c7d7 e8f7 d7b7 d8d3 b7b8 d3h7 b8c8 f7g6 c8e6 \
                             stalemate nobody";
    const RESIGNED_LATER: &str = "e2e4 d7d5 e4d5 d8d5 resign black";
    const CUT_OFF: &str = "d2d4 d7d5 aborted nobody";
    const CUT_OFF_ADJOURNED: &str = "d2d4 d7d5 adjourned nobody";
    let all: &[(&str, &[&str])] = &[
        ("capa-plain-A", &[RESIGNED, MATED, ABORTED]),
        ("capa-plain-B", &[RESIGNED, MATED, ABORTED, CUT_OFF]),
        ("capa-reg-A", &[RESIGNED, MATED, ABORTED]),
        ("capa-reg-B", &[RESIGNED, MATED, ABORTED, CUT_OFF_ADJOURNED]),
        ("fatics-ext-A", &[ABORTED, ABORTED]),
        // The third connection of this side: it comes back to its adjourned game.
        ("fatics-ext-A", &[SPANISH, SPANISH_RESUMED, FLAGGED, EN_PASSANT, STALEMATE, RESIGNED_LATER]),
        ("fatics-plain-A", &[RESIGNED, MATED, ABORTED, CASTLED]),
        ("fatics-plain-B", &[RESIGNED, MATED, ABORTED, CASTLED, CUT_OFF]),
        ("fatics-ts2-A", &[RESIGNED, MATED, ABORTED, CASTLED]),
        ("fatics-ts2-B", &[RESIGNED, MATED, ABORTED, CASTLED, CUT_OFF]),
    ];
    // This one asked for moves in short, and so saw no boards.
    let played: Vec<_> = recorded().into_iter().filter(|side| !side.name.starts_with("fatics-ext-B")).collect();
    let told: Vec<_> =
        played.iter().map(|side| (side.name.as_str(), games(side))).filter(|(_, games)| !games.is_empty()).collect();
    for ((name, games), (expected_name, expected)) in told.iter().zip(all) {
        assert!(name.starts_with(expected_name), "{name}, expected {expected_name}");
        assert_eq!(games, expected, "{name}");
    }
    assert!(told.is_empty() || told.len() == all.len(), "{} sides with games", told.len());
}
