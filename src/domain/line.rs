//! A game as a starting position and the moves since. Positions travel between packages, threads
//! and machines in this form, because it alone includes repetitions and lost castling rights.

use std::fmt::{self, Write as _};

use shakmaty::{
    CastlingMode, Chess, Color, EnPassantMode, Position, Square, fen::Fen, san::SanPlus, uci::UciMove,
    variant::VariantPosition, zobrist::Zobrist64,
};

use super::Variant;

/// A starting position and the legal moves played from it, with the resulting position.
///
/// Invariant: every move was legal where it was played, so [`Line::position`] is always valid.
#[derive(Clone)]
pub struct Line {
    variant: Variant,
    start: VariantPosition,
    castling_mode: CastlingMode,
    moves: Vec<UciMove>,
    position: VariantPosition,
    /// One key for each position reached, the start's first.
    keys: Vec<u64>,
    /// The square of the last move's capture.
    last_capture: Option<Square>,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LineError {
    #[error("starting position {fen:?} is not a legal {variant} position: {reason}")]
    Start { fen: String, variant: Variant, reason: String },
    #[error("move {text:?} (ply {ply}) is not legal in {fen}")]
    Move { text: String, ply: usize, fen: String },
}

impl Line {
    pub fn start(variant: Variant) -> Self {
        Self::at(variant, VariantPosition::new(variant.rules()), CastlingMode::Standard)
    }

    /// Returns the line without moves from `fen`; `startpos` and the empty text are the usual
    /// start.
    ///
    /// Accepts Shredder-FEN and X-FEN castling rights. A position whose castling rights only
    /// Chess960 can express is played with Chess960 castling, also if the variant is named
    /// otherwise (Lichess sends such games as `fromPosition`).
    ///
    /// # Errors
    /// [`LineError::Start`] if the position breaks the rules of the variant.
    pub fn from_fen(variant: Variant, fen: &str) -> Result<Self, LineError> {
        if fen.is_empty() || fen == "startpos" {
            return Ok(Self::start(variant));
        }
        let error = |reason: String| LineError::Start { fen: fen.to_owned(), variant, reason };
        let setup = fen.parse::<Fen>().map_err(|reason| error(reason.to_string()))?.into_setup();
        #[allow(clippy::result_large_err, reason = "shakmaty's error carries the position; read once a game")]
        let read = |mode| {
            VariantPosition::from_setup(variant.rules(), setup.clone(), mode)
                .or_else(|broken| broken.ignore_too_much_material())
                .or_else(|broken| broken.ignore_invalid_ep_square())
        };
        // Standard rights are tried first, so that a standard position keeps its e1g1 way of writing castling.
        let standard = if variant == Variant::Chess960 { None } else { read(CastlingMode::Standard).ok() };
        let (start, mode) = match standard {
            Some(start) => (start, CastlingMode::Standard),
            None => match read(CastlingMode::Chess960) {
                Ok(start) => (start, CastlingMode::Chess960),
                Err(broken) => match broken.ignore_invalid_castling_rights() {
                    Ok(start) => (start, CastlingMode::Standard),
                    Err(broken) => return Err(error(broken.to_string())),
                },
            },
        };
        Ok(Self::at(variant, start, mode))
    }

    fn at(variant: Variant, start: VariantPosition, castling_mode: CastlingMode) -> Self {
        let keys = vec![key(&start)];
        Self { variant, position: start.clone(), start, castling_mode, moves: Vec::new(), keys, last_capture: None }
    }

    /// Plays one move. Castling is understood both as the king's move and as king takes rook, and kept as the line's mode writes it.
    ///
    /// # Errors
    /// [`LineError::Move`] if the move is not legal here; the line is unchanged.
    pub fn play(&mut self, uci: UciMove) -> Result<(), LineError> {
        let mv = uci.to_move(&self.position).map_err(|_| self.illegal(uci))?;
        self.last_capture = mv.is_capture().then(|| mv.to());
        self.position.play_unchecked(mv);
        self.moves.push(mv.to_uci(self.castling_mode));
        self.keys.push(key(&self.position));
        Ok(())
    }

    /// Plays moves given as texts in UCI notation, separated by blanks.
    ///
    /// # Errors
    /// [`LineError::Move`] at the first text that is no legal move; the moves before it are played.
    pub fn play_all(&mut self, moves: &str) -> Result<(), LineError> {
        for text in moves.split_ascii_whitespace() {
            self.play(text.parse().map_err(|_| self.illegal(text))?)?;
        }
        Ok(())
    }

    fn illegal(&self, mv: impl fmt::Display) -> LineError {
        LineError::Move { text: mv.to_string(), ply: self.moves.len(), fen: self.fen() }
    }

    /// Takes back moves until `ply` of them are left; does nothing if there are no more.
    pub fn truncate(&mut self, ply: usize) {
        if ply >= self.moves.len() {
            return;
        }
        let kept: Vec<UciMove> = self.moves.drain(..).take(ply).collect();
        *self = Self::at(self.variant, self.start.clone(), self.castling_mode);
        for uci in kept {
            // These moves were legal from the same start.
            let _ = self.play(uci);
        }
    }

    pub fn prefix(&self, ply: usize) -> Self {
        let mut line = self.clone();
        line.truncate(ply);
        line
    }

    pub fn variant(&self) -> Variant {
        self.variant
    }

    /// Returns the notation of castling: the king's own move, or king takes rook.
    pub fn castling_mode(&self) -> CastlingMode {
        self.castling_mode
    }

    pub fn position(&self) -> &VariantPosition {
        &self.position
    }

    pub fn start_position(&self) -> &VariantPosition {
        &self.start
    }

    pub fn moves(&self) -> &[UciMove] {
        &self.moves
    }

    pub fn ply(&self) -> usize {
        self.moves.len()
    }

    pub fn turn(&self) -> Color {
        self.position.turn()
    }

    pub fn is_legal(&self, uci: UciMove) -> bool {
        uci.to_move(&self.position).is_ok()
    }

    pub fn is_checkmate(&self) -> bool {
        self.position.is_checkmate()
    }

    /// The legal moves here, as the line would write them.
    pub fn legal_moves(&self) -> Vec<UciMove> {
        self.position.legal_moves().iter().map(|mv| mv.to_uci(self.castling_mode)).collect()
    }

    /// Returns the move if there is no other.
    pub fn only_move(&self) -> Option<UciMove> {
        match self.position.legal_moves().as_slice() {
            [only] => Some(only.to_uci(self.castling_mode)),
            _ => None,
        }
    }

    /// Writes a move in standard algebraic notation, with its check; an illegal one stays as it is.
    pub fn san(&self, uci: UciMove) -> String {
        match uci.to_move(&self.position) {
            Ok(mv) => SanPlus::from_move(self.position.clone(), mv).to_string(),
            Err(_) => uci.to_string(),
        }
    }

    /// Writes consecutive moves in standard algebraic notation, up to the first illegal one.
    pub fn sans(&self, moves: impl IntoIterator<Item = UciMove>) -> Vec<String> {
        let mut line = self.clone();
        let next = |uci| {
            let san = line.san(uci);
            line.play(uci).ok().map(|()| san)
        };
        moves.into_iter().map_while(next).collect()
    }

    /// Reads a legal move in UCI notation or SAN, with or without marks behind it, castling also with noughts or small letters.
    /// `None` if it is no legal move here.
    pub fn read_move(&self, text: &str) -> Option<UciMove> {
        let text = text.trim_end_matches(['+', '#', '!', '?']);
        let noughts = text.replace('0', "O");
        let san = if text.starts_with(['0', 'o']) { noughts.to_uppercase() } else { noughts };
        let by_san = san.parse::<SanPlus>().ok().and_then(|san| san.san.to_move(&self.position).ok());
        let by_squares = || {
            let uci = text.parse::<UciMove>().or_else(|_| text.to_lowercase().parse());
            uci.ok()?.to_move(&self.position).ok()
        };
        Some(by_san.or_else(by_squares)?.to_uci(self.castling_mode))
    }

    pub fn fen(&self) -> String {
        Fen::from_position(&self.position, EnPassantMode::Legal).to_string()
    }

    /// The FEN of the starting position, `None` if it is the variant's usual one.
    pub fn start_fen(&self) -> Option<String> {
        let usual = self.start == VariantPosition::new(self.variant.rules());
        (!usual).then(|| self.any_start_fen())
    }

    /// The FEN of the starting position, the variant's usual one included.
    pub fn any_start_fen(&self) -> String {
        Fen::from_position(&self.start, EnPassantMode::Legal).to_string()
    }

    /// Returns the number of times the current position has occurred in this line, including now.
    pub fn occurrences(&self) -> usize {
        let now = self.keys.last();
        self.keys.iter().filter(|key| Some(*key) == now).count()
    }

    pub fn last_capture(&self) -> Option<Square> {
        self.last_capture
    }

    /// The position if its rules are those of standard chess.
    pub fn standard(&self) -> Option<&Chess> {
        match &self.position {
            VariantPosition::Chess(position) => Some(position),
            _ => None,
        }
    }
}

fn key(position: &VariantPosition) -> u64 {
    position.zobrist_hash::<Zobrist64>(EnPassantMode::Legal).0
}

impl PartialEq for Line {
    fn eq(&self, other: &Self) -> bool {
        self.variant == other.variant && self.keys.first() == other.keys.first() && self.moves == other.moves
    }
}

impl Eq for Line {}

impl fmt::Debug for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Line({} after {} plies: {})", self.variant, self.ply(), self.fen())
    }
}

/// Moves with blanks between them, those of chess in UCI notation as [`Line::play_all`] reads them.
pub fn moves_text(moves: &[impl fmt::Display]) -> String {
    let mut text = String::with_capacity(moves.len() * 5);
    for (ply, mv) in moves.iter().enumerate() {
        let between = if ply > 0 { " " } else { "" };
        // Writing to a text does not fail.
        let _ = write!(text, "{between}{mv}");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn castling_notation_fits_the_start() {
        let mut standard = Line::start(Variant::Standard);
        standard.play_all("e2e4 e7e5 g1f3 b8c6 f1b5 a7a6 e1h1").expect("king takes rook is understood");
        assert_eq!(standard.moves().last().map(ToString::to_string).as_deref(), Some("e1g1"));

        let fen = "bqnrkrnb/pppppppp/8/8/8/8/PPPPPPPP/BQNRKRNB w KQkq - 0 1";
        let mut fischer = Line::from_fen(Variant::Chess960, fen).expect("a legal start");
        fischer.play_all("g1f3 g8f6 e1f1").expect("castling with the rook beside the king");
        assert_eq!(fischer.moves().last().map(ToString::to_string).as_deref(), Some("e1f1"));
        assert_eq!(fischer.position().board().king_of(Color::White), Some(shakmaty::Square::G1));
    }

    #[test]
    fn position_may_need_chess960_castling() {
        let fen = "bqnrkrnb/pppppppp/8/8/8/8/PPPPPPPP/BQNRKRNB w FDfd - 0 1";
        let line = Line::from_fen(Variant::FromPosition, fen).expect("Shredder-FEN rights");
        assert_eq!(line.castling_mode(), CastlingMode::Chess960);
    }

    #[test]
    fn moves_are_read_in_any_notation() {
        let mut line = Line::start(Variant::Standard);
        line.play_all("e2e4 e7e5 g1f3 b8c6 f1b5 a7a6").expect("legal");
        let read = |text: &str| line.read_move(text).map(|mv| mv.to_string());
        for castling in ["O-O", "0-0", "o-o", "e1g1", "e1h1", "E1G1", "O-O+"] {
            assert_eq!(read(castling).as_deref(), Some("e1g1"), "{castling}");
        }
        assert_eq!(read("Bxc6").as_deref(), Some("b5c6"));
        assert_eq!((read("e4e5"), read("castles"), read("")), (None, None, None));
        let crazyhouse = Line::from_fen(Variant::Crazyhouse, "4k3/8/8/8/8/8/8/4K3[N] w - - 0 1").expect("a position");
        assert_eq!(crazyhouse.read_move("N@f3").map(|mv| mv.to_string()).as_deref(), Some("N@f3"));
    }

    #[test]
    fn repetitions_are_counted() {
        let mut line = Line::start(Variant::Standard);
        line.play_all("g1f3 g8f6 f3g1 f6g8 g1f3 g8f6 f3g1 f6g8").expect("legal");
        assert_eq!(line.occurrences(), 3);
        line.truncate(3);
        assert_eq!((line.ply(), line.occurrences()), (3, 1));
    }

    #[test]
    fn illegal_move_is_named() {
        let mut line = Line::start(Variant::Standard);
        let error = line.play_all("e2e4 e2e4").expect_err("no pawn on e2");
        assert!(error.to_string().contains("\"e2e4\" (ply 1)"), "{error}");
        assert_eq!(line.ply(), 1);
    }
}
