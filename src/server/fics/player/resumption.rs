//! Games that wait: adjourned by agreement, by a lost connection, or by ours.
//!
//! A game cut off with our connection and taken up at once bears the same name as before. One that was told to be over
//! comes back under a new one, `...-7.2` after `...-7`: nobody has to take back that a game has ended.

use std::{
    collections::BTreeMap,
    time::{Duration, Instant},
};

use super::{Player, Table, Want, game::Game};
use crate::fics::message::StoredGame;
use chess::{GameId, GameStatus, ServerEvent};

/// How long after a login the server may take to list our adjourned games, and the opponent to take up again the one that
/// was cut off.
const VERDICT: Duration = Duration::from_secs(5);

/// The pause between two attempts to resume a game with the same opponent.
const ASK_AGAIN: Duration = Duration::from_secs(60);

/// A game that waits.
struct Adjourned {
    /// Its name when it is resumed.
    id: GameId,
    /// As we know it.
    game: Option<Box<Game>>,
    /// As the server writes it.
    opponent: String,
    /// Whether the server itself says that it waits, since we are connected.
    confirmed: bool,
    online: bool,
    declined: bool,
    asked: Option<Instant>,
    adjudication_asked: bool,
}

/// All of them, by opponent in lower case: a server keeps one a pair of players.
#[derive(Default)]
pub(super) struct Adjournments {
    games: BTreeMap<String, Adjourned>,
    /// The opponent of the game that ran when the connection was lost, until its fate is known.
    cut_off: Option<String>,
    verdict_at: Option<Instant>,
    /// Whether this server has shown that it does not know `resume`.
    knows_no_resume: bool,
}

impl Adjournments {
    /// We are logged in again; the list of games is on its way. What was asked over an older connection counts no more.
    pub(super) fn connected(&mut self, now: Instant) {
        self.verdict_at = Some(now + VERDICT);
        self.knows_no_resume = false;
        for game in self.games.values_mut() {
            game.confirmed = false;
            game.online = false;
            game.declined = false;
            game.asked = None;
        }
    }

    /// The connection is lost while this game runs.
    pub(super) fn cut_off(&mut self, opponent: &str, id: GameId, game: Option<Box<Game>>) {
        self.waits(opponent, id, game);
        self.cut_off = Some(opponent.to_lowercase());
    }

    /// Whether there is a game whose fate is not known.
    pub(super) fn has_cut_off(&self) -> bool {
        self.cut_off.is_some()
    }

    /// The server has no list of games that wait: perhaps the one that was cut off does.
    pub(super) fn are_not_listed(&mut self) {
        if let Some(game) = self.cut_off.as_ref().and_then(|opponent| self.games.get_mut(opponent)) {
            game.confirmed = true;
            game.online = true;
        }
    }

    /// The server does not know `resume`: those who were asked so are asked in another way.
    pub(super) fn know_no_resume(&mut self) {
        if !std::mem::replace(&mut self.knows_no_resume, true) {
            self.games.values_mut().for_each(|game| game.asked = None);
        }
    }

    /// Whether a game with this player waits, by the server's word.
    pub(super) fn waits_with(&self, opponent: &str) -> bool {
        self.games.get(&opponent.to_lowercase()).is_some_and(|game| game.confirmed)
    }

    /// Whether the game that was cut off may be going on in a moment.
    fn cut_off_may_go_on(&self) -> bool {
        let game = self.cut_off.as_ref().and_then(|opponent| self.games.get(opponent));
        game.is_some_and(|game| game.confirmed && game.online && !game.declined)
    }

    /// Whether it is time to say what became of the game that was cut off.
    pub(super) fn is_verdict_due(&self, now: Instant) -> bool {
        self.verdict_at.is_some_and(|at| at <= now)
    }

    /// Whether this is the game whose fate is not known.
    pub(super) fn is_cut_off(&self, id: &GameId) -> bool {
        self.cut_off.as_ref().and_then(|opponent| self.games.get(opponent)).is_some_and(|game| game.id == *id)
    }

    /// The game of this name is adjourned, and told to be over.
    pub(super) fn adjourned(&mut self, opponent: &str, id: &GameId, game: Option<Box<Game>>) {
        self.waits(opponent, next_part(id), game);
    }

    /// A game waits, and will have this name.
    fn waits(&mut self, opponent: &str, id: GameId, game: Option<Box<Game>>) {
        let game = Adjourned {
            id,
            game,
            opponent: opponent.to_owned(),
            confirmed: true,
            online: false,
            declined: false,
            asked: None,
            adjudication_asked: false,
        };
        self.games.insert(opponent.to_lowercase(), game);
    }

    /// A game with `opponent` is on the board: its name, and it as we knew it, if it is one that waited.
    pub(super) fn resumed(&mut self, opponent: &str, is_resumed: bool) -> Option<(GameId, Option<Box<Game>>)> {
        let opponent = opponent.to_lowercase();
        self.cut_off.take_if(|cut_off| is_resumed && *cut_off == opponent);
        if is_resumed { self.games.remove(&opponent).map(|game| (game.id, game.game)) } else { None }
    }

    /// Somebody came or went.
    pub(super) fn notified(&mut self, name: &str, arrived: bool, adjourned: bool) {
        if let Some(game) = self.games.get_mut(&name.to_lowercase()) {
            game.online = arrived;
            game.confirmed |= adjourned;
            if arrived {
                game.declined = false;
            }
        }
    }

    /// An opponent does not want to go on now.
    pub(super) fn declined(&mut self, name: &str) {
        if let Some(game) = self.games.get_mut(&name.to_lowercase()) {
            game.declined = true;
        }
    }

    /// Whether a game with this player waits.
    pub(super) fn name_of_game_with(&self, opponent: &str) -> Option<&GameId> {
        self.games.get(&opponent.to_lowercase()).map(|game| &game.id)
    }

    /// The commands by which those are asked whose turn it is. The first one who is willing gets the game; the server takes back
    /// the other requests.
    fn due_to_ask(&mut self, now: Instant) -> Vec<String> {
        // Some servers have no word for it: there a match with somebody with whom a game waits resumes it.
        let verb = if self.knows_no_resume { "match" } else { "resume" };
        let mut due = Vec::new();
        for game in self.games.values_mut() {
            let asked_lately = game.asked.is_some_and(|asked| now.saturating_duration_since(asked) < ASK_AGAIN);
            if game.confirmed && game.online && !game.declined && !asked_lately {
                game.asked = Some(now);
                due.push(format!("{verb} {}", game.opponent));
            }
        }
        due
    }

    /// When something is due; `may_ask` says whether opponents can be asked at all.
    pub(super) fn wake_at(&self, may_ask: bool) -> Option<Instant> {
        let waiting = self.games.values().filter(|game| may_ask && game.confirmed && game.online && !game.declined);
        let again = waiting.filter_map(|game| game.asked).map(|asked| asked + ASK_AGAIN).min();
        self.verdict_at.into_iter().chain(again).min()
    }
}

/// The name of a game's next part.
fn next_part(id: &GameId) -> GameId {
    let parts = id.as_str().rsplit_once('.').and_then(|(first, part)| Some((first, part.parse::<u32>().ok()?)));
    let (first, part) = parts.unwrap_or((id.as_str(), 1));
    GameId::new(format!("{first}.{}", part.saturating_add(1)))
}

impl Player {
    /// A row of the list of adjourned games.
    pub(super) fn stored(&mut self, stored: StoredGame) {
        let ours = self.us.as_ref().map_or("", |us| us.name.as_str());
        let Some(opponent) = stored.opponent.split(' ').find(|name| !name.eq_ignore_ascii_case(ours)) else { return };
        let opponent = opponent.to_owned();
        if self.adjournments.name_of_game_with(&opponent).is_none() {
            let id = GameId::new(self.new_name(&opponent));
            self.adjournments.waits(&opponent, id, None);
        }
        let days = self.settings.adjudicate_after;
        let old = stored.date.is_some_and(|date| {
            let today = jiff::Zoned::now().date();
            today.since(date).is_ok_and(|age| i64::from(age.get_days()) >= i64::from(days))
        });
        let Some(game) = self.adjournments.games.get_mut(&opponent.to_lowercase()) else { return };
        game.confirmed = true;
        // Where the server does not say, asking does no harm.
        game.online = stored.online.unwrap_or(true);
        if days > 0 && old && !std::mem::replace(&mut game.adjudication_asked, true) {
            let command = self.settings.adjudicate_command.replace("{opponent}", &opponent);
            self.send(&command);
        }
    }

    /// Whether nothing speaks against going on with a game that waits.
    pub(super) fn may_resume(&self) -> bool {
        let free = matches!(self.table, Table::Empty) && !self.requests.is_open(|want| matches!(want, Want::Game(_)));
        self.settings.resume && self.open && free && self.us.is_some()
    }

    /// Asks the opponents who are there to go on.
    pub(super) fn resume_if_possible(&mut self, now: Instant) {
        if !self.may_resume() {
            return;
        }
        for command in self.adjournments.due_to_ask(now) {
            self.send(&command);
        }
    }

    /// Somebody came or went, perhaps one with whom a game waits that we do not know of.
    pub(super) fn notified(&mut self, name: &str, arrived: bool, adjourned: bool) {
        if adjourned && self.adjournments.name_of_game_with(name).is_none() {
            let id = GameId::new(self.new_name(name));
            self.adjournments.waits(name, id, None);
        }
        self.adjournments.notified(name, arrived, adjourned);
    }

    /// The lists of games that wait and that are over have been told.
    pub(super) fn lists_are_told(&mut self) {
        self.history.is_told();
        if self.adjournments.has_cut_off() && !self.adjournments.cut_off_may_go_on() {
            self.settle_cut_off();
        }
    }

    /// Says what became of the game that was cut off, when there has been time enough to know.
    pub(super) fn settle_cut_off(&mut self) {
        self.adjournments.verdict_at = None;
        if let Some(opponent) = self.adjournments.cut_off.take()
            && let Some(game) = self.adjournments.games.get_mut(&opponent)
        {
            let next = next_part(&game.id);
            let id = std::mem::replace(&mut game.id, next);
            let event = if game.confirmed {
                ServerEvent::GameFinished { id, status: Some(GameStatus::Adjourned), winner: None }
            } else if let Some(past) = self.history.end_of_game_with(&opponent) {
                ServerEvent::GameFinished { id, status: Some(past.status.clone()), winner: past.winner }
            } else {
                ServerEvent::GameGone(id)
            };
            self.tell(event);
        }
        self.adjournments.games.retain(|_, game| game.confirmed);
    }
}
