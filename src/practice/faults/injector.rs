//! The faults of a running server: its plan, and what a test has arranged to happen once.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use rand::{RngExt, SeedableRng, rngs::StdRng};
use tokio::{
    sync::{Notify, mpsc},
    time::Instant,
};

use super::{FaultPlan, LineFacts, RequestFault, RequestKind, Span, StreamFault, Streams, When};
use crate::or_never;

/// Decides what goes wrong. Cheap to clone; all clones are one.
#[derive(Clone)]
pub struct FaultInjector {
    // Held for moments only, never across an await.
    inner: Arc<Mutex<Inner>>,
    came: Arc<Notify>,
}

struct Inner {
    plan: FaultPlan,
    rng: StdRng,
    /// Faults of requests, each with the number of requests that still suffer it and the time of its end, if there is one.
    requests: Vec<(RequestKind, u32, Option<Instant>, RequestFault)>,
    arranged: Vec<(Streams, When, StreamFault)>,
    open: Vec<(Streams, mpsc::UnboundedSender<StreamFault>)>,
    seen: BTreeMap<RequestKind, u64>,
}

impl FaultInjector {
    /// Creates an injector for a plan; `seed` is used if the plan has none.
    pub fn new(plan: FaultPlan, seed: Option<u64>) -> Self {
        let rng = match plan.seed.or(seed) {
            Some(seed) => StdRng::seed_from_u64(seed),
            None => rand::make_rng(),
        };
        let inner = Inner { plan, rng, requests: vec![], arranged: vec![], open: vec![], seen: BTreeMap::new() };
        Self { inner: Arc::new(Mutex::new(inner)), came: Arc::default() }
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Replaces the plan, for the streams that are open as well.
    pub fn set_plan(&self, plan: FaultPlan) {
        let mut inner = self.inner();
        if let Some(seed) = plan.seed {
            inner.rng = StdRng::seed_from_u64(seed);
        }
        inner.plan = plan;
    }

    pub fn fail_requests(&self, kind: RequestKind, span: Span, fault: RequestFault) {
        let (left, ends) = match span {
            Span::Times(times) => (times, None),
            Span::For(time) => (u32::MAX, Some(Instant::now() + time)),
        };
        self.inner().requests.push((kind, left, ends, fault));
    }

    /// Arranges an accident of a stream; it happens once, to the first stream that fits (with [`When::Now`]: to all that
    /// are open). Returns how many streams suffered at once.
    pub fn break_stream(&self, streams: Streams, when: When, fault: StreamFault) -> usize {
        let mut inner = self.inner();
        if when != When::Now {
            inner.arranged.push((streams, when, fault));
            return 0;
        }
        let hit = inner.open.iter().filter(|(id, _)| streams.contains(id));
        hit.filter(|(_, sender)| sender.send(fault).is_ok()).count()
    }

    pub fn requests_seen(&self, kind: RequestKind) -> u64 {
        self.inner().seen.get(&kind).copied().unwrap_or(0)
    }

    pub async fn wait_for_requests(&self, kind: RequestKind, count: u64) {
        loop {
            let came = self.came.notified();
            if self.requests_seen(kind) >= count {
                return;
            }
            came.await;
        }
    }

    pub fn on_request(&self, kind: RequestKind) -> Option<RequestFault> {
        let mut inner = self.inner();
        *inner.seen.entry(kind).or_default() += 1;
        self.came.notify_waiters();
        let now = Instant::now();
        inner.requests.retain(|(_, left, ends, _)| *left > 0 && ends.is_none_or(|ends| ends > now));
        if let Some((_, left, _, fault)) = inner.requests.iter_mut().find(|(of, ..)| *of == kind) {
            *left -= 1;
            return Some(*fault);
        }
        inner.request_by_plan(kind)
    }

    pub fn open_stream(&self, id: Streams) -> StreamFaults {
        let (sender, commands) = mpsc::unbounded_channel();
        let mut inner = self.inner();
        inner.open.retain(|(_, sender)| !sender.is_closed());
        inner.open.push((id.clone(), sender));
        let cut = inner.plan.cut.map(|about| {
            let after = about.mul_f64(inner.rng.random_range(0.5..1.5));
            let how = match inner.rng.random_range(0..4) {
                0 => StreamFault::CleanEnd,
                1 => StreamFault::CutMidLine,
                2 => StreamFault::Abort,
                _ => StreamFault::AbortMidLine,
            };
            (Instant::now() + after, how)
        });
        StreamFaults { faults: self.clone(), id, commands, cut, echoed: 0 }
    }

    pub fn plan(&self) -> FaultPlan {
        self.inner().plan.clone()
    }
}

impl Inner {
    fn request_by_plan(&mut self, kind: RequestKind) -> Option<RequestFault> {
        let stalls = if kind == RequestKind::Move { self.plan.stall_move } else { 0.0 };
        let drawn = self.draw([
            (self.plan.too_many, RequestFault::Answer(429)),
            (self.plan.internal_error, RequestFault::Answer(500)),
            (self.plan.bad_gateway, RequestFault::Answer(502)),
            (self.plan.lost, RequestFault::LoseAnswer),
            (stalls, RequestFault::Ignore),
        ]);
        let delayed = |most: Duration| RequestFault::Delay(most.mul_f64(self.rng.random_range(0.0..1.0)));
        drawn.or_else(|| self.plan.delay.map(delayed))
    }

    fn line_by_plan(&mut self) -> Option<StreamFault> {
        let drawn = self.draw([
            (self.plan.half_open, StreamFault::Silence),
            (self.plan.duplicate, StreamFault::Duplicate),
            (self.plan.reorder, StreamFault::Reorder),
            (self.plan.drop, StreamFault::Drop),
        ]);
        drawn.or(self.plan.late.map(StreamFault::Late))
    }

    /// Draws one of the faults, each of which happens in a percentage of cases, or none.
    fn draw<F, const N: usize>(&mut self, faults: [(f64, F); N]) -> Option<F> {
        let mut drawn = self.rng.random_range(0.0..100.0);
        for (percent, fault) in faults {
            if drawn < percent {
                return Some(fault);
            }
            drawn -= percent;
        }
        None
    }
}

pub struct StreamFaults {
    faults: FaultInjector,
    id: Streams,
    commands: mpsc::UnboundedReceiver<StreamFault>,
    cut: Option<(Instant, StreamFault)>,
    /// The ply of the last echo of an own move.
    echoed: usize,
}

impl StreamFaults {
    pub fn on_line(&mut self, line: LineFacts) -> Option<StreamFault> {
        let mut inner = self.faults.inner();
        let struck = inner.arranged.iter().position(|(streams, when, _)| {
            streams.contains(&self.id)
                && match when {
                    When::AtPly(at) => line.ply.is_some_and(|ply| ply >= *at),
                    When::OwnMove => line.own_move,
                    When::NextLine | When::Now => true,
                }
        });
        if let Some(index) = struck {
            return Some(inner.arranged.remove(index).2);
        }
        let echoes = line.ply.filter(|ply| line.own_move && *ply > self.echoed);
        if let (Some(ply), Some(echo)) = (echoes, inner.plan.echo) {
            self.echoed = ply;
            return Some(echo);
        }
        inner.line_by_plan()
    }

    pub fn plan(&self) -> FaultPlan {
        self.faults.plan()
    }

    /// Waits for an accident that does not wait for a line.
    pub async fn next(&mut self) -> StreamFault {
        let cut = self.cut.map(async |(at, how)| {
            tokio::time::sleep_until(at).await;
            how
        });
        tokio::select! {
            Some(fault) = self.commands.recv() => fault,
            how = or_never(cut) => {
                // It strikes once: the last data may trickle for a while.
                self.cut = None;
                how
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_fail_as_often_as_set() {
        let faults = FaultInjector::new(FaultPlan::default(), None);
        faults.fail_requests(RequestKind::Move, Span::Times(2), RequestFault::Answer(429));
        assert_eq!(faults.on_request(RequestKind::Account), None);
        for expected in [Some(RequestFault::Answer(429)), Some(RequestFault::Answer(429)), None] {
            assert_eq!(faults.on_request(RequestKind::Move), expected);
        }
        assert_eq!(faults.requests_seen(RequestKind::Move), 3);
    }

    #[test]
    fn seed_fixes_the_faults() {
        let plan: FaultPlan = "seed=3,429=20%,502=20%".parse().expect("a plan");
        let draw = || {
            let faults = FaultInjector::new(plan.clone(), None);
            (0..100).map(|_| faults.on_request(RequestKind::Move)).collect::<Vec<_>>()
        };
        let drawn = draw();
        assert_eq!(drawn, draw());
        assert!(drawn.contains(&None) && drawn.contains(&Some(RequestFault::Answer(429))));
    }

    #[test]
    fn only_moves_stall() {
        let faults = FaultInjector::new("stall-move=100%".parse().expect("a plan"), None);
        assert_eq!(faults.on_request(RequestKind::Chat), None);
        assert_eq!(faults.on_request(RequestKind::Move), Some(RequestFault::Ignore));
    }

    #[test]
    fn line_after_own_moves_is_withheld() {
        let faults = FaultInjector::new("echo=never".parse().expect("a plan"), None);
        let mut stream = faults.open_stream(Streams::Events("me".to_owned()));
        let mut line = |ply, own_move| stream.on_line(LineFacts { ply: Some(ply), own_move });
        assert_eq!(line(1, true), Some(StreamFault::Drop));
        assert_eq!([line(1, true), line(2, false)], [None, None]);
        assert_eq!(line(3, true), Some(StreamFault::Drop));
    }
}
