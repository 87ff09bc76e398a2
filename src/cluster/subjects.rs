//! Subjects of messages. All are below one prefix, and each names its sender and its readers, so
//! that the server's permissions (`members`) protect names, and two clusters may share a server.
//!
//! | subject | from | to | carries |
//! |---|---|---|---|
//! | `PREFIX.worker.WORKER.beat` | a worker | all daemons | [`Heartbeat`](super::wire::Heartbeat), four times a second |
//! | `PREFIX.worker.WORKER.to.DAEMON` | a worker | one daemon | [`WorkerMessage`](super::wire::WorkerMessage) |
//! | `PREFIX.daemon.DAEMON.call` | a daemon | all workers | [`Poll`](super::wire::Poll), once a second |
//! | `PREFIX.daemon.DAEMON.to.WORKER` | a daemon | one worker | [`WorkerCommand`](super::wire::WorkerCommand) |
//! | `PREFIX.daemon.DAEMON.unheard` | the server | one daemon | its poll has no receivers |

/// Wildcard for a name. Only daemons subscribe with it, and workers of a server without
/// permissions.
pub const ANYBODY: &str = "*";

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Subjects {
    prefix: String,
}

impl Subjects {
    pub fn below(prefix: &str) -> Self {
        Self { prefix: prefix.to_owned() }
    }

    pub fn beat(&self, worker: &str) -> String {
        format!("{}.worker.{worker}.beat", self.prefix)
    }

    pub fn to_daemon(&self, worker: &str, daemon: &str) -> String {
        format!("{}.worker.{worker}.to.{daemon}", self.prefix)
    }

    pub fn call(&self, daemon: &str) -> String {
        format!("{}.daemon.{daemon}.call", self.prefix)
    }

    pub fn to_worker(&self, daemon: &str, worker: &str) -> String {
        format!("{}.daemon.{daemon}.to.{worker}", self.prefix)
    }

    pub fn unheard(&self, daemon: &str) -> String {
        format!("{}.daemon.{daemon}.unheard", self.prefix)
    }

    /// Returns the sender of a message, by its subject, which the server protects.
    pub fn sender<'a>(&self, subject: &'a str) -> Option<&'a str> {
        let rest = subject.strip_prefix(&self.prefix)?.strip_prefix('.')?;
        rest.split('.').nth(1).filter(|name| is_member_name(name))
    }
}

/// Returns true if a text can name a worker or a daemon: one word of a subject, up to 64 letters,
/// digits, `-` and `_`.
pub fn is_member_name(text: &str) -> bool {
    let is_letter = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    (1..=64).contains(&text.len()) && text.bytes().all(is_letter)
}

/// Returns true if a text can be a prefix: names with dots between them.
pub(crate) fn is_prefix(text: &str) -> bool {
    text.len() <= 64 && text.split('.').all(is_member_name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prefix_contains_its_subjects() {
        for good in ["concilio", "a.b", "team-1.chess"] {
            assert!(is_prefix(good), "{good}");
        }
        for bad in ["", "a..b", ".a", "*", "a.>", "a b", "$SYS", &"x".repeat(65)] {
            assert!(!is_prefix(bad), "{bad}");
        }
    }

    #[test]
    fn the_subject_says_who_speaks() {
        let subjects = Subjects::below("team.chess");
        for subject in [subjects.beat("attic"), subjects.to_daemon("attic", "daemon"), subjects.call("attic")] {
            assert_eq!(subjects.sender(&subject), Some("attic"), "{subject}");
        }
        for subject in ["team.chess", "team.chess.worker", "team.chess.worker.*.beat", "other.worker.attic.beat"] {
            assert_eq!(subjects.sender(subject), None, "{subject}");
        }
    }

    #[test]
    fn a_name_is_one_word_of_a_subject() {
        assert!(is_member_name("attic-2_b"));
        for bad in ["", "a.b", "*", ">", "a b", "höhle", &"x".repeat(65)] {
            assert!(!is_member_name(bad), "{bad}");
        }
    }
}
