//! One game as a pure state machine: what happened goes in, what is to be done comes out. It reads no clock, draws no random
//! number of its own accord and does no I/O, so every fault a network can produce is a unit test (`machine/tests.rs`).
//!
//! Invariants (the promises of the runtime, as far as they concern one game):
//! - the server's word is the only truth: the board is what the last believed state says;
//! - a state is believed if it is whole ([`Input::Full`]) or only adds moves to what we know. Anything else — a takeback, or
//!   an old event that arrives late — makes us ask for the whole state;
//! - one search a ply: a position that is being thought about or has been answered is not thought about again;
//! - a decision for a position that is no longer on the board is dropped;
//! - sending is idempotent: the answer to a position is sent again only after the server has shown that it does not have it,
//!   or has said that it did not take it; the first time at once, then less and less often.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use chess::{Action, ActionError, Backoff, Color, Decision, GameInfo, GameState, GameStatus, Line, Offers, UciMove};
use council::player::RequestId;

use super::adjudicator::{Adjudicator, Verdict};

mod ahead;
mod messages;
#[cfg(test)]
mod tests;

use ahead::Ahead;

pub(super) use messages::{AnswerNumber, Effect, Input, Timer};

/// How long the stream may take to show a move that the server has acknowledged.
const ECHO: Duration = Duration::from_secs(2);
/// How soon a whole state that does not show a move the server has taken is asked for again.
const SECOND_LOOK: Duration = Duration::from_millis(250);
/// How long the whole state may take to come after we asked for it, before the move is simply sent again.
const RESYNC: Duration = Duration::from_secs(3);
/// How long the last moves may take to be shown when the event stream is the first to tell that a game is over.
const LAST_WORD: Duration = Duration::from_secs(1);
/// The shortest time before something that the server limits is tried again.
const LIMITED: Duration = Duration::from_millis(50);
/// After so many refusals of one move in one position another move is looked for.
const REFUSALS: u32 = 3;

/// Where we are with the position on the board.
#[derive(Debug)]
enum Turn {
    /// It is not ours to move.
    Theirs,
    /// The council is in session.
    SearchHandle(RequestId),
    /// We know our move.
    Answered(Answer),
}

#[derive(Debug)]
struct Answer {
    number: AnswerNumber,
    uci: UciMove,
    offer_draw: bool,
    sending: Sending,
    refusals: u32,
    /// Not to be sent again before.
    not_before: Instant,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sending {
    /// Sent; no answer yet.
    InFlight,
    /// The server took it; the stream has not shown it yet.
    Acknowledged,
    /// The server took it and should have shown it by now.
    Doubtful,
    /// It did not arrive, or we do not know whether it did; to be sent again.
    Unsettled,
}

/// One game.
pub(super) struct Game {
    info: Box<GameInfo>,
    line: Arc<Line>,
    state: GameState,
    turn: Turn,
    manners: Adjudicator,
    /// How many expected replies are thought about in the opponent's time.
    replies_thought_about: usize,
    /// What is thought about in it.
    ahead: Option<Ahead>,
    /// Numbers thoughts and answers.
    counter: u64,
    /// Since when the position stands on the board, as far as we know.
    since: Instant,
    /// Moves the server would not take in it.
    refused: Vec<UciMove>,
    /// The pauses between attempts to move in it.
    retries: Backoff,
    resyncs: Backoff,
    claims: Backoff,
    /// How the game ended, by the event stream, while its own stream has not shown the end.
    ended: Option<Ended>,
    over: bool,
}

#[derive(Debug)]
struct Ended {
    status: GameStatus,
    winner: Option<Color>,
    /// Whether the whole state was asked for.
    asked: bool,
}

impl Game {
    /// A game whose whole state has just come, and what is to be done first.
    pub(super) fn new(
        now: Instant,
        info: Box<GameInfo>,
        state: GameState,
        manners: Adjudicator,
    ) -> (Self, Vec<Effect>) {
        let line = Arc::new(info.start.clone());
        let mut game = Self {
            line,
            // Nothing is believed yet; the offers of this first state are all new.
            state: GameState {
                moves: String::new(),
                draw_offers: Offers::default(),
                takeback_offers: Offers::default(),
                ..state.clone()
            },
            turn: Turn::Theirs,
            manners,
            replies_thought_about: 0,
            ahead: None,
            counter: 0,
            since: now,
            refused: Vec::new(),
            retries: Backoff::new(Duration::from_millis(50), Duration::from_secs(2)).first_at_once(),
            resyncs: Backoff::new(Duration::from_millis(100), Duration::from_secs(5)),
            claims: Backoff::new(Duration::from_secs(1), Duration::from_secs(15)),
            ended: None,
            over: false,
            info,
        };
        let mut effects = Vec::new();
        game.full(now, state, &mut effects);
        (game, effects)
    }

    /// What does not change in it.
    pub(super) fn info(&self) -> &GameInfo {
        &self.info
    }

    /// The board, as its line.
    pub(super) fn line(&self) -> &Arc<Line> {
        &self.line
    }

    /// The server's last word.
    pub(super) fn state(&self) -> &GameState {
        &self.state
    }

    /// Takes what happened and says what is to be done.
    pub(super) fn handle(&mut self, now: Instant, input: Input) -> Vec<Effect> {
        let mut effects = Vec::new();
        if self.over {
            return effects;
        }
        match input {
            Input::Full(info, state) => {
                self.info = info;
                self.full(now, state, &mut effects);
            }
            Input::State(state) => self.state_changed(now, state, &mut effects),
            Input::Finished(status, winner) => self.finished_elsewhere(status, winner, &mut effects),
            Input::Chat(_) => (),
            Input::OpponentGone(gone, claim_after) => self.opponent_gone(gone, claim_after, &mut effects),
            Input::Decided(thought, decision) => self.decided(now, thought, decision, &mut effects),
            Input::Sent(number, outcome) => self.sent(now, number, outcome, &mut effects),
            Input::Timer(timer) => self.timer(timer, &mut effects),
        }
        effects
    }

    // --- The server's word ---------------------------------------------------------------------------------------------

    fn full(&mut self, now: Instant, state: GameState, effects: &mut Vec<Effect>) {
        effects.push(Effect::Forget(Timer::Resync));
        let mut line = self.info.start.clone();
        match line.play_all(&state.moves) {
            Ok(()) => {
                self.resyncs.reset();
                self.believe(now, line, state, true, effects);
            }
            // Only a server whose rules differ from ours says such a thing; asking at leisure is all there is to do.
            Err(error) => {
                effects.push(Effect::Fault(format!("the server's moves make no sense: {error}")));
                self.resync_later(effects);
            }
        }
    }

    fn state_changed(&mut self, now: Instant, state: GameState, effects: &mut Vec<Effect>) {
        if !state.status.is_running() {
            // The final state may come after a takeback that we missed, but its status needs no board to be true.
            if let Some(line) = self.extended(&state.moves) {
                self.believe(now, line, state, false, effects);
            } else {
                self.finish(Some(state.status), state.winner, effects);
            }
            return;
        }
        match self.extended(&state.moves) {
            Some(line) => self.believe(now, line, state, false, effects),
            None => effects.push(Effect::Resync),
        }
    }

    /// The line that `moves` make if they only add to what we know.
    fn extended(&self, moves: &str) -> Option<Line> {
        // Nearly always the very words of the last state, and more.
        if let Some(more) = moves.strip_prefix(self.state.moves.as_str())
            && (more.is_empty() || self.state.moves.is_empty() || more.starts_with(' '))
        {
            let mut line = Line::clone(&self.line);
            return line.play_all(more).ok().map(|()| line);
        }
        let mut line = self.info.start.clone();
        line.play_all(moves).ok()?;
        // Castling may be written in two ways, so moves are compared as the line writes them.
        line.moves().starts_with(self.line.moves()).then_some(line)
    }

    fn believe(&mut self, now: Instant, line: Line, state: GameState, full: bool, effects: &mut Vec<Effect>) {
        let moved = line.moves() != self.line.moves();
        let earlier = std::mem::replace(&mut self.state, state);
        if moved {
            self.line = Arc::new(line);
            if matches!(self.turn, Turn::SearchHandle(_)) {
                effects.push(Effect::StopThinking);
            }
            self.review_ahead(effects);
            self.turn = Turn::Theirs;
            self.since = now;
            self.refused.clear();
            self.retries.reset();
            for timer in [Timer::Resend, Timer::Echo, Timer::Abort] {
                effects.push(Effect::Forget(timer));
            }
            effects.push(Effect::RecordMoves);
        }
        if !self.state.status.is_running() {
            self.finish(Some(self.state.status.clone()), self.state.winner, effects);
            return;
        }
        if self.ended.is_some() {
            return;
        }
        self.answer_offers(&earlier, effects);
        if self.line.turn() == self.info.our_color {
            self.our_turn(now, full, effects);
        } else if self.line.ply() < 2
            && let Some(patience) = self.manners.abort_after(&self.info)
            && (moved || full)
        {
            // Counted from the first sight of the position: a stream that is reopened gives nobody more time.
            let waited = now.saturating_duration_since(self.since);
            effects.push(Effect::Wake(Timer::Abort, patience.saturating_sub(waited)));
        }
    }

    fn our_turn(&mut self, now: Instant, full: bool, effects: &mut Vec<Effect>) {
        match &mut self.turn {
            // The state may have been on its way before the move was taken: one more look before anything is sent twice.
            Turn::Answered(answer) if full && answer.sending == Sending::Acknowledged => {
                effects.push(Effect::Wake(Timer::Echo, SECOND_LOOK));
            }
            Turn::Theirs => self.think(now, effects),
            Turn::SearchHandle(_) => (),
            // A whole state without our move: the server does not have it (unless it is just on its way). A partial one
            // proves nothing: a draw offer is shown before the move that carries it.
            Turn::Answered(answer) if full && answer.sending != Sending::InFlight => {
                if answer.refusals >= REFUSALS {
                    let refused = answer.uci;
                    effects
                        .push(Effect::Fault(format!("the server keeps refusing {refused}; looking for another move")));
                    self.refused.push(refused);
                    self.think(now, effects);
                } else if answer.not_before > now {
                    effects.push(Effect::Wake(Timer::Resend, answer.not_before - now));
                } else {
                    self.send(effects);
                }
            }
            Turn::Answered(_) => (),
        }
    }

    fn answer_offers(&mut self, earlier: &GameState, effects: &mut Vec<Effect>) {
        let (us, them) = (self.info.our_color, !self.info.our_color);
        let game = &self.info.id;
        if self.state.takeback_offers.by(them) && !earlier.takeback_offers.by(them) {
            let granted = self.manners.grants_takeback();
            effects.push(Effect::Do(Action::Takeback(game.clone(), granted)));
        }
        // On our own turn the offer is answered with the move, when we know how we stand.
        if self.state.draw_offers.by(them)
            && !earlier.draw_offers.by(them)
            && self.line.turn() != us
            && self.manners.accepts_draw(&self.info, &self.line, self.state.clocks)
        {
            effects.push(Effect::Do(Action::Draw(game.clone(), true)));
        }
    }

    fn opponent_gone(&mut self, gone: bool, claim_after: Option<Duration>, effects: &mut Vec<Effect>) {
        match (gone, claim_after) {
            (true, Some(after)) => effects.push(Effect::Wake(Timer::Claim, after)),
            (true, None) => (),
            (false, _) => {
                self.claims.reset();
                effects.push(Effect::Forget(Timer::Claim));
            }
        }
    }

    /// The event stream may be faster than the game's own, which still has the last moves to show.
    fn finished_elsewhere(&mut self, status: Option<GameStatus>, winner: Option<Color>, effects: &mut Vec<Effect>) {
        match (status, self.ended.take()) {
            (Some(status), _) => {
                self.stop_thinking(effects);
                self.ended = Some(Ended { status, winner, asked: false });
                effects.push(Effect::Wake(Timer::LastWord, LAST_WORD));
            }
            // The server does not know the game any more, so there is nothing left to be shown.
            (None, Some(ended)) => self.finish(Some(ended.status), ended.winner, effects),
            (None, None) => self.finish(None, winner, effects),
        }
    }

    fn last_word_is_due(&mut self, effects: &mut Vec<Effect>) {
        let Some(mut ended) = self.ended.take() else { return };
        if ended.asked {
            self.finish(Some(ended.status), ended.winner, effects);
        } else {
            ended.asked = true;
            self.ended = Some(ended);
            effects.push(Effect::Resync);
            effects.push(Effect::Wake(Timer::LastWord, RESYNC));
        }
    }

    fn finish(&mut self, status: Option<GameStatus>, winner: Option<Color>, effects: &mut Vec<Effect>) {
        self.stop_thinking(effects);
        self.over = true;
        effects.push(Effect::Over { status, winner });
    }

    /// There is nothing to be thought about any more, in nobody's time.
    fn stop_thinking(&mut self, effects: &mut Vec<Effect>) {
        if matches!(self.turn, Turn::SearchHandle(_)) || self.ahead.take().is_some() {
            effects.push(Effect::StopThinking);
        }
        self.turn = Turn::Theirs;
    }

    // --- Our move ------------------------------------------------------------------------------------------------------

    fn think(&mut self, now: Instant, effects: &mut Vec<Effect>) {
        if self.hit(now, effects) {
            return;
        }
        // The search of our move takes the place of whatever was thought ahead.
        self.ahead = None;
        let thought = RequestId(self.next_number());
        self.turn = Turn::SearchHandle(thought);
        effects.push(Effect::Think {
            thought,
            line: Arc::clone(&self.line),
            clocks: self.state.clocks,
            received: self.state.received,
            excluded: self.refused.clone(),
        });
    }

    fn decided(&mut self, now: Instant, thought: RequestId, decision: Box<Decision>, effects: &mut Vec<Effect>) {
        let Some(decision) = self.keep_for_later(thought, decision) else { return };
        if !matches!(self.turn, Turn::SearchHandle(current) if current == thought) {
            return;
        }
        let they_offer = self.state.draw_offers.by(!self.info.our_color);
        let verdict = self.manners.judge(&self.info, &self.line, self.state.clocks, &decision, they_offer);
        let number = AnswerNumber(self.next_number());
        self.turn = Turn::Answered(Answer {
            number,
            uci: decision.best,
            offer_draw: verdict == Verdict::PlayAndDraw,
            sending: Sending::Unsettled,
            refusals: 0,
            not_before: now,
        });
        let (best, replies) = (decision.best, decision.expected_replies());
        effects.push(Effect::RecordDecision(decision));
        if verdict == Verdict::Resign {
            effects.push(Effect::Do(Action::Resign(self.info.id.clone())));
            // Should the resignation get lost, the game goes on with the move.
            effects.push(Effect::Wake(Timer::Resend, RESYNC));
        } else {
            self.send(effects);
            self.think_ahead(best, &replies, effects);
        }
    }

    fn send(&mut self, effects: &mut Vec<Effect>) {
        if let Turn::Answered(answer) = &mut self.turn {
            answer.sending = Sending::InFlight;
            effects.push(Effect::Forget(Timer::Resend));
            effects.push(Effect::Send { answer: answer.number, uci: answer.uci, offer_draw: answer.offer_draw });
        }
    }

    fn sent(
        &mut self,
        now: Instant,
        number: AnswerNumber,
        outcome: Result<(), ActionError>,
        effects: &mut Vec<Effect>,
    ) {
        let patience = self.patience(now);
        let Turn::Answered(answer) = &mut self.turn else { return };
        if answer.number != number || answer.sending != Sending::InFlight {
            return;
        }
        let error = match outcome {
            Ok(()) => {
                answer.sending = Sending::Acknowledged;
                effects.push(Effect::Wake(Timer::Echo, ECHO));
                return;
            }
            Err(error) => error,
        };
        answer.sending = Sending::Unsettled;
        let pause = self.retries.next_delay().min(patience);
        answer.not_before = now + pause;
        effects.push(Effect::Fault(format!("move {}: {error}", answer.uci)));
        match error {
            // Not taken, and known not to be: sent again as soon as is decent, sooner when the clock is short.
            ActionError::Limited { .. } | ActionError::Unauthorised(_) | ActionError::Unsupported(_) => {
                effects.push(Effect::Wake(Timer::Resend, pause.max(LIMITED)));
            }
            // It may have been taken: the server's whole state decides. If that does not come either, it is sent again.
            ActionError::Unavailable(_) => {
                effects.push(Effect::Resync);
                effects.push(Effect::Wake(Timer::Resend, RESYNC.min(patience).max(pause)));
            }
            // The server sees another position than we do (or a game that is over), or the move is not to its taste.
            ActionError::Refused(_) | ActionError::NotFound(_) => {
                answer.refusals += 1;
                self.resync_later(effects);
            }
        }
    }

    /// How long a retry may wait at most: a fraction of what is left on our clock.
    fn patience(&self, now: Instant) -> Duration {
        let spent = now.saturating_duration_since(self.state.received);
        self.state.clocks.map_or(RESYNC, |clocks| {
            let left = clocks.of(self.info.our_color).remaining.saturating_sub(spent);
            (left / 8).max(Duration::from_millis(50))
        })
    }

    /// Asks for the whole state, at once the first time, then less and less often.
    fn resync_later(&mut self, effects: &mut Vec<Effect>) {
        if self.resyncs.is_fresh() {
            effects.push(Effect::Resync);
        }
        effects.push(Effect::Wake(Timer::Resync, self.resyncs.next_delay()));
    }

    fn timer(&mut self, timer: Timer, effects: &mut Vec<Effect>) {
        match (timer, &mut self.turn) {
            (Timer::Resend, Turn::Answered(answer)) if answer.sending == Sending::Unsettled => self.send(effects),
            (Timer::Echo, Turn::Answered(answer))
                if matches!(answer.sending, Sending::Acknowledged | Sending::Doubtful) =>
            {
                // The whole state that is asked for now is younger than the acknowledgement: it decides.
                answer.sending = Sending::Doubtful;
                effects.push(Effect::Fault(format!("move {} was taken but not shown", answer.uci)));
                effects.push(Effect::Resync);
                effects.push(Effect::Wake(Timer::Echo, RESYNC));
            }
            (Timer::LastWord, _) => self.last_word_is_due(effects),
            (Timer::Resync, _) => {
                effects.push(Effect::Resync);
                effects.push(Effect::Wake(Timer::Resync, self.resyncs.next_delay()));
            }
            (Timer::Claim, _) => {
                if let Some(claim) = self.manners.claim(&self.info, &self.line) {
                    effects.push(Effect::Do(claim));
                    effects.push(Effect::Wake(Timer::Claim, self.claims.next_delay()));
                }
            }
            (Timer::Abort, Turn::Theirs) if self.line.ply() < 2 => {
                effects.push(Effect::Do(Action::Abort(self.info.id.clone())));
            }
            (Timer::Resend | Timer::Echo | Timer::Abort, _) => (),
        }
    }

    fn next_number(&mut self) -> u64 {
        self.counter += 1;
        self.counter
    }
}
