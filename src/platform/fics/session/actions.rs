//! Turns actions into the server's commands.

use std::time::{Duration, Instant};

use super::{
    CurrentGame, FicsSession, FollowedGame, RequestAnswer, challenges::is_kind_of_offer, requests::Want,
    speech::may_be_said,
};
use crate::fics::{
    for_people,
    message::{OfferKind, is_name},
};
use domain::{
    Action, ActionError, ChallengeId, ChallengeRequest, ChatLine, ChatRoom, DeclineReason, Done, GameId, ServerEvent,
    TimeControl, UciMove, Variant,
};

/// What came of an action so far; `None` if its answer depends on the server's.
type Course = Result<Option<Done>, ActionError>;

impl FicsSession {
    /// Does one thing, or says why not. The answer comes as an effect.
    pub(crate) fn act(&mut self, action: Action, ticket: u64, now: Instant) {
        let course = match self.us {
            Some(_) => self.course(action, ticket, now),
            None => Err(ActionError::Unavailable("not connected".to_owned())),
        };
        if let Some(answer) = course.map(|done| done.map(RequestAnswer::Done)).transpose() {
            self.requests.answer(ticket, answer);
        }
        self.send_what_waits(now);
    }

    fn done_by(&mut self, command: &str) -> Course {
        self.send(command);
        Ok(Some(Done::Taken))
    }

    fn done_in_turn(&mut self, command: String) -> Course {
        self.send_in_turn(command);
        Ok(Some(Done::Taken))
    }

    /// Sends a command; the answer comes with what is wanted.
    fn awaited(&mut self, command: &str, want: Want, ticket: u64, now: Instant) -> Course {
        self.requests.open(ticket, want, now);
        self.send(command);
        Ok(None)
    }

    pub(crate) fn look_for(&mut self, name: &str, ticket: u64, now: Instant) {
        if self.us.is_none() {
            let answer = ActionError::Unavailable("not connected".to_owned());
            return self.requests.answer(ticket, Err(answer));
        }
        self.requests.open(ticket, Want::Presence, now);
        match name_of(name) {
            Ok(name) => self.send(&format!("finger {name}")),
            Err(_) => drop(self.requests.settle_presence(false)),
        }
    }

    fn course(&mut self, action: Action, ticket: u64, now: Instant) -> Course {
        match action {
            Action::Accept(id) if self.challenges.get(&id).is_some_and(|one| one.is_stored) => {
                let opponent = self.challenges.remove(&id).map(|one| one.opponent).unwrap_or_default();
                self.adjournments.allow(&opponent);
                self.resume_if_possible(now);
                Ok(Some(Done::Taken))
            }
            Action::Accept(id) => {
                let handle = self.handle_of(&id)?;
                if let Some(one) = self.challenges.get_mut(&id) {
                    one.is_accepted = true;
                }
                self.awaited(&format!("accept {handle}"), Want::Game(id), ticket, now)
            }
            Action::Decline(id, reason) => self.decline(&id, reason, now),
            Action::Cancel(id) => {
                let handle = self.handle_of(&id)?;
                self.challenges.remove(&id);
                self.done_by(&format!("withdraw {handle}"))
            }
            Action::Challenge(request) => {
                let command = match_command(&request)?;
                self.awaited(&command, Want::Issued(request.opponent.to_lowercase()), ticket, now)
            }
            Action::Move { game, uci, offer_draw } => self.make_move(&game, uci, offer_draw, ticket, now),
            Action::Abort(id) => {
                self.may_be_aborted(&id)?;
                self.awaited("abort", Want::End, ticket, now)
            }
            Action::Resign(id) => {
                self.game_on_the_board(&id)?;
                self.awaited("resign", Want::End, ticket, now)
            }
            // The server ends the game at once where a claim is right; elsewhere this is an offer.
            Action::Draw(id, true) | Action::ClaimDraw(id) => {
                self.running_game(&id)?;
                self.done_by("draw")
            }
            Action::Draw(id, false) => self.decline_offer(&id, OfferKind::Draw),
            Action::Takeback(id, true) => {
                let grant = self.running_game(&id)?.takeback_command();
                self.done_by(&grant)
            }
            Action::Takeback(id, false) => self.decline_offer(&id, OfferKind::Takeback(0)),
            Action::ClaimVictory(id) => {
                self.running_game(&id)?;
                self.done_by("flag")
            }
            Action::Chat(id, room, text) => self.chat(&id, room, &text),
            Action::Join(entry) => self.ask_the_manager(&format!("join {}", entry.tournament.id)),
            Action::Leave(tournament) => self.ask_the_manager(&format!("WithdrawFromTourney {}", tournament.id)),
            Action::Tell { to, text } => self.done_in_turn(format!("tell {} {}", name_of(&to)?, for_people(&text))),
        }
    }

    /// Tournaments are held by a program on the server, which answers in its own time.
    fn ask_the_manager(&mut self, request: &str) -> Course {
        if self.settings.tournament_manager.is_empty() {
            return Err(ActionError::Unsupported("no tournament_manager is set for this server"));
        }
        self.done_in_turn(format!("td {request}"))
    }

    fn chat(&mut self, id: &GameId, room: ChatRoom, text: &str) -> Course {
        let is_over = self.ended.as_ref().is_some_and(|(ended, _)| ended == id);
        if !is_over {
            self.running_game(id)?;
        }
        let text = for_people(text);
        let command = match room {
            // The last opponent hears us after the game, too.
            ChatRoom::Player => format!("say {text}"),
            ChatRoom::Spectator if is_over => return Ok(Some(Done::Taken)),
            ChatRoom::Spectator => format!("whisper {text}"),
        };
        // The server does not show us what we say ourselves.
        let username = self.our_name().to_owned();
        self.tell(ServerEvent::Chat(id.clone(), ChatLine { room, username, text }));
        self.done_in_turn(command)
    }

    fn handle_of(&self, id: &ChallengeId) -> Result<String, ActionError> {
        if self.challenges.get(id).is_none() {
            return Err(ActionError::NotFound(format!("challenge {id}")));
        }
        let unclear = || ActionError::Refused("the challenger's name has another meaning to the server".to_owned());
        self.challenges.handle_of(id).ok_or_else(unclear)
    }

    fn decline(&mut self, id: &ChallengeId, reason: DeclineReason, now: Instant) -> Course {
        if self.challenges.get(id).is_some_and(|one| one.is_stored) {
            // A stored game is no request of the opponent.
            self.challenges.remove(id);
            return Ok(Some(Done::Taken));
        }
        let handle = self.handle_of(id);
        let opponent = self.challenges.remove(id).map(|pending| pending.opponent).unwrap_or_default();
        let handle = handle?;
        if let Some(why) = polite(reason).filter(|_| may_be_said(&mut self.thanked, &opponent, now)) {
            self.send_in_turn(format!("tell {opponent} Sorry, {why}."));
        }
        self.done_by(&format!("decline {handle}"))
    }

    /// Checks that this game is on the board, played or not.
    fn game_on_the_board(&self, id: &GameId) -> Result<(), ActionError> {
        let is_there = self.current_id() == Some(id);
        is_there.then_some(()).ok_or_else(|| ActionError::NotFound(format!("game {id} does not run")))
    }

    /// Checks that a game may be aborted: after both first moves the opponent would be asked.
    fn may_be_aborted(&self, id: &GameId) -> Result<(), ActionError> {
        match &self.current {
            CurrentGame::Running(game) if game.info.id == *id && game.plies_made() >= 2 => {
                Err(ActionError::Refused("both sides have moved".to_owned()))
            }
            _ => self.game_on_the_board(id),
        }
    }

    fn running_game(&mut self, id: &GameId) -> Result<&mut FollowedGame, ActionError> {
        match &mut self.current {
            CurrentGame::Running(game) if game.info.id == *id => Ok(game),
            CurrentGame::Opening(opening) if opening.id == *id => {
                Err(ActionError::Unavailable(format!("the moves of game {id} are being asked for")))
            }
            _ if self.adjournments.is_cut_off(id) => {
                Err(ActionError::Unavailable(format!("game {id} was cut off and does not go on yet")))
            }
            _ => Err(ActionError::NotFound(format!("game {id} does not run"))),
        }
    }

    fn make_move(&mut self, id: &GameId, uci: UciMove, offer_draw: bool, ticket: u64, now: Instant) -> Course {
        let game = self.running_game(id)?;
        if !game.is_our_move() {
            return Err(ActionError::Refused("it is not the bot's move".to_owned()));
        }
        let they_offer = game.draw_offers.by(game.info.our_color.other());
        let Some(command) = game.command(uci) else {
            return Err(ActionError::Refused(format!("{uci} is not legal on the board")));
        };
        if offer_draw && they_offer {
            return self.done_by("draw");
        }
        let ply = game.line().ply();
        // Those of other positions have been answered by the boards that came since.
        if self.requests.is_open(|want| matches!(want, Want::OurMove { uci: sent, .. } if *sent == uci)) {
            // The board that shows it answers both.
            self.requests.join(ticket, Want::is_our_move);
            return Ok(None);
        }
        if self.requests.is_open(Want::is_our_move) {
            return Err(ActionError::Unavailable("another move is already on its way".to_owned()));
        }
        // An offer belongs after the move, when it is the opponent's turn to think about it.
        let want = Want::OurMove { uci, ply, command: command.clone(), draw_after: offer_draw };
        self.awaited(&command, want, ticket, now)
    }

    /// Declines an offer by its number, or by the opponent's name where there are no numbers.
    fn decline_offer(&mut self, id: &GameId, what: OfferKind) -> Course {
        let game = self.running_game(id)?;
        if let Some(index) = game.their_offer(what) {
            return self.done_by(&format!("decline {index}"));
        }
        let opponent = &game.info.opponent().name;
        // Where the name means something else, our next move declines.
        let decline = (!is_kind_of_offer(opponent)).then(|| format!("decline {opponent}"));
        // Nothing that the server says will tell that it stands no more, and the same may be asked for again.
        self.note_offer(false, what, false);
        decline.map_or(Ok(Some(Done::Taken)), |command| self.done_by(&command))
    }
}

/// A name, which becomes part of a command: only what can be one.
fn name_of(text: &str) -> Result<&str, ActionError> {
    is_name(text).then_some(text).ok_or_else(|| ActionError::Refused(format!("{text:?} is no player's name")))
}

/// The reason for a refusal, as one says it; none where there is nothing to say.
fn polite(reason: DeclineReason) -> Option<&'static str> {
    Some(match reason {
        DeclineReason::Generic => return None,
        DeclineReason::Later => "not now",
        DeclineReason::TooFast => "that is too fast for me",
        DeclineReason::TooSlow => "that is too slow for me",
        DeclineReason::TimeControl => "I do not play this time control",
        DeclineReason::Rated => "I play rated games only",
        DeclineReason::Casual => "I play unrated games only",
        DeclineReason::Standard => "I play standard chess only",
        DeclineReason::Variant => "I do not play this variant",
        DeclineReason::NoBot => "I do not play computers",
        DeclineReason::OnlyBot => "I play computers only",
    })
}

/// `match Ann 5 12 unrated white`.
fn match_command(request: &ChallengeRequest) -> Result<String, ActionError> {
    if request.initial_fen.is_some() {
        return Err(ActionError::Unsupported("FICS has no games from a position of one's own"));
    }
    let (minutes, increment) = match request.terms.time_control {
        TimeControl::Unlimited => (0, 0),
        TimeControl::Correspondence { .. } => return Err(ActionError::Unsupported("FICS has no correspondence games")),
        TimeControl::RealTime { initial, increment } => match whole_minutes(initial, increment) {
            Some(time) => time,
            None => return Err(ActionError::Unsupported("FICS counts in whole minutes and whole seconds")),
        },
    };
    let variant = match request.terms.variant {
        Variant::Standard => "",
        Variant::Chess960 => " wild fr",
        Variant::Crazyhouse => " crazyhouse",
        Variant::Atomic => " atomic",
        _ => return Err(ActionError::Unsupported("FICS does not play this variant")),
    };
    let rated = if request.terms.rated { "rated" } else { "unrated" };
    let color = request.our_color.map_or("", |color| color.fold_wb(" white", " black"));
    Ok(format!("match {} {minutes} {increment} {rated}{color}{variant}", name_of(&request.opponent)?))
}

/// Ten seconds and an increment are what the server makes of no minutes and an increment.
pub(super) fn whole_minutes(initial: Duration, increment: Duration) -> Option<(u64, u64)> {
    if increment.subsec_nanos() > 0 || initial.subsec_nanos() > 0 {
        return None;
    }
    match (initial.as_secs(), increment.as_secs()) {
        (10, increment) if increment > 0 => Some((0, increment)),
        (seconds, increment) if seconds > 0 && seconds % 60 == 0 => Some((seconds / 60, increment)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use domain::{Color, GameTerms};

    #[test]
    fn challenges_in_the_servers_words() {
        let request = |time: &str, variant| ChallengeRequest {
            opponent: "Ann".to_owned(),
            terms: GameTerms { variant, time_control: time.parse().expect("a time control"), rated: false },
            our_color: Some(Color::White),
            initial_fen: None,
        };
        let command = |time, variant| match_command(&request(time, variant)).ok();
        assert_eq!(command("300+12", Variant::Standard).as_deref(), Some("match Ann 5 12 unrated white"));
        assert_eq!(command("10+1", Variant::Chess960).as_deref(), Some("match Ann 0 1 unrated white wild fr"));
        assert_eq!(command("90+0", Variant::Standard), None);
        assert_eq!(command("60+0.1", Variant::Standard), None);
        assert_eq!(command("3d", Variant::Standard), None);
        assert_eq!(command("60+0", Variant::Antichess), None);
    }
}
