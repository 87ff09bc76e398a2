//! Virtual time: threads that take turns of equally many nodes.
//!
//! Where there are fewer cores than threads, the operating system decides who searches when, in slices of milliseconds;
//! such a search cannot be repeated, nor does it resemble the one on enough cores. At a turnstile exactly one thread runs,
//! each for a batch of nodes, in the order of their places: as if all advanced in step on cores of their own. Results are
//! then the same on every machine, and say nothing of communication, which costs nothing here; unless somebody carries messages between two
//! rounds ([`AfterRound`]), late by so many nodes.

use std::{
    fmt,
    sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError},
};

/// So many nodes are usually searched in a turn: few against any budget, many against the cost of waking a thread.
pub const TURN: u64 = 128;

/// Lets one of its places through at a time.
#[derive(Debug)]
pub struct Turnstile {
    queue: Mutex<Queue>,
    called: Box<[Condvar]>,
    /// Nodes of a turn, by place.
    turns: Box<[u64]>,
}

/// Called when a round is over, while nobody searches, with the nodes that a thread has had turns for since the beginning, in the
/// mean.
pub struct AfterRound(Box<dyn FnMut(u64) + Send>);

impl AfterRound {
    /// Calls this function.
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
    /// Rounds that are over.
    round: u64,
    /// A place has its turn once in so many rounds.
    every: Box<[u64]>,
    /// Places whose holder has not left. One that has yet to come is waited for.
    taking_part: Box<[bool]>,
    after_round: Option<AfterRound>,
}

impl Turnstile {
    /// A turnstile for so many threads. Each must claim its place with [`Self::place`], or the others wait for ever.
    pub fn new(places: usize) -> Arc<Self> {
        Self::paced(vec![1; places])
    }

    /// The same, where a thread has its turn only once in so many rounds: as if it had that part of a core.
    pub fn paced(every: Vec<u64>) -> Arc<Self> {
        let turns = vec![TURN; every.len()];
        Self::with(every, turns, None)
    }

    /// The same, with turns of so many nodes each, and somebody who is called after each round.
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

    /// Calls the next of those that take part.
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

    /// Whoever has left may go on at any time.
    fn wait_for_turn(&self, mut queue: MutexGuard<'_, Queue>, place: usize) {
        while queue.current != place && queue.taking_part[place] {
            queue = self.called[place].wait(queue).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

/// A thread's place at a [`Turnstile`]. To drop it is to leave.
#[derive(Debug)]
pub struct Place {
    turnstile: Arc<Turnstile>,
    index: usize,
}

impl Place {
    /// Nodes of a turn.
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

    /// Gives the place back: it is not waited for any more.
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
    fn a_slow_thread_has_its_turn_once_in_some_rounds() {
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
    fn whoever_carries_messages_is_called_after_each_round() {
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
    fn threads_take_turns_in_order_and_one_that_leaves_is_not_waited_for() {
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
