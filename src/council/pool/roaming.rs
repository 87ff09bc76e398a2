//! A place that decides anew at every search: a thread of this machine while it has a core to spare, else a machine that
//! somebody lends, and with nobody there the thread again. What is lost elsewhere before it said anything comes home.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use tokio::sync::mpsc::UnboundedSender;

use super::{
    Job, Lodging, Report,
    cores::{Claim, Cores},
    place::Place,
    seat::Thread,
};
use chess::SearchId;

/// Two abodes, at home and elsewhere, of which at most one searches.
#[derive(Debug)]
pub(super) struct Roaming(Arc<Mutex<Abodes>>);

#[derive(Debug)]
struct Abodes {
    cores: Arc<Cores>,
    threads: usize,
    here: Thread,
    there: Box<dyn Lodging>,
    current: Option<SearchId>,
    claim: Option<Claim>,
}

impl Roaming {
    pub fn new(cores: Arc<Cores>, threads: usize, here: Thread, there: Box<dyn Lodging>) -> Self {
        let abodes = Abodes { cores, threads: threads.max(1), here, there, current: None, claim: None };
        Self(Arc::new(Mutex::new(abodes)))
    }

    fn abodes(&self) -> MutexGuard<'_, Abodes> {
        lock(&self.0)
    }
}

fn lock(abodes: &Mutex<Abodes>) -> MutexGuard<'_, Abodes> {
    abodes.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Place for Roaming {
    fn search(&mut self, job: Job, reports: &UnboundedSender<Report>) {
        let mut abodes = self.abodes();
        abodes.stop();
        abodes.current = Some(job.task.id.clone());
        if let Some(claim) = abodes.cores.claim(abodes.threads) {
            abodes.search_here(job, reports, claim);
        } else {
            let home = Home(Arc::downgrade(&self.0));
            if !(job.guidance.can_travel() && abodes.there.search(&job, reports, home)) {
                abodes.crowd_in(job, reports);
            }
        }
    }

    fn stop(&self) {
        self.abodes().stop();
    }

    fn new_game(&self) {
        let abodes = self.abodes();
        abodes.here.new_game();
        abodes.there.new_game();
    }
}

impl Abodes {
    /// Both are told: a search that came home has been in both.
    fn stop(&mut self) {
        if self.current.take().is_some() {
            self.here.stop();
            self.there.stop();
        }
        self.claim = None;
    }

    fn search_here(&mut self, job: Job, reports: &UnboundedSender<Report>, claim: Claim) {
        self.claim = Some(claim);
        self.here.search(job, reports);
    }

    /// Searches here although all cores are taken, with no more threads than there are cores.
    fn crowd_in(&mut self, job: Job, reports: &UnboundedSender<Report>) {
        let threads = self.threads.min(self.cores.all.max(1));
        let claim = self.cores.crowd(threads);
        self.search_here(Job { threads_at_most: Some(threads), ..job }, reports, claim);
    }
}

/// The way home for a search that was lost elsewhere.
#[derive(Clone, Debug)]
pub struct Home(Weak<Mutex<Abodes>>);

impl Home {
    /// Of a search that has none.
    pub fn nowhere() -> Self {
        Self(Weak::new())
    }

    /// Goes on with a search on a thread of this machine, unless it is no longer wanted. Every search must be brought home
    /// at most once, and not be answered elsewhere as well.
    pub fn take_back(&self, job: Job, reports: &UnboundedSender<Report>) {
        let Some(abodes) = self.0.upgrade() else { return };
        let mut abodes = lock(&abodes);
        if abodes.current.as_ref() == Some(&job.task.id) {
            abodes.crowd_in(job, reports);
        }
    }
}

#[cfg(test)]
mod tests {
    use tokio::sync::mpsc;

    use super::*;
    use crate::pool::{ElectorSpec, Elsewhere, LentCores, Pool, Seat};
    use chess::{GameId, Knowledge, Limits, Line, Phase, Task, Variant};
    use engine::SharedTable;

    /// Takes every search and keeps it.
    #[derive(Debug, Default)]
    struct Inn(Arc<Mutex<Vec<Guest>>>);

    type Guest = (Job, UnboundedSender<Report>, Home);

    impl Elsewhere for Inn {
        fn cores(&self) -> LentCores {
            LentCores { together: 4, widest: 4 }
        }

        fn lodge(&self, _: &ElectorSpec, _: Option<&SharedTable>) -> Option<Box<dyn Lodging>> {
            Some(Box::new(Inn(Arc::clone(&self.0))))
        }
    }

    impl Lodging for Inn {
        fn search(&mut self, job: &Job, reports: &UnboundedSender<Report>, home: Home) -> bool {
            self.0.lock().expect("alone").push((job.clone(), reports.clone(), home));
            true
        }

        fn stop(&mut self) {}

        fn new_game(&self) {}
    }

    fn job(serial: u64) -> Job {
        let id = SearchId { game: GameId::new("g"), ply: 0, serial, phase: Phase::First };
        let line = Arc::new(Line::start(Variant::Standard));
        Job::new(Task { id, line, root_moves: Vec::new(), limits: Limits { nodes: Some(500), ..Limits::default() } })
    }

    fn seats(inn: &Inn) -> (Seat, Seat) {
        let pool = Pool::new(1).with_remote(Arc::new(Inn(Arc::clone(&inn.0))));
        let spec = ElectorSpec::own(Knowledge::COMPLETE, 1);
        (pool.seat(&spec, None), pool.seat(&spec, None))
    }

    fn answer(reports: &mut mpsc::UnboundedReceiver<Report>) -> SearchId {
        loop {
            match reports.blocking_recv().expect("an answer") {
                Report::Proposal(_) => {}
                over => return over.search().clone(),
            }
        }
    }

    #[test]
    fn own_cores_are_used_before_others() {
        let inn = Inn::default();
        let (mut first, mut second) = seats(&inn);
        let (reports, mut inbox) = mpsc::unbounded_channel();
        first.search(job(1), &reports);
        second.search(job(2), &reports);
        assert_eq!(answer(&mut inbox).serial, 1);
        assert_eq!(inn.0.lock().expect("alone")[0].0.task.id.serial, 2);
        // The core is free again, so the next search of the same seat stays here.
        first.stop();
        second.search(job(3), &reports);
        assert_eq!(answer(&mut inbox).serial, 3);
    }

    #[test]
    fn what_is_lost_comes_home_once_it_is_still_wanted() {
        let inn = Inn::default();
        let (mut first, mut second) = seats(&inn);
        let (reports, mut inbox) = mpsc::unbounded_channel();
        first.search(job(1), &reports);
        assert_eq!(answer(&mut inbox).serial, 1);
        second.search(job(2), &reports);
        second.search(job(3), &reports);
        let taken: Vec<_> = inn.0.lock().expect("alone").drain(..).collect();
        for (job, reports, home) in taken {
            home.take_back(job, &reports);
        }
        assert_eq!(answer(&mut inbox).serial, 3);
        assert!(inbox.try_recv().is_err(), "the search before it is not wanted any more");
    }
}
