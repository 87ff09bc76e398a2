//! Elections repeated with another rule on the recorded proposals. No search is needed: the cost of each
//! proposed move is known.

use std::thread;

use council::{
    Ballots, CouncilSettings, Rule,
    electors::{ElectorKind, ElectorSpec, EngineProgram},
};
use domain::{Bound, CriterionName, ElectorName, Knowledge, Phase, Proposal, Score, SearchId, UciMove};

use crate::study::{VoteStudy, VoterStudy};

#[derive(Debug)]
pub struct ReplayRule {
    pub name: String,
    pub settings: CouncilSettings,
    rule: Rule,
}

impl ReplayRule {
    pub fn new(name: String, settings: CouncilSettings) -> Self {
        Self { name, rule: Rule::of(&settings), settings }
    }

    pub fn criterion(name: CriterionName) -> Self {
        let settings = CouncilSettings { criterion: name, ..CouncilSettings::default() };
        Self::new(name.word().to_owned(), settings)
    }

    /// Returns the elected move and its cost, per cent of a point. Re-search cannot be repeated
    /// without a search: it counts where it was the rule, and elects as it did then; elsewhere
    /// `None`.
    pub fn elect(&self, vote: &VoteStudy, ballots: &Ballots) -> Option<(UciMove, f64)> {
        let first = vote.voters.first()?.best;
        let elected = match self.settings.criterion {
            CriterionName::ReSearch => (vote.criterion == CriterionName::ReSearch.word()).then_some(vote.played)?,
            // If all proposals agree, so does every rule.
            _ if vote.voters.iter().all(|voter| voter.best == first) => first,
            // Ties are decided as in the council, by position and settings alone.
            _ => self.rule.elected_move(ballots, self.settings.seed_at(vote.ply))?,
        };
        Some((elected, vote.loss_of(elected)?))
    }
}

/// Returns the choice of each rule in each vote, and its cost. Uses all cores.
pub(super) fn replay_all(rules: &[&ReplayRule], votes: &[VoteStudy]) -> Vec<Vec<Option<(UciMove, f64)>>> {
    let threads = thread::available_parallelism().map_or(1, usize::from);
    let of_votes = |votes: &[VoteStudy]| -> Vec<Vec<Option<(UciMove, f64)>>> {
        let of_vote = |vote: &VoteStudy| {
            let ballots = ballots(vote);
            rules.iter().map(|rule| rule.elect(vote, &ballots)).collect()
        };
        votes.iter().map(of_vote).collect()
    };
    let share = votes.len().div_ceil(threads).max(1);
    thread::scope(|scope| {
        let parts: Vec<_> = votes.chunks(share).map(|part| scope.spawn(move || of_votes(part))).collect();
        // After a failed thread the later parts are left out too, so that results stay beside their votes.
        parts.into_iter().map_while(|part| part.join().ok()).flatten().collect()
    })
}

pub fn ballots(vote: &VoteStudy) -> Ballots {
    let electors: Vec<ElectorSpec> = vote.voters.iter().map(elector).collect();
    let proposals: Vec<Option<Proposal>> = vote.voters.iter().map(|voter| Some(proposal(vote, voter))).collect();
    Ballots::recorded(&vote.line, &electors, &proposals)
}

fn elector(voter: &VoterStudy) -> ElectorSpec {
    let name = ElectorName::new(&voter.proposal.elector);
    let known: Option<Knowledge> = voter.proposal.knowledge.as_deref().and_then(|letters| letters.parse().ok());
    match known {
        Some(knowledge) => ElectorSpec { name, ..ElectorSpec::own(knowledge, 1) },
        None => ElectorSpec::new(name, ElectorKind::Engine(EngineProgram::default()), 1),
    }
}

fn proposal(vote: &VoteStudy, voter: &VoterStudy) -> Proposal {
    let recorded = &voter.proposal;
    let search = SearchId { game: "report".into(), ply: vote.ply, serial: 0, phase: Phase::First };
    let score = recorded.score.unwrap_or(Score::Cp(0));
    Proposal {
        bound: match recorded.bound.as_str() {
            "lower" => Bound::Lower,
            "upper" => Bound::Upper,
            _ => Bound::Exact,
        },
        depth: recorded.depth,
        selective_depth: recorded.selective_depth,
        root_moves_done: recorded.root_moves_done,
        nodes: recorded.nodes,
        pv: recorded.pv.split_ascii_whitespace().map_while(|text| text.parse().ok()).collect(),
        ..Proposal::of_one_ply(search, recorded.elector.as_str().into(), voter.best, score)
    }
}
