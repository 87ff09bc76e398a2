//! Chat of a game: greetings once, answers to commands, never a flood.
//!
//! One [`Chat`] a game. It receives lines and returns answers. The caller sends them when there is
//! time, never before a move. The server would drop a flood of lines, so this module drops it first.

mod command;

use std::{collections::VecDeque, time::Duration};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

pub(crate) use command::fill_in;
pub use command::{ChatCommand, ChatContext};

use super::rate_limits::later;
use domain::{ChatLine, ChatRoom};
use util::Fault;

/// Lines of chat, each with its place.
pub type Said = Vec<(ChatRoom, String)>;

/// The longest line accepted by a server, in characters.
pub const LONGEST: usize = 140;
/// The number of lines within [`FLOOD_TIME`].
const FLOOD_LINES: usize = 4;
const FLOOD_TIME: Duration = Duration::from_secs(10);
/// The most lines of one answer: the flood rule must leave some for other answers.
const LONGEST_ANSWER: usize = 3;

util::settings! {
    /// The `chat` table. Greetings may hold `{me}`, `{opponent}`, `{engine}`, `{cpu}` and `{ram}`; an
    /// empty one is not sent.
    #[derive(Eq)]
    pub struct ChatSettings {
        /// Greeting to the opponent at the start.
        pub hello: String = "Hello {opponent}, I am {engine}. Good luck! Type !help for commands.".to_owned(),
        /// Greeting to the opponent at the end.
        pub goodbye: String = "Good game, {opponent}.".to_owned(),
        /// Greeting to spectators at the start.
        pub hello_spectators: String = "Hello! Type !help to ask how {me} votes on its moves.".to_owned(),
        /// Greeting to spectators at the end.
        pub goodbye_spectators: String = "Thanks for watching.".to_owned(),
        /// Commands to answer. "eval" and "pv" show the bot's evaluation, "printeval" does so after
        /// every move of the bot until "quiet", "why" shows the vote, "wait" gives the opponent twice
        /// the time of `player.abort` for the first move, "challenge" lets the players of
        /// `challenge.friends` request a challenge of themselves or others:
        /// `!challenge [NAME] [TIME] [rated]`.
        pub commands: Vec<ChatCommand> = ChatCommand::ALL.to_vec(),
        /// Rooms in which commands are answered: "player", "spectator".
        pub rooms: Vec<ChatRoom> = vec![ChatRoom::Player, ChatRoom::Spectator],
        /// Time at which the opponent may see the answers to !eval, !pv, !printeval and !why: "never",
        /// "after" the game, or "always".
        pub thoughts_to_opponent: Thoughts = Thoughts::After,
    }
}

/// The time at which the opponent may see the bot's evaluation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Thoughts {
    Never,
    /// After the game.
    #[default]
    After,
    Always,
}

#[derive(Clone, Debug)]
pub struct Chat {
    pub settings: ChatSettings,
    pub context: ChatContext,
    player: Room,
    spectator: Room,
}

#[derive(Clone, Debug, Default)]
struct Room {
    greeted: bool,
    parted: bool,
    /// True if the evaluation is requested after each move.
    told: bool,
    /// Commands to be answered after the game.
    owed: Vec<ChatCommand>,
    /// The last line and the times of the last few.
    last: String,
    times: VecDeque<Timestamp>,
}

impl Chat {
    pub fn new(settings: ChatSettings, context: ChatContext) -> Self {
        Self { settings, context, player: Room::default(), spectator: Room::default() }
    }

    /// Returns the greetings at the start, once.
    pub fn hello(&mut self, now: Timestamp) -> Said {
        let texts = [&self.settings.hello, &self.settings.hello_spectators].map(|text| self.context.fill_in(text));
        self.greet(texts, |room| &mut room.greeted, now)
    }

    /// Returns the greetings at the end, once; with the answers promised to the opponent, if the game is not only adjourned.
    pub fn goodbye(&mut self, now: Timestamp) -> Said {
        let texts = [&self.settings.goodbye, &self.settings.goodbye_spectators].map(|text| self.context.fill_in(text));
        let mut lines = self.greet(texts, |room| &mut room.parted, now);
        if self.context.over {
            for command in std::mem::take(&mut self.player.owed) {
                let reply = command.reply(&self.settings, &self.context);
                lines.extend(self.player.answer(ChatRoom::Player, &reply, now));
            }
        }
        lines
    }

    /// Forgets the last messages, because another person will read from now on.
    pub fn turns_to_another_person(&mut self) {
        self.player.last.clear();
        self.spectator.last.clear();
    }

    /// Marks the greetings as sent, in a game resumed after a restart.
    pub fn greeted_already(&mut self) {
        self.player.greeted = true;
        self.spectator.greeted = true;
    }

    pub fn answer(&mut self, line: &ChatLine, now: Timestamp) -> Said {
        let from = line.username.as_str();
        if from.is_empty() || from.eq_ignore_ascii_case("lichess") || from.eq_ignore_ascii_case(&self.context.me) {
            return Vec::new();
        }
        let Some(command) = ChatCommand::from_line(&line.text).filter(|command| self.answers(line, *command)) else {
            return Vec::new();
        };
        let thoughts = self.settings.thoughts_to_opponent;
        let refusal = command::refusal(line.room, thoughts, self.context.over).filter(|_| command.tells_thoughts());
        let reply = refusal.map_or_else(|| command.reply(&self.settings, &self.context), str::to_owned);
        let room = self.room(line.room);
        match command {
            _ if refusal.is_some() && thoughts == Thoughts::After => room.owes(command),
            _ if refusal.is_some() => (),
            ChatCommand::PrintEval => room.told = true,
            ChatCommand::Quiet => {
                room.told = false;
                room.owed.clear();
            }
            _ => (),
        }
        room.answer(line.room, &reply, now)
    }

    /// Returns true if a command is answered there.
    fn answers(&self, line: &ChatLine, command: ChatCommand) -> bool {
        self.settings.rooms.contains(&line.room) && self.settings.commands.contains(&command)
    }

    pub fn tells_moves(&self) -> bool {
        self.player.told || self.spectator.told
    }

    pub fn moved(&mut self, now: Timestamp) -> Said {
        let text = ChatCommand::Eval.reply(&self.settings, &self.context);
        let rooms = [(ChatRoom::Player, &mut self.player), (ChatRoom::Spectator, &mut self.spectator)];
        let told = rooms.into_iter().filter(|(_, room)| room.told);
        told.flat_map(|(name, room)| room.answer(name, &text, now)).collect()
    }

    pub fn asks_to_wait(&self, line: &ChatLine) -> bool {
        line.room == ChatRoom::Player
            && self.answers(line, ChatCommand::Wait)
            && ChatCommand::from_line(&line.text) == Some(ChatCommand::Wait)
    }

    /// Returns the operator's text, cut into lines of an accepted length; a sentence if the server would drop a part of it.
    pub fn say(&mut self, room: ChatRoom, text: &str, now: Timestamp) -> Result<Said, &'static str> {
        let lines = wrap(text);
        if lines.is_empty() {
            return Err("there is nothing to say");
        }
        let mut after = self.room(room).clone();
        if !lines.iter().all(|line| after.may_say(line, now)) {
            return Err("the server would drop this: it takes no line twice running and no more than 4 lines in 10 s");
        }
        *self.room(room) = after;
        Ok(lines.into_iter().map(|line| (room, line)).collect())
    }

    fn greet(&mut self, texts: [String; 2], said: impl Fn(&mut Room) -> &mut bool, now: Timestamp) -> Said {
        let mut lines = Vec::new();
        for (name, text) in [ChatRoom::Player, ChatRoom::Spectator].into_iter().zip(texts) {
            let room = self.room(name);
            if std::mem::replace(said(room), true) {
                continue;
            }
            if let Some(text) = wrap(&text).into_iter().next()
                && room.may_say(&text, now)
            {
                lines.push((name, text));
            }
        }
        lines
    }

    fn room(&mut self, room: ChatRoom) -> &mut Room {
        match room {
            ChatRoom::Player => &mut self.player,
            ChatRoom::Spectator => &mut self.spectator,
        }
    }
}

impl Room {
    /// Remembers a command to be answered after the game. `!printeval` is answered once.
    fn owes(&mut self, command: ChatCommand) {
        let command = if command == ChatCommand::PrintEval { ChatCommand::Eval } else { command };
        if !self.owed.contains(&command) {
            self.owed.push(command);
        }
    }

    /// Returns the lines of an answer without those dropped by the server as a flood.
    fn answer(&mut self, name: ChatRoom, text: &str, now: Timestamp) -> Said {
        let lines = wrap(text).into_iter().take(LONGEST_ANSWER);
        lines.filter(|line| self.may_say(line, now)).map(|line| (name, line)).collect()
    }

    /// Returns true if the server would accept this line, and counts it.
    fn may_say(&mut self, text: &str, now: Timestamp) -> bool {
        // A line from the future was sent before the system's clock was set back.
        while self.times.front().is_some_and(|&time| later(time, FLOOD_TIME) <= now || time > now) {
            self.times.pop_front();
        }
        if text == self.last || self.times.len() >= FLOOD_LINES {
            return false;
        }
        self.times.push_back(now);
        text.clone_into(&mut self.last);
        true
    }
}

/// Cuts a text into lines of an accepted length, at blanks and without control characters.
fn wrap(text: &str) -> Vec<String> {
    let mut lines = Vec::new();
    let mut line = String::new();
    let mut length = 0;
    for word in text.split(|letter: char| letter.is_whitespace() || letter.is_control()) {
        // A word longer than a line is cut off; no name and no move is that long.
        let word: String = word.chars().take(LONGEST).collect();
        let letters = word.chars().count();
        if letters == 0 {
            continue;
        }
        if length + 1 + letters > LONGEST && length > 0 {
            lines.push(std::mem::take(&mut line));
            length = 0;
        }
        if length > 0 {
            line.push(' ');
            length += 1;
        }
        line.push_str(&word);
        length += letters;
    }
    if length > 0 {
        lines.push(line);
    }
    lines
}

impl ChatSettings {
    pub fn faults(&self) -> Vec<Fault> {
        let greetings = [
            ("hello", &self.hello),
            ("goodbye", &self.goodbye),
            ("hello_spectators", &self.hello_spectators),
            ("goodbye_spectators", &self.goodbye_spectators),
        ];
        let mut faults = Vec::new();
        for (key, text) in greetings {
            if text.chars().count() > LONGEST {
                faults.push(Fault::value(key, format!("at most {LONGEST} characters")));
            }
            if !ChatContext::unknown_placeholders(text).is_empty() {
                let accepted = "no other placeholders than {me}, {opponent}, {engine}, {cpu} and {ram}";
                faults.push(Fault::value(key, accepted));
            }
        }
        faults
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const NOW: Timestamp = Timestamp::constant(1_700_000_000, 0);

    fn context() -> ChatContext {
        ChatContext {
            me: "Concilio".to_owned(),
            opponent: "Ann".to_owned(),
            engine: "concilio 0.1.0".to_owned(),
            eval: "+0.34 at depth 12".to_owned(),
            why: "e4: m k p; d4: c".to_owned(),
            ..ChatContext::default()
        }
    }

    fn line(room: ChatRoom, username: &str, text: &str) -> ChatLine {
        ChatLine { room, username: username.to_owned(), text: text.to_owned() }
    }

    fn chat() -> Chat {
        Chat::new(ChatSettings::default(), context())
    }

    fn ask(chat: &mut Chat, room: ChatRoom, text: &str, seconds: i64) -> Vec<String> {
        let now = Timestamp::constant(1_700_000_000 + seconds, 0);
        chat.answer(&line(room, "Ann", text), now).into_iter().map(|(_, text)| text).collect()
    }

    #[test]
    fn each_room_is_greeted_once() {
        let mut chat = chat();
        let said = chat.hello(NOW);
        assert_eq!(said.len(), 2);
        assert_eq!(said[0].1, "Hello Ann, I am concilio 0.1.0. Good luck! Type !help for commands.");
        assert_eq!(chat.hello(NOW), []);
        assert_eq!(chat.goodbye(NOW).len(), 2);
        let silent = ChatSettings { hello: String::new(), ..ChatSettings::default() };
        assert_eq!(Chat::new(silent, context()).hello(NOW).len(), 1);
    }

    #[test]
    fn opponent_sees_evaluation_after_the_game() {
        let mut chat = chat();
        assert_eq!(ask(&mut chat, ChatRoom::Player, "!eval", 0), ["I will tell you when the game is over."]);
        assert_eq!(ask(&mut chat, ChatRoom::Spectator, "!eval", 0), ["+0.34 at depth 12"]);
        assert_eq!(ask(&mut chat, ChatRoom::Spectator, " !WHY now", 0), ["e4: m k p; d4: c"]);
        chat.context.over = true;
        assert_eq!(ask(&mut chat, ChatRoom::Player, "!eval", 1), ["+0.34 at depth 12"]);
    }

    #[test]
    fn answers_are_deferred_to_the_end() {
        let goodbye = |asked: &[&str], settings: ChatSettings| {
            let mut chat = Chat::new(settings, context());
            for text in asked {
                chat.answer(&line(ChatRoom::Player, "Ann", text), NOW);
            }
            chat.context.over = true;
            let mut said = chat.goodbye(NOW);
            said.retain(|(room, _)| *room == ChatRoom::Player);
            assert_eq!(chat.goodbye(NOW), [], "once");
            said.into_iter().map(|(_, text)| text).collect::<Vec<_>>()
        };
        assert_eq!(
            goodbye(&["!eval", "!printeval", "!why"], ChatSettings::default()),
            ["Good game, Ann.", "+0.34 at depth 12", "e4: m k p; d4: c"]
        );
        assert_eq!(goodbye(&["!eval", "!quiet"], ChatSettings::default()), ["Good game, Ann."]);
        let mut adjourned = chat();
        adjourned.answer(&line(ChatRoom::Player, "Ann", "!eval"), NOW);
        assert_eq!(adjourned.goodbye(NOW).len(), 2, "it will go on: a greeting for each room");
        let silent = ChatSettings { thoughts_to_opponent: Thoughts::Never, ..ChatSettings::default() };
        assert_eq!(goodbye(&["!eval"], silent), ["Good game, Ann."]);
    }

    #[test]
    fn evaluation_is_sent_until_quiet() {
        let mut chat = chat();
        assert_eq!(chat.moved(NOW), [], "no one asked");
        ask(&mut chat, ChatRoom::Spectator, "!printeval", 0);
        ask(&mut chat, ChatRoom::Player, "!printeval", 0);
        let said = [(ChatRoom::Spectator, "+0.34 at depth 12".to_owned())];
        assert_eq!(chat.moved(NOW), said, "the opponent is not told during the game");
        assert_eq!(ask(&mut chat, ChatRoom::Spectator, "!quiet", 0), ["I will be quiet."]);
        chat.context.eval = "0.00".to_owned();
        assert_eq!(chat.moved(NOW), []);
    }

    #[test]
    fn the_words_of_other_bots_are_understood() {
        let context = ChatContext { cpu: "2 cores of a Z80".to_owned(), ..context() };
        let asked =
            |word: &str| ask(&mut Chat::new(ChatSettings::default(), context.clone()), ChatRoom::Player, word, 0);
        assert_eq!(asked("!motor"), asked("!name"));
        assert_eq!(asked("!commands"), asked("!help"));
        assert_eq!(asked("!cpu"), ["2 cores of a Z80"]);
        assert_eq!(asked("!ram"), ["I do not know my memory."]);
        assert_eq!(asked("!draw"), ["I agree to no draws."]);
        assert_eq!(asked("!pv"), ["I will tell you when the game is over."]);
    }

    #[test]
    fn own_and_server_lines_are_ignored() {
        let mut chat = chat();
        for from in ["concilio", "lichess", ""] {
            let line = line(ChatRoom::Player, from, "!help");
            assert_eq!(chat.answer(&line, NOW), []);
        }
        for text in ["hello", "help", "!", "!nothing", "what is !eval"] {
            assert!(ask(&mut chat, ChatRoom::Player, text, 0).is_empty(), "{text}");
        }
    }

    #[test]
    fn floods_are_dropped() {
        let mut chat = chat();
        assert_eq!(ask(&mut chat, ChatRoom::Player, "!ping", 0).len(), 1);
        assert_eq!(ask(&mut chat, ChatRoom::Player, "!ping", 1).len(), 0, "the same again");
        for text in ["!name", "!help", "!clock"] {
            assert_eq!(ask(&mut chat, ChatRoom::Player, text, 2).len(), 1, "{text}");
        }
        assert_eq!(ask(&mut chat, ChatRoom::Player, "!queue", 9).len(), 0, "the fifth");
        assert_eq!(ask(&mut chat, ChatRoom::Spectator, "!queue", 9).len(), 1, "another room");
        assert_eq!(ask(&mut chat, ChatRoom::Player, "!queue", 10).len(), 1);
    }

    #[test]
    fn placeholders_are_filled_once() {
        let context = ChatContext { opponent: "{me}".to_owned(), ..context() };
        assert_eq!(context.fill_in("{opponent} {me} {x} {"), "{me} Concilio {x} {");
        assert_eq!(ChatContext::unknown_placeholders("{opponent} {oponent} {me"), ["oponent"]);
        let settings =
            ChatSettings { hello: "{oponent}".to_owned(), goodbye: "x".repeat(141), ..ChatSettings::default() };
        assert_eq!(settings.faults().len(), 2);
        assert_eq!(ChatSettings::default().faults(), []);
    }

    proptest! {
        #[test]
        fn what_is_said_always_fits(text in any::<String>(), names in any::<(String, String)>(), room in any::<bool>()) {
            let room = if room { ChatRoom::Player } else { ChatRoom::Spectator };
            let context = ChatContext { opponent: names.0, why: names.1, over: true, ..context() };
            let mut chat = Chat::new(ChatSettings { hello: text.clone(), ..ChatSettings::default() }, context);
            let mut said = chat.hello(NOW);
            said.extend(chat.answer(&line(room, "Ann", &text), NOW));
            said.extend(chat.answer(&line(room, "Ann", "!why"), NOW));
            for (_, text) in said {
                prop_assert!((1..=LONGEST).contains(&text.chars().count()));
                prop_assert!(!text.chars().any(char::is_control));
            }
        }
    }
}
