//! Messages of 1 to 127 ASCII characters, each ended by a zero byte on the wire.

use std::{collections::VecDeque, fmt, str::FromStr, time::Duration};

use crate::{
    board::{Board, Color, DraughtsError, Move, Square, Squares},
    game::Outcome,
};

const LONGEST: usize = 127;
/// The length of a name, including blanks at its end.
const NAME: usize = 32;
const VERSION: u16 = 1;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    pub name: String,
    /// The colour of the receiver.
    pub follower: Color,
    /// Time of each side for the whole game, 0 to 999 minutes.
    pub minutes: u16,
    /// Moves of the whole game, 0 to 999; 0 for no limit.
    pub moves: u16,
    /// The starting position; `None` is the usual one.
    pub start: Option<Board>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Acceptance {
    Accepted,
    /// The request has another version of the protocol.
    OtherVersion,
    /// Not this game, but perhaps another.
    Refused,
    NoGames,
}

/// A move as it is sent: its ends and what it takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Taken {
    /// The time of the move, in whole seconds up to 9,999.
    pub time: Duration,
    pub from: Square,
    pub to: Square,
    pub taken: Squares,
}

impl Taken {
    pub fn new(mv: &Move, time: Duration) -> Self {
        Self { time: Duration::from_secs(time.as_secs().min(9_999)), from: mv.from(), to: mv.to(), taken: mv.taken() }
    }

    pub fn is(&self, mv: &Move) -> bool {
        (self.from, self.to, self.taken) == (mv.from(), mv.to(), mv.taken())
    }
}

/// The reason of the end, from the sender's side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    Unknown,
    Lost,
    Drawn,
    Won,
}

impl Reason {
    /// Returns the ending on the board from this side.
    pub fn of(outcome: Outcome, side: Color) -> Self {
        match outcome {
            Outcome::FortyMoves | Outcome::Repetition => Self::Drawn,
            Outcome::Won(winner) if winner == side => Self::Won,
            Outcome::Won(_) => Self::Lost,
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Message {
    /// `R`, GAMEREQ: a request for a game.
    Request(Request),
    /// `R` of another version of the protocol, 0 to 99; the rest is unknown.
    OtherRequest(u16),
    /// `A`, GAMEACC: the answer, with the name of the one who answers.
    Answer(String, Acceptance),
    /// `M`, MOVE: a move is played.
    Move(Taken),
    /// `E`, GAMEEND: the game is over, or the same word in answer; `last` if the sender wants no further game.
    End { reason: Reason, last: bool },
    /// `C`, CHAT: words for people, up to 126 characters.
    Chat(String),
    /// `B`, BACKREQ: moves shall be taken back until this side is to move in this move of the game (1 to 999).
    Back(u16, Color),
    /// `K`, BACKACC: the answer to it.
    BackAnswer(BackAnswer),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BackAnswer {
    /// The moves are taken back.
    Accepted,
    /// The program never takes moves back.
    Unable,
    Refused,
}

impl fmt::Display for Message {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Request(Request { name, follower, minutes, moves, start }) => {
                let (name, follower) = (plain(name.trim(), NAME), letter(*follower));
                write!(f, "R{VERSION:02}{name:NAME$}{follower}{:03}{:03}", minutes.min(&999), moves.min(&999))?;
                match start {
                    None => write!(f, "A"),
                    Some(board) => write!(f, "B{}{}", letter(board.to_move()), pieces(board)),
                }
            }
            Self::OtherRequest(version) => write!(f, "R{version:02}"),
            Self::Answer(name, acceptance) => write!(f, "A{:NAME$}{}", plain(name.trim(), NAME), *acceptance as u8),
            Self::Move(Taken { time, from, to, taken }) => {
                let seconds = time.as_secs().min(9_999);
                write!(f, "M{seconds:04}{:02}{:02}{:02}", from.number(), to.number(), taken.len())?;
                taken.map(Square::number).try_for_each(|number| write!(f, "{number:02}"))
            }
            Self::End { reason, last } => write!(f, "E{}{}", *reason as u8, u8::from(*last)),
            Self::Chat(words) => write!(f, "C{}", plain(words, LONGEST - 1)),
            Self::Back(number, color) => write!(f, "B{:03}{}", number.min(&999), letter(*color)),
            Self::BackAnswer(answer) => write!(f, "K{}", *answer as u8),
        }
    }
}

impl FromStr for Message {
    type Err = DraughtsError;

    fn from_str(text: &str) -> Result<Self, DraughtsError> {
        let form = |wrong: &str| {
            let shown: String = text.chars().take(LONGEST).collect();
            DraughtsError(format!("{shown:?} is no DamExchange message: {wrong}"))
        };
        if !text.bytes().all(|byte| (1..=127).contains(&byte)) || text.is_empty() || text.len() > LONGEST {
            return Err(form("it has 1 to 127 ASCII characters"));
        }
        let mut fields = Fields(&text[1..]);
        let read = match text.as_bytes()[0] {
            b'R' => match fields.number(2) {
                Some(VERSION) => fields.request()?.map(Self::Request),
                Some(version) => {
                    fields = Fields("");
                    Some(Self::OtherRequest(version))
                }
                None => None,
            },
            b'A' => fields.answer(),
            b'M' => fields.movement(),
            b'E' => fields.ending(),
            b'C' => Some(Self::Chat(std::mem::take(&mut fields.0).to_owned())),
            b'B' => fields.back(),
            b'K' => {
                fields.digit(&[BackAnswer::Accepted, BackAnswer::Unable, BackAnswer::Refused]).map(Self::BackAnswer)
            }
            _ => return Err(form("its first letter is none of R, A, M, E, C, B and K")),
        };
        match read {
            Some(message) if fields.0.is_empty() => Ok(message),
            Some(_) => Err(form("it is longer than its kind")),
            None => Err(form("a field is missing, or not as it should be")),
        }
    }
}

const fn letter(color: Color) -> char {
    match color {
        Color::White => 'W',
        Color::Black => 'Z',
    }
}

/// The first `longest` printable ASCII characters of a text: a message has no others.
fn plain(text: &str, longest: usize) -> String {
    text.chars().filter(|character| (' '..='~').contains(character)).take(longest).collect()
}

/// The squares one by one: `w` and `z` are men of White and Black, capitals their kings, `e` is empty.
fn pieces(board: &Board) -> String {
    Square::all().map(|square| board.letter(square, [['w', 'W'], ['z', 'Z']]).unwrap_or('e')).collect()
}

struct Fields<'a>(&'a str);

impl<'a> Fields<'a> {
    fn take(&mut self, length: usize) -> Option<&'a str> {
        let (field, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(field)
    }

    fn number(&mut self, digits: usize) -> Option<u16> {
        let field = self.take(digits)?;
        if field.bytes().all(|byte| byte.is_ascii_digit()) { field.parse().ok() } else { None }
    }

    fn square(&mut self) -> Option<Square> {
        Square::new(u8::try_from(self.number(2)?).ok()?)
    }

    fn color(&mut self) -> Option<Color> {
        match self.take(1)? {
            "W" => Some(Color::White),
            "Z" => Some(Color::Black),
            _ => None,
        }
    }

    /// Reads one of several values numbered from 0.
    fn digit<T: Copy>(&mut self, things: &[T]) -> Option<T> {
        things.get(usize::from(self.number(1)?)).copied()
    }

    fn name(&mut self) -> Option<String> {
        self.take(NAME).map(|name| name.trim().to_owned())
    }

    /// None where the form is wrong; an error where the form is right and the position cannot be.
    fn request(&mut self) -> Result<Option<Request>, DraughtsError> {
        let head = (self.name(), self.color(), self.number(3), self.number(3), self.take(1));
        let (Some(name), Some(follower), Some(minutes), Some(moves), Some(kind)) = head else { return Ok(None) };
        let start = match kind {
            "A" => None,
            "B" => {
                let (Some(to_move), Some(squares)) = (self.color(), self.take(32)) else { return Ok(None) };
                let Some([white, black, kings]) = read_pieces(squares) else { return Ok(None) };
                let impossible = |error| DraughtsError(format!("the game asked for starts from no position: {error}"));
                Some(Board::new(white, black, kings, to_move).map_err(impossible)?)
            }
            _ => return Ok(None),
        };
        Ok(Some(Request { name, follower, minutes, moves, start }))
    }

    fn answer(&mut self) -> Option<Message> {
        let name = self.name()?;
        let all = [Acceptance::Accepted, Acceptance::OtherVersion, Acceptance::Refused, Acceptance::NoGames];
        self.digit(&all).map(|acceptance| Message::Answer(name, acceptance))
    }

    fn movement(&mut self) -> Option<Message> {
        let time = Duration::from_secs(self.number(4)?.into());
        let (from, to) = (self.square()?, self.square()?);
        let count = u32::from(self.number(2)?);
        let taken: Squares = (0..count).map(|_| self.square()).collect::<Option<Vec<_>>>()?.into_iter().collect();
        (taken.len() == count).then_some(Message::Move(Taken { time, from, to, taken }))
    }

    fn ending(&mut self) -> Option<Message> {
        let reason = self.digit(&[Reason::Unknown, Reason::Lost, Reason::Drawn, Reason::Won])?;
        self.digit(&[false, true]).map(|last| Message::End { reason, last })
    }

    fn back(&mut self) -> Option<Message> {
        let number = self.number(3).filter(|number| *number > 0)?;
        self.color().map(|color| Message::Back(number, color))
    }
}

/// Pieces of White, pieces of Black, kings.
fn read_pieces(squares: &str) -> Option<[Squares; 3]> {
    let mut sets = [Squares::NONE; 3];
    for (square, piece) in Square::all().zip(squares.chars()) {
        let among: &[usize] = match piece {
            'w' => &[0],
            'W' => &[0, 2],
            'z' => &[1],
            'Z' => &[1, 2],
            'e' => &[],
            _ => return None,
        };
        for set in among {
            sets[*set] = sets[*set] | square.set();
        }
    }
    Some(sets)
}

/// The fault of a message without an end where one is due.
fn too_long() -> DraughtsError {
    DraughtsError(format!("a DamExchange message has at most {LONGEST} characters, this one goes on"))
}

/// Bytes as they come, cut into messages.
#[derive(Clone, Debug, Default)]
pub struct Frames(VecDeque<u8>);

impl Frames {
    pub fn push(&mut self, bytes: &[u8]) {
        self.0.extend(bytes);
    }

    /// The next whole message, if one has come. Anything else is skipped, unless it has no end.
    pub fn next_message(&mut self) -> Option<Result<Message, DraughtsError>> {
        let Some(end) = self.0.iter().position(|byte| *byte == 0) else {
            return (self.0.len() > LONGEST).then(|| Err(too_long()));
        };
        let bytes: Vec<u8> = self.0.drain(..=end).take(end).collect();
        Some(String::from_utf8_lossy(&bytes).parse())
    }

    pub fn bytes(message: &Message) -> Vec<u8> {
        let mut bytes = message.to_string().into_bytes();
        bytes.push(0);
        bytes
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::board::{Rules, tests::any_board};

    #[test]
    fn published_examples_round_trip() {
        for text in [
            "R01Tornado voor Windows 4.0        W060065A",
            "R02",
            "ATornado voor Windows 4.0        0",
            "M0012061100",
            "M00123219021522",
            "E00",
            "E21",
            "CHello",
            "B005Z",
            "K2",
        ] {
            assert_eq!(text.parse::<Message>().map(|message| message.to_string()).as_deref(), Ok(text));
        }
    }

    #[test]
    fn what_is_no_message_is_refused() {
        let wrong = " X E0 E000 E40 M001233110 M00120611011 M0012061102181 B000W B001X K3 R0 Rx1";
        for text in wrong.split(' ') {
            assert!(text.parse::<Message>().is_err(), "{text:?}");
        }
        let two_of_a_kind = format!("R01{:32}W060000BW{}", "x", "w".repeat(32));
        let error = two_of_a_kind.parse::<Message>().expect_err("no position").to_string();
        assert!(error.starts_with("the game asked for starts from no position"), "{error}");
    }

    #[test]
    fn frames_survive_any_split() {
        let sent = [Message::Chat("ciao".into()), Message::End { reason: Reason::Drawn, last: false }];
        let bytes: Vec<u8> = sent.iter().flat_map(Frames::bytes).collect();
        let mut frames = Frames::default();
        let mut received = Vec::new();
        for byte in bytes {
            frames.push(&[byte]);
            received.extend(frames.next_message());
        }
        assert_eq!(received, sent.map(Ok));
        frames.push(&[b'C'; 200]);
        assert_eq!(frames.next_message(), Some(Err(too_long())));
    }

    proptest! {
        #[test]
        fn messages_round_trip(board in any_board(), name in "[!-~][ -~]{0,29}[!-~]", numbers in [0u16..1000, 0u16..1000]) {
            let request = Request {
                name, follower: Color::Black, minutes: numbers[0], moves: numbers[1], start: Some(board),
            };
            let message = Message::Request(request);
            prop_assert_eq!(message.to_string().parse::<Message>(), Ok(message));
            for mv in board.legal_moves(Rules::Official) {
                let message = Message::Move(Taken::new(&mv, Duration::from_secs(numbers[0].into())));
                prop_assert_eq!(message.to_string().parse::<Message>(), Ok(message));
            }
        }

        #[test]
        fn no_bytes_break_the_reader(bytes in prop::collection::vec(any::<u8>(), 0..300), text in "[RAMECBK][0-9WZAB ewzWZ]{0,90}") {
            let mut frames = Frames::default();
            frames.push(&bytes);
            while let Some(Ok(_)) = frames.next_message() {}
            if let Ok(message) = text.parse::<Message>() {
                prop_assert_eq!(message.to_string().parse::<Message>(), Ok(message));
            }
        }
    }
}
