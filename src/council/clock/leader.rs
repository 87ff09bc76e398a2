//! The stability of the leading move, from its proposals.

/// The moves that have led while one position was searched. `M` is how the game writes moves.
#[derive(Clone, Copy, Debug)]
pub struct LeaderRecord<M> {
    leader: Option<M>,
    /// The depth from which on it leads, and the deepest reported (plies).
    leads_from: u32,
    deepest: u32,
}

impl<M> Default for LeaderRecord<M> {
    fn default() -> Self {
        Self { leader: None, leads_from: 0, deepest: 0 }
    }
}

impl<M: PartialEq> LeaderRecord<M> {
    /// Notes which move leads now, and how deep it was searched (plies). `true` if nothing was searched so deep before: an
    /// iteration has just ended, and the next begins.
    pub fn note(&mut self, leader: M, depth: u32) -> bool {
        let deeper = depth > self.deepest;
        self.deepest = self.deepest.max(depth);
        if self.leader.as_ref() != Some(&leader) {
            self.leader = Some(leader);
            self.leads_from = self.deepest;
        }
        deeper
    }

    /// Returns the plies of depth for which the leading move has led without a break.
    pub fn led_for(&self) -> u32 {
        self.deepest - self.leads_from
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn leading_longer_is_firmer() {
        let mut record = LeaderRecord::default();
        let heard = [("e4", 1), ("e4", 2), ("d4", 3), ("d4", 3), ("d4", 5), ("e4", 4), ("e4", 6)];
        let led_for = heard.map(|(leader, depth)| (record.note(leader, depth), record.led_for()));
        assert_eq!(led_for, [(true, 0), (true, 1), (true, 0), (false, 0), (true, 2), (false, 0), (true, 1)]);
    }
}
