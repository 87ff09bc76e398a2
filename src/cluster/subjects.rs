//! Under which subjects messages travel. All are below one prefix, and each names who sends on it and who may read it, so that the
//! server's permissions (`members`) say who can speak in whose name, and two clusters may share a server.
//!
//! | subject | from | to | carries |
//! |---|---|---|---|
//! | `PREFIX.worker.WORKER.beat` | a worker | all daemons | [`Heartbeat`](super::wire::Heartbeat), four times a second |
//! | `PREFIX.worker.WORKER.to.DAEMON` | a worker | one daemon | [`WorkerMessage`](super::wire::WorkerMessage) |
//! | `PREFIX.daemon.DAEMON.call` | a daemon | all workers | [`Poll`](super::wire::Poll), once a second |
//! | `PREFIX.daemon.DAEMON.to.WORKER` | a daemon | one worker | [`WorkerCommand`](super::wire::WorkerCommand) |
//! | `PREFIX.daemon.DAEMON.unheard` | the server | one daemon | nobody listens to its poll |

/// In place of a name: whoever it is. Only daemons listen so, and workers of a server without permissions.
pub const ANYBODY: &str = "*";

/// The subjects below one prefix.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Subjects {
    prefix: String,
}

impl Subjects {
    /// The subjects below `prefix`.
    pub fn below(prefix: &str) -> Self {
        Self { prefix: prefix.to_owned() }
    }

    /// Where a worker says four times a second that it is there.
    pub fn beat(&self, worker: &str) -> String {
        format!("{}.worker.{worker}.beat", self.prefix)
    }

    /// What a worker tells one daemon.
    pub fn to_daemon(&self, worker: &str, daemon: &str) -> String {
        format!("{}.worker.{worker}.to.{daemon}", self.prefix)
    }

    /// Where a daemon asks all workers who is there.
    pub fn call(&self, daemon: &str) -> String {
        format!("{}.daemon.{daemon}.call", self.prefix)
    }

    /// What one worker is to do for a daemon.
    pub fn to_worker(&self, daemon: &str, worker: &str) -> String {
        format!("{}.daemon.{daemon}.to.{worker}", self.prefix)
    }

    /// Where the server tells a daemon that nobody listens to its poll.
    pub fn unheard(&self, daemon: &str) -> String {
        format!("{}.daemon.{daemon}.unheard", self.prefix)
    }

    /// Who has sent a message, by its subject: the server lets nobody else send on it.
    pub fn sender<'a>(&self, subject: &'a str) -> Option<&'a str> {
        let rest = subject.strip_prefix(&self.prefix)?.strip_prefix('.')?;
        rest.split('.').nth(1).filter(|name| is_member_name(name))
    }
}

/// Whether a text can name a worker or a daemon: one word of a subject, up to 64 letters, digits, `-` and `_`.
pub fn is_member_name(text: &str) -> bool {
    let is_letter = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    (1..=64).contains(&text.len()) && text.bytes().all(is_letter)
}

/// Whether a text can be a prefix: names with dots between them.
pub(crate) fn is_prefix(text: &str) -> bool {
    text.len() <= 64 && text.split('.').all(is_member_name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prefix_cannot_reach_beyond_itself() {
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
