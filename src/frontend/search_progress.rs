use std::time::{Duration, Instant};

use domain::{Decision, Phase, Proposal, Score, UciMove};

pub(super) struct SearchProgress {
    began: Instant,
    /// The newest of each elector and phase.
    proposals: Vec<Proposal>,
    leader: Option<UciMove>,
    /// The state shown last, so that nothing is shown twice.
    shown: Option<(UciMove, u32, Score)>,
}

/// The leading proposal, with the nodes and the time of the whole search.
pub(super) struct LeadingProposal<'a> {
    pub proposal: &'a Proposal,
    /// Nodes of all electors.
    pub nodes: u64,
    pub time: Duration,
}

impl LeadingProposal<'_> {
    /// Nodes a second of all electors together.
    pub(super) fn speed(&self) -> u64 {
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, clippy::cast_precision_loss)]
        let speed = (self.nodes as f64 / self.time.as_secs_f64().max(1e-6)) as u64;
        speed
    }
}

impl SearchProgress {
    pub(super) fn new() -> Self {
        Self { began: Instant::now(), proposals: Vec::new(), leader: None, shown: None }
    }

    pub(super) fn propose(&mut self, proposal: Proposal) {
        let same =
            |known: &&mut Proposal| known.elector == proposal.elector && known.search.phase == proposal.search.phase;
        match self.proposals.iter_mut().find(same) {
            Some(known) => *known = proposal,
            None => self.proposals.push(proposal),
        }
    }

    /// Notes the leading move. Returns its proposal if it has not been shown yet.
    pub(super) fn lead(&mut self, leader: UciMove) -> Option<LeadingProposal<'_>> {
        self.leader = Some(leader);
        let proposal = &self.standing()?.proposal;
        let news = (proposal.best, proposal.depth, proposal.score);
        if self.shown.replace(news) == Some(news) {
            return None;
        }
        self.standing()
    }

    /// Returns the part of a decision that has not been shown: its search may have been faster than
    /// the reports.
    pub(super) fn decide(&mut self, decision: &Decision) -> Option<LeadingProposal<'_>> {
        let second = decision.second_phase.iter().map(|second| &second.proposal);
        for proposal in decision.votes.iter().map(|vote| &vote.proposal).chain(second) {
            self.propose(proposal.clone());
        }
        self.lead(decision.best)
    }

    pub(super) fn is_silent(&self) -> bool {
        self.shown.is_none()
    }

    /// The proposal for the leading move: that of the second phase, or the deepest.
    fn standing(&self) -> Option<LeadingProposal<'_>> {
        self.foremost(|proposal| Some(proposal.best) == self.leader)
    }

    /// The leading proposal, or the deepest where the leader's elector has just changed its mind.
    pub(super) fn standing_or_deepest(&self) -> Option<LeadingProposal<'_>> {
        self.standing().or_else(|| self.foremost(|_| true))
    }

    fn foremost(&self, counts: impl Fn(&Proposal) -> bool) -> Option<LeadingProposal<'_>> {
        let rank = |proposal: &&Proposal| (proposal.search.phase == Phase::Second, proposal.depth);
        let proposal = self.proposals.iter().filter(|proposal| counts(proposal)).max_by_key(rank)?;
        let nodes = self.proposals.iter().map(|proposal| proposal.nodes).sum();
        Some(LeadingProposal { proposal, nodes, time: self.began.elapsed() })
    }
}
