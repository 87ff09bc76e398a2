//! We as a player, without sockets: what the server says goes in, what is to be told and sent comes out.
//!
//! [`FicsSession`] holds what is true between two connections (which game of ours waits to be resumed) as well as within one
//! (challenges, the game on the board, requests that wait for an answer). It reads no clock and is given the time, so
//! whole evenings of play are unit tests.
//!
//! A server plays one game with us at a time. That game is [`CurrentGame::Opening`] until all its moves are known, then
//! [`CurrentGame::Running`]; only then is it told.

mod actions;
mod adjournments;
mod challenges;
mod current_game;
mod flagging;
mod game;
mod history;
mod look_up;
mod offers;
mod outbox;
mod requests;
mod resumption;
mod seeking;
mod silence;
mod speech;
#[cfg(test)]
mod tests;

use std::{
    collections::{BTreeSet, VecDeque},
    time::{Duration, Instant},
};

pub(crate) use self::requests::{RequestAnswer, RequestResult};
use self::{
    adjournments::Adjournments,
    challenges::Challenges,
    flagging::Flagging,
    game::{Announcement, FollowedGame, MovesAnswer},
    history::History,
    look_up::LookUps,
    outbox::Outbox,
    requests::{Requests, Want},
    silence::Silence,
};
use jiff::SignedDuration;

use super::{
    message::{FicsMessage, GameEnd, GameStart, MatchTerms, Speaker, Style12},
    settings::FicsSettings,
};
use domain::{Account, ActionError, GameId, GameState, ServerEvent};

/// Timeout for the answer to `refresh`, after which the game is shown as we know it.
const REFRESH_PATIENCE: Duration = Duration::from_secs(2);

/// Timeout for all sentences of a challenge, and for the board of an announced game.
const SENTENCE_PATIENCE: Duration = Duration::from_secs(1);

/// A command that no server knows: its refusal says that everything asked for before it has been answered.
const END_OF_LISTS: &str = "endoflists";

/// The pause after a game before we seek the next one.
const REST: Duration = Duration::from_secs(5);

#[derive(Debug)]
pub(crate) enum SessionEffect {
    Event(ServerEvent),
    Send(String),
    /// Let the server do the command that it may have left lying.
    Nudge,
    Answer(u64, RequestResult),
}

#[derive(Default)]
enum CurrentGame {
    #[default]
    Empty,
    /// A game of which we wait to learn the moves.
    Opening(Box<OpeningGame>),
    Running(Box<FollowedGame>),
    /// A game that is not played: by rules that have no name with us, or one that was never agreed on.
    Unplayable {
        id: GameId,
        /// Its first board; the later ones are not looked at.
        board: Box<Style12>,
        why: String,
        /// Time until which the opponent may agree to leave it; then the adjudicator decides.
        leave_at: Option<Instant>,
    },
}

impl CurrentGame {
    /// Returns true if the server's line about a game means this one.
    fn is(&self, number: u32, white: &str, black: &str) -> bool {
        match self {
            Self::Empty => false,
            Self::Opening(opening) => opening.board.is_of(number, white, black),
            Self::Unplayable { board, .. } => board.is_of(number, white, black),
            Self::Running(game) => game.is(number, white, black),
        }
    }
}

struct OpeningGame {
    id: GameId,
    said: Announcement,
    board: Style12,
    received: Instant,
    list: MovesAnswer,
    /// Lists that came and did not lead to the board.
    lists_in_vain: u32,
    ask_again_at: Instant,
    give_up_at: Instant,
    /// True if nothing came since the request for the list.
    is_silent: bool,
}

#[derive(Default)]
pub(crate) struct FicsSession {
    settings: FicsSettings,
    /// Our name, while we are logged in.
    us: Option<Speaker>,
    /// True if offers come with numbers; sentences about them are then ignored.
    tells_offers: bool,
    /// Makes names unique: when this process began.
    run: String,
    serial: u64,
    /// A challenge that is being told in sentences, and when it will be taken as told.
    telling: Option<(Box<MatchTerms>, Instant)>,
    /// Known computers, in lower case.
    computers: BTreeSet<String>,
    challenges: Challenges,
    /// Receivers of a word of courtesy within the last minute.
    thanked: VecDeque<(String, Instant)>,
    requests: Requests,
    said: Announcement,
    current: CurrentGame,
    ended: Option<(GameId, GameEnd)>,
    /// Change of our rating that came before the end of the game on the board.
    early_rating: Option<i32>,
    /// The last state of the game that has `ended`, and the time until which it waits for the change of our rating.
    waiting_end: Option<(Option<GameState>, Instant)>,
    /// Time to request the board of an announced game.
    board_due: Option<Instant>,
    adjournments: Adjournments,
    history: History,
    look_ups: LookUps,
    silence: Silence,
    /// Fact that was last sent to be kept for a later process.
    told_learned: Option<&'static str>,
    /// The server's zones by their letters, with what their clocks show more than ours in UTC.
    zones: Vec<(Option<String>, SignedDuration)>,
    flagging: Option<Flagging>,
    /// Time until which the next board is awaited, to be sent on as a whole game.
    whole_due: Option<Instant>,
    seek_at: Option<Instant>,
    next_seek: usize,
    sought: Option<(String, Instant)>,
    seek_refusal: Option<String>,
    open: bool,
    /// True if games are sought: players who answer a seek must not be declined.
    seeks_wanted: bool,
    outbox: Outbox,
    /// True until the next prompt after a `finger`: its notes may look like a row of a list.
    reads_finger: bool,
    /// True after a command without a prompt yet that the outbox does not know.
    has_sent: bool,
    effects: Vec<SessionEffect>,
}

impl FicsSession {
    /// Creates a session without a login. `run` distinguishes this process in the names it gives.
    pub(crate) fn new(settings: FicsSettings, run: String) -> Self {
        let patience = Duration::from_secs(settings.answer_timeout);
        Self { settings, run, requests: Requests::new(patience), open: true, seeks_wanted: true, ..Self::default() }
    }

    pub(crate) fn effects(&mut self) -> Vec<SessionEffect> {
        let mut effects = std::mem::take(&mut self.effects);
        effects.extend(self.requests.answers.drain(..).map(|(ticket, answer)| SessionEffect::Answer(ticket, answer)));
        effects
    }

    pub(crate) fn connected(&mut self, us: Speaker, now: Instant) {
        let computer = us.titles.iter().any(|title| title == "C");
        let title = if computer { Some("C".to_owned()) } else { us.is_guest().then(|| "U".to_owned()) };
        let player = domain::Player { title, ..domain::Player::named(&us.name) };
        self.us = Some(us);
        self.tells_offers = false;
        self.tell(ServerEvent::Connected(Account { player, is_bot: true, ratings: Vec::new(), games_played: 0 }));
        self.adjournments.connected(now);
        if self.adjournments.has_cut_off() {
            // Where a server lets a game run on without us, this shows it.
            self.send("refresh");
        }
        for question in ["stored", "history", END_OF_LISTS] {
            self.send_in_turn(question.to_owned());
        }
        self.seek_at = Some(now + REST);
        if !self.settings.tournament_manager.is_empty() {
            self.send_in_turn("td set tourneyinfo on".to_owned());
            self.send_in_turn("td set autostart yes".to_owned());
            self.look_for_tournaments();
        }
        if !self.open {
            self.send("set open 0");
        }
        self.look_up_next(now);
        self.send_what_waits(now);
    }

    pub(crate) fn offers_are_numbered(&mut self) {
        self.tells_offers = true;
    }

    /// The connection is lost, and with it all that the server forgets of us; another one is made.
    pub(crate) fn disconnected(&mut self, reason: String) {
        if self.leave(&reason) {
            self.tell(ServerEvent::Disconnected { reason });
        }
    }

    /// The connection is over. Whether we were logged in.
    pub(crate) fn leave(&mut self, reason: &str) -> bool {
        self.tell_waiting_end();
        self.requests.settle_all(|_| true, &Err(ActionError::Unavailable(format!("connection lost: {reason}"))));
        if self.us.take().is_none() {
            return false;
        }
        for id in self.challenges.clear() {
            self.tell(ServerEvent::ChallengeCancelled(id));
        }
        if let (Some(id), Some(opponent)) = (self.current_id().cloned(), self.opponent_name()) {
            let game = self.take_current();
            self.adjournments.cut_off(&opponent, id, game);
        }
        self.current = CurrentGame::Empty;
        self.outbox.clear();
        self.reads_finger = false;
        self.look_ups.rest();
        self.look_ups.list_on_its_way = false;
        self.ended = None;
        self.board_due = None;
        self.telling = None;
        self.seek_at = None;
        self.forget_game();
        true
    }

    /// Forgets what was about the game on the board alone.
    fn forget_game(&mut self) {
        self.said = Announcement::default();
        self.silence.ends();
        self.flagging = None;
        self.whole_due = None;
    }

    pub(crate) fn on(&mut self, message: FicsMessage, now: Instant) {
        self.server_speaks(now);
        match message {
            FicsMessage::Board(board) => self.board(*board, now),
            FicsMessage::GameFacts(facts) => self.said.facts = Some(facts),
            FicsMessage::Creating(terms) => self.said.terms = Some(terms),
            FicsMessage::GameStart(start) => self.announced(start, now),
            FicsMessage::GameEnd(end) => self.game_end(end, now),
            FicsMessage::RatingAdjusted(change) => self.rating_adjusted(change),
            FicsMessage::Moves(line) => self.listed(line, now),
            FicsMessage::IllegalMove => self.move_refused("not a legal move"),
            FicsMessage::NotOurMove => self.move_refused("it is not the bot's move"),
            FicsMessage::UnknownCommand { command } => self.unknown_command(&command, now),
            FicsMessage::NotPlaying => self.not_playing(now),
            FicsMessage::MoreTime(seconds) => self.more_time(seconds),
            FicsMessage::OpponentLost => {
                if let Some(id) = self.current_id().cloned() {
                    self.tell(ServerEvent::OpponentGone { id, gone: true, claim_after: None });
                }
            }
            FicsMessage::Speech { by, manner, text } => self.heard(&by, manner, text),
            FicsMessage::Service(line) => self.service(&line),
            FicsMessage::Presence(there) => drop(self.requests.settle_presence(there)),
            FicsMessage::Notification { name, arrived, adjourned } => self.notified(&name, arrived, adjourned),
            FicsMessage::AdjournedOnline(names) => {
                for name in names {
                    self.notified(&name, true, true);
                }
            }
            FicsMessage::FingerBegins => self.reads_finger = true,
            FicsMessage::Stored(_) | FicsMessage::Past(_) if self.reads_finger => {}
            FicsMessage::Stored(game) => self.stored(game, now),
            FicsMessage::ServerTime(time) => self.server_time(time),
            FicsMessage::Past(game) => {
                self.look_ups.row(&game);
                self.history.row(game);
            }
            FicsMessage::NoClock => self.has_no_clock(),
            FicsMessage::CannotAdjourn => self.cannot_adjourn(),
            FicsMessage::Unknown(line) => tracing::debug!(?line, "an unknown line"),
            other => self.offer_message(other, now),
        }
        self.resume_if_possible(now);
        self.tell_what_is_learned();
        self.look_up_next(now);
        self.send_what_waits(now);
    }

    pub(crate) fn prompted(&mut self, now: Instant) {
        self.server_speaks(now);
        self.has_sent = false;
        self.reads_finger = false;
        self.outbox.prompted();
        self.send_what_waits(now);
    }

    /// The time named by [`FicsSession::wake_at`] has come.
    pub(crate) fn tick(&mut self, now: Instant) {
        self.requests.expire(now);
        if self.requests.is_nudge_due(now) {
            self.effects.push(SessionEffect::Nudge);
        }
        for gone in self.challenges.expired(now) {
            let not_there = Err(ActionError::NotFound(format!("the challenge {} stands no more", gone.id)));
            self.requests.settle(|want| *want == Want::Game(gone.id.clone()), not_there);
            self.tell(ServerEvent::ChallengeCancelled(gone.id));
        }
        self.opening_is_due(now);
        self.waiting_end_is_due(now);
        if self.whole_due.is_some_and(|due| due <= now) {
            self.tell_game(true);
        }
        if self.telling.as_ref().is_some_and(|(_, due)| *due <= now) {
            self.told(now);
        }
        if self.us.is_none() {
            return;
        }
        if self.board_due.take_if(|due| *due <= now).is_some() {
            self.send("refresh");
        }
        if self.adjournments.verdict_at.is_some_and(|at| at <= now) {
            self.settle_cut_off();
        }
        self.withdraw_new_game_if_due(now);
        self.resume_if_possible(now);
        self.look_up_is_due(now);
        self.flag(now);
        self.silence_is_due(now);
        self.leaving_is_due(now);
        self.seek(now);
        self.send_what_waits(now);
    }

    /// Returns the latest time of the next [`FicsSession::tick`].
    pub(crate) fn wake_at(&self) -> Option<Instant> {
        let game = match &self.current {
            CurrentGame::Opening(opening) => Some(opening.due().min(opening.ask_again_at)),
            CurrentGame::Unplayable { leave_at, .. } => *leave_at,
            _ => None,
        };
        let seek = self.seek_at.filter(|_| self.may_seek());
        let times = [
            self.requests.wake_at(),
            self.challenges.wake_at(),
            game,
            self.whole_due,
            self.waiting_end.as_ref().map(|(_, due)| *due),
            self.board_due,
            self.telling.as_ref().map(|(_, due)| *due),
            self.adjournments.wake_at(self.may_resume(), self.open).filter(|_| self.us.is_some()),
            self.flag_at(),
            self.silence_at(),
            self.look_ups.until,
            seek,
            self.outbox.wake_at().filter(|_| self.us.is_some() && !self.is_our_move()),
        ];
        times.into_iter().flatten().min()
    }

    /// Tells a game whole as soon as the server has shown it again.
    pub(crate) fn resync(&mut self, id: &GameId, now: Instant) {
        if self.waiting_end.is_some() && self.ended.as_ref().is_some_and(|(ended, _)| ended == id) {
            return self.tell_waiting_end();
        }
        match &self.current {
            CurrentGame::Running(game) if game.info.id == *id => {
                self.whole_due = Some(now + REFRESH_PATIENCE);
                self.ask_whether_game_runs(now);
            }
            // It will be told anyway, or told to be over.
            CurrentGame::Opening(opening) if opening.id == *id => {}
            _ if self.adjournments.is_cut_off(id) => {}
            _ => self.tell(ServerEvent::GameGone(id.clone())),
        }
    }

    /// Sets whether new games are accepted, in this connection and later ones.
    pub(crate) fn open_to_new_games(&mut self, open: bool, now: Instant) {
        if std::mem::replace(&mut self.open, open) == open || self.us.is_none() {
            return;
        }
        if open {
            self.send("set open 1");
            self.seek_at = Some(now);
        } else {
            if !self.settings.seeks.is_empty() {
                self.send("unseek");
            }
            self.send("set open 0");
        }
    }

    /// A game is announced: its board should come next, unless it came before.
    fn announced(&mut self, start: GameStart, now: Instant) {
        let us = self.our_name();
        let ours = start.white.eq_ignore_ascii_case(us) || start.black.eq_ignore_ascii_case(us);
        let is_shown = !matches!(self.current, CurrentGame::Unplayable { .. })
            && self.current.is(start.game, &start.white, &start.black);
        if ours && start.resumed {
            let opponent = start.opponent_of(us).to_owned();
            self.adjournments.marked(&opponent, false);
        }
        if ours && !is_shown {
            self.board_due = Some(now + SENTENCE_PATIENCE);
            self.said.start = Some(start);
        }
    }

    fn unknown_command(&mut self, command: &str, now: Instant) {
        match command.split(' ').next().unwrap_or_default() {
            END_OF_LISTS => self.lists_are_told(),
            word if self.look_ups.is_end(word) => self.list_looked_up(now),
            "smoves" => self.moves_are_not_told(),
            "stored" => self.adjournments.are_not_listed(),
            "resume" => self.resume_is_unknown(),
            "refresh" => self.refresh_is_unknown(now),
            "moves" if matches!(self.current, CurrentGame::Opening(_)) => self.open_from_here(),
            _ => {
                let is_move = |want: &Want| matches!(want, Want::OurMove { command: sent, .. } if sent.eq_ignore_ascii_case(command));
                self.requests
                    .settle_all(is_move, &Err(ActionError::Refused(format!("{command} is no move to the server"))));
            }
        }
    }

    pub(crate) fn current_id(&self) -> Option<&GameId> {
        match &self.current {
            CurrentGame::Empty => None,
            CurrentGame::Unplayable { id, .. } => Some(id),
            CurrentGame::Opening(opening) => Some(&opening.id),
            CurrentGame::Running(game) => Some(&game.info.id),
        }
    }

    fn opponent_name(&self) -> Option<String> {
        match &self.current {
            CurrentGame::Empty => None,
            CurrentGame::Unplayable { board, .. } => board.opponent().map(str::to_owned),
            CurrentGame::Opening(opening) => opening.board.opponent().map(str::to_owned),
            CurrentGame::Running(game) => Some(game.info.opponent().name.clone()),
        }
    }

    /// Returns our remaining clock, if a silently dead connection would cost some of it: while the
    /// opponent thinks, and while a move of ours is on its way.
    pub(crate) fn clock_at_risk(&self) -> Option<Duration> {
        let CurrentGame::Running(game) = &self.current else { return None };
        let is_sent = self.requests.is_open(Want::is_our_move);
        game.our_clock().filter(|_| is_sent || !game.is_our_move())
    }

    /// Takes the game off the board; gives it, if its moves are known.
    fn take_current(&mut self) -> Option<Box<FollowedGame>> {
        match std::mem::replace(&mut self.current, CurrentGame::Empty) {
            CurrentGame::Running(game) => Some(game),
            _ => None,
        }
    }

    /// A name that no challenge or game of ours had before.
    fn new_name(&mut self, opponent: &str) -> String {
        self.serial += 1;
        format!("{}-{}-{}", opponent.to_lowercase(), self.run, self.serial)
    }

    fn tell(&mut self, event: ServerEvent) {
        self.effects.push(SessionEffect::Event(event));
    }

    fn send(&mut self, command: &str) {
        self.effects.push(SessionEffect::Send(command.to_owned()));
        self.has_sent = true;
    }

    /// Sends a command when nothing that matters more is held up by it.
    fn send_in_turn(&mut self, command: String) {
        self.outbox.push(command);
    }

    fn send_what_waits(&mut self, now: Instant) {
        if std::mem::take(&mut self.has_sent) {
            self.outbox.sent(now);
        }
        if self.us.is_some()
            && !self.is_our_move()
            && let Some(command) = self.outbox.next(now)
        {
            // Its answer is another one; some servers show no prompt between them.
            self.reads_finger = false;
            self.effects.push(SessionEffect::Send(command));
        }
    }

    /// Returns true if a move may be sent at any time now.
    fn is_our_move(&self) -> bool {
        matches!(&self.current, CurrentGame::Running(game) if game.is_our_move() && !game.is_played_out())
    }

    /// Tells the game, whole or its state alone, unless the board shows that it is over: then the server is about to say how.
    fn tell_game(&mut self, whole: bool) {
        if whole {
            self.whole_due = None;
        }
        if let CurrentGame::Running(game) = &self.current
            && !game.is_played_out()
        {
            let event = match whole {
                true => ServerEvent::Game(Box::new(game.info.clone()), game.state()),
                false => ServerEvent::GameState(game.info.id.clone(), game.state()),
            };
            self.tell(event);
        }
    }
}
