//! Endgame tablebases (Syzygy), read by `shakmaty-syzygy`.
//!
//! In the search, positions right after a capture or a pawn's move are looked up and settled. At the root, moves that would
//! spoil the result are left out; a win keeps only the moves that bring the next capture or pawn's move soonest.

use std::{fmt, io, sync::Arc};

use shakmaty::{CastlingMode, Chess, Position as _, fen::Fen, uci::UciMove};
use shakmaty_syzygy::{Tablebase, Wdl};

use super::board::{Board, Move, Position};

/// Tables of some directories. Cheap to clone: engines of one process share them.
#[derive(Clone)]
pub struct Tablebases {
    tables: Arc<Tablebase<Chess>>,
    /// Men of the largest tables.
    largest: usize,
}

/// The result with best play, from the player to move. Wins that the fifty-move rule spoils are draws.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Outcome {
    /// Lost.
    Loss,
    /// Drawn.
    Draw,
    /// Won.
    Win,
}

/// What tables know of a root position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settled {
    /// The result for the player to move.
    pub outcome: Outcome,
    /// Plies until the capture, pawn's move or mate that the best moves aim at; at most 101.
    pub plies: u32,
    /// The moves that keep the result.
    pub moves: Vec<Move>,
}

impl Tablebases {
    /// Finds the tables in directories separated as in `PATH`. Files are opened when they are first needed.
    ///
    /// # Errors
    /// When a directory cannot be read or a table in it is damaged.
    pub fn open(directories: &str) -> io::Result<Self> {
        let mut tables = Tablebase::new();
        for directory in std::env::split_paths(directories) {
            let explain = |error: io::Error| io::Error::new(error.kind(), format!("{}: {error}", directory.display()));
            tables.add_directory(&directory).map_err(explain)?;
        }
        let largest = tables.max_pieces();
        Ok(Self { tables: Arc::new(tables), largest })
    }

    /// Whether such a position could be in the tables: few enough men and no castling rights.
    #[inline]
    pub fn covers(&self, board: &Board) -> bool {
        board.occupied().count() <= self.largest && board.can_never_castle()
    }

    /// The result of a position that a capture or a pawn's move has just led to.
    pub fn outcome(&self, board: &Board) -> Option<Outcome> {
        self.tables.probe_wdl_after_zeroing(&chess(board)?).ok().map(outcome)
    }

    /// The moves among `moves` that keep the result of a root position, with that result; of a win, only the quickest.
    pub fn best_moves(&self, position: &Position, moves: &[Move]) -> Option<(Outcome, Vec<Move>)> {
        self.settle(position, moves).map(|settled| (settled.outcome, settled.moves))
    }

    /// As [`Self::best_moves`], with how long the result takes.
    pub fn settle(&self, position: &Position, moves: &[Move]) -> Option<Settled> {
        let board = position.board();
        if !self.covers(board) {
            return None;
        }
        let mut ranked = Vec::with_capacity(moves.len());
        for mv in moves {
            let text = format!("{mv:?}").parse::<UciMove>().ok()?;
            let mut after = chess(board)?;
            after = after.clone().play(text.to_move(&after).ok()?).ok()?;
            let (outcome, urgency) = self.rank(&after, board.halfmoves())?;
            ranked.push((outcome, urgency, *mv));
        }
        let outcome = ranked.iter().map(|(outcome, ..)| *outcome).max()?;
        ranked.retain(|(of_move, ..)| *of_move == outcome);
        let urgencies = ranked.iter().map(|(_, urgency, _)| *urgency);
        // The winner hurries, the loser does not.
        let plies = if outcome == Outcome::Win { urgencies.min()? } else { urgencies.max()? };
        if outcome == Outcome::Win {
            ranked.retain(|(_, urgency, _)| *urgency == plies);
        }
        Some(Settled { outcome, plies, moves: ranked.into_iter().map(|(.., mv)| mv).collect() })
    }

    /// The result after a move for who made it, and plies until the next capture or pawn's move.
    fn rank(&self, after: &Chess, halfmoves: u16) -> Option<(Outcome, u32)> {
        if after.is_checkmate() {
            return Some((Outcome::Win, 0));
        }
        if after.is_stalemate() || after.is_insufficient_material() {
            return Some((Outcome::Draw, 0));
        }
        if after.halfmoves() == 0 {
            let wdl = self.tables.probe_wdl_after_zeroing(after).ok()?;
            return Some((outcome(-wdl), 1));
        }
        let dtz = self.tables.probe_dtz(after).ok()?.ignore_rounding().0;
        let plies = dtz.unsigned_abs() + 1;
        // A win that comes too late for the fifty-move rule is a draw.
        let in_time = plies + u32::from(halfmoves) <= 100;
        Some(match dtz.signum() {
            -1 if in_time => (Outcome::Win, plies),
            1 if in_time => (Outcome::Loss, plies),
            _ => (Outcome::Draw, plies),
        })
    }
}

fn outcome(wdl: Wdl) -> Outcome {
    match wdl {
        Wdl::Win => Outcome::Win,
        Wdl::Loss => Outcome::Loss,
        _ => Outcome::Draw,
    }
}

fn chess(board: &Board) -> Option<Chess> {
    board.to_fen().parse::<Fen>().ok()?.into_position(CastlingMode::Chess960).ok()
}

impl fmt::Debug for Tablebases {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Tablebases(up to {} men)", self.largest)
    }
}

impl PartialEq for Tablebases {
    /// Whether both are the same opened tables.
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.tables, &other.tables)
    }
}

/// Tables at hand for tests, where the checkout has them beside it.
#[cfg(test)]
pub(crate) fn for_tests() -> Option<Tablebases> {
    let directories =
        std::path::Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().map(|d| d.join("shared/data/syzygy"));
    let directory = directories.into_iter().find(|directory| directory.is_dir())?;
    Tablebases::open(directory.to_str()?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn position(fen: &str) -> Position {
        Position::from_line(fen, false, []).unwrap_or_else(|error| panic!("{error}"))
    }

    #[test]
    fn known_endings_are_known() {
        let Some(tables) = for_tests() else { return };
        for (fen, expected) in [
            ("8/8/8/8/8/2k5/2p5/2K5 w - - 0 1", Outcome::Draw),
            ("8/8/8/3k4/8/8/2Q1K3/8 w - - 0 1", Outcome::Win),
            ("8/8/8/3k4/8/8/2Q1K3/8 b - - 0 1", Outcome::Loss),
            ("8/8/8/3k4/8/8/2NNK3/8 w - - 0 1", Outcome::Draw),
        ] {
            let position = position(fen);
            assert!(tables.covers(position.board()), "{fen}");
            assert_eq!(tables.outcome(position.board()), Some(expected), "{fen}");
        }
    }

    #[test]
    fn at_the_root_only_moves_that_keep_the_win_remain() {
        let Some(tables) = for_tests() else { return };
        // Only the opposition wins.
        let position = position("8/8/8/3k4/8/3K4/3P4/8 w - - 0 1");
        let (outcome, moves) = tables.best_moves(&position, &position.legal_moves()).expect("three men");
        assert_eq!(outcome, Outcome::Draw);
        assert!(!moves.is_empty());
    }

    #[test]
    fn a_directory_that_is_not_there_is_named() {
        let error = Tablebases::open("/no/such/tables").expect_err("it is not there");
        assert!(error.to_string().contains("/no/such/tables"), "{error}");
    }
}
