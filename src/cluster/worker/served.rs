//! The daemons that a worker serves, and which of them the NATS server lets it hear.
//!
//! A server says of each subject that it refuses it, and a worker listens to several of each daemon: one whose key was revoked must not
//! take the worker from the others.

use std::collections::BTreeSet;

use super::super::{
    settings::ClusterSettings,
    subjects::{ANYBODY, Subjects},
};

/// The daemons by name, and those of them that the server has refused since the connection stands.
#[derive(Debug)]
pub(super) struct ServedDaemons {
    names: Vec<String>,
    refused: BTreeSet<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Refusal {
    /// This daemon cannot be served, but others can.
    Of(String),
    /// Nothing new.
    Known,
    /// No daemon is left to serve.
    OfAll,
}

impl ServedDaemons {
    /// Serves the daemons of the settings, or all daemons if there are none.
    pub(super) fn of(settings: &ClusterSettings) -> Self {
        let mut names = settings.daemons.clone();
        if names.is_empty() {
            names.push(ANYBODY.to_owned());
        }
        Self { names, refused: BTreeSet::new() }
    }

    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.names.iter().map(String::as_str)
    }

    pub(super) fn subjects_of(subjects: &Subjects, daemon: &str, worker: &str) -> [String; 2] {
        [subjects.to_worker(daemon, worker), subjects.call(daemon)]
    }

    /// Retries refused daemons over the new connection.
    pub(super) fn reconnected(&mut self) {
        self.refused.clear();
    }

    /// The server does not let this worker listen to something, in words that name the subject.
    pub(super) fn refuse(&mut self, words: &str, subjects: &Subjects, worker: &str) -> Refusal {
        let is_named = |subject: &String| words.contains(&format!("\"{subject}\""));
        let is_meant = |daemon: &&String| Self::subjects_of(subjects, daemon, worker).iter().any(is_named);
        // A subject of no daemon is needed for all.
        let Some(daemon) = self.names.iter().find(is_meant).cloned() else { return Refusal::OfAll };
        let is_news = self.refused.insert(daemon.clone());
        if self.names.iter().all(|name| self.refused.contains(name)) {
            Refusal::OfAll
        } else if is_news {
            Refusal::Of(daemon)
        } else {
            Refusal::Known
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(subject: &str) -> String {
        format!("nats: Permissions Violation for Subscription to \"{subject}\"")
    }

    fn serving(daemons: &[&str]) -> ServedDaemons {
        let daemons = daemons.iter().map(|name| (*name).to_owned()).collect();
        ServedDaemons::of(&ClusterSettings { daemons, ..ClusterSettings::default() })
    }

    #[test]
    fn worker_survives_one_refused_daemon() {
        let (mut served, subjects) = (serving(&["first", "second"]), Subjects::below("concilio"));
        let mut refuse = |subject: &str| served.refuse(&words(subject), &subjects, "attic");
        assert_eq!(refuse("concilio.daemon.first.to.attic"), Refusal::Of("first".to_owned()));
        assert_eq!(refuse("concilio.daemon.first.call"), Refusal::Known);
        assert_eq!(refuse("concilio.daemon.second.call"), Refusal::OfAll);
    }

    #[test]
    fn refusals_last_until_reconnection() {
        let (mut served, subjects) = (serving(&["first", "second"]), Subjects::below("concilio"));
        let first = served.refuse(&words("concilio.daemon.first.call"), &subjects, "attic");
        served.reconnected();
        let second = served.refuse(&words("concilio.daemon.second.call"), &subjects, "attic");
        assert_eq!((first, second), (Refusal::Of("first".to_owned()), Refusal::Of("second".to_owned())));
    }

    #[test]
    fn total_refusal_leaves_no_daemon() {
        let subjects = Subjects::below("concilio");
        assert_eq!(serving(&[]).refuse(&words("concilio.daemon.*.call"), &subjects, "attic"), Refusal::OfAll);
        assert_eq!(serving(&["one"]).refuse(&words("concilio.daemon.one.call"), &subjects, "attic"), Refusal::OfAll);
        let another = words("concilio.daemon.one.to.cellar");
        assert_eq!(serving(&["one", "two"]).refuse(&another, &subjects, "attic"), Refusal::OfAll);
    }
}
