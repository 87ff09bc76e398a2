//! Games sought while there is none, and tournaments.

use std::time::{Duration, Instant};

use super::{CurrentGame, FicsSession, requests::Want, tournament};

/// A refusal that comes so soon after a seek is taken for its answer.
const REFUSAL_PATIENCE: Duration = Duration::from_secs(10);

impl FicsSession {
    pub(super) fn may_seek(&self) -> bool {
        self.us.is_some()
            && self.open
            && self.seeks_wanted
            && !self.settings.seeks.is_empty()
            && matches!(self.current, CurrentGame::Empty)
            && !self.requests.is_open(|want| matches!(want, Want::Game(_)))
    }

    /// Sets whether games are sought, in this connection and later ones.
    pub(crate) fn seek_games(&mut self, wanted: bool, now: Instant) {
        if std::mem::replace(&mut self.seeks_wanted, wanted) == wanted || self.us.is_none() {
            return;
        }
        if wanted {
            self.seek_at = Some(now);
        } else if self.open && !self.settings.seeks.is_empty() {
            // A seek may still wait to be sent; this follows it.
            self.send_in_turn("unseek".to_owned());
            self.send_what_waits(now);
        }
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
            self.send_in_turn("unseek".to_owned());
        }
        self.next_seek = self.next_seek.wrapping_add(1);
        self.seek_at = Some(now + self.settings.seek_interval());
        self.sought = Some((command.clone(), now));
        self.send_in_turn(command);
    }

    /// The server refuses something that no request waits for: most likely our last seek. Each of
    /// its sentences is logged once.
    pub(super) fn seek_refused(&mut self, words: &str, now: Instant) {
        let Some((seek, at)) = &self.sought else { return };
        let is_news = self.seek_refusal.as_deref() != Some(words);
        if now.saturating_duration_since(*at) <= REFUSAL_PATIENCE && is_news {
            tracing::warn!(
                seek,
                "the server refuses the seek: {words} (remedy: change `seeks`; guests play unrated games only)"
            );
            self.seek_refusal = Some(words.to_owned());
        }
    }

    pub(super) fn look_for_tournaments(&mut self) {
        if self.settings.join_tournaments && !self.settings.tournament_manager.is_empty() {
            self.send_in_turn("td ListTourneys -j".to_owned());
        }
    }

    pub(super) fn service(&mut self, line: &str) {
        if self.settings.tournament_manager.is_empty() {
            return;
        }
        if let Some(command) = tournament::answer(line, self.settings.join_tournaments) {
            self.send_in_turn(command);
        } else if self.settings.join_tournaments && tournament::has_next_page(line) {
            self.send_in_turn("td next".to_owned());
        }
    }
}
