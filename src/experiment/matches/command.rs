//! The command of a match: what all games have in common.

use std::{
    num::NonZeroUsize,
    path::PathBuf,
    sync::atomic::{AtomicBool, Ordering},
    time::Duration,
};

use clap::Args;
use serde_json::{Value, json};

use super::{Contender, GamePair, MatchPlan, Summary, run_checked};
use crate::{
    player::PlayerKind,
    progress::{ProgressDisplay, StateFile, experiment, or_each_core, stopped, write},
    state::ExperimentState,
    stats::{Estimate, Sprt},
};
use util::Failure;

#[derive(Debug, Args)]
pub struct MatchArguments {
    /// Games at most; every opening is played with both colours, and of those that lead to one position the first alone
    #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(u32).range(2..), value_name = "N")]
    games: u32,
    /// End when decided between two Elo differences, normalised; with ",logistic" behind them of the expected score
    #[arg(long, value_name = "ELO0,ELO1[,SCALE]", allow_hyphen_values = true)]
    pub sprt: Option<Sprt>,
    /// Random seed of the order of the openings
    #[arg(long, default_value_t = 1, value_name = "N")]
    pub seed: u64,
    /// Games at once [default: one for each core; by the clock, the cores divided by a player's threads]
    #[arg(long, value_name = "N")]
    concurrency: Option<NonZeroUsize>,
    /// Tolerance of a player's clock, ms, up to 10000; a slower answer counts as a hang
    #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(u64).range(0..=10_000), value_name = "MS")]
    margin: u64,
    /// Write the games, in the game's standard notation
    #[arg(long, value_name = "FILE")]
    pgn: Option<PathBuf>,
    /// Print the outcome as JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    pub state: StateFile,
}

impl MatchArguments {
    pub fn pairs(&self) -> usize {
        (self.games as usize).div_ceil(2)
    }

    /// Games at once. By the clock they share no core, unless that was asked for.
    pub fn workers<K: PlayerKind>(&self, players: &[Contender<K>; 2]) -> NonZeroUsize {
        // Threads with a budget of nodes advance in step, on one core.
        let timed = players.iter().filter(|player| player.pace.is_timed());
        let threads = timed.map(|player| player.spec.kind.threads().max(1)).max().unwrap_or(1);
        let games = or_each_core(None).get() / threads;
        self.concurrency.or(NonZeroUsize::new(games)).unwrap_or(NonZeroUsize::MIN)
    }

    pub fn margin(&self) -> Duration {
        Duration::from_millis(self.margin)
    }

    /// Returns all facts that the games of a plan depend on: these, and those that all games have. Their number may grow.
    pub fn experiment<K: PlayerKind>(&self, plan: &MatchPlan<K>, mut facts: Value) -> Value {
        facts["format"] = json!(2);
        facts["players"] = json!(plan.players.each_ref().map(|player| &player.spec.text));
        facts["sprt"] = json!(self.sprt);
        facts["seed"] = json!(self.seed);
        facts["margin"] = json!(self.margin);
        let by_clock = plan.is_timed() || plan.players.iter().any(|player| player.spec.kind.grows());
        experiment(facts, by_clock, plan.workers)
    }

    /// Plays a plan that was [checked](MatchPlan::check) and writes the games where that was asked.
    pub fn play<K: PlayerKind>(
        &self,
        plan: &MatchPlan<K>,
        state: &mut ExperimentState<GamePair>,
        stop: &AtomicBool,
    ) -> Result<Summary, Failure> {
        let mut progress = ProgressDisplay::new(plan.pairs, "pairs");
        let summary = run_checked(plan, state, stop, |standing| {
            progress.at(standing.pairs(), || {
                let score = standing.score().map(Estimate::percent_with_error);
                let ratio = standing.log_likelihood_ratio().map(|ratio| format!("  LLR {ratio:.2}"));
                score.unwrap_or_default() + &ratio.unwrap_or_default()
            });
        })?;
        progress.end();
        if let Some(path) = &self.pgn {
            write("--pgn", path, &plan.games_text(state.done().iter().take(summary.games / 2)))?;
        }
        Ok(summary)
    }

    /// Prints the result of a match, and a further fact with its name. An error if it was stopped before its end.
    pub fn tell(&self, summary: &Summary, more: Option<(&str, &str, Value)>, stop: &AtomicBool) -> Result<(), Failure> {
        if self.json {
            let mut outcome = serde_json::to_value(summary)?;
            if let Some((name, _, value)) = more {
                outcome[name] = value;
            }
            util::outln!("{}", serde_json::to_string_pretty(&outcome)?);
        } else {
            util::print(format_args!("{summary}"));
            if let Some((name, text, _)) = more {
                util::outln!("{name:<12} {text}");
            }
        }
        if stop.load(Ordering::Relaxed) && !summary.complete {
            return Err(stopped());
        }
        Ok(())
    }
}
