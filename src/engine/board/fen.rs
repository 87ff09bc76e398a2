//! Forsyth-Edwards notation, both ways, Shredder's and X-FEN's castling letters included.

use std::fmt::Write;

use super::{
    Bitboard, Board, Castling,
    types::{Color, Piece, Role, Square},
    zobrist,
};

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FenError {
    /// The first field is not eight ranks of eight squares.
    #[error("the board {0:?} is not eight ranks of eight squares (pieces PNBRQKpnbrqk, digits for empty squares)")]
    Board(String),
    /// The second field is neither `w` nor `b`.
    #[error("{0:?} does not say who is to move (accepted: w, b)")]
    Turn(String),
    /// A castling letter without its king and rook.
    #[error("castling rights {0:?} do not fit the kings and rooks on the board (accepted: -, KQkq, or files of rooks)")]
    Castling(String),
    /// The fourth field is no square where a pawn can be taken in passing.
    #[error("{0:?} is no en passant square (accepted: - or a square behind a pawn that just moved two steps)")]
    EnPassant(String),
    /// The fifth or sixth field is no number in range.
    #[error("{0:?} is no move counter (accepted: a whole number up to 9999)")]
    Counter(String),
    /// A side without exactly one king.
    #[error("each side needs exactly one king")]
    Kings,
    /// A pawn on the first or last rank.
    #[error("a pawn stands on the first or last rank")]
    PawnRank,
    /// More men than a game can have.
    #[error("a side has more men than a game of chess can give it")]
    TooManyMen,
    /// The side that has just moved left its king in check.
    #[error("the side that is not to move is in check")]
    OppositeCheck,
}

impl Board {
    /// Reads a FEN. Castling, en passant and the counters may be left out.
    pub fn from_fen(fen: &str) -> Result<Self, FenError> {
        let mut fields = fen.split_ascii_whitespace();
        let mut board = Self::empty();
        board.read_men(fields.next().unwrap_or_default())?;
        board.check_men()?;
        board.turn = match fields.next() {
            Some("w") | None => Color::White,
            Some("b") => Color::Black,
            Some(other) => return Err(FenError::Turn(other.to_owned())),
        };
        if board.turn == Color::Black {
            board.keys.position ^= zobrist::black_to_move();
        }
        let castling = fields.next().unwrap_or("-");
        if castling != "-" {
            castling.chars().try_for_each(|letter| board.read_castling(letter, castling))?;
        }
        board.keys.position ^= zobrist::castling(board.castling.rights);
        let waiting = board.king(!board.turn);
        if (board.attackers(waiting, board.occupied()) & board.color(board.turn)).has_any() {
            return Err(FenError::OppositeCheck);
        }
        board.update_checks();
        board.read_en_passant(fields.next().unwrap_or("-"))?;
        let mut counter = |default: u16| match fields.next() {
            None => Ok(default),
            Some(text) => {
                text.parse::<u16>().ok().filter(|n| *n <= 9999).ok_or_else(|| FenError::Counter(text.to_owned()))
            }
        };
        board.halfmoves = counter(0)?;
        board.fullmoves = counter(1)?.max(1);
        Ok(board)
    }

    fn read_men(&mut self, text: &str) -> Result<(), FenError> {
        let error = || FenError::Board(text.to_owned());
        let mut ranks_read = 0;
        let mut keys = self.keys;
        for (row, line) in text.split('/').enumerate() {
            let mut file = 0;
            for letter in line.chars() {
                if let Some(empty @ 1..=8) = letter.to_digit(10) {
                    file += empty as usize;
                } else {
                    let piece = Piece::from_letter(letter).filter(|_| file < 8 && row < 8).ok_or_else(error)?;
                    self.put(piece, Square::at(file, 7 - row), &mut keys);
                    file += 1;
                }
            }
            if file != 8 {
                return Err(error());
            }
            ranks_read = row + 1;
        }
        self.keys = keys;
        if ranks_read == 8 { Ok(()) } else { Err(error()) }
    }

    fn check_men(&self) -> Result<(), FenError> {
        let ends = Bitboard::rank(0, Color::White) | Bitboard::rank(7, Color::White);
        if (self.role(Role::Pawn) & ends).has_any() {
            return Err(FenError::PawnRank);
        }
        for color in Color::ALL {
            if self.men(color, Role::King).count() != 1 {
                return Err(FenError::Kings);
            }
            let many = |role| self.men(color, role).count();
            let at_start = [(Role::Knight, 2), (Role::Bishop, 2), (Role::Rook, 2), (Role::Queen, 1)];
            let promoted: usize = at_start.into_iter().map(|(role, n)| many(role).saturating_sub(n)).sum();
            if many(Role::Pawn) + promoted > 8 {
                return Err(FenError::TooManyMen);
            }
        }
        Ok(())
    }

    /// `K` and `Q` name the outermost rook, a file letter the rook on that file.
    fn read_castling(&mut self, letter: char, whole: &str) -> Result<(), FenError> {
        let error = || FenError::Castling(whole.to_owned());
        let color = if letter.is_ascii_uppercase() { Color::White } else { Color::Black };
        let king = self.king(color);
        let back = Bitboard::rank(0, color);
        let rooks: Bitboard = self.men(color, Role::Rook) & back;
        let rook = match letter.to_ascii_lowercase() {
            'k' => rooks.filter(|rook| *rook > king).last(),
            'q' => rooks.into_iter().find(|rook| *rook < king),
            file @ 'a'..='h' => (rooks & Bitboard::file(file as usize - 'a' as usize)).get(),
            _ => None,
        };
        let rook = rook.filter(|_| back.has(king)).ok_or_else(error)?;
        let queen_side = rook < king;
        self.castling.rights |= Castling::bit(color, queen_side);
        self.castling.rooks[Castling::index(color, queen_side)] = rook;
        self.castling.homes |= rook;
        Ok(())
    }

    fn read_en_passant(&mut self, text: &str) -> Result<(), FenError> {
        if text == "-" {
            return Ok(());
        }
        let them = !self.turn;
        let square = Square::parse(text)
            .filter(|square| square.rank_for(self.turn) == 5)
            .filter(|square| self.men(them, Role::Pawn).has(square.forward(them)))
            .filter(|square| !self.occupied().has(*square) && !self.occupied().has(square.forward(self.turn)))
            .ok_or_else(|| FenError::EnPassant(text.to_owned()))?;
        self.set_en_passant(Some(square).filter(|square| self.can_take_in_passing(*square)));
        Ok(())
    }

    /// Writes the FEN. Castling rights are `KQkq` if that identifies the rook, else files (X-FEN);
    /// the en passant square is written only if a pawn can legally capture there.
    pub fn to_fen(&self) -> String {
        let mut fen = String::with_capacity(90);
        for rank in (0..8).rev() {
            let mut empty = 0;
            for file in 0..8 {
                let Some(piece) = self.piece_on(Square::at(file, rank)) else {
                    empty += 1;
                    continue;
                };
                if empty > 0 {
                    let _ = write!(fen, "{empty}");
                    empty = 0;
                }
                fen.push(piece.letter());
            }
            if empty > 0 {
                let _ = write!(fen, "{empty}");
            }
            if rank > 0 {
                fen.push('/');
            }
        }
        let turn = if self.turn == Color::White { 'w' } else { 'b' };
        let _ = write!(fen, " {turn} {}", self.castling_letters());
        match self.en_passant {
            Some(square) => _ = write!(fen, " {square}"),
            None => fen.push_str(" -"),
        }
        let _ = write!(fen, " {} {}", self.halfmoves, self.fullmoves);
        fen
    }

    fn castling_letters(&self) -> String {
        let mut letters = String::new();
        for (color, queen_side) in
            [(Color::White, false), (Color::White, true), (Color::Black, false), (Color::Black, true)]
        {
            if !self.castling.allows(color, queen_side) {
                continue;
            }
            let rook = self.castling.rooks[Castling::index(color, queen_side)];
            let mut rooks: Bitboard = self.men(color, Role::Rook) & Bitboard::rank(0, color);
            let outermost = if queen_side { rooks.next() == Some(rook) } else { rooks.last() == Some(rook) };
            let letter = match (outermost, queen_side) {
                (true, false) => 'k',
                (true, true) => 'q',
                (false, _) => char::from(b'a' + rook.file() as u8),
            };
            letters.push(if color == Color::White { letter.to_ascii_uppercase() } else { letter });
        }
        if letters.is_empty() { "-".to_owned() } else { letters }
    }
}
