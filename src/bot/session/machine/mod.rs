//! One game as a pure state machine: events in, actions out. It reads no clock and does no I/O, so
//! every fault of a network is a unit test (`machine/tests.rs`).
//!
//! Invariants (the promises, as far as they concern one game):
//! - the server's state is the only truth: the board is that of the last believed state;
//! - a state is believed if it is whole ([`GameInput::Full`]) or only adds moves to the known ones.
//!   Anything else (a takeback, or a late event) makes the machine fetch the whole state, once at a
//!   time (`whole_state`);
//! - one search a ply: a position is not searched again during its search or after its answer;
//! - a decision for a position no longer on the board is dropped;
//! - sending is idempotent (`our_move`): the answer to a position is sent again only if the server
//!   has shown the position without it, or has rejected it; the first time at once, then less and
//!   less often.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use shakmaty::Position as _;

use domain::{Action, Color, GameInfo, GameState, GameStatus, Line, Offers, UciMove};
use util::Backoff;

use super::adjudicator::Adjudicator;

mod messages;
mod offers;
mod operator;
mod our_move;
mod pondering;
#[cfg(test)]
mod tests;
mod whole_state;

use offers::OfferAnswers;
use our_move::{ECHO, MoveState};
use pondering::PonderedLines;
use whole_state::PATIENCE;

pub(super) use messages::{DecidedSearch, GameEffect, GameInput, GameOver, Timer};
pub(super) use operator::DrawCourse;

/// The time for the last moves to arrive after the event stream reports the end of a game.
const LAST_WORD: Duration = Duration::from_secs(1);

pub(super) struct GameMachine {
    info: Box<GameInfo>,
    line: Arc<Line>,
    state: GameState,
    our_move: MoveState,
    adjudicator: Adjudicator,
    /// True if the operator wants a draw offer with the next move.
    offers_next: bool,
    /// The number of expected replies searched in the opponent's time.
    replies_pondered: usize,
    pondering: Option<PonderedLines>,
    counter: u64,
    /// The first sight of the current position.
    since: Instant,
    /// Moves rejected by the server in it.
    refused: Vec<UciMove>,
    /// The pauses between attempts to move in it.
    retries: Backoff,
    /// The time for the stream to show a move of the bot: at least twice the longest so far in this game.
    echo_patience: Duration,
    /// The time of the unanswered request for the whole state.
    whole_state_asked: Option<Instant>,
    whole_state_patience: Duration,
    offers: OfferAnswers,
    claims: Backoff,
    aborts: Backoff,
    /// The status and the winner by the event stream, before the game's own stream has shown its end.
    ended: Option<(Option<GameStatus>, Option<Color>)>,
    /// True once the whole state was requested after the end.
    last_word_asked: bool,
    over: bool,
    /// The effects of the current input.
    effects: Vec<GameEffect>,
}

impl GameMachine {
    pub(super) fn new(
        now: Instant,
        info: Box<GameInfo>,
        state: GameState,
        adjudicator: Adjudicator,
    ) -> (Self, Vec<GameEffect>) {
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
            our_move: MoveState::Theirs,
            adjudicator,
            offers_next: false,
            replies_pondered: 0,
            pondering: None,
            counter: 0,
            since: now,
            refused: Vec::new(),
            retries: Backoff::new(Duration::from_millis(50), Duration::from_secs(2)).first_at_once(),
            echo_patience: ECHO.0,
            whole_state_asked: None,
            whole_state_patience: PATIENCE.0,
            offers: OfferAnswers::new(),
            claims: Backoff::new(Duration::from_secs(1), Duration::from_secs(15)),
            aborts: Backoff::new(Duration::from_secs(2), Duration::from_secs(60)),
            ended: None,
            last_word_asked: false,
            over: false,
            effects: Vec::new(),
            info,
        };
        game.full(now, state);
        let effects = std::mem::take(&mut game.effects);
        (game, effects)
    }

    pub(super) fn info(&self) -> &GameInfo {
        &self.info
    }

    pub(super) fn line(&self) -> &Arc<Line> {
        &self.line
    }

    pub(super) fn state(&self) -> &GameState {
        &self.state
    }

    pub(super) fn handle(&mut self, now: Instant, input: GameInput) -> Vec<GameEffect> {
        if self.over {
            return Vec::new();
        }
        match input {
            GameInput::Full(info, state) => {
                self.info = info;
                self.full(now, state);
            }
            GameInput::State(state) => self.state_changed(now, state),
            GameInput::Finished(status, winner) => self.finished_elsewhere(status, winner),
            GameInput::Gone => self.gone(),
            // The task handles these: it has the chat, the record and the operator's channel.
            GameInput::Chat(..) | GameInput::Command(..) | GameInput::Rated(_) | GameInput::Turn(..) => (),
            GameInput::NotGivenUp => self.not_given_up(now),
            GameInput::OpponentGone(gone, claim_after) => self.opponent_gone(gone, claim_after),
            GameInput::Decided(request, decided) => self.decided(now, request, decided),
            GameInput::Sent(number, outcome) => self.sent(now, number, outcome),
            GameInput::Timer(timer) => self.timer(now, timer),
        }
        std::mem::take(&mut self.effects)
    }

    fn full(&mut self, now: Instant, state: GameState) {
        let mut line = self.info.start.clone();
        match line.play_all(&state.moves) {
            Ok(()) => {
                self.whole_state_answered(now);
                self.believe(now, line, state, true);
            }
            // Only a server with other rules can send this; the only remedy is to fetch the state
            // again, slowly.
            Err(error) => {
                self.effects.push(GameEffect::Fault(format!("the server's moves are invalid: {error}")));
                // Another one is fetched after a pause.
                self.wait_for_whole_state(now);
            }
        }
    }

    fn state_changed(&mut self, now: Instant, state: GameState) {
        match self.extended(&state.moves) {
            Some(line) => self.believe(now, line, state, false),
            // The final state may come after a missed takeback, but its status is true without the board.
            None if !state.status.is_running() => self.finish(GameOver::Told(state.status, state.winner)),
            None => self.ask_whole_state(now),
        }
    }

    /// Returns the line of `moves` if they only add to the known ones.
    fn extended(&self, moves: &str) -> Option<Line> {
        // Nearly always the text of the last state, and more.
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

    fn believe(&mut self, now: Instant, line: Line, state: GameState, full: bool) {
        let moved = line.moves() != self.line.moves();
        let earlier = std::mem::replace(&mut self.state, state);
        if moved {
            self.line = Arc::new(line);
            self.learn_echo_patience(now);
            if matches!(self.our_move, MoveState::Searching(_)) {
                self.effects.push(GameEffect::StopSearch);
            }
            self.review_pondering();
            if !self.is_given_up() {
                self.our_move = MoveState::Theirs;
            }
            self.since = now;
            self.refused.clear();
            self.retries.reset();
            self.offers = OfferAnswers::new();
            self.effects.extend([Timer::Resend, Timer::Echo, Timer::Abort, Timer::Offer].map(GameEffect::Forget));
            if self.line.turn() == self.info.our_color {
                // A moving player is present; the server reports another absence again.
                self.opponent_gone(false, None);
            }
            self.effects.push(GameEffect::RecordMoves);
        }
        if !self.state.status.is_running() {
            let (status, winner) = (self.state.status.clone(), self.winner());
            let is_to_be_looked_up = self.may_lack_moves() || winner.is_none() && may_have_a_winner(&status);
            let end = if is_to_be_looked_up { GameOver::Told } else { GameOver::Shown };
            self.finish(end(status, winner));
            return;
        }
        if self.ended.is_some() || self.is_given_up() {
            return;
        }
        self.answer_offers(&earlier, full);
        if self.line.turn() == self.info.our_color {
            self.our_turn(now, full);
        } else if moved || full {
            self.wait_for_first_move(now);
        }
    }

    /// Starts the timer of the opponent's first move, if it has not come; returns the whole time. It runs from the first sight of
    /// the position: a reopened stream gives no more time.
    fn wait_for_first_move(&mut self, now: Instant) -> Option<Duration> {
        let patience = self.adjudicator.abort_after(&self.info).filter(|_| self.line.ply() < 2)?;
        let waited = now.saturating_duration_since(self.since);
        self.effects.push(GameEffect::Wake(Timer::Abort, patience.saturating_sub(waited)));
        Some(patience)
    }

    /// Doubles the time for the opponent's first move, once; returns the time in all, if it is limited.
    pub(in crate::session) fn wait_longer(&mut self, now: Instant) -> (Option<Duration>, Vec<GameEffect>) {
        if self.ended.is_some() || self.is_given_up() || self.line.turn() == self.info.our_color {
            return (None, Vec::new());
        }
        self.adjudicator.wait_longer();
        (self.wait_for_first_move(now), std::mem::take(&mut self.effects))
    }

    /// Returns true if the stream may lack moves of a finished game: it ended by a rule against the
    /// current position, or with a move of the bot on its way. Servers with boards instead of moves
    /// may have lost the last one.
    fn may_lack_moves(&self) -> bool {
        match self.state.status {
            GameStatus::Mate | GameStatus::Stalemate | GameStatus::VariantEnd => !self.line.position().is_game_over(),
            // A move together with a resignation of the bot is held back.
            GameStatus::Aborted | GameStatus::Resign if self.state.winner != Some(self.info.our_color) => false,
            _ => matches!(self.our_move, MoveState::Answered(_)),
        }
    }

    /// Returns the winner of a finished game: by its stream, by the event stream, or by a mate on the board.
    fn winner(&self) -> Option<Color> {
        let told = self.ended.as_ref().and_then(|(_, winner)| *winner);
        let mated = self.state.status == GameStatus::Mate && self.line.is_checkmate();
        self.state.winner.or(told).or_else(|| mated.then(|| !self.line.turn()))
    }

    fn opponent_gone(&mut self, gone: bool, claim_after: Option<Duration>) {
        match (gone, claim_after) {
            (true, Some(after)) => self.effects.push(GameEffect::Wake(Timer::Claim, after)),
            (true, None) => (),
            (false, _) => {
                self.claims.reset();
                self.effects.push(GameEffect::Forget(Timer::Claim));
            }
        }
    }

    /// Handles the end by the event stream: the game's own stream may have yet to show the last moves.
    fn finished_elsewhere(&mut self, status: Option<GameStatus>, winner: Option<Color>) {
        // A repeated report with less information is ignored.
        if status.is_none() && self.ended.is_some() {
            return;
        }
        self.stop_searching();
        (self.ended, self.last_word_asked) = (Some((status, winner)), false);
        self.effects.push(GameEffect::Wake(Timer::LastWord, LAST_WORD));
    }

    /// Handles a game unknown to the server: nothing more will be shown.
    fn gone(&mut self) {
        let end = self.ended.take().map_or(GameOver::Unknown, |(status, winner)| GameOver::told(status, winner));
        self.finish(end);
    }

    fn last_word_is_due(&mut self, now: Instant) {
        let Some((status, winner)) = &self.ended else { return };
        if self.last_word_asked {
            self.finish(GameOver::told(status.clone(), *winner));
        } else {
            self.last_word_asked = true;
            self.effects.push(GameEffect::Wake(Timer::LastWord, self.whole_state_patience));
            self.ask_whole_state(now);
        }
    }

    fn finish(&mut self, end: GameOver) {
        self.stop_searching();
        self.over = true;
        self.effects.push(GameEffect::Over(end));
    }

    fn stop_searching(&mut self) {
        let searching = matches!(self.our_move, MoveState::Searching(_));
        if searching || self.pondering.take().is_some() {
            self.effects.push(GameEffect::StopSearch);
        }
        // A move on its way stays so: the last state may not show it.
        if searching {
            self.our_move = MoveState::Theirs;
        }
    }

    fn timer(&mut self, now: Instant, timer: Timer) {
        match timer {
            // Nothing is sent to a finished game.
            Timer::Resend | Timer::Echo | Timer::Abort | Timer::Offer if self.ended.is_some() => (),
            Timer::Resend => self.resend_is_due(),
            Timer::Echo => self.echo_is_due(now),
            Timer::Offer => self.offer_is_due(now),
            Timer::LastWord => self.last_word_is_due(now),
            Timer::WholeState => self.ask_whole_state_again(now),
            Timer::Claim if self.is_given_up() => (),
            Timer::Claim => {
                if let Some(claim) = self.adjudicator.claim(&self.info, &self.line) {
                    self.effects.push(GameEffect::Do(claim));
                    self.effects.push(GameEffect::Wake(Timer::Claim, self.claims.next_delay()));
                }
            }
            Timer::Abort => {
                if matches!(self.our_move, MoveState::Theirs) && self.line.ply() < 2 {
                    self.effects.push(GameEffect::Do(Action::Abort(self.info.id.clone())));
                    // Only the game's end shows the effect: the request may get lost.
                    self.effects.push(GameEffect::Wake(Timer::Abort, self.aborts.next_delay()));
                }
            }
        }
    }

    fn next_number(&mut self) -> u64 {
        self.counter += 1;
        self.counter
    }
}

/// Returns true if a game with this status may have an unnamed winner.
const fn may_have_a_winner(status: &GameStatus) -> bool {
    use GameStatus::{Cheat, Mate, OutOfTime, Resign, Timeout, VariantEnd};
    matches!(status, Mate | Resign | Timeout | OutOfTime | Cheat | VariantEnd)
}
