//! The weight of other machines' votes. Pure functions of the proposals and of the home cores'
//! findings.
//!
//! Invariant: the elected move is one that the home electors alone would elect, or one that
//! verification finds at most [`TOLERANCE`] centipawns worse. So what another machine claims
//! decides among such moves alone. Its vote counts
//!
//! - if verification has compared its move with the choice of the home electors, and found it
//!   within the tolerance;
//! - with its own score, as far as that is within the tolerance of the value that verification
//!   found: the score of the home electors' choice, less the difference of the two moves if it is
//!   the worse one;
//! - at most one ply deeper than the deepest comparable home vote;
//! - with its move alone: the rest of its variation may be invented.

use std::ops::Deref;

use super::ballots::{Ballot, Ballots};
use crate::CouncilGame;
use domain::{Bound, Proposal, Score};

/// The largest drop of a move below the choice of the home electors, centipawns, by verification.
pub(super) const TOLERANCE: i32 = 50;
/// Plies by which a vote of another machine may be deeper than the home votes like it.
const DEEPER: u32 = 1;
/// A plain score that is not taken for a mate, centipawns.
const HIGHEST: i32 = 29_000;

pub(super) struct CountedBallots<'a, L: CouncilGame> {
    ballots: Counted<'a, L>,
    /// The choice of the home electors, where others have voted, too.
    pub home: Option<L::Move>,
    /// The move that the others' votes would elect, whether it may be played or not.
    pub challenger: Option<L::Move>,
}

enum Counted<'a, L: CouncilGame> {
    AsCast(&'a Ballots<L>),
    Verified(Box<Ballots<L>>),
}

impl<L: CouncilGame> Deref for CountedBallots<'_, L> {
    type Target = Ballots<L>;

    fn deref(&self) -> &Self::Target {
        match &self.ballots {
            Counted::AsCast(ballots) => ballots,
            Counted::Verified(ballots) => ballots,
        }
    }
}

impl<'a, L: CouncilGame> CountedBallots<'a, L> {
    /// Returns the ballots that count: all of them without votes of other machines. `leader` gives the proposal that ballots
    /// would elect.
    pub(super) fn of(ballots: &'a Ballots<L>, leader: impl Fn(&Ballots<L>) -> Option<Proposal<L::Move>>) -> Self {
        if !ballots.has_remote() {
            return Self { ballots: Counted::AsCast(ballots), home: None, challenger: None };
        }
        let at_home = ballots.with(|ballot| is_home(ballot).then(|| ballot.proposal.clone()));
        let home = leader(&at_home);
        let verified = ballots.with(|ballot| match is_home(ballot) {
            true => Some(ballot.proposal.clone()),
            false => verified(ballot, ballots, home.as_ref()),
        });
        let home = home.map(|home| home.best);
        let challenger = leader(&verified).map(|elected| elected.best);
        let may_be_played = challenger.is_some_and(|challenger| may_be_played(challenger, home, ballots));
        let counted = if may_be_played { verified } else { at_home };
        Self { ballots: Counted::Verified(Box::new(counted)), home, challenger }
    }
}

/// Returns true if a move may replace the home electors' choice.
pub(super) fn may_be_played<L: CouncilGame>(moved: L::Move, home: Option<L::Move>, ballots: &Ballots<L>) -> bool {
    let within = || ballots.verification()?.difference(moved, home).map(|difference| difference >= -TOLERANCE);
    Some(moved) == home || within().unwrap_or(false)
}

fn is_home<L: CouncilGame>(ballot: &Ballot<L>) -> bool {
    ballot.proposal.machine.is_none()
}

/// The vote of another machine as it counts beside the choice of the home electors; `None` where it does not.
fn verified<L: CouncilGame>(
    ballot: &Ballot<L>,
    ballots: &Ballots<L>,
    home: Option<&Proposal<L::Move>>,
) -> Option<Proposal<L::Move>> {
    let (best, verification) = (ballot.proposal.best, ballots.verification()?);
    let agrees = home.is_some_and(|home| home.best == best);
    let difference = if agrees { 0 } else { verification.difference(best, home.map(|home| home.best))? };
    if difference < -TOLERANCE {
        return None;
    }
    let found = if agrees { None } else { verification.score(best) };
    let score = match (found, home.map(|home| home.score)) {
        (Some(mate @ Score::Mate(_)), _) => mate,
        // Verification is shorter than the home search: a better value there proves nothing.
        (_, Some(Score::Cp(ours))) => near(ballot.proposal.score, ours.saturating_add(difference.min(0))),
        (None, Some(ours)) => ours,
        (Some(found), _) => found,
        (None, None) => return None,
    };
    let depth = ballot.proposal.depth.min(deepest_like(ballot, ballots) + DEEPER);
    Some(Proposal {
        score,
        bound: Bound::Exact,
        depth,
        selective_depth: depth,
        root_moves_done: 0,
        pv: vec![best],
        ..ballot.proposal.clone()
    })
}

/// The score of a claim, within the tolerance of the value that it has here. A claimed mate says nothing.
fn near(claim: Score, here: i32) -> Score {
    let score = match claim {
        Score::Cp(claimed) => claimed.clamp(here.saturating_sub(TOLERANCE), here.saturating_add(TOLERANCE)),
        Score::Mate(_) => here,
    };
    Score::Cp(score.clamp(-HIGHEST, HIGHEST))
}

/// The depth of the deepest home vote of an elector that evaluates alike, or of any where there is none.
fn deepest_like<L: CouncilGame>(ballot: &Ballot<L>, ballots: &Ballots<L>) -> u32 {
    let home = || ballots.iter().filter(is_home);
    let alike = home().filter(|other| other.elector.kind == ballot.elector.kind);
    let deepest = alike.map(|other| other.proposal.depth).max();
    deepest.or_else(|| home().map(|other| other.proposal.depth).max()).unwrap_or_default()
}

#[cfg(test)]
mod tests;
