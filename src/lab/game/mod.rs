//! One game: the arbiter asks, measures, checks and rules.
//!
//! The arbiter keeps the clock itself and checks every move; a player's failure is its loss,
//! recorded in the [`GameEnding`] with its reason.

mod adjudication;

pub use adjudication::{Adjudication, AdjudicationError, truncated_points};

use std::{
    fmt,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{Arc, atomic::AtomicBool},
    time::{Duration, Instant},
};

use serde::{Deserialize, Serialize};
use shakmaty::Position;

use super::player::{ChosenMove, MatchPlayer, MoveRequest, Pace, PlayerFailure};
use adjudication::Watch;
use domain::{Clock, Clocks, Color, Line, Score, UciMove, engine_position};
use engine::{Engine, EngineOptions};

#[derive(Clone, Debug)]
pub struct MatchRules {
    pub adjudication: Adjudication,
    /// Moves of each side after the opening at which a game is ended.
    pub longest: usize,
    /// The score of a cut game: by this number of nodes of complete knowledge (docs/method.md §8),
    /// or else a draw.
    pub truncation: Option<u64>,
    /// The tolerance of clocks, for the arbiter's own machine.
    pub margin: Duration,
}

/// A side: who plays it, and what a move may cost.
pub type Contestant<'a> = (&'a mut (dyn MatchPlayer + 'a), Pace);

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MatchGame {
    pub moves: Vec<PlayedMove>,
    pub ending: GameEnding,
    /// White's points, 0 to 1.
    pub white: f64,
    /// True if White made the first of the moves.
    pub white_first: bool,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PlayedMove {
    #[serde(rename = "m", with = "super::move_text")]
    pub uci: UciMove,
    /// Its value as the player saw it, from the player's side.
    #[serde(rename = "s", skip_serializing_if = "Option::is_none", default)]
    pub score: Option<Score>,
    #[serde(rename = "d")]
    pub depth: u32,
    /// Nodes that were visited for it.
    #[serde(rename = "n")]
    pub nodes: u64,
    /// The time it took, in microseconds. Not measured where nodes are counted: it would differ from run to run.
    #[serde(rename = "t", skip_serializing_if = "Option::is_none", default)]
    pub microseconds: Option<u64>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum GameEnding {
    /// The side to move is mated.
    Checkmate,
    Stalemate,
    InsufficientMaterial,
    /// The position stood there three times.
    Repetition,
    /// Fifty moves of each side without capture or pawn's move.
    FiftyMoves,
    /// Both players had seen the same side win for long enough.
    WonByScore,
    /// Both had seen no difference for long enough.
    DrawnByScore,
    Tablebase,
    /// It was too long, and drawn by that.
    Length,
    /// Cut for its length, and scored by complete knowledge, in centipawns for White.
    Truncated(i32),
    /// A player gave up.
    Resignation,
    Fault(PlayerFault),
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PlayerFault {
    /// It did not start, ended, hung or gave no move.
    Crash(String),
    /// It gave something that is no legal move.
    IllegalMove(String),
    /// Its time was over, by this number of milliseconds.
    TimeLoss(u64),
}

impl GameEnding {
    /// One word for it, as tables and tags have it.
    pub const fn word(&self) -> &'static str {
        match self {
            Self::Checkmate => "checkmate",
            Self::Stalemate => "stalemate",
            Self::InsufficientMaterial => "insufficient material",
            Self::Repetition => "repetition",
            Self::FiftyMoves => "fifty moves",
            Self::WonByScore => "won by score",
            Self::DrawnByScore => "drawn by score",
            Self::Tablebase => "tablebase",
            Self::Length => "length",
            Self::Truncated(_) => "truncated",
            Self::Resignation => "resignation",
            Self::Fault(PlayerFault::Crash(_)) => "crash",
            Self::Fault(PlayerFault::IllegalMove(_)) => "illegal move",
            Self::Fault(PlayerFault::TimeLoss(_)) => "loss on time",
        }
    }
}

impl fmt::Display for GameEnding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())?;
        match self {
            Self::Truncated(centipawns) => write!(f, " at {centipawns} centipawns for White"),
            Self::Fault(PlayerFault::Crash(what) | PlayerFault::IllegalMove(what)) => write!(f, ": {what}"),
            Self::Fault(PlayerFault::TimeLoss(over)) => write!(f, ": {over} ms over"),
            _ => Ok(()),
        }
    }
}

/// Plays a game from an opening. `None` if it was `halted` before its end.
pub fn play<'a>(
    opening: &Line,
    white: Contestant<'a>,
    black: Contestant<'a>,
    rules: &'a MatchRules,
    halted: &dyn Fn() -> bool,
) -> Option<MatchGame> {
    let clocks = Clocks { white: full_clock(white.1), black: full_clock(black.1) };
    let sides = [white, black];
    let watch = Watch::new(&rules.adjudication, opening.ply());
    let mut table = GameInProgress { line: opening.clone(), sides, clocks, moves: Vec::new(), rules, watch };
    for color in [Color::White, Color::Black] {
        let player = &mut table.sides[index_of(color)].0;
        if let Err(failure) = guarded(|| player.new_game(opening)) {
            let (ending, white) = failed(&failure, color);
            return Some(table.game(ending, white));
        }
    }
    while !halted() {
        if let Some((ending, white)) = table.ended() {
            return Some(table.game(ending, white));
        }
        if let Err((ending, white)) = table.next_move() {
            return Some(table.game(ending, white));
        }
    }
    None
}

/// The index of a side in an array that has White first.
fn index_of(color: Color) -> usize {
    usize::from(color.is_black())
}

fn full_clock(pace: Pace) -> Clock {
    match pace {
        Pace::Clock { initial, increment } => Clock { remaining: initial, increment },
        Pace::MoveTime(_) | Pace::Nodes(_) => Clock::default(),
    }
}

struct GameInProgress<'a> {
    line: Line,
    sides: [Contestant<'a>; 2],
    clocks: Clocks,
    moves: Vec<PlayedMove>,
    rules: &'a MatchRules,
    watch: Watch<'a>,
}

/// End of a game, and White's points.
type Ruling = (GameEnding, f64);

impl GameInProgress<'_> {
    fn game(self, ending: GameEnding, white: f64) -> MatchGame {
        let white_first = self.line.turn().is_white() == self.moves.len().is_multiple_of(2);
        MatchGame { moves: self.moves, ending, white, white_first }
    }

    fn next_move(&mut self) -> Result<(), Ruling> {
        let color = self.line.turn();
        let theirs = self.sides[index_of(!color)].1;
        let (player, pace) = &mut self.sides[index_of(color)];
        let pace = *pace;
        let clocks = matches!(pace, Pace::Clock { .. }).then(|| {
            let mut clocks = self.clocks;
            if !matches!(theirs, Pace::Clock { .. }) {
                // An opponent without a clock is not about to lose by it.
                *clocks.of_mut(!color) = clocks.of(color);
            }
            clocks
        });
        let turn = MoveRequest { line: Arc::new(self.line.clone()), pace, clocks };
        let began = Instant::now();
        let choice = guarded(|| player.choose(&turn));
        let taken = began.elapsed();
        let choice = choice.map_err(|failure| failed(&failure, color))?;
        self.charge(color, pace, taken)?;
        if self.line.play(choice.best).is_err() {
            return Err(failed(&PlayerFailure::Illegal(choice.best.to_string()), color));
        }
        self.note(color, pace, &choice, taken);
        Ok(())
    }

    /// Takes the time of a move off its clock.
    fn charge(&mut self, color: Color, pace: Pace, taken: Duration) -> Result<(), Ruling> {
        let clock = self.clocks.of_mut(color);
        let allowed = match pace {
            Pace::Nodes(_) => return Ok(()),
            Pace::MoveTime(time) => time,
            Pace::Clock { .. } => clock.remaining,
        };
        if taken > allowed + self.rules.margin {
            let over = u64::try_from((taken - allowed).as_millis()).unwrap_or(u64::MAX);
            return Err((GameEnding::Fault(PlayerFault::TimeLoss(over)), points_if_lost(color)));
        }
        clock.remaining = clock.remaining.saturating_sub(taken) + clock.increment;
        Ok(())
    }

    fn note(&mut self, color: Color, pace: Pace, choice: &ChosenMove, taken: Duration) {
        self.watch.note(color, choice.score);
        self.moves.push(PlayedMove {
            uci: self.line.moves().last().copied().unwrap_or(choice.best),
            score: choice.score,
            depth: choice.depth,
            nodes: choice.nodes,
            microseconds: pace.is_timed().then(|| u64::try_from(taken.as_micros()).unwrap_or(u64::MAX)),
        });
    }

    /// Returns the ruling if the game is over, by the rules of chess or the arbiter's.
    fn ended(&self) -> Option<Ruling> {
        let position = self.line.position();
        if position.legal_moves().is_empty() {
            let mated = position.is_check();
            return Some(if mated {
                (GameEnding::Checkmate, points_if_lost(self.line.turn()))
            } else {
                (GameEnding::Stalemate, 0.5)
            });
        }
        let drawn = match () {
            () if position.is_insufficient_material() => Some(GameEnding::InsufficientMaterial),
            () if self.line.occurrences() >= 3 => Some(GameEnding::Repetition),
            () if position.halfmoves() >= 100 => Some(GameEnding::FiftyMoves),
            () => None,
        };
        drawn
            .map(|ending| (ending, 0.5))
            .or_else(|| self.watch.verdict(&self.line))
            .or_else(|| (self.moves.len() >= 2 * self.rules.longest).then(|| self.cut()))
    }

    /// The end of a game that has lasted too long.
    fn cut(&self) -> Ruling {
        let Some(nodes) = self.rules.truncation else { return (GameEnding::Length, 0.5) };
        let Some(centipawns) = complete_value(&self.line, nodes) else { return (GameEnding::Length, 0.5) };
        let for_white = if self.line.turn().is_white() { centipawns } else { -centipawns };
        (GameEnding::Truncated(for_white), truncated_points(for_white))
    }
}

fn points_if_lost(loser: Color) -> f64 {
    if loser.is_white() { 0.0 } else { 1.0 }
}

fn failed(failure: &PlayerFailure, color: Color) -> Ruling {
    let ending = match failure {
        PlayerFailure::Resigned => GameEnding::Resignation,
        PlayerFailure::Illegal(text) => GameEnding::Fault(PlayerFault::IllegalMove(text.clone())),
        PlayerFailure::Failed(reason) => GameEnding::Fault(PlayerFault::Crash(reason.clone())),
    };
    (ending, points_if_lost(color))
}

/// A panic of a player in this process is a crash of that player, not of the match.
fn guarded<T>(ask: impl FnOnce() -> Result<T, PlayerFailure>) -> Result<T, PlayerFailure> {
    catch_unwind(AssertUnwindSafe(ask)).unwrap_or_else(|_| Err(PlayerFailure::Failed("panicked".to_owned())))
}

/// Returns the value of a position by `nodes` nodes of complete knowledge, centipawns for the side
/// to move.
fn complete_value(line: &Line, nodes: u64) -> Option<i32> {
    let position = engine_position(line).ok()?;
    let limits = engine::Limits { nodes: Some(nodes), ..engine::Limits::default() };
    let mut engine = Engine::new(EngineOptions::default());
    let found = engine.search(&position, &[], &limits, &AtomicBool::new(false), &mut |_| {})?;
    Some(Score::from(found.score).as_centipawns())
}

#[cfg(test)]
mod tests;
