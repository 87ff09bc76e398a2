//! Measurements at Italian draughts: games between any two players, and what electors and criteria make of positions.
//!
//! Openings are ballots of eleven men a side, drawn by a seed; each is played with both colours by players that know nothing
//! of the pair before. With nodes alone equal matches are equal to the node.

mod fit;
mod matches;
mod positions;

use std::sync::atomic::AtomicBool;

use clap::Subcommand;

use fit::FitDraughts;
use matches::Contest;
use positions::JudgePositions;
use util::Failure;

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
    pub fn run(self, stop: &AtomicBool) -> Result<(), Failure> {
        match self {
            Self::Match(contest) => contest.run(stop),
            Self::Positions(positions) => positions.run(stop),
            Self::Fit(fit) => fit.run(stop),
        }
    }
}
