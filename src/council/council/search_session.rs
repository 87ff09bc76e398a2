//! One question while electors search for it: what happens next, and when its time is up.

use std::time::{Duration, Instant};

use tokio::{
    sync::mpsc::{self, UnboundedReceiver, UnboundedSender},
    time::sleep_until,
};
use tokio_util::sync::CancellationToken;

use super::question::{Progress, Question};
use crate::pool::{SearchReport, Verification};
use chess::{GameLine, Proposal};

/// When no rule of time applies: long enough for anything, short enough to add to an [`Instant`].
const FOREVER: Duration = Duration::from_secs(365 * 24 * 3600);
/// What comes later than this is no bound of any clock, but a share of [`FOREVER`].
const LONGEST_BOUND: Duration = Duration::from_secs(FOREVER.as_secs() / 1000);

/// The runtime's timers round up to whole milliseconds; aiming a little sooner, they are on time in the mean.
const TIMER_ROUNDING: Duration = Duration::from_micros(700);

/// How long the first word is waited for when an answer is wanted at once and nobody has proposed yet.
const FIRST_WORD: Duration = Duration::from_millis(8);

/// Where no clock bounds a question, searches of other machines are waited for as long again as those of this one took, and this much.
const OTHERS: Duration = Duration::from_millis(500);
/// How long they are waited for where this machine has proposed nothing.
const ONLY_OTHERS: Duration = Duration::from_secs(30);

/// What ends a wait of the council.
pub(super) enum Event<M> {
    /// A searcher has reported.
    SearchReport(SearchReport<M>),
    /// The timing is to be asked again.
    Reconsider,
    /// Home cores have found out something about the moves of other machines.
    Verified,
    /// The time is up, or an answer is wanted now.
    TimeIsUp,
    /// The question is not asked any more.
    Cancelled,
}

/// One question while it is searched: its clock, its signals and its inbox.
pub(super) struct SearchSession<'a, L: GameLine> {
    pub question: &'a mut Question<L>,
    cancelled: &'a CancellationToken,
    watch: &'a mut (dyn FnMut(&Proposal<L::Move>) + Send),
    pub reports: UnboundedSender<SearchReport<L::Move>>,
    inbox: UnboundedReceiver<SearchReport<L::Move>>,
    started: Instant,
    /// When the last search of this machine ended.
    home_ended: Option<Instant>,
    /// Where home cores tell what they find about moves of other machines; `None` where there are no others.
    pub verification: Option<Verification<L::Move>>,
    /// When an answer must be given although nobody has said anything.
    answer_by: Option<Instant>,
}

impl<'a, L: GameLine> SearchSession<'a, L> {
    pub(super) fn new(
        question: &'a mut Question<L>,
        cancelled: &'a CancellationToken,
        watch: &'a mut (dyn FnMut(&Proposal<L::Move>) + Send),
    ) -> Self {
        let (reports, inbox) = mpsc::unbounded_channel();
        Self {
            question,
            cancelled,
            watch,
            reports,
            inbox,
            started: Instant::now(),
            home_ended: None,
            verification: None,
            answer_by: None,
        }
    }

    /// Time since the question.
    pub(super) fn elapsed(&self) -> Duration {
        self.started.elapsed()
    }

    /// Shows a proposal to whoever watches.
    pub(super) fn show(&mut self, proposal: &Proposal<L::Move>) {
        (self.watch)(proposal);
    }

    /// Whether an answer is wanted without any more searching.
    pub(super) fn must_answer(&self) -> bool {
        self.question.answer_now.is_cancelled()
    }

    /// The end of a share of the time that the clock gives for what was heard so far.
    pub(super) fn deadline(&mut self, progress: &Progress<L::Move>, share: f64) -> Instant {
        let whole = self.question.timing.as_mut().map_or(FOREVER, |timing| timing(progress).min(FOREVER));
        self.started + whole.mul_f64(share)
    }

    /// Whether no rule of time bounds a wait until then.
    pub(super) fn is_endless(&self, until: Instant) -> bool {
        until.saturating_duration_since(self.started) > LONGEST_BOUND
    }

    /// Until when searches of other machines are waited for where no clock says so: `None` while this machine searches.
    pub(super) fn patience_with_others(&mut self, here: bool, has_leader: bool) -> Option<Instant> {
        if here {
            self.home_ended = None;
            return None;
        }
        let ended = *self.home_ended.get_or_insert_with(Instant::now);
        Some(ended + if has_leader { ended.duration_since(self.started) + OTHERS } else { ONLY_OTHERS })
    }

    /// How long the question will be searched about, from its beginning, as far as is known now: what the clock gives where all agree from
    /// their first word on. `None`: until it is told otherwise.
    fn expected_time(&mut self) -> Option<Duration> {
        // Without what an iteration may take longer to come to its end.
        let agreed = Progress { to_be_continued: true, ..Progress::agreed(0) };
        let by_clock = self.question.timing.as_mut().map(|timing| timing(&agreed)).filter(|time| *time < FOREVER);
        by_clock.into_iter().chain(self.question.limits.time).min()
    }

    /// What is left of this share of it.
    pub(super) fn time_left(&mut self, share: f64) -> Option<Duration> {
        Some(self.expected_time()?.mul_f64(share).saturating_sub(self.elapsed()))
    }

    /// Waits for what happens next, until `deadline` at most. `has_leader` says whether there is anything to answer.
    pub(super) async fn next(&mut self, deadline: Instant, has_leader: bool) -> Event<L::Move> {
        if self.must_answer() {
            if has_leader {
                return Event::TimeIsUp;
            }
            self.answer_by.get_or_insert_with(|| Instant::now() + FIRST_WORD);
        }
        let until = self.answer_by.map_or(deadline, |answer_by| deadline.min(answer_by));
        if until <= Instant::now() {
            return Event::TimeIsUp;
        }
        let question = &*self.question;
        let verification = self.verification.as_ref();
        let verified = async {
            match verification {
                Some(verification) => verification.changed().await,
                None => std::future::pending().await,
            }
        };
        let alarm = until.checked_sub(TIMER_ROUNDING).unwrap_or(until);
        tokio::select! {
            biased;
            () = self.cancelled.cancelled() => Event::Cancelled,
            () = question.answer_now.cancelled(), if self.answer_by.is_none() => Event::Reconsider,
            () = question.reconsider.notified() => Event::Reconsider,
            Some(report) = self.inbox.recv() => Event::SearchReport(report),
            () = verified, if verification.is_some() => Event::Verified,
            () = sleep_until(alarm.into()) => Event::TimeIsUp,
        }
    }

    /// A report that has come and was not taken yet.
    pub(super) fn pending_report(&mut self) -> Option<SearchReport<L::Move>> {
        self.inbox.try_recv().ok()
    }
}
