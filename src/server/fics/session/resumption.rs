//! Games that wait: adjourned by agreement, by a lost connection, or by ours.
//!
//! What the server itself marks as `(adjourned)` resumes one of them; nothing else does, whatever we believe to wait. Where `resume` is
//! not known, some servers let a match with the same player resume it and mark it so, others take it for a new challenge, which nobody
//! asked for: there a game that is adjourned is over for us, and the owner is told so once. A match that we ask for and that the server
//! takes for a new one is withdrawn, and no further one is made as long as this process lives.
//!
//! A game cut off with our connection and taken up at once bears the same name as before. One that was told to be over
//! comes back under a new one, `...-7.2` after `...-7`: nobody has to take back that a game has ended.

use std::{
    collections::BTreeMap,
    time::{Duration, Instant},
};

use super::{CurrentGame, END_OF_LISTS, FicsSession, Want, game::FollowedGame};
use crate::fics::message::{GameEnd, StoredGame, may_name};
use chess::{Color, GameId, GameInfo, GameStatus, ServerEvent};

/// How long after a login the server may take to list our adjourned games, and the opponent to take up again the one that
/// was cut off.
const VERDICT: Duration = Duration::from_secs(5);

/// How long the server may take to mark a match that is to resume a game, before it is withdrawn.
const MARK_PATIENCE: Duration = Duration::from_secs(3);

/// The pause between two attempts to resume a game with the same opponent.
const ASK_AGAIN: Duration = Duration::from_secs(60);

/// A game that waits.
struct Adjourned {
    /// Its name when it is resumed.
    id: GameId,
    /// As we know it.
    game: Option<Box<FollowedGame>>,
    /// As the server writes it.
    opponent: String,
    /// Whether the server itself says that it waits, since we are connected.
    confirmed: bool,
    online: bool,
    declined: bool,
    asked: Option<Instant>,
    adjudication_asked: bool,
    /// Whether it ran when an earlier process ended: it goes on whether new games are wanted or not.
    left_running: bool,
}

/// What a server makes of a match with somebody with whom a game waits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum MatchMeaning {
    /// It has not shown yet.
    #[default]
    Unknown,
    /// It resumes the game, and is marked so.
    Resumes,
    /// It is a new challenge.
    ProposesNewGame,
}

/// All of them, by opponent in lower case: a server keeps one a pair of players.
#[derive(Default)]
pub(super) struct Adjournments {
    games: BTreeMap<String, Adjourned>,
    /// The names of games that an earlier process left running, by opponent in lower case.
    remembered: BTreeMap<String, GameId>,
    /// The opponent of the game that ran when the connection was lost, until its fate is known.
    cut_off: Option<String>,
    verdict_at: Option<Instant>,
    /// Whether this server has shown that it does not know `resume`.
    knows_no_resume: bool,
    /// What a match with somebody with whom a game waits means there. It outlasts the connection.
    match_meaning: MatchMeaning,
    /// Whether it was told that games which wait cannot go on.
    told_for_good: bool,
    /// Whether this server has shown that it has no list of games that wait.
    knows_no_list: bool,
    /// The opponent whom we have asked by `match`, and until when the server may say that this resumes a game.
    asked_by_match: Option<(String, Instant)>,
}

impl Adjournments {
    /// We are logged in again; the list of games is on its way. What was asked over an older connection counts no more.
    pub(super) fn connected(&mut self, now: Instant) {
        self.verdict_at = Some(now + VERDICT);
        self.knows_no_resume = false;
        self.knows_no_list = false;
        self.asked_by_match = None;
        for game in self.games.values_mut() {
            game.confirmed = false;
            game.online = false;
            game.declined = false;
            game.asked = None;
        }
    }

    /// An earlier process left this game running.
    pub(super) fn remember(&mut self, opponent: &str, id: GameId) {
        self.remembered.insert(opponent.to_lowercase(), id);
    }

    /// The name of the game with this player that an earlier process left running; it is given once.
    pub(super) fn name_remembered(&mut self, opponent: &str) -> Option<GameId> {
        self.remembered.remove(&opponent.to_lowercase())
    }

    /// It is known what became of this game.
    pub(super) fn forget(&mut self, id: &GameId) {
        self.remembered.retain(|_, remembered| remembered != id);
    }

    /// The name that a list shows as `listed`: whole, where it is cut off and we know of a game with whoever bears it.
    fn whole_name(&self, listed: &str) -> String {
        let known = self.games.values().map(|game| &game.opponent).chain(self.remembered.keys());
        let shortest = known.filter(|name| may_name(listed, name)).min_by_key(|name| name.len());
        shortest.filter(|name| name.len() > listed.len()).cloned().unwrap_or_else(|| listed.to_owned())
    }

    /// Whether the server itself says that this game waits. There is one a pair of players; of one that we have not seen ourselves the
    /// opponent is all that we know.
    pub(super) fn has_waiting(&self, known: &GameInfo) -> bool {
        let waiting = self.games.get(&known.opponent().name.to_lowercase());
        waiting.is_some_and(|game| game.confirmed && (game.id == known.id || game.game.is_none()))
    }

    /// The connection is lost while this game runs.
    pub(super) fn cut_off(&mut self, opponent: &str, id: GameId, game: Option<Box<FollowedGame>>) {
        self.waits(opponent, id, game);
        self.cut_off = Some(opponent.to_lowercase());
    }

    /// Whether the game with this player is no new one: it ran when the connection was lost, or when an earlier process ended.
    pub(super) fn runs_with(&self, opponent: &str) -> bool {
        let opponent = opponent.to_lowercase();
        self.cut_off.as_ref() == Some(&opponent) || self.games.get(&opponent).is_some_and(|game| game.left_running)
    }

    /// Whether there is such a game.
    fn has_running(&self) -> bool {
        self.has_cut_off() || self.games.values().any(|game| game.left_running)
    }

    /// Whether there is a game whose fate is not known.
    pub(super) fn has_cut_off(&self) -> bool {
        self.cut_off.is_some()
    }

    /// The server has no list of games that wait: perhaps the one that was cut off does.
    pub(super) fn are_not_listed(&mut self) {
        self.knows_no_list = true;
        if let Some(game) = self.cut_off.as_ref().and_then(|opponent| self.games.get_mut(opponent)) {
            game.confirmed = true;
            game.online = true;
        }
    }

    /// The server does not know `resume`, or (`has_failed`) says of such a command that it "has failed". The former is said by servers
    /// that resume by a match, the latter by the older ones, where nothing resumes a game.
    fn know_no_resume(&mut self, has_failed: bool) {
        if has_failed && self.match_meaning == MatchMeaning::Unknown {
            self.match_meaning = MatchMeaning::ProposesNewGame;
        }
        if !std::mem::replace(&mut self.knows_no_resume, true) {
            self.games.values_mut().for_each(|game| game.asked = None);
        }
    }

    /// Whether there is no way in which a game that waits could go on.
    fn cannot_resume(&self) -> bool {
        self.knows_no_resume && self.match_meaning == MatchMeaning::ProposesNewGame
    }

    /// The list is asked for once more: what it does not name does not wait. Whether there is such a list.
    fn ask_again(&mut self) -> bool {
        if !self.knows_no_list {
            self.games.values_mut().for_each(|game| game.confirmed = false);
        }
        !self.knows_no_list
    }

    /// The server marks a match with this player as one that resumes a game.
    pub(super) fn marked(&mut self, opponent: &str) {
        self.match_meaning = MatchMeaning::Resumes;
        self.is_answered(opponent);
    }

    /// What was asked of this player by a match is settled.
    pub(super) fn is_answered(&mut self, opponent: &str) {
        self.asked_by_match.take_if(|(asked, _)| asked.eq_ignore_ascii_case(opponent));
    }

    /// The server takes what was to resume a game with this player for something new: nothing waits there.
    pub(super) fn is_new(&mut self, opponent: &str) {
        if self.match_meaning == MatchMeaning::Unknown {
            self.match_meaning = MatchMeaning::ProposesNewGame;
        }
        self.does_not_wait(opponent);
    }

    /// Nothing waits with this player, as far as the server says.
    fn does_not_wait(&mut self, opponent: &str) {
        self.is_answered(opponent);
        if let Some(game) = self.games.get_mut(&opponent.to_lowercase()) {
            game.confirmed = false;
        }
    }

    /// Whether this player was asked by a match that the server has not marked yet.
    pub(super) fn is_unmarked(&self, opponent: &str) -> bool {
        self.asked_by_match.as_ref().is_some_and(|(asked, _)| asked.eq_ignore_ascii_case(opponent))
    }

    /// Whom we have asked by a match that the server has not marked in time.
    fn unmarked(&mut self, now: Instant) -> Option<String> {
        self.asked_by_match.take_if(|(_, until)| *until <= now).map(|(opponent, _)| opponent)
    }

    /// Whether the game that was cut off may be going on in a moment.
    fn cut_off_may_go_on(&self) -> bool {
        let game = self.cut_off.as_ref().and_then(|opponent| self.games.get(opponent));
        game.is_some_and(|game| game.confirmed && game.online && !game.declined) && !self.cannot_resume()
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
    pub(super) fn adjourned(&mut self, opponent: &str, id: &GameId, game: Option<Box<FollowedGame>>) {
        self.waits(opponent, next_part(id), game);
    }

    /// A game waits, and will have this name.
    fn waits(&mut self, opponent: &str, id: GameId, game: Option<Box<FollowedGame>>) {
        let game = Adjourned {
            id,
            game,
            opponent: opponent.to_owned(),
            confirmed: true,
            online: false,
            declined: false,
            asked: None,
            adjudication_asked: false,
            left_running: false,
        };
        self.games.insert(opponent.to_lowercase(), game);
    }

    /// A game with `opponent` is on the board: its name, and it as we knew it, if it is one that waited.
    pub(super) fn resumed(
        &mut self,
        opponent: &str,
        our_color: Color,
        is_resumed: bool,
    ) -> Option<(GameId, Option<Box<FollowedGame>>)> {
        let opponent = opponent.to_lowercase();
        let waiting = self.games.get(&opponent)?;
        let is_this = waiting.game.as_ref().is_none_or(|game| game.info.our_color == our_color);
        if !is_resumed || !is_this {
            return None;
        }
        self.cut_off.take_if(|cut_off| *cut_off == opponent);
        self.games.remove(&opponent).map(|game| (game.id, game.game))
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
    /// the other requests. Unless new games are wanted (`open`), it is the turn of those alone that are no new ones.
    fn due_to_ask(&mut self, now: Instant, open: bool) -> Vec<String> {
        // Some servers have no word for it: there a match with somebody with whom a game waits resumes it.
        let verb = if self.knows_no_resume { "match" } else { "resume" };
        let mut due = Vec::new();
        if self.cannot_resume() {
            return due;
        }
        for (opponent, game) in &mut self.games {
            if self.asked_by_match.is_some() {
                break;
            }
            if !open && !game.left_running && self.cut_off.as_ref() != Some(opponent) {
                continue;
            }
            let asked_lately = game.asked.is_some_and(|asked| now.saturating_duration_since(asked) < ASK_AGAIN);
            if game.confirmed && game.online && !game.declined && !asked_lately {
                game.asked = Some(now);
                due.push(format!("{verb} {}", game.opponent));
                if self.knows_no_resume {
                    self.asked_by_match = Some((game.opponent.clone(), now + MARK_PATIENCE));
                }
            }
        }
        due
    }

    /// When something is due; `may_ask` says whether opponents can be asked at all.
    pub(super) fn wake_at(&self, may_ask: bool) -> Option<Instant> {
        let may_ask = may_ask && !self.cannot_resume();
        let waiting = self.games.values().filter(|game| may_ask && game.confirmed && game.online && !game.declined);
        let again = waiting.filter_map(|game| game.asked).map(|asked| asked + ASK_AGAIN).min();
        let unmarked = self.asked_by_match.as_ref().map(|(_, until)| *until);
        self.verdict_at.into_iter().chain(again).chain(unmarked).min()
    }
}

/// The name of a game's next part.
fn next_part(id: &GameId) -> GameId {
    let parts = id.as_str().rsplit_once('.').and_then(|(first, part)| Some((first, part.parse::<u32>().ok()?)));
    let (first, part) = parts.unwrap_or((id.as_str(), 1));
    GameId::new(format!("{first}.{}", part.saturating_add(1)))
}

impl FicsSession {
    /// A row of the list of adjourned games.
    pub(super) fn stored(&mut self, stored: StoredGame) {
        let ours = self.us.as_ref().map_or("", |us| us.name.as_str());
        let Some(opponent) = stored.opponent.split(' ').find(|name| !name.eq_ignore_ascii_case(ours)) else { return };
        let opponent = self.adjournments.whole_name(opponent);
        if self.adjournments.name_of_game_with(&opponent).is_none() {
            self.waits_unseen(&opponent);
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
            self.send_in_turn(command);
        }
    }

    /// A game waits that was not seen to begin; perhaps an earlier process left it running.
    fn waits_unseen(&mut self, opponent: &str) {
        let known = self.adjournments.name_remembered(opponent);
        let left_running = known.is_some();
        let id = known.unwrap_or_else(|| GameId::new(self.new_name(opponent)));
        self.adjournments.waits(opponent, id, None);
        if let Some(game) = self.adjournments.games.get_mut(&opponent.to_lowercase()) {
            game.left_running = left_running;
        }
    }

    /// Whether nothing speaks against going on with a game that waits. One that ran until the connection was lost, or until an earlier
    /// process ended, is no new game.
    pub(super) fn may_resume(&self) -> bool {
        let free =
            matches!(self.current, CurrentGame::Empty) && !self.requests.is_open(|want| matches!(want, Want::Game(_)));
        let wanted = self.open || self.adjournments.has_running();
        self.settings.resume && wanted && free && self.us.is_some()
    }

    /// The server does not know `resume`, or says that it has failed.
    pub(super) fn resume_is_unknown(&mut self, has_failed: bool) {
        self.adjournments.know_no_resume(has_failed);
        self.tell_if_nothing_resumes();
    }

    /// Says once that games which wait cannot go on here, and what became of the one that was cut off.
    fn tell_if_nothing_resumes(&mut self) {
        if !self.adjournments.cannot_resume() {
            return;
        }
        if !std::mem::replace(&mut self.adjournments.told_for_good, true) {
            let what = "this server has no way to go on with an adjourned game: one that a lost connection stops stays adjourned";
            self.tell(ServerEvent::Fault { game: None, what: what.to_owned() });
        }
        if self.adjournments.has_cut_off() {
            self.settle_cut_off();
        }
    }

    /// Asks the opponents who are there to go on.
    pub(super) fn resume_if_possible(&mut self, now: Instant) {
        if !self.may_resume() {
            return;
        }
        for command in self.adjournments.due_to_ask(now, self.open) {
            self.send(&command);
        }
    }

    /// A match that was to resume a game and that the server has not marked as that is none of ours.
    pub(super) fn withdraw_new_game_if_due(&mut self, now: Instant) {
        if let Some(opponent) = self.adjournments.unmarked(now) {
            // Its answer may have been lost: that says nothing of the server.
            self.adjournments.does_not_wait(&opponent);
            self.send(&format!("withdraw {opponent}"));
        }
    }

    /// Takes back a match that nobody wanted: the server does not know that a game waits.
    pub(super) fn withdraw_new_game(&mut self, opponent: &str, index: Option<u32>) {
        self.adjournments.is_new(opponent);
        let handle = index.map_or_else(|| opponent.to_owned(), |index| index.to_string());
        self.send(&format!("withdraw {handle}"));
        self.tell_if_nothing_resumes();
    }

    /// Asks anew which games wait, where something speaks against what we believe.
    pub(super) fn ask_for_stored_games(&mut self) {
        if !self.outbox.holds("stored") && self.adjournments.ask_again() {
            self.send_in_turn("stored".to_owned());
            self.send_in_turn(END_OF_LISTS.to_owned());
        }
    }

    /// A game that is not on our board has ended; if it is one of ours, it waited and has been given up.
    pub(super) fn other_game_ended(&mut self, end: &GameEnd) {
        let us = self.our_name();
        if [&end.white, &end.black].into_iter().any(|name| name.eq_ignore_ascii_case(us)) {
            self.ask_for_stored_games();
        }
    }

    /// Somebody came or went, perhaps one with whom a game waits that we do not know of.
    pub(super) fn notified(&mut self, name: &str, arrived: bool, adjourned: bool) {
        if arrived && !adjourned && self.adjournments.name_of_game_with(name).is_some() {
            // The server does not say that a game waits. Its list knows.
            self.ask_for_stored_games();
        }
        if adjourned && self.adjournments.name_of_game_with(name).is_none() {
            self.waits_unseen(name);
        }
        self.adjournments.notified(name, arrived, adjourned);
    }

    /// The name for a game that waits and that was not seen to begin: that which an earlier process gave it, or a new one.
    pub(super) fn name_of_resumed(&mut self, opponent: &str) -> GameId {
        self.adjournments.name_remembered(opponent).unwrap_or_else(|| GameId::new(self.new_name(opponent)))
    }

    /// The lists of games that wait and that are over have been told.
    pub(super) fn lists_are_told(&mut self) {
        self.history.is_told();
        if !self.adjournments.has_cut_off() {
            self.adjournments.games.retain(|_, game| game.confirmed);
        } else if !self.adjournments.cut_off_may_go_on() {
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
            let finished = |id, status, winner| ServerEvent::GameFinished {
                id,
                status: Some(status),
                winner,
                rating_change: None,
            };
            let event = if game.confirmed {
                finished(id, GameStatus::Adjourned, None)
            } else if let Some(past) = self.history.end_of_game_with(&opponent) {
                finished(id, past.status.clone(), past.winner)
            } else {
                ServerEvent::GameGone(id)
            };
            self.tell(event);
        }
        self.adjournments.games.retain(|_, game| game.confirmed);
    }
}
