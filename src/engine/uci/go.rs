//! `go`: its limits, and the plan for the clock where it gives one.
//!
//! The daemon's own games are planned by the clock room; this is for playing under other programs.

use std::time::{Duration, Instant};

use crate::{Iteration, Limits, Move, Score, board::Color};

/// The arguments of `go`; `M` is how the reader writes moves.
#[derive(Debug)]
pub struct Go<M> {
    /// Where the search ends by itself.
    pub limits: Limits,
    /// The moves to consider; empty means all.
    pub search_moves: Vec<M>,
    /// Until told to stop.
    pub infinite: bool,
    /// About the expected position, in the opponent's time.
    pub ponder: bool,
    /// White's and Black's clock.
    pub time: [Option<Duration>; 2],
    /// What every move adds to them.
    pub increment: [Duration; 2],
    /// Moves until the next time control.
    pub moves_to_go: Option<u32>,
}

impl<M> Default for Go<M> {
    fn default() -> Self {
        Self {
            limits: Limits::default(),
            search_moves: Vec::new(),
            infinite: false,
            ponder: false,
            time: [None; 2],
            increment: [Duration::ZERO; 2],
            moves_to_go: None,
        }
    }
}

impl<M> Go<M> {
    /// Reads the arguments; `read_move` knows the legal moves.
    ///
    /// # Errors
    /// What was not understood.
    pub fn parse(text: &str, read_move: impl Fn(&str) -> Option<M>) -> Result<Self, String> {
        let mut go = Self::default();
        let mut words = text.split_ascii_whitespace().peekable();
        while let Some(word) = words.next() {
            match word {
                "infinite" => go.infinite = true,
                "ponder" => go.ponder = true,
                "searchmoves" => {
                    while let Some(mv) = words.peek().and_then(|text| read_move(text)) {
                        go.search_moves.push(mv);
                        words.next();
                    }
                    if go.search_moves.is_empty() {
                        return Err("go searchmoves: no legal move follows".to_owned());
                    }
                }
                _ => {
                    let value = words.next().unwrap_or_default();
                    // A clock that has run out is sent as a negative number by some.
                    let number: i64 = value.parse().map_err(|_| format!("go {word} {value:?}: not understood"))?;
                    let number = number.max(0);
                    let time = Duration::from_millis(number as u64);
                    match word {
                        "wtime" => go.time[0] = Some(time),
                        "btime" => go.time[1] = Some(time),
                        "winc" => go.increment[0] = time,
                        "binc" => go.increment[1] = time,
                        "movestogo" => go.moves_to_go = Some((number as u32).max(1)),
                        "movetime" => go.limits.time = Some(time),
                        "nodes" => go.limits.nodes = Some(number as u64),
                        "depth" => go.limits.depth = Some(number.min(1000) as u32),
                        "mate" => go.limits.mate = Some(number.min(1000) as u32),
                        _ => return Err(format!("go {word}: not understood")),
                    }
                }
            }
        }
        Ok(go)
    }
}

/// When a search with a clock has thought enough.
#[derive(Clone, Debug)]
pub struct Stopwatch {
    /// The normal share of a move and the most it may take.
    plan: Option<(Duration, Duration)>,
    began: Instant,
    best: Option<Move>,
    stable: usize,
    last_score: Option<i32>,
}

/// Moves that the rest of a game without a stated number is planned for.
const HORIZON: u32 = 24;

impl Stopwatch {
    /// Starts now.
    pub fn new<M>(go: &Go<M>, turn: Color, overhead: Duration) -> Self {
        let plan = go.time[turn.index()].map(|time| {
            let left = time.saturating_sub(overhead).max(Duration::from_millis(1));
            let moves = go.moves_to_go.unwrap_or(HORIZON).min(HORIZON);
            let share = (left / moves + go.increment[turn.index()].mul_f64(0.8)).min(left.mul_f64(0.6));
            let most = if moves == 1 { left.mul_f64(0.9) } else { left.mul_f64(0.4) };
            (share.mul_f64(0.75).min(most), (share * 4).min(most))
        });
        Self { plan, began: Instant::now(), best: None, stable: 0, last_score: None }
    }

    /// The most the move may take.
    pub fn hard(&self) -> Option<Duration> {
        self.plan.map(|(_, hard)| hard)
    }

    /// Whether an iteration is the last one needed: sooner if the best move stands firm and took most of the work, later
    /// if the score falls.
    pub fn is_enough(&mut self, iteration: &Iteration) -> bool {
        let Some((soft, _)) = self.plan else { return false };
        self.stable = if self.best == Some(iteration.best) { self.stable + 1 } else { 0 };
        self.best = Some(iteration.best);
        let score = match iteration.score {
            Score::Cp(centipawns) => centipawns,
            Score::Mate(moves) => 30_000 * moves.signum(),
        };
        let fall = self.last_score.replace(score).map_or(0, |last| (last - score).clamp(-20, 60));
        if iteration.depth < 6 {
            return false;
        }
        let stability = [1.5, 1.2, 1.0, 0.9, 0.8][self.stable.min(4)];
        let effort = (1.7 - iteration.effort).clamp(0.6, 1.5);
        let falling = 1.0 + f64::from(fall) / 80.0;
        self.began.elapsed() >= soft.mul_f64(stability * effort * falling)
    }
}
