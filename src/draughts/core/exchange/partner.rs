//! The state of a program between messages: the messages allowed next, and the game being played.
//!
//! It has no socket and no clock. Input from [`Partner::receive`] and from the own program becomes
//! messages to send and [`Happening`]s.

use std::time::Duration;

use super::message::{Acceptance, BackAnswer, Message, Reason, Request, Taken};
use crate::{
    board::{Board, Color, DraughtsError, Move, Rules},
    game::Game,
};

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PartnerPhase {
    Idle,
    /// This program asked for a game and waits for the answer.
    Asked(Request),
    /// The other program asked for a game and waits for the answer.
    ToAnswer(Request),
    /// A game is played, by this program with the named colour.
    Playing(Color),
    /// This program ended the game and waits for the same message.
    Ending,
    /// One of them wants no further game.
    Over,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Happening {
    /// The other program asks for a game: answer.
    Asked,
    /// The other program asks for a game by another version of the protocol; it gets that answer.
    AskedOtherwise,
    Begun,
    /// The other does not want the game, for this reason.
    Declined(Acceptance),
    Moved(Move),
    Ended {
        reason: Reason,
        last: bool,
    },
    /// The other confirmed that the game has ended.
    EndConfirmed,
    Said(String),
    /// The other wanted to take moves back, which this program never does.
    WantedBack,
}

impl PartnerPhase {
    const fn words(&self) -> &'static str {
        match self {
            Self::Idle => "no game is played",
            Self::Asked(_) => "a game was asked for",
            Self::ToAnswer(_) => "a game is to be answered for",
            Self::Playing(_) => "a game is played",
            Self::Ending => "the end of a game is to be confirmed",
            Self::Over => "the dialogue is over",
        }
    }
}

/// This program's side of a dialogue.
#[derive(Clone, Debug)]
pub struct Partner {
    name: String,
    other: String,
    initiator: bool,
    phase: PartnerPhase,
    game: Game,
}

impl Partner {
    /// Creates a program that asks for games (the initiator) or waits for them (the follower).
    pub fn new(name: impl Into<String>, initiator: bool) -> Self {
        let (name, other) = (name.into(), String::new());
        Self { name, other, initiator, phase: PartnerPhase::Idle, game: Game::default() }
    }

    /// Returns the other program's name; empty if it has sent none.
    pub fn other(&self) -> &str {
        &self.other
    }

    pub fn phase(&self) -> &PartnerPhase {
        &self.phase
    }

    pub fn game(&self) -> &Game {
        &self.game
    }

    pub fn is_to_move(&self) -> bool {
        self.phase == PartnerPhase::Playing(self.game.board().to_move())
    }

    fn out_of_turn<T>(&self, wanted: &str) -> Result<T, DraughtsError> {
        Err(DraughtsError(format!("nothing can be {wanted} while {}", self.phase.words())))
    }

    /// Asks for a game in which the other program plays `follower`; only the initiator may, between games.
    pub fn ask(&mut self, follower: Color, minutes: u16, start: Option<Board>) -> Result<Message, DraughtsError> {
        if !self.initiator || self.phase != PartnerPhase::Idle {
            return self.out_of_turn("asked for");
        }
        let request = Request { name: self.name.clone(), follower, minutes, moves: 0, start };
        self.phase = PartnerPhase::Asked(request.clone());
        Ok(Message::Request(request))
    }

    pub fn answer(&mut self, acceptance: Acceptance) -> Result<Message, DraughtsError> {
        let PartnerPhase::ToAnswer(request) = self.phase.clone() else { return self.out_of_turn("answered") };
        match acceptance {
            Acceptance::Accepted => self.begin(&request, request.follower),
            Acceptance::NoGames => self.phase = PartnerPhase::Over,
            Acceptance::OtherVersion | Acceptance::Refused => self.phase = PartnerPhase::Idle,
        }
        Ok(Message::Answer(self.name.clone(), acceptance))
    }

    fn begin(&mut self, request: &Request, own: Color) {
        self.game = Game::new(request.start.unwrap_or_default(), Rules::Official);
        self.phase = PartnerPhase::Playing(own);
    }

    /// Plays a legal move found in `time`.
    pub fn play(&mut self, mv: Move, time: Duration) -> Result<Message, DraughtsError> {
        if !self.is_to_move() {
            return self.out_of_turn("played");
        }
        self.game.play(mv)?;
        Ok(Message::Move(Taken::new(&mv, time)))
    }

    /// Ends the game instead of moving: only the side to move may. Another game may follow.
    pub fn end(&mut self, reason: Reason) -> Result<Message, DraughtsError> {
        if !self.is_to_move() {
            return self.out_of_turn("ended");
        }
        self.phase = PartnerPhase::Ending;
        Ok(Message::End { reason, last: false })
    }

    /// Returns the reason why this program should end the game now, when it is to move and the game is over.
    pub fn reason_to_end(&self) -> Option<Reason> {
        let outcome = self.game.outcome().filter(|_| self.is_to_move())?;
        Some(Reason::of(outcome, self.game.board().to_move()))
    }

    /// Takes a message. Returns its meaning, and the message to send back at once. An error changes nothing.
    pub fn receive(&mut self, message: Message) -> Result<(Happening, Option<Message>), DraughtsError> {
        let unexpected = |this: &Self, said: &Message| {
            let said = said.to_string();
            DraughtsError(format!("the other program says {said:?} while {}", this.phase.words()))
        };
        let happening = match (message, self.phase.clone()) {
            (Message::Chat(words), _) => Happening::Said(words),
            (Message::Request(request), PartnerPhase::Idle) if !self.initiator => {
                self.other.clone_from(&request.name);
                self.phase = PartnerPhase::ToAnswer(request);
                Happening::Asked
            }
            (Message::OtherRequest(_), PartnerPhase::Idle) if !self.initiator => {
                let answer = Message::Answer(self.name.clone(), Acceptance::OtherVersion);
                return Ok((Happening::AskedOtherwise, Some(answer)));
            }
            (Message::Answer(name, Acceptance::Accepted), PartnerPhase::Asked(request)) => {
                self.other = name;
                self.begin(&request, !request.follower);
                Happening::Begun
            }
            (Message::Answer(_, declined), PartnerPhase::Asked(_)) => {
                self.phase = if declined == Acceptance::NoGames { PartnerPhase::Over } else { PartnerPhase::Idle };
                Happening::Declined(declined)
            }
            (Message::Move(taken), PartnerPhase::Playing(_)) if !self.is_to_move() => {
                Happening::Moved(self.follow(&taken)?)
            }
            (Message::End { reason, last }, PartnerPhase::Playing(_)) if !self.is_to_move() => {
                self.phase = if last { PartnerPhase::Over } else { PartnerPhase::Idle };
                let answer = Message::End { reason: Reason::Unknown, last };
                return Ok((Happening::Ended { reason, last }, Some(answer)));
            }
            (Message::End { last, .. }, PartnerPhase::Ending) => {
                self.phase = if last { PartnerPhase::Over } else { PartnerPhase::Idle };
                Happening::EndConfirmed
            }
            (Message::Back(..), PartnerPhase::Playing(_)) => {
                return Ok((Happening::WantedBack, Some(Message::BackAnswer(BackAnswer::Unable))));
            }
            (message, _) => return Err(unexpected(self, &message)),
        };
        Ok((happening, None))
    }

    /// Plays the other's move. Where several paths take the same pieces it does not matter which it took.
    fn follow(&mut self, taken: &Taken) -> Result<Move, DraughtsError> {
        let legal = self.game.legal_moves();
        let Some(mv) = legal.iter().find(|mv| taken.is(mv)) else {
            let text = format!("{} to {} taking {:?}", taken.from, taken.to, taken.taken);
            return Err(DraughtsError(format!("{text} is not legal here (legal: {legal:?})")));
        };
        self.game.play(*mv)?;
        Ok(*mv)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::Square;

    fn pair() -> (Partner, Partner) {
        (Partner::new("asks", true), Partner::new("waits", false))
    }

    fn hear(partner: &mut Partner, message: Message) -> Happening {
        partner.receive(message).expect("it fits").0
    }

    fn begun(start: Option<Board>) -> (Partner, Partner) {
        let (mut initiator, mut follower) = pair();
        let request = initiator.ask(Color::Black, 10, start).expect("no game yet");
        assert_eq!(hear(&mut follower, request), Happening::Asked);
        let answer = follower.answer(Acceptance::Accepted).expect("it was asked");
        assert_eq!(hear(&mut initiator, answer), Happening::Begun);
        assert_eq!([initiator.other(), follower.other()], ["waits", "asks"]);
        (initiator, follower)
    }

    #[test]
    fn two_programs_play_two_games() {
        let (mut white, mut black) = begun(None);
        while white.reason_to_end().is_none() && black.reason_to_end().is_none() {
            let (mover, other) = if white.is_to_move() { (&mut white, &mut black) } else { (&mut black, &mut white) };
            let mv = mover.game().legal_moves()[0];
            let message = mover.play(mv, Duration::from_secs(1)).expect("legal");
            assert_eq!(hear(other, message), Happening::Moved(mv));
            assert_eq!(mover.game(), other.game());
        }
        let (mover, other) = if white.is_to_move() { (&mut white, &mut black) } else { (&mut black, &mut white) };
        let reason = mover.reason_to_end().expect("the game is over");
        let end = mover.end(reason).expect("it is to move");
        let (happening, confirmation) = other.receive(end).expect("it fits");
        assert_eq!(happening, Happening::Ended { reason, last: false });
        assert_eq!(hear(mover, confirmation.expect("an end is confirmed")), Happening::EndConfirmed);
        assert!(white.ask(Color::White, 5, None).is_ok());
    }

    #[test]
    fn illegal_move_changes_nothing() {
        let (white, mut black) = begun(None);
        let before = black.clone();
        let square = |number| Square::new(number).expect("on the board");
        let taken = Taken { time: Duration::ZERO, from: square(21), to: square(13), taken: square(17).set() };
        let error = black.receive(Message::Move(taken)).expect_err("an illegal move").to_string();
        assert!(error.contains("is not legal here"), "{error}");
        assert_eq!((black.game(), black.phase()), (before.game(), before.phase()));
        assert!(white.is_to_move());
    }

    #[test]
    fn messages_out_of_turn_are_errors() {
        let (mut initiator, mut follower) = pair();
        assert!(follower.ask(Color::White, 1, None).is_err(), "only the initiator asks");
        assert!(initiator.end(Reason::Unknown).is_err());
        assert!(initiator.receive(Message::End { reason: Reason::Won, last: false }).is_err());
        assert_eq!(hear(&mut initiator, Message::Chat("buongiorno".into())), Happening::Said("buongiorno".into()));
        let request = initiator.ask(Color::White, 1, None).expect("no game yet");
        hear(&mut follower, request);
        let refusal = follower.answer(Acceptance::NoGames).expect("it was asked");
        assert_eq!(hear(&mut initiator, refusal), Happening::Declined(Acceptance::NoGames));
        assert_eq!((initiator.phase(), follower.phase()), (&PartnerPhase::Over, &PartnerPhase::Over));
    }

    #[test]
    fn other_versions_are_answered() {
        let (mut initiator, mut follower) = pair();
        let wish = "R02something else".parse().expect("a message");
        let (happening, answer) = follower.receive(wish).expect("it fits");
        assert_eq!(happening, Happening::AskedOtherwise);
        assert_eq!(answer.map(|answer| answer.to_string()), Some(format!("A{:32}1", "waits")));
        let request = initiator.ask(Color::White, 1, None).expect("no game yet");
        assert_eq!(hear(&mut follower, request), Happening::Asked);
    }

    #[test]
    fn position_games_name_their_colours() {
        let start: Board = "B:W21,22,K3:B9,10,K30".parse().expect("a position");
        let (white, mut black) = begun(Some(start));
        assert_eq!((white.game().start(), black.game().start()), (&start, &start));
        assert!(black.is_to_move() && !white.is_to_move());
        let (happening, answer) = black.receive(Message::Back(1, Color::White)).expect("it fits");
        assert_eq!((happening, answer), (Happening::WantedBack, Some(Message::BackAnswer(BackAnswer::Unable))));
    }
}
