use super::{CurrentGame, FicsSession};
use crate::fics::message::{Speaker, SpeechKind};
use domain::{ChatLine, ChatRoom, ServerEvent};

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
