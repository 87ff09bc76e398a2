//! Chooses the worker of a search: pure functions of the workers' offers.
//!
//! A core is for one thread. Every daemon has a right to an equal part of each worker's cores, and may use idle ones of the
//! others. All threads of a search are on one machine.

use std::time::Duration;

use super::identity::RunId;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct WorkerOffer {
    pub worker: RunId,
    pub cores: usize,
    /// Speed of one, thousands of nodes a second.
    pub speed: u32,
    /// Lag from a question to its answer.
    pub lag: Duration,
    pub ours: usize,
    /// Searching threads of other daemons.
    pub theirs: usize,
    pub others: usize,
    pub engines: Vec<String>,
}

impl WorkerOffer {
    pub(crate) fn share(&self) -> usize {
        fair_share(self.cores, self.others + 1)
    }

    pub(crate) fn free(&self) -> usize {
        let idle = self.cores.saturating_sub(self.ours + self.theirs);
        idle.max(self.share().saturating_sub(self.ours))
    }
}

/// Returns the fair part of a worker's cores for each of `daemons` daemons, at least one.
pub(crate) fn fair_share(cores: usize, daemons: usize) -> usize {
    (cores / daemons.max(1)).max(1)
}

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct WantedSlot<'a> {
    pub threads: usize,
    /// The daemon's wait for the answer; `None`: without end.
    pub time: Option<Duration>,
    pub engine: Option<&'a str>,
    pub before: Option<RunId>,
}

/// Chooses the worker for a search: the elector's last one, with its warm table, if it has cores for
/// all threads; otherwise the one with the most nodes on its free cores in the time left by its lag. Returns it with the number of threads; `None` if all are full.
pub(crate) fn choose(offers: &[WorkerOffer], wanted: WantedSlot) -> Option<(RunId, usize)> {
    let WantedSlot { threads, time, engine, before } = wanted;
    let suits = |offer: &&WorkerOffer| engine.is_none_or(|name| offer.engines.iter().any(|other| other == name));
    let placed = |offer: &WorkerOffer| (offer.worker, threads.clamp(1, offer.free()));
    let open: Vec<&WorkerOffer> = offers.iter().filter(suits).filter(|offer| offer.free() > 0).collect();
    if let Some(warm) = open.iter().find(|offer| Some(offer.worker) == before && offer.free() >= threads) {
        return Some(placed(warm));
    }
    let work = |offer: &&WorkerOffer| {
        let left = time.map_or(1, |time| time.saturating_sub(offer.lag).as_micros());
        u128::from(offer.speed.max(1)) * placed(offer).1 as u128 * left
    };
    // Among equals the emptiest one, so that load is spread.
    open.into_iter().max_by_key(|offer| (work(offer), offer.free(), std::cmp::Reverse(offer.worker))).map(placed)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn offer(worker: u64, cores: usize, speed: u32) -> WorkerOffer {
        let (lag, none) = (Duration::from_millis(1), Vec::new());
        WorkerOffer { worker: RunId(worker), cores, speed, lag, ours: 0, theirs: 0, others: 0, engines: none }
    }

    fn chosen(offers: &[WorkerOffer], threads: usize) -> Option<(u64, usize)> {
        let wanted = WantedSlot { threads, ..WantedSlot::default() };
        choose(offers, wanted).map(|(worker, threads)| (worker.0, threads))
    }

    #[test]
    fn fastest_free_worker_is_chosen() {
        let mut offers = [offer(1, 4, 900), offer(2, 2, 1000), offer(3, 4, 900)];
        assert_eq!(chosen(&offers, 1), Some((2, 1)));
        offers[1].ours = 2;
        assert_eq!(chosen(&offers, 1), Some((1, 1)));
        offers[0].ours = 1;
        assert_eq!(chosen(&offers, 1), Some((3, 1)), "the emptier of equals");
        assert_eq!(chosen(&[], 1), None);
    }

    #[test]
    fn groups_stay_on_the_fastest_worker() {
        let offers = [offer(1, 4, 1000), offer(2, 16, 700)];
        assert_eq!(chosen(&offers, 8), Some((2, 8)));
        assert_eq!(chosen(&offers, 4), Some((1, 4)));
        assert_eq!(chosen(&offers, 64), Some((2, 16)), "no more threads than cores");
    }

    #[test]
    fn lag_weighs_more_in_short_moves() {
        let far = WorkerOffer { lag: Duration::from_millis(200), ..offer(1, 4, 1200) };
        let offers = [far, offer(2, 4, 1000)];
        let within = |time| {
            choose(&offers, WantedSlot { threads: 1, time, ..WantedSlot::default() }).map(|(worker, _)| worker.0)
        };
        assert_eq!(within(Some(Duration::from_secs(1))), Some(2));
        assert_eq!(within(Some(Duration::from_secs(10))), Some(1));
        assert_eq!(within(None), Some(1));
    }

    #[test]
    fn elector_returns_to_a_warm_table() {
        let mut offers = [offer(1, 4, 1000), offer(2, 4, 900)];
        let wanted = WantedSlot { threads: 2, before: Some(RunId(2)), ..WantedSlot::default() };
        let before = |offers: &[WorkerOffer]| choose(offers, wanted).map(|(worker, _)| worker.0);
        assert_eq!(before(&offers), Some(2));
        offers[1].ours = 3;
        assert_eq!(before(&offers), Some(1));
    }

    #[test]
    fn engine_needs_an_installed_copy() {
        let mut offers = [offer(1, 4, 1000), offer(2, 4, 900)];
        let wanted = WantedSlot { threads: 1, engine: Some("stockfish"), ..WantedSlot::default() };
        assert_eq!(choose(&offers, wanted), None);
        offers[1].engines.push("stockfish".to_owned());
        assert_eq!(choose(&offers, wanted).map(|(worker, _)| worker.0), Some(2));
    }

    #[test]
    fn daemons_share_cores_fairly() {
        let mut lent = offer(1, 4, 1000);
        (lent.others, lent.theirs) = (1, 4);
        assert_eq!((lent.share(), lent.free()), (2, 2), "the other one has more than its part");
        lent.ours = 2;
        assert_eq!(lent.free(), 0);
        (lent.ours, lent.theirs) = (2, 0);
        assert_eq!(lent.free(), 2, "the other one is not using its part");
        let crowded = WorkerOffer { others: 9, ..offer(1, 4, 1000) };
        assert_eq!(crowded.share(), 1);
    }
}
