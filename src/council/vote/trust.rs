//! The weight of other machines' votes. Pure functions of the proposals and of the home cores'
//! findings.
//!
//! Invariant: the home electors alone would elect the same move, or verification finds the elected
//! move at most [`TOLERANCE`] centipawns worse. The claims of another machine decide among such
//! moves alone. Its vote counts
//!
//! - if verification has compared its move with the choice of the home electors, and found it
//!   within the tolerance; after the shortest search, the home electors' own score of their choice
//!   may stand for that search's;
//! - with its own score, within the tolerance of the verified value: the score of the home
//!   electors' choice, less the difference of the two moves if its move is the worse one;
//! - at most one ply deeper than the deepest comparable home vote;
//! - with its move alone: the rest of its variation may be invented.

use std::ops::Deref;

use super::ballots::{Ballot, Ballots};
use crate::CouncilGame;
use domain::{Bound, Proposal, Score};

/// The largest drop of a move below the choice of the home electors, centipawns, by verification.
pub(super) const TOLERANCE: i32 = 50;
/// The most plies by which a vote of another machine is deeper than comparable home votes.
const DEEPER: u32 = 1;
/// The highest score below the mates, centipawns.
const HIGHEST: i32 = 29_000;

pub(super) struct CountedBallots<'a, L: CouncilGame> {
    cast: &'a Ballots<L>,
    /// The ballots to count instead of `cast`, if other machines have voted.
    verified: Option<Box<Ballots<L>>>,
    /// The choice of the home electors, if other machines have voted, too.
    pub home: Option<L::Move>,
    /// The choice of all votes together, even if it may not be played.
    pub challenger: Option<L::Move>,
}

impl<L: CouncilGame> Deref for CountedBallots<'_, L> {
    type Target = Ballots<L>;

    fn deref(&self) -> &Self::Target {
        self.verified.as_deref().unwrap_or(self.cast)
    }
}

impl<'a, L: CouncilGame> CountedBallots<'a, L> {
    /// Returns the ballots to count: all of them without votes of other machines. `leader` elects a proposal.
    pub(super) fn of(ballots: &'a Ballots<L>, leader: impl Fn(&Ballots<L>) -> Option<Proposal<L::Move>>) -> Self {
        if !ballots.has_remote() {
            return Self { cast: ballots, verified: None, home: None, challenger: None };
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
        Self { cast: ballots, verified: Some(Box::new(counted)), home, challenger }
    }
}

pub(super) fn may_be_played<L: CouncilGame>(moved: L::Move, home: Option<L::Move>, ballots: &Ballots<L>) -> bool {
    let within = || difference(ballots, moved, home).map(|difference| difference >= -TOLERANCE);
    Some(moved) == home || within().unwrap_or(false)
}

/// Returns the value of a move less that of the home electors' choice, centipawns, by verification.
fn difference<L: CouncilGame>(ballots: &Ballots<L>, moved: L::Move, home: Option<L::Move>) -> Option<i32> {
    let chosen = ballots.iter().filter(is_home).map(|ballot| ballot.proposal).filter(|vote| Some(vote.best) == home);
    let score = chosen.max_by_key(|vote| vote.depth).map(|vote| vote.score);
    ballots.verification()?.difference(moved, home, score)
}

fn is_home<L: CouncilGame>(ballot: &Ballot<L>) -> bool {
    ballot.proposal.machine.is_none()
}

/// Returns the vote of another machine in its counted form; `None` if it does not count.
fn verified<L: CouncilGame>(
    ballot: &Ballot<L>,
    ballots: &Ballots<L>,
    home: Option<&Proposal<L::Move>>,
) -> Option<Proposal<L::Move>> {
    let (best, verification) = (ballot.proposal.best, ballots.verification()?);
    let agrees = home.is_some_and(|home| home.best == best);
    let difference = if agrees { 0 } else { difference(ballots, best, home.map(|home| home.best))? };
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

/// Returns the score of a claim, within the tolerance of the value here. A claimed mate counts as that value.
fn near(claim: Score, here: i32) -> Score {
    let score = match claim {
        Score::Cp(claimed) => claimed.clamp(here.saturating_sub(TOLERANCE), here.saturating_add(TOLERANCE)),
        Score::Mate(_) => here,
    };
    Score::Cp(score.clamp(-HIGHEST, HIGHEST))
}

/// Returns the depth of the deepest home vote of equal evaluation, or of any home vote without one.
fn deepest_like<L: CouncilGame>(ballot: &Ballot<L>, ballots: &Ballots<L>) -> u32 {
    let home = || ballots.iter().filter(is_home);
    let alike = home().filter(|other| other.elector.kind == ballot.elector.kind);
    let deepest = alike.map(|other| other.proposal.depth).max();
    deepest.or_else(|| home().map(|other| other.proposal.depth).max()).unwrap_or_default()
}

#[cfg(test)]
mod tests;
