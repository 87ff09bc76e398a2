//! Stored games: adjourned by agreement, by the opponent's lost connection, or by ours.
//!
//! A stored game goes on only if the policy has seen its terms: because it began in this process or
//! is in the journal, and the server's words about it agree; any other one is reported as a
//! challenge, once for each time that the opponent comes. A challenge that the server marks as
//! `(adjourned)` is an ordinary one if we do not know such a game.
//!
//! If `resume` is not known, some servers let a match with the same player resume a game and mark
//! it so, others take it for a new challenge, which is unwanted. So a match is sent only right
//! after the server has listed the game, and names the game's clock and `unrated`: for a stored
//! game those words are ignored. A match that the server takes for a new one is withdrawn, a game
//! that begins from it is left, and no further one is made on this server, in no later process
//! either ([`ServerEvent::Learned`]).
//!
//! A game cut off with our connection and resumed at once keeps its name. One that was reported as
//! over comes back under a new one, `...-7.2` after `...-7`, so that its end stands.

use std::time::Instant;

use super::{
    CurrentGame, END_OF_LISTS, FicsSession, Want,
    adjournments::{Adjourned, MATCH_IS_NEW, MATCH_RESUMES, next_part},
    challenges::word_for,
};
use crate::fics::message::{GameEnd, MatchTerms, StoredGame};
use domain::{ChallengeId, GameId, GameStatus, KnownGame, ServerEvent};

impl FicsSession {
    pub(super) fn stored(&mut self, stored: StoredGame, now: Instant) {
        let us = self.our_name();
        let Some(opponent) = stored.opponent.split(' ').find(|name| !name.eq_ignore_ascii_case(us)) else { return };
        let opponent = self.adjournments.whole_name(opponent);
        let row = stored.terms.as_ref();
        let is_another = |game: &Adjourned| {
            row.zip(game.terms.as_ref()).is_some_and(|(row, terms)| !row.allow(terms))
                || stored.our_color.zip(game.game.as_ref()).is_some_and(|(color, game)| color != game.info.our_color)
        };
        let known = self.adjournments.games.get(&opponent.to_lowercase());
        if known.is_none_or(is_another) {
            self.waits_unseen(&opponent);
        }
        let days = self.settings.adjudicate_after;
        let old = stored.date.is_some_and(|date| {
            let today = jiff::Zoned::now().date();
            today.since(date).is_ok_and(|age| i64::from(age.get_days()) >= i64::from(days))
        });
        let may_offer = self.open && self.may_resume() && stored.terms.is_some();
        let Some(game) = self.adjournments.game_mut(&opponent) else { return };
        game.confirmed = true;
        game.listed = Some(now);
        // Where the server does not say, asking does no harm.
        game.online = stored.online.unwrap_or(true);
        let id = ChallengeId::new(game.id.as_str());
        let is_offered = may_offer && game.online && !game.is_allowed && !std::mem::replace(&mut game.is_told, true);
        if days > 0 && old && !std::mem::replace(&mut game.adjudication_asked, true) {
            let command = self.settings.adjudicate_command.replace("{opponent}", &opponent);
            self.send_in_turn(command);
        }
        if let Some(terms) = stored.terms.filter(|_| is_offered) {
            let terms = MatchTerms::of_stored(&opponent, self.our_name(), stored.our_color, &terms);
            self.stored_is_offered(id, terms);
        }
    }

    /// A game waits that was not seen to begin; perhaps an earlier process left it running, or adjourned.
    fn waits_unseen(&mut self, opponent: &str) {
        let (id, known) = self.name_of_resumed(opponent);
        self.adjournments.waits(opponent, id, None);
        if let Some(game) = self.adjournments.game_mut(opponent) {
            game.is_allowed = known.is_some();
            game.terms = known.as_ref().map(|known| known.info.terms);
            game.left_running = known.is_some_and(|known| !known.is_adjourned);
        }
    }

    /// True if nothing speaks against going on with a game that waits. One that ran until the connection was lost, or until an earlier
    /// process ended, is no new game.
    pub(super) fn may_resume(&self) -> bool {
        let free = matches!(self.current, CurrentGame::Empty) && !self.requests.is_open(Want::is_game);
        let adjournments = &self.adjournments;
        let has_running = adjournments.has_cut_off() || adjournments.games.values().any(|game| game.left_running);
        let wanted = self.open || has_running;
        self.settings.resume && wanted && free && self.us.is_some()
    }

    /// The server does not know `resume`, or says that it has failed. Whether a match resumes a game is not said by that.
    pub(super) fn resume_is_unknown(&mut self) {
        if !std::mem::replace(&mut self.adjournments.knows_no_resume, true) {
            self.adjournments.games.values_mut().for_each(|game| game.asked = None);
        }
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

    pub(super) fn resume_if_possible(&mut self, now: Instant) {
        if !self.may_resume() {
            return;
        }
        let (commands, needs_list) = self.adjournments.ask_those_due(now, self.open);
        for command in commands {
            self.send(&command);
        }
        if needs_list {
            self.ask_for_stored_games();
        }
    }

    /// Withdraws the match that was to resume a game if the server has not marked it in time. One that was withdrawn long ago begins
    /// no game any more.
    pub(super) fn withdraw_new_game_if_due(&mut self, now: Instant) {
        let late = self.adjournments.asked_by_match.take_if(|asked| asked.until <= now);
        if let Some(late) = late.filter(|late| !late.is_withdrawn) {
            // Its answer may have been lost: that says nothing of the server.
            self.adjournments.does_not_wait(&late.opponent, now);
            self.send(&format!("withdraw {}", word_for(&late.opponent)));
        }
    }

    /// Tells what a later process is to know of this server, when it is news.
    pub(super) fn tell_what_is_learned(&mut self) {
        let learned = self.adjournments.match_meaning;
        if learned.is_some()
            && std::mem::replace(&mut self.told_learned, learned) != learned
            && let Some(words) = learned
        {
            self.tell(ServerEvent::Learned(format!("{} {} {words}", self.settings.host, self.settings.port)));
        }
    }

    /// Restores facts that an earlier process has learned; those of another server do not count.
    pub(crate) fn recall(&mut self, learned: &str) {
        let server = format!("{} {} ", self.settings.host, self.settings.port);
        if let Some(words) = learned.strip_prefix(&server) {
            let known = [MATCH_RESUMES, MATCH_IS_NEW].into_iter().find(|known| *known == words);
            self.adjournments.match_meaning = known;
            self.told_learned = known;
        }
    }

    /// Withdraws an unwanted match: the server does not know of the stored game.
    pub(super) fn withdraw_new_game(&mut self, opponent: &str, index: Option<u32>, now: Instant) {
        if self.adjournments.is_unmarked(opponent) {
            self.adjournments.is_new(opponent, now);
        } else {
            self.adjournments.does_not_wait(opponent, now);
        }
        let handle = index.map_or_else(|| word_for(opponent).to_owned(), |index| index.to_string());
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

    /// A player came or went, perhaps one with a stored game that we do not know of.
    pub(super) fn notified(&mut self, name: &str, arrived: bool, adjourned: bool) {
        if arrived && !adjourned && self.adjournments.name_of_game_with(name).is_some() {
            // The server does not say that a game waits. Its list knows.
            self.ask_for_stored_games();
        }
        if adjourned && self.adjournments.name_of_game_with(name).is_none() {
            self.waits_unseen(name);
        }
        self.adjournments.notified(name, arrived, adjourned);
        let is_unseen = self.adjournments.game_mut(name).is_some_and(|game| !game.is_allowed && !game.is_told);
        if arrived && adjourned && is_unseen {
            // What is played in it stands in the list.
            self.ask_for_stored_games();
        }
    }

    /// The name for a game that waits and that was not seen to begin: that which an earlier process gave it, or a new one. The game as
    /// that process knew it is given once.
    pub(super) fn name_of_resumed(&mut self, opponent: &str) -> (GameId, Option<KnownGame>) {
        let known = self.adjournments.remembered.remove(&opponent.to_lowercase());
        let id = match &known {
            Some(game) if game.is_adjourned => next_part(&game.info.id),
            Some(game) => game.info.id.clone(),
            None => GameId::new(self.new_name(opponent)),
        };
        (id, known)
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
            && let Some(game) = self.adjournments.game_mut(&opponent)
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
            } else if let Some(past) = game.game.as_ref().and_then(|game| self.history.end_of(&game.info)) {
                finished(id, past.status.clone(), past.winner)
            } else {
                ServerEvent::GameGone(id)
            };
            self.tell(event);
        }
        self.adjournments.games.retain(|_, game| game.confirmed);
    }
}
