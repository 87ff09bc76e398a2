//! Requests that wait for the server's answer.

use std::time::{Duration, Instant};

use domain::{ActionError, ChallengeId, Color, Done, GameStatus, UciMove};

/// Time after which the server is nudged, and the interval of nudges: some servers that get two
/// commands at once stay one command behind from then on.
const NUDGE_AFTER: Duration = Duration::from_secs(1);

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum RequestAnswer {
    Done(Done),
    /// True if the player is online.
    There(bool),
    /// Record of a past game: its moves, in UCI notation, its status and its winner.
    Found(String, GameStatus, Option<Color>),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Want {
    /// The board that shows our move, made after `ply` half-moves of the line.
    OurMove {
        uci: UciMove,
        ply: usize,
        command: String,
        draw_after: bool,
    },
    /// The game that comes of a challenge we accepted.
    Game(ChallengeId),
    /// Our challenge to this player (lower case) being issued.
    Issued(String),
    Presence,
    /// The end of the game that we abort or resign.
    End,
}

pub(crate) type RequestResult = Result<RequestAnswer, ActionError>;

impl Want {
    pub(super) const fn is_our_move(&self) -> bool {
        matches!(self, Self::OurMove { .. })
    }

    pub(super) const fn is_game(&self) -> bool {
        matches!(self, Self::Game(_))
    }
}

/// Requests in the order in which they were sent, each with the number under which it is answered (its ticket).
#[derive(Debug, Default)]
pub(super) struct Requests {
    patience: Duration,
    open: Vec<(u64, Want, Instant)>,
    nudged: Option<Instant>,
    /// The answers that have not been passed on.
    pub answers: Vec<(u64, RequestResult)>,
}

impl Requests {
    pub(super) fn new(patience: Duration) -> Self {
        Self { patience, ..Self::default() }
    }

    pub(super) fn open(&mut self, ticket: u64, want: Want, now: Instant) {
        self.open.push((ticket, want, now + self.patience));
    }

    /// Waits for what an earlier request of this kind waits for, and no longer than that one.
    pub(super) fn join(&mut self, ticket: u64, kind: impl Fn(&Want) -> bool) {
        let earlier = self.open.iter().find(|(_, want, _)| kind(want));
        let joined = earlier.map(|(_, want, until)| (ticket, want.clone(), *until));
        self.open.extend(joined);
    }

    pub(super) fn answer(&mut self, ticket: u64, answer: RequestResult) {
        self.answers.push((ticket, answer));
    }

    /// Answers the oldest request of this kind; gives what it wanted.
    pub(super) fn settle(&mut self, kind: impl Fn(&Want) -> bool, answer: RequestResult) -> Option<Want> {
        let position = self.open.iter().position(|(_, want, _)| kind(want))?;
        let (ticket, want, _) = self.open.remove(position);
        self.answers.push((ticket, answer));
        Some(want)
    }

    /// Answers the oldest question for a player.
    pub(super) fn settle_presence(&mut self, there: bool) -> Option<Want> {
        self.settle(|want| *want == Want::Presence, Ok(RequestAnswer::There(there)))
    }

    pub(super) fn settle_all(&mut self, kind: impl Fn(&Want) -> bool, answer: &RequestResult) {
        self.settle_each(|want| kind(want).then(|| answer.clone()));
    }

    /// Answers every request for which there is an answer; gives what they wanted.
    pub(super) fn settle_each(&mut self, answer: impl Fn(&Want) -> Option<RequestResult>) -> Vec<Want> {
        let mut settled = Vec::new();
        self.open.retain(|(ticket, want, _)| {
            let Some(answer) = answer(want) else { return true };
            self.answers.push((*ticket, answer));
            settled.push(want.clone());
            false
        });
        settled
    }

    pub(super) fn is_open(&self, kind: impl Fn(&Want) -> bool) -> bool {
        self.open.iter().any(|(_, want, _)| kind(want))
    }

    pub(super) fn expire(&mut self, now: Instant) {
        let silence = || ActionError::Unavailable(format!("the server did not answer within {:?}", self.patience));
        let expired = self.open.extract_if(.., |(.., until)| *until <= now);
        self.answers.extend(expired.map(|(ticket, ..)| (ticket, Err(silence()))));
    }

    /// Returns true if a waiting request is a reason to nudge the server now.
    pub(super) fn is_nudge_due(&mut self, now: Instant) -> bool {
        let is_due = self.nudge_at().is_some_and(|at| at <= now);
        if is_due {
            self.nudged = Some(now);
        }
        is_due
    }

    fn nudge_at(&self) -> Option<Instant> {
        let asked = self.open.iter().filter_map(|(.., until)| until.checked_sub(self.patience)).min()?;
        Some(self.nudged.map_or(asked, |nudged| nudged.max(asked)) + NUDGE_AFTER)
    }

    /// Returns the time of the next [`Requests::expire`] or [`Requests::is_nudge_due`].
    pub(super) fn wake_at(&self) -> Option<Instant> {
        self.open.iter().map(|(.., until)| *until).chain(self.nudge_at()).min()
    }
}
