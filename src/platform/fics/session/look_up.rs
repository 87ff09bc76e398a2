//! Looks up games of ours with an unknown end in the server's lists.
//!
//! Servers of this family give no names to games. It keeps a list of each player's last games
//! (`history`) and their moves (`smoves`), so a game is known by its opponent, our colour, its kind
//! and clock, the time at which it ended, which is not before it began, and the moves that we have
//! seen of it: of several that begin alike the one that goes on least, and of equals the latest.
//! Lists show the server's time in a zone of its letters; what its clocks show is asked with the
//! list (`date`). If a server lists no moves, a game is known to be over only if our last move ends
//! it by the rules and the list has such an end. A game that waits to be resumed is not over.
//!
//! The lists are requested when no game is on the board, or while the opponent thinks and our clock
//! is long: no move of ours waits for them. A game whose own moves have to be asked for puts the
//! look-up off.

use std::{
    cmp::Reverse,
    collections::VecDeque,
    time::{Duration, Instant},
};

use jiff::{SignedDuration, Timestamp, civil::DateTime, tz::TimeZone};
use shakmaty::Position;

use super::{
    CurrentGame, FicsSession, RequestAnswer, RequestResult,
    game::{MovesAnswer, read_san},
    requests::Requests,
};
use crate::fics::message::{ListedMoves, ListedTime, PastGame};
use domain::{ActionError, Color, GameId, GameStatus, KnownGame, Line, UciMove};

const LIST_PATIENCE: Duration = Duration::from_secs(15);

/// Number of missing or incomplete lists after which the look-up is given up.
const MOST_ATTEMPTS: u32 = 3;

/// A clock on which the time that a list takes does not count.
const LONG_CLOCK: Duration = Duration::from_secs(60);

/// Maximum number of moves since the server showed us the game: ours, and the reply to it.
const UNSEEN: usize = 2;

/// Minimum plies of a game in which both sides have moved; a server keeps no shorter ones.
const BOTH_MOVED: usize = 2;

/// A command that no server knows, with a number: its refusal says that the list asked for before it has been told.
const END_OF_LOOK_UP: &str = "endoflookup";

/// Lists show whole minutes.
const CLOCKS_DIFFER: SignedDuration = SignedDuration::from_mins(2);

/// Maximum difference of two clocks in unknown zones.
const ZONES_DIFFER: SignedDuration = SignedDuration::from_hours(26);

/// A server tells its time in no more zones.
const MOST_ZONES: usize = 4;

/// Reads a clock as if it showed UTC.
fn in_utc(time: DateTime) -> Option<Timestamp> {
    time.to_zoned(TimeZone::UTC).ok().map(|time| time.timestamp())
}

#[derive(Default)]
pub(super) struct LookUps {
    /// The games to look up, each with the number under which it is answered.
    waiting: VecDeque<(u64, KnownGame)>,
    /// Number of lists for the first of them that were missing or incomplete.
    failures: u32,
    step: Option<Step>,
    /// Time at which the awaited list is late.
    pub(super) until: Option<Instant>,
    /// Tells the ends of lists apart.
    serial: u32,
    /// True if the moves of a past game may still come that no look-up waits for.
    pub(super) list_on_its_way: bool,
}

enum Step {
    Games(Vec<PastGame>),
    /// The moves of one of them; those that are `left` come after it.
    Moves {
        of: Box<PastGame>,
        list: Box<MovesAnswer>,
        left: Vec<PastGame>,
        best: Option<Box<FoundGame>>,
    },
}

struct FoundGame {
    moves: Vec<UciMove>,
    row: PastGame,
    /// True if our last move, which the server need not have taken, is among its moves.
    has_decided: bool,
}

impl FoundGame {
    /// Reads a list of moves; `None` if it is of another game, or not whole.
    fn read(known: &KnownGame, row: &PastGame, sans: &[String]) -> Option<Self> {
        let mut line = known.info.start.clone();
        for san in sans {
            let uci = read_san(&line, san)?;
            line.play(uci).ok()?;
        }
        let has_decided = known.decided.is_some() && line.moves().get(known.shown.len()) == known.decided.as_ref();
        let is_this = line.moves().starts_with(&known.shown) && ends_as_told(&line, row);
        is_this.then(|| Self { moves: line.moves().to_vec(), row: row.clone(), has_decided })
    }

    /// The greater, the less the game goes on where we saw it last.
    fn likeness(&self) -> (bool, Reverse<usize>) {
        (self.has_decided, Reverse(self.moves.len()))
    }
}

/// Returns the end of a line by the rules of chess, and its winner; `None` if the game goes on.
fn end_by_the_rules(line: &Line) -> Option<(GameStatus, Option<Color>)> {
    let position = line.position();
    if position.is_checkmate() {
        Some((GameStatus::Mate, Some(!line.turn())))
    } else if position.is_stalemate() {
        Some((GameStatus::Stalemate, None))
    } else {
        position.is_insufficient_material().then_some((GameStatus::Draw, None))
    }
}

/// True if a line that the server calls a mate or a stalemate is one.
fn ends_as_told(line: &Line, row: &PastGame) -> bool {
    let is_by_the_rules = matches!(row.status, GameStatus::Mate | GameStatus::Stalemate);
    !is_by_the_rules || end_by_the_rules(line) == Some((row.status.clone(), row.winner))
}

fn found(moves: &[UciMove], status: GameStatus, winner: Option<Color>) -> RequestAnswer {
    RequestAnswer::Found(domain::moves_text(moves), status, winner)
}

impl LookUps {
    pub(super) fn listed(&mut self, line: ListedMoves) {
        let is_end = line == ListedMoves::End;
        if let Some(Step::Moves { list, .. }) = &mut self.step {
            list.take(line);
        }
        self.list_on_its_way &= !is_end;
    }

    pub(super) fn row(&mut self, game: &PastGame) {
        if let Some(Step::Games(games)) = &mut self.step {
            games.retain(|known| known.line != game.line);
            games.push(game.clone());
        }
    }

    /// True if a command that the server does not know ends the list that is waited for.
    pub(super) fn is_end(&self, word: &str) -> bool {
        self.step.is_some() && word.strip_prefix(END_OF_LOOK_UP) == Some(self.serial.to_string().as_str())
    }

    /// A game is on the board again: it is not over.
    pub(super) fn goes_on(&mut self, id: &GameId, requests: &mut Requests) {
        if self.waiting.front().is_some_and(|(_, game)| game.info.id == *id) {
            self.rest();
            self.failures = 0;
        }
        self.waiting.retain(|(ticket, game)| {
            let goes_on = game.info.id == *id;
            if goes_on {
                requests.answer(*ticket, Ok(found(&game.shown, GameStatus::Started, None)));
            }
            !goes_on
        });
    }

    /// The moves of the game on the board may be wanted now; the look-up begins anew afterwards.
    pub(super) fn rest(&mut self) {
        self.step = None;
        self.until = None;
    }
}

impl FicsSession {
    /// Gives a game that an earlier process left running or adjourned its name again when it goes on.
    pub(crate) fn remember(&mut self, games: Vec<KnownGame>) {
        for game in games {
            self.adjournments.remember(game);
        }
    }

    pub(crate) fn look_up(&mut self, game: KnownGame, ticket: u64, now: Instant) {
        let id = &game.info.id;
        if self.current_id() == Some(id) || self.adjournments.is_cut_off(id) {
            let answer = found(&game.shown, GameStatus::Started, None);
            return self.requests.answer(ticket, Ok(answer));
        }
        self.look_ups.waiting.push_back((ticket, game));
        self.look_up_next(now);
        self.send_what_waits(now);
    }

    pub(super) fn look_up_next(&mut self, now: Instant) {
        if self.look_ups.step.is_none() && !self.look_ups.waiting.is_empty() && self.may_look_up() {
            self.look_ups.step = Some(Step::Games(Vec::new()));
            self.zones.clear();
            self.ask_for_list(&["stored", "date", "history"], now);
        }
    }

    pub(super) fn look_up_is_due(&mut self, now: Instant) {
        if self.look_ups.until.is_some_and(|until| until <= now) {
            if self.outbox.holds(&self.end_of_look_up()) {
                // It has not been asked for: there were moves to make.
                self.look_ups.until = Some(now + LIST_PATIENCE);
            } else {
                self.look_up_failed();
            }
        }
        self.look_up_next(now);
    }

    pub(super) fn list_looked_up(&mut self, now: Instant) {
        self.look_ups.until = None;
        let Some((_, known)) = self.look_ups.waiting.front() else { return };
        match self.look_ups.step.take() {
            Some(Step::Games(mut games)) => {
                if self.adjournments.has_waiting(&known.info) {
                    let answer = found(&known.shown, GameStatus::Adjourned, None);
                    return self.looked_up(Ok(answer));
                }
                games.retain(|row| row.may_be(&known.info) && self.may_have_ended_since(row, known.started));
                self.ask_for_moves_of_next(games, None, now);
            }
            Some(Step::Moves { of, list, left, best }) => {
                self.look_ups.list_on_its_way = false;
                let Some(sans) = list.moves() else { return self.look_up_failed() };
                let goes_on_at_once = |game: &FoundGame| game.moves.len() <= known.shown.len() + UNSEEN;
                // A longer one that shares a single move, or none, may be any game.
                let candidate = FoundGame::read(known, &of, sans)
                    .filter(|game| known.shown.len() >= BOTH_MOVED || goes_on_at_once(game));
                let is_it = candidate.as_ref().is_some_and(goes_on_at_once);
                let best = match (best, candidate) {
                    (Some(best), Some(game)) if best.likeness() >= game.likeness() => Some(best),
                    (best, candidate) => candidate.map(Box::new).or(best),
                };
                self.ask_for_moves_of_next(if is_it { Vec::new() } else { left }, best, now);
            }
            None => {}
        }
    }

    pub(super) fn moves_are_not_told(&mut self) {
        let Some(Step::Moves { of, mut left, .. }) = self.look_ups.step.take() else { return };
        left.push(*of);
        let Some((_, known)) = self.look_ups.waiting.front() else { return };
        let mut line = known.info.start.clone();
        let is_played = known.shown.iter().chain(&known.decided).all(|uci| line.play(*uci).is_ok());
        let end = end_by_the_rules(&line).filter(|(status, winner)| {
            is_played && left.iter().any(|row| row.status == *status && row.winner == *winner)
        });
        let none = ActionError::NotFound("the server tells no moves of past games".to_owned());
        self.looked_up(end.map(|(status, winner)| found(line.moves(), status, winner)).ok_or(none));
    }

    /// Asks for the moves of the newest of these games; where none is left, `best` is the answer.
    fn ask_for_moves_of_next(&mut self, mut left: Vec<PastGame>, best: Option<Box<FoundGame>>, now: Instant) {
        if let Some(of) = left.pop() {
            let question = format!("smoves {} {}", self.our_name(), of.number);
            self.look_ups.step = Some(Step::Moves { of: Box::new(of), list: Box::default(), left, best });
            self.look_ups.list_on_its_way = true;
            return self.ask_for_list(&[&question], now);
        }
        let none = ActionError::NotFound("the server's list does not have this game".to_owned());
        self.looked_up(best.map(|game| found(&game.moves, game.row.status, game.row.winner)).ok_or(none));
    }

    fn looked_up(&mut self, answer: RequestResult) {
        self.look_ups.rest();
        self.look_ups.failures = 0;
        if let Some((ticket, game)) = self.look_ups.waiting.pop_front() {
            if matches!(&answer, Ok(RequestAnswer::Found(_, status, _)) if *status != GameStatus::Adjourned) {
                self.adjournments.forget(&game.info.id);
            }
            self.requests.answer(ticket, answer);
        }
    }

    /// A list did not come, or not whole.
    fn look_up_failed(&mut self) {
        self.look_ups.rest();
        self.look_ups.failures += 1;
        if self.look_ups.failures >= MOST_ATTEMPTS {
            self.looked_up(Err(ActionError::Unavailable("the server does not tell its list of games".to_owned())));
        }
    }

    fn ask_for_list(&mut self, questions: &[&str], now: Instant) {
        for question in questions {
            self.send_in_turn((*question).to_owned());
        }
        self.look_ups.serial += 1;
        self.send_in_turn(self.end_of_look_up());
        self.look_ups.until = Some(now + LIST_PATIENCE);
    }

    fn end_of_look_up(&self) -> String {
        format!("{END_OF_LOOK_UP}{}", self.look_ups.serial)
    }

    pub(super) fn server_time(&mut self, time: ListedTime) {
        let ahead = in_utc(time.at).map(|at| at.duration_since(Timestamp::now()));
        if self.zones.len() < MOST_ZONES {
            self.zones.extend(ahead.map(|ahead| (time.zone, ahead)));
        }
    }

    /// True if a game of the list may have ended after one that began at `started`.
    fn may_have_ended_since(&self, row: &PastGame, started: Option<Timestamp>) -> bool {
        let (Some(ended), Some(started)) = (row.ended.as_ref(), started) else { return true };
        let same_zone = |(zone, _): &&(Option<String>, SignedDuration)| *zone == ended.zone || ended.zone.is_none();
        let is_utc = matches!(ended.zone.as_deref(), Some("UTC" | "GMT"));
        let (ahead, slack) = match self.zones.iter().find(same_zone) {
            Some((_, ahead)) => (*ahead, CLOCKS_DIFFER),
            None if is_utc => (SignedDuration::ZERO, CLOCKS_DIFFER),
            None => (SignedDuration::ZERO, ZONES_DIFFER),
        };
        let ended = in_utc(ended.at).and_then(|at| at.checked_sub(ahead).ok()?.checked_add(slack).ok());
        ended.is_none_or(|ended| ended >= started)
    }

    fn may_look_up(&self) -> bool {
        self.us.is_some()
            && match &self.current {
                CurrentGame::Empty => true,
                CurrentGame::Running(game) => {
                    !game.is_our_move() && game.our_clock().is_none_or(|clock| clock >= LONG_CLOCK)
                }
                CurrentGame::Opening(_) | CurrentGame::Unplayable { .. } => false,
            }
    }
}
