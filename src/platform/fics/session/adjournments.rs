//! The stored games that are known, and what was asked about them; no word is sent here.

use std::{
    collections::BTreeMap,
    time::{Duration, Instant},
};

use super::{actions::whole_minutes, game::FollowedGame};
use crate::fics::message::{MatchTerms, may_name};
use domain::{Color, GameId, GameInfo, GameTerms, KnownGame, TimeControl};

/// Time after a login for the list of adjourned games, and for the opponent to resume one.
const VERDICT: Duration = Duration::from_secs(5);

/// Time for the server to mark a match that is to resume a game, before it is withdrawn.
const MARK_PATIENCE: Duration = Duration::from_secs(3);

/// Time after a withdrawn match in which a game with the same player may be the one that it began.
const WITHDRAWN_PATIENCE: Duration = Duration::from_secs(30);

/// The pause between two attempts to resume a game with the same opponent.
const ASK_AGAIN: Duration = Duration::from_secs(60);

/// Maximum age of the list of stored games when a match is to resume one.
const LISTED_LATELY: Duration = Duration::from_secs(2);

/// Facts about a server's matches, for a later process.
pub(super) const MATCH_RESUMES: &str = "match resumes";
pub(super) const MATCH_IS_NEW: &str = "match is new";

pub(super) struct Adjourned {
    /// Its name when it is resumed.
    pub(super) id: GameId,
    pub(super) game: Option<Box<FollowedGame>>,
    pub(super) terms: Option<GameTerms>,
    /// As the server writes it.
    opponent: String,
    /// True if the policy has seen its terms.
    pub(super) is_allowed: bool,
    /// True if it was told as a challenge since the opponent came.
    pub(super) is_told: bool,
    /// True if the server itself says that it waits, since we are connected.
    pub(super) confirmed: bool,
    pub(super) listed: Option<Instant>,
    pub(super) online: bool,
    declined: bool,
    pub(super) asked: Option<Instant>,
    pub(super) adjudication_asked: bool,
    /// True if it ran when an earlier process ended: it goes on whether new games are wanted or not.
    pub(super) left_running: bool,
}

/// A match of ours that is to resume a game.
pub(super) struct AskedMatch {
    pub(super) opponent: String,
    /// Time at which it is withdrawn, or forgotten if it was withdrawn.
    pub(super) until: Instant,
    pub(super) is_withdrawn: bool,
}

/// All of them, by opponent in lower case: a server keeps one a pair of players.
#[derive(Default)]
pub(super) struct Adjournments {
    pub(super) games: BTreeMap<String, Adjourned>,
    /// Games that an earlier process left running or adjourned, by opponent in lower case.
    pub(super) remembered: BTreeMap<String, KnownGame>,
    /// The opponent of the game that ran when the connection was lost, until its fate is known.
    pub(super) cut_off: Option<String>,
    pub(super) verdict_at: Option<Instant>,
    pub(super) knows_no_resume: bool,
    /// Meaning of a match with the opponent of a stored game on this server, [`MATCH_RESUMES`] or
    /// [`MATCH_IS_NEW`], once it is known. It outlasts the connection.
    pub(super) match_meaning: Option<&'static str>,
    /// True if it was told that games which wait cannot go on.
    pub(super) told_for_good: bool,
    knows_no_list: bool,
    list_asked: Option<Instant>,
    pub(super) asked_by_match: Option<AskedMatch>,
}

impl Adjournments {
    pub(super) fn game_mut(&mut self, opponent: &str) -> Option<&mut Adjourned> {
        self.games.get_mut(&opponent.to_lowercase())
    }

    /// The game that ran when the connection was lost, until its fate is known.
    fn cut_off_game(&self) -> Option<&Adjourned> {
        self.games.get(self.cut_off.as_ref()?)
    }

    /// We are logged in again; the list of games is on its way. What was asked over an older connection counts no more.
    pub(super) fn connected(&mut self, now: Instant) {
        self.verdict_at = Some(now + VERDICT);
        self.knows_no_resume = false;
        self.knows_no_list = false;
        self.asked_by_match = None;
        for game in self.games.values_mut() {
            game.confirmed = false;
            game.listed = None;
            game.online = false;
            game.declined = false;
            game.asked = None;
            game.is_told = false;
        }
    }

    pub(super) fn remember(&mut self, game: KnownGame) {
        let opponent = game.info.opponent().name.to_lowercase();
        let is_known_better = self.remembered.get(&opponent).is_some_and(|known| !known.is_adjourned);
        if !(game.is_adjourned && is_known_better) {
            self.remembered.insert(opponent, game);
        }
    }

    pub(super) fn forget(&mut self, id: &GameId) {
        self.remembered.retain(|_, remembered| remembered.info.id != *id);
    }

    /// True if a game of ours with this player, whose terms the policy has seen, may be the one that the server wants to resume.
    pub(super) fn may_resume_by(&self, opponent: &str, offered: &MatchTerms) -> bool {
        let is_same = |terms: &GameTerms| {
            let told = offered.game_terms();
            let is_time = offered.time.is_none() || told.time_control == terms.time_control;
            offered.rated == terms.rated && is_time && offered.rules().allow(terms.variant)
        };
        let opponent = opponent.to_lowercase();
        let waiting = self.games.get(&opponent).filter(|game| game.is_allowed).and_then(|game| game.terms.as_ref());
        let remembered = self.remembered.get(&opponent).map(|game| &game.info.terms);
        waiting.or(remembered).is_some_and(is_same)
    }

    /// The opponent has asked, and is answered: there is no need to ask as well.
    pub(super) fn is_asked_by_them(&mut self, opponent: &str, now: Instant) {
        if let Some(game) = self.game_mut(opponent) {
            game.asked = Some(now);
        }
    }

    pub(super) fn allow(&mut self, opponent: &str) {
        if let Some(game) = self.game_mut(opponent) {
            game.is_allowed = true;
            game.asked = None;
            game.declined = false;
        }
    }

    /// Returns the whole name for one that a list may cut off, if such a player is known.
    pub(super) fn whole_name(&self, listed: &str) -> String {
        let remembered = self.remembered.values().map(|game| &game.info.opponent().name);
        let known = self.games.values().map(|game| &game.opponent).chain(remembered);
        let shortest = known.filter(|name| may_name(listed, name)).min_by_key(|name| name.len());
        shortest.filter(|name| name.len() > listed.len()).cloned().unwrap_or_else(|| listed.to_owned())
    }

    /// True if the server itself says that this game waits. There is one a pair of players; of one that we have not seen ourselves the
    /// opponent is all that we know.
    pub(super) fn has_waiting(&self, known: &GameInfo) -> bool {
        let waiting = self.games.get(&known.opponent().name.to_lowercase());
        let is_it = |game: &Adjourned| game.id == known.id || game.id == next_part(&known.id) || game.game.is_none();
        waiting.is_some_and(|game| game.confirmed && is_it(game))
    }

    pub(super) fn cut_off(&mut self, opponent: &str, id: GameId, game: Option<Box<FollowedGame>>) {
        self.waits(opponent, id, game);
        self.cut_off = Some(opponent.to_lowercase());
    }

    /// True if the game with this player is no new one: it ran when the connection was lost, or when an earlier process ended.
    pub(super) fn runs_with(&self, opponent: &str) -> bool {
        let opponent = opponent.to_lowercase();
        self.cut_off.as_ref() == Some(&opponent) || self.games.get(&opponent).is_some_and(|game| game.left_running)
    }

    pub(super) fn has_cut_off(&self) -> bool {
        self.cut_off.is_some()
    }

    /// The server has no list of games that wait: perhaps the one that was cut off does.
    pub(super) fn are_not_listed(&mut self) {
        self.knows_no_list = true;
        if let Some(game) = self.cut_off.clone().and_then(|opponent| self.game_mut(&opponent)) {
            game.confirmed = true;
            game.online = true;
        }
    }

    pub(super) fn cannot_resume(&self) -> bool {
        self.knows_no_resume && self.match_meaning == Some(MATCH_IS_NEW)
    }

    /// The list is asked for once more: what it does not name does not wait. Whether there is such a list.
    pub(super) fn ask_again(&mut self) -> bool {
        if !self.knows_no_list {
            self.games.values_mut().for_each(|game| game.confirmed = false);
        }
        !self.knows_no_list
    }

    /// The server marks what goes on with this player as the resumption of a game, which was asked for by a match where `by_match`.
    pub(super) fn marked(&mut self, opponent: &str, by_match: bool) {
        if self.knows_no_resume && (by_match || self.is_unmarked(opponent)) {
            self.match_meaning = Some(MATCH_RESUMES);
        }
        self.is_answered(opponent);
    }

    /// The server marks the opponent's challenge as a resumption. Without `resume`, a match did it.
    pub(super) fn is_marked_by_them(&mut self) {
        if self.knows_no_resume {
            self.match_meaning = Some(MATCH_RESUMES);
        }
    }

    pub(super) fn is_answered(&mut self, opponent: &str) {
        self.asked_by_match.take_if(|asked| asked.opponent.eq_ignore_ascii_case(opponent));
    }

    /// The server takes what was to resume a game with this player for something new: nothing waits there. The opponent may have accepted it
    /// before it is withdrawn.
    pub(super) fn is_new(&mut self, opponent: &str, now: Instant) {
        self.match_meaning.get_or_insert(MATCH_IS_NEW);
        self.does_not_wait(opponent, now);
    }

    /// No game waits with this player; a withdrawn match may still become a game.
    pub(super) fn does_not_wait(&mut self, opponent: &str, now: Instant) {
        let opponent_is = |asked: &AskedMatch| asked.opponent.eq_ignore_ascii_case(opponent);
        if self.asked_by_match.as_ref().is_none_or(|asked| asked.is_withdrawn || opponent_is(asked)) {
            let (opponent, until) = (opponent.to_owned(), now + WITHDRAWN_PATIENCE);
            self.asked_by_match = Some(AskedMatch { opponent, until, is_withdrawn: true });
        }
        if let Some(game) = self.game_mut(opponent) {
            game.confirmed = false;
        }
    }

    pub(super) fn is_unmarked(&self, opponent: &str) -> bool {
        self.asked_by_match.as_ref().is_some_and(|asked| asked.opponent.eq_ignore_ascii_case(opponent))
    }

    /// The server says that a game with this player waits, and that a match with words of its own does not resume it.
    pub(super) fn wants_bare_match(&mut self, opponent: &str, now: Instant) -> Option<String> {
        let asked = self.asked_by_match.as_mut().filter(|asked| asked.opponent.eq_ignore_ascii_case(opponent))?;
        if asked.is_withdrawn {
            return None;
        }
        asked.until = now + MARK_PATIENCE;
        Some(format!("match {}", asked.opponent))
    }

    pub(super) fn cut_off_may_go_on(&self) -> bool {
        self.cut_off_game().is_some_and(|game| game.confirmed && game.online && !game.declined) && !self.cannot_resume()
    }

    pub(super) fn is_cut_off(&self, id: &GameId) -> bool {
        self.cut_off_game().is_some_and(|game| game.id == *id)
    }

    /// The game of this name is told to be over, and waits: the server says so where it is `confirmed`.
    pub(super) fn adjourned(&mut self, opponent: &str, id: &GameId, game: Option<Box<FollowedGame>>, confirmed: bool) {
        self.waits(opponent, next_part(id), game);
        if let Some(game) = self.game_mut(opponent) {
            game.confirmed = confirmed;
        }
    }

    pub(super) fn waits(&mut self, opponent: &str, id: GameId, game: Option<Box<FollowedGame>>) {
        let game = Adjourned {
            id,
            terms: game.as_ref().map(|game| game.info.terms),
            game,
            opponent: opponent.to_owned(),
            is_allowed: true,
            is_told: false,
            confirmed: true,
            listed: None,
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

    pub(super) fn notified(&mut self, name: &str, arrived: bool, adjourned: bool) {
        if let Some(game) = self.game_mut(name) {
            game.online = arrived;
            game.confirmed |= adjourned;
            game.listed = None;
            if arrived {
                game.declined = false;
                game.is_told = false;
            }
        }
    }

    pub(super) fn declined(&mut self, name: &str) {
        if let Some(game) = self.game_mut(name) {
            game.declined = true;
        }
    }

    pub(super) fn name_of_game_with(&self, opponent: &str) -> Option<&GameId> {
        self.games.get(&opponent.to_lowercase()).map(|game| &game.id)
    }

    /// Returns the requests that are due, and true if the list of games that wait is wanted first. The first opponent who accepts gets the game; the server
    /// withdraws the other requests. Unless new games are wanted (`open`), only interrupted games
    /// are due.
    pub(super) fn ask_those_due(&mut self, now: Instant, open: bool) -> (Vec<String>, bool) {
        let (mut commands, mut needs_list) = (Vec::new(), false);
        if self.cannot_resume() {
            return (commands, needs_list);
        }
        for (opponent, game) in &mut self.games {
            if self.asked_by_match.is_some() {
                break;
            }
            let is_wanted = game.is_wanted(open, self.cut_off.as_ref() == Some(opponent));
            if !(is_wanted && game.is_due(now)) {
                continue;
            }
            if !self.knows_no_resume {
                game.asked = Some(now);
                commands.push(format!("resume {}", game.opponent));
            } else if self.knows_no_list || game.listed.is_some_and(|listed| now < listed + LISTED_LATELY) {
                game.asked = Some(now);
                game.listed = None;
                commands.push(game.match_command());
                let (opponent, until) = (game.opponent.clone(), now + MARK_PATIENCE);
                self.asked_by_match = Some(AskedMatch { opponent, until, is_withdrawn: false });
            } else if self.list_asked.is_none_or(|asked| now >= asked + ASK_AGAIN) {
                self.list_asked = Some(now);
                needs_list = true;
            }
        }
        (commands, needs_list)
    }

    /// Returns the time of the next action; `may_ask` says whether opponents can be asked at all,
    /// `open` whether new games are wanted.
    pub(super) fn wake_at(&self, may_ask: bool, open: bool) -> Option<Instant> {
        let may_ask = may_ask && !self.cannot_resume() && self.asked_by_match.is_none();
        let is_wanted =
            |opponent: &String, game: &Adjourned| game.is_wanted(open, self.cut_off.as_ref() == Some(opponent));
        let waiting =
            self.games.iter().filter(|(opponent, game)| may_ask && game.may_be_asked() && is_wanted(opponent, game));
        let again = waiting.map(|(_, game)| game).filter_map(|game| game.asked).map(|asked| asked + ASK_AGAIN).min();
        let list_again = self.list_asked.map(|asked| asked + ASK_AGAIN).filter(|_| self.knows_no_resume);
        let unmarked = self.asked_by_match.as_ref().map(|asked| asked.until);
        self.verdict_at.into_iter().chain(again.max(list_again.filter(|_| again.is_some()))).chain(unmarked).min()
    }
}

impl Adjourned {
    /// True if it may go on while new games are wanted (`open`) or not.
    fn is_wanted(&self, open: bool, is_cut_off: bool) -> bool {
        open || self.left_running || is_cut_off
    }

    fn may_be_asked(&self) -> bool {
        self.is_allowed && self.confirmed && self.online && !self.declined
    }

    fn is_due(&self, now: Instant) -> bool {
        let asked_lately = self.asked.is_some_and(|asked| now.saturating_duration_since(asked) < ASK_AGAIN);
        self.may_be_asked() && !asked_lately
    }

    /// The match that resumes it. Should it not wait any more, the words after the name make of it what does least harm.
    fn match_command(&self) -> String {
        let time = match self.terms.map(|terms| terms.time_control) {
            Some(TimeControl::RealTime { initial, increment }) => whole_minutes(initial, increment),
            _ => None,
        };
        let time = time.map(|(minutes, increment)| format!(" {minutes} {increment}")).unwrap_or_default();
        format!("match {}{time} unrated", self.opponent)
    }
}

pub(super) fn next_part(id: &GameId) -> GameId {
    let parts = id.as_str().rsplit_once('.').and_then(|(first, part)| Some((first, part.parse::<u32>().ok()?)));
    let (first, part) = parts.unwrap_or((id.as_str(), 1));
    GameId::new(format!("{first}.{}", part.saturating_add(1)))
}
