//! The cost of a move, its missed chances, and the endgame tables' verdict.

use std::{fmt::Display, time::Duration};

use domain::{Color, Line, Score, TimeControl, UciMove, engine_position};
use engine::{Outcome, Tablebases};
use serde::{Serialize, Serializer};

use crate::{
    formulas::{MoveLabel, START_VALUE, centipawn_loss, expectation, move_accuracy},
    judge::{GameMaterial, GameVerdicts, PositionVerdict, position_key},
};

use super::{GamePhase, phases};

/// A played move with its cost. Values and expectations are from the mover's side.
#[derive(Clone, Debug, Serialize)]
pub struct MoveStudy {
    pub ply: usize,
    /// The number of the move in PGN.
    pub number: u32,
    #[serde(serialize_with = "text")]
    pub mover: Color,
    #[serde(serialize_with = "text")]
    pub played: UciMove,
    pub san: String,
    /// The position before it, with a fifty-move count of 0.
    pub fen: String,
    pub before: Score,
    pub after: Score,
    /// The expectation before it, per cent.
    pub expected_before: f64,
    /// The expectation after it, per cent.
    pub expected_after: f64,
    /// The cost, per cent of a point; 0 for the judge's own move.
    pub loss: f64,
    /// The cost in centipawns, with values bounded at ten pawns.
    pub centipawn_loss: u32,
    pub accuracy: f64,
    pub label: Option<MoveLabel>,
    /// The judge's own move, if it is another one.
    #[serde(serialize_with = "optional_uci")]
    pub better: Option<UciMove>,
    /// The judge's line from the position before it, in algebraic notation.
    pub best_line: Vec<String>,
    /// Plies the judge searched.
    pub depth: u32,
    pub phase: GamePhase,
    pub missed: Option<MissedChance>,
    pub tables: Option<TablebaseTruth>,
    /// The mover's clock after it.
    #[serde(serialize_with = "seconds")]
    pub clock: Option<Duration>,
    #[serde(serialize_with = "seconds")]
    pub taken: Option<Duration>,
    /// The cost of a wrong choice among the electors' proposals, per cent.
    pub at_stake: Option<f64>,
}

impl MoveStudy {
    /// The value after it, from White's side.
    pub fn value_for_white(&self) -> Score {
        if self.mover.is_white() { self.after } else { for_the_other(self.after) }
    }

    pub fn mates(&self) -> bool {
        self.san.ends_with('#')
    }

    /// The expectation after it, per cent for White; a mate on the board leaves no doubt.
    pub fn expected_for_white(&self) -> f64 {
        let after = if self.mates() { 100.0 } else { self.expected_after };
        if self.mover.is_white() { after } else { 100.0 - after }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum MissedChance {
    /// There was a mate; after the move there is none.
    Mate,
    /// The game was won; after the move it is open.
    Win,
}

/// A game is won from this expectation on, per cent, and open below the second one.
const WON: f64 = 80.0;
const OPEN: f64 = 60.0;

impl MissedChance {
    pub(crate) const fn sentence(self) -> &'static str {
        match self {
            Self::Mate => "A mate was missed.",
            Self::Win => "A win was missed.",
        }
    }

    fn of(before: Score, after: Score) -> Option<Self> {
        let mate = |score| matches!(score, Score::Mate(1..));
        if mate(before) && !mate(after) {
            return Some(Self::Mate);
        }
        (expectation(before) >= WON && expectation(after) < OPEN).then_some(Self::Win)
    }
}

/// The true result of the positions before and after a move, from the mover's side.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct TablebaseTruth {
    #[serde(serialize_with = "outcome")]
    pub before: Outcome,
    #[serde(serialize_with = "outcome")]
    pub after: Outcome,
}

impl TablebaseTruth {
    /// Returns true if the move gave away half a point or more.
    pub fn spoiled(&self) -> bool {
        self.after < self.before
    }
}

/// Returns the value for the other side. Being mated, without a sign, becomes
/// having mated.
pub(super) fn for_the_other(score: Score) -> Score {
    match score {
        Score::Mate(0) => Score::Mate(1),
        other => other.flipped(),
    }
}

/// Studies all moves; `None` without a verdict on some position.
pub(super) fn study(
    material: &GameMaterial,
    positions: &[Line],
    verdicts: &GameVerdicts,
    tables: Option<&Tablebases>,
) -> Option<Vec<MoveStudy>> {
    let verdict =
        |line: &Line| PositionVerdict::by_the_rules(line).or_else(|| verdicts.get(&position_key(line)).cloned());
    let truths: Vec<Option<Outcome>> = positions.iter().map(|line| tables.and_then(|t| truth(line, t))).collect();
    let mut moves = Vec::with_capacity(material.moves.len());
    let mut before = verdict(positions.first()?)?;
    for (ply, (pair, uci)) in positions.windows(2).zip(material.line.moves()).enumerate() {
        let after = verdict(&pair[1])?;
        let mut studied = study_move(ply, &pair[0], *uci, &before, &after);
        if let (Some(was), Some(is)) = (truths.get(ply)?, truths.get(ply + 1)?) {
            studied.tables = Some(TablebaseTruth { before: *was, after: reversed(*is) });
        }
        moves.push(studied);
        before = after;
    }
    Some(moves)
}

fn study_move(
    ply: usize,
    line: &Line,
    played: UciMove,
    verdict: &PositionVerdict,
    reply: &PositionVerdict,
) -> MoveStudy {
    // As on Lichess, the usual start has a fixed value for every judge.
    let before = if ply == 0 && line.start_fen().is_none() { START_VALUE } else { verdict.score };
    let after = for_the_other(reply.score);
    let is_best = verdict.is_best(line, played);
    let (expected_before, expected_after) = (expectation(before), expectation(after));
    MoveStudy {
        ply,
        number: shakmaty::Position::fullmoves(line.position()).get(),
        mover: line.turn(),
        played,
        san: line.san(played),
        fen: line.fen(),
        before,
        after,
        expected_before,
        expected_after,
        loss: if is_best { 0.0 } else { (expected_before - expected_after).max(0.0) },
        centipawn_loss: centipawn_loss(before, after),
        accuracy: move_accuracy(expected_before, expected_after),
        label: if is_best { None } else { MoveLabel::of(before, after) },
        better: verdict.best().filter(|_| !is_best),
        best_line: line.sans(verdict.line.iter().copied()),
        depth: verdict.depth,
        phase: phases::of(line),
        missed: if is_best { None } else { MissedChance::of(before, after) },
        tables: None,
        clock: None,
        taken: None,
        at_stake: None,
    }
}

/// Returns the result of a position with best play, for the side to move, if tables cover it.
fn truth(line: &Line, tables: &Tablebases) -> Option<Outcome> {
    if let Some(over) = PositionVerdict::by_the_rules(line) {
        return Some(if over.score == Score::Cp(0) { Outcome::Draw } else { Outcome::Loss });
    }
    let position = engine_position(line).ok()?;
    let legal = position.legal_moves();
    tables.settle(&position, &legal, true).map(|settled| settled.outcome)
}

const fn reversed(outcome: Outcome) -> Outcome {
    match outcome {
        Outcome::Loss => Outcome::Win,
        Outcome::Draw => Outcome::Draw,
        Outcome::Win => Outcome::Loss,
    }
}

/// Adds clocks and times to the moves. A move of the bot without known clocks has the time of its
/// search.
pub(super) fn add_times(material: &GameMaterial, moves: &mut [MoveStudy]) {
    for ((played, _), studied) in material.moves.iter().zip(moves) {
        studied.taken = played.ours.as_ref().map(|ours| ours.elapsed);
        let TimeControl::RealTime { increment, .. } = material.record.time_control else { continue };
        studied.clock = played.clock_after;
        if let (Some(before), Some(after)) = (played.clock_before, played.clock_after) {
            // The first move of either side costs nothing and earns no increment.
            let increment = if played.ply < 2 { Duration::ZERO } else { increment };
            studied.taken = Some((before + increment).saturating_sub(after));
        }
    }
}

/// Below this expectation, per cent, a side stands worse.
const STANDS_WORSE: f64 = 40.0;

/// Returns the decisive move of a game: the loser's move after its last good position. Without a winner, the most costly move with
/// a label. An index of `moves`; `None` if no move decided, as in a game lost on time in a good position.
pub(super) fn turning_point(moves: &[MoveStudy], winner: Option<Color>) -> Option<usize> {
    let Some(winner) = winner else {
        let labelled = moves.iter().enumerate().filter(|(_, played)| played.label.is_some());
        return labelled.max_by(|(_, a), (_, b)| a.loss.total_cmp(&b.loss)).map(|(index, _)| index);
    };
    let stands_worse = |played: &MoveStudy| {
        let loser = if played.mover == winner { 100.0 - played.expected_after } else { played.expected_after };
        loser < STANDS_WORSE
    };
    let last_good = moves.iter().rposition(|played| !stands_worse(played)).map_or(0, |index| index + 1);
    moves.get(last_good).filter(|played| played.mover != winner).map(|_| last_good)
}

fn text<T: Display, S: Serializer>(value: &T, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(value)
}

fn optional_uci<S: Serializer>(uci: &Option<UciMove>, serializer: S) -> Result<S::Ok, S::Error> {
    uci.as_ref().map(ToString::to_string).serialize(serializer)
}

fn seconds<S: Serializer>(time: &Option<Duration>, serializer: S) -> Result<S::Ok, S::Error> {
    time.map(|time| time.as_secs_f64()).serialize(serializer)
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde asks for references")]
fn outcome<S: Serializer>(outcome: &Outcome, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(match outcome {
        Outcome::Loss => "loss",
        Outcome::Draw => "draw",
        Outcome::Win => "win",
    })
}
