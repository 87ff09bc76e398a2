//! Speech of others, and words of courtesy to challengers who are declined: a few, because challenges cost nothing.

use std::{
    collections::VecDeque,
    time::{Duration, Instant},
};

use super::{CurrentGame, FicsSession};
use crate::fics::message::{Speaker, SpeechKind};
use domain::{ChatLine, ChatRoom, ServerEvent};

/// Time in which a player gets one tell.
const EACH: Duration = Duration::from_secs(60);

/// Maximum number of tells within [`EACH`].
const MOST: usize = 10;

/// True if something may be said to this player now, who then counts as `told` lately.
pub(super) fn may_be_said(told: &mut VecDeque<(String, Instant)>, to: &str, now: Instant) -> bool {
    while told.front().is_some_and(|(_, at)| now.saturating_duration_since(*at) >= EACH) {
        told.pop_front();
    }
    let may = told.len() < MOST && !told.iter().any(|(name, _)| name == to);
    if may {
        told.push_back((to.to_owned(), now));
    }
    may
}

impl FicsSession {
    pub(super) fn heard(&mut self, by: &Speaker, manner: SpeechKind, text: String) {
        let game = match &self.current {
            CurrentGame::Running(game) => {
                Some((game.info.id.clone(), game.info.opponent().name.eq_ignore_ascii_case(&by.name)))
            }
            _ => None,
        };
        let room = match (manner, &game) {
            (SpeechKind::Whisper, _) => Some(ChatRoom::Spectator),
            (SpeechKind::Tell | SpeechKind::Say | SpeechKind::Kibitz, Some((_, true))) => Some(ChatRoom::Player),
            (SpeechKind::Kibitz, _) => Some(ChatRoom::Spectator),
            (SpeechKind::Tell | SpeechKind::Say, _) => None,
        };
        let username = by.name.clone();
        match (room, game) {
            (Some(room), Some((id, _))) => self.tell(ServerEvent::Chat(id, ChatLine { room, username, text })),
            (None, _) => {
                let title = by.titles.iter().find(|title| title.chars().any(char::is_alphabetic)).cloned();
                let from = domain::Player { title, ..domain::Player::named(&username) };
                self.tell(ServerEvent::Tell { from, text });
            }
            (Some(_), None) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 20,000 challenges drew 19,151 tells.
    #[test]
    fn flood_of_challenges_gets_few_tells() {
        let (mut told, now) = (VecDeque::new(), Instant::now());
        let flood = (0..20_000).filter(|number| may_be_said(&mut told, &format!("guest{}", number % 5000), now));
        assert_eq!(flood.count(), MOST);
        assert!(may_be_said(&mut told, "guest0", now + EACH), "a minute later");
        assert!(!may_be_said(&mut told, "guest0", now + EACH), "once");
    }
}
