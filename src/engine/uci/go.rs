//! `go`: its limits, and the plan for its clock.
//!
//! The daemon's own games are planned by the council's clock; this plan serves games under other
//! programs.

use std::time::{Duration, Instant};

use crate::{Iteration, Limits, Move, Score, board::Color};

/// The time of a search with an unreadable limit: an answer is due all the same.
const INSTEAD_OF_UNREADABLE_LIMITS: Duration = Duration::from_secs(1);

const SEARCH_MOVES: &str = "searchmoves";

/// The largest share of a fixed time that is overhead: one part in this number.
const MOST_OVERHEAD: u32 = 20;

/// Returns the search time within a fixed time: the transmission to the program is subtracted, but
/// no more than a small part of a short time.
pub fn searchable(time: Duration, overhead: Duration) -> Duration {
    time.saturating_sub(overhead.min(time / MOST_OVERHEAD))
}

/// The arguments of `go`; `M` is how the reader writes moves.
#[derive(Debug)]
pub struct Go<M> {
    pub limits: Limits,
    /// The moves to consider; empty means all.
    pub search_moves: Vec<M>,
    /// True until `stop`.
    pub infinite: bool,
    /// About the expected position, in the opponent's time.
    pub ponder: bool,
    /// White's and Black's clock.
    pub time: [Option<Duration>; 2],
    pub increment: [Duration; 2],
    /// Moves until the next time control.
    pub moves_to_go: Option<u32>,
    /// Ignored words: unknown ones, ones without a number, illegal moves.
    pub ignored: Vec<String>,
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
            ignored: Vec::new(),
        }
    }
}

impl<M> Go<M> {
    /// Reads the arguments; `read_move` knows the legal moves. Words that are not understood are
    /// kept in [`Go::ignored`], because the sender waits for a move.
    pub fn read(text: &str, read_move: impl Fn(&str) -> Option<M>) -> Self {
        let mut go = Self::default();
        let mut words = text.split_ascii_whitespace().peekable();
        let (mut moves_follow, mut moves_wanted) = (false, false);
        while let Some(word) = words.next() {
            // A clock that has run out is sent as a negative number by some.
            let number = words.peek().and_then(|value| value.parse::<i64>().ok()).map(|number| number.max(0));
            if let Some(takes_number) = go.takes(word, number) {
                moves_follow = word == SEARCH_MOVES;
                moves_wanted |= moves_follow;
                if takes_number {
                    words.next();
                }
            } else if let Some(mv) = moves_follow.then(|| read_move(word)).flatten() {
                go.search_moves.push(mv);
            } else {
                go.ignored.push(word.to_owned());
            }
        }
        if moves_wanted && go.search_moves.is_empty() {
            go.ignored.insert(0, SEARCH_MOVES.to_owned());
        }
        go.pass_over_noughts();
        let bounded = go.limits != Limits::default() || go.time != [None; 2];
        if !go.ignored.is_empty() && !bounded && !go.infinite && !go.ponder {
            go.limits.time = Some(INSTEAD_OF_UNREADABLE_LIMITS);
        }
        go
    }

    /// Returns the clock of the player to move, White (0) or Black (1). If only the other clock was
    /// given, and no other limit, it counts for both: a program that sends a clock waits for a
    /// move. An infinite search has no clock.
    pub fn clock(&self, mover: usize) -> Option<Duration> {
        if self.infinite {
            return None;
        }
        let other = self.time[1 - mover].filter(|_| self.limits == Limits::default());
        self.time[mover].or(other)
    }

    /// Returns true if the search ends by itself once the player `turn` is to move and its clock
    /// runs. A search for a mate ends only if there is one.
    pub fn is_bounded(&self, turn: Color) -> bool {
        let Limits { time, nodes, depth, mate: _ } = self.limits;
        let limited = time.is_some() || nodes.is_some() || depth.is_some();
        !self.infinite && (limited || self.clock(turn.index()).is_some())
    }

    /// Drops zero limits beside other limits: programs that send every number mean none by zero. A
    /// zero that stands alone is the least limit, because an answer is due.
    fn pass_over_noughts(&mut self) {
        let Limits { time, nodes, depth, mate } = self.limits;
        let meant = Limits {
            time: time.filter(|time| !time.is_zero()),
            nodes: nodes.filter(|nodes| *nodes > 0),
            depth: depth.filter(|depth| *depth > 0),
            mate: mate.filter(|moves| *moves > 0),
        };
        let bounded = meant != Limits::default();
        if bounded && self.time.iter().flatten().all(Duration::is_zero) {
            self.time = [None; 2];
        }
        self.limits = if bounded || self.infinite || self.time != [None; 2] {
            meant
        } else {
            Limits { nodes: nodes.map(|nodes| nodes.max(1)), depth: depth.map(|depth| depth.max(1)), ..self.limits }
        };
    }

    /// Returns a sentence about the ignored words, for the sender.
    pub fn complaint(&self) -> Option<String> {
        let first = self.ignored.first()?;
        let why = if first == SEARCH_MOVES { " (no legal move follows searchmoves)" } else { "" };
        Some(format!("go: not understood, ignored: {}{why}", self.ignored.join(" ")))
    }

    /// Reads a word of UCI, with the number behind it if it needs one; returns whether it took the
    /// number. `None` for an unknown word.
    fn takes(&mut self, word: &str, number: Option<i64>) -> Option<bool> {
        match word {
            "infinite" => self.infinite = true,
            "ponder" => self.ponder = true,
            SEARCH_MOVES => {}
            _ => {
                self.takes_number(word, number?)?;
                return Some(true);
            }
        }
        Some(false)
    }

    fn takes_number(&mut self, word: &str, number: i64) -> Option<()> {
        let time = Duration::from_millis(number as u64);
        match word {
            "wtime" => self.time[0] = Some(time),
            "btime" => self.time[1] = Some(time),
            "winc" => self.increment[0] = time,
            "binc" => self.increment[1] = time,
            // A missing next control is sent as none, or as a number without meaning.
            "movestogo" => {
                self.moves_to_go = Some(u32::try_from(number).unwrap_or(u32::MAX)).filter(|moves| *moves > 0)
            }
            "movetime" => self.limits.time = Some(time),
            "nodes" => self.limits.nodes = Some(number as u64),
            "depth" => self.limits.depth = Some(number.min(1000) as u32),
            "mate" => self.limits.mate = Some(number.min(1000) as u32),
            _ => return None,
        }
        Some(())
    }
}

/// The decision to stop a search with a clock.
#[derive(Clone, Debug)]
pub struct Stopwatch {
    /// The normal share of a move and the most it may take.
    plan: Option<(Duration, Duration)>,
    /// True if there is no choice: only a score is needed.
    only_move: bool,
    began: Instant,
    best: Option<Move>,
    stable: usize,
    last_score: Option<i32>,
}

/// Moves that the rest of a game without a stated number is planned for.
const HORIZON: u32 = 24;

/// The depth below which a score and a best move mean too little, in plies. An only move is
/// searched no deeper.
pub const LEAST_DEPTH: u32 = 6;

impl Stopwatch {
    pub fn new<M>(go: &Go<M>, turn: Color, overhead: Duration) -> Self {
        let plan = go.clock(turn.index()).map(|time| {
            let left = time.saturating_sub(overhead).max(Duration::from_millis(1));
            let moves = go.moves_to_go.unwrap_or(HORIZON).min(HORIZON);
            let share = (left / moves + go.increment[turn.index()].mul_f64(0.8)).min(left.mul_f64(0.6));
            let most = if moves == 1 { left.mul_f64(0.9) } else { left.mul_f64(0.4) };
            (share.mul_f64(0.75).min(most), (share * 4).min(most))
        });
        Self { plan, only_move: false, began: Instant::now(), best: None, stable: 0, last_score: None }
    }

    /// Limits the search to what a score needs, if `only_move`.
    #[must_use]
    pub fn for_only_move(self, only_move: bool) -> Self {
        Self { only_move, ..self }
    }

    /// The most the move may take.
    pub fn hard(&self) -> Option<Duration> {
        self.plan.map(|(_, hard)| hard)
    }

    /// Returns true if this iteration is the last one needed: sooner if the best move is stable and
    /// took most of the work, later if the score falls.
    pub fn is_enough(&mut self, iteration: &Iteration) -> bool {
        let Some((soft, _)) = self.plan else { return false };
        self.stable = if self.best == Some(iteration.best) { self.stable + 1 } else { 0 };
        self.best = Some(iteration.best);
        let score = match iteration.score {
            Score::Cp(centipawns) => centipawns,
            Score::Mate(moves) => 30_000 * moves.signum(),
        };
        let fall = self.last_score.replace(score).map_or(0, |last| (last - score).clamp(-20, 60));
        if iteration.depth < LEAST_DEPTH {
            return false;
        }
        if self.only_move {
            return true;
        }
        let stability = [1.5, 1.2, 1.0, 0.9, 0.8][self.stable.min(4)];
        let effort = (1.7 - iteration.effort).clamp(0.6, 1.5);
        let falling = 1.0 + f64::from(fall) / 80.0;
        self.began.elapsed() >= soft.mul_f64(stability * effort * falling)
    }
}
