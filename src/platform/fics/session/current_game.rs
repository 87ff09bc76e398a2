//! The game on the board, from its first board to its end.
//!
//! Servers send the change of our rating in a line of its own, as a rule right after the end of the game. So the end of a rated
//! game is told once that line has come, or after [`RATING_PATIENCE`].

use std::time::{Duration, Instant};

use super::{
    CurrentGame, FicsSession, OpeningGame, REST, RequestAnswer, SENTENCE_PATIENCE,
    game::{Announcement, Followed, FollowedGame, MovesAnswer, line_from, start_line},
    requests::Want,
};
use crate::fics::message::{BoardRelation, GameEnd, ListedMoves, Style12};
use domain::{ActionError, Done, GameId, GameState, GameStatus, Line, LineError, ServerEvent};

/// Timeout for the answer to `moves`, after which it is requested again.
const LIST_PATIENCE: Duration = Duration::from_secs(5);
/// The share of our clock that is spent on waiting for it before a game is played from the position on the board, and the most: a
/// game whose moves we know has a whole record.
const WORTH_WAITING: (u32, Duration) = (16, Duration::from_secs(20));
/// Maximum number of lists that do not lead to the board, because lines of them were lost.
const LISTS_IN_VAIN: u32 = 3;

/// The time that the opponent may take to agree to the end of a game that is not played.
const LEAVE_PATIENCE: Duration = Duration::from_secs(15);

/// Time that the end of a rated game waits for the change of our rating.
const RATING_PATIENCE: Duration = Duration::from_secs(1);

impl OpeningGame {
    /// When the game is played from its board without a list. A server that has said nothing since it was asked may be one that we
    /// have lost: to play from the board is of no use then, and over the next connection the list may come. So it has as long again.
    pub(super) fn due(&self) -> Instant {
        let waits = self.give_up_at.saturating_duration_since(self.received);
        if self.is_silent { self.give_up_at + waits } else { self.give_up_at }
    }
}

impl FicsSession {
    /// The server says something: what was asked of a game that begins may be on its way.
    pub(super) fn server_speaks(&mut self, now: Instant) {
        let CurrentGame::Opening(opening) = &mut self.current else { return };
        if std::mem::take(&mut opening.is_silent) {
            opening.give_up_at = opening.give_up_at.max(now + SENTENCE_PATIENCE);
        }
    }

    pub(super) fn board(&mut self, board: Style12, now: Instant) {
        if board.relation == BoardRelation::StartOfList {
            if let CurrentGame::Opening(opening) = &mut self.current {
                opening.list.start = Some(board);
            }
            return;
        }
        // Some servers show others' games so as if they were ours.
        let us = self.our_name();
        let is_at_board = [&board.white, &board.black].into_iter().any(|name| name.eq_ignore_ascii_case(us));
        if !board.is_ours() || !is_at_board {
            return;
        }
        self.board_due = None;
        if self.is_afterthought(&board) {
            return;
        }
        self.silence.is_broken(now);
        let is_current = self.current.is(board.game, &board.white, &board.black);
        match &mut self.current {
            _ if !is_current => self.game_begins(board, now),
            CurrentGame::Running(game) => match game.follow(&board, now) {
                Followed::Lost => self.reopen(board, now),
                followed => self.followed(followed),
            },
            CurrentGame::Opening(opening) => {
                opening.give_up_at = give_up_at(&board, now);
                opening.board = board;
                opening.received = now;
            }
            CurrentGame::Unplayable { .. } | CurrentGame::Empty => {}
        }
    }

    /// True if a board shows once more the game that has just ended, as some servers do after its end.
    fn is_afterthought(&self, board: &Style12) -> bool {
        let announced = self.said.start.as_ref().is_some_and(|start| start.game == board.game);
        let ended = self.ended.as_ref().is_some_and(|(_, end)| {
            end.game == board.game
                && end.white.eq_ignore_ascii_case(&board.white)
                && end.black.eq_ignore_ascii_case(&board.black)
        });
        ended && !announced && board.last_move.is_some()
    }

    fn followed(&mut self, followed: Followed) {
        if followed != Followed::Same {
            self.flagging = None;
        }
        self.settle_our_moves();
        // After a takeback a reader that only adds moves would not follow.
        self.tell_game(followed == Followed::Back || self.whole_due.is_some());
    }

    /// Settles the moves that we have sent: accepted, or too late for the position on the board.
    fn settle_our_moves(&mut self) {
        let CurrentGame::Running(game) = &self.current else { return };
        let moves = game.line().moves();
        let settled = self.requests.settle_each(|want| match want {
            Want::OurMove { uci, ply, .. } if moves.get(*ply) == Some(uci) => {
                Some(Ok(RequestAnswer::Done(Done::Taken)))
            }
            Want::OurMove { ply, .. } if *ply != moves.len() => {
                Some(Err(ActionError::Refused("the position has changed".to_owned())))
            }
            _ => None,
        });
        let is_made = |want: &Want| matches!(want, Want::OurMove { uci, ply, draw_after: true, .. } if moves.get(*ply) == Some(uci));
        if settled.iter().any(is_made) {
            self.send("draw");
        }
    }

    pub(super) fn game_begins(&mut self, board: Style12, now: Instant) {
        self.tell_waiting_end();
        if let Some(id) = self.current_id().cloned() {
            self.tell(ServerEvent::GameGone(id));
        }
        let us = self.our_name();
        let opponent = if board.white.eq_ignore_ascii_case(us) { &board.black } else { &board.white }.clone();
        let mut said = std::mem::take(&mut self.said);
        said.start.take_if(|start| start.game != board.game);
        said.facts.take_if(|facts| facts.game != board.game);
        let players = [&board.white, &board.black].map(|name| name.to_lowercase());
        said.computers = players.into_iter().filter(|name| self.computers.contains(name)).collect();
        said.terms.take_if(|terms| !terms.first.name.eq_ignore_ascii_case(&board.white));

        let (source, void) = self.challenges.game_begins(&opponent);
        let is_wanted = source.as_ref().is_some_and(|source| !source.terms.adjourned);
        let resumed = is_resumed(&board, &said, is_wanted);
        let our_color = board.our_color().unwrap_or(board.turn);
        let (waiting, known) = self.adjournments.resumed(&opponent, our_color, resumed).unzip();
        // By other rules it is another game, whatever is known of it.
        let rules = said.rules();
        let known = known.flatten().filter(|game| rules.allow(game.info.terms.variant));
        if self.adjournments.has_cut_off() {
            // Another game begins: the one that was cut off does not go on now, and nothing later would tell of it.
            self.settle_cut_off();
        }
        if !resumed {
            self.history.game_begins();
        }
        let is_asked = |want: &Want| matches!(want, Want::Issued(name) if name.eq_ignore_ascii_case(&opponent));
        let is_agreed = source.as_ref().is_some_and(|source| !source.incoming || source.is_accepted);
        let is_agreed = is_agreed || self.requests.is_open(is_asked);
        let is_other = source.as_ref().is_some_and(|source| !resumed && said.contradicts(&source.terms, &board));
        said.challenge = source.as_ref().filter(|_| !is_other).map(|source| source.terms.clone());
        let is_unasked = !resumed && !is_agreed && (source.is_some() || self.adjournments.is_unmarked(&opponent));
        let is_unwanted = is_other || is_unasked;
        if resumed {
            self.adjournments.is_answered(&opponent);
        } else if is_unasked && source.is_none() {
            self.adjournments.is_new(&opponent, now);
        }
        let source = source.map(|source| source.id);
        let id = waiting.or_else(|| source.as_ref().map(GameId::from)).unwrap_or_else(|| {
            if resumed { self.name_of_resumed(&opponent).0 } else { self.new_name(&opponent).into() }
        });
        self.look_ups.goes_on(&id, &mut self.requests);
        if let Some(source) = source {
            self.requests.settle(|want| *want == Want::Game(source.clone()), Ok(RequestAnswer::Done(Done::Taken)));
        }
        let issued = Done::Challenged(id.as_str().into());
        self.requests.settle(is_asked, Ok(RequestAnswer::Done(issued)));
        let busy = ActionError::Refused("another game has begun".to_owned());
        self.requests.settle_all(|want| matches!(want, Want::Issued(_) | Want::Game(_)), &Err(busy));
        for id in void {
            self.tell(ServerEvent::ChallengeCancelled(id));
        }

        self.ended = None;
        self.flagging = None;
        self.whole_due = None;
        self.tell(ServerEvent::GameStarted(id.clone()));
        if is_unwanted {
            // A match was to resume a game, or another challenge had taken the place of the one
            // that was accepted by its challenger's name; the server has begun an unwanted game.
            return self.leave_politely(id, board, "it was not agreed on".to_owned(), "abort", now);
        }
        if let Err(word) = said.settle_rules(known.as_ref().map(|game| game.info.terms.variant)) {
            let why = format!("the rules {word:?} are not known");
            // What was adjourned may be put off again; what begins may be ended.
            return self.leave_politely(id, board, why, if resumed { "adjourn" } else { "abort" }, now);
        }
        if let Some(mut game) = known
            && game.goes_on(id.clone(), &board, said.clone(), now)
        {
            return self.run(game);
        }
        if board.last_move.is_some() {
            return self.open_with_list(id, said, board, now);
        }
        self.begin(start_line(&board, said.variant), id, &said, board, now);
    }

    /// Plays a game that stands where it starts.
    fn begin(
        &mut self,
        start: Result<Line, LineError>,
        id: GameId,
        said: &Announcement,
        board: Style12,
        received: Instant,
    ) {
        match start {
            Ok(start) => self.run(Box::new(FollowedGame::new(id, start, &board, said, received))),
            Err(error) => self.cannot_play(id, board, &error.to_string()),
        }
    }

    /// Asks the opponent to end a game, or to put it off, that is not played; where that is not granted in time, the decider about
    /// games is told.
    fn leave_politely(&mut self, id: GameId, board: Style12, why: String, request: &str, now: Instant) {
        let (board, leave_at) = (Box::new(board), Some(now + LEAVE_PATIENCE));
        self.current = CurrentGame::Unplayable { id, board, why, leave_at };
        self.send(request);
    }

    pub(super) fn leaving_is_due(&mut self, now: Instant) {
        let CurrentGame::Unplayable { id, why, leave_at, .. } = &mut self.current else { return };
        if leave_at.take_if(|at| *at <= now).is_some() {
            let (id, reason) = (id.clone(), format!("a game that is not played: {why}"));
            self.tell(ServerEvent::GameUnplayable { id, reason });
        }
    }

    /// Asks for the moves of a game that we cannot know from its boards.
    pub(super) fn open_with_list(&mut self, id: GameId, said: Announcement, board: Style12, now: Instant) {
        let list = MovesAnswer::default();
        self.current = CurrentGame::Opening(Box::new(OpeningGame {
            id,
            said,
            give_up_at: give_up_at(&board, now),
            is_silent: true,
            ask_again_at: now + LIST_PATIENCE,
            board,
            received: now,
            list,
            lists_in_vain: 0,
        }));
        self.look_ups.rest();
        self.silence.is_asked(now);
        self.send("moves");
    }

    /// A board came that the moves we know do not lead to.
    pub(super) fn reopen(&mut self, board: Style12, now: Instant) {
        let CurrentGame::Running(game) = std::mem::replace(&mut self.current, CurrentGame::Empty) else { return };
        let id = game.info.id;
        let what = format!("the board {} does not follow from the known moves", board.fen());
        self.tell(ServerEvent::Fault { game: Some(id.clone()), what });
        self.open_with_list(id, game.said, board, now);
    }

    pub(super) fn listed(&mut self, line: ListedMoves, now: Instant) {
        let is_of_current = |white: &str, black: &str| match &self.current {
            CurrentGame::Running(game) => [white, black].iter().all(|name| game.is_between(name)),
            _ => false,
        };
        if matches!(&line, ListedMoves::Players { white, black } if is_of_current(white, black)) {
            self.silence.is_broken(now);
        }
        let CurrentGame::Opening(opening) = &mut self.current else { return self.look_ups.listed(line) };
        if !opening.list.take(line) {
            return;
        }
        let OpeningGame { id, board, list, said, received, .. } = opening.as_ref();
        match FollowedGame::resume(id.clone(), board, list, said, *received) {
            Some(game) => self.run(Box::new(game)),
            // It was of the game that was being looked up; the one asked for later comes later.
            None if std::mem::take(&mut self.look_ups.list_on_its_way) => opening.list = MovesAnswer::default(),
            None => {
                opening.lists_in_vain += 1;
                opening.list = MovesAnswer::default();
                if opening.lists_in_vain < LISTS_IN_VAIN {
                    self.silence.is_asked(now);
                    self.send("moves");
                } else {
                    self.open_from_here();
                }
            }
        }
    }

    pub(super) fn opening_is_due(&mut self, now: Instant) {
        let CurrentGame::Opening(opening) = &mut self.current else { return };
        if opening.due() <= now {
            self.open_from_here();
        } else if opening.ask_again_at <= now {
            opening.ask_again_at = now + LIST_PATIENCE;
            opening.is_silent = true;
            self.silence.is_asked(now);
            self.send("moves");
        }
    }

    /// The moves are not to be had: the game is played from where it is.
    pub(super) fn open_from_here(&mut self) {
        let CurrentGame::Opening(opening) = std::mem::replace(&mut self.current, CurrentGame::Empty) else { return };
        let OpeningGame { id, said, board, received, .. } = *opening;
        let what = "the server did not tell the moves of this game; it is played from the board".to_owned();
        self.tell(ServerEvent::Fault { game: Some(id.clone()), what });
        self.begin(line_from(&board, said.variant), id, &said, board, received);
    }

    fn run(&mut self, game: Box<FollowedGame>) {
        self.current = CurrentGame::Running(game);
        self.settle_our_moves();
        self.tell_game(true);
    }

    /// Announces a game by rules that are unknown here: the bot has to end it.
    pub(super) fn cannot_play(&mut self, id: GameId, board: Style12, why: &str) {
        let (board, why) = (Box::new(board), why.to_owned());
        let reason = format!("unplayable game: {why}");
        self.current = CurrentGame::Unplayable { id: id.clone(), board, why, leave_at: None };
        self.tell(ServerEvent::GameUnplayable { id, reason });
    }

    pub(super) fn game_end(&mut self, end: GameEnd, now: Instant) {
        let is_current = self.current.is(end.game, &end.white, &end.black);
        let Some(id) = self.current_id().filter(|_| is_current).cloned() else { return self.other_game_ended(&end) };
        let (rated, last) = match &self.current {
            CurrentGame::Running(game) => (game.info.terms.rated, Some(game.ended(end.status.clone(), end.winner))),
            CurrentGame::Opening(opening) => (opening.said.rated(), None),
            CurrentGame::Unplayable { .. } | CurrentGame::Empty => (false, None),
        };
        let opponent = self.opponent_name();
        let game = self.take_current();
        if end.status == GameStatus::Adjourned
            && let Some(opponent) = opponent
        {
            self.adjournments.adjourned(&opponent, &id, game, true);
        }
        self.forget_game();
        self.seek_at = Some(now + REST);
        let over = Err(ActionError::NotFound(format!("the game is over: {}", end.words)));
        self.requests.settle_all(Want::is_our_move, &over);
        self.requests.settle_all(|want| *want == Want::End, &Ok(RequestAnswer::Done(Done::Taken)));
        let early = self.early_rating.take();
        let is_known = early.is_some() || !rated || end.status == GameStatus::Adjourned;
        self.ended = Some((id, end));
        if is_known {
            self.tell_end(last, early);
        } else {
            self.waiting_end = Some((last, now + RATING_PATIENCE));
        }
        self.history.game_ends();
        self.send_in_turn("history".to_owned());
        self.look_for_tournaments();
    }

    pub(super) fn move_refused(&mut self, why: &str) {
        self.requests.settle_all(Want::is_our_move, &Err(ActionError::Refused(why.to_owned())));
    }

    pub(super) fn more_time(&mut self, seconds: u32) {
        if let CurrentGame::Running(game) = &mut self.current {
            let color = game.info.our_color;
            game.add_time(color, Duration::from_secs(seconds.into()));
            self.tell_game(false);
        }
    }

    /// The server says what a game did to our rating; `None`: nothing.
    pub(super) fn rating_adjusted(&mut self, change: Option<i32>) {
        if let Some((last, _)) = self.waiting_end.take() {
            self.tell_end(last, change);
        } else if matches!(self.current, CurrentGame::Running(_) | CurrentGame::Opening(_)) {
            self.early_rating = change;
        }
    }

    pub(super) fn waiting_end_is_due(&mut self, now: Instant) {
        if self.waiting_end.as_ref().is_some_and(|(_, due)| *due <= now) {
            self.tell_waiting_end();
        }
    }

    /// Waits no longer for the line about our rating.
    pub(super) fn tell_waiting_end(&mut self) {
        self.early_rating = None;
        if let Some((last, _)) = self.waiting_end.take() {
            self.tell_end(last, None);
        }
    }

    /// Sends the change of our rating before the last state, which is there if the moves were known, so that it is known with the end.
    fn tell_end(&mut self, last: Option<GameState>, rating_change: Option<i32>) {
        let Some((id, end)) = &self.ended else { return };
        let (id, status, winner) = (id.clone(), Some(end.status.clone()), end.winner);
        self.tell(ServerEvent::GameFinished { id: id.clone(), status, winner, rating_change });
        if let Some(last) = last {
            self.tell(ServerEvent::GameState(id, last));
        }
    }
}

/// Returns the time until which the list of moves is awaited. The opponent's time is free.
fn give_up_at(board: &Style12, now: Instant) -> Instant {
    let (share, most) = WORTH_WAITING;
    let ours = board.our_color().filter(|ours| *ours == board.turn).map(|ours| board.clocks[ours.fold_wb(0, 1)]);
    now + ours
        .filter(|clock| !clock.is_zero())
        .map_or(most, |clock| (clock / share).clamp(Duration::from_secs(1), most))
}

/// True if a game goes on with its first board. The server says so; otherwise a game in which we
/// must have moved already does, and so does an unwanted one. The first board of a new one may have
/// been lost.
fn is_resumed(board: &Style12, said: &Announcement, is_wanted: bool) -> bool {
    let is_told_to_begin = said.start.as_ref().is_some_and(|start| !start.resumed);
    match board.ply() {
        0 => said.start.as_ref().is_some_and(|start| start.resumed),
        1 => !is_told_to_begin && !is_wanted,
        _ => true,
    }
}
