//! The proposals of an election, and the facts that a criterion may use.

use std::sync::{Arc, OnceLock};

use crate::{
    CouncilGame,
    electors::{ElectorSpec, Verification},
};
use domain::{Bound, Line, Proposal};

/// The newest proposal of every elector, and their common position. Static values are computed at the first use.
pub struct Ballots<L: CouncilGame = Line> {
    electors: Arc<[ElectorSpec<L::Kind>]>,
    cast: Vec<Option<Proposal<L::Move>>>,
    /// The prover's proposal of a proved win.
    proof: Option<Proposal<L::Move>>,
    /// The home cores' findings about the moves; `None` if no other machine votes, or all is on
    /// record.
    verification: Option<Arc<Verification<L::Move>>>,
    line: Arc<L>,
    position: OnceLock<Option<L::Position>>,
    /// Static value of the position and gain at the end of the proposed line, by elector, for the player to move.
    values: Vec<(OnceLock<i32>, OnceLock<i32>)>,
}

pub(super) struct Ballot<'a, L: CouncilGame> {
    pub place: usize,
    pub elector: &'a ElectorSpec<L::Kind>,
    pub proposal: &'a Proposal<L::Move>,
}

impl<L: CouncilGame> Ballot<'_, L> {
    /// Returns the score in centipawns, for the player to move; mates lie beyond ±30000.
    pub(super) fn score(&self) -> f64 {
        f64::from(self.proposal.score.as_centipawns())
    }

    /// Returns true if the score is the value of the search and not only a bound.
    pub(super) fn is_exact(&self) -> bool {
        self.proposal.bound == Bound::Exact
    }
}

impl<L: CouncilGame> Ballots<L> {
    /// Creates ballots from recorded `proposals` of `electors`, in their order, for the end of
    /// `line`.
    pub fn recorded(line: &L, electors: &[ElectorSpec<L::Kind>], proposals: &[Option<Proposal<L::Move>>]) -> Self {
        let mut ballots = Self::new(electors.into(), Arc::new(line.clone()));
        for (elector, proposal) in proposals.iter().enumerate() {
            if let Some(proposal) = proposal {
                ballots.cast(elector, proposal.clone());
            }
        }
        ballots
    }

    pub(super) fn new(electors: Arc<[ElectorSpec<L::Kind>]>, line: Arc<L>) -> Self {
        Self {
            cast: electors.iter().map(|_| None).collect(),
            values: electors.iter().map(|_| Default::default()).collect(),
            proof: None,
            verification: None,
            electors,
            line,
            position: OnceLock::new(),
        }
    }

    /// Returns the ballots, with the votes of other machines as far as `verification` bears them
    /// out.
    pub(super) fn verified_by(self, verification: Option<Arc<Verification<L::Move>>>) -> Self {
        Self { verification, ..self }
    }

    pub(super) fn verification(&self) -> Option<&Arc<Verification<L::Move>>> {
        self.verification.as_ref()
    }

    /// Returns true if a vote of another machine needs verification.
    pub(super) fn has_remote(&self) -> bool {
        self.verification.is_some() && self.cast.iter().flatten().any(|proposal| proposal.machine.is_some())
    }

    /// Returns the ballots with each proposal replaced by the result of `change`.
    pub(super) fn with(&self, change: impl Fn(&Ballot<L>) -> Option<Proposal<L::Move>>) -> Self {
        let mut changed = Self::new(Arc::clone(&self.electors), Arc::clone(&self.line));
        for ballot in self.iter() {
            changed.cast[ballot.place] = change(&ballot).map(|proposal| self.judged(proposal));
        }
        changed.proof.clone_from(&self.proof);
        changed
    }

    pub(super) fn admit(&mut self, electors: Arc<[ElectorSpec<L::Kind>]>) {
        self.cast.resize_with(electors.len(), || None);
        self.values.resize_with(electors.len(), Default::default);
        self.electors = electors;
    }

    /// Replaces an elector's proposal. A bound does not replace an exact score: the running iteration will make it exact.
    pub(super) fn cast(&mut self, elector: usize, proposal: Proposal<L::Move>) {
        let proposal = self.judged(proposal);
        let Some(place) = self.cast.get_mut(elector) else { return };
        let known_exactly = place.as_ref().is_some_and(|known| known.bound == Bound::Exact);
        if proposal.bound == Bound::Exact || !known_exactly {
            *place = Some(proposal);
            self.values[elector].1 = OnceLock::new();
        }
    }

    /// Adds a proved win, and gives its score to all proposals of its move. Of several, the one with the highest score stays.
    pub(super) fn prove(&mut self, winning: Proposal<L::Move>) {
        if self.proof.as_ref().is_some_and(|known| known.score >= winning.score) {
            return;
        }
        for proposal in self.cast.iter_mut().flatten().filter(|proposal| proposal.best == winning.best) {
            (proposal.score, proposal.bound) = (winning.score, Bound::Exact);
        }
        self.proof = Some(winning);
    }

    /// Returns a proposal with the proved score of its move, if there is one.
    fn judged(&self, proposal: Proposal<L::Move>) -> Proposal<L::Move> {
        match self.proof() {
            Some(proof) if proof.best == proposal.best => {
                Proposal { score: proof.score, bound: Bound::Exact, ..proposal }
            }
            _ => proposal,
        }
    }

    pub(super) fn proof(&self) -> Option<&Proposal<L::Move>> {
        self.proof.as_ref()
    }

    pub(super) fn electors(&self) -> &[ElectorSpec<L::Kind>] {
        &self.electors
    }

    /// Iterates over the proposals, in the order of the roster.
    pub(super) fn iter(&self) -> impl Iterator<Item = Ballot<'_, L>> {
        let places = self.electors.iter().zip(&self.cast).enumerate();
        places.filter_map(|(place, (elector, cast))| Some(Ballot { place, elector, proposal: cast.as_ref()? }))
    }

    pub(super) fn of(&self, place: usize) -> Option<&Proposal<L::Move>> {
        self.cast.get(place)?.as_ref()
    }

    pub(super) fn len(&self) -> usize {
        self.cast.iter().flatten().count()
    }

    /// Returns the proposed moves, each once, the first proposer's first.
    pub(super) fn moves(&self) -> Vec<L::Move> {
        let mut moves = Vec::new();
        for ballot in self.iter() {
            if !moves.contains(&ballot.proposal.best) {
                moves.push(ballot.proposal.best);
            }
        }
        moves
    }

    pub(super) fn backers(&self, best: L::Move) -> usize {
        self.iter().filter(|ballot| ballot.proposal.best == best).count()
    }

    /// Returns `None` for variants without static values: the built-in engine does not know their rules.
    fn position(&self) -> Option<&L::Position> {
        self.position.get_or_init(|| self.line.evaluated_position()).as_ref()
    }

    /// Returns an elector's static value of the position, for the player to move; zero without one.
    pub(super) fn static_value(&self, place: usize) -> i32 {
        let (Some(position), Some(elector)) = (self.position(), self.electors.get(place)) else { return 0 };
        self.values.get(place).map_or(0, |(value, _)| *value.get_or_init(|| L::static_value(position, elector)))
    }

    /// Returns the sum over all electors of the difference between their static values of the end
    /// of the proposed line and of the position (docs/method.md §4, relative 2), for the player to
    /// move.
    pub(super) fn gain_at_the_end(&self, ballot: &Ballot<L>) -> i32 {
        *self.values[ballot.place].1.get_or_init(|| {
            let Some(position) = self.position() else { return 0 };
            let (end, same_player) = L::end_of(position, &ballot.proposal.pv);
            let sign = if same_player { 1 } else { -1 };
            let gain = |(place, elector)| sign * L::static_value(&end, elector) - self.static_value(place);
            self.electors.iter().enumerate().map(gain).sum()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        CouncilSettings, Rule,
        vote::tests::{electors, proposed},
    };
    use domain::{CriterionName, Score, UciMove, Variant};

    fn proposal(best: &str, score: Score, bound: Bound) -> Proposal {
        let best: UciMove = best.parse().expect("a move");
        Proposal { bound, ..proposed("e".into(), best, score, 5) }
    }

    fn ballots(said: [(&str, i32); 2]) -> Ballots {
        let said = said.map(|(best, score)| Some(proposal(best, Score::Cp(score), Bound::Lower)));
        Ballots::recorded(&Line::start(Variant::Standard), &electors("mp ma"), &said)
    }

    #[test]
    fn a_score_is_what_is_proved() {
        let mut vote = ballots([("e2e4", 250), ("g1f3", 17)]);
        vote.prove(proposal("e2e4", Score::Mate(3), Bound::Exact));
        let said = |vote: &Ballots, place| vote.of(place).map(|proposal| (proposal.score, proposal.bound));
        assert_eq!(said(&vote, 0), Some((Score::Mate(3), Bound::Exact)));
        assert_eq!(said(&vote, 1), Some((Score::Cp(17), Bound::Lower)));
        vote.cast(1, proposal("e2e4", Score::Cp(-90), Bound::Lower));
        assert_eq!(said(&vote, 1), Some((Score::Mate(3), Bound::Exact)));
    }

    #[test]
    fn nearest_proved_mate_is_played() {
        let mut vote = ballots([("e2e4", 100), ("d2d4", 90)]);
        for (best, score) in [("g1f3", Score::Cp(19_000)), ("c2c4", Score::Mate(7)), ("b1c3", Score::Mate(9))] {
            vote.prove(proposal(best, score, Bound::Exact));
        }
        let settings = CouncilSettings { criterion: CriterionName::Majority, ..CouncilSettings::default() };
        let elected = Rule::of(&settings).elect(&vote, 1).expect("something is proposed").elected;
        assert_eq!((elected.best.to_string(), elected.score), ("c2c4".to_owned(), Score::Mate(7)));
    }
}
