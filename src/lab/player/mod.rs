//! Players of chess: the built-in engine, a council, or any program that speaks UCI or CECP, behind
//! one interface.
//!
//! A [`PlayerSpec`] is read from a line of text ([`ChessPlayerKind`] has the syntax) and becomes a
//! [`MatchPlayer`]. Built-in players run within this process: at ten milliseconds a move, pipes would
//! cost too much.

mod council;
mod kind;
mod own;
mod pace;
mod uci;
mod xboard;

pub use domain::Pace;
pub use experiment::player::{ChosenMove, MatchPlayer, MoveRequest, PlayerFailure, PlayerKind, set_key};
pub use kind::{ChessPlayerKind, council_settings};
pub use pace::MatchPace;

use std::time::Duration;

use domain::Line;

pub type PlayerSpec = experiment::player::PlayerSpec<ChessPlayerKind>;
pub type Contender = experiment::matches::Contender<ChessPlayerKind>;
pub type MatchPlan = experiment::matches::MatchPlan<ChessPlayerKind>;

/// The request for the only move of a position, `h1h2`, with ten minutes on the clocks.
#[cfg(test)]
fn only_move() -> MoveRequest<Line> {
    let line = Line::from_fen(domain::Variant::Standard, "6k1/8/8/8/8/7P/6P1/r6K w - - 0 1").expect("a position");
    let (initial, increment) = (Duration::from_secs(600), Duration::ZERO);
    let clocks = Some(domain::Clocks::both(domain::Clock { remaining: initial, increment }));
    MoveRequest { line: std::sync::Arc::new(line), pace: Pace::Clock { initial, increment }, clocks }
}

/// The time beyond its limit after which a program counts as hanging.
const PATIENCE: Duration = Duration::from_secs(10);

/// The time for a search by nodes or plies after which a program counts as hanging.
const PATIENCE_FOR_NODES: Duration = Duration::from_secs(600);

/// Returns the time after which a silent program is hanging.
fn patience(turn: &MoveRequest<Line>) -> Duration {
    match (turn.pace, turn.clocks) {
        (Pace::Nodes(_) | Pace::Depth(_), _) => PATIENCE_FOR_NODES,
        (Pace::MoveTime(time), _) => time + PATIENCE,
        (Pace::Clock { initial, .. }, clocks) => {
            clocks.map_or(initial, |clocks| clocks.of(turn.line.turn()).remaining) + PATIENCE
        }
    }
}

/// A program that has not answered in time.
fn hanging() -> PlayerFailure {
    PlayerFailure::Failed("hangs".to_owned())
}
