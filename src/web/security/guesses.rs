//! The limit of guesses at the operator's secret.
//!
//! A wrong secret is answered at once and counted for its address. An address with too many wrong
//! secrets cannot log in until the minute is over. Open sessions are not affected.

use std::{
    collections::HashMap,
    net::IpAddr,
    time::{Duration, Instant},
};

use crate::{connections::subscriber, listen::Visitor};

/// Wrong secrets from one address in a minute. A secret of eight random letters withstands them for centuries.
const MOST_WRONG: u32 = 600;
const SPAN: Duration = Duration::from_secs(60);

/// The maximum number of addresses counted apart; all others share one count.
const MOST_ADDRESSES: usize = 10_000;

#[derive(Default)]
pub(super) struct Guesses {
    began: Option<Instant>,
    wrong: HashMap<Option<IpAddr>, u32>,
}

impl Guesses {
    pub(super) fn may_guess(&mut self, visitor: Visitor, now: Instant) -> bool {
        *self.count_of(visitor, now) < MOST_WRONG
    }

    pub(super) fn was_wrong(&mut self, visitor: Visitor, now: Instant) {
        *self.count_of(visitor, now) += 1;
    }

    fn count_of(&mut self, visitor: Visitor, now: Instant) -> &mut u32 {
        if self.began.is_none_or(|began| now.saturating_duration_since(began) >= SPAN) {
            *self = Self { began: Some(now), wrong: HashMap::new() };
        }
        let from = visitor.address().map(subscriber);
        let counted_apart = self.wrong.contains_key(&from) || self.wrong.len() < MOST_ADDRESSES;
        self.wrong.entry(from.filter(|_| counted_apart)).or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn visitor(address: [u8; 4]) -> Visitor {
        Visitor::Remote(IpAddr::from(address))
    }

    #[test]
    fn guesses_are_limited_per_address() {
        let (mut guesses, begun) = (Guesses::default(), Instant::now());
        let [one, other] = [[192, 0, 2, 1], [192, 0, 2, 2]].map(visitor);
        for _ in 0..MOST_WRONG {
            assert!(guesses.may_guess(one, begun));
            guesses.was_wrong(one, begun);
        }
        assert!(!guesses.may_guess(one, begun + SPAN / 2) && guesses.may_guess(other, begun));
        assert!(guesses.may_guess(one, begun + SPAN));
    }

    #[test]
    fn guess_memory_is_bounded() {
        let (mut guesses, begun) = (Guesses::default(), Instant::now());
        for number in 0..20_000_u32 {
            guesses.was_wrong(visitor(number.to_be_bytes()), begun);
        }
        assert!(guesses.wrong.len() <= MOST_ADDRESSES + 1);
    }
}
