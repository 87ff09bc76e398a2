//! The election: the newest proposal of every elector, what each weighs, and which move leads.

use rand::{RngExt, SeedableRng, rngs::StdRng};

use super::criterion::Criterion;
use crate::{
    chess::{Proposal, UciMove, Vote},
    pool::ElectorSpec,
};

/// The newest proposals of the electors, in the order of the roster.
pub(super) struct Election {
    newest: Vec<Option<Proposal>>,
    criterion: Box<dyn Criterion>,
    ties: StdRng,
}

impl Election {
    /// An election among so many electors. `seed` decides ties, so that a run can be repeated.
    pub(super) fn new(electors: usize, criterion: Box<dyn Criterion>, seed: u64) -> Self {
        Self { newest: vec![None; electors], criterion, ties: StdRng::seed_from_u64(seed) }
    }

    /// Takes an elector's proposal in place of its last one.
    pub(super) fn propose(&mut self, elector: usize, proposal: Proposal) {
        if let Some(place) = self.newest.get_mut(elector) {
            *place = Some(proposal);
        }
    }

    /// How many electors have proposed.
    pub(super) fn proposals(&self) -> usize {
        self.newest.iter().flatten().count()
    }

    /// The votes as they stand.
    pub(super) fn votes(&self, electors: &[ElectorSpec]) -> Vec<Vote> {
        electors
            .iter()
            .zip(&self.newest)
            .filter_map(|(elector, newest)| {
                let proposal = newest.clone()?;
                let weight = self.criterion.weigh(elector, &proposal);
                Some(Vote { proposal, weight })
            })
            .collect()
    }

    /// The moves proposed, each once, the first proposer's first.
    pub(super) fn candidates(&self) -> Vec<UciMove> {
        let mut moves = Vec::new();
        for proposal in self.newest.iter().flatten() {
            if !moves.contains(&proposal.best) {
                moves.push(proposal.best);
            }
        }
        moves
    }

    /// The move that weighs most, and the proposal of its heaviest proposer. Ties are drawn by lot.
    pub(super) fn leader(&mut self, electors: &[ElectorSpec]) -> Option<Proposal> {
        let votes = self.votes(electors);
        let weight_of = |best: UciMove| -> f64 {
            votes.iter().filter(|vote| vote.proposal.best == best).map(|vote| vote.weight).sum()
        };
        let candidates = self.candidates();
        let heaviest = candidates.iter().map(|best| weight_of(*best)).fold(f64::NEG_INFINITY, f64::max);
        let tied: Vec<UciMove> = candidates.into_iter().filter(|best| weight_of(*best) >= heaviest).collect();
        let elected = match tied.as_slice() {
            [] => return None,
            [only] => *only,
            several => several[self.ties.random_range(0..several.len())],
        };
        votes
            .into_iter()
            .filter(|vote| vote.proposal.best == elected)
            .max_by(|a, b| a.weight.total_cmp(&b.weight).then(a.proposal.depth.cmp(&b.proposal.depth)))
            .map(|vote| vote.proposal)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::{
        chess::{Bound, Phase, Score, SearchId},
        council::{CouncilSettings, CriterionName, Roster, criterion},
    };

    fn election(roster: &str, rule: CriterionName, proposals: &[(&str, u32, u32)]) -> (Election, Vec<ElectorSpec>) {
        let settings = CouncilSettings { roster: roster.to_owned(), ..CouncilSettings::default() };
        let electors = Roster::from_settings(&settings).expect("a roster").electors().to_vec();
        let mut election = Election::new(electors.len(), criterion::of_first_phase(rule, settings.weights), 1);
        for (index, (best, depth, root_moves_done)) in proposals.iter().enumerate() {
            let best = best.parse().expect("a move");
            let search = SearchId { game: "g".into(), ply: 0, serial: 0, phase: Phase::First };
            election.propose(
                index,
                Proposal {
                    search,
                    elector: electors[index].name.clone(),
                    machine: None,
                    best,
                    score: Score::Cp(0),
                    bound: Bound::Exact,
                    depth: *depth,
                    selective_depth: *depth,
                    root_moves_done: *root_moves_done,
                    nodes: 1,
                    time: Duration::ZERO,
                    pv: vec![best],
                },
            );
        }
        (election, electors)
    }

    #[test]
    fn by_weights_much_knowledge_outvotes_two_specialists() {
        // 94 against (30+21) + (30+15) = 96: two specialists of pawns and attack together know a little more.
        let moves = [("e2e4", 5, 0), ("d2d4", 5, 0), ("d2d4", 5, 0)];
        let (mut election, electors) = election("mbxkcpar mp ma", CriterionName::Weights, &moves);
        let votes: Vec<f64> = election.votes(&electors).iter().map(|vote| vote.weight).collect();
        assert_eq!(votes, [94.0, 51.0, 45.0]);
        assert_eq!(election.leader(&electors).map(|leader| leader.best.to_string()).as_deref(), Some("d2d4"));
    }

    #[test]
    fn by_depth_a_completed_iteration_outweighs_an_unfinished_one() {
        let moves = [("e2e4", 6, 0), ("d2d4", 5, 40)];
        let (mut election, electors) = election("mp ma", CriterionName::Depth, &moves);
        assert_eq!(election.leader(&electors).map(|leader| leader.best.to_string()).as_deref(), Some("e2e4"));
    }

    #[test]
    fn a_tie_falls_the_same_way_with_the_same_seed() {
        let moves = [("e2e4", 5, 0), ("d2d4", 5, 0)];
        let draw = || {
            let (mut election, electors) = election("mp ma", CriterionName::Depth, &moves);
            election.leader(&electors).map(|leader| leader.best)
        };
        assert_eq!(draw(), draw());
    }
}
