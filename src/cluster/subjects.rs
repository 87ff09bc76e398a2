//! Under which subjects messages travel. All are below one prefix, so that a few lines of permissions fence a worker in
//! (`deploy/nats/`), and two clusters may share a server.
//!
//! | subject | from | to | carries |
//! |---|---|---|---|
//! | `PREFIX.beat` | a worker | all daemons | [`Heartbeat`](super::wire::Heartbeat), four times a second |
//! | `PREFIX.call` | a daemon | all workers | [`Poll`](super::wire::Poll), once a second; answered by a heartbeat |
//! | `PREFIX.worker.RUN` | a daemon | one worker | [`WorkerCommand`](super::wire::WorkerCommand) |
//! | `PREFIX.daemon.RUN` | a worker | one daemon | [`SearchEvent`](super::wire::SearchEvent) |
//! | `PREFIX.daemon.RUN.answer` | a worker | one daemon | the heartbeat that answers a poll |

use super::identity::RunId;

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

    /// Where every worker says four times a second that it is there.
    pub fn beat(&self) -> String {
        format!("{}.beat", self.prefix)
    }

    /// Where a daemon asks all workers who is there.
    pub fn call(&self) -> String {
        format!("{}.call", self.prefix)
    }

    /// What one worker is to do.
    pub fn worker(&self, worker: RunId) -> String {
        format!("{}.worker.{worker}", self.prefix)
    }

    /// What workers tell one daemon.
    pub fn daemon(&self, daemon: RunId) -> String {
        format!("{}.daemon.{daemon}", self.prefix)
    }

    /// Where one daemon gets the answers to its calls.
    pub fn answer(&self, daemon: RunId) -> String {
        format!("{}.daemon.{daemon}.answer", self.prefix)
    }
}

/// Whether a text can be a prefix: names of letters, digits, `-` and `_`, with dots between them.
pub(crate) fn is_prefix(text: &str) -> bool {
    let name = |name: &str| {
        !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'))
    };
    text.len() <= 64 && text.split('.').all(name)
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
}
