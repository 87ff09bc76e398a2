//! Which worker gets a search: pure functions of what each offers.
//!
//! A core is for one thread. Every daemon has a right to an equal part of each worker's cores, and may use what the others
//! leave idle. All threads of a search are on one machine.

use super::identity::RunId;

/// What a worker offers to one daemon.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct WorkerOffer {
    /// The worker that offers.
    pub worker: RunId,
    /// How many cores it lends.
    pub cores: usize,
    /// Speed of one, thousands of nodes a second.
    pub speed: u32,
    /// Threads of this daemon that search there.
    pub ours: usize,
    /// Threads of others that search there.
    pub theirs: usize,
    /// Other daemons that have slots there.
    pub others: usize,
    /// UCI engines it has.
    pub engines: Vec<String>,
}

impl WorkerOffer {
    /// The part of its cores to which this daemon has a right, at least one.
    pub(crate) fn share(&self) -> usize {
        fair_share(self.cores, self.others + 1)
    }

    /// Cores that it may take now.
    pub(crate) fn free(&self) -> usize {
        let idle = self.cores.saturating_sub(self.ours + self.theirs);
        idle.max(self.share().saturating_sub(self.ours))
    }
}

/// The part of a worker's cores to which each of so many daemons has a right, at least one.
pub(crate) fn fair_share(cores: usize, daemons: usize) -> usize {
    (cores / daemons.max(1)).max(1)
}

/// Where a search goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Placement {
    /// The worker that gets it.
    pub worker: RunId,
    /// How many threads it gets there.
    pub threads: usize,
}

/// The worker for a search that wants so many threads: the one that had the elector before, whose table is warm, if it has
/// room for all of them; otherwise the one that searches fastest with what it has free. `None` if all are full.
pub(crate) fn choose(
    offers: &[WorkerOffer],
    threads: usize,
    engine: Option<&str>,
    before: Option<RunId>,
) -> Option<Placement> {
    let suits = |offer: &&WorkerOffer| engine.is_none_or(|name| offer.engines.iter().any(|other| other == name));
    let placed = |offer: &WorkerOffer| Placement { worker: offer.worker, threads: threads.clamp(1, offer.free()) };
    let open: Vec<&WorkerOffer> = offers.iter().filter(suits).filter(|offer| offer.free() > 0).collect();
    if let Some(warm) = open.iter().find(|offer| Some(offer.worker) == before && offer.free() >= threads) {
        return Some(placed(warm));
    }
    let speed = |offer: &&WorkerOffer| u64::from(offer.speed.max(1)) * placed(offer).threads as u64;
    // Among equals the emptiest one, so that load is spread.
    open.into_iter().max_by_key(|offer| (speed(offer), offer.free(), std::cmp::Reverse(offer.worker))).map(placed)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn offer(worker: u64, cores: usize, speed: u32) -> WorkerOffer {
        WorkerOffer { worker: RunId(worker), cores, speed, ours: 0, theirs: 0, others: 0, engines: Vec::new() }
    }

    fn chosen(offers: &[WorkerOffer], threads: usize) -> Option<(u64, usize)> {
        choose(offers, threads, None, None).map(|placement| (placement.worker.0, placement.threads))
    }

    #[test]
    fn the_fastest_free_worker_gets_the_search() {
        let mut offers = [offer(1, 4, 900), offer(2, 2, 1000), offer(3, 4, 900)];
        assert_eq!(chosen(&offers, 1), Some((2, 1)));
        offers[1].ours = 2;
        assert_eq!(chosen(&offers, 1), Some((1, 1)));
        offers[0].ours = 1;
        assert_eq!(chosen(&offers, 1), Some((3, 1)), "the emptier of equals");
        assert_eq!(chosen(&[], 1), None);
    }

    #[test]
    fn a_group_goes_where_it_searches_fastest_and_stays_on_one_machine() {
        let offers = [offer(1, 4, 1000), offer(2, 16, 700)];
        assert_eq!(chosen(&offers, 8), Some((2, 8)));
        assert_eq!(chosen(&offers, 4), Some((1, 4)));
        assert_eq!(chosen(&offers, 64), Some((2, 16)), "no more threads than cores");
    }

    #[test]
    fn an_elector_returns_to_its_warm_table_if_there_is_room() {
        let mut offers = [offer(1, 4, 1000), offer(2, 4, 900)];
        let before =
            |offers: &[WorkerOffer]| choose(offers, 2, None, Some(RunId(2))).map(|placement| placement.worker.0);
        assert_eq!(before(&offers), Some(2));
        offers[1].ours = 3;
        assert_eq!(before(&offers), Some(1));
    }

    #[test]
    fn an_engine_goes_where_it_is_installed() {
        let mut offers = [offer(1, 4, 1000), offer(2, 4, 900)];
        assert_eq!(choose(&offers, 1, Some("stockfish"), None), None);
        offers[1].engines.push("stockfish".to_owned());
        assert_eq!(choose(&offers, 1, Some("stockfish"), None).map(|placement| placement.worker.0), Some(2));
    }

    #[test]
    fn daemons_share_fairly_and_use_what_others_leave() {
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
