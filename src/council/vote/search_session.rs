//! One question during its search: the next event, and the end of its time.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use tokio::{
    sync::mpsc::{self, UnboundedReceiver},
    time::sleep_until,
};
use tokio_util::sync::CancellationToken;

use super::question::{Progress, Question};
use crate::{
    BriefWait,
    electors::{Reports, SearchReport, Verification},
};
use domain::{GameLine, Proposal};

/// The time of a question without a timing: endless in practice, and short enough to add to an [`Instant`].
const FOREVER: Duration = Duration::from_secs(365 * 24 * 3600);
/// The longest time that counts as a limit of a clock; a longer one is a share of [`FOREVER`].
const LONGEST_BOUND: Duration = Duration::from_secs(FOREVER.as_secs() / 1000);

/// The runtime's timers round up to whole milliseconds; aiming a little sooner, they are on time in the mean.
const TIMER_ROUNDING: Duration = Duration::from_micros(700);

/// The wait with the thread awake right after a question: book moves of engines arrive in it.
static AT_ONCE: BriefWait = BriefWait::new(SOON);
const SOON: Duration = Duration::from_micros(150);

/// The time to wait for the first proposal when an answer is wanted at once.
const FIRST_WORD: Duration = Duration::from_millis(8);

/// The extra time for searches of other machines without a clock, beside the time of this
/// machine's.
const OTHERS: Duration = Duration::from_millis(500);
/// The time to wait for them if this machine has proposed nothing.
const ONLY_OTHERS: Duration = Duration::from_secs(30);

pub(super) enum Event<M> {
    SearchReport(SearchReport<M>),
    /// The timing must be called again.
    Reconsider,
    /// Home cores have new values for the moves of other machines.
    Verified,
    /// The time is up, or an answer is requested now.
    TimeIsUp,
    Cancelled,
}

pub(super) struct SearchSession<'a, L: GameLine> {
    pub question: &'a mut Question<L>,
    cancelled: &'a CancellationToken,
    watch: &'a mut (dyn FnMut(&Proposal<L::Move>) + Send),
    pub reports: Reports<L::Move>,
    inbox: UnboundedReceiver<SearchReport<L::Move>>,
    started: Instant,
    home_ended: Option<Instant>,
    /// The home cores' findings about moves of other machines; `None` without any.
    pub verification: Option<Arc<Verification<L::Move>>>,
    /// The deadline of the first proposal after a request for an answer.
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

    pub(super) fn elapsed(&self) -> Duration {
        self.started.elapsed()
    }

    pub(super) fn show(&mut self, proposal: &Proposal<L::Move>) {
        (self.watch)(proposal);
    }

    pub(super) fn must_answer(&self) -> bool {
        self.question.answer_now.is_cancelled()
    }

    /// Calls the timing with this progress; returns the end of a share of the time.
    pub(super) fn deadline(&mut self, progress: &Progress<L::Move>, share: f64) -> Instant {
        let whole = self.question.timing.as_mut().map_or(FOREVER, |timing| timing(progress).min(FOREVER));
        self.started + whole.mul_f64(share)
    }

    /// Returns true if a deadline is no limit of a clock.
    pub(super) fn is_endless(&self, until: Instant) -> bool {
        until.saturating_duration_since(self.started) > LONGEST_BOUND
    }

    /// Returns the end of the wait for other machines, for a question without a clock: `None` while
    /// this machine searches.
    pub(super) fn patience_with_others(&mut self, here: bool, has_leader: bool) -> Option<Instant> {
        if here {
            self.home_ended = None;
            return None;
        }
        let ended = *self.home_ended.get_or_insert_with(Instant::now);
        Some(ended + if has_leader { ended.duration_since(self.started) + OTHERS } else { ONLY_OTHERS })
    }

    /// Returns the expected duration of the question from its beginning: the time for unanimous
    /// electors. `None`: endless.
    fn expected_time(&mut self) -> Option<Duration> {
        // With `to_be_continued`, the timing adds no time for the end of an iteration.
        let agreed = Progress { to_be_continued: true, ..Progress::agreed(0) };
        let by_clock = self.question.timing.as_mut().map(|timing| timing(&agreed)).filter(|time| *time < FOREVER);
        by_clock.into_iter().chain(self.question.limits.time).min()
    }

    pub(super) fn time_left(&mut self, share: f64) -> Option<Duration> {
        Some(self.expected_time()?.mul_f64(share).saturating_sub(self.elapsed()))
    }

    /// Waits for the next event, until `deadline` at most. `has_leader` is true if there is a proposal to answer with.
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
        // Setting a timer would cost a wake-up.
        if self.elapsed() < SOON
            && !self.cancelled.is_cancelled()
            && let Some(Some(report)) = AT_ONCE.on(self.inbox.recv()).await
        {
            return Event::SearchReport(report);
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

    pub(super) fn pending_report(&mut self) -> Option<SearchReport<L::Move>> {
        self.inbox.try_recv().ok()
    }
}
