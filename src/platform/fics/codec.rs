//! The telnet layer: bytes of the socket on one side, whole lines on the other.
//!
//! A server of this family writes lines ended by `\n\r` (or `\r\n`), a prompt (`fics% `) without
//! line end whenever it is ready for a command, bells, and telnet's own negotiation; it breaks long
//! lines, and begins the rest with `\ `. All of that ends here. The output is a sequence of
//! [`ServerFrame`]s that depends on the bytes alone, not on the network's packets.
//!
//! - A prompt is removed wherever a line begins, also if repeated, and at the end of a line. In the
//!   middle of a line it is text: a person may have written it.
//! - A server that breaks a line keeps the blank there, or drops it. So a line that ends in a blank
//!   waits for the next byte, and so does a long one for people; every other line is complete at
//!   once.
//! - No line is longer than [`MAX_LINE`]; of a longer one only its arrival is reported.

use std::{mem, time::Instant};

use bytes::{Buf, BytesMut};

use util::timeseal::{self, PING, PONG};

/// The longest line that is read, bytes. Servers write a tenth of it.
pub const MAX_LINE: usize = 16 * 1024;

/// The shortest line that is broken, bytes.
const SHORTEST_BROKEN: usize = 40;

/// The longest command that is sent, bytes; servers ignore or split longer ones.
pub const MAX_COMMAND: usize = 1000;

const PROMPT: &[u8] = b"fics% ";
const QUESTIONS: [&[u8]; 2] = [b"login:", b"password:"];
const IAC: u8 = 0xff;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ServerFrame {
    /// A whole line, never empty, without line end, prompts and control characters. Also the questions of the login,
    /// which have no line end.
    Line(String),
    Prompt,
    /// timeseal's `[G]`: a [`TelnetCodec::pong`] is due at once.
    Ping,
    Overlong,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Telnet {
    #[default]
    Text,
    Escaped,
    /// After IAC and WILL, WONT, DO or DONT: the option's number follows.
    Option,
}

/// The client's side of a connection. The server's side writes freely and needs no codec.
#[derive(Debug, Default)]
pub struct TelnetCodec {
    telnet: Telnet,
    line: Vec<u8>,
    overlong: bool,
    /// A line that may have been broken, so that more of it may follow.
    held: Option<Vec<u8>>,
    /// Prompts found at a line's end, reported after the line.
    prompts: usize,
    /// Set after a question, whose blank is still to come.
    asked: bool,
    /// The start of the connection, if its lines are sealed.
    seal: Option<Instant>,
}

impl TelnetCodec {
    pub fn plain() -> Self {
        Self::default()
    }

    /// Creates a codec with timeseal. The first line sent must be [`timeseal::Version::hello`].
    pub fn sealed() -> Self {
        Self { seal: Some(Instant::now()), ..Self::default() }
    }

    /// Takes one byte of text (telnet's own are gone) and returns the frame that it completes.
    fn text(&mut self, byte: u8) -> Option<ServerFrame> {
        match byte {
            b'\n' => {
                self.asked = false;
                return self.end_of_line();
            }
            0 if self.seal.is_some() && self.line.ends_with(PING) => {
                self.line.truncate(self.line.len() - PING.len());
                return Some(ServerFrame::Ping);
            }
            // A carriage return adds nothing to its line feed; other controls mean nothing.
            0..b' ' | 0x7f if byte != b'\t' => return None,
            _ if self.overlong => return None,
            b' ' if mem::take(&mut self.asked) => return None,
            _ => self.line.push(byte),
        }
        self.asked = false;
        match byte {
            b' ' if is_prompt(&self.line) => {
                self.line.clear();
                Some(ServerFrame::Prompt)
            }
            // The login's questions wait for an answer on the same line.
            b':' if self.is_question() => {
                self.asked = true;
                self.take_line()
            }
            _ if self.line.len() > MAX_LINE => {
                self.overlong = true;
                self.line.clear();
                None
            }
            _ => None,
        }
    }

    fn is_question(&self) -> bool {
        QUESTIONS.iter().any(|question| self.line.eq_ignore_ascii_case(question))
            || self.line.starts_with(b"Press return to enter") && self.line.ends_with(b"\":")
    }

    fn end_of_line(&mut self) -> Option<ServerFrame> {
        if mem::take(&mut self.overlong) {
            return Some(ServerFrame::Overlong);
        }
        if self.held.is_none() && self.line.ends_with(b"%") && is_prompt(&[&self.line, &b" "[..]].concat()) {
            self.line.clear();
            return Some(ServerFrame::Prompt);
        }
        while self.line.ends_with(PROMPT) {
            self.line.truncate(self.line.len() - PROMPT.len());
            self.prompts += 1;
        }
        if self.seal.is_some() && self.line == PING {
            self.line.clear();
            return Some(ServerFrame::Ping);
        }
        if let Some(held) = &mut self.held {
            // The line begins with a backslash, or it would have been complete at its first byte.
            let rest = self.line.get(1..).unwrap_or_default();
            if held.len() + rest.len() > MAX_LINE {
                self.held = None;
                self.line.clear();
                return Some(ServerFrame::Overlong);
            }
            let indent = rest.iter().take(3).take_while(|byte| **byte == b' ').count();
            if !held.ends_with(b" ") {
                held.push(b' ');
            }
            held.extend_from_slice(&rest[indent..]);
            self.line = mem::take(held);
            self.held = None;
        }
        if self.prompts == 0 && self.may_be_broken() {
            self.held = Some(mem::take(&mut self.line));
            return None;
        }
        self.take_line()
    }

    /// Returns true if the rest of the line may still come. Lines for programs are never broken; a
    /// clock waits for a board, and after an offer (`<pf>`) some servers send nothing more, not
    /// even their prompt.
    fn may_be_broken(&self) -> bool {
        self.line.ends_with(b" ") || self.line.len() >= SHORTEST_BROKEN && !self.line.starts_with(b"<")
    }

    fn take_line(&mut self) -> Option<ServerFrame> {
        frame(mem::take(&mut self.line))
    }

    /// Returns true if `byte` cannot continue the held line, which is then complete.
    fn releases_held(&self, byte: u8) -> bool {
        self.held.is_some()
            && self.line.is_empty()
            && match (self.telnet, byte) {
                (Telnet::Text, b'\n' | b'\t') | (Telnet::Escaped, IAC) => true,
                (Telnet::Text, byte) => byte >= b' ' && byte != b'\\' && byte != IAC,
                (Telnet::Escaped | Telnet::Option, _) => false,
            }
    }
}

/// Returns true for `fics% `, or another prompt, which is shown until the usual one is set.
fn is_prompt(line: &[u8]) -> bool {
    let word = line.strip_suffix(b"% ").unwrap_or_default();
    (3..=12).contains(&word.len()) && word.iter().all(u8::is_ascii_alphabetic)
}

/// Returns a line without the blanks at its end; `None` if it was blank.
fn frame(mut bytes: Vec<u8>) -> Option<ServerFrame> {
    let length = bytes.iter().rposition(|byte| *byte != b' ').map_or(0, |last| last + 1);
    bytes.truncate(length);
    // Newer servers write UTF-8, older ones whatever their users' terminals produced.
    let text =
        String::from_utf8(bytes).unwrap_or_else(|bytes| bytes.as_bytes().iter().copied().map(char::from).collect());
    (!text.is_empty()).then_some(ServerFrame::Line(text))
}

impl TelnetCodec {
    /// Takes the next frame from the bytes that have come; `None` if more have to come first.
    pub fn decode(&mut self, source: &mut BytesMut) -> Option<ServerFrame> {
        if self.prompts > 0 {
            self.prompts -= 1;
            return Some(ServerFrame::Prompt);
        }
        for (position, byte) in source.iter().copied().enumerate() {
            if self.releases_held(byte)
                && let Some(told) = self.held.take().and_then(frame)
            {
                source.advance(position);
                return Some(told);
            }
            let (state, is_text) = match (self.telnet, byte) {
                (Telnet::Text, IAC) => (Telnet::Escaped, false),
                (Telnet::Text, _) | (Telnet::Escaped, IAC) => (Telnet::Text, true),
                (Telnet::Escaped, 0xfb..=0xfe) => (Telnet::Option, false),
                (Telnet::Escaped | Telnet::Option, _) => (Telnet::Text, false),
            };
            self.telnet = state;
            let told = if is_text { self.text(byte) } else { None };
            if told.is_some() {
                source.advance(position + 1);
                return told;
            }
            if self.prompts > 0 {
                source.advance(position + 1);
                return self.decode(source);
            }
        }
        source.clear();
        None
    }

    pub fn decode_eof(&mut self, source: &mut BytesMut) -> Option<ServerFrame> {
        self.decode(source).or_else(|| self.held.take().and_then(frame)).or_else(|| self.take_line())
    }

    /// Returns the bytes of a line. Characters that a server refuses are replaced, and what is beyond [`MAX_COMMAND`] is cut off.
    pub fn line(&self, text: &str) -> Vec<u8> {
        let plain = text.chars().map(|character| match character {
            ' '..='~' => character as u8,
            _ if character.is_whitespace() || character.is_control() => b' ',
            _ => b'?',
        });
        self.sealed_line(plain.take(MAX_COMMAND).collect())
    }

    pub fn pong(&self) -> Vec<u8> {
        self.sealed_line(PONG.to_vec())
    }

    /// Returns a blank that ends no line: a server that leaves a command lying until more comes does it now. Timeseal has no such
    /// thing.
    pub fn nudge(&self) -> &'static [u8] {
        if self.seal.is_none() { b" " } else { b"" }
    }

    fn sealed_line(&self, mut line: Vec<u8>) -> Vec<u8> {
        let Some(began) = self.seal else {
            line.push(b'\n');
            return line;
        };
        let mut packet = Vec::with_capacity(line.len() + 32);
        timeseal::seal(&line, timeseal::stamp(began), &mut packet);
        packet
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Decodes `bytes` given in pieces of these lengths, the last of them again and again.
    fn decode_in(codec: &mut TelnetCodec, bytes: &[u8], pieces: &[usize]) -> Vec<ServerFrame> {
        let mut frames = Vec::new();
        let mut buffer = BytesMut::new();
        let mut rest = bytes;
        let mut lengths = pieces.iter().copied().chain(std::iter::repeat(pieces.last().copied().unwrap_or(1)));
        while !rest.is_empty() {
            let (piece, after) = rest.split_at(lengths.next().unwrap_or(1).clamp(1, rest.len()));
            buffer.extend_from_slice(piece);
            rest = after;
            while let Some(frame) = codec.decode(&mut buffer) {
                frames.push(frame);
            }
        }
        while let Some(frame) = codec.decode_eof(&mut buffer) {
            frames.push(frame);
        }
        frames
    }

    fn frames(bytes: &[u8]) -> Vec<ServerFrame> {
        decode_in(&mut TelnetCodec::plain(), bytes, &[usize::MAX])
    }

    fn line(text: &str) -> ServerFrame {
        ServerFrame::Line(text.to_owned())
    }

    #[test]
    fn either_line_end_ends_a_line() {
        assert_eq!(frames(b"one\n\r\n\rtwo\r\n\r\nthree\nfour"), ["one", "two", "three", "four"].map(line));
    }

    #[test]
    fn prompts_are_removed_at_line_ends() {
        assert_eq!(frames(b"fics% fics% {Game 1}\n\r"), [ServerFrame::Prompt, ServerFrame::Prompt, line("{Game 1}")]);
        assert_eq!(frames(b"withdrawn.fics% \n\rnext\n\r"), [line("withdrawn."), ServerFrame::Prompt, line("next")]);
        assert_eq!(frames(b"X tells you: fics% {Game 1}\n\r"), [line("X tells you: fics% {Game 1}")]);
        assert_eq!(frames(b"aics% {Game 1}\n\r"), [ServerFrame::Prompt, line("{Game 1}")]);
        assert_eq!(frames(b"one\nfics%\r\n"), [line("one"), ServerFrame::Prompt]);
    }

    #[test]
    fn broken_lines_are_joined() {
        assert_eq!(
            frames(b"\n\rX tells you: one two \n\r\\   three four \n\r\\   five\n\rfics% "),
            [line("X tells you: one two three four five"), ServerFrame::Prompt]
        );
        // Some servers drop the blank at which they break.
        let wrapped = b"Ann(C)(1500)[14] kibitzes: one two three four\n\r\\   five six\n\rfics% ";
        let whole = line("Ann(C)(1500)[14] kibitzes: one two three four five six");
        assert_eq!(frames(wrapped), [whole, ServerFrame::Prompt]);
        // The rest of a line already reported stays marked: it is not the server's own.
        assert_eq!(frames(b"X tells you: one\n\r\\   {Game 1}\n\r"), [line("X tells you: one"), line("\\   {Game 1}")]);
    }

    #[test]
    fn program_lines_need_no_prompt() {
        for text in ["<12> board 0 1 0", "<pf> 1 w=Ann t=match p=Ann (----) [white] Bob (----) unrated blitz 5 0"] {
            let mut buffer = BytesMut::from(format!("\n\r{text}\n").as_bytes());
            assert_eq!(TelnetCodec::plain().decode(&mut buffer), Some(line(text)));
        }
    }

    #[test]
    fn login_questions_need_no_line_end() {
        assert_eq!(
            frames(b"\n\rlogin: \n\rpassword: \xff\xfb\x01\xff\xfc\x01\n\rPress return to enter the server as \"A\":\xff\xfb\x01"),
            [line("login:"), line("password:"), line("Press return to enter the server as \"A\":")]
        );
        assert_eq!(frames(b"Login:\n\rlogin:Welcome\n"), [line("Login:"), line("login:"), line("Welcome")]);
    }

    #[test]
    fn telnet_bells_and_old_letters() {
        assert_eq!(frames(b"a\xff\xfb\x01b\x07c\xff\xf1d\xff\xff\n"), [line("abcd\u{ff}")]);
        assert_eq!(frames("caf\u{e9}\n".as_bytes()), [line("café")]);
        assert_eq!(frames(b"caf\xe9\n"), [line("café")]);
    }

    #[test]
    fn pings_need_timeseal() {
        let bytes = b"\n\r<12> b\n\r\n\r[G]\n\rfics% [G]\0mid[G]\0dle\n\r";
        let seen = decode_in(&mut TelnetCodec::sealed(), bytes, &[usize::MAX]);
        let (ping, prompt) = (ServerFrame::Ping, ServerFrame::Prompt);
        assert_eq!(seen, [line("<12> b"), ping.clone(), prompt.clone(), ping.clone(), ping, line("middle")]);
        assert_eq!(frames(bytes), [line("<12> b"), line("[G]"), prompt, line("[G]mid[G]dle")]);
    }

    #[test]
    fn a_line_too_long_is_left_out() {
        let mut bytes = vec![b'x'; 100_000];
        bytes.extend_from_slice(b"\n\rnext\n\r");
        assert_eq!(frames(&bytes), [ServerFrame::Overlong, line("next")]);
        let wrapped = [&[b'x'; 10_000][..], b" \n\r\\   ", &[b'y'; 10_000], b"\n\rnext\n\r"].concat();
        assert_eq!(frames(&wrapped), [ServerFrame::Overlong, line("next")]);
    }

    #[test]
    fn commands_are_one_plain_line() {
        let (plain, sealed) = (TelnetCodec::plain(), TelnetCodec::sealed());
        assert_eq!(plain.line("say caf\u{e9}\nresign\u{7}"), b"say caf? resign \n");
        assert_eq!((plain.nudge(), sealed.nudge()), (&b" "[..], &b""[..]));
        let sent = sealed.pong();
        assert_eq!(timeseal::open(&sent[..sent.len() - 1]).expect("sealed").0, PONG);
    }

    fn server_bytes() -> impl Strategy<Value = Vec<u8>> {
        let piece = prop_oneof![
            Just(b"fics% ".to_vec()),
            Just(b"\n\r".to_vec()),
            Just(b"\r\n".to_vec()),
            Just(b" \n\r\\   ".to_vec()),
            Just(b"\\".to_vec()),
            Just(b"[G]".to_vec()),
            Just(b"\0".to_vec()),
            Just(b"\xff\xfb\x01".to_vec()),
            Just(b"\xff\xff".to_vec()),
            Just(b"login: ".to_vec()),
            Just(b"Press return to enter the server as \"x\":".to_vec()),
            "[a-z ]{0,12}".prop_map(String::into_bytes),
            proptest::collection::vec(any::<u8>(), 0..6),
        ];
        proptest::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
    }

    proptest! {
        #[test]
        fn any_split_tells_the_same(bytes in server_bytes(), pieces in proptest::collection::vec(1usize..9, 1..20)) {
            for codec in [TelnetCodec::plain, TelnetCodec::sealed] {
                let whole = decode_in(&mut codec(), &bytes, &[usize::MAX]);
                prop_assert_eq!(&decode_in(&mut codec(), &bytes, &pieces), &whole);
                for frame in whole {
                    if let ServerFrame::Line(line) = frame {
                        prop_assert!(!line.is_empty() && !line.contains(['\n', '\r', '\u{7}', '\0']), "{:?}", line);
                        prop_assert!(!line.starts_with("fics% "));
                    }
                }
            }
        }
    }
}
