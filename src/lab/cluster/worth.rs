//! Measures the strength of several machines: complete copies on several machines play against
//! those of one, in virtual time, with a cluster's table messages and delays.

use std::{num::NonZeroUsize, sync::atomic::AtomicBool, time::Duration};

use crate::{
    game::{Adjudication, MatchRules},
    matches::{Contender, MatchError, MatchPlan, MatchStanding, Summary, run},
    openings::OpeningBook,
    player::{Pace, PlayerSpecError},
    state::ExperimentState,
};
use cluster::{ClusterSettings, SyncBudget};

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
    pub games: usize,
    /// The openings; each is played with both colours.
    pub book: OpeningBook,
    pub workers: NonZeroUsize,
}

impl WorthPlan {
    /// Returns the council on `machines` machines, with a cluster's default table messages.
    fn council(&self, machines: usize) -> String {
        let (nodes, budget) = (self.nodes as f64, SyncBudget::of(&ClusterSettings::default()));
        let in_nodes = |time: Duration| ((nodes * time.as_secs_f64() / self.move_time.as_secs_f64()) as u64).max(1);
        let delay = in_nodes(self.way);
        // One machine has no receiver for messages; its copies take the same turns as several
        // machines.
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

#[derive(Debug, thiserror::Error)]
pub enum WorthError {
    /// No council has this number of copies.
    #[error(transparent)]
    Player(#[from] PlayerSpecError),
    /// The match cannot begin or go on.
    #[error(transparent)]
    Match(#[from] MatchError),
}

/// Plays `machines` machines against one. Both spend the same nodes a core; `progress` gets the
/// standing.
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
    fn cluster_uses_its_own_table_budget() {
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
            "one machine sends no messages"
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
