//! What the opponent asks for: a draw, or moves back. It is answered once, and again where a later whole state shows that the offer
//! still stands: the answer was lost then. Nothing is answered again without that look, for a server takes a second answer to an
//! offer that stands no longer for an offer of ours.

use std::time::{Duration, Instant};

use super::{GameEffect, GameMachine, Timer};
use chess::{Action, Backoff, GameState};

/// The shortest and the longest pause before an answer that has shown no effect is looked into.
const PAUSE: (Duration, Duration) = (Duration::from_secs(2), Duration::from_secs(30));

/// How we answered what the opponent asks for in the position on the board.
#[derive(Debug)]
pub(super) struct OfferAnswers {
    /// Whether the draw that is offered was accepted.
    draw: bool,
    /// Whether the takeback that is asked for was granted; `None` where there is nothing to answer.
    takeback: Option<bool>,
    /// An answer should have shown its effect by now: the next whole state tells whether it is given again.
    is_doubtful: bool,
    pauses: Backoff,
}

impl OfferAnswers {
    pub(super) const fn new() -> Self {
        Self { draw: false, takeback: None, is_doubtful: false, pauses: Backoff::new(PAUSE.0, PAUSE.1) }
    }
}

impl GameMachine {
    /// Answers what is new among the opponent's offers, and what the whole state (`full`) shows unanswered.
    pub(super) fn answer_offers(&mut self, earlier: &GameState, full: bool, effects: &mut Vec<GameEffect>) {
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

        // On our own turn the offer is answered with the move, when we know how we stand.
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
            effects.append(&mut answers);
            effects.push(GameEffect::Wake(Timer::Offer, self.offers.pauses.next_delay()));
        }
    }

    /// What we answered should have shown its effect by now. Where the offer still stands, the whole state is asked for, which decides.
    pub(super) fn offer_is_due(&mut self, now: Instant, effects: &mut Vec<GameEffect>) {
        if (self.offers.draw || self.offers.takeback.is_some()) && !self.is_given_up() {
            self.offers.is_doubtful = true;
            self.whole_state.ask(now, effects);
        }
    }
}
