//! docs/method.md §4, *relative*: what a proposal gains over a static value of the current position.

use super::{Ballot, Ballots, Criterion};
use crate::CouncilGame;

/// The score of the proposed move less the static value of the position, both by the proposer's own evaluation.
pub(super) struct Relative1;

impl<L: CouncilGame> Criterion<L> for Relative1 {
    fn weigh(&self, ballot: &Ballot<L>, ballots: &Ballots<L>) -> f64 {
        ballot.score() - f64::from(ballots.static_value(ballot.place))
    }
}

/// A simple majority, ties broken by [`Relative1`].
pub(super) struct Relative1Democratic;

/// The weight of each vote: more than any gain short of mate.
const A_VOTE: f64 = 10_000.0;

impl<L: CouncilGame> Criterion<L> for Relative1Democratic {
    fn weigh(&self, ballot: &Ballot<L>, ballots: &Ballots<L>) -> f64 {
        A_VOTE + Relative1.weigh(ballot, ballots)
    }
}

/// The gain at the end of the proposer's principal variation, summed over the static values of all electors.
pub(super) struct Relative2;

impl<L: CouncilGame> Criterion<L> for Relative2 {
    fn weigh(&self, ballot: &Ballot<L>, ballots: &Ballots<L>) -> f64 {
        f64::from(ballots.gain_at_the_end(ballot))
    }
}
