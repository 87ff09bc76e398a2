//! We as a player, without sockets: what the server says goes in, what is to be told and sent comes out.
//!
//! [`Player`] holds what is true between two connections (which game of ours waits to be resumed) as well as within one
//! (challenges, the game on the board, requests that wait for an answer). It reads no clock and is given the time, so
//! whole evenings of play are unit tests.
//!
//! A server plays one game with us at a time. That game is [`Table::Opening`] until all its moves are known, then
//! [`Table::Running`]; only then is it told.

mod actions;
mod challenges;
mod game;
mod offers;
mod requests;
mod resumption;
#[cfg(test)]
mod tests;
mod tournament;

use std::{
    collections::BTreeSet,
    time::{Duration, Instant},
};

use shakmaty::Position;

pub(crate) use self::requests::{Answer, Ticket};
use self::{
    challenges::Challenges,
    game::{Announcement, Followed, Game, MoveList},
    requests::{Requests, Want},
    resumption::Adjournments,
};
use super::{
    message::{Board, GameEnd, ListedMoves, Manner, Message, Relation, Speaker},
    settings::FicsSettings,
};
use crate::{
    chess::GameId,
    server::{self, Account, ActionError, ChatLine, ChatRoom, Done, GameStatus, ServerEvent},
};

/// How long the answer to `moves` may take before a game is played from the position on the board.
const LIST_PATIENCE: Duration = Duration::from_secs(5);

/// How long the answer to `refresh` may take before a game is told as we know it.
const REFRESH_PATIENCE: Duration = Duration::from_secs(2);

/// The pause after a game before we seek the next one.
const REST: Duration = Duration::from_secs(5);

/// The pause between two calls of `flag`.
const FLAG_AGAIN: Duration = Duration::from_secs(10);

/// What is to be done.
#[derive(Debug)]
pub(crate) enum Effect {
    /// Tell the house.
    Event(ServerEvent),
    /// Send a command.
    Send(String),
    /// Answer a request.
    Answer(Ticket, Result<Answer, ActionError>),
}

/// The game that we have, if any.
enum Table {
    Empty,
    /// A game of which we wait to learn the moves.
    Opening(Box<Opening>),
    Running(Box<Game>),
    /// A game by rules we do not know, with its number; its boards are not looked at.
    Unplayable(u32),
}

struct Opening {
    id: GameId,
    said: Announcement,
    /// The newest board.
    board: Board,
    received: Instant,
    list: MoveList,
    give_up_at: Instant,
}

/// An opponent out of time whom the server does not flag.
#[derive(Clone, Copy, Debug)]
struct Flagging {
    since: Instant,
    again_at: Instant,
}

/// We, on one server.
pub(crate) struct Player {
    settings: FicsSettings,
    /// Our name, while we are logged in.
    us: Option<Speaker>,
    /// Whether offers come with numbers; sentences about them are then not needed.
    tells_offers: bool,
    /// Makes names unique: when this process began.
    run: String,
    serial: u64,
    /// A challenge that is being told in sentences, and whether it comes from a computer.
    telling: Option<Box<super::message::MatchTerms>>,
    computers: BTreeSet<String>,
    challenges: Challenges,
    requests: Requests,
    said: Announcement,
    table: Table,
    adjournments: Adjournments,
    flagging: Option<Flagging>,
    /// Until when the next board is waited for, to be told as a whole game.
    whole_due: Option<Instant>,
    seek_at: Option<Instant>,
    next_seek: usize,
    open: bool,
    effects: Vec<Effect>,
}

impl Player {
    /// Not logged in yet. `run` distinguishes the names given by this process from those of earlier ones.
    pub(crate) fn new(settings: FicsSettings, run: String) -> Self {
        Self {
            settings,
            us: None,
            tells_offers: false,
            run,
            serial: 0,
            telling: None,
            computers: BTreeSet::new(),
            challenges: Challenges::default(),
            requests: Requests::default(),
            said: Announcement::default(),
            table: Table::Empty,
            adjournments: Adjournments::default(),
            flagging: None,
            whole_due: None,
            seek_at: None,
            next_seek: 0,
            open: true,
            effects: Vec::new(),
        }
    }

    /// What there is to be done since the last call.
    pub(crate) fn effects(&mut self) -> Vec<Effect> {
        let answers = self.requests.answers().into_iter().map(|(ticket, answer)| Effect::Answer(ticket, answer));
        let mut effects = std::mem::take(&mut self.effects);
        effects.extend(answers);
        effects
    }

    /// The game that we have.
    pub(crate) fn running(&self) -> Vec<GameId> {
        self.current_id().cloned().into_iter().collect()
    }

    /// Login and set-up are done.
    pub(crate) fn connected(&mut self, us: Speaker, tells_offers: bool, now: Instant) {
        let computer = us.titles.iter().any(|title| title == "C");
        let title = if computer { Some("C".to_owned()) } else { us.is_guest().then(|| "U".to_owned()) };
        let player = server::Player { title, ..server::Player::named(&us.name) };
        self.us = Some(us);
        self.tells_offers = tells_offers;
        self.tell(ServerEvent::Connected(Account { player, is_bot: true, ratings: Vec::new(), games_played: 0 }));
        self.adjournments.connected(now);
        self.send("stored");
        self.seek_at = Some(now + REST);
        if !self.settings.tournament_manager.is_empty() {
            self.send("td set tourneyinfo on");
            self.send("td set autostart yes");
            self.look_for_tournaments();
        }
        if !self.open {
            self.send("set open 0");
        }
    }

    /// The connection is lost, and with it all that the server forgets of us.
    pub(crate) fn disconnected(&mut self, reason: String) {
        self.requests.settle_all(|_| true, &Err(ActionError::Unavailable(format!("connection lost: {reason}"))));
        if self.us.take().is_none() {
            return;
        }
        for id in self.challenges.clear() {
            self.tell(ServerEvent::ChallengeCancelled(id));
        }
        if let (Some(id), Some(opponent)) = (self.current_id().cloned(), self.opponent_name()) {
            self.adjournments.cut_off(&opponent, id);
        }
        self.table = Table::Empty;
        self.said = Announcement::default();
        self.telling = None;
        self.flagging = None;
        self.whole_due = None;
        self.seek_at = None;
        self.tell(ServerEvent::Disconnected { reason });
    }

    /// The server says something.
    pub(crate) fn on(&mut self, message: Message, now: Instant) {
        match message {
            Message::Board(board) => self.board(*board, now),
            Message::GameFacts(facts) => self.said.facts = Some(facts),
            Message::Creating(terms) => self.said.terms = Some(terms),
            Message::GameStart(start) => self.said.start = Some(start),
            Message::GameEnd(end) => self.game_end(end, now),
            Message::Moves(line) => self.listed(line),
            Message::IllegalMove => self.move_refused("not a legal move"),
            Message::NotOurMove => self.move_refused("it is not our move"),
            Message::UnknownCommand(command) => {
                let is_move = |want: &Want| matches!(want, Want::OurMove { command: sent, .. } if sent.eq_ignore_ascii_case(&command));
                self.requests.settle(is_move, Err(ActionError::Refused(format!("{command} is no move to the server"))));
            }
            Message::NotPlaying => self.not_playing(),
            Message::MoreTime(seconds) => self.more_time(seconds),
            Message::OpponentLost => {
                if let Some(id) = self.current_id().cloned() {
                    self.tell(ServerEvent::OpponentGone { id, gone: true, claim_after: None });
                }
            }
            Message::Speech { by, manner, text } => self.heard(&by, manner, text),
            Message::Service(line) => self.service(&line),
            Message::Presence(there) => {
                self.requests.settle(|want| *want == Want::Presence, Ok(Answer::There(there)));
            }
            Message::Notification { name, arrived, adjourned } => self.adjournments.notified(&name, arrived, adjourned),
            Message::AdjournedOnline(names) => {
                for name in names {
                    self.adjournments.notified(&name, true, true);
                }
            }
            Message::Stored(game) => self.stored(game),
            Message::Unknown(line) => tracing::debug!(?line, "a line we do not know"),
            other => self.offer_message(other, now),
        }
        self.resume_if_possible(now);
    }

    /// The time named by [`Player::wake_at`] has come.
    pub(crate) fn tick(&mut self, now: Instant) {
        self.requests.expire(now);
        for gone in self.challenges.expired(now) {
            let not_there = Err(ActionError::NotFound(format!("the challenge {} stands no more", gone.id)));
            self.requests.settle(|want| *want == Want::Game(gone.id.clone()), not_there);
            self.tell(ServerEvent::ChallengeCancelled(gone.id));
        }
        if matches!(&self.table, Table::Opening(opening) if opening.give_up_at <= now) {
            self.open_from_here();
        }
        if self.whole_due.is_some_and(|due| due <= now) {
            self.tell_whole();
        }
        if self.us.is_none() {
            return;
        }
        self.settle_cut_off(now);
        self.resume_if_possible(now);
        self.flag(now);
        self.seek(now);
    }

    /// When [`Player::tick`] is to be called, at the latest.
    pub(crate) fn wake_at(&self) -> Option<Instant> {
        let opening = match &self.table {
            Table::Opening(opening) => Some(opening.give_up_at),
            _ => None,
        };
        let seek = self.seek_at.filter(|_| self.may_seek());
        let times = [
            self.requests.wake_at(),
            self.challenges.wake_at(),
            opening,
            self.whole_due,
            self.adjournments.wake_at(self.may_resume()).filter(|_| self.us.is_some()),
            self.flag_at(),
            seek,
        ];
        times.into_iter().flatten().min()
    }

    /// Tells a game whole as soon as the server has shown it again.
    pub(crate) fn resync(&mut self, id: &GameId, now: Instant) {
        match &self.table {
            Table::Running(game) if game.info.id == *id => {
                self.whole_due = Some(now + REFRESH_PATIENCE);
                self.send("refresh");
            }
            // It will be told anyway, or told to be over.
            Table::Opening(opening) if opening.id == *id => {}
            _ if self.adjournments.is_cut_off(id) => {}
            _ => self.tell(ServerEvent::GameGone(id.clone())),
        }
    }

    /// Takes challenges and seeks games, or no longer does.
    pub(crate) fn set_open(&mut self, open: bool) {
        self.open = open;
        if self.us.is_some() {
            if !open && !self.settings.seeks.is_empty() {
                self.send("unseek");
            }
            self.send(if open { "set open 1" } else { "set open 0" });
        }
    }

    // --- Games ---------------------------------------------------------------------------------------------------------

    fn board(&mut self, board: Board, now: Instant) {
        if board.relation == Relation::StartOfList {
            if let Table::Opening(opening) = &mut self.table {
                opening.list.starts_from(board);
            }
            return;
        }
        if !board.is_ours() {
            return;
        }
        match &mut self.table {
            Table::Running(game) if game.is_shown_by(&board) => match game.follow(&board, now) {
                Followed::Lost => self.reopen(board, now),
                followed => self.followed(followed, board.relation),
            },
            Table::Opening(opening)
                if opening.board.game == board.game
                    && opening.board.white == board.white
                    && opening.board.black == board.black =>
            {
                opening.board = board;
                opening.received = now;
            }
            Table::Unplayable(number) if *number == board.game => {}
            _ => self.game_begins(board, now),
        }
    }

    fn followed(&mut self, followed: Followed, relation: Relation) {
        if followed != Followed::Same {
            self.flagging = None;
        }
        if followed == Followed::Moved && relation == Relation::TheirMove {
            let ours = |want: &Want| matches!(want, Want::OurMove { .. });
            if let Some(Want::OurMove { draw_after: true, .. }) =
                self.requests.settle(ours, Ok(Answer::Done(Done::Taken)))
            {
                self.send("draw");
            }
        }
        // After a takeback nobody who only adds moves to what he knows would follow.
        if followed == Followed::Back || self.whole_due.is_some() { self.tell_whole() } else { self.tell_state() }
    }

    fn game_begins(&mut self, board: Board, now: Instant) {
        if let Some(id) = self.current_id().cloned() {
            self.tell(ServerEvent::GameGone(id));
        }
        let ours = self.us.as_ref().map_or("", |us| us.name.as_str());
        let opponent = if board.white.eq_ignore_ascii_case(ours) { &board.black } else { &board.white }.clone();
        let mut said = std::mem::take(&mut self.said);
        said.start.take_if(|start| start.game != board.game);
        said.facts.take_if(|facts| facts.game != board.game);
        said.terms.take_if(|terms| !terms.first.name.eq_ignore_ascii_case(&board.white));

        let (source, void) = self.challenges.game_begins(&opponent);
        let resumed = board.last_move.is_some() || said.start.as_ref().is_some_and(|start| start.resumed);
        let waiting = self.adjournments.resumed(&opponent, resumed);
        let id = waiting
            .or_else(|| source.as_ref().map(GameId::from))
            .unwrap_or_else(|| GameId::new(self.new_name(&opponent)));
        if let Some(source) = source {
            self.requests.settle(|want| *want == Want::Game(source.clone()), Ok(Answer::Done(Done::Taken)));
        }
        let issued = Done::Challenged(id.as_str().into());
        let to_them = |want: &Want| matches!(want, Want::Issued(name) if name.eq_ignore_ascii_case(&opponent));
        self.requests.settle(to_them, Ok(Answer::Done(issued)));
        let busy = ActionError::Refused("another game has begun".to_owned());
        self.requests.settle_all(|want| matches!(want, Want::Issued(_) | Want::Game(_)), &Err(busy));
        for id in void {
            self.tell(ServerEvent::ChallengeCancelled(id));
        }

        self.flagging = None;
        self.whole_due = None;
        self.tell(ServerEvent::GameStarted(id.clone()));
        if board.last_move.is_some() {
            self.open_with_list(id, said, board, now);
            return;
        }
        match Game::begin(id.clone(), &board, &said, now) {
            Ok(game) => self.run(game),
            Err(error) => self.cannot_play(id, board.game, &error.to_string()),
        }
    }

    /// Asks for the moves of a game that we cannot know from its boards.
    fn open_with_list(&mut self, id: GameId, said: Announcement, board: Board, now: Instant) {
        let list = MoveList::default();
        self.table =
            Table::Opening(Box::new(Opening { id, said, board, received: now, list, give_up_at: now + LIST_PATIENCE }));
        self.send("moves");
    }

    /// A board came that the moves we know do not lead to.
    fn reopen(&mut self, board: Board, now: Instant) {
        let Table::Running(game) = std::mem::replace(&mut self.table, Table::Empty) else { return };
        let id = game.info.id;
        let what = format!("the board {} does not follow from the moves we know", board.fen());
        self.tell(ServerEvent::Fault { game: Some(id.clone()), what });
        self.open_with_list(id, game.said, board, now);
    }

    fn listed(&mut self, line: ListedMoves) {
        let Table::Opening(opening) = &mut self.table else { return };
        if !opening.list.take(line) {
            return;
        }
        let Opening { id, board, list, said, received, .. } = opening.as_ref();
        match Game::resume(id.clone(), board, list, said, *received) {
            Some(game) => self.run(game),
            None => self.open_from_here(),
        }
    }

    /// The moves are not to be had: the game is played from where it is.
    fn open_from_here(&mut self) {
        let Table::Opening(opening) = std::mem::replace(&mut self.table, Table::Empty) else { return };
        let Opening { id, said, board, received, .. } = *opening;
        let what = "the server did not tell the moves of this game; it is played from the board".to_owned();
        self.tell(ServerEvent::Fault { game: Some(id.clone()), what });
        match Game::from_here(id.clone(), &board, &said, received) {
            Ok(game) => self.run(game),
            Err(error) => self.cannot_play(id, board.game, &error.to_string()),
        }
    }

    fn run(&mut self, game: Game) {
        self.table = Table::Running(Box::new(game));
        self.tell_whole();
    }

    /// A game by rules we do not know. The policy takes none, so it can only be a mistake.
    fn cannot_play(&mut self, id: GameId, number: u32, why: &str) {
        self.table = Table::Unplayable(number);
        self.tell(ServerEvent::Fault { game: Some(id.clone()), what: format!("a game we cannot play: {why}") });
        self.tell(ServerEvent::GameGone(id));
        self.send("abort");
    }

    fn game_end(&mut self, end: GameEnd, now: Instant) {
        let (id, last) = match &self.table {
            Table::Running(game) if game.is(end.game, &end.white, &end.black) => {
                (game.info.id.clone(), Some(game.ended(end.status.clone(), end.winner)))
            }
            Table::Opening(opening) if opening.board.game == end.game => (opening.id.clone(), None),
            Table::Unplayable(number) if *number == end.game => {
                self.table = Table::Empty;
                return;
            }
            _ => return,
        };
        if end.status == GameStatus::Adjourned
            && let Some(opponent) = self.opponent_name()
        {
            self.adjournments.adjourned(&opponent, &id);
        }
        self.table = Table::Empty;
        self.said = Announcement::default();
        self.flagging = None;
        self.whole_due = None;
        self.seek_at = Some(now + REST);
        let over = Err(ActionError::NotFound(format!("the game is over: {}", end.words)));
        self.requests.settle_all(|want| matches!(want, Want::OurMove { .. }), &over);
        if let Some(last) = last {
            self.tell(ServerEvent::GameState(id.clone(), last));
        }
        self.tell(ServerEvent::GameFinished { id, status: Some(end.status), winner: end.winner });
        self.look_for_tournaments();
    }

    fn move_refused(&mut self, why: &str) {
        let ours = |want: &Want| matches!(want, Want::OurMove { .. });
        self.requests.settle(ours, Err(ActionError::Refused(why.to_owned())));
    }

    fn not_playing(&mut self) {
        let ours = |want: &Want| matches!(want, Want::OurMove { .. });
        let not_found = ActionError::NotFound("the server says that we are not playing".to_owned());
        if self.requests.settle(ours, Err(not_found)).is_some()
            && let Some(id) = self.current_id().cloned()
        {
            self.table = Table::Empty;
            self.tell(ServerEvent::GameGone(id));
        }
    }

    fn more_time(&mut self, seconds: u32) {
        if let Table::Running(game) = &mut self.table {
            let color = game.info.our_color;
            game.add_time(color, Duration::from_secs(seconds.into()));
            self.tell_state();
        }
    }

    // --- Manners -------------------------------------------------------------------------------------------------------

    fn flag_at(&self) -> Option<Instant> {
        match &self.table {
            Table::Running(game) => self.flagging.map(|flagging| flagging.again_at).or_else(|| game.flag_at()),
            _ => None,
        }
    }

    /// Calls `flag` on an opponent out of time; where the server will not have it because his connection lags, and goes on
    /// to lag, the game is put off instead.
    fn flag(&mut self, now: Instant) {
        let Some(due) = self.flag_at().filter(|due| *due <= now) else { return };
        let Table::Running(game) = &self.table else { return };
        let since = self.flagging.map_or(due, |flagging| flagging.since);
        self.flagging = Some(Flagging { since, again_at: now + FLAG_AGAIN });
        let courtesy = Duration::from_secs(self.settings.courtesy_after);
        if !courtesy.is_zero() && now.saturating_duration_since(since) >= courtesy {
            // What guests play is not kept.
            let guests =
                self.us.as_ref().is_some_and(Speaker::is_guest) || game.info.opponent().title.as_deref() == Some("U");
            self.send(if guests { "abort" } else { "adjourn" });
        } else {
            self.send("flag");
        }
    }

    fn may_seek(&self) -> bool {
        self.us.is_some()
            && self.open
            && !self.settings.seeks.is_empty()
            && matches!(self.table, Table::Empty)
            && !self.requests.is_open(|want| matches!(want, Want::Game(_)))
    }

    fn seek(&mut self, now: Instant) {
        if !self.may_seek() || self.seek_at.is_none_or(|at| at > now) {
            return;
        }
        let seeks = &self.settings.seeks;
        let Some(seek) = seeks.get(self.next_seek % seeks.len()) else { return };
        // Manual, so that every answer is a challenge that the policy sees.
        let manual = if seek.split(' ').any(|word| word == "m" || word == "manual") { "" } else { " m" };
        let command = format!("seek {seek}{manual}");
        if self.next_seek > 0 {
            self.send("unseek");
        }
        self.next_seek = self.next_seek.wrapping_add(1);
        self.seek_at = Some(now + self.settings.seek_interval());
        self.send(&command);
    }

    fn look_for_tournaments(&mut self) {
        if self.settings.join_tournaments && !self.settings.tournament_manager.is_empty() {
            self.send("td ListTourneys -j");
        }
    }

    fn service(&mut self, line: &str) {
        if self.settings.tournament_manager.is_empty() {
            return;
        }
        if let Some(command) = tournament::answer(line, self.settings.join_tournaments) {
            self.send(&command);
        } else if self.settings.join_tournaments && tournament::has_next_page(line) {
            self.send("td next");
        }
    }

    fn heard(&mut self, by: &Speaker, manner: Manner, text: String) {
        let game = match &self.table {
            Table::Running(game) => {
                Some((game.info.id.clone(), game.info.opponent().name.eq_ignore_ascii_case(&by.name)))
            }
            _ => None,
        };
        let room = match (manner, &game) {
            (Manner::Whisper, _) => Some(ChatRoom::Spectator),
            (Manner::Tell | Manner::Say | Manner::Kibitz, Some((_, true))) => Some(ChatRoom::Player),
            (Manner::Kibitz, _) => Some(ChatRoom::Spectator),
            (Manner::Tell | Manner::Say, _) => None,
        };
        let username = by.name.clone();
        match (room, game) {
            (Some(room), Some((id, _))) => self.tell(ServerEvent::Chat(id, ChatLine { room, username, text })),
            (None, _) => {
                let title = by.titles.iter().find(|title| title.chars().any(char::is_alphabetic)).cloned();
                let from = server::Player { title, ..server::Player::named(&username) };
                self.tell(ServerEvent::Tell { from, text });
            }
            (Some(_), None) => {}
        }
    }

    // --- Odds and ends -------------------------------------------------------------------------------------------------

    fn current_id(&self) -> Option<&GameId> {
        match &self.table {
            Table::Empty | Table::Unplayable(_) => None,
            Table::Opening(opening) => Some(&opening.id),
            Table::Running(game) => Some(&game.info.id),
        }
    }

    fn opponent_name(&self) -> Option<String> {
        match &self.table {
            Table::Empty | Table::Unplayable(_) => None,
            Table::Opening(opening) => {
                let (white, black) = (&opening.board.white, &opening.board.black);
                opening.board.our_color().map(|color| color.fold_wb(black, white).clone())
            }
            Table::Running(game) => Some(game.info.opponent().name.clone()),
        }
    }

    /// A name that no challenge or game of ours had before.
    fn new_name(&mut self, opponent: &str) -> String {
        self.serial += 1;
        format!("{}-{}-{}", opponent.to_lowercase(), self.run, self.serial)
    }

    fn tell(&mut self, event: ServerEvent) {
        self.effects.push(Effect::Event(event));
    }

    fn send(&mut self, command: &str) {
        self.effects.push(Effect::Send(command.to_owned()));
    }

    /// Tells the state of the game, unless the board shows that it is over: then the server is about to say how.
    fn tell_state(&mut self) {
        if let Table::Running(game) = &self.table
            && !game.position().is_game_over()
        {
            let event = ServerEvent::GameState(game.info.id.clone(), game.state());
            self.tell(event);
        }
    }

    fn tell_whole(&mut self) {
        self.whole_due = None;
        if let Table::Running(game) = &self.table
            && !game.position().is_game_over()
        {
            let event = ServerEvent::Game(Box::new(game.info.clone()), game.state());
            self.tell(event);
        }
    }
}
