//! Whole councils asked about single positions: their decisions, and the work of each of their processes.
//!
//! With node budgets a process is a clock: its nodes are its time. A council of nineteen on two cores is then measured in this
//! virtual time, in which no search waits for a core, and nothing is said of communication, which costs nothing. In it a decision
//! takes as long as its busiest process, because the master works in both phases.

use std::{
    num::NonZeroUsize,
    sync::{Arc, atomic::AtomicBool},
};

use serde::{Deserialize, Serialize};
use tokio_util::sync::CancellationToken;

use super::{state::ExperimentState, suite::TestPosition};
use council::{Council, CouncilSettings, Question, Roster, electors::Pool};
use domain::{Limits, UciMove, Variant};
use util::Failure;

#[derive(Clone, Debug)]
pub struct AskedCouncil {
    pub name: String,
    /// Its roster, criterion, phases and groups.
    pub settings: CouncilSettings,
    /// Bounds of a decision, for each process.
    pub limits: Limits,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CouncilAnswer {
    #[serde(with = "super::move_text")]
    pub best: UciMove,
    /// True if all electors proposed the elected move.
    pub unanimous: bool,
    pub nodes: Vec<u64>,
}

impl CouncilAnswer {
    pub fn all_nodes(&self) -> u64 {
        self.nodes.iter().sum()
    }

    /// Returns the duration in virtual time: the nodes of the busiest process.
    pub fn virtual_time(&self) -> u64 {
        self.nodes.iter().copied().max().unwrap_or_default()
    }

    /// Returns the mean share of that time in which each process was busy (docs/method.md §7, `Fpm`).
    pub fn busy_share(&self, processes: usize) -> f64 {
        self.all_nodes() as f64 / (self.virtual_time().max(1) as f64 * processes.max(1) as f64)
    }
}

/// Asks every council about every position, each time as in a new game, as far as `state` does not know the answer: part
/// `c · positions + p` is council `c`'s about position `p`. `false` if `stop` was set before the end.
pub fn ask(
    councils: &[AskedCouncil],
    positions: &[TestPosition],
    state: &mut ExperimentState<CouncilAnswer>,
    workers: NonZeroUsize,
    stop: &AtomicBool,
    progress: impl FnMut(usize, usize),
) -> Result<bool, Failure> {
    let rosters = councils.iter().map(|asked| Roster::from_settings(&asked.settings)).collect::<Result<Vec<_>, _>>()?;
    state.complete(
        councils.len() * positions.len(),
        workers,
        stop,
        progress,
        || (),
        |(), part| {
            let (council, position) = (part / positions.len(), part % positions.len());
            one(&councils[council], &rosters[council], &positions[position])
        },
    )
}

fn one(asked: &AskedCouncil, roster: &Roster, position: &TestPosition) -> Result<CouncilAnswer, Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build();
    let runtime = runtime.map_err(|error| Failure::failed(format_args!("no runtime for a council: {error}")))?;
    // As many cores as it asks for, whatever the machine has: its processes are the operating system's affair.
    let pool = Pool::new(asked.settings.cores.max(1));
    let mut council = Council::new(&pool, roster, &asked.settings, Variant::Standard);
    let in_step = asked.limits.nodes.is_some();
    let question =
        Question { limits: asked.limits, in_step, ..Question::new("lab".into(), Arc::clone(&position.line)) };
    let decision = runtime.block_on(council.decide(question, &CancellationToken::new(), &mut |_| {}));
    let nothing = || Failure::failed(format_args!("{} decided nothing in {}", asked.name, position.line.fen()));
    decision
        .filter(|decision| !decision.votes.is_empty())
        .map(|decision| CouncilAnswer {
            best: decision.best,
            unanimous: decision.unanimous(),
            nodes: decision.processes.iter().map(|process| process.nodes).collect(),
        })
        .ok_or_else(nothing)
}
