mod games;
mod help;
mod matches;
pub(crate) mod past;
mod people;
mod seeks;

use std::io;

use help::command_of;

use super::session::{JoinedBoard, VisitorSession};
use crate::{account::AccountId, faults::RequestKind, state::ServerState};
use domain::GameId;

const NO_BOARD: &str = "You are neither playing, observing nor examining a game.";

/// Returns the kind of request that a line is, for the choice of faults.
pub(crate) fn kind_of(line: &str) -> RequestKind {
    if games::looks_like_a_move(line) {
        return RequestKind::Move;
    }
    match command_of(line.split(' ').next().unwrap_or_default()) {
        Some("accept" | "decline" | "match" | "withdraw" | "seek" | "play" | "unseek" | "resume" | "rematch") => {
            RequestKind::Challenge
        }
        Some("abort" | "adjourn" | "draw" | "flag" | "resign" | "takeback") => RequestKind::GameAction,
        Some("tell" | "t" | "say" | "kibitz" | "whisper" | "shout" | "cshout" | "it" | "xtell") => RequestKind::Chat,
        Some("stored" | "games" | "variables" | "ivariables") => RequestKind::Account,
        _ => RequestKind::Other,
    }
}

impl VisitorSession {
    /// Executes one line. Its answer comes before the next prompt.
    pub(super) async fn command(&mut self, line: &str) -> io::Result<()> {
        // A dollar keeps a line from counting as activity, which is not counted here.
        let line = line.trim_start_matches('$').trim();
        if line.is_empty() {
            return Ok(());
        }
        if games::looks_like_a_move(line) {
            return self.make_move(line).await;
        }
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        let rest = rest.trim();
        // `.hello` and `,hello` tell the last person, which is not supported; `'` is a kibitz.
        let dialect = self.dialect();
        let Some(command) = command_of(word).filter(|command| dialect.knows(command)) else {
            return self.answer(dialect.unknown_command(word));
        };
        match command {
            "match" => self.challenge_player(rest).await?,
            "accept" => self.accept(rest).await?,
            "decline" => self.decline(rest).await?,
            "withdraw" => self.withdraw(rest).await?,
            "pending" => self.pending(),
            "resume" => self.resume(rest).await?,
            "stored" => self.stored().await?,
            "seek" => self.seek(rest).await?,
            "unseek" => self.unseek(rest),
            "sought" => self.sought(),
            "play" => self.play(rest).await?,
            "resign" => self.resign().await?,
            "draw" => self.draw().await?,
            "abort" => self.abort().await?,
            "adjourn" => self.adjourn().await?,
            "takeback" => self.takeback(rest).await?,
            "flag" => self.flag().await?,
            "switch" | "pause" | "unpause" | "moretime" => {
                self.line(format!("Sorry, {command} is not offered on this server."));
            }
            "refresh" => self.refresh().await?,
            "moves" => self.moves(rest).await?,
            "games" => self.games().await?,
            "observe" => self.observe(rest).await?,
            "unobserve" => self.unobserve(),
            "history" => self.history(rest).await?,
            "smoves" => self.smoves(rest).await?,
            "examine" => self.examine(rest).await?,
            "forward" => self.step(rest, true),
            "back" => self.step(rest, false),
            "unexamine" => self.unexamine(),
            "time" => self.time().await?,
            "rematch" => self.rematch().await?,
            "flip" => self.flip().await?,
            "set" => self.set(rest).await?,
            "style" => self.set(&format!("style {rest}")).await?,
            "iset" => {
                let (name, value) = rest.split_once(' ').unwrap_or((rest, ""));
                let words = self.variables.set_interface(name, value.trim());
                self.line(words);
            }
            "variables" => self.line(self.variables.shown(&self.me.name)),
            "ivariables" => self.line(self.variables.interface_shown(&self.me.name)),
            "quit" | "exit" | "logout" => {
                self.line("Logging you out.");
                self.leaving = true;
            }
            _ => self.talk(command, rest).await?,
        }
        Ok(())
    }

    /// Runs `job` on the game being played, as its player; answers if there is none.
    async fn in_game<T, F>(&mut self, job: F) -> io::Result<Option<T>>
    where
        T: Send + 'static,
        F: FnOnce(&mut ServerState, &GameId, &AccountId) -> T + Send + 'static,
    {
        let Some(board) = &self.playing else {
            self.line("You are not playing a game.");
            return Ok(None);
        };
        let (id, me) = (board.id.clone(), self.me.id.clone());
        self.ask(move |state| job(state, &id, &me)).await.map(Some)
    }

    fn board_in_sight(&self) -> Option<&JoinedBoard> {
        self.playing.as_ref().or(self.watching.as_ref())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_told_apart() {
        for (line, kind) in [
            ("e2e4", RequestKind::Move),
            ("nf3", RequestKind::Move),
            ("resign", RequestKind::GameAction),
            ("match Ann 5 0", RequestKind::Challenge),
            ("date", RequestKind::Other),
        ] {
            assert_eq!(kind_of(line), kind, "{line}");
        }
    }
}
