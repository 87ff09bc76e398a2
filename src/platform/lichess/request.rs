//! Requests, and how one stands to the others.

use reqwest::Method;

/// Topic of a request: each has a limit of its own at the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Topic {
    Account,
    Playing,
    Record,
    Accept,
    Decline,
    /// Withdrawing our own.
    Cancel,
    Challenge,
    Chat,
    /// Other players.
    Users,
    Tournament,
    /// Taking part in tournaments, and no more.
    Join,
}

/// Requests of one turn wait for each other, those of another do not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Turn {
    Chat,
    Games,
    Records,
    /// Answers to challenges: their makers wait for them, and the server for twenty seconds.
    Challenges,
    /// Long lists, which nothing waits for.
    Lists,
    Usual,
}

impl Turn {
    pub(super) const COUNT: usize = Self::Usual as usize + 1;
}

impl Topic {
    /// Returns the turn of its requests, and its word in the metrics.
    pub(super) const fn turn_and_word(self) -> (Turn, &'static str) {
        match self {
            Self::Account => (Turn::Usual, "account"),
            Self::Playing => (Turn::Games, "playing"),
            Self::Record => (Turn::Records, "game_export"),
            Self::Accept => (Turn::Challenges, "challenge_accept"),
            Self::Decline => (Turn::Challenges, "challenge_decline"),
            Self::Cancel => (Turn::Challenges, "challenge_cancel"),
            Self::Challenge => (Turn::Usual, "challenge"),
            Self::Chat => (Turn::Chat, "chat"),
            Self::Users => (Turn::Lists, "users"),
            Self::Tournament => (Turn::Lists, "tournament"),
            Self::Join => (Turn::Usual, "tournament_join"),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lane {
    /// Opens a stream, which stays.
    Stream,
    Urgent,
    /// Waits for its turn.
    Ordinary(Topic),
}

impl Lane {
    pub(super) const fn word(self) -> &'static str {
        match self {
            Self::Stream => "stream",
            Self::Urgent => "game",
            Self::Ordinary(topic) => topic.turn_and_word().1,
        }
    }
}

/// A request to be sent: where to, with what, and how it stands to the others.
#[derive(Clone, Debug)]
pub(super) struct HttpCall<'a> {
    pub(super) method: Method,
    pub(super) path: &'a [&'a str],
    pub(super) query: &'a [(&'a str, &'a str)],
    pub(super) form: &'a [(&'a str, String)],
    pub(super) text: Option<&'a str>,
    pub(super) json: bool,
    pub(super) lane: Lane,
}

impl<'a> HttpCall<'a> {
    fn new(method: Method, path: &'a [&'a str], lane: Lane) -> Self {
        Self { method, path, query: &[], form: &[], text: None, json: false, lane }
    }

    pub(super) fn get(path: &'a [&'a str], topic: Topic) -> Self {
        Self::new(Method::GET, path, Lane::Ordinary(topic))
    }

    pub(super) fn post(path: &'a [&'a str], topic: Topic) -> Self {
        Self::new(Method::POST, path, Lane::Ordinary(topic))
    }

    /// A POST on which a clock waits.
    pub(super) fn urgent(path: &'a [&'a str]) -> Self {
        Self::new(Method::POST, path, Lane::Urgent)
    }

    pub(super) fn query(self, query: &'a [(&'a str, &'a str)]) -> Self {
        Self { query, ..self }
    }

    pub(super) fn form(self, form: &'a [(&'a str, String)]) -> Self {
        Self { form, ..self }
    }

    /// The answer is wanted as JSON, where the server has other forms of it.
    pub(super) fn json(self) -> Self {
        Self { json: true, ..self }
    }

    pub(super) fn text(self, text: &'a str) -> Self {
        Self { text: Some(text), ..self }
    }
}
