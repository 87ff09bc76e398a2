//! Small random numbers that are the same for the same seed on every machine.

use crate::board::spread;

#[derive(Clone, Debug)]
pub(crate) struct Random(u64);

impl Random {
    pub(crate) const fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// A number from 0 to `below - 1`. The bias is below one in 2^56 for the small bounds it is used with.
    pub(crate) fn below(&mut self, below: u64) -> u64 {
        self.0 = self.0.wrapping_add(1);
        spread(spread(self.0)) % below.max(1)
    }
}
