//! Operator commands of a running game: machine and conversation fit them in, the server acts, and
//! its answer goes to the operator.

use std::sync::Arc;

use super::GameTask;
use crate::session::{
    control::{ControlAnswer, ControlError, GameCommand},
    machine::{DrawCourse, GameEffect, GameInput},
};
use domain::Action;

impl GameTask {
    pub(super) fn obey(&mut self, command: GameCommand, answer: ControlAnswer) -> Vec<GameEffect> {
        match command {
            GameCommand::Resign => self.give_up(answer),
            GameCommand::Draw => {
                self.draw(answer);
                Vec::new()
            }
            GameCommand::Chat(room, text) => {
                let lines = match &mut self.game {
                    Some(game) => game.conversation.say(game.machine.info(), room, &text),
                    None => Err(NOT_KNOWN_YET),
                };
                match lines {
                    Ok(lines) => {
                        let done = format!("said to the {}s of game {}: {text}", room.key(), self.id);
                        self.ask(lines, done, answer);
                    }
                    Err(why) => self.refuse(why, answer),
                }
                Vec::new()
            }
        }
    }

    fn give_up(&mut self, answer: ControlAnswer) -> Vec<GameEffect> {
        let (may_abort, effects) = match &mut self.game {
            Some(game) => game.machine.give_up(),
            // The number of moves is not known.
            None => (true, Vec::new()),
        };
        let (context, own, id) = (Arc::clone(&self.context), self.own.clone(), self.id.clone());
        self.context.requests.spawn(async move {
            let outcome = match may_abort {
                true => context.leave(&id).await,
                false => context.server.perform(Action::Resign(id.clone())).await.map(drop),
            };
            if outcome.is_err() {
                let _ = own.send(GameInput::NotGivenUp);
            }
            context.answer_operator(
                answer,
                outcome.map(|()| format!("game {id} was resigned or aborted")).map_err(Into::into),
            );
        });
        effects
    }

    fn draw(&mut self, answer: ControlAnswer) {
        let id = &self.id;
        let Some(game) = &mut self.game else { return self.refuse(NOT_KNOWN_YET, answer) };
        let course = game.machine.wants_draw();
        let done = match course {
            DrawCourse::TooSoon => return self.refuse("a draw cannot be offered before both sides have moved", answer),
            DrawCourse::TooLate => return self.refuse("a draw can no longer be offered", answer),
            DrawCourse::WithNextMove => {
                let done = format!("draw offer goes with the next move in game {id}");
                return self.context.answer_operator(answer, Ok(done));
            }
            DrawCourse::Take => format!("draw accepted in game {id}"),
            DrawCourse::Offer => format!("draw offered in game {id}"),
        };
        self.ask(vec![Action::Draw(id.clone(), true)], done, answer);
    }

    /// Performs actions one after the other, and answers the operator with their outcome.
    fn ask(&self, actions: Vec<Action>, done: String, answer: ControlAnswer) {
        let context = Arc::clone(&self.context);
        self.context.requests.spawn(async move {
            let mut outcome = Ok(());
            for action in actions {
                outcome = outcome.and(context.server.perform(action).await.map(drop));
            }
            context.answer_operator(answer, outcome.map(|()| done).map_err(ControlError::Server));
        });
    }

    fn refuse(&self, why: &str, answer: ControlAnswer) {
        self.context.answer_operator(answer, Err(ControlError::NotNow(why.to_owned())));
    }
}

/// Answer before the server has sent the state of a game.
const NOT_KNOWN_YET: &str = "the server has not sent the state of the game yet; try again";
