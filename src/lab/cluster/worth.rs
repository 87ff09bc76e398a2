//! What further machines are worth: complete copies on several machines against those of one alone, in virtual time, with what a
//! cluster tells of its tables and the time that a message takes.

use std::{num::NonZeroUsize, sync::atomic::AtomicBool, time::Duration};

use crate::{
    game::{Adjudication, MatchRules},
    matches::{Contender, MatchError, MatchPlan, MatchStanding, Summary, run},
    openings::OpeningBook,
    player::{Pace, PlayerSpecError},
    state::ExperimentState,
};
use cluster::{ClusterSettings, ExchangeBudget};

/// Moves of each side after which a game is drawn.
const LONGEST: usize = 200;
/// The transposition table of each copy, MiB.
const HASH: usize = 2;

/// The machines, the move and the match by which they are measured.
#[derive(Clone, Debug)]
pub struct WorthPlan {
    /// Cores of each machine, each with a copy.
    pub cores: usize,
    pub move_time: Duration,
    /// One way from machine to machine.
    pub way: Duration,
    /// Nodes of a core in the time of the move: less than it has in truth, so that games are short.
    pub nodes: u64,
    /// Games of the match.
    pub games: usize,
    /// Where they begin, each opening with both colours.
    pub book: OpeningBook,
    /// Games that are played at once.
    pub workers: NonZeroUsize,
}

impl WorthPlan {
    /// The council on so many machines. What passes between them is a cluster's as it comes.
    fn council(&self, machines: usize) -> String {
        let (nodes, budget) = (self.nodes as f64, ExchangeBudget::of(&ClusterSettings::default()));
        let in_nodes = |time: Duration| ((nodes * time.as_secs_f64() / self.move_time.as_secs_f64()) as u64).max(1);
        let delay = in_nodes(self.way);
        // One machine has nobody to tell; the turns of its copies are as long as with several.
        let interval = budget.map_or(1, |budget| in_nodes(budget.interval()));
        let entries = budget.filter(|_| machines > 1).map_or(0, |budget| budget.entries);
        format!(
            "council:complete-{},criterion=score-margin,hash={HASH},machines.count={machines},machines.entries={entries},\
             machines.interval={interval},machines.delay={delay},machines.values=first,name={machines}",
            self.cores * machines,
        )
    }

    fn contender(&self, machines: usize) -> Result<Contender, PlayerSpecError> {
        Ok(Contender { spec: self.council(machines).parse()?, pace: Pace::Nodes(self.nodes) })
    }
}

/// Why it cannot be measured.
#[derive(Debug, thiserror::Error)]
pub enum WorthError {
    /// A council of so many copies cannot be.
    #[error(transparent)]
    Player(#[from] PlayerSpecError),
    /// The match cannot begin or go on.
    #[error(transparent)]
    Match(#[from] MatchError),
}

/// Plays so many machines against one of them. Both spend the same nodes a core; `progress` sees how it stands.
///
/// # Errors
/// [`WorthError`] if the match cannot begin or go on.
pub fn worth(
    machines: usize,
    plan: &WorthPlan,
    stop: &AtomicBool,
    progress: impl FnMut(&MatchStanding),
) -> Result<Summary, WorthError> {
    let matched = MatchPlan {
        players: [plan.contender(machines)?, plan.contender(1)?],
        book: plan.book.clone(),
        pairs: plan.games.div_ceil(2),
        sprt: None,
        rules: MatchRules {
            adjudication: Adjudication::default(),
            longest: LONGEST,
            truncation: None,
            margin: Duration::ZERO,
        },
        workers: plan.workers,
        cores: plan.cores * machines,
    };
    Ok(run(&matched, &mut ExperimentState::in_memory(), stop, progress)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cluster_is_measured_with_its_own_budget() {
        let plan = WorthPlan {
            cores: 4,
            move_time: Duration::from_secs(1),
            way: Duration::from_millis(10),
            nodes: 1500,
            games: 2,
            book: OpeningBook::built_in(1),
            workers: NonZeroUsize::MIN,
        };
        let council = plan.council(2);
        assert!(council.starts_with("council:complete-8,"), "{council}");
        assert!(council.contains("entries=32,machines.interval=75,machines.delay=15,"), "{council}");
        assert!(
            plan.council(1).contains("machines.count=1,machines.entries=0,machines.interval=75"),
            "one tells nobody"
        );
    }

    #[test]
    fn two_machines_play_one() {
        let plan = WorthPlan {
            cores: 1,
            move_time: Duration::from_secs(1),
            way: Duration::from_millis(10),
            nodes: 100,
            games: 2,
            book: OpeningBook::built_in(1),
            workers: NonZeroUsize::MIN,
        };
        let summary = worth(2, &plan, &AtomicBool::new(false), |_| ()).expect("a match");
        assert_eq!((summary.games, summary.complete), (2, true), "{summary}");
    }
}
