//! Virtual time: threads take turns of equally many nodes.
//!
//! With fewer cores than threads the operating system schedules searches in slices of milliseconds;
//! such a search cannot be repeated and does not resemble one on enough cores. At a turnstile
//! exactly one thread runs at a time, for a batch of nodes, in the order of their places: as if all
//! advanced in step on cores of their own. Results are the same on every machine. Communication
//! costs nothing, unless [`AfterRound`] carries messages between rounds with a delay in nodes.

use std::{
    fmt,
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
};

/// The usual nodes of a turn: few against any budget, many against the cost of waking a thread.
pub const TURN: u64 = 128;

/// Lets one of its places through at a time.
#[derive(Debug)]
pub struct Turnstile {
    queue: Mutex<Queue>,
    called: Box<[Condvar]>,
    /// Nodes of a turn, by place.
    turns: Box<[u64]>,
}

/// A callback after each round, while no thread searches, with the mean number of nodes that a
/// thread has had turns for since the beginning.
pub struct AfterRound(Box<dyn FnMut(u64) + Send>);

impl AfterRound {
    pub fn new(call: impl FnMut(u64) + Send + 'static) -> Self {
        Self(Box::new(call))
    }
}

impl fmt::Debug for AfterRound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("AfterRound")
    }
}

#[derive(Debug)]
struct Queue {
    current: usize,
    round: u64,
    /// The number of rounds for each turn of a place.
    every: Box<[u64]>,
    /// Places still in use. Unclaimed places count as in use.
    taking_part: Box<[bool]>,
    after_round: Option<AfterRound>,
}

impl Turnstile {
    /// Creates a turnstile for `places` threads. Each must claim its place with [`Self::place`], or
    /// the others wait for ever.
    pub fn new(places: usize) -> Arc<Self> {
        Self::paced(vec![1; places])
    }

    /// Creates a turnstile in which a thread has its turn once in `every` rounds: as if it had that
    /// part of a core.
    pub fn paced(every: Vec<u64>) -> Arc<Self> {
        let turns = vec![TURN; every.len()];
        Self::with(every, turns, None)
    }

    /// Does the same with turns of `turns` nodes and a callback after each round.
    pub fn with(every: Vec<u64>, turns: Vec<u64>, after_round: Option<AfterRound>) -> Arc<Self> {
        let places = every.len();
        let taking_part = vec![true; places].into();
        let queue = Mutex::new(Queue { current: 0, round: 0, every: every.into(), taking_part, after_round });
        Arc::new(Self { queue, called: (0..places).map(|_| Condvar::new()).collect(), turns: turns.into() })
    }

    /// Claims a place, counted from 0.
    pub fn place(self: &Arc<Self>, index: usize) -> Place {
        Place { turnstile: Arc::clone(self), index }
    }

    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn call_next(&self, queue: &mut Queue) {
        let places = queue.taking_part.len();
        if !queue.taking_part.contains(&true) {
            return;
        }
        loop {
            queue.current += 1;
            if queue.current >= places {
                queue.current = 0;
                queue.round += 1;
                let nodes = queue.round * self.turns.iter().sum::<u64>() / places as u64;
                queue.after_round.iter_mut().for_each(|AfterRound(call)| call(nodes));
            }
            let place = queue.current;
            if queue.taking_part[place] && queue.round.is_multiple_of(queue.every[place].max(1)) {
                self.called[place].notify_one();
                return;
            }
        }
    }

    /// A thread that has left may go on at any time.
    fn wait_for_turn(&self, mut queue: MutexGuard<'_, Queue>, place: usize) {
        while queue.current != place && queue.taking_part[place] {
            queue = self.called[place].wait(queue).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

/// A thread's place at a [`Turnstile`], left when it is dropped.
#[derive(Debug)]
pub struct Place {
    turnstile: Arc<Turnstile>,
    index: usize,
}

impl Place {
    pub(crate) fn turn(&self) -> u64 {
        self.turnstile.turns.get(self.index).map_or(TURN, |turn| (*turn).max(1))
    }

    /// Waits until it is this place's turn for the first time.
    pub(crate) fn enter(&self) {
        self.turnstile.wait_for_turn(self.turnstile.queue(), self.index);
    }

    /// Ends the turn and waits for the next one.
    pub(crate) fn pass(&self) {
        let mut queue = self.turnstile.queue();
        if queue.current == self.index {
            self.turnstile.call_next(&mut queue);
        }
        self.turnstile.wait_for_turn(queue, self.index);
    }

    /// Leaves the place: the others wait for it no longer.
    pub fn leave(&self) {
        let mut queue = self.turnstile.queue();
        queue.taking_part[self.index] = false;
        if queue.current == self.index {
            self.turnstile.call_next(&mut queue);
        }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.leave();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slow_threads_skip_rounds() {
        let turnstile = Turnstile::paced(vec![1, 3]);
        let log = Mutex::new(Vec::new());
        std::thread::scope(|scope| {
            for (index, turns) in [(0, 6), (1, 2)] {
                let (place, log) = (turnstile.place(index), &log);
                scope.spawn(move || {
                    place.enter();
                    for _ in 0..turns {
                        log.lock().expect("a log").push(index);
                        place.pass();
                    }
                });
            }
        });
        assert_eq!(log.into_inner().expect("a log"), [0, 1, 0, 0, 0, 1, 0, 0]);
    }

    #[test]
    fn callback_runs_after_each_round() {
        let calls: Arc<Mutex<Vec<u64>>> = Arc::default();
        let seen = Arc::clone(&calls);
        let carrier = AfterRound::new(move |nodes| seen.lock().expect("alone").push(nodes));
        let turnstile = Turnstile::with(vec![1, 1], vec![24, 40], Some(carrier));
        std::thread::scope(|scope| {
            for index in 0..2 {
                let place = turnstile.place(index);
                scope.spawn(move || {
                    place.enter();
                    for _ in 0..3 {
                        place.pass();
                    }
                });
            }
        });
        assert_eq!(calls.lock().expect("alone")[..3], [32, 64, 96]);
    }

    #[test]
    fn turns_skip_threads_that_left() {
        let turnstile = Turnstile::new(3);
        let log = Mutex::new(Vec::new());
        std::thread::scope(|scope| {
            // The last comes first: the others are waited for.
            for index in (0..3).rev() {
                let (place, log) = (turnstile.place(index), &log);
                scope.spawn(move || {
                    place.enter();
                    for turn in 0..3 - index {
                        log.lock().expect("a log").push((turn, index));
                        place.pass();
                    }
                });
            }
        });
        let log = log.into_inner().expect("a log");
        assert_eq!(log, [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (2, 0)]);
    }
}
