//! `concilio-lab draughts`: matches, tournaments and positions of Italian draughts.

use std::{
    num::NonZeroUsize,
    path::PathBuf,
    sync::{Arc, atomic::AtomicBool, atomic::Ordering},
};

use clap::{Args, Subcommand};
use serde_json::json;

use super::{
    DraughtsContender, DraughtsLessons, DraughtsMatch, DraughtsPair, DraughtsPositions, DraughtsStanding, fit_weights,
    judge_draughts, loss, play_lessons, positions_of_games, run_draughts, weights_in_rust,
};
use crate::player::{Pace, PlayerSpec};
use draughts_core::{endgame::EndgameTables, evaluation::Strategy};
use experiment::{
    progress::{ProgressDisplay, StateFile, experiment, or_each_core},
    stats::Estimate,
};
use util::{Failure, outln};

/// Measure at Italian draughts
#[derive(Debug, Args)]
#[command(after_help = "Players:
  council:criterion=re-search,split=0.4     the four strategies; roster=EVALUATIONS for others, such as mpk mgp mpsk
  fully-guarded, mpgsk                      one strategy, or a part of the knowledge
  published:strategy=spettacolo,moves=3,quiescence=off,second=off    the search of 2010
Each of today takes nodes=N, movetime=S or depth=N for a pace of its own, and hash=MIB.

The council of four against its best member, with the same nodes altogether:
  concilio-lab draughts match council fully-guarded:nodes=20000 --nodes 5000 --games 400
All pairings of the four strategies:
  concilio-lab draughts tournament --nodes 5000 --games 200
What each criterion elects:
  concilio-lab draughts positions --nodes 2000 --positions 500
Weights from games:
  concilio-lab draughts fit --games 10000")]
pub struct MeasureDraughts {
    #[command(subcommand)]
    what: WhatToMeasure,
}

#[derive(Debug, Subcommand)]
enum WhatToMeasure {
    /// Play games between two players
    Match(Box<Contest>),
    /// Play all pairings of some players; of a --state FILE each has its own: FILE.1, FILE.2 and so on
    Tournament(Box<Contest>),
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
        match self.what {
            WhatToMeasure::Match(contest) => contest.one(stop),
            WhatToMeasure::Tournament(contest) => contest.all(stop),
            WhatToMeasure::Positions(positions) => positions.run(stop),
            WhatToMeasure::Fit(fit) => fit.run(stop),
        }
    }
}

#[derive(Debug, Args)]
struct DraughtsPace {
    /// Nodes of each elector a move [default: 5000, where no time is given]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    nodes: Option<u64>,
    /// Seconds a move
    #[arg(long, value_name = "SECONDS", value_parser = movetime)]
    movetime: Option<Pace>,
}

fn movetime(text: &str) -> Result<Pace, String> {
    Pace::default().with("movetime", text).ok_or_else(|| "expected seconds above 0".to_owned())
}

impl DraughtsPace {
    fn pace(&self) -> Pace {
        let time = self.movetime.and_then(|pace| pace.time);
        Pace { nodes: self.nodes.or(time.is_none().then_some(5_000)), time, depth: None }
    }
}

/// Games between two players or more.
#[derive(Debug, Args)]
struct Contest {
    /// The players [default: the four strategies]
    #[arg(value_name = "PLAYER")]
    players: Vec<PlayerSpec>,
    #[command(flatten)]
    pace: DraughtsPace,
    /// Games of each pairing; every ballot is played with both colours
    #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(u32).range(4..), value_name = "N")]
    games: u32,
    /// Draws the ballots
    #[arg(long, default_value_t = 1, value_name = "N")]
    seed: u64,
    /// Games at once [default: one for each core]
    #[arg(long, value_name = "N")]
    concurrency: Option<NonZeroUsize>,
    /// Endgame tables, which searches use and which end games that are decided (see concilio draughts build-tables)
    #[arg(long, value_name = "FILE")]
    tables: Option<PathBuf>,
    #[command(flatten)]
    state: StateFile,
}

impl Contest {
    fn one(self, stop: &AtomicBool) -> Result<(), Failure> {
        let [a, b] = self.players.as_slice() else { return Err(Failure::usage("a match has two players")) };
        let standing = self.play([a, b], &self.state, tables(self.tables.as_ref())?, stop)?;
        util::print(format_args!("{standing}"));
        Ok(())
    }

    /// A table with a line a player: its score against each of the others, and against all.
    fn all(self, stop: &AtomicBool) -> Result<(), Failure> {
        let four: Result<Vec<PlayerSpec>, _> = Strategy::ALL.iter().map(|strategy| strategy.name().parse()).collect();
        let players = if self.players.is_empty() { four? } else { self.players.clone() };
        if players.len() < 2 {
            return Err(Failure::usage("a tournament has two players or more"));
        }
        let tables = tables(self.tables.as_ref())?;
        let pairings =
            players.iter().enumerate().flat_map(|(place, a)| players[place + 1..].iter().map(move |b| [a, b]));
        for (number, pairing) in (1..).zip(pairings) {
            let standing = self.play(pairing, &self.state.numbered(number), tables.clone(), stop)?;
            util::print(format_args!("{standing}"));
            outln!();
        }
        Ok(())
    }

    fn play(
        &self,
        [a, b]: [&PlayerSpec; 2],
        state: &StateFile,
        tables: Option<Arc<EndgameTables>>,
        stop: &AtomicBool,
    ) -> Result<DraughtsStanding, Failure> {
        let pace = self.pace.pace();
        let facts = json!({
            "players": [a.to_string(), b.to_string()],
            "nodes": pace.nodes,
            "time": pace.time,
            "seed": self.seed,
            "tables": self.tables,
        });
        let contender = |spec: &PlayerSpec| DraughtsContender { spec: spec.clone(), pace };
        let plan = DraughtsMatch {
            players: [contender(a), contender(b)],
            pairs: (self.games as usize).div_ceil(2),
            seed: self.seed,
            workers: or_each_core(self.concurrency),
            tables,
        };
        // A match that is refused leaves no state, and with --fresh it forgets none.
        plan.check()?;
        let experiment = experiment(facts, plan.is_timed(), plan.workers);
        let mut state = state.open::<DraughtsPair>("draughts", experiment, self.tables.as_slice())?;
        let mut progress = ProgressDisplay::new(plan.pairs, "pairs");
        let standing = run_draughts(&plan, &mut state, stop, |standing| {
            progress.at(standing.pairs(), || {
                let score = standing.score();
                score.map_or_else(String::new, Estimate::percent_with_error)
            });
        })?;
        progress.end();
        if stop.load(Ordering::Relaxed) && standing.pairs() < plan.pairs {
            util::print(format_args!("{standing}"));
            return Err(Failure::failed("stopped; the same command goes on from there"));
        }
        Ok(standing)
    }
}

/// Try electors and criteria on positions of games
#[derive(Debug, Args)]
struct JudgePositions {
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
            pace: self.pace.pace(),
            judge_depth: self.judge,
            workers: or_each_core(self.concurrency),
        };
        let progress = std::sync::Mutex::new(ProgressDisplay::new(positions.len(), "positions"));
        let judged = judge_draughts(&plan, &positions, stop, |done| {
            if let Ok(mut progress) = progress.lock() {
                progress.at(done, String::new);
            }
        })?;
        if let Ok(progress) = progress.into_inner() {
            progress.end();
        }
        outln!("{} positions, judged {} plies deep", positions.len(), self.judge);
        outln!("{:<22} {:>22}   {:>22}", "elector or criterion", "judge's move, %", "loss, 1/100 man");
        for one in judged {
            let loss = format!("{:.2} [{:.2}, {:.2}]", one.loss.value, one.loss.low, one.loss.high);
            outln!("{:<22} {:>22}   {loss:>22}", one.name, one.found.percent());
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
struct FitDraughts {
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
        let progress = std::sync::Mutex::new(ProgressDisplay::new(plan.games, "games"));
        let lessons = play_lessons(&plan, stop, |done| {
            if let Ok(mut progress) = progress.lock() {
                progress.at(done, String::new);
            }
        });
        if let Ok(progress) = progress.into_inner() {
            progress.end();
        }
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

fn tables(path: Option<&PathBuf>) -> Result<Option<Arc<EndgameTables>>, Failure> {
    let tables = path.map(|path| EndgameTables::load(path)).transpose();
    Ok(tables.map_err(|error| Failure::usage(format_args!("--tables: {error}")))?.map(Arc::new))
}
