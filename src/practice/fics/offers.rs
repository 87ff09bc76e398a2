//! Offers between a player and others, by the numbers under which the player knows them.

use crate::game::Stop;
use domain::{ChallengeId, GameId};

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum PendingKind {
    Match(ChallengeId),
    Resume(GameId),
    Draw,
    /// Taking back a number of plies.
    Takeback(usize),
    Stop(Stop),
}

impl PendingKind {
    pub(crate) const fn word(&self) -> &'static str {
        match self {
            Self::Match(_) | Self::Resume(_) => "match",
            Self::Draw => "draw",
            Self::Takeback(_) => "takeback",
            Self::Stop(Stop::Abort) => "abort",
            Self::Stop(Stop::Adjourn) => "adjourn",
        }
    }

    /// Returns true if it concerns the game on the board.
    pub(crate) const fn is_of_game(&self) -> bool {
        !matches!(self, Self::Match(_) | Self::Resume(_))
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PendingOffer {
    pub index: u32,
    pub ours: bool,
    pub with: String,
    pub what: PendingKind,
    /// The terms in the server's words; empty if the kind says all.
    pub terms: String,
}

impl PendingOffer {
    pub(crate) fn proposal(&self) -> String {
        match &self.what {
            PendingKind::Match(_) | PendingKind::Resume(_) => format!("a challenge: {}.", self.terms),
            PendingKind::Draw => "a draw.".to_owned(),
            PendingKind::Takeback(plies) => format!("to takeback the last {plies} half moves."),
            PendingKind::Stop(Stop::Abort) => "to abort the game.".to_owned(),
            PendingKind::Stop(Stop::Adjourn) => "an adjournment.".to_owned(),
        }
    }
}

#[derive(Debug, Default)]
pub(crate) struct PendingOffers {
    pub standing: Vec<PendingOffer>,
    serial: u32,
}

impl PendingOffers {
    /// Adds an offer; returns its number, or `None` if it exists already.
    pub(crate) fn add(&mut self, ours: bool, with: &str, what: PendingKind, terms: &str) -> Option<u32> {
        if self.standing.iter().any(|offer| offer.ours == ours && offer.what == what) {
            return None;
        }
        self.serial += 1;
        let (with, terms) = (with.to_owned(), terms.to_owned());
        self.standing.push(PendingOffer { index: self.serial, ours, with, what, terms });
        Some(self.serial)
    }

    pub(crate) fn remove(&mut self, gone: impl Fn(&PendingOffer) -> bool) -> Vec<PendingOffer> {
        self.standing.extract_if(.., |offer| gone(offer)).collect()
    }

    /// Returns the offers that a player means, own or received: by number, name, kind (`draw`, `t
    /// draw`), `all`, or nothing for the only one.
    pub(crate) fn meant(&self, ours: bool, handle: &str) -> Vec<PendingOffer> {
        let handle = handle.trim().to_lowercase();
        let handle = handle.strip_prefix("t ").unwrap_or(&handle).trim();
        let all = self.standing.iter().filter(|offer| offer.ours == ours).cloned();
        if let Ok(index) = handle.parse::<u32>() {
            return all.filter(|offer| offer.index == index).collect();
        }
        let fits = |offer: &PendingOffer| {
            matches!(handle, "" | "all") || offer.with.eq_ignore_ascii_case(handle) || offer.what.word() == handle
        };
        let meant: Vec<_> = all.clone().filter(fits).collect();
        if !meant.is_empty() {
            return meant;
        }
        // The beginning of a player's name is enough.
        all.filter(|offer| offer.with.to_lowercase().starts_with(handle)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offers_are_meant_in_many_ways() {
        let mut offers = PendingOffers::default();
        assert_eq!(offers.add(false, "Ann", PendingKind::Draw, ""), Some(1));
        assert_eq!(offers.add(false, "Ann", PendingKind::Draw, ""), None);
        offers.add(false, "Bob", PendingKind::Match(ChallengeId::new("x")), "Bob Ann unrated blitz 5 0");
        offers.add(true, "Ann", PendingKind::Stop(Stop::Abort), "");
        let meant = |handle| offers.meant(false, handle).iter().map(|offer| offer.index).collect::<Vec<_>>();
        for (handle, expected) in [
            ("1", vec![1]),
            ("ann", vec![1]),
            ("t draw", vec![1]),
            ("match", vec![2]),
            ("", vec![1, 2]),
            ("3", vec![]),
            ("all", vec![1, 2]),
        ] {
            assert_eq!(meant(handle), expected, "{handle:?}");
        }
        assert_eq!(offers.remove(|offer| offer.what.is_of_game()).len(), 2);
    }
}
