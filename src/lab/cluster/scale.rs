//! A move of a council with many workers, simulated from what messages and searches cost: where the coordinator, the server and the
//! method come to their limits.
//!
//! Three queues in a row: the daemon chooses a worker for each of its orders and sends them one by one; the server passes on every
//! message; the daemon reads, checks and counts proposals one by one, and reads heartbeats between them. Searches propose when the
//! measured one does, each somewhat faster or slower. There are no more of them than electors; the other cores make groups larger.

use std::{cmp::Ordering, time::Duration};

use rand::{RngExt, SeedableRng, rngs::StdRng};

use super::Costs;
use crate::stats::quantile;

/// Rosters that were ever published have no more electors; from there on, cores go to groups.
pub const PUBLISHED: usize = 19;
pub const ELECTORS: usize = 256;
/// Sets of knowledge that differ: no roster of specialists is larger.
pub const SETS: usize = 255;
/// Every worker beats four times a second, and answers a call.
const SIGNS_OF_LIFE: f64 = 5.0;
/// Messages a second about tables, from each worker and to each, by the default budget.
const TABLE_MESSAGES: f64 = 40.0;
/// Moves of a position that searches propose, and that are verified once each.
const VERIFIED: u32 = 8;
/// The largest number of workers with real measurements; results beyond it are extrapolations.
pub const CREDIBLE: usize = 64;
/// The faster search of two is not faster than this.
const SPREAD: f64 = 1.5;
/// The share of its time that a stage may be busy before it holds up the others.
pub const SATURATED: f64 = 0.7;

#[derive(Clone, Debug, PartialEq)]
pub struct MoveLoad {
    pub workers: usize,
    /// Searches at once.
    pub searches: usize,
    /// In the time of the move.
    pub messages: usize,
    /// The share of its time that the coordinator's thread works.
    pub coordinator: f64,
    /// The share of its time that the server works.
    pub broker: f64,
    /// The share of one home core's time that verification takes.
    pub verification: f64,
    pub last_begins: Duration,
    /// Delay between a proposal and its count: median and 99th percentile.
    pub delay: (Duration, Duration),
    /// The share of all proposals that are counted before the time is up.
    pub counted: f64,
}

/// One thing at a time, in the order in which they come.
#[derive(Default)]
struct ServiceQueue {
    free_at: f64,
    worked: f64,
}

impl ServiceQueue {
    /// Serves a request that arrives at `came` and needs `takes`; returns its completion time.
    fn pass(&mut self, came: f64, takes: f64) -> f64 {
        self.free_at = self.free_at.max(came) + takes;
        self.worked += takes;
        self.free_at
    }
}

/// Simulates a move of `move_time` and gives the load that it makes. Each of a worker's `cores` searches for an elector of its
/// own, as long as there are electors.
pub fn simulate(workers: usize, cores: usize, move_time: Duration, costs: &Costs) -> MoveLoad {
    let searches = (workers * cores).min(ELECTORS);
    let end = move_time.as_secs_f64();
    let way = costs.way.as_secs_f64();
    let mut random = StdRng::seed_from_u64(1);
    let (mut coordinator, mut broker) = (ServiceQueue::default(), ServiceQueue::default());
    let mut last_begins = 0.0_f64;
    let mut proposed = Vec::new();
    let (signs, tables) = (workers as f64 * SIGNS_OF_LIFE, workers as f64 * TABLE_MESSAGES);
    let heartbeats = signs * costs.upkeep.heartbeat.as_secs_f64() + tables * costs.upkeep.table_message.as_secs_f64();
    let signs = signs + tables;
    // The signs of life are spread over the move; here they take everybody's time evenly.
    let coordinator_pace = 1.0 - heartbeats.min(0.99);
    let order = costs.order.as_secs_f64() + costs.upkeep.choice_by_worker.as_secs_f64() * workers as f64;
    for _ in 0..searches {
        let sent = coordinator.pass(0.0, order / coordinator_pace);
        let begins = broker.pass(sent, costs.broker.as_secs_f64()) + way;
        last_begins = last_begins.max(begins);
        let pace = random.random_range(1.0 / SPREAD..SPREAD);
        let times = costs.iterations.iter().map(|time| begins + time.as_secs_f64() * pace);
        proposed.extend(times.take_while(|time| *time < end));
    }
    proposed.sort_by(|a, b| a.partial_cmp(b).unwrap_or(Ordering::Equal));

    let broker_pace = 1.0 - (signs * costs.broker.as_secs_f64()).min(0.99);
    let count = costs.proposal + costs.count;
    let count = count.as_secs_f64() + costs.count_by_elector.as_secs_f64() * searches as f64;
    let mut delays = Vec::with_capacity(proposed.len());
    let mut counted = 0_usize;
    for time in &proposed {
        let passed = broker.pass(*time, costs.broker.as_secs_f64() / broker_pace) + way;
        let done = coordinator.pass(passed, count / coordinator_pace);
        counted += usize::from(done <= end);
        // The first proposal of a move waits until it is verified.
        delays.push(Duration::from_secs_f64(done - time) + costs.verification);
    }
    delays.sort_unstable();
    MoveLoad {
        workers,
        searches,
        messages: searches + proposed.len() + (signs * end) as usize,
        coordinator: coordinator.worked * coordinator_pace / end + heartbeats,
        broker: broker.worked / end + signs * costs.broker.as_secs_f64(),
        verification: (costs.verification * VERIFIED).as_secs_f64() / end,
        last_begins: Duration::from_secs_f64(last_begins),
        delay: (quantile(&delays, 0.5), quantile(&delays, 0.99)),
        counted: counted as f64 / proposed.len().max(1) as f64,
    }
}

/// Returns the largest number of workers, up to `most`, with which `load` does not saturate what it measures.
pub fn reach(most: usize, load: impl Fn(usize) -> f64) -> usize {
    let (mut low, mut high) = (0, most + 1);
    while high - low > 1 {
        let middle = (low + high) / 2;
        if load(middle) <= SATURATED {
            low = middle;
        } else {
            high = middle;
        }
    }
    low
}

#[cfg(test)]
mod tests {
    use super::*;
    use cluster::Upkeep;

    fn costs() -> Costs {
        Costs {
            order: Duration::from_micros(10),
            proposal: Duration::from_micros(10),
            count: Duration::from_micros(5),
            count_by_elector: Duration::from_nanos(50),
            broker: Duration::from_micros(5),
            way: Duration::from_micros(100),
            verification: Duration::from_millis(2),
            upkeep: Upkeep {
                choice_by_worker: Duration::from_nanos(50),
                heartbeat: Duration::from_micros(2),
                table_message: Duration::from_micros(4),
            },
            iterations: (0..20).map(|ply| Duration::from_micros(50 * (1 << ply.min(14)))).collect(),
            sizes: (200, 160),
        }
    }

    fn simulated(workers: usize, costs: &Costs) -> MoveLoad {
        simulate(workers, 4, Duration::from_secs(1), costs)
    }

    #[test]
    fn one_worker_is_no_load() {
        let load = simulated(1, &costs());
        assert_eq!(load.searches, 4);
        assert!(load.coordinator < 0.01 && load.broker < 0.01, "{load:?}");
        assert!(load.delay.0 < Duration::from_micros(2_300), "{load:?}");
        assert!((load.verification - 0.016).abs() < 1e-9, "{load:?}");
        assert!(load.counted > 0.99);
    }

    #[test]
    fn load_grows_until_proposals_are_late() {
        let slow = Costs { proposal: Duration::from_millis(1), ..costs() };
        let loads: Vec<MoveLoad> = [1, 10, 60].iter().map(|workers| simulated(*workers, &slow)).collect();
        assert!(loads.windows(2).all(|pair| pair[0].coordinator < pair[1].coordinator));
        assert!(loads.windows(2).all(|pair| pair[0].messages < pair[1].messages));
        assert!(loads[2].coordinator > 1.0 && loads[2].counted < loads[0].counted, "{:?}", loads[2]);
    }

    #[test]
    fn surplus_workers_still_cost_messages() {
        let [few, many] = [100, 1000].map(|workers| simulated(workers, &costs()));
        assert_eq!((few.searches, many.searches), (ELECTORS, ELECTORS));
        assert!(many.coordinator > few.coordinator && many.last_begins > few.last_begins, "{few:?} {many:?}");
        let free = Costs { upkeep: Upkeep::default(), ..costs() };
        assert!(simulated(1000, &free).coordinator < many.coordinator);
    }

    #[test]
    fn table_messages_add_load() {
        let quiet = Upkeep { table_message: Duration::ZERO, ..costs().upkeep };
        let [with, without] = [costs(), Costs { upkeep: quiet, ..costs() }].map(|costs| simulated(100, &costs));
        assert!((with.coordinator - without.coordinator - 100.0 * 40.0 * 4e-6).abs() < 1e-6, "{with:?} {without:?}");
        assert!(with.messages >= 100 * 45, "{with:?}");
    }

    #[test]
    fn reach_ends_at_saturation() {
        let slow = Costs { proposal: Duration::from_millis(1), ..costs() };
        let load = |workers| simulated(workers, &slow).coordinator;
        let reach = reach(1000, load);
        assert!(load(reach) <= SATURATED && load(reach + 1) > SATURATED);
    }
}
