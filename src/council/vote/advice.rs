//! The resources of the first phase's searchers: nodes, time, and the turns of advisers in virtual
//! time.

use std::time::Duration;

use super::{
    first_phase::FirstPhaseSetup,
    question::{at_speed, share_of},
    searcher::CouncilSearcher,
};
use crate::CouncilGame;
use domain::Limits;

/// The shortest turn of a thread on a core, even at the lowest priority.
const SHORTEST_TURN: Duration = Duration::from_millis(4);

impl<L: CouncilGame> FirstPhaseSetup<L> {
    /// Returns true if this phase is long enough for advisers: one turn on a core for each must not
    /// exceed their part of the move. Always true in virtual time and without a known length.
    pub(super) fn has_time_for_advice(&self, time: Option<Duration>, searchers: &[CouncilSearcher<L>]) -> bool {
        let Some(time) = time else { return true };
        let threads = |searcher: &CouncilSearcher<L>| searcher.role.spec.threads.max(1);
        let electing = searchers.iter().filter(|searcher| searcher.role.adviser.is_none());
        let cores = electing.map(threads).sum::<usize>() as f64;
        let advised = time.mul_f64(self.advised_nodes() * cores / self.share.max(0.01));
        advised.as_secs_f64() >= SHORTEST_TURN.as_secs_f64() * advisers(searchers) as f64
    }

    fn advised_nodes(&self) -> f64 {
        self.advice * self.advised_share
    }

    /// Returns the limits of one searcher for this move. The nodes are proportional to the elector's
    /// speed, relative to complete knowledge.
    pub(super) fn limits(&self, number: usize, limits: &Limits, searchers: &[CouncilSearcher<L>]) -> Limits {
        let searcher = &searchers[number];
        let limits = match searcher.role.adviser {
            Some(_) => self.limits_of_adviser(searcher, limits, searchers),
            None if self.anchor == Some(number) => *limits,
            None => {
                let nodes = share_of(limits, self.share * (1.0 - self.advised_nodes())).nodes;
                let nodes = nodes.map(|nodes| nodes.saturating_sub(searcher.on_the_way).max(1));
                Limits { nodes, ..share_of(limits, self.share) }
            }
        };
        at_speed(&limits, searcher.role.spec.speed)
    }

    /// Returns the limits of an adviser. Limited nodes are divided: the electors have fewer nodes, and
    /// the advisers have the difference. Provers have as many nodes as other advisers, over the whole
    /// move: the last proposal is the one to refute.
    fn limits_of_adviser(
        &self,
        adviser: &CouncilSearcher<L>,
        limits: &Limits,
        searchers: &[CouncilSearcher<L>],
    ) -> Limits {
        let advisers = advisers(searchers);
        let others = searchers.len() - advisers;
        let nodes = self.advised_nodes() * others as f64 / advisers.max(1) as f64;
        let time = if L::proves(&adviser.role.spec) { self.share } else { self.advised_share };
        Limits { nodes: share_of(limits, nodes).nodes, ..share_of(limits, time) }
    }
}

/// Returns, in virtual time, the number of rounds for one turn of each searcher. Advisers have this
/// part of the cores together in this share of the move; provers have as many turns, over the whole
/// move.
pub(super) fn turns<L: CouncilGame>(advice: f64, share: f64, searchers: &[CouncilSearcher<L>]) -> Vec<u64> {
    let advisers = advisers(searchers);
    let turns_of_all = (searchers.len() - advisers) as f64 * advice / (1.0 - advice);
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    let rounds = |share: f64| (advisers as f64 / (turns_of_all * share).max(0.001)).round().max(1.0) as u64;
    let every = |searcher: &CouncilSearcher<L>| match searcher.role.adviser {
        Some(_) if L::proves(&searcher.role.spec) => rounds(share),
        Some(_) => rounds(1.0),
        None => 1,
    };
    searchers.iter().map(every).collect()
}

fn advisers<L: CouncilGame>(searchers: &[CouncilSearcher<L>]) -> usize {
    searchers.iter().filter(|searcher| searcher.role.adviser.is_some()).count()
}
