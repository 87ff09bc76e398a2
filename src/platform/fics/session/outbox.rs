//! Commands that can wait: talk, lists, seeks.
//!
//! Some servers answer one command at a time and leave the next ones until more comes. So these
//! commands are sent singly, after the answers to all earlier ones, and never while it is the bot's
//! move: no move waits behind talk.

use std::{
    collections::VecDeque,
    time::{Duration, Instant},
};

/// The time to wait for the prompt after a command before the next one is sent without it.
const PROMPT_PATIENCE: Duration = Duration::from_secs(2);

/// The largest number of waiting commands; the newest are dropped.
const MOST_WAITING: usize = 100;

#[derive(Debug, Default)]
pub(super) struct Outbox {
    waiting: VecDeque<String>,
    /// The time of the last command, until the server shows its prompt.
    unanswered: Option<Instant>,
}

impl Outbox {
    pub(super) fn push(&mut self, command: String) {
        if self.waiting.len() < MOST_WAITING {
            self.waiting.push_back(command);
        } else {
            tracing::warn!(command, "not sent: too many commands are waiting");
        }
    }

    pub(super) fn holds(&self, command: &str) -> bool {
        self.waiting.iter().any(|waiting| waiting == command)
    }

    /// A command was sent, this one or another.
    pub(super) fn sent(&mut self, now: Instant) {
        self.unanswered = Some(now);
    }

    pub(super) fn prompted(&mut self) {
        self.unanswered = None;
    }

    pub(super) fn next(&mut self, now: Instant) -> Option<String> {
        if self.unanswered.is_some_and(|sent| now < sent + PROMPT_PATIENCE) {
            return None;
        }
        let command = self.waiting.pop_front()?;
        self.unanswered = Some(now);
        Some(command)
    }

    /// Returns the time at which [`Outbox::next`] may have one, prompt or not.
    pub(super) fn wake_at(&self) -> Option<Instant> {
        self.unanswered.filter(|_| !self.waiting.is_empty()).map(|sent| sent + PROMPT_PATIENCE)
    }

    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_command_at_a_time() {
        let (mut outbox, now) = (Outbox::default(), Instant::now());
        outbox.push("say hello".to_owned());
        outbox.push("whisper 0.30".to_owned());
        assert_eq!(outbox.next(now).as_deref(), Some("say hello"));
        assert_eq!(outbox.next(now), None, "the first is not answered");
        outbox.prompted();
        outbox.sent(now);
        assert_eq!(outbox.next(now), None, "a move came between");
        assert_eq!(outbox.wake_at(), Some(now + PROMPT_PATIENCE));
        assert_eq!(outbox.next(now + PROMPT_PATIENCE).as_deref(), Some("whisper 0.30"), "some servers show no prompt");
        assert_eq!(outbox.wake_at(), None);
    }
}
