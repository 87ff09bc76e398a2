//! Sessions recorded with real servers, where they lie beside the checkout: every line that concerns a game is known.

use std::path::{Path, PathBuf};

use bytes::BytesMut;
use concilio::server::fics::{
    codec::{Frame, TelnetCodec},
    message::Message,
};
use tokio_util::codec::Decoder;

/// What one side of a recorded session received, in the pieces in which it came.
pub struct Side {
    pub name: String,
    pub sealed: bool,
    pub pieces: Vec<Vec<u8>>,
}

/// Every connection of every recording.
pub fn recorded() -> Vec<Side> {
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
            let mut connection: Option<Side> = None;
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
                    let side = connection.get_or_insert_with(|| Side { name, sealed, pieces: Vec::new() });
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
pub fn frames(side: &Side) -> Vec<Frame> {
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
            let Frame::Line(line) = frame else { continue };
            match Message::read(line) {
                Message::Board(_) => boards += 1,
                Message::GameStart(_) => starts += 1,
                Message::GameEnd(_) => ends += 1,
                Message::Challenge(_) => challenges += 1,
                Message::Unknown(line) => {
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
