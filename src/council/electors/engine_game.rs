//! The opponent and the chat of an engine's game, which some engines want to know.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, PoisonError},
};

use domain::Player;

#[derive(Clone, Debug, PartialEq)]
pub struct EngineGame {
    pub opponent: Player,
    pub our_rating: Option<u32>,
    pub chat: EngineChat,
}

impl EngineGame {
    /// The value of UCI_Opponent: title, rating, kind and name.
    pub(super) fn uci_opponent(&self) -> String {
        let Player { name, title, rating, .. } = &self.opponent;
        let title = title.as_deref().filter(|title| !domain::is_title_of_bot(title)).unwrap_or("none");
        let rating = rating.map_or_else(|| "none".to_owned(), |rating| rating.to_string());
        let kind = if self.opponent.is_bot() { "computer" } else { "human" };
        one_line(&format!("{title} {rating} {kind} {name}"))
    }

    pub(super) fn cecp_commands(&self) -> Vec<String> {
        let mut commands = vec![one_line(&format!("name {}", self.opponent.name))];
        if let (Some(ours), Some(theirs)) = (self.our_rating, self.opponent.rating) {
            commands.push(format!("rating {ours} {theirs}"));
        }
        commands.extend(self.opponent.is_bot().then(|| "computer".to_owned()));
        commands
    }
}

/// A name of a server cannot begin another command.
fn one_line(text: &str) -> String {
    text.replace(char::is_control, " ")
}

/// The chat of a game, to and by a program of one's own. Clones are the same conversation.
#[derive(Clone, Debug, Default)]
pub struct EngineChat {
    /// Lines for the program, each with its speaker.
    heard: Lines<(String, String)>,
    said: Lines<String>,
}

type Lines<T> = Arc<Mutex<VecDeque<T>>>;

/// The most lines that wait, each way; older ones are dropped.
const MOST_LINES: usize = 16;

impl EngineChat {
    pub fn hear(&self, from: &str, text: &str) {
        push(&self.heard, (from.to_owned(), text.to_owned()));
    }

    pub(super) fn say(&self, text: &str) {
        push(&self.said, text.to_owned());
    }

    pub(super) fn take_heard(&self) -> Vec<(String, String)> {
        take(&self.heard)
    }

    pub fn take_said(&self) -> Vec<String> {
        take(&self.said)
    }
}

impl PartialEq for EngineChat {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.heard, &other.heard)
    }
}

fn push<T>(lines: &Mutex<VecDeque<T>>, line: T) {
    let mut lines = lines.lock().unwrap_or_else(PoisonError::into_inner);
    if lines.len() >= MOST_LINES {
        lines.pop_front();
    }
    lines.push_back(line);
}

fn take<T>(lines: &Mutex<VecDeque<T>>) -> Vec<T> {
    lines.lock().unwrap_or_else(PoisonError::into_inner).drain(..).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn opponents_are_introduced_in_both_protocols() {
        let game = |title: Option<&str>, rating, name: &str| EngineGame {
            opponent: Player { title: title.map(str::to_owned), rating, ..Player::named(name) },
            our_rating: Some(2100),
            chat: EngineChat::default(),
        };
        let master = game(Some("GM"), Some(2800), "Gary");
        assert_eq!(master.uci_opponent(), "GM 2800 human Gary");
        assert_eq!(master.cecp_commands(), ["name Gary", "rating 2100 2800"]);
        let bot = game(Some("BOT"), None, "Robot\nquit");
        assert_eq!(bot.uci_opponent(), "none none computer Robot quit");
        assert_eq!(bot.cecp_commands(), ["name Robot quit", "computer"]);
    }

    #[test]
    fn only_the_newest_lines_wait() {
        let chat = EngineChat::default();
        for number in 0..40 {
            chat.hear("Ann", &number.to_string());
        }
        let heard = chat.take_heard();
        assert_eq!((heard.len(), heard[0].1.as_str()), (MOST_LINES, "24"));
        assert!(chat.take_heard().is_empty());
    }
}
