//! docs/method.md §4, *depth*: `k·d + nm`.

use super::{Ballot, Ballots, Criterion};
use crate::CouncilGame;

/// `d` is the completed depth, `nm` the root moves fully searched in the unfinished iteration.
pub(super) struct Depth;

/// A number above the legal moves of any usual position, so that a completed iteration outweighs an
/// unfinished one.
const K: u32 = 100;

impl<L: CouncilGame> Criterion<L> for Depth {
    fn weigh(&self, ballot: &Ballot<L>, _: &Ballots<L>) -> f64 {
        f64::from(K * ballot.proposal.depth + ballot.proposal.root_moves_done)
    }
}
