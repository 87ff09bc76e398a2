//! The stability of the leading move, from its proposals.

use domain::UciMove;

/// The moves that have led while one position was searched.
#[derive(Clone, Copy, Debug, Default)]
pub struct LeaderRecord {
    leader: Option<UciMove>,
    /// The depth from which on it leads, and the deepest reported (plies).
    leads_from: u32,
    deepest: u32,
}

impl LeaderRecord {
    /// Notes which move leads now, and how deep it was searched (plies). `true` if nothing was searched so deep before: an
    /// iteration has just ended, and the next begins.
    pub fn note(&mut self, leader: UciMove, depth: u32) -> bool {
        let deeper = depth > self.deepest;
        self.deepest = self.deepest.max(depth);
        if self.leader != Some(leader) {
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
        let heard = [("e2e4", 1), ("e2e4", 2), ("d2d4", 3), ("d2d4", 3), ("d2d4", 5), ("e2e4", 4), ("e2e4", 6)];
        let led_for =
            heard.map(|(leader, depth)| (record.note(leader.parse().expect("a move"), depth), record.led_for()));
        assert_eq!(led_for, [(true, 0), (true, 1), (true, 0), (false, 0), (true, 2), (false, 0), (true, 1)]);
    }
}
