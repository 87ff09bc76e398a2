//! Operator commands of an account: commands about opponents go to the lobby, commands about a game
//! to its task, the rest to the server.

use std::sync::Arc;

use super::{Manager, policy_with};
use crate::policy::{chat::ChatCommand, matchmaking::MatchType};
use crate::session::{
    AccountEvent, AccountMode,
    control::{AccountCommand, AccountRequest, ControlAnswer, ControlError},
    event::terms_in_words,
    lobby::{LobbyEffect, LobbyInput},
    machine::GameInput,
};
use domain::{Action, ChallengeRequest, Tournament, TournamentEntry, values::MinutesAndSeconds};

impl Manager {
    pub(super) fn obey(&mut self, (command, answer): AccountRequest) {
        match command {
            AccountCommand::Pause(pause) => self.pause(pause, answer),
            AccountCommand::Challenge(request, games) => {
                // An earlier order may be the same.
                let was_on_its_way = self.lobby.is_on_its_way(&request);
                let Some(answer) = self.ask_lobby(LobbyInput::Order(request.clone(), games), answer) else { return };
                // Now the challenge is on its way, or waits for a place.
                if self.lobby.is_on_its_way(&request) && !was_on_its_way {
                    self.open_orders.push((request, answer));
                } else {
                    let done = format!("{} will be challenged once a game slot is free", request.opponent);
                    self.context.answer_operator(answer, Ok(done));
                }
            }
            AccountCommand::Cancel => drop(self.ask_lobby(LobbyInput::CancelOrders, answer)),
            AccountCommand::Block(name) => drop(self.ask_lobby(LobbyInput::Block(name), answer)),
            AccountCommand::Join(entry) => self.join(entry, answer),
            AccountCommand::Leave(tournament) => self.leave_tournaments(tournament, answer),
            AccountCommand::Adopt(player, policy) => {
                // Running games keep the old rules.
                let policy = policy_with(&*self.context.server, &policy);
                self.reception.follows(policy.chat.clone(), &policy.variants);
                self.lists = policy.newer_lists.clone();
                let runtime = &mut Arc::make_mut(&mut self.context).runtime;
                (runtime.player, runtime.policy) = (player, Arc::clone(&policy));
                self.tell_lobby(LobbyInput::Adopt(policy));
                let _ = answer.send(Ok("new rules are in effect".to_owned()));
            }
            AccountCommand::InGame(game, command) => match self.games.get(&game) {
                // An ending task drops the answer, and so does a full queue; the operator's error is an unknown game.
                Some(task) => drop(task.inbox.try_send(GameInput::Command(command, answer))),
                None => drop(answer.send(Err(ControlError::NoGame(game)))),
            },
        }
    }

    pub(super) fn challenge_answered(&mut self, input: &LobbyInput) {
        let LobbyInput::Challenged(request, outcome) = input else { return };
        let event = AccountEvent::Challenged {
            request: request.clone(),
            outcome: outcome.clone().map_err(|error| error.to_string()),
        };
        self.context.tell(event);
        let Some(index) = self.open_orders.iter().position(|(known, _)| known == request) else { return };
        let (_, answer) = self.open_orders.swap_remove(index);
        let (opponent, terms) = (&request.opponent, terms_in_words(request.terms));
        let _ = answer.send(match outcome {
            Ok(id) => Ok(format!("challenge sent to {opponent}: {terms} (challenge {id})")),
            Err(error) if self.lobby.is_made_again(request, error) => {
                Ok(format!("cannot challenge {opponent} now, retrying later: {error}"))
            }
            Err(error) => Err(ControlError::Server(error.clone())),
        });
    }

    /// Obeys `!challenge [NAME] [TIME] [rated]` of a friend, by default for a casual game of 3+2 with the friend. Returns the answer.
    pub(super) fn ordered_in_chat(&mut self, from: &str, text: &str) -> Option<String> {
        let allowed =
            self.context.runtime.policy.chat.commands.contains(&ChatCommand::Challenge) && self.lobby.is_friend(from);
        let words = ChatCommand::challenge_words(text).filter(|_| allowed)?;
        let mut terms = MatchType { rated: false, ..MatchType::default() }.terms();
        let mut opponent = from.to_owned();
        for word in words {
            match (word, word.parse()) {
                ("rated", _) => terms.rated = true,
                (_, Ok(MinutesAndSeconds(time_control))) => terms.time_control = time_control,
                (name, Err(_)) => name.clone_into(&mut opponent),
            }
        }
        let done = format!("{opponent} is challenged to {}", terms_in_words(terms));
        let request = ChallengeRequest { opponent, terms, our_color: None, initial_fen: None };
        let said = self.command_lobby(LobbyInput::Order(request, 1));
        Some(match said {
            Some(Err(why)) => why,
            _ => done,
        })
    }

    fn pause(&mut self, pause: bool, answer: ControlAnswer) {
        let before = self.lobby.mode();
        let said = self.command_lobby(LobbyInput::Pause(pause));
        let now = self.lobby.mode();
        if before != now {
            self.mode_changed(now);
        }
        // The log has the change already.
        if let Some(said) = said {
            let _ = answer.send(said.map_err(ControlError::NotNow));
        }
    }

    pub(super) fn mode_changed(&mut self, mode: AccountMode) {
        self.context.tell(AccountEvent::Mode(mode));
        self.request(|context, _| async move { context.server.open_to_new_games(mode == AccountMode::Playing).await });
    }

    /// Gives the lobby a command and answers the operator. Returns `answer` if the lobby gave none.
    fn ask_lobby(&mut self, command: LobbyInput, answer: ControlAnswer) -> Option<ControlAnswer> {
        let Some(said) = self.command_lobby(command) else { return Some(answer) };
        self.context.answer_operator(answer, said.map_err(ControlError::NotNow));
        None
    }

    /// Gives the lobby a command and carries out its effects. Returns its answer, if it has one already.
    fn command_lobby(&mut self, command: LobbyInput) -> Option<Result<String, String>> {
        let mut answer = None;
        for effect in self.lobby.handle(&self.now(), command) {
            match effect {
                LobbyEffect::Answer(said) => answer = Some(said),
                effect => self.carry_out(effect),
            }
        }
        answer
    }

    fn join(&mut self, entry: TournamentEntry, answer: ControlAnswer) {
        let done = format!("joined tournament {}", entry.tournament);
        let input = LobbyInput::OrderedToJoin(entry.clone());
        self.act(Action::Join(entry), done, input, answer);
    }

    fn leave_tournaments(&mut self, tournament: Option<Tournament>, answer: ControlAnswer) {
        let tournaments = tournament.map_or_else(|| self.lobby.tournaments(), |tournament| vec![tournament]);
        let [tournament] = tournaments.as_slice() else {
            let why = if tournaments.is_empty() {
                "no joined tournament is known; name the one to leave".to_owned()
            } else {
                let names: Vec<String> = tournaments.iter().map(ToString::to_string).collect();
                format!("several tournaments were joined; name the one to leave: {}", names.join(", "))
            };
            return self.context.answer_operator(answer, Err(ControlError::NotNow(why)));
        };
        let input = LobbyInput::OrderedToLeave(tournament.clone());
        self.act(Action::Leave(tournament.clone()), format!("left tournament {tournament}"), input, answer);
    }

    /// Asks the server, and answers the operator after its answer. If the server agreed, the lobby gets `then`.
    fn act(&mut self, action: Action, done: String, then: LobbyInput, answer: ControlAnswer) {
        self.request(|context, lobby| async move {
            let outcome = context.server.perform(action).await;
            if outcome.is_ok() {
                let _ = lobby.send(then);
            }
            context.answer_operator(answer, outcome.map(|_| done).map_err(ControlError::Server));
        });
    }
}
