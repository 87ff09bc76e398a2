//! A position and its labels, in 38 bytes.

use engine::{
    Board,
    board::{Bitboard, Color, Piece, Square},
};

use crate::training::random::mix;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum GameResult {
    Black,
    Draw,
    White,
}

impl GameResult {
    pub(super) const ALL: [Self; 3] = [Self::Black, Self::Draw, Self::White];

    /// The points of a player: 0, 0.5 or 1.
    pub fn points(self, color: Color) -> f32 {
        let white = f32::from(self as u8) / 2.0;
        if color == Color::White { white } else { 1.0 - white }
    }
}

/// A position of standard chess with its labels. Scores are centipawns from the player to move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record {
    occupied: Bitboard,
    /// The men on the occupied squares from a1 to h8, four bits each, the lower half of a byte first.
    pieces: [u8; 16],
    turn: Color,
    /// A bit for each of `KQkq`.
    castling: u8,
    /// 0 to 7, or 8 if no pawn can be taken in passing.
    en_passant_file: u8,
    /// Plies since a pawn moved or something was taken.
    pub halfmoves: u8,
    pub result: Option<GameResult>,
    pub own: Option<i16>,
    pub teacher: Option<i16>,
    /// Plies played before it.
    pub ply: u16,
    /// The identity of its game: positions of one game are never on both sides of a validation.
    pub game: u32,
}

/// The score in centipawns beyond which a position is decided.
const DECIDED: u16 = 1500;
const NO_FILE: u8 = 8;
const NO_SCORE: i16 = i16::MIN;
const NO_RESULT: u8 = 3;
const CASTLING: [char; 4] = ['K', 'Q', 'k', 'q'];

impl Record {
    pub const SIZE: usize = 38;

    /// Creates a record without labels; `None` for castling rights that standard chess does not have.
    pub fn new(board: &Board) -> Option<Self> {
        let fen = board.to_fen();
        let mut fields = fen.split(' ').skip(2);
        let (rights, passing) = (fields.next().unwrap_or("-"), fields.next().unwrap_or("-"));
        let mut castling = 0;
        for right in rights.chars().filter(|right| *right != '-') {
            castling |= 1 << CASTLING.iter().position(|letter| *letter == right)?;
        }
        let mut pieces = [0; 16];
        for (i, square) in board.occupied().enumerate() {
            let piece = board.piece_on(square).map_or(0, Piece::index) as u8;
            pieces[i / 2] |= piece << (4 * (i % 2));
        }
        Some(Self {
            occupied: board.occupied(),
            pieces,
            turn: board.turn(),
            castling,
            en_passant_file: Square::parse(passing).map_or(NO_FILE, |square| square.file() as u8),
            halfmoves: board.halfmoves().min(255) as u8,
            result: None,
            own: None,
            teacher: None,
            ply: 0,
            game: 0,
        })
    }

    /// Returns true if one of its scores says that a side has won: it teaches little.
    pub fn is_decided(&self) -> bool {
        [self.own, self.teacher].into_iter().flatten().any(|score| score.unsigned_abs() > DECIDED)
    }

    pub fn turn(&self) -> Color {
        self.turn
    }

    pub fn count(&self) -> usize {
        self.occupied.count()
    }

    /// Iterates over the men, from a1 to h8.
    pub fn men(&self) -> impl Iterator<Item = (Piece, Square)> {
        let pieces = self.pieces;
        self.occupied.enumerate().map(move |(i, square)| {
            let index = pieces[(i / 2) & 15] >> (4 * (i % 2)) & 15;
            (Piece::ALL[usize::from(index).min(11)], square)
        })
    }

    /// Returns the identity of the position: men, player to move and castling rights.
    pub fn key(&self) -> u64 {
        let half = |bytes: &[u8]| bytes.iter().fold(0_u64, |half, byte| half << 8 | u64::from(*byte));
        let rest = u64::from(self.castling) << 1 | self.turn.index() as u64;
        [half(&self.pieces[..8]), half(&self.pieces[8..]), rest]
            .into_iter()
            .fold(mix(self.occupied.0), |key, part| mix(key ^ part))
    }

    /// The position as FEN; the number of the move is made up from the ply.
    pub fn to_fen(&self) -> String {
        let mut squares = [None; 64];
        for (piece, square) in self.men() {
            squares[square.index()] = Some(piece.letter());
        }
        let mut fen = String::with_capacity(80);
        for rank in (0..8).rev() {
            let mut empty = 0;
            for file in 0..8 {
                match squares[rank * 8 + file] {
                    None => empty += 1,
                    Some(letter) => {
                        push_count(&mut fen, &mut empty);
                        fen.push(letter);
                    }
                }
            }
            push_count(&mut fen, &mut empty);
            fen.push(if rank > 0 { '/' } else { ' ' });
        }
        let white = self.turn == Color::White;
        fen.push_str(if white { "w " } else { "b " });
        let rights = CASTLING.iter().enumerate().filter(|(i, _)| self.castling >> i & 1 != 0);
        fen.extend(rights.map(|(_, letter)| letter));
        if self.castling == 0 {
            fen.push('-');
        }
        if self.en_passant_file < NO_FILE {
            fen.extend([' ', char::from(b'a' + self.en_passant_file), if white { '6' } else { '3' }]);
        } else {
            fen.push_str(" -");
        }
        fen + &format!(" {} {}", self.halfmoves, self.ply / 2 + 1)
    }

    pub fn board(&self) -> Option<Board> {
        Board::from_fen(&self.to_fen()).ok()
    }

    /// Writes the record, numbers with their lowest byte first.
    pub fn to_bytes(&self) -> [u8; Self::SIZE] {
        let mut bytes = [0; Self::SIZE];
        bytes[..8].copy_from_slice(&self.occupied.0.to_le_bytes());
        bytes[8..24].copy_from_slice(&self.pieces);
        bytes[24] = self.turn.index() as u8 | self.castling << 1;
        bytes[25] = self.en_passant_file;
        bytes[26] = self.halfmoves;
        bytes[27] = self.result.map_or(NO_RESULT, |result| result as u8);
        bytes[28..30].copy_from_slice(&self.own.unwrap_or(NO_SCORE).to_le_bytes());
        bytes[30..32].copy_from_slice(&self.teacher.unwrap_or(NO_SCORE).to_le_bytes());
        bytes[32..34].copy_from_slice(&self.ply.to_le_bytes());
        bytes[34..].copy_from_slice(&self.game.to_le_bytes());
        bytes
    }

    /// Reads the output of [`Self::to_bytes`]: a king on each side and no other fault that costs no time to find.
    /// [`Self::board`] checks that the men make a legal position.
    pub fn from_bytes(bytes: &[u8; Self::SIZE]) -> Option<Self> {
        let score = |at: usize| Some(i16::from_le_bytes([bytes[at], bytes[at + 1]])).filter(|score| *score != NO_SCORE);
        let (mut occupied, mut pieces) = ([0; 8], [0; 16]);
        occupied.copy_from_slice(&bytes[..8]);
        pieces.copy_from_slice(&bytes[8..24]);
        let record = Self {
            occupied: Bitboard(u64::from_le_bytes(occupied)),
            pieces,
            turn: Color::ALL[usize::from(bytes[24] & 1)],
            castling: bytes[24] >> 1,
            en_passant_file: bytes[25],
            halfmoves: bytes[26],
            result: GameResult::ALL.get(usize::from(bytes[27])).copied(),
            own: score(28),
            teacher: score(30),
            ply: u16::from_le_bytes([bytes[32], bytes[33]]),
            game: u32::from_le_bytes([bytes[34], bytes[35], bytes[36], bytes[37]]),
        };
        let count = record.occupied.count();
        let kinds_hold = (0..count.min(32)).all(|i| pieces[i / 2] >> (4 * (i % 2)) & 15 < 12);
        let holds = count <= 32 && kinds_hold && record.castling < 16 && bytes[25] <= NO_FILE && bytes[27] <= NO_RESULT;
        let kings = |king| record.men().filter(|(piece, _)| *piece == king).count();
        (holds && kings(Piece::WhiteKing) == 1 && kings(Piece::BlackKing) == 1).then_some(record)
    }
}

fn push_count(fen: &mut String, empty: &mut u8) {
    if *empty > 0 {
        fen.push(char::from(b'0' + *empty));
        *empty = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FENS: [&str; 5] = [
        "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
        "r3k2r/pppq1ppp/2npbn2/4p3/2B1P3/2NP1N2/PPPQ1PPP/R3K2R b Kq - 5 9",
        "rnbqkbnr/ppp1pppp/8/8/3pP3/8/PPPP1PPP/RNBQKBNR b KQkq e3 0 3",
        "8/8/1K6/1P6/8/4k3/8/8 w - - 37 60",
        "q2k2q1/2nqn2b/1n1P1n1b/2rnr2Q/1NQ1QN1Q/3Q3B/2RQR2B/Q2K2Q1 w - - 0 1",
    ];

    #[test]
    fn record_bytes_round_trip() {
        for fen in FENS {
            let board = Board::from_fen(fen).expect("a position");
            let mut record = Record::new(&board).expect("standard chess");
            record.result = Some(GameResult::White);
            record.own = Some(-123);
            record.ply =
                ((board.to_fen().rsplit(' ').next().and_then(|n| n.parse::<u16>().ok()).expect("a number")) - 1) * 2;
            record.game = 77;
            let read = Record::from_bytes(&record.to_bytes()).expect("it was just written");
            assert_eq!(read, record);
            assert_eq!(read.to_fen(), board.to_fen());
            assert_eq!(read.board().expect("legal").keys(), board.keys());
            assert_eq!(read.teacher, None);
        }
    }

    #[test]
    fn positions_have_unique_keys() {
        let key = |fen: &str| Record::new(&Board::from_fen(fen).expect("a position")).expect("standard chess").key();
        let mut keys: Vec<_> = FENS.map(key).to_vec();
        keys.push(key("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR b KQkq - 0 1"));
        keys.push(key("rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQk - 0 1"));
        let all = keys.len();
        keys.sort_unstable();
        keys.dedup();
        assert_eq!(keys.len(), all);
    }

    #[test]
    fn invalid_record_bytes_are_refused() {
        let board = Board::from_fen(FENS[0]).expect("a position");
        let good = Record::new(&board).expect("standard chess").to_bytes();
        // The last: white rooks in place of the king and a bishop.
        for (at, byte) in [(0, 0), (8, 0xff), (24, 0xff), (25, 9), (27, 4), (10, 0x66)] {
            let mut bad = good;
            bad[at] = byte;
            let refused = Record::from_bytes(&bad).and_then(|record| record.board()).is_none();
            assert!(refused || at == 0, "byte {at}");
        }
    }
}
