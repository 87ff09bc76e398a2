//! The bot's move: searched, decided, sent, and shown by the server.
//!
//! A move is sent again only if the server has shown the position without it, has rejected it, or
//! has not answered for as long as the clock allows.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use super::{DecidedSearch, GameEffect, GameMachine, Timer};
use crate::session::adjudicator::MoveVerdict;
use council::player::RequestId;
use domain::{Action, ActionError, UciMove};

/// The shortest and the longest timeout for the stream to show an acknowledged move.
pub(super) const ECHO: (Duration, Duration) = (Duration::from_secs(2), Duration::from_secs(30));
/// The delay before another whole state after one without an accepted move.
const SECOND_LOOK: Duration = Duration::from_millis(250);
/// The shortest pause after a limit of the server.
const LIMITED: Duration = Duration::from_millis(50);
/// The time to wait for a lost resignation before the game goes on with the move.
const RESIGNATION: Duration = Duration::from_secs(3);
/// The number of refusals of one move in one position before another move is searched.
pub(super) const REFUSALS: u32 = 3;

#[derive(Debug)]
pub(super) enum MoveState {
    Theirs,
    Searching(RequestId),
    /// The bot's move is known.
    Answered(OurAnswer),
    /// The operator gave the game up, and the server has yet to show it: nothing more is sent.
    GivenUp,
}

#[derive(Debug)]
pub(super) struct OurAnswer {
    number: u64,
    uci: UciMove,
    offer_draw: bool,
    sending: Sending,
    refusals: u32,
    not_before: Instant,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sending {
    /// Sent; no answer yet.
    InFlight,
    /// The server accepted it at this time; the stream has not shown it yet.
    Acknowledged(Instant),
    /// The server accepted it at this time and should have shown it by now.
    Doubtful(Instant),
    /// Doubtful after a whole state without the move; that may have been older, so the next one decides.
    VeryDoubtful(Instant),
    /// Lost, or perhaps lost; to be sent again.
    Unsettled,
}

impl GameMachine {
    /// Handles a believed state with the bot to move; `full` for a whole state.
    pub(super) fn our_turn(&mut self, now: Instant, full: bool) {
        match &mut self.our_move {
            // The state may be older than the acceptance: it is fetched once more before anything
            // is sent twice.
            MoveState::Answered(OurAnswer { sending: Sending::Acknowledged(_), .. }) if full => {
                self.effects.push(GameEffect::Wake(Timer::Echo, SECOND_LOOK));
            }
            MoveState::Theirs => self.search(now),
            MoveState::Searching(_) | MoveState::GivenUp => (),
            MoveState::Answered(answer) if full && matches!(answer.sending, Sending::Doubtful(_)) => {
                if let Sending::Doubtful(since) = answer.sending {
                    answer.sending = Sending::VeryDoubtful(since);
                }
                self.ask_whole_state(now);
            }
            // A whole state without the bot's move: the server does not have it, unless it is on its way. A partial state proves
            // nothing: a draw offer is shown before its move.
            MoveState::Answered(answer) if full && answer.sending != Sending::InFlight => {
                if answer.refusals >= REFUSALS {
                    let refused = answer.uci;
                    self.effects.push(GameEffect::Fault(format!(
                        "the server keeps rejecting {refused}; searching for another move"
                    )));
                    self.refused.push(refused);
                    self.search(now);
                } else if answer.not_before > now {
                    self.effects.push(GameEffect::Wake(Timer::Resend, answer.not_before - now));
                } else {
                    self.send();
                }
            }
            MoveState::Answered(_) => (),
        }
    }

    fn search(&mut self, now: Instant) {
        if self.ponder_hit(now) {
            return;
        }
        // The search of the bot's move replaces pondering.
        self.pondering = None;
        let request = RequestId(self.next_number());
        self.our_move = MoveState::Searching(request);
        self.effects.push(GameEffect::Search {
            request,
            line: Arc::clone(&self.line),
            clocks: self.state.clocks,
            received: self.state.received,
            excluded: self.refused.clone(),
        });
    }

    pub(super) fn decided(&mut self, now: Instant, request: RequestId, decided: Box<DecidedSearch>) {
        let Some(decided) = self.keep_for_later(request, decided) else { return };
        if !matches!(self.our_move, MoveState::Searching(current) if current == request) {
            return;
        }
        if decided.line != self.line {
            // The search had just decided for another expected reply.
            self.our_move = MoveState::Theirs;
            return self.search(now);
        }
        let decision = &decided.decision;
        let they_offer = self.state.draw_offers.by(!self.info.our_color);
        let verdict = self.adjudicator.judge(&self.info, &self.line, self.state.clocks, decision, they_offer);
        let offer_draw = std::mem::take(&mut self.offers_next) || verdict == MoveVerdict::PlayAndDraw;
        let number = self.next_number();
        self.our_move = MoveState::Answered(OurAnswer {
            number,
            uci: decision.best,
            offer_draw,
            sending: Sending::Unsettled,
            refusals: 0,
            not_before: now,
        });
        let (best, replies) = (decision.best, decision.expected_replies());
        self.effects.push(GameEffect::RecordDecision(decided));
        if verdict == MoveVerdict::Resign {
            self.effects.push(GameEffect::Do(Action::Resign(self.info.id.clone())));
            // Should the resignation get lost, the game goes on with the move.
            self.effects.push(GameEffect::Wake(Timer::Resend, RESIGNATION));
        } else {
            self.send();
            self.ponder(best, &replies);
        }
    }

    /// Adds a draw offer to the bot's move, if the move has not been sent yet. Returns true if it did.
    pub(super) const fn offer_with_move(&mut self) -> bool {
        match &mut self.our_move {
            MoveState::Searching(_) => self.offers_next = true,
            MoveState::Answered(answer) if matches!(answer.sending, Sending::Unsettled) => answer.offer_draw = true,
            MoveState::Theirs | MoveState::Answered(_) | MoveState::GivenUp => return false,
        }
        true
    }

    fn send(&mut self) {
        if let MoveState::Answered(answer) = &mut self.our_move {
            answer.sending = Sending::InFlight;
            self.effects.push(GameEffect::Forget(Timer::Resend));
            self.effects.push(GameEffect::Send {
                answer: answer.number,
                uci: answer.uci,
                offer_draw: answer.offer_draw,
            });
        }
    }

    pub(super) fn sent(&mut self, now: Instant, number: u64, outcome: Result<(), ActionError>) {
        // The last state of the game shows the fate of the move.
        if self.ended.is_some() {
            return;
        }
        let left = self.time_left(now);
        let MoveState::Answered(answer) = &mut self.our_move else { return };
        if answer.number != number || answer.sending != Sending::InFlight {
            return;
        }
        let error = match outcome {
            Ok(()) => {
                answer.sending = Sending::Acknowledged(now);
                self.effects.push(GameEffect::Wake(Timer::Echo, self.echo_patience));
                return;
            }
            Err(error) => error,
        };
        answer.sending = Sending::Unsettled;
        // A retry waits for a fraction of the bot's remaining time at most.
        let most = left.map_or(Duration::MAX, |left| (left / 8).max(LIMITED));
        let pause = self.retries.next_delay().min(most);
        answer.not_before = now + pause;
        // The end of the game before the move is no fault; its event is about to come.
        if !matches!(error, ActionError::NotFound(_)) {
            self.effects.push(GameEffect::Fault(format!("move {}: {error}", answer.uci)));
        }
        match error {
            // The server named the time: it would refuse before, so half of the clock may be spent
            // on waiting.
            ActionError::Limited { retry_after: Some(named), .. }
                if named > pause && left.is_none_or(|left| named <= left / 2) =>
            {
                answer.not_before = now + named;
                self.effects.push(GameEffect::Wake(Timer::Resend, named));
            }
            // Certainly not accepted: sent again after a pause; it is shorter with a short clock.
            ActionError::Limited { .. } | ActionError::Unauthorised(_) | ActionError::Unsupported(_) => {
                self.effects.push(GameEffect::Wake(Timer::Resend, pause.max(LIMITED)));
            }
            // Perhaps accepted: the whole state decides. Without a whole state it is sent again.
            ActionError::Unavailable(_) => {
                // Twice the timeout of the state, or a quarter of the clock: a server in trouble is late with both.
                let answer_due = (self.whole_state_patience * 2).min(most.saturating_mul(2)).max(pause);
                self.ask_whole_state(now);
                self.effects.push(GameEffect::Wake(Timer::Resend, answer_due));
            }
            // The server has another position, or a finished game, or rejects the move for another reason.
            ActionError::Refused(_) | ActionError::NotFound(_) => {
                answer.refusals += 1;
                self.ask_whole_state(now);
            }
        }
    }

    /// Returns the bot's remaining time; `None` without a clock.
    pub(in crate::session) fn time_left(&self, now: Instant) -> Option<Duration> {
        let spent = now.saturating_duration_since(self.state.received);
        self.state.clocks.map(|clocks| clocks.of(self.info.our_color).remaining.saturating_sub(spent))
    }

    pub(super) fn resend_is_due(&mut self) {
        if matches!(&self.our_move, MoveState::Answered(answer) if answer.sending == Sending::Unsettled) {
            self.send();
        }
    }

    /// Handles an overdue echo: the requested whole state is newer than the acknowledgement, so it decides.
    pub(super) fn echo_is_due(&mut self, now: Instant) {
        if let MoveState::Answered(answer) = &mut self.our_move
            && let Sending::Acknowledged(since) = answer.sending
        {
            answer.sending = Sending::Doubtful(since);
            self.effects.push(GameEffect::Fault(format!("move {} was accepted but not shown", answer.uci)));
            self.ask_whole_state(now);
        }
    }

    /// Learns from the delay of an echo: the next one is given at least as much time.
    pub(super) fn learn_echo_patience(&mut self, now: Instant) {
        if let MoveState::Answered(OurAnswer {
            sending: Sending::Acknowledged(at) | Sending::Doubtful(at) | Sending::VeryDoubtful(at),
            ..
        }) = self.our_move
        {
            let took = now.saturating_duration_since(at);
            self.echo_patience = self.echo_patience.max(took * 2).min(ECHO.1);
        }
    }
}
