//! The weights of the heuristics, fitted to results: the logistic regression of game results on the features of quiet positions
//! that these games went through (after Texel's method, P. Österlund 2014).

use std::{
    fmt::Write as _,
    num::NonZeroUsize,
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use clap::Args;
use rand::{RngExt as _, SeedableRng as _, rngs::StdRng};

use draughts_core::{
    board::{Board, Color, Rules},
    endgame::EndgameTables,
    evaluation::{FEATURE_NAMES, FEATURES, features},
    game::{Game, ballots},
    search::{Limits, SearchOptions, Searcher},
};

use experiment::{
    game::{MatchLine as _, TableValue},
    progress::{ProgressDisplay, or_each_core},
    state::{ExperimentState, StateError},
};
use serde::{Deserialize, Serialize};
use util::{Failure, outln};

use super::matches::tables;
use crate::player::{DraughtsLine, by_tables};

/// The random moves after a ballot, so that one ballot gives many games.
const RANDOM_PLIES: usize = 4;
/// Pieces with which a game starts.
const ALL_PIECES: f64 = 24.0;
const PASSES: usize = 60;
/// The step of a weight along the gradient, in men.
const STEP: f64 = 0.02;
/// The share of each weight's square that counts as a loss, so that unseen weights stay in place.
const RIDGE: f64 = 1e-5;

/// Fit the weights of the heuristics to results of games
#[derive(Debug, Args)]
#[command(
    after_help = "Equal players with all knowledge play from ballots and a few moves at random; the weights that explain the results best
from the features of quiet positions are printed as src/draughts/core/evaluation/weights.rs has them."
)]
pub struct FitDraughts {
    /// Number of games
    #[arg(long, default_value_t = 4_000, value_parser = clap::value_parser!(u32).range(10..), value_name = "N")]
    games: u32,
    /// Nodes of each move
    #[arg(long, default_value_t = 1_000, value_parser = clap::value_parser!(u64).range(1..), value_name = "N")]
    nodes: u64,
    /// Draws ballots and random moves
    #[arg(long, default_value_t = 1, value_name = "N")]
    seed: u64,
    /// Games at once [default: one for each core]
    #[arg(long, value_name = "N")]
    concurrency: Option<NonZeroUsize>,
    /// Endgame tables, which end games that are decided
    #[arg(long, value_name = "FILE")]
    tables: Option<PathBuf>,
}

impl FitDraughts {
    pub(super) fn run(self, stop: &AtomicBool) -> Result<(), Failure> {
        let tables = tables(self.tables.as_ref())?;
        let mut progress = ProgressDisplay::new(self.games as usize, "games");
        let lessons = self.lessons(tables.as_ref(), stop, |done| progress.at(done, String::new))?;
        progress.end();
        if stop.load(Ordering::Relaxed) {
            return Err(Failure::failed("stopped; these games are not kept"));
        }
        // Every eighth is kept apart: whether the weights fit what they have not seen.
        let (unseen, seen): (Vec<_>, Vec<_>) = lessons.chunks(512).enumerate().partition(|(chunk, _)| chunk % 8 == 7);
        let [unseen, seen] =
            [unseen, seen].map(|chunks| chunks.into_iter().flat_map(|(_, chunk)| chunk.to_vec()).collect::<Vec<_>>());
        let weights = fit_weights(&seen);
        let none = [[0.0; 2]; FEATURES];
        let [before, after] = [&none, &weights].map(|weights| loss(&unseen, weights));
        outln!(
            "// {} positions of {} games; cross-entropy of {} unseen ones {before:.4} without weights, {after:.4} with these",
            seen.len(),
            self.games,
            unseen.len()
        );
        util::print(format_args!("{}", weights_in_rust(&weights)));
        Ok(())
    }

    /// Plays games between equal players and returns their quiet positions, in the order of the games. The tables end decided
    /// games; `progress` receives the number of finished games.
    fn lessons(
        &self,
        tables: Option<&Arc<EndgameTables>>,
        stop: &AtomicBool,
        mut progress: impl FnMut(usize),
    ) -> Result<Vec<Lesson>, StateError> {
        let games = self.games as usize;
        let ballots = ballots::draw(games, self.seed);
        let options = SearchOptions { hash: 4, tables: tables.cloned(), ..SearchOptions::default() };
        let ending = tables.cloned().map(by_tables);
        let one = |searcher: &mut Searcher, number: usize| {
            searcher.clear();
            let start = Game::new(ballots[number % ballots.len()], Rules::Official);
            Ok::<_, StateError>(self.play(number as u64, start, searcher, ending.as_ref()))
        };
        let (mut state, workers) = (ExperimentState::in_memory(), or_each_core(self.concurrency));
        let searcher = || Searcher::new(options.clone());
        state.complete(games, workers, stop, |done, _| progress(done), searcher, one)?;
        Ok(state.done().values().flatten().cloned().collect())
    }

    fn play(
        &self,
        number: u64,
        mut game: Game,
        searcher: &mut Searcher,
        tables: Option<&TableValue<DraughtsLine>>,
    ) -> Vec<Lesson> {
        let mut random = StdRng::seed_from_u64(self.seed.wrapping_mul(1 << 32).wrapping_add(number));
        for _ in 0..RANDOM_PLIES {
            let legal = game.legal_moves();
            let Some(mv) = legal.get(random.random_range(0..legal.len().max(1))) else { break };
            if game.play(*mv).is_err() {
                break;
            }
        }
        let limits = Limits { nodes: Some(self.nodes), ..Limits::default() };
        let mut boards = Vec::new();
        let white = loop {
            if let Some(white) = result(&game, tables) {
                break white;
            }
            if !game.board().must_capture() {
                boards.push(*game.board());
            }
            let found = searcher.search(&game, &limits, &AtomicBool::new(false), |_| {});
            if found.is_none_or(|found| game.play(found.best).is_err()) {
                break 0.5;
            }
        };
        let lesson = |board: &Board| Lesson {
            features: features(board),
            pieces: board.occupied().len(),
            result: if board.to_move() == Color::White { white } else { 1.0 - white },
        };
        boards.iter().map(lesson).collect()
    }
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Lesson {
    /// Features of the side to move, less the other's.
    features: [i32; FEATURES],
    pieces: u32,
    /// The result for the side to move: 0, 1/2 or 1.
    result: f64,
}

/// A weight at the start of the game, and one at its end, for each feature.
type DraughtsWeights = [[f64; 2]; FEATURES];

/// White's points, once the game is over or decided.
fn result(game: &Game, tables: Option<&TableValue<DraughtsLine>>) -> Option<f64> {
    let line = DraughtsLine(game.clone());
    if let Some((_, white)) = line.ruling() {
        return Some(white);
    }
    let points = tables?(&line)?;
    Some(if game.board().to_move() == Color::White { points } else { 1.0 - points })
}

impl Lesson {
    /// Returns the share of the game still to come, 1 at its start.
    fn phase(&self) -> f64 {
        f64::from(self.pieces) / ALL_PIECES
    }

    /// Returns the expected score of the side to move, 0 to 1.
    fn expected(&self, weights: &DraughtsWeights) -> f64 {
        let phase = self.phase();
        let terms = self.features.iter().zip(weights);
        let value: f64 =
            terms.map(|(count, [start, end])| f64::from(*count) * (start * phase + end * (1.0 - phase))).sum();
        1.0 / (1.0 + (-value).exp())
    }
}

/// The mean of the cross-entropy between results and expectations.
fn loss(lessons: &[Lesson], weights: &DraughtsWeights) -> f64 {
    let one = |lesson: &Lesson| {
        let expected = lesson.expected(weights).clamp(1e-9, 1.0 - 1e-9);
        -(lesson.result * expected.ln() + (1.0 - lesson.result) * (1.0 - expected).ln())
    };
    lessons.iter().map(one).sum::<f64>() / lessons.len().max(1) as f64
}

/// Weights that fit, in units of the logistic function, by gradient descent with steps that adapt to each weight (Adagrad,
/// Duchi and others 2011).
fn fit_weights(lessons: &[Lesson]) -> DraughtsWeights {
    let mut weights: DraughtsWeights = [[0.0; 2]; FEATURES];
    let mut squares: DraughtsWeights = [[1e-9; 2]; FEATURES];
    // Neighbours come of one game: every pass takes them in strides that mix games.
    let stride = (lessons.len() / 1_000).max(1) | 1;
    for _ in 0..PASSES {
        let batches = (0..stride).map(|first| lessons.iter().skip(first).step_by(stride));
        for batch in batches {
            let mut gradient: DraughtsWeights = [[0.0; 2]; FEATURES];
            let mut count = 0.0;
            for lesson in batch {
                let (error, phase) = (lesson.expected(&weights) - lesson.result, lesson.phase());
                for (sum, feature) in gradient.iter_mut().zip(lesson.features) {
                    sum[0] += error * f64::from(feature) * phase;
                    sum[1] += error * f64::from(feature) * (1.0 - phase);
                }
                count += 1.0;
            }
            let all = weights.iter_mut().zip(&mut squares).zip(gradient);
            for ((weight, square), slope) in all.flat_map(|((w, s), g)| w.iter_mut().zip(s).zip(g)) {
                let slope = slope / f64::max(count, 1.0) + RIDGE * *weight;
                *square += slope * slope;
                *weight -= STEP * slope / square.sqrt();
            }
        }
    }
    weights
}

/// The table as `src/draughts/core/evaluation/weights.rs` has it: scaled so that a man is worth 100 in the mean of start and end.
fn weights_in_rust(weights: &DraughtsWeights) -> String {
    let man = f64::midpoint(weights[0][0], weights[0][1]).max(1e-6);
    let mut text = String::new();
    for ([start, end], (_, name)) in weights.iter().zip(FEATURE_NAMES) {
        // Writing to a text does not fail.
        let _ = writeln!(text, "    // {name}\n    [{:.0}, {:.0}],", 100.0 * start / man, 100.0 * end / man);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fit_values_winning_features() {
        let plan = FitDraughts { games: 60, nodes: 100, seed: 1, concurrency: NonZeroUsize::new(2), tables: None };
        let tables = Arc::new(EndgameTables::build(2, |_, _| {}));
        let lessons = plan.lessons(Some(&tables), &AtomicBool::new(false), |_| {}).expect("games");
        let weights = fit_weights(&lessons);
        assert!(weights[0].iter().chain(&weights[1]).sum::<f64>() > 0.0, "men and kings win games: {weights:?}");
        assert!(loss(&lessons, &weights) < loss(&lessons, &[[0.0; 2]; FEATURES]));
        assert_eq!(weights_in_rust(&weights).lines().count(), 2 * FEATURES);
    }
}
