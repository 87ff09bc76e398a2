//! Endgame tablebases (Syzygy), read by `shakmaty-syzygy`.
//!
//! The search looks up positions right after a capture or a pawn's move. The root drops moves that would spoil the result; in a
//! won position it keeps only those with the shortest way to the next capture or pawn's move.

use std::{fmt, io, sync::Arc};

use shakmaty::{
    CastlingMode, Chess, KnownOutcome, Outcome as GameOutcome, Position as _,
    fen::Fen,
    uci::UciMove,
    variant::{Antichess, Atomic, VariantPosition},
};
use shakmaty_syzygy::{Syzygy, Tablebase, Wdl};

use super::board::{Board, Move, Position};

/// Tables of some directories. Cheap to clone: engines of one process share them.
#[derive(Clone)]
pub struct Tablebases {
    tables: Arc<Tablebase<Chess>>,
    largest: usize,
}

/// The result with best play, from the player to move. Wins that the fifty-move rule spoils are draws.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Outcome {
    Loss,
    Draw,
    Win,
}

/// The tables' result of a root position.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settled<M = Move> {
    /// The result for the player to move.
    pub outcome: Outcome,
    /// Plies until the capture, pawn's move or mate that the best moves aim at; at most 101.
    pub plies: u32,
    /// The moves that keep the result.
    pub moves: Vec<M>,
}

impl Tablebases {
    /// Finds the tables in directories separated as in `PATH`. Files are opened when they are first needed.
    ///
    /// # Errors
    /// When a directory cannot be read or a table in it is damaged.
    pub fn open(directories: &str) -> io::Result<Self> {
        let tables = tables_in(directories)?;
        let largest = tables.max_pieces();
        Ok(Self { tables: Arc::new(tables), largest })
    }

    pub fn is_empty(&self) -> bool {
        self.largest == 0
    }

    /// Returns true if the tables could contain such a position: few enough men and no castling
    /// rights.
    #[inline]
    pub fn covers(&self, board: &Board) -> bool {
        board.occupied().count() <= self.largest && board.can_never_castle()
    }

    /// The result of a position that a capture or a pawn's move has just led to.
    pub fn outcome(&self, board: &Board) -> Option<Outcome> {
        self.tables.probe_wdl_after_zeroing(&chess(board)?).ok().map(outcome)
    }

    /// Returns the moves among `moves` that keep the result: in a won position all that still win in time, or only the `quickest`.
    pub fn settle(&self, position: &Position, moves: &[Move], quickest: bool) -> Option<Settled> {
        let board = position.board();
        if !self.covers(board) {
            return None;
        }
        let before = chess(board)?;
        let ranked = |mv: &Move| {
            let text = format!("{mv:?}").parse::<UciMove>().ok()?;
            let after = before.clone().play(text.to_move(&before).ok()?).ok()?;
            let (outcome, plies) = rank(&self.tables, &after, board.halfmoves())?;
            Some((*mv, outcome, plies))
        };
        best_of(moves.iter().map(ranked).collect::<Option<_>>()?, quickest)
    }
}

/// Tables of the variants for which there are Syzygy's: antichess and atomic. Cheap to clone.
#[derive(Clone)]
pub struct VariantTablebases {
    antichess: Arc<Tablebase<Antichess>>,
    atomic: Arc<Tablebase<Atomic>>,
}

impl VariantTablebases {
    /// Finds the tables in directories separated as in `PATH`, beside those of chess or alone.
    ///
    /// # Errors
    /// When a directory cannot be read or a table in it is damaged.
    pub fn open(directories: &str) -> io::Result<Self> {
        Ok(Self { antichess: Arc::new(tables_in(directories)?), atomic: Arc::new(tables_in(directories)?) })
    }

    /// Does the same as [`Tablebases::settle`] for all moves of a position of one of these variants.
    pub fn settle(&self, position: &VariantPosition, quickest: bool) -> Option<Settled<shakmaty::Move>> {
        match position {
            VariantPosition::Antichess(position) => settle(&self.antichess, position, quickest),
            VariantPosition::Atomic(position) => settle(&self.atomic, position, quickest),
            _ => None,
        }
    }
}

impl fmt::Debug for VariantTablebases {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (antichess, atomic) = (self.antichess.max_pieces(), self.atomic.max_pieces());
        write!(f, "VariantTablebases(antichess up to {antichess}, atomic up to {atomic} men)")
    }
}

fn settle<S: shakmaty::Position + Syzygy + Clone>(
    tables: &Tablebase<S>,
    position: &S,
    quickest: bool,
) -> Option<Settled<shakmaty::Move>> {
    if position.board().occupied().count() > tables.max_pieces() || position.castles().any() {
        return None;
    }
    let halfmoves = u16::try_from(position.halfmoves()).unwrap_or(u16::MAX);
    let ranked = position.legal_moves().into_iter().map(|mv| {
        let mut after = position.clone();
        after.play_unchecked(mv);
        let (outcome, plies) = rank(tables, &after, halfmoves)?;
        Some((mv, outcome, plies))
    });
    best_of(ranked.collect::<Option<_>>()?, quickest)
}

/// The tables of a variant in directories separated as in `PATH`.
fn tables_in<S: shakmaty::Position + Syzygy + Clone>(directories: &str) -> io::Result<Tablebase<S>> {
    let mut tables = Tablebase::new();
    for directory in std::env::split_paths(directories) {
        let explain = |error: io::Error| io::Error::new(error.kind(), format!("{}: {error}", directory.display()));
        for file in std::fs::read_dir(&directory).map_err(explain)? {
            let path = file.map_err(explain)?.path();
            match tables.add_file(&path) {
                // Other files, and tables of other variants, may lie beside them.
                Err(error) if error.kind() != io::ErrorKind::InvalidInput => {
                    let named = format!("{}: {error}; fetch it again or move it away", path.display());
                    return Err(io::Error::new(error.kind(), named));
                }
                _ => (),
            }
        }
    }
    Ok(tables)
}

/// Ranks a move by the position after it: its result for the player who makes it, and plies until the next capture or pawn's
/// move.
fn rank<S: shakmaty::Position + Syzygy + Clone>(
    tables: &Tablebase<S>,
    after: &S,
    halfmoves: u16,
) -> Option<(Outcome, u32)> {
    match after.outcome() {
        GameOutcome::Known(KnownOutcome::Decisive { winner }) if winner == after.turn() => {
            return Some((Outcome::Loss, 0));
        }
        GameOutcome::Known(KnownOutcome::Decisive { .. }) => return Some((Outcome::Win, 0)),
        GameOutcome::Known(KnownOutcome::Draw) => return Some((Outcome::Draw, 0)),
        GameOutcome::Unknown => (),
    }
    if after.halfmoves() == 0 {
        let wdl = tables.probe_wdl_after_zeroing(after).ok()?;
        return Some((outcome(-wdl), 1));
    }
    let dtz = tables.probe_dtz(after).ok()?.ignore_rounding().0;
    let plies = dtz.unsigned_abs() + 1;
    // A win that comes too late for the fifty-move rule is a draw.
    let in_time = plies + u32::from(halfmoves) <= 100;
    let outcome = match dtz.signum() {
        -1 if in_time => Outcome::Win,
        1 if in_time => Outcome::Loss,
        _ => Outcome::Draw,
    };
    Some((outcome, plies))
}

/// The moves that keep the best result among them.
fn best_of<M>(mut ranked: Vec<(M, Outcome, u32)>, quickest: bool) -> Option<Settled<M>> {
    let outcome = ranked.iter().map(|(_, outcome, _)| *outcome).max()?;
    ranked.retain(|(_, result, _)| *result == outcome);
    let urgencies = ranked.iter().map(|(_, _, plies)| *plies);
    // The winner hurries, the loser does not.
    let plies = if outcome == Outcome::Win { urgencies.min()? } else { urgencies.max()? };
    if outcome == Outcome::Win && quickest {
        ranked.retain(|(_, _, length)| *length == plies);
    }
    Some(Settled { outcome, plies, moves: ranked.into_iter().map(|(mv, ..)| mv).collect() })
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
    /// Returns true if both are the same opened tables.
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.tables, &other.tables)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn incomplete_table_is_named() {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::write(folder.path().join("KQvK.rtbw"), b"half").expect("writable");
        std::fs::write(folder.path().join("readme.txt"), b"about these tables").expect("writable");
        let error = Tablebases::open(&folder.path().to_string_lossy()).expect_err("it is not whole").to_string();
        assert!(error.contains("KQvK.rtbw"), "{error}");
    }

    #[test]
    fn folder_without_tables_is_empty() {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::write(folder.path().join("readme.txt"), b"no tables yet").expect("writable");
        assert!(Tablebases::open(&folder.path().to_string_lossy()).expect("readable").is_empty());
    }

    #[test]
    fn missing_directory_is_named() {
        let error = Tablebases::open("/no/such/tables").expect_err("it is not there");
        assert!(error.to_string().contains("/no/such/tables"), "{error}");
    }
}
