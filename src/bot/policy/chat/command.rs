//! Commands in a game's chat, and their answers.

use std::fmt;

use serde::{
    Deserialize, Serialize,
    de::value::{self, StrDeserializer},
};

use super::{ChatSettings, Thoughts};
use domain::ChatRoom;

/// A command, as `!word`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ChatCommand {
    Help,
    Eval,
    Pv,
    /// The evaluation after each of the bot's moves.
    PrintEval,
    /// The end of these messages.
    Quiet,
    Why,
    Clock,
    Draw,
    Takeback,
    Wait,
    Name,
    Cpu,
    Ram,
    Ping,
    Queue,
    Variants,
    Challenge,
}

/// The word of a command.
impl fmt::Display for ChatCommand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.serialize(f)
    }
}

impl ChatCommand {
    /// Every command, in the order of `!help`.
    pub const ALL: [Self; 17] = {
        use ChatCommand::*;
        [
            Help, Eval, Pv, PrintEval, Quiet, Why, Clock, Draw, Takeback, Wait, Name, Cpu, Ram, Ping, Queue, Variants,
            Challenge,
        ]
    };

    /// Returns the command of a line such as `!eval`, in any case; `!commands` and `!motor` are words of other bots.
    pub(super) fn from_line(text: &str) -> Option<Self> {
        let word = text.trim_start().strip_prefix('!')?.split_whitespace().next()?.to_ascii_lowercase();
        match word.as_str() {
            "commands" => Some(Self::Help),
            "motor" => Some(Self::Name),
            word => Self::deserialize(StrDeserializer::<value::Error>::new(word)).ok(),
        }
    }

    /// Returns the words after `!challenge`; `None` for any other line.
    pub fn challenge_words(text: &str) -> Option<impl Iterator<Item = &str>> {
        (Self::from_line(text) == Some(Self::Challenge)).then(|| text.split_whitespace().skip(1))
    }

    /// Returns true if the answer reveals the evaluation of the position.
    pub(super) const fn tells_thoughts(self) -> bool {
        matches!(self, Self::Eval | Self::Pv | Self::PrintEval | Self::Why)
    }

    /// Returns true if the command concerns the running game: it has no answer outside a game.
    pub const fn is_about_a_game(self) -> bool {
        self.tells_thoughts() || matches!(self, Self::Quiet | Self::Clock | Self::Draw | Self::Takeback | Self::Wait)
    }

    pub(super) fn reply(self, settings: &ChatSettings, context: &ChatContext) -> String {
        let or = |text: &str, otherwise: &str| if text.is_empty() { otherwise } else { text }.to_owned();
        match self {
            Self::Help => {
                let public = settings.commands.iter().filter(|command| **command != Self::Challenge);
                let words = public.map(|command| format!("!{command}"));
                format!("Commands: {}", words.collect::<Vec<_>>().join(" "))
            }
            Self::Eval => or(&context.eval, "I have no opinion yet."),
            Self::Pv => or(&context.pv, "I have not searched yet."),
            Self::PrintEval => "I will tell you what I think after each of my moves; !quiet ends it.".to_owned(),
            Self::Quiet => "I will be quiet.".to_owned(),
            Self::Why => or(&context.why, "There was no vote on my last move."),
            Self::Clock => or(&context.clock, "This game has no clock."),
            Self::Draw => or(&context.draw, "I agree to no draws."),
            Self::Takeback => or(&context.takeback, "I do not allow takebacks."),
            Self::Wait => or(&context.wait, "I am not waiting for your first move."),
            Self::Name => format!("{} plays with {}", context.me, context.engine),
            Self::Cpu => or(&context.cpu, "I do not know my processor."),
            Self::Ram => or(&context.ram, "I do not know my memory."),
            Self::Ping => "pong".to_owned(),
            Self::Queue if context.queue.is_empty() => "The queue is empty. Challenge me!".to_owned(),
            Self::Queue => format!("Waiting: {}", context.queue.join(", ")),
            Self::Variants => format!("I play {}", context.variants.join(", ")),
            // The account makes the challenge and answers the friend.
            Self::Challenge => String::new(),
        }
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ChatContext {
    pub me: String,
    pub opponent: String,
    /// The engine, such as `concilio 0.1.0 (balanced-7)`.
    pub engine: String,
    /// The processor and its cores; empty if unknown.
    pub cpu: String,
    /// The memory; empty if unknown.
    pub ram: String,
    /// The bot's evaluation of the position in one line; empty before the first one.
    pub eval: String,
    /// The expected moves; empty before the first search.
    pub pv: String,
    /// The votes for the last move; empty without any.
    pub why: String,
    /// The use of time in one line; empty without a clock.
    pub clock: String,
    /// The conditions for a draw; empty for never.
    pub draw: String,
    /// The number of takebacks allowed; empty for none.
    pub takeback: String,
    /// The time to wait for the opponent's first move; empty without a limit.
    pub wait: String,
    /// Names of waiting challengers, the next one first.
    pub queue: Vec<String>,
    pub variants: Vec<String>,
    pub over: bool,
}

impl ChatContext {
    fn placeholders(&self) -> [(&'static str, &str); 5] {
        [
            ("me", &self.me),
            ("opponent", &self.opponent),
            ("engine", &self.engine),
            ("cpu", &self.cpu),
            ("ram", &self.ram),
        ]
    }

    pub(super) fn fill_in(&self, text: &str) -> String {
        fill_in(text, &self.placeholders())
    }

    pub fn unknown_placeholders(text: &str) -> Vec<String> {
        let known = Self::default().placeholders().map(|(name, _)| name);
        let braces = text.split('{').skip(1).filter_map(|part| part.split_once('}').map(|(name, _)| name));
        braces.filter(|name| !known.contains(name)).map(str::to_owned).collect()
    }
}

/// Fills in all placeholders of a text in one pass: a value such as `{me}` stays unchanged.
pub(crate) fn fill_in(text: &str, values: &[(&str, &str)]) -> String {
    let mut filled = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('{') {
        filled.push_str(before);
        let known =
            values.iter().find_map(|&(name, value)| Some((value, after.strip_prefix(name)?.strip_prefix('}')?)));
        let (text, after) = known.unwrap_or(("{", after));
        filled.push_str(text);
        rest = after;
    }
    filled + rest
}

/// Returns the refusal if a room must not see the evaluation; `None` if it may.
pub(super) fn refusal(room: ChatRoom, thoughts: Thoughts, over: bool) -> Option<&'static str> {
    match (room, thoughts) {
        (ChatRoom::Spectator, _) | (_, Thoughts::Always) => None,
        (ChatRoom::Player, Thoughts::After) if over => None,
        (ChatRoom::Player, Thoughts::After) => Some("I will tell you when the game is over."),
        (ChatRoom::Player, Thoughts::Never) => Some("I keep that to myself."),
    }
}
