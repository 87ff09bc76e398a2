//! Games sought while there is none, and tournaments. Their manager (`mamer` on freechess.org) is an account that is a program, and
//! whose lines begin with a colon.

use std::time::{Duration, Instant};

use super::{CurrentGame, FicsSession, requests::Want};

/// A refusal that comes so soon after a seek is taken for its answer.
const REFUSAL_PATIENCE: Duration = Duration::from_secs(10);

impl FicsSession {
    pub(super) fn may_seek(&self) -> bool {
        self.us.is_some()
            && self.open
            && self.seeks_wanted
            && !self.settings.seeks.is_empty()
            && matches!(self.current, CurrentGame::Empty)
            && !self.requests.is_open(Want::is_game)
    }

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
        self.seek_at = Some(now + Duration::from_secs(self.settings.seek_every));
        self.sought = Some((command.clone(), now));
        self.send_in_turn(command);
    }

    /// Logs each refusal once that no request waits for: most likely it is about our last seek.
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
        if let Some(command) = answer(line, self.settings.join_tournaments) {
            self.send_in_turn(command);
        } else if self.settings.join_tournaments && line.contains("\"td next\"") {
            self.send_in_turn("td next".to_owned());
        }
    }
}

/// Returns the answer to a line of the manager's; `join` says whether its tournaments are joined.
fn answer(line: &str, join: bool) -> Option<String> {
    // `You play white against Ann in this round of tourney #12.`
    if line.starts_with("You play ") {
        let (_, number) = line.split_once("tourney #")?;
        return read_number(number).map(|number| format!("td play {number}"));
    }
    // `| 12  | open | TM | 2 12 r SS\4 | ...`
    let mut columns = line.strip_prefix('|')?.split('|').map(str::trim);
    let number = read_number(columns.next()?)?;
    let is_open = columns.next()?.starts_with("open");
    (join && is_open).then(|| format!("td join {number}"))
}

fn read_number(text: &str) -> Option<u32> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    text.get(..digits)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tournaments_are_joined_if_wanted() {
        let round = "You play white against Ann in this round of tourney #12.";
        assert_eq!(answer(round, false).as_deref(), Some("td play 12"));
        assert_eq!(answer("| 7   | open   | TM | 2 12 r SS\\4 |", true).as_deref(), Some("td join 7"));
        assert_eq!(answer("| 7   | open   | TM | 2 12 r SS\\4 |", false), None);
        assert_eq!(answer("| 7   | closed | TM | 2 12 r SS\\4 |", true), None);
        assert_eq!(answer("mamer's tourney list:", true), None);
    }
}
