//! Style 12: a position in one line, made for programs.
//!
//! `<12>`, eight ranks, then about twenty-three fields separated by blanks (FICS's `help style12`). Servers leave out
//! the last ones or add some; a line is read as far as it goes.

use std::time::Duration;

use shakmaty::Color;

use super::is_name;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BoardRelation {
    OurMove,
    TheirMove,
    /// The position a game began from, within a list of its moves.
    StartOfList,
    /// A game that others play, an examination, a position shown by itself.
    Watching,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Style12 {
    /// The pieces, as the first field of a FEN.
    pub placement: String,
    pub turn: Color,
    /// The file (0 is a) of a pawn that has just made two steps. Some servers tell it always, some only where it can be
    /// taken in passing.
    pub double_push: Option<u8>,
    /// Castling rights: White short, White long, Black short, Black long.
    pub castling: [bool; 4],
    /// Plies since the last capture or pawn move.
    pub halfmoves: u32,
    /// The server's number of the game, which it gives to another one later.
    pub game: u32,
    pub white: String,
    pub black: String,
    pub relation: BoardRelation,
    /// Initial clock in minutes; 0 with an increment means ten seconds.
    pub initial_minutes: u32,
    /// Seconds added after every move.
    pub increment: u32,
    /// White's and Black's clock; `Duration::ZERO` where the server shows less than nothing.
    pub clocks: [Duration; 2],
    /// True if the clocks were given in milliseconds.
    pub exact_clocks: bool,
    /// The number of the move about to be made, as in a FEN.
    pub move_number: u32,
    /// The move that led here in the server's long form, such as `P/e2-e4`; `None` at the start.
    pub last_move: Option<String>,
    /// The move that led here in short algebraic notation.
    pub last_san: Option<String>,
    /// Time of that move.
    pub taken: Duration,
    /// True if Black is shown below.
    pub flipped: bool,
    /// True if the clock of the side to move runs, where the server tells.
    pub ticking: Option<bool>,
    /// The network delay of the last move by timeseal, ms, where the server tells. Negative after a takeback.
    pub lag: Option<i64>,
}

impl Style12 {
    pub fn read(line: &str) -> Option<Self> {
        let mut fields = line.strip_prefix("<12>")?.split_ascii_whitespace();
        let mut placement = String::with_capacity(72);
        for rank in 0..8 {
            if rank > 0 {
                placement.push('/');
            }
            read_rank(fields.next()?, &mut placement)?;
        }
        let mut field = || fields.next();
        let turn = match field()? {
            "W" => Color::White,
            "B" => Color::Black,
            _ => return None,
        };
        let double_push = field()?.parse().ok().filter(|file| *file < 8);
        let mut castling = [false; 4];
        for right in &mut castling {
            *right = field()? == "1";
        }
        let halfmoves = field()?.parse().ok()?;
        let game = field()?.parse().ok()?;
        let mut name = || field().filter(|name| is_name(name)).map(str::to_owned);
        let (white, black) = (name()?, name()?);
        let relation = match field()? {
            "1" => BoardRelation::OurMove,
            "-1" => BoardRelation::TheirMove,
            "-4" => BoardRelation::StartOfList,
            _ => BoardRelation::Watching,
        };
        let initial_minutes = field()?.parse().ok()?;
        let increment = field()?.parse().ok()?;
        let _material = (field()?, field()?);
        let clocks: [i64; 2] = [field()?.parse().ok()?, field()?.parse().ok()?];
        let move_number = field()?.parse().ok()?;
        let played = |text: &str| (text != "none").then(|| text.to_owned());
        let last_move = played(field()?);
        let taken_text = field()?;
        // A server may grant milliseconds and not keep its word; the form of this field never lies.
        let exact_clocks = taken_text.contains('.');
        let last_san = field().and_then(played);
        let clock = |value: i64| {
            let value = u64::try_from(value).unwrap_or_default();
            if exact_clocks { Duration::from_millis(value) } else { Duration::from_secs(value) }
        };
        Some(Self {
            placement,
            turn,
            double_push,
            castling,
            halfmoves,
            game,
            white,
            black,
            relation,
            initial_minutes,
            increment,
            clocks: clocks.map(clock),
            exact_clocks,
            move_number,
            last_move,
            last_san,
            taken: read_time(taken_text)?,
            flipped: field() == Some("1"),
            ticking: field().map(|ticking| ticking == "1"),
            lag: field().and_then(|lag| lag.parse().ok()),
        })
    }

    /// Plies since move one of White, the move about to be made not counted.
    pub fn ply(&self) -> usize {
        let full_moves = usize::try_from(self.move_number).unwrap_or(usize::MAX).saturating_sub(1);
        full_moves.saturating_mul(2).saturating_add(usize::from(self.turn == Color::Black))
    }

    pub fn is_ours(&self) -> bool {
        matches!(self.relation, BoardRelation::OurMove | BoardRelation::TheirMove)
    }

    pub fn is_of(&self, game: u32, white: &str, black: &str) -> bool {
        self.game == game && self.white.eq_ignore_ascii_case(white) && self.black.eq_ignore_ascii_case(black)
    }

    pub fn opponent(&self) -> Option<&str> {
        self.our_color().map(|color| color.fold_wb(self.black.as_str(), self.white.as_str()))
    }

    pub fn our_color(&self) -> Option<Color> {
        match self.relation {
            BoardRelation::OurMove => Some(self.turn),
            BoardRelation::TheirMove => Some(self.turn.other()),
            BoardRelation::StartOfList | BoardRelation::Watching => None,
        }
    }

    /// The position as a FEN. The rights are the server's: whether they can be, the reader must see.
    pub fn fen(&self) -> String {
        let rights: String =
            "KQkq".chars().zip(self.castling).filter_map(|(right, held)| held.then_some(right)).collect();
        let passed = match (self.double_push, self.turn) {
            (Some(file), turn) => {
                format!("{}{}", char::from(b'a' + file), if turn == Color::White { '6' } else { '3' })
            }
            (None, _) => "-".to_owned(),
        };
        format!(
            "{} {} {} {passed} {} {}",
            self.placement,
            self.turn.fold_wb('w', 'b'),
            if rights.is_empty() { "-" } else { &rights },
            self.halfmoves,
            self.move_number.max(1),
        )
    }
}

/// One rank from a to h, `-` for an empty square, to the run-length form of a FEN.
fn read_rank(rank: &str, placement: &mut String) -> Option<()> {
    let mut empty = 0u8;
    let mut length = 0;
    for byte in rank.bytes() {
        length += 1;
        match byte {
            b'-' => empty += 1,
            b'p' | b'n' | b'b' | b'r' | b'q' | b'k' | b'P' | b'N' | b'B' | b'R' | b'Q' | b'K' => {
                if empty > 0 {
                    placement.push(char::from(b'0' + empty));
                    empty = 0;
                }
                placement.push(char::from(byte));
            }
            _ => return None,
        }
        if length > 8 {
            return None;
        }
    }
    if empty > 0 {
        placement.push(char::from(b'0' + empty));
    }
    (length == 8).then_some(())
}

/// `(0:06)`, `(0:01.652)`, `(1:02:33)`; less than nothing is nothing.
pub(super) fn read_time(text: &str) -> Option<Duration> {
    let text = text.strip_prefix('(')?.strip_suffix(')')?;
    if text.starts_with('-') {
        return Some(Duration::ZERO);
    }
    let (whole, fraction) = text.split_once('.').unwrap_or((text, "0"));
    let mut seconds = 0u64;
    for part in whole.split(':') {
        seconds = seconds.checked_mul(60)?.checked_add(part.parse().ok()?)?;
    }
    let digits = fraction.get(..fraction.len().min(3))?;
    let millis = digits.parse::<u64>().ok()? * [1000, 100, 10, 1].get(digits.len())?;
    Some(Duration::from_millis(seconds.checked_mul(1000)?.checked_add(millis)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_field_is_read() {
        let board = Style12::read(
            "<12> r-bqk--r --ppbppp p-n--n-- -p--p--- B---P--- -----N-- PPPP-PPP RNBQR-K- W 1 0 0 1 1 0 7 Ann Bob -1 15 3 39 39 \
             898200 -184 7 P/b7-b5 (0:00.352) b5 1 1 -20",
        )
        .expect("a board");
        assert_eq!(board.fen(), "r1bqk2r/2ppbppp/p1n2n2/1p2p3/B3P3/5N2/PPPP1PPP/RNBQR1K1 w kq b6 0 7");
        assert_eq!((board.ply(), board.our_color()), (12, Some(Color::Black)));
        assert_eq!(board.clocks, [Duration::from_millis(898_200), Duration::ZERO]);
        assert_eq!((board.taken, board.lag, board.ticking), (Duration::from_millis(352), Some(-20), Some(true)));
        assert_eq!(board.last_san.as_deref(), Some("b5"));
    }

    #[test]
    fn older_servers_tell_less() {
        let old = "<12> rnbqkb-r pppppppp -----n-- -------- ----P--- -------- PPPPKPPP RNBQ-BNR B -1 0 0 1 1 0 7 A B 0 2 12 39 39 \
                   119 122 2 K/e1-e2 (0:06) Ke2 0";
        let board = Style12::read(old).expect("a board");
        assert_eq!((board.ticking, board.lag, board.exact_clocks), (None, None, false));
        assert_eq!(board.clocks[0], Duration::from_secs(119));
        assert_eq!((board.relation, board.is_ours()), (BoardRelation::Watching, false));
        for cut in 0..old.len() - 6 {
            assert_eq!(Style12::read(&old[..cut]), None, "cut after {cut} bytes");
        }
    }

    #[test]
    fn times_in_every_form() {
        for (text, millis) in [
            ("(0:06)", 6000),
            ("(0:01.652)", 1652),
            ("(0:01.6)", 1600),
            ("(3:47)", 227_000),
            ("(1:02:33)", 3_753_000),
            ("(-1:02)", 0),
        ] {
            assert_eq!(read_time(text), Some(Duration::from_millis(millis)), "{text}");
        }
        for text in ["", "()", "(x)", "(1:)", "0:06", "(99999999999999999999:00)", "(0:00.é)"] {
            assert_eq!(read_time(text), None, "{text}");
        }
    }
}
