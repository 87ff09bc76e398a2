//! What a visitor can say.

mod games;
mod matches;
mod people;
mod seeks;

use std::io;

use super::session::FicsSession;
use crate::faults::RequestKind;

/// Every command, in the order in which the beginning of one is taken for it: `m` is `match`, not `moves`.
const COMMANDS: [&str; 64] = [
    "accept",
    "abort",
    "adjourn",
    "alias",
    "bell",
    "cshout",
    "date",
    "decline",
    "draw",
    "finger",
    "flag",
    "games",
    "help",
    "history",
    "inchannel",
    "iset",
    "it",
    "ivariables",
    "kibitz",
    "match",
    "moves",
    "moretime",
    "news",
    "notify",
    "observe",
    "pause",
    "pending",
    "play",
    "quit",
    "exit",
    "logout",
    "refresh",
    "resign",
    "resume",
    "say",
    "seek",
    "set",
    "shout",
    "sought",
    "stored",
    "style",
    "switch",
    "takeback",
    "tell",
    "td",
    "t",
    "unexamine",
    "unobserve",
    "unpause",
    "unseek",
    "uptime",
    "variables",
    "whisper",
    "who",
    "withdraw",
    "xtell",
    "+channel",
    "-channel",
    "+notify",
    "-notify",
    "+censor",
    "-censor",
    "next",
    "message",
];

/// The command that a word means.
fn command_of(word: &str) -> Option<&'static str> {
    let word = word.to_lowercase();
    let exact = COMMANDS.iter().find(|command| **command == word);
    exact.or_else(|| COMMANDS.iter().find(|command| command.starts_with(&word))).copied()
}

/// What kind of request a line is, as faults tell them apart.
pub(crate) fn kind_of(line: &str) -> RequestKind {
    if games::looks_like_a_move(line) {
        return RequestKind::Move;
    }
    match command_of(line.split(' ').next().unwrap_or_default()) {
        Some("accept" | "decline" | "match" | "withdraw" | "seek" | "play" | "unseek" | "resume") => {
            RequestKind::Challenge
        }
        Some("abort" | "adjourn" | "draw" | "flag" | "resign" | "takeback") => RequestKind::GameAction,
        Some("tell" | "t" | "say" | "kibitz" | "whisper" | "shout" | "cshout" | "it" | "xtell") => RequestKind::Chat,
        Some("stored" | "games" | "variables" | "ivariables") => RequestKind::Account,
        _ => RequestKind::Other,
    }
}

impl FicsSession {
    /// Obeys one line. What there is to say is said before the next prompt.
    pub(super) async fn command(&mut self, line: &str) -> io::Result<()> {
        // A dollar keeps a line from counting as activity; here nobody counts.
        let line = line.trim_start_matches('$').trim();
        if line.is_empty() {
            return Ok(());
        }
        if games::looks_like_a_move(line) {
            return self.make_move(line).await;
        }
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        let rest = rest.trim();
        // `.hello` and `,hello` tell the last person, which is not for here; `'` is a kibitz.
        let dialect = self.dialect();
        let Some(command) = command_of(word).filter(|command| dialect.knows(command)) else {
            self.line(dialect.unknown_command(word));
            return Ok(());
        };
        match command {
            "match" => self.challenge_somebody(rest).await?,
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

    /// The game we play; says so if there is none.
    fn game_played(&mut self) -> Option<chess::GameId> {
        let id = self.playing.as_ref().map(|board| board.id.clone());
        if id.is_none() {
            self.line("You are not playing a game.");
        }
        id
    }
}

/// A text for `help`.
fn help() -> String {
    let rows: Vec<String> = COMMANDS
        .chunks(6)
        .map(|row| row.iter().map(|command| format!("{command:<13}")).collect::<String>().trim_end().to_owned())
        .collect();
    format!("Commands:\n\n{}\n\nMoves: e2e4, e7e8=Q, o-o, Nf3.", rows.join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_may_be_shortened() {
        for (word, command) in [
            ("m", Some("match")),
            ("ma", Some("match")),
            ("mo", Some("moves")),
            ("t", Some("t")),
            ("TELL", Some("tell")),
            ("var", Some("variables")),
            ("frobnicate", None),
            ("endlogin_4711", None),
        ] {
            assert_eq!(command_of(word), command, "{word}");
        }
        assert_eq!(kind_of("e2e4"), RequestKind::Move);
        assert_eq!(kind_of("resign"), RequestKind::GameAction);
    }
}
