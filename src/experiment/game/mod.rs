//! One game: the arbiter asks, measures, checks and rules.
//!
//! The arbiter keeps the clock itself and checks every move; a player's failure is its loss,
//! recorded in the [`GameEnding`] with its reason.

mod adjudication;
mod chess;
mod player;

pub use adjudication::{Adjudication, truncated_points};
pub use chess::by_tablebases;
pub use player::{ChosenMove, MatchPlayer, MoveRequest, PlayerFailure};

use std::{
    borrow::Cow,
    fmt,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
    time::{Duration, Instant},
};

use serde::{Deserialize, Serialize};

use adjudication::Watch;
use domain::{Clocks, Color, GameLine, Pace, Score};

pub trait MatchLine: GameLine {
    /// The remedy where there are too few openings, behind others.
    const MORE_OPENINGS: &'static str;

    /// Returns how the game ended by its rules, if it has.
    fn ruling(&self) -> Option<Ruling>;

    /// Writes a game that began after these moves, as people read it. Tags are names with values.
    fn game_text(&self, game: &MatchGame, tags: &[(&str, &str)]) -> String;

    /// Returns the value of the position where a game was cut, after a search of complete knowledge with `nodes` nodes:
    /// centipawns for the side to move. `None` where games are never cut.
    fn cut_value(&self, _nodes: u64) -> Option<i32> {
        None
    }
}

/// Points of the side to move, where endgame tables know them.
pub type TableValue<L> = Arc<dyn Fn(&L) -> Option<f64> + Send + Sync>;

#[derive(Clone)]
pub struct MatchRules<L> {
    pub adjudication: Adjudication,
    pub tables: Option<TableValue<L>>,
    /// Moves of each side after the opening at which a game is ended.
    pub longest: usize,
    /// Nodes of the search that scores a cut game (docs/method.md §8); without it such a game is drawn.
    pub truncation: Option<u64>,
    /// The tolerance of clocks, for the arbiter's own machine.
    pub margin: Duration,
}

impl<L> MatchRules<L> {
    /// Rules by which a game is drawn after `longest` moves of each side; no table ends it, and no clock may be overstepped.
    pub fn drawn_after(longest: usize, adjudication: Adjudication) -> Self {
        Self { adjudication, tables: None, longest, truncation: None, margin: Duration::ZERO }
    }
}

/// A side: who plays it, and what a move may cost.
pub type Contestant<'a, L> = (&'a mut (dyn MatchPlayer<L> + 'a), Pace);

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MatchGame {
    pub moves: Vec<PlayedMove>,
    pub ending: GameEnding,
    /// White's points, 0 to 1.
    pub white: f64,
    /// True if White made the first of the moves.
    pub white_first: bool,
}

impl MatchGame {
    /// The result as records write it; `*` for points between.
    pub fn result(&self) -> &'static str {
        match self.white {
            1.0 => "1-0",
            0.0 => "0-1",
            0.5 => "1/2-1/2",
            _ => "*",
        }
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PlayedMove {
    #[serde(rename = "m")]
    pub mv: String,
    /// Its value as the player saw it, from the player's side.
    #[serde(rename = "s", skip_serializing_if = "Option::is_none", default)]
    pub score: Option<Score>,
    #[serde(rename = "d")]
    pub depth: u32,
    #[serde(rename = "n")]
    pub nodes: u64,
    /// The time it took, in microseconds. Not measured where nodes are counted: it would differ from run to run.
    #[serde(rename = "t", skip_serializing_if = "Option::is_none", default)]
    pub microseconds: Option<u64>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum GameEnding {
    /// Both players had seen the same side win for long enough.
    WonByScore,
    /// Both had seen no difference for long enough.
    DrawnByScore,
    Tablebase,
    /// It was too long, and drawn by that.
    Length,
    /// Cut for its length, and scored by complete knowledge, in centipawns for White.
    Truncated(i32),
    Resignation,
    Fault(PlayerFault),
    /// Ended by a rule of the game, named in kebab case: `checkmate`, `fifty-moves`.
    #[serde(untagged)]
    ByRule(Cow<'static, str>),
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PlayerFault {
    /// It did not start, ended, hung or gave no move.
    Crash(String),
    IllegalMove(String),
    /// Its time was over, by this number of milliseconds.
    TimeLoss(u64),
}

impl GameEnding {
    pub const fn by_rule(rule: &'static str) -> Self {
        Self::ByRule(Cow::Borrowed(rule))
    }

    /// One word for it, as tables and tags have it.
    pub fn word(&self) -> Cow<'static, str> {
        Cow::Borrowed(match self {
            Self::ByRule(rule) => return rule.replace('-', " ").into(),
            Self::WonByScore => "won by score",
            Self::DrawnByScore => "drawn by score",
            Self::Tablebase => "tablebase",
            Self::Length => "length",
            Self::Truncated(_) => "truncated",
            Self::Resignation => "resignation",
            Self::Fault(PlayerFault::Crash(_)) => "crash",
            Self::Fault(PlayerFault::IllegalMove(_)) => "illegal move",
            Self::Fault(PlayerFault::TimeLoss(_)) => "loss on time",
        })
    }
}

impl fmt::Display for GameEnding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.word())?;
        match self {
            Self::Truncated(centipawns) => write!(f, " at {centipawns} centipawns for White"),
            Self::Fault(PlayerFault::Crash(what) | PlayerFault::IllegalMove(what)) => write!(f, ": {what}"),
            Self::Fault(PlayerFault::TimeLoss(over)) => write!(f, ": {over} ms over"),
            _ => Ok(()),
        }
    }
}

/// Plays a game from an opening. `None` if it was `halted` before its end.
pub fn play<'a, L: MatchLine>(
    opening: &L,
    white: Contestant<'a, L>,
    black: Contestant<'a, L>,
    rules: &'a MatchRules<L>,
    halted: &dyn Fn() -> bool,
) -> Option<MatchGame> {
    let clocks = Clocks { white: white.1.full_clock(), black: black.1.full_clock() };
    let sides = [white, black];
    let watch = Watch::new(&rules.adjudication);
    let mut table = GameInProgress { line: opening.clone(), sides, clocks, moves: Vec::new(), rules, watch };
    for color in [Color::White, Color::Black] {
        let player = &mut table.sides[index_of(color)].0;
        if let Err(failure) = guarded(|| player.new_game(opening)) {
            return Some(table.game(failed(&failure, color)));
        }
    }
    while !halted() {
        if let Some(ruling) = table.ended().or_else(|| table.next_move().err()) {
            return Some(table.game(ruling));
        }
    }
    None
}

fn index_of(color: Color) -> usize {
    usize::from(color.is_black())
}

struct GameInProgress<'a, L> {
    line: L,
    sides: [Contestant<'a, L>; 2],
    clocks: Clocks,
    moves: Vec<PlayedMove>,
    rules: &'a MatchRules<L>,
    watch: Watch<'a>,
}

/// End of a game, and White's points.
pub type Ruling = (GameEnding, f64);

impl<L: MatchLine> GameInProgress<'_, L> {
    fn game(self, (ending, white): Ruling) -> MatchGame {
        let white_first = self.turn().is_white() == self.moves.len().is_multiple_of(2);
        MatchGame { moves: self.moves, ending, white, white_first }
    }

    /// The side to move; in every game White moves first.
    fn turn(&self) -> Color {
        Color::from_white(self.line.move_number().1)
    }

    fn next_move(&mut self) -> Result<(), Ruling> {
        let color = self.turn();
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
        if !self.line.advance(choice.best) {
            return Err(failed(&PlayerFailure::Illegal(choice.best.to_string()), color));
        }
        self.watch.note(color, choice.score);
        self.moves.push(PlayedMove {
            mv: self.line.moves().last().copied().unwrap_or(choice.best).to_string(),
            score: choice.score,
            depth: choice.depth,
            nodes: choice.nodes,
            microseconds: pace.is_timed().then(|| u64::try_from(taken.as_micros()).unwrap_or(u64::MAX)),
        });
        Ok(())
    }

    fn charge(&mut self, color: Color, pace: Pace, taken: Duration) -> Result<(), Ruling> {
        let clock = self.clocks.of_mut(color);
        let allowed = match pace {
            Pace::Nodes(_) | Pace::Depth(_) => return Ok(()),
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

    /// Returns the ruling if the game is over, by its rules or the arbiter's.
    fn ended(&self) -> Option<Ruling> {
        let for_white = |points: f64| if self.turn().is_white() { points } else { 1.0 - points };
        self.line
            .ruling()
            .or_else(|| self.watch.verdict(self.moves.len()))
            .or_else(|| Some((GameEnding::Tablebase, for_white(self.rules.tables.as_ref()?(&self.line)?))))
            .or_else(|| (self.moves.len() / 2 >= self.rules.longest).then(|| self.cut()))
    }

    fn cut(&self) -> Ruling {
        let value = self.rules.truncation.and_then(|nodes| self.line.cut_value(nodes));
        let Some(centipawns) = value else { return (GameEnding::Length, 0.5) };
        let for_white = if self.turn().is_white() { centipawns } else { -centipawns };
        (GameEnding::Truncated(for_white), truncated_points(for_white))
    }
}

/// White's points if this side loses.
pub fn points_if_lost(loser: Color) -> f64 {
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

#[cfg(test)]
mod tests;
