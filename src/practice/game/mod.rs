//! One game of chess between two players: rules, clocks, offers and every ending.
//!
//! Pure: no clock, random number or output. The caller passes the time since the server's start;
//! changes are queued and fetched with [`PracticeGame::take_changes`]. Both protocols play through
//! this type, so a game means the same over both.
//!
//! Invariants: after a [`GameOutcome`] nothing changes; the clocks stand still until both sides
//! have moved, and while a game is adjourned.

mod clock;
mod ending;
mod stop;
#[cfg(test)]
mod tests;

use std::time::Duration;

use shakmaty::ByColor;

pub use clock::GameClock;
pub use ending::{End, GameOutcome};
pub use stop::Stop;

use domain::{Clocks, Color, GameStatus, Line, LineError, TimeControl, UciMove};

const PLIES_BETWEEN_DRAW_OFFERS: usize = 20;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GamePatience {
    /// A player who left counts as gone after this time.
    pub gone_after: Duration,
    /// The time from then until the opponent may claim the win.
    pub claim_after: Duration,
    /// The time for each side's first move, after which the game is aborted. `None` waits for ever.
    pub first_move: Option<Duration>,
    /// True if a flag falls as soon as the time is over. Otherwise the opponent must claim it, and
    /// until then the game goes on.
    pub flags_fall: bool,
    /// A game is over when one of its players was gone for this time: aborted if it still can be, otherwise lost. `None`
    /// waits for ever, or for the opponent's claim.
    pub abandoned_after: Option<Duration>,
}

impl Default for GamePatience {
    fn default() -> Self {
        Self {
            gone_after: Duration::from_secs(1),
            claim_after: Duration::from_secs(30),
            first_move: None,
            flags_fall: true,
            abandoned_after: None,
        }
    }
}

impl GamePatience {
    /// Returns the times at which the opponent of a player who left is told that the player is gone, and that the win may be claimed.
    fn notices(&self, left: Duration) -> [Duration; 2] {
        let gone = left + self.gone_after;
        [gone, gone + self.claim_after]
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GameChange {
    /// A move, an offer, a takeback or the end.
    State,
    /// A player is gone; the other one may claim the win after this time. Comes again, with zero, when that has passed.
    Gone(Color, Duration),
    Back(Color),
    /// The game waits until both players go on with it.
    Adjourned,
    Resumed,
}

/// Reason why the game did not do what a player wanted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum GameRefusal {
    #[error("the game is over")]
    Over,
    #[error("the game is adjourned")]
    Adjourned,
    #[error("it is not your turn")]
    NotYourTurn,
    #[error(transparent)]
    Illegal(#[from] LineError),
    #[error("the game can no longer be aborted")]
    CannotAbort,
    /// A game that cannot be claimed: it has no clock, or can still be aborted.
    #[error("the win cannot be claimed in this game")]
    CannotClaim,
}

/// A game that is being played, or was. Only its methods may change it.
#[derive(Clone, Debug)]
pub struct PracticeGame {
    pub line: Line,
    /// The mover's clock after each move, if there was a clock.
    pub move_times: Vec<Option<Duration>>,
    pub outcome: Option<GameOutcome>,
    pub draw_offer: Option<Color>,
    /// The side that wishes to take moves back, and the number of plies.
    pub takeback_offer: Option<(Color, usize)>,
    pub abort_offer: Option<Color>,
    pub adjourn_offer: Option<Color>,
    pub is_adjourned: bool,
    /// The side that wants to go on with an adjourned game.
    pub resume_offer: Option<Color>,
    pub was_resumed: bool,
    /// The side whose lost connection stopped the game.
    pub left: Option<Color>,
    clock: GameClock,
    patience: GamePatience,
    turn_began: Duration,
    last_draw_offer: ByColor<Option<usize>>,
    /// Players who are not there: since when, and the number of notices that the opponent has had.
    absence: ByColor<Option<(Duration, usize)>>,
    changes: Vec<GameChange>,
}

impl PracticeGame {
    /// Sets up the board of `start` (a line without moves) at the time `now`.
    pub fn new(start: Line, time_control: TimeControl, patience: GamePatience, now: Duration) -> Self {
        Self {
            line: start,
            move_times: Vec::new(),
            outcome: None,
            draw_offer: None,
            takeback_offer: None,
            abort_offer: None,
            adjourn_offer: None,
            is_adjourned: false,
            resume_offer: None,
            was_resumed: false,
            left: None,
            clock: GameClock::new(time_control, now),
            patience,
            turn_began: now,
            last_draw_offer: ByColor::default(),
            absence: ByColor::default(),
            changes: Vec::new(),
        }
    }

    pub fn clocks(&self, now: Duration) -> Option<Clocks> {
        self.clock.clocks(self.line.turn(), now)
    }

    pub fn status(&self) -> GameStatus {
        self.outcome.map_or(GameStatus::Started, |outcome| outcome.end.status())
    }

    pub fn winner(&self) -> Option<Color> {
        self.outcome?.winner
    }

    pub fn is_running(&self) -> bool {
        self.outcome.is_none() && !self.is_adjourned
    }

    pub fn is_turn_of(&self, color: Color) -> bool {
        self.is_running() && self.line.turn() == color
    }

    /// Sets the board back to `ply` plies.
    pub fn truncate(&mut self, ply: usize) {
        self.line.truncate(ply);
        self.move_times.truncate(ply);
    }

    /// Returns the changes since the last call, in order.
    pub fn take_changes(&mut self) -> Vec<GameChange> {
        std::mem::take(&mut self.changes)
    }

    /// Plays a move.
    ///
    /// # Errors
    /// [`GameRefusal::Over`], [`GameRefusal::NotYourTurn`] or [`GameRefusal::Illegal`]. A move that comes after the flag has fallen ends the game.
    pub fn play(&mut self, color: Color, uci: UciMove, now: Duration) -> Result<(), GameRefusal> {
        self.tick(now);
        self.must_run()?;
        if self.line.turn() != color {
            return Err(GameRefusal::NotYourTurn);
        }
        self.line.play(uci)?;
        self.clock.moved(color, self.line.ply(), now);
        self.move_times.push(self.clock.remaining(color));
        self.turn_began = now;
        // Moving declines the other side's offer; the own one stays open.
        for offer in [&mut self.draw_offer, &mut self.abort_offer, &mut self.adjourn_offer] {
            offer.take_if(|by| *by != color);
        }
        self.takeback_offer = None;
        match ending::after_move(&self.line) {
            Some(outcome) => self.finish(outcome, now),
            None => self.changes.push(GameChange::State),
        }
        Ok(())
    }

    /// Accepts the opponent's draw offer or makes one (`yes`), or declines theirs or withdraws the
    /// own one.
    ///
    /// Does nothing before both sides have moved, or with a new offer too soon after the last.
    pub fn draw(&mut self, color: Color, yes: bool, now: Duration) {
        self.tick(now);
        if !self.is_running() {
            return;
        }
        match (yes, self.draw_offer) {
            (true, Some(by)) if by != color => self.finish(GameOutcome::drawn(End::Agreement), now),
            (true, None) if self.may_offer_draw(color) => {
                self.draw_offer = Some(color);
                *self.last_draw_offer.get_mut(color) = Some(self.line.ply());
                self.changes.push(GameChange::State);
            }
            (false, Some(_)) => {
                self.draw_offer = None;
                self.changes.push(GameChange::State);
            }
            _ => {}
        }
    }

    fn may_offer_draw(&self, color: Color) -> bool {
        let ply = self.line.ply();
        ply >= 2 && self.last_draw_offer.get(color).is_none_or(|last| ply >= last + PLIES_BETWEEN_DRAW_OFFERS)
    }

    /// Accepts the opponent's request for a takeback or makes one (`yes`), or declines theirs or
    /// withdraws the own one. A takeback undoes the requester's last move, and the answer to it if
    /// there was one.
    pub fn takeback(&mut self, color: Color, yes: bool, now: Duration) {
        let plies = if self.line.turn() == color { 2 } else { 1 };
        self.takeback_of(color, yes.then_some(plies), now);
    }

    /// Does the same for `plies` plies; `None` declines or withdraws.
    pub fn takeback_of(&mut self, color: Color, plies: Option<usize>, now: Duration) {
        self.tick(now);
        if !self.is_running() || self.line.ply() < 2 {
            return;
        }
        match (plies, self.takeback_offer) {
            (Some(_), Some((by, plies))) if by != color => self.take_back(self.line.ply() - plies, now),
            (Some(plies), None) if (1..=self.line.ply()).contains(&plies) => {
                self.takeback_offer = Some((color, plies));
            }
            (None, Some(_)) => self.takeback_offer = None,
            _ => return,
        }
        self.changes.push(GameChange::State);
    }

    fn take_back(&mut self, ply: usize, now: Duration) {
        self.clock.stop(self.line.turn(), now);
        self.truncate(ply);
        self.clock.resume(ply, now);
        self.turn_began = now;
        self.takeback_offer = None;
        self.draw_offer = None;
    }

    /// Ends the game without a result, for either side.
    pub fn abort(&mut self, _by: Color, now: Duration) -> Result<(), GameRefusal> {
        self.tick(now);
        self.must_run()?;
        if !self.is_abortable() {
            return Err(GameRefusal::CannotAbort);
        }
        self.finish(GameOutcome::aborted(), now);
        Ok(())
    }

    /// Gives the game up; one that can still be aborted is aborted instead.
    pub fn resign(&mut self, color: Color, now: Duration) -> Result<(), GameRefusal> {
        self.tick(now);
        self.must_run()?;
        self.lose(color, End::Resignation, now);
        Ok(())
    }

    /// Ends the game against `loser`; one that can still be aborted is aborted.
    fn lose(&mut self, loser: Color, end: End, now: Duration) {
        let outcome = if self.is_abortable() { GameOutcome::aborted() } else { GameOutcome::won(!loser, end) };
        self.finish(outcome, now);
    }

    /// Claims the win because the opponent is gone. Too early a claim does nothing.
    pub fn claim_victory(&mut self, color: Color, now: Duration) -> Result<(), GameRefusal> {
        self.claim(color, GameOutcome::won(color, End::Abandoned), now)
    }

    /// Claims a draw because the opponent is gone. Too early a claim does nothing. (Repetitions and fifty moves end the
    /// game without being claimed.)
    pub fn claim_draw(&mut self, color: Color, now: Duration) -> Result<(), GameRefusal> {
        self.claim(color, GameOutcome::drawn(End::Abandoned), now)
    }

    fn claim(&mut self, color: Color, outcome: GameOutcome, now: Duration) -> Result<(), GameRefusal> {
        self.tick(now);
        self.must_run()?;
        if !self.is_claimable() {
            return Err(GameRefusal::CannotClaim);
        }
        if self.claim_allowed_at(!color).is_some_and(|at| now >= at) {
            self.finish(outcome, now);
        }
        Ok(())
    }

    fn claim_allowed_at(&self, absent: Color) -> Option<Duration> {
        self.absence.get(absent).map(|(since, _)| self.patience.notices(since)[1])
    }

    pub fn set_present(&mut self, color: Color, present: bool, now: Duration) {
        let absence = self.absence.get_mut(color);
        match (present, *absence) {
            (true, Some((_, told))) => {
                *absence = None;
                if told > 0 && self.outcome.is_none() {
                    self.changes.push(GameChange::Back(color));
                }
            }
            (false, None) => *absence = Some((now, 0)),
            _ => {}
        }
        self.tick(now);
    }

    /// Does everything due at `now`: lets flags fall, aborts games that never began, reports absent
    /// players.
    pub fn tick(&mut self, now: Duration) {
        if !self.is_running() {
            return;
        }
        if self.patience.flags_fall && self.is_out_of_time(now) {
            return self.flag(now);
        }
        if self.first_move_due().is_some_and(|at| now >= at) {
            return self.finish(GameOutcome::aborted(), now);
        }
        if let Some(color) = Color::ALL.into_iter().find(|color| self.abandoned_at(*color).is_some_and(|at| now >= at))
        {
            return self.lose(color, End::Abandoned, now);
        }
        if self.is_claimable() {
            for color in Color::ALL {
                self.tell_of_absence(color, now);
            }
        }
    }

    /// Claims that the opponent's time is over; whether it is, so that the game is over too.
    pub fn claim_flag(&mut self, color: Color, now: Duration) -> Result<bool, GameRefusal> {
        self.tick(now);
        self.must_run()?;
        let fell = self.line.turn() != color && self.is_out_of_time(now);
        if fell {
            self.flag(now);
        }
        Ok(fell)
    }

    fn is_out_of_time(&self, now: Duration) -> bool {
        self.clock.flag_falls(self.line.turn()).is_some_and(|at| now >= at)
    }

    fn flag(&mut self, now: Duration) {
        self.finish(ending::on_time(&self.line, self.line.turn()), now);
    }

    /// Returns the time at which the game ends because a player is gone.
    fn abandoned_at(&self, color: Color) -> Option<Duration> {
        self.absence.get(color).zip(self.patience.abandoned_after).map(|((since, _), patience)| since + patience)
    }

    fn tell_of_absence(&mut self, color: Color, now: Duration) {
        let Some((since, told)) = self.absence.get_mut(color) else { return };
        let notices = self.patience.notices(*since);
        let due = notices.iter().filter(|at| now >= **at).count();
        if due != *told {
            *told = due;
            self.changes.push(GameChange::Gone(color, notices[1].saturating_sub(now)));
        }
    }

    /// Returns the time of the next action of [`PracticeGame::tick`], if nothing happens before.
    pub fn next_deadline(&self) -> Option<Duration> {
        if !self.is_running() {
            return None;
        }
        let absences = self.absence.iter().flatten().filter(|_| self.is_claimable());
        let notices = absences.filter_map(|(since, told)| self.patience.notices(*since).get(*told).copied());
        let flag = self.clock.flag_falls(self.line.turn()).filter(|_| self.patience.flags_fall);
        let abandoned = Color::ALL.into_iter().filter_map(|color| self.abandoned_at(color));
        notices.chain(flag).chain(self.first_move_due()).chain(abandoned).min()
    }

    fn first_move_due(&self) -> Option<Duration> {
        self.patience.first_move.filter(|_| self.is_abortable()).map(|patience| self.turn_began + patience)
    }

    fn is_abortable(&self) -> bool {
        self.line.ply() < 2
    }

    fn is_claimable(&self) -> bool {
        !self.is_abortable() && self.clock.is_real_time()
    }

    fn must_run(&self) -> Result<(), GameRefusal> {
        match self.outcome {
            Some(_) => Err(GameRefusal::Over),
            None if self.is_adjourned => Err(GameRefusal::Adjourned),
            None => Ok(()),
        }
    }

    fn finish(&mut self, outcome: GameOutcome, now: Duration) {
        self.clock.stop(self.line.turn(), now);
        self.forget_offers();
        self.outcome = Some(outcome);
        self.changes.push(GameChange::State);
    }

    fn forget_offers(&mut self) {
        self.draw_offer = None;
        self.takeback_offer = None;
        self.abort_offer = None;
        self.adjourn_offer = None;
    }
}
