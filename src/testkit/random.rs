//! Random numbers for tests: the same ones on every run.

/// Numbers by xorshift (G. Marsaglia, *Xorshift RNGs*, 2003), from a seed other than zero.
#[derive(Clone, Debug)]
pub struct Random(pub u64);

impl Random {
    /// A number from 0 to `bound` - 1; 0 if there is none.
    pub fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % bound.max(1)
    }
}
