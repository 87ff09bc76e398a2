//! `concilio-lab decisions`: players at the same positions.

use std::{path::PathBuf, sync::atomic::AtomicBool};

use clap::Args;
use serde_json::json;

use super::{
    Failure,
    inputs::{MayAsk, ReportArguments, SearchedPositions, experiment},
    positions::parse_budget,
    progress::{Bars, StateFile, stopped, write},
};
use crate::{
    decisions::{DecisionsPlan, compare, markdown},
    player::{Contender, Pace, PlayerKind as _, PlayerSpec},
};

/// Let players decide at the same positions, and value the moves where they differ
#[derive(Debug, Args)]
#[command(
    after_help = "Players are written as for `concilio-lab match`; all others are held against the first. With node budgets it takes
a fraction of the nodes of a match to tell two players apart that make the same move nearly everywhere.

  concilio-lab decisions --suite games.pgn --every 8 --oracle stockfish --pace nodes=3000 \\
    'council:learned-2,name=alone' 'council:roster=learned-2,advisers=mpar mbxp mbkc'
  concilio-lab decisions engine engine:n --pace nodes=10000"
)]
pub struct Decisions {
    /// The players, the one they are held against first
    #[arg(required = true, num_args = 1.., value_name = "PLAYER")]
    players: Vec<PlayerSpec>,
    /// Suites: EPD or PGN, also in a zip file [default: those that are built in]
    #[arg(long, value_name = "FILE")]
    suite: Vec<PathBuf>,
    /// Limit of a decision: nodes=N (of each elector or thread) or movetime=SECONDS
    #[arg(long, default_value = "nodes=10000", value_parser = parse_budget, value_name = "PACE")]
    pace: Pace,
    #[command(flatten)]
    judge: MayAsk,
    #[command(flatten)]
    searched: SearchedPositions,
    /// Write a line a position: each player's move, and what it is worth where they differ
    #[arg(long, value_name = "FILE")]
    csv: Option<PathBuf>,
    #[command(flatten)]
    report: ReportArguments,
    #[command(flatten)]
    state: StateFile,
}

impl Decisions {
    pub(super) fn run(self, stop: &AtomicBool) -> Result<(), Failure> {
        let plan = self.plan()?;
        let files: Vec<PathBuf> = self.players.iter().flat_map(PlayerSpec::files).collect();
        let mut state = self.state.open("decisions", self.experiment(&plan), &files)?;
        let mut values = self.searched.searching.theirs(self.judge.oracle.as_deref())?;
        let mut bars = Bars::default();
        let comparison = compare(&plan, &mut state, &mut values, stop, |what, done, of| bars.at(what, done, of))?;
        bars.end();
        let (figures, csv) = comparison.ok_or_else(stopped)?;
        if let Some(path) = &self.csv {
            write("--csv", path, &csv)?;
        }
        self.report.tell("", &markdown(&figures), &figures)
    }

    fn plan(&self) -> Result<DecisionsPlan, Failure> {
        let players = self.players.iter().map(|spec| {
            let pace = spec.pace.unwrap_or(self.pace);
            if spec.kind.refuses(pace).is_some() || matches!(pace, Pace::Clock { .. }) {
                let name = spec.name();
                return Err(Failure::usage(format_args!(
                    "player {name}: {pace} is no pace for single positions with it"
                )));
            }
            Ok(Contender { spec: spec.clone(), pace })
        });
        Ok(DecisionsPlan {
            players: players.collect::<Result<_, _>>()?,
            positions: self.searched.of(&self.suite)?,
            oracle: self.judge.oracle()?,
            workers: self.searched.searching.workers(),
            seed: self.searched.seed,
        })
    }

    /// Returns the facts that the decisions depend on, without the players' files.
    fn experiment(&self, plan: &DecisionsPlan) -> serde_json::Value {
        let facts = json!({
            "players": self.players.iter().map(|player| &player.text).collect::<Vec<_>>(),
            "pace": self.pace,
            "positions": plan.positions.iter().map(|position| position.line.fen()).collect::<Vec<_>>(),
        });
        experiment(facts, plan.players.iter().any(|player| player.pace.is_timed()), plan.workers)
    }
}

#[cfg(test)]
mod tests {
    use clap::FromArgMatches as _;

    use super::*;

    #[test]
    fn concurrency_matters_only_for_time_limits() {
        let experiment = |pace: &str, workers: &str| {
            let words = ["decisions", "engine", "--limit", "1", "--pace", pace, "--concurrency", workers];
            let arguments = Decisions::augment_args(clap::Command::new("decisions"))
                .try_get_matches_from(words)
                .expect("arguments");
            let decisions = Decisions::from_arg_matches(&arguments).expect("arguments");
            let plan = decisions.plan().unwrap_or_else(|error| panic!("{error}"));
            decisions.experiment(&plan)
        };
        assert_eq!(experiment("nodes=100", "1"), experiment("nodes=100", "2"));
        assert_ne!(experiment("movetime=0.01", "1"), experiment("movetime=0.01", "2"));
    }
}
