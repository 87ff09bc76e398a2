//! What one does on a chess server besides playing: flagging, seeking, tournaments, listening.

use std::time::{Duration, Instant};

use super::{Flagging, Player, Table, requests::Want, tournament};
use crate::fics::message::{Manner, Speaker};
use chess::{ChatLine, ChatRoom, ServerEvent};

/// The pause between two calls of `flag`.
const FLAG_AGAIN: Duration = Duration::from_secs(10);

impl Player {
    pub(super) fn flag_at(&self) -> Option<Instant> {
        match &self.table {
            Table::Running(game) => self.flagging.map(|flagging| flagging.again_at).or_else(|| game.flag_at()),
            _ => None,
        }
    }

    /// Calls `flag` on an opponent out of time; where the server will not have it because his connection lags, and goes on
    /// to lag, the game is put off instead.
    pub(super) fn flag(&mut self, now: Instant) {
        let Some(due) = self.flag_at().filter(|due| *due <= now) else { return };
        let Table::Running(game) = &self.table else { return };
        let since = self.flagging.map_or(due, |flagging| flagging.since);
        self.flagging = Some(Flagging { since, again_at: now + FLAG_AGAIN });
        let courtesy = Duration::from_secs(self.settings.courtesy_after);
        if !courtesy.is_zero() && now.saturating_duration_since(since) >= courtesy {
            // What guests play is not kept.
            let guests =
                self.us.as_ref().is_some_and(Speaker::is_guest) || game.info.opponent().title.as_deref() == Some("U");
            self.send(if guests { "abort" } else { "adjourn" });
        } else {
            self.send("flag");
        }
    }

    pub(super) fn may_seek(&self) -> bool {
        self.us.is_some()
            && self.open
            && !self.settings.seeks.is_empty()
            && matches!(self.table, Table::Empty)
            && !self.requests.is_open(|want| matches!(want, Want::Game(_)))
    }

    pub(super) fn seek(&mut self, now: Instant) {
        if !self.may_seek() || self.seek_at.is_none_or(|at| at > now) {
            return;
        }
        let seeks = &self.settings.seeks;
        let Some(seek) = seeks.get(self.next_seek % seeks.len()) else { return };
        // Manual, so that every answer is a challenge that the policy sees.
        let manual = if seek.split(' ').any(|word| word == "m" || word == "manual") { "" } else { " m" };
        let command = format!("seek {seek}{manual}");
        if self.next_seek > 0 {
            self.send("unseek");
        }
        self.next_seek = self.next_seek.wrapping_add(1);
        self.seek_at = Some(now + self.settings.seek_interval());
        self.send(&command);
    }

    pub(super) fn look_for_tournaments(&mut self) {
        if self.settings.join_tournaments && !self.settings.tournament_manager.is_empty() {
            self.send("td ListTourneys -j");
        }
    }

    pub(super) fn service(&mut self, line: &str) {
        if self.settings.tournament_manager.is_empty() {
            return;
        }
        if let Some(command) = tournament::answer(line, self.settings.join_tournaments) {
            self.send(&command);
        } else if self.settings.join_tournaments && tournament::has_next_page(line) {
            self.send("td next");
        }
    }

    pub(super) fn heard(&mut self, by: &Speaker, manner: Manner, text: String) {
        let game = match &self.table {
            Table::Running(game) => {
                Some((game.info.id.clone(), game.info.opponent().name.eq_ignore_ascii_case(&by.name)))
            }
            _ => None,
        };
        let room = match (manner, &game) {
            (Manner::Whisper, _) => Some(ChatRoom::Spectator),
            (Manner::Tell | Manner::Say | Manner::Kibitz, Some((_, true))) => Some(ChatRoom::Player),
            (Manner::Kibitz, _) => Some(ChatRoom::Spectator),
            (Manner::Tell | Manner::Say, _) => None,
        };
        let username = by.name.clone();
        match (room, game) {
            (Some(room), Some((id, _))) => self.tell(ServerEvent::Chat(id, ChatLine { room, username, text })),
            (None, _) => {
                let title = by.titles.iter().find(|title| title.chars().any(char::is_alphabetic)).cloned();
                let from = chess::Player { title, ..chess::Player::named(&username) };
                self.tell(ServerEvent::Tell { from, text });
            }
            (Some(_), None) => {}
        }
    }
}
