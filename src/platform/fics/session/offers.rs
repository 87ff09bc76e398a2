//! Challenges and offers, as far as [`FicsSession`] hears of them.

use std::time::Instant;

use super::{
    CurrentGame, FicsSession, RequestAnswer, SENTENCE_PATIENCE,
    challenges::{PendingChallenge, challenge, is_kind_of_offer},
    requests::Want,
};
use crate::fics::message::{FicsMessage, FicsOffer, MatchTerms, OfferKind};
use domain::{ActionError, ChallengeId, DeclineReason, Done, ServerEvent};

const MOST_COMPUTERS: usize = 1000;

impl FicsSession {
    /// The messages about challenges and offers, and all that need no reaction.
    pub(super) fn offer_message(&mut self, message: FicsMessage, now: Instant) {
        match message {
            FicsMessage::Challenge(terms) if !self.tells_offers => {
                self.told(now);
                self.telling = Some((terms, now + SENTENCE_PATIENCE));
            }
            FicsMessage::IsComputer(name) => {
                if self.computers.len() >= MOST_COMPUTERS {
                    self.computers.clear();
                }
                self.computers.insert(name.to_lowercase());
            }
            FicsMessage::ChallengeEnds => self.told(now),
            FicsMessage::Issued(terms) => self.issued(terms, None, now),
            FicsMessage::Offer(offer) => self.offered(offer, now),
            FicsMessage::OffersGone(indices) => self.offers_gone(&indices, now),
            FicsMessage::Asked { by, what } => self.asked(&by, what),
            FicsMessage::AskSent(OfferKind::Abort) => {
                // Our move, or the opponent's, was on its way: it depends on the opponent now.
                let asks = ActionError::Refused("both sides have moved".to_owned());
                self.requests.settle(|want| *want == Want::End, Err(asks));
            }
            FicsMessage::AskSent(what) => self.note_offer(true, what, true),
            FicsMessage::Withdrawn { by, what: OfferKind::Match } => self.challenges.withdrawn_by(&by, now),
            FicsMessage::Withdrawn { by, what } if self.is_opponent(&by) => self.note_offer(false, what, false),
            FicsMessage::Declined { by, what: OfferKind::Match } => self.declined(&by),
            FicsMessage::Declined { by, what } if self.is_opponent(&by) => self.note_offer(true, what, false),
            FicsMessage::Refused { words, about } => self.refused(&words, about.as_deref(), now),
            FicsMessage::NoSuchOffer(of) => {
                let none = ActionError::NotFound("the server knows no such offer".to_owned());
                let challenges = &self.challenges;
                let is_meant = |want: &Want| matches!(want, Want::Game(id) if challenges.may_mean(id, of.as_deref()));
                self.requests.settle(is_meant, Err(none));
            }
            _ => {}
        }
    }

    pub(super) fn told(&mut self, now: Instant) {
        if let Some((terms, _)) = self.telling.take() {
            self.challenged(terms, None, now);
        }
    }

    fn challenged(&mut self, terms: Box<MatchTerms>, index: Option<u32>, now: Instant) {
        let opponent = terms.other_than(self.our_name()).clone();
        if let Some(pending) = self.challenges.with(&opponent.name, true)
            && pending.index.is_none()
            && *pending.terms == *terms
        {
            // Told in a sentence before, and now once more with its number.
            pending.index = index;
            return;
        }
        if terms.adjourned {
            self.adjournments.is_marked_by_them();
        }
        let wanted = self.open || self.adjournments.runs_with(&opponent.name);
        // A resumption by terms that the policy has seen; any other one it sees now, as a challenge.
        let is_resumption = terms.adjourned
            && self.settings.resume
            && wanted
            && self.adjournments.may_resume_by(&opponent.name, &terms);
        let waiting = self.adjournments.name_of_game_with(&opponent.name).filter(|_| terms.adjourned);
        let id = match waiting {
            Some(game) => ChallengeId::new(game.as_str()),
            None => ChallengeId::new(self.new_name(&opponent.name)),
        };
        let mut new = PendingChallenge::new(id.clone(), &opponent.name, true, index, terms);
        new.is_accepted = is_resumption;
        if let Some(replaced) = self.challenges.add(new) {
            self.tell(ServerEvent::ChallengeCancelled(replaced));
        }
        if !is_resumption {
            return self.tell_challenge(&id);
        }
        if let Some(handle) = self.challenges.handle_of(&id) {
            self.adjournments.is_asked_by_them(&opponent.name, now);
            self.send(&format!("accept {handle}"));
        }
    }

    /// A game waits of which only the server's list has told.
    pub(super) fn stored_is_offered(&mut self, id: ChallengeId, terms: MatchTerms) {
        let opponent = terms.first.clone();
        if self.challenges.with(&opponent.name, true).is_some() {
            return;
        }
        let new = PendingChallenge::new(id.clone(), &opponent.name, true, None, Box::new(terms));
        self.challenges.add(PendingChallenge { is_stored: true, ..new });
        self.tell_challenge(&id);
    }

    /// Our challenge stands. Those that resume games are between the server and us.
    fn issued(&mut self, terms: Box<MatchTerms>, index: Option<u32>, now: Instant) {
        let opponent = terms.other_than(self.our_name()).clone();
        if let Some(pending) = self.challenges.with(&opponent.name, false) {
            pending.index = index.or(pending.index);
            return;
        }
        let asked_for = |want: &Want| matches!(want, Want::Issued(name) if name.eq_ignore_ascii_case(&opponent.name));
        if terms.adjourned {
            return self.adjournments.marked(&opponent.name, true);
        }
        if !self.requests.is_open(asked_for) {
            // It was to resume a game, or the server took the name for the beginning of another one.
            return self.withdraw_new_game(&opponent.name, index, now);
        }
        let id = ChallengeId::new(self.new_name(&opponent.name));
        self.challenges.add(PendingChallenge::new(id.clone(), &opponent.name, false, index, terms));
        self.requests.settle(asked_for, Ok(RequestAnswer::Done(Done::Challenged(id.clone()))));
        self.tell_challenge(&id);
    }

    fn tell_challenge(&mut self, id: &ChallengeId) {
        if let Some(pending) = self.challenges.get(id) {
            let is_computer = self.computers.contains(&pending.opponent);
            let told = challenge(pending, self.our_name(), is_computer);
            self.tell(ServerEvent::Challenge(told));
        }
    }

    fn offered(&mut self, offer: FicsOffer, now: Instant) {
        self.tells_offers = true;
        self.told(now);
        match (offer.what, offer.terms) {
            (OfferKind::Match, Some(terms)) if offer.ours => self.issued(terms, Some(offer.index), now),
            (OfferKind::Match, Some(terms)) => self.challenged(terms, Some(offer.index), now),
            (OfferKind::Match, None) => {}
            (what @ (OfferKind::Draw | OfferKind::Takeback(_)), _) => {
                if let CurrentGame::Running(game) = &mut self.current {
                    game.offers.push((offer.index, offer.ours, what));
                }
                self.note_offer(offer.ours, what, true);
            }
            (what, _) if !offer.ours => self.answer_request(what, Some(offer.index), &offer.with),
            _ => {}
        }
    }

    fn offers_gone(&mut self, indices: &[u32], now: Instant) {
        self.challenges.indices_gone(indices, now);
        let mut gone = Vec::new();
        if let CurrentGame::Running(game) = &mut self.current {
            gone.extend(game.offers.iter().copied().filter(|(index, ..)| indices.contains(index)));
            game.offers.retain(|(index, ..)| !indices.contains(index));
        }
        for (_, ours, what) in gone {
            self.note_offer(ours, what, false);
        }
    }

    /// The opponent asks for something, in a sentence.
    fn asked(&mut self, by: &str, what: OfferKind) {
        if !self.is_opponent(by) {
            return;
        }
        match what {
            OfferKind::Draw | OfferKind::Takeback(_) => self.note_offer(false, what, true),
            // It will come with its number, too.
            _ if self.tells_offers => {}
            _ => self.answer_request(what, None, by),
        }
    }

    /// Answers a request that needs no thought about the position.
    fn answer_request(&mut self, what: OfferKind, index: Option<u32>, by: &str) {
        // An equal request is an agreement: if offers have no numbers, all servers understand that.
        let same = match what {
            OfferKind::Abort if self.settings.accept_abort => Some("abort"),
            OfferKind::Adjourn if self.settings.accept_adjourn => Some("adjourn"),
            _ => None,
        };
        let command = match (same, index) {
            (Some(_), Some(index)) => format!("accept {index}"),
            (Some(same), None) => same.to_owned(),
            (None, Some(index)) => format!("decline {index}"),
            // Moving declines what its name would not reach.
            (None, None) if is_kind_of_offer(by) => return,
            (None, None) => format!("decline {by}"),
        };
        self.send(&command);
    }

    pub(super) fn note_offer(&mut self, ours: bool, what: OfferKind, stands: bool) {
        if let CurrentGame::Running(game) = &mut self.current {
            let our_color = game.info.our_color;
            if game.note_offer(if ours { our_color } else { our_color.other() }, what, stands) {
                self.tell_game(false);
            }
        }
    }

    fn declined(&mut self, by: &str) {
        self.adjournments.declined(by);
        let Some(PendingChallenge { id, .. }) = self.challenges.with(by, false).cloned() else { return };
        self.challenges.remove(&id);
        let by = Some(domain::Player::named(by));
        self.tell(ServerEvent::ChallengeDeclined { id, by, reason: DeclineReason::Generic });
    }

    /// A refusal settles the request that waits, or the one about the named player.
    fn refused(&mut self, words: &str, about: Option<&str>, now: Instant) {
        let about = about.filter(|name| !name.eq_ignore_ascii_case(self.our_name()));
        if words.contains("adjourned game with ")
            && let Some(bare) = about.and_then(|name| self.adjournments.wants_bare_match(name, now))
        {
            return self.send(&bare);
        }
        let challenges = &self.challenges;
        let is_meant = |want: &Want| match want {
            Want::Issued(name) => about.is_none_or(|about| about.eq_ignore_ascii_case(name)),
            Want::Game(id) => challenges.may_mean(id, about),
            Want::OurMove { .. } | Want::Presence | Want::End => false,
        };
        let settled = self.requests.settle(is_meant, Err(ActionError::Refused(words.to_owned())));
        if settled.is_none() && self.requests.settle_presence(false).is_none() {
            tracing::debug!(words, "the server refuses something");
            // Seeks name no player.
            if about.is_none() {
                self.seek_refused(words, now);
            }
        }
    }

    fn is_opponent(&self, name: &str) -> bool {
        matches!(&self.current, CurrentGame::Running(game) if game.info.opponent().name.eq_ignore_ascii_case(name))
    }

    pub(super) fn our_name(&self) -> &str {
        self.us.as_ref().map_or("", |us| us.name.as_str())
    }
}
