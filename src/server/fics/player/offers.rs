//! Challenges and offers, as far as [`Player`] hears of them.

use std::time::Instant;

use super::{
    Answer, Player, SENTENCE_PATIENCE, Table,
    challenges::{Standing, challenge},
    requests::Want,
};
use crate::fics::message::{MatchTerms, Message, Offer, Proposal};
use chess::{ActionError, ChallengeId, DeclineReason, Done, ServerEvent};

/// Computers' names are remembered until there are so many.
const MOST_COMPUTERS: usize = 1000;

impl Player {
    /// The messages about challenges and offers, and all that need no reaction.
    pub(super) fn offer_message(&mut self, message: Message, now: Instant) {
        match message {
            Message::Challenge(terms) if !self.tells_offers => {
                self.told();
                self.telling = Some((terms, now + SENTENCE_PATIENCE));
            }
            Message::IsComputer(name) => {
                if self.computers.len() >= MOST_COMPUTERS {
                    self.computers.clear();
                }
                self.computers.insert(name.to_lowercase());
            }
            Message::ChallengeEnds => self.told(),
            Message::Issued(terms) => self.issued(terms, None),
            Message::Offer(offer) => self.offered(offer),
            Message::OffersGone(indices) => self.offers_gone(&indices, now),
            Message::Asked { by, what } => self.asked(&by, what),
            Message::AskSent(what) => self.note_offer(true, what, true),
            Message::Withdrawn { by, what: Proposal::Match } => self.challenges.withdrawn_by(&by, now),
            Message::Withdrawn { by, what } if self.is_opponent(&by) => self.note_offer(false, what, false),
            Message::Declined { by, what: Proposal::Match } => self.declined(&by),
            Message::Declined { by, what } if self.is_opponent(&by) => self.note_offer(true, what, false),
            Message::Refused(words) => self.refused(&words),
            Message::NoSuchOffer => {
                let none = ActionError::NotFound("the server knows no such offer".to_owned());
                self.requests.settle(|want| matches!(want, Want::Game(_)), Err(none));
            }
            _ => {}
        }
    }

    /// A challenge in a sentence is whole.
    pub(super) fn told(&mut self) {
        if let Some((terms, _)) = self.telling.take() {
            self.challenged(terms, None);
        }
    }

    /// Somebody challenges us.
    fn challenged(&mut self, terms: Box<MatchTerms>, index: Option<u32>) {
        let opponent = terms.other_than(self.our_name()).clone();
        if let Some(standing) = self.challenges.with(&opponent.name, true)
            && standing.index.is_none()
            && *standing.terms == *terms
        {
            // Told in a sentence before, and now once more with its number.
            standing.index = index;
            return;
        }
        // A match with somebody with whom a game waits resumes it, on every server.
        let resumes = terms.adjourned || self.adjournments.waits_with(&opponent.name);
        if resumes && self.settings.resume && self.open {
            let handle = index.map_or_else(|| opponent.name.clone(), |index| index.to_string());
            self.send(&format!("accept {handle}"));
            return;
        }
        let waiting = self.adjournments.name_of_game_with(&opponent.name).filter(|_| resumes);
        let id = match waiting {
            Some(game) => ChallengeId::new(game.as_str()),
            None => ChallengeId::new(self.new_name(&opponent.name)),
        };
        if let Some(replaced) = self.challenges.add(id.clone(), &opponent, true, index, terms) {
            self.tell(ServerEvent::ChallengeCancelled(replaced));
        }
        self.tell_challenge(&id);
    }

    /// Our challenge stands. Those that resume games are between the server and us.
    fn issued(&mut self, terms: Box<MatchTerms>, index: Option<u32>) {
        let opponent = terms.other_than(self.our_name()).clone();
        if let Some(standing) = self.challenges.with(&opponent.name, false) {
            standing.index = index.or(standing.index);
            return;
        }
        let asked_for = |want: &Want| matches!(want, Want::Issued(name) if name.eq_ignore_ascii_case(&opponent.name));
        if !self.requests.is_open(asked_for) {
            return;
        }
        let id = ChallengeId::new(self.new_name(&opponent.name));
        self.challenges.add(id.clone(), &opponent, false, index, terms);
        self.requests.settle(asked_for, Ok(Answer::Done(Done::Challenged(id.clone()))));
        self.tell_challenge(&id);
    }

    fn tell_challenge(&mut self, id: &ChallengeId) {
        if let Some(standing) = self.challenges.get(id) {
            let is_computer = self.computers.contains(&standing.opponent);
            let told = challenge(standing, self.our_name(), is_computer);
            self.tell(ServerEvent::Challenge(told));
        }
    }

    fn offered(&mut self, offer: Offer) {
        self.tells_offers = true;
        self.told();
        match (offer.what, offer.terms) {
            (Proposal::Match, Some(terms)) if offer.ours => self.issued(terms, Some(offer.index)),
            (Proposal::Match, Some(terms)) => self.challenged(terms, Some(offer.index)),
            (Proposal::Match, None) => {}
            (what @ (Proposal::Draw | Proposal::Takeback(_)), _) => {
                if let Table::Running(game) = &mut self.table {
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
        if let Table::Running(game) = &mut self.table {
            gone.extend(game.offers.iter().copied().filter(|(index, ..)| indices.contains(index)));
            game.offers.retain(|(index, ..)| !indices.contains(index));
        }
        for (_, ours, what) in gone {
            self.note_offer(ours, what, false);
        }
    }

    /// The opponent asks for something, in a sentence.
    fn asked(&mut self, by: &str, what: Proposal) {
        if !self.is_opponent(by) {
            return;
        }
        match what {
            Proposal::Draw | Proposal::Takeback(_) => self.note_offer(false, what, true),
            // It will come with its number, too.
            _ if self.tells_offers => {}
            _ => self.answer_request(what, None, by),
        }
    }

    /// Answers a request that needs no thought about the position.
    fn answer_request(&mut self, what: Proposal, index: Option<u32>, by: &str) {
        // Whoever asks for the same agrees: where offers have no numbers, no server misunderstands that.
        let same = match what {
            Proposal::Abort if self.settings.accept_abort => Some("abort"),
            Proposal::Adjourn if self.settings.accept_adjourn => Some("adjourn"),
            _ => None,
        };
        let command = match (same, index) {
            (Some(_), Some(index)) => format!("accept {index}"),
            (Some(same), None) => same.to_owned(),
            (None, Some(index)) => format!("decline {index}"),
            (None, None) => format!("decline {by}"),
        };
        self.send(&command);
    }

    fn note_offer(&mut self, ours: bool, what: Proposal, stands: bool) {
        if let Table::Running(game) = &mut self.table {
            let our_color = game.info.our_color;
            if game.note_offer(if ours { our_color } else { our_color.other() }, what, stands) {
                self.tell_state();
            }
        }
    }

    /// Somebody declines a challenge of ours.
    fn declined(&mut self, by: &str) {
        self.adjournments.declined(by);
        let Some(Standing { id, .. }) = self.challenges.with(by, false).cloned() else { return };
        self.challenges.remove(&id);
        let by = Some(chess::Player::named(by));
        self.tell(ServerEvent::ChallengeDeclined { id, by, reason: DeclineReason::Generic });
    }

    /// A sentence that refuses something; it does not say what, so it is for whoever waits.
    fn refused(&mut self, words: &str) {
        let refused = || Err(ActionError::Refused(words.to_owned()));
        let settled = self.requests.settle(|want| matches!(want, Want::Issued(_) | Want::Game(_)), refused());
        if settled.is_none() && self.requests.settle(|want| *want == Want::Presence, Ok(Answer::There(false))).is_none()
        {
            tracing::debug!(words, "the server refuses something");
        }
    }

    fn is_opponent(&self, name: &str) -> bool {
        matches!(&self.table, Table::Running(game) if game.info.opponent().name.eq_ignore_ascii_case(name))
    }

    pub(super) fn our_name(&self) -> &str {
        self.us.as_ref().map_or("", |us| us.name.as_str())
    }
}
