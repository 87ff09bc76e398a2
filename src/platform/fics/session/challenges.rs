//! Challenges that stand, ours and others'.
//!
//! Servers of the newer kind number them; the older ones know them by the challenger's name alone. Each gets a name of
//! ours that is never used again, and the game that comes of it bears the same name.

use std::time::{Duration, Instant};

use crate::fics::message::MatchTerms;
use domain::{Challenge, ChallengeId, ChallengeObstacle};

/// Time in which the board may come of a game that a vanished challenge has become.
const GRACE: Duration = Duration::from_secs(1);

/// Words that mean a kind of offer where an offer is accepted by a word.
const KINDS_OF_OFFERS: [&str; 11] =
    ["match", "draw", "pause", "unpause", "abort", "takeback", "adjourn", "switch", "simul", "partner", "all"];

pub(super) fn is_kind_of_offer(name: &str) -> bool {
    KINDS_OF_OFFERS.iter().any(|kind| kind.eq_ignore_ascii_case(name))
}

/// The word by which a server understands this player where it could mean an offer as well: servers take the beginning of a name, and of
/// a kind of offer they do not.
pub(super) fn word_for(name: &str) -> &str {
    if is_kind_of_offer(name) { &name[..name.len() - 1] } else { name }
}

#[derive(Clone, Debug)]
pub(super) struct PendingChallenge {
    pub id: ChallengeId,
    /// Lower case.
    pub opponent: String,
    pub incoming: bool,
    pub index: Option<u32>,
    pub terms: Box<MatchTerms>,
    pub is_accepted: bool,
    /// True if it is a game that waits, of which only the server's list has told: the opponent has asked for nothing.
    pub is_stored: bool,
    /// Time at which the server took it away.
    pub gone: Option<Instant>,
}

impl PendingChallenge {
    pub(super) fn new(
        id: ChallengeId,
        opponent: &str,
        incoming: bool,
        index: Option<u32>,
        terms: Box<MatchTerms>,
    ) -> Self {
        let opponent = opponent.to_lowercase();
        Self { id, opponent, incoming, index, terms, is_accepted: false, is_stored: false, gone: None }
    }

    fn server_name(&self) -> String {
        self.index.map_or_else(|| self.opponent.clone(), |index| index.to_string())
    }
}

#[derive(Debug, Default)]
pub(super) struct Challenges {
    pending: Vec<PendingChallenge>,
}

impl Challenges {
    pub(super) fn with(&mut self, opponent: &str, incoming: bool) -> Option<&mut PendingChallenge> {
        let same =
            |one: &&mut PendingChallenge| one.incoming == incoming && one.opponent.eq_ignore_ascii_case(opponent);
        self.pending.iter_mut().find(same)
    }

    pub(super) fn get(&self, id: &ChallengeId) -> Option<&PendingChallenge> {
        self.pending.iter().find(|one| one.id == *id)
    }

    /// True if the server may mean this one, where it gives a player's name or an offer's number. One that we no longer know may be
    /// any.
    pub(super) fn may_mean(&self, id: &ChallengeId, named: Option<&str>) -> bool {
        let (Some(named), Some(one)) = (named, self.get(id)) else { return true };
        one.opponent.eq_ignore_ascii_case(named) || one.server_name() == named
    }

    /// Notes a challenge. The server lets one player make us one at a time, so an older one that it replaces is returned.
    pub(super) fn add(&mut self, new: PendingChallenge) -> Option<ChallengeId> {
        let replaced = self.with(&new.opponent, new.incoming).map(|one| one.id.clone());
        self.pending.retain(|one| Some(&one.id) != replaced.as_ref());
        self.pending.push(new);
        replaced
    }

    pub(super) fn get_mut(&mut self, id: &ChallengeId) -> Option<&mut PendingChallenge> {
        self.pending.iter_mut().find(|one| one.id == *id)
    }

    /// Returns the server's handle of a challenge in `accept`, `decline` and `withdraw`: its
    /// number, or the challenger's name. If the player is called like a kind of offer, a part of
    /// the name serves, unless it could mean another challenger.
    pub(super) fn handle_of(&self, id: &ChallengeId) -> Option<String> {
        let one = self.get(id)?;
        let name = &one.opponent;
        if one.index.is_some() || !is_kind_of_offer(name) {
            return Some(one.server_name());
        }
        let part = word_for(name);
        let is_clear = self.pending.iter().all(|other| other.id == *id || !other.opponent.starts_with(part));
        is_clear.then(|| part.to_owned())
    }

    pub(super) fn remove(&mut self, id: &ChallengeId) -> Option<PendingChallenge> {
        let position = self.pending.iter().position(|one| one.id == *id)?;
        Some(self.pending.remove(position))
    }

    pub(super) fn indices_gone(&mut self, indices: &[u32], now: Instant) {
        for one in &mut self.pending {
            if one.index.is_some_and(|index| indices.contains(&index)) {
                one.gone.get_or_insert(now);
            }
        }
    }

    /// The server took away what was between `opponent` and us.
    pub(super) fn withdrawn_by(&mut self, opponent: &str, now: Instant) {
        for one in self.pending.iter_mut().filter(|one| one.opponent.eq_ignore_ascii_case(opponent)) {
            one.gone.get_or_insert(now);
        }
    }

    /// Removes and returns challenges that became no game.
    pub(super) fn expired(&mut self, now: Instant) -> Vec<PendingChallenge> {
        let is_expired =
            |one: &mut PendingChallenge| one.gone.is_some_and(|gone| now.saturating_duration_since(gone) >= GRACE);
        self.pending.extract_if(.., is_expired).collect()
    }

    pub(super) fn wake_at(&self) -> Option<Instant> {
        self.pending.iter().filter_map(|one| one.gone).min().map(|gone| gone + GRACE)
    }

    /// A game with `opponent` begins: gives the challenge it came of, and the names of those that are void now.
    pub(super) fn game_begins(&mut self, opponent: &str) -> (Option<PendingChallenge>, Vec<ChallengeId>) {
        let mut all = std::mem::take(&mut self.pending);
        let source = all.iter().position(|one| !one.is_stored && one.opponent.eq_ignore_ascii_case(opponent));
        let source = source.map(|position| all.remove(position));
        (source, all.into_iter().map(|one| one.id).collect())
    }

    pub(super) fn clear(&mut self) -> Vec<ChallengeId> {
        self.pending.drain(..).map(|one| one.id).collect()
    }
}

pub(super) fn challenge(pending: &PendingChallenge, us: &str, is_computer: bool) -> Challenge {
    let terms = &pending.terms;
    let we_are_first = terms.first.name.eq_ignore_ascii_case(us);
    let opponent = terms.other_than(us);
    let our_seat = terms.other_than(&opponent.name);
    let obstacle = match terms.variant() {
        None => Some(ChallengeObstacle::UnknownVariant(terms.loaded.as_ref().unwrap_or(&terms.kind).clone())),
        Some(_) => terms.second_time.is_some().then_some(ChallengeObstacle::TimeOdds),
    };
    Challenge {
        incoming: pending.incoming,
        our_color: terms.first_color.map(|color| if we_are_first { color } else { color.other() }),
        our_rating: our_seat.rating.value,
        obstacle,
        ..Challenge::to_us(pending.id.clone(), opponent.player(is_computer), terms.game_terms())
    }
}
