//! The opponent's offers: a draw, or a takeback. Each is answered once, and again if a later whole
//! state shows it still open: then the answer was lost. Nothing is answered again without that
//! check, because a server takes a second answer to a closed offer for an offer by the bot.

use std::time::{Duration, Instant};

use super::{GameEffect, GameMachine, Timer};
use domain::{Action, GameState};
use util::Backoff;

/// The shortest and the longest pause before an answer without effect is checked.
const PAUSE: (Duration, Duration) = (Duration::from_secs(2), Duration::from_secs(30));

#[derive(Debug)]
pub(super) struct OfferAnswers {
    draw: bool,
    /// True if the requested takeback was granted; `None` without a request.
    takeback: Option<bool>,
    /// True if an answer has had no effect in time: the next whole state decides about its repetition.
    is_doubtful: bool,
    pauses: Backoff,
}

impl OfferAnswers {
    pub(super) const fn new() -> Self {
        Self { draw: false, takeback: None, is_doubtful: false, pauses: Backoff::new(PAUSE.0, PAUSE.1) }
    }
}

impl GameMachine {
    /// Answers the opponent's new offers, and the unanswered ones of a whole state (`full`).
    pub(super) fn answer_offers(&mut self, earlier: &GameState, full: bool) {
        let (us, them) = (self.info.our_color, !self.info.our_color);
        let again = full && std::mem::take(&mut self.offers.is_doubtful);
        let mut answers = Vec::new();

        if !self.state.takeback_offers.by(them) {
            self.offers.takeback = None;
        } else if !earlier.takeback_offers.by(them) {
            let granted = self.adjudicator.grants_takeback();
            self.offers.takeback = Some(granted);
            answers.push(GameEffect::Do(Action::Takeback(self.info.id.clone(), granted)));
            answers.extend(granted.then_some(GameEffect::RecordTakeback));
        } else if again && let Some(granted) = self.offers.takeback {
            answers.push(GameEffect::Do(Action::Takeback(self.info.id.clone(), granted)));
        }

        // On the bot's own turn the offer is answered with the move, when the evaluation is known.
        let is_offered = self.state.draw_offers.by(them) && self.line.turn() != us;
        let is_new = is_offered && !earlier.draw_offers.by(them);
        if !is_offered {
            self.offers.draw = false;
        } else if is_new {
            self.offers.draw = self.adjudicator.accepts_draw(&self.info, &self.line, self.state.clocks);
        }
        if self.offers.draw && (is_new || again) {
            answers.push(GameEffect::Do(Action::Draw(self.info.id.clone(), true)));
        }

        if !answers.is_empty() {
            self.effects.append(&mut answers);
            self.effects.push(GameEffect::Wake(Timer::Offer, self.offers.pauses.next_delay()));
        }
    }

    /// Handles an answer without effect: if the offer is still open, the whole state decides.
    pub(super) fn offer_is_due(&mut self, now: Instant) {
        if (self.offers.draw || self.offers.takeback.is_some()) && !self.is_given_up() {
            self.offers.is_doubtful = true;
            self.ask_whole_state(now);
        }
    }
}
