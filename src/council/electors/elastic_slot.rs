//! A slot that chooses its place anew at every search: threads of this machine while it has a core
//! to spare, even if only for a part of them, so that no home core idles while a search waits
//! elsewhere and an elector of this machine always votes; else another machine, and without one the
//! thread again. A search lost elsewhere before its first proposal begins anew here.
//!
//! Copies with a shared table would only take each other's time on a crowded core: a copy without a
//! core or another machine ends at once, without a vote.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio_util::sync::CancellationToken;

use super::{
    CouncilGame, ElectorSpec, Fallback, RemoteSlot, Reports, SearchReport, Task,
    cores::{CoreClaim, Cores},
    local_slot::LocalSlot,
    slot::Slot,
};
use domain::{ElectorName, SearchId};

/// Two slots of one elector, here and on other machines, of which at most one searches.
#[derive(Debug)]
pub(super) struct ElasticSlot<L: CouncilGame> {
    cores: Arc<Cores>,
    elector: ElectorName,
    threads: usize,
    /// The number of the table that it shares with its copies, if it does.
    table: Option<u64>,
    local: LocalSlot<L>,
    remote: Box<dyn RemoteSlot<L>>,
    current: Option<SearchId>,
    claim: Option<CoreClaim>,
}

impl<L: CouncilGame> ElasticSlot<L> {
    pub(super) fn new(
        cores: Arc<Cores>,
        spec: &ElectorSpec<L::Kind>,
        table: Option<u64>,
        local: LocalSlot<L>,
        remote: Box<dyn RemoteSlot<L>>,
    ) -> Arc<Mutex<Self>> {
        let (elector, threads) = (spec.name.clone(), spec.threads.max(1));
        Arc::new(Mutex::new(Self { cores, elector, threads, table, local, remote, current: None, claim: None }))
    }

    /// Stops both places: a search lost elsewhere has been in both.
    fn stop(&mut self) {
        if self.current.take().is_some() {
            self.local.stop();
            self.remote.stop();
        }
        self.claim = None;
    }

    fn search_here(&mut self, task: Task<L>, reports: &Reports<L::Move>, claim: CoreClaim) {
        self.claim = Some(claim);
        self.local.search(task, reports);
    }

    /// Searches here although all cores are taken, with no more threads than there are cores; unless its copies have them all.
    fn crowd_in(&mut self, task: Task<L>, reports: &Reports<L::Move>) {
        let threads = self.threads.min(self.cores.all.max(1));
        match self.cores.crowd(threads, self.table) {
            Some(claim) => self.search_here(Task { threads_at_most: Some(threads), ..task }, reports, claim),
            None => _ = reports.send(SearchReport::Finished(task.id, self.elector.clone())),
        }
    }
}

/// Goes on with a lost search on a thread of this machine, unless it is no longer wanted.
fn fallback<L: CouncilGame>(slot: &Arc<Mutex<ElasticSlot<L>>>) -> Fallback<L> {
    let slot = Arc::downgrade(slot);
    Fallback::new(move |task, reports| {
        let Some(slot) = slot.upgrade() else { return };
        let mut slot = lock(&slot);
        if slot.current.as_ref() == Some(&task.id) {
            slot.crowd_in(task, reports);
        }
    })
}

impl<L: CouncilGame> Slot<L> for Arc<Mutex<ElasticSlot<L>>> {
    fn search(&mut self, task: Task<L>, reports: &Reports<L::Move>) {
        let mut slot = lock(self);
        slot.stop();
        slot.current = Some(task.id.clone());
        if let Some(claim) = slot.cores.claim_free(slot.threads, slot.table) {
            slot.search_here(Task { threads_at_most: Some(claim.threads), ..task }, reports, claim);
        } else if !(task.guidance.can_travel() && slot.remote.search(&task, reports, fallback(self))) {
            slot.crowd_in(task, reports);
        }
    }

    fn stop(&self) {
        lock(self).stop();
    }

    fn new_game(&self) {
        let slot = lock(self);
        slot.local.new_game();
        slot.remote.new_game();
    }

    fn started(&self) -> CancellationToken {
        lock(self).local.started()
    }

    fn is_away(&self) -> bool {
        let slot = lock(self);
        slot.current.is_some() && slot.claim.is_none()
    }
}

fn lock<L: CouncilGame>(slot: &Mutex<ElasticSlot<L>>) -> MutexGuard<'_, ElasticSlot<L>> {
    slot.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::sync::mpsc;

    use super::*;
    use crate::electors::{Pool, RemotePool};
    use domain::{GameId, Knowledge, Limits, Line, Phase, Variant};
    use engine::{EngineOptions, SharedTable};

    #[derive(Debug, Default)]
    struct Lender(Arc<Mutex<Vec<Taken>>>);

    type Taken = (Task, Reports, Fallback);

    impl RemotePool for Lender {
        fn cores(&self, _: Option<Duration>) -> Vec<usize> {
            vec![4]
        }

        fn slot(&self, _: &ElectorSpec, _: Option<&SharedTable>) -> Option<Box<dyn RemoteSlot>> {
            Some(Box::new(Lender(Arc::clone(&self.0))))
        }
    }

    impl RemoteSlot for Lender {
        fn search(&mut self, task: &Task, reports: &Reports, fallback: Fallback) -> bool {
            self.0.lock().expect("alone").push((task.clone(), reports.clone(), fallback));
            true
        }

        fn stop(&mut self) {}

        fn new_game(&self) {}
    }

    fn task(serial: u64) -> Task {
        let id = SearchId { game: GameId::new("g"), ply: 0, serial, phase: Phase::First };
        let line = Arc::new(Line::start(Variant::Standard));
        Task { limits: Limits { nodes: Some(500), ..Limits::default() }, ..Task::new(id, line) }
    }

    fn slots(lender: &Lender) -> (Box<dyn Slot>, Box<dyn Slot>) {
        let pool = Pool::with_remote(1, Some(Arc::new(Lender(Arc::clone(&lender.0)))));
        let spec = ElectorSpec::own(Knowledge::COMPLETE, 1);
        (pool.slot(&spec, None), pool.slot(&spec, None))
    }

    fn answer(reports: &mut mpsc::UnboundedReceiver<SearchReport>) -> SearchId {
        loop {
            match reports.blocking_recv().expect("an answer") {
                SearchReport::Proposal(_) => {}
                over => return over.search().clone(),
            }
        }
    }

    #[test]
    fn own_cores_are_used_before_others() {
        let lender = Lender::default();
        let (mut first, mut second) = slots(&lender);
        let (reports, mut inbox) = mpsc::unbounded_channel();
        first.search(task(1), &reports);
        second.search(task(2), &reports);
        assert_eq!(answer(&mut inbox).serial, 1);
        assert_eq!(lender.0.lock().expect("alone")[0].0.id.serial, 2);
        // The core is free again, so the next search of the same slot stays here.
        first.stop();
        second.search(task(3), &reports);
        assert_eq!(answer(&mut inbox).serial, 3);
    }

    /// However many cores others claim to have.
    #[test]
    fn home_core_serves_threaded_elector() {
        let lender = Lender::default();
        let pool = Pool::with_remote(1, Some(Arc::new(Lender(Arc::clone(&lender.0)))));
        let spec = ElectorSpec { threads: 9, ..ElectorSpec::own(Knowledge::COMPLETE, 1) };
        let (mut first, mut second) = (pool.slot(&spec, None), pool.slot(&spec, None));
        let (reports, mut inbox) = mpsc::unbounded_channel();
        first.search(task(1), &reports);
        second.search(task(2), &reports);
        assert_eq!((first.is_away(), second.is_away()), (false, true));
        assert_eq!((answer(&mut inbox).serial, lender.0.lock().expect("alone").len()), (1, 1));
    }

    #[test]
    fn lost_search_restarts_locally() {
        let lender = Lender::default();
        let (mut first, mut second) = slots(&lender);
        let (reports, mut inbox) = mpsc::unbounded_channel();
        first.search(task(1), &reports);
        assert_eq!(answer(&mut inbox).serial, 1);
        second.search(task(2), &reports);
        second.search(task(3), &reports);
        let taken: Vec<_> = lender.0.lock().expect("alone").drain(..).collect();
        for (task, reports, fallback) in taken {
            fallback.resume(task, &reports);
        }
        assert_eq!(answer(&mut inbox).serial, 3);
        assert!(inbox.try_recv().is_err(), "the search before it is not wanted any more");
    }
    /// Nine of ten copies ran elsewhere on a machine that is lost; the own machine has one core.
    #[test]
    fn lost_copies_do_not_crowd_own_cores() {
        let lender = Lender::default();
        let pool = Pool::with_remote(1, Some(Arc::new(Lender(Arc::clone(&lender.0)))));
        let table = SharedTable::new(&EngineOptions { hash: 1, ..EngineOptions::default() });
        let spec = ElectorSpec::own(Knowledge::COMPLETE, 1);
        let mut copies: Vec<Box<dyn Slot>> = (0..10).map(|_| pool.slot(&spec, Some(&table))).collect();
        let (reports, mut inbox) = mpsc::unbounded_channel();
        let endless = |serial| {
            let mut task = task(serial);
            task.limits.nodes = None;
            task
        };
        for (serial, copy) in (0..).zip(&mut copies) {
            copy.search(endless(serial), &reports);
        }
        let taken: Vec<_> = lender.0.lock().expect("alone").drain(..).collect();
        assert_eq!(taken.len(), 9);
        for (task, reports, fallback) in taken {
            fallback.resume(task, &reports);
        }
        let mut over: Vec<u64> = (0..9).map(|_| answer(&mut inbox).serial).collect();
        over.sort_unstable();
        assert_eq!(over, (1..10).collect::<Vec<_>>(), "each is answered, and the first searches on");
        copies[0].stop();
        assert_eq!(answer(&mut inbox).serial, 0);
    }
}
