//! `concilio-lab draughts`: matches, tournaments and positions of Italian draughts.

use std::{
    num::NonZeroUsize,
    path::PathBuf,
    sync::atomic::{AtomicBool, Ordering},
};

use clap::{Args, Subcommand};

use super::{
    DraughtsLessons, DraughtsPositions, fit_weights, judge_draughts, loss,
    matches::{Contest, DraughtsPace, tables},
    play_lessons, positions_of_games, weights_in_rust,
};
use crate::player::PlayerSpec;
use experiment::{
    progress::{ProgressDisplay, or_each_core},
    state::ExperimentState,
};
use util::{Failure, outln};

/// Measure at Italian draughts
#[derive(Debug, Subcommand)]
#[command(after_help = "Players:
  council:criterion=re-search,split=0.4     the four strategies; roster=EVALUATIONS for others, such as mpk mgp mpsk
  fully-guarded, mpgsk                      one strategy, or a part of the knowledge
  published:strategy=spettacolo,moves=3,quiescence=off,second=off    the search of 2010
Each modern one takes nodes=N, movetime=S, depth=N or tc=S+S for a pace of its own, and hash=MIB.

The council of four against its best member, with the same nodes altogether:
  concilio-lab draughts match council fully-guarded:nodes=20000 --pace nodes=5000 --games 400
All pairings of the four strategies:
  concilio-lab draughts match --pace nodes=5000 --games 200
What each criterion elects:
  concilio-lab draughts positions --pace nodes=2000 --positions 500
Weights from games:
  concilio-lab draughts fit --games 10000")]
pub enum MeasureDraughts {
    /// Play games between two players, or all pairings of several; of a --state FILE each pairing has its own: FILE.1, FILE.2 and so on
    #[command(alias = "tournament")]
    Match(Box<Contest>),
    /// Try electors and criteria on positions of games
    Positions(Box<JudgePositions>),
    /// Fit the weights of the heuristics to results of games
    Fit(FitDraughts),
}

impl MeasureDraughts {
    /// Runs the measurement until it is done, or `stop` is set.
    ///
    /// # Errors
    /// [`Failure`] in one line.
    pub fn run(self, stop: &AtomicBool) -> Result<(), Failure> {
        match self {
            Self::Match(contest) => contest.run(stop),
            Self::Positions(positions) => positions.run(stop),
            Self::Fit(fit) => fit.run(stop),
        }
    }
}

/// Try electors and criteria on positions of games
#[derive(Debug, Args)]
pub struct JudgePositions {
    /// Council of the trial
    #[arg(default_value = "council", value_name = "COUNCIL")]
    council: PlayerSpec,
    #[command(flatten)]
    pace: DraughtsPace,
    /// Number of positions
    #[arg(long, default_value_t = 200, value_parser = clap::value_parser!(u32).range(2..), value_name = "N")]
    positions: u32,
    /// Take every Nth position of a game
    #[arg(long, default_value_t = 8, value_parser = clap::value_parser!(u32).range(1..), value_name = "PLIES")]
    every: u32,
    /// Depth of the judge, a search with complete knowledge, in plies
    #[arg(long, default_value_t = 13, value_parser = clap::value_parser!(u32).range(1..=40), value_name = "PLIES")]
    judge: u32,
    /// Draws the ballots from which the games start
    #[arg(long, default_value_t = 1, value_name = "N")]
    seed: u64,
    /// Positions at once [default: one for each core]
    #[arg(long, value_name = "N")]
    concurrency: Option<NonZeroUsize>,
}

impl JudgePositions {
    fn run(self, stop: &AtomicBool) -> Result<(), Failure> {
        let positions = positions_of_games(self.positions as usize, self.every as usize, self.seed);
        let plan = DraughtsPositions {
            council: self.council,
            limits: self.pace.pace().limits(),
            judge_depth: self.judge,
            workers: or_each_core(self.concurrency),
        };
        let mut progress = ProgressDisplay::new(positions.len(), "positions");
        let mut state = ExperimentState::in_memory();
        let judged = judge_draughts(&plan, &positions, &mut state, stop, |done| progress.at(done, String::new))?;
        progress.end();
        outln!("{} positions, judged {} plies deep", positions.len(), self.judge);
        outln!("{:<22} {:>22}   {:>22}", "elector or criterion", "judge's move, %", "loss, 1/100 man");
        for (name, found, loss) in judged {
            let loss = format!("{:.2} [{:.2}, {:.2}]", loss.value, loss.low, loss.high);
            outln!("{name:<22} {:>22}   {loss:>22}", found.percent());
        }
        if stop.load(Ordering::Relaxed) {
            return Err(Failure::failed("stopped: not all positions were judged"));
        }
        Ok(())
    }
}

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
    fn run(self, stop: &AtomicBool) -> Result<(), Failure> {
        let plan = DraughtsLessons {
            games: self.games as usize,
            nodes: self.nodes,
            seed: self.seed,
            workers: or_each_core(self.concurrency),
            tables: tables(self.tables.as_ref())?,
        };
        let mut progress = ProgressDisplay::new(plan.games, "games");
        let lessons = play_lessons(&plan, stop, |done| progress.at(done, String::new))?;
        progress.end();
        if stop.load(Ordering::Relaxed) {
            return Err(Failure::failed("stopped; these games are not kept"));
        }
        // Every eighth is kept apart: whether the weights fit what they have not seen.
        let (unseen, seen): (Vec<_>, Vec<_>) = lessons.chunks(512).enumerate().partition(|(chunk, _)| chunk % 8 == 7);
        let [unseen, seen] =
            [unseen, seen].map(|chunks| chunks.into_iter().flat_map(|(_, chunk)| chunk.to_vec()).collect::<Vec<_>>());
        let weights = fit_weights(&seen);
        let none = [[0.0; 2]; draughts_core::evaluation::FEATURES];
        let [before, after] = [&none, &weights].map(|weights| loss(&unseen, weights));
        outln!(
            "// {} positions of {} games; cross-entropy of {} unseen ones {before:.4} without weights, {after:.4} with these",
            seen.len(),
            plan.games,
            unseen.len()
        );
        util::print(format_args!("{}", weights_in_rust(&weights)));
        Ok(())
    }
}
