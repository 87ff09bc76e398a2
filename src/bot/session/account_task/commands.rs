//! Operator commands of an account: those about opponents go to the lobby, those about a game to
//! its task, the rest to the server.

use std::sync::Arc;

use super::{Manager, policy_with};
use crate::policy::{chat::ChatCommand, matchmaking::MatchType};
use crate::session::{
    AccountEvent, AccountMode,
    control::{AccountCommand, AccountRequest, ChallengeOrder, ControlAnswer, ControlError},
    event::terms_in_words,
    lobby::{LobbyCommand, LobbyEffect, LobbyInput},
    machine::GameInput,
};
use domain::{Action, ActionError, ChallengeRequest, Done, Tournament, TournamentEntry, values::MinutesAndSeconds};

/// Commands that wait for the answer of the server.
#[derive(Default)]
pub(super) struct OpenCommands {
    /// Challenges that were ordered and are on their way.
    challenges: Vec<(ChallengeRequest, ControlAnswer)>,
}

impl Manager {
    /// Carries out a command, or begins to.
    pub(super) fn obey(&mut self, request: AccountRequest) {
        let AccountRequest { command, answer } = request;
        match command {
            AccountCommand::Pause => self.pause(true, answer),
            AccountCommand::Resume => self.pause(false, answer),
            AccountCommand::Challenge(order) => {
                let request = order.request.clone();
                // The same may have been ordered just before.
                let was_on_its_way = self.lobby.is_on_its_way(&request);
                let Some(answer) = self.ask_lobby(LobbyCommand::Challenge(order), answer) else { return };
                // Either it is on its way now, or it waits for a place.
                if self.lobby.is_on_its_way(&request) && !was_on_its_way {
                    self.open_commands.challenges.push((request, answer));
                } else {
                    let done = format!("{} will be challenged once a game slot is free", request.opponent);
                    self.context.answer_operator(answer, Ok(done));
                }
            }
            AccountCommand::Cancel => drop(self.ask_lobby(LobbyCommand::Cancel, answer)),
            AccountCommand::Block(name) => drop(self.ask_lobby(LobbyCommand::Block(name), answer)),
            AccountCommand::Join(entry) => self.join(entry, answer),
            AccountCommand::Leave(tournament) => self.leave_tournaments(tournament, answer),
            AccountCommand::Adopt(rules) => {
                let context = self.context.change();
                context.player = rules.player;
                context.chat = rules.policy.chat.clone();
                context.variants = rules.policy.variants.clone();
                self.reception.follows(rules.policy.chat.clone(), &rules.policy.variants);
                self.lists = rules.policy.newer_lists.clone();
                self.policy = policy_with(&*self.context.server, &rules.policy);
                self.tell_lobby(LobbyInput::Adopt(Arc::clone(&self.policy)));
                let _ = answer.send(Ok("new rules are in effect".to_owned()));
            }
            AccountCommand::InGame(game, command) => match self.games.get(&game) {
                // A task that ends before it has read the command drops the answer, and so does one that is overwhelmed; that says that
                // there is no such game.
                Some(task) => drop(task.inbox.try_send(GameInput::Command(command, answer))),
                None => drop(answer.send(Err(ControlError::NoGame(game)))),
            },
        }
    }

    /// The answer to a challenge that was ordered has come.
    pub(super) fn challenge_answered(&mut self, input: &LobbyInput) {
        let LobbyInput::Challenged(request, outcome) = input else { return };
        let event = AccountEvent::Challenged {
            request: request.clone(),
            outcome: outcome.clone().map_err(|error| error.to_string()),
        };
        self.context.tell(event);
        let waiting = self.open_commands.challenges.iter().position(|(known, _)| known == request);
        if let Some(index) = waiting {
            let (_, answer) = self.open_commands.challenges.swap_remove(index);
            let (opponent, terms) = (&request.opponent, terms_in_words(request.terms));
            let said = match outcome {
                Ok(id) => Ok(format!("challenge sent to {opponent}: {terms} (challenge {id})")),
                Err(error) if self.lobby.is_made_again(request, error) => {
                    Ok(format!("cannot challenge {opponent} now, retrying later: {error}"))
                }
                Err(error) => Err(ControlError::Server(error.clone())),
            };
            let _ = answer.send(said);
        }
    }

    /// Obeys `!challenge [NAME] [TIME] [rated]` of a friend, by default for a casual game of 3+2 with the friend; the answer.
    pub(super) fn ordered_in_chat(&mut self, from: &str, text: &str) -> Option<String> {
        let allowed = self.policy.chat.commands.contains(&ChatCommand::Challenge) && self.lobby.is_friend(from);
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
        let said = self.tell_lobby_command(LobbyCommand::Challenge(ChallengeOrder { request, games: 1 }));
        Some(match said {
            Some(Err(why)) => why,
            _ => done,
        })
    }

    fn pause(&mut self, pause: bool, answer: ControlAnswer) {
        let before = self.lobby.mode();
        let said = self.tell_lobby_command(LobbyCommand::Pause(pause));
        let now = self.lobby.mode();
        if before != now {
            self.mode_changed(now);
        }
        // The change itself stands in the log already.
        if let Some(said) = said {
            let _ = answer.send(said.map_err(ControlError::NotNow));
        }
    }

    /// Tells watchers and the server whether new games are wanted.
    pub(super) fn mode_changed(&mut self, mode: AccountMode) {
        self.context.tell(AccountEvent::Mode(mode));
        let server = Arc::clone(&self.context.server);
        self.context.requests.spawn(async move { server.open_to_new_games(mode == AccountMode::Playing).await });
    }

    /// Tells the lobby; the answer is given back where the lobby gave none.
    fn ask_lobby(&mut self, command: LobbyCommand, answer: ControlAnswer) -> Option<ControlAnswer> {
        match self.tell_lobby_command(command) {
            Some(said) => {
                self.context.answer_operator(answer, said.map_err(ControlError::NotNow));
                None
            }
            None => Some(answer),
        }
    }

    /// Tells the lobby, and carries out what it wants done; its answer, if it has one already.
    fn tell_lobby_command(&mut self, command: LobbyCommand) -> Option<Result<String, String>> {
        let mut answer = None;
        for effect in self.lobby.handle(&self.now(), LobbyInput::Command(command)) {
            match effect {
                LobbyEffect::Answer(said) => answer = Some(said),
                effect => self.carry_out(effect),
            }
        }
        answer
    }

    fn join(&mut self, entry: TournamentEntry, answer: ControlAnswer) {
        let done = format!("joined tournament {}", entry.tournament);
        let input = LobbyInput::Command(LobbyCommand::Joined(entry.clone()));
        self.act(Action::Join(entry), done, Some(input), answer);
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
        let input = LobbyInput::Command(LobbyCommand::Left(tournament.clone()));
        self.act(Action::Leave(tournament.clone()), format!("left tournament {tournament}"), Some(input), answer);
    }

    /// Asks the server, and answers when it has. What the lobby should know then is told to it if the server agreed.
    fn act(&mut self, action: Action, done: String, then: Option<LobbyInput>, answer: ControlAnswer) {
        let (context, lobby) = (self.context.clone(), self.answers_sender.clone());
        self.context.requests.spawn(async move {
            let outcome: Result<Done, ActionError> = context.server.perform(action).await;
            if let (Ok(_), Some(input)) = (&outcome, then) {
                let _ = lobby.send(input);
            }
            context.answer_operator(answer, outcome.map(|_| done).map_err(ControlError::Server));
        });
    }
}
