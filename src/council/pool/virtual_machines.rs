//! Several machines in virtual time: each with a transposition table of its own, and what their tables tell each other comes late by so many
//! nodes. For experiments about machines on one.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use engine::{AfterRound, Belief, SharedTable, TURN, TableBatch};

/// No turn is shorter, nodes: threads would do nothing but wake each other.
const SHORTEST_TURN: u64 = 16;

/// The machines on which the electors of a council sit that share a table, and what lies between them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct VirtualMachines {
    /// How many; the electors of a roster are dealt out in equal parts, in their order. At least 1.
    pub count: usize,
    /// The most entries in a message; 0 for machines that tell each other nothing.
    pub entries: usize,
    /// Nodes of each thread between two messages of a machine.
    pub interval: u64,
    /// Nodes of each thread that a message takes: one of a table's, and so do a task and a proposal of machines but the first.
    pub delay: u64,
    /// Whose values a table takes from another one, as well as its moves.
    pub values: BelievedValues,
}

/// Whose values are believed between machines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum BelievedValues {
    /// Nobody's: moves alone travel.
    None,
    /// Those of the first machine: the daemon's, which trusts nobody and is trusted.
    #[default]
    First,
    /// Everybody's.
    All,
}

impl Default for VirtualMachines {
    /// One machine.
    fn default() -> Self {
        Self { count: 1, entries: 0, interval: TURN, delay: 0, values: BelievedValues::default() }
    }
}

impl VirtualMachines {
    /// The machine of the elector at this place of so many.
    pub(crate) fn of(&self, place: usize, electors: usize) -> usize {
        place * self.count.max(1) / electors.max(1)
    }

    /// The nodes of a move in which a machine does not search yet, or no longer in time to be heard: the way there and back. The first is
    /// where the council sits.
    pub(crate) fn way_to(&self, machine: usize) -> u64 {
        if machine == 0 { 0 } else { 2 * self.delay }
    }

    /// Nodes of a turn of each of so many threads: in the mean no longer than anything that is to be told apart, and hardly two alike. Copies
    /// that advance exactly in step on two machines would search the very same tree on both. No machine is faster than another.
    pub(crate) fn turns(&self, places: usize) -> Vec<u64> {
        let delay = if self.delay == 0 { TURN } else { self.delay };
        let mean = delay.min(self.interval).clamp(SHORTEST_TURN, TURN);
        // Between three quarters and five quarters of it, the shortest first.
        let mut turns: Vec<u64> = (0..places as u64).map(|place| mean * (75 + place * 37 % 50) / 100).collect();
        turns.sort_unstable();
        // Dealt out to the machines to and fro.
        let mut dealt = vec![mean; places];
        self.dealt_to_and_fro(places).into_iter().zip(turns).for_each(|(place, turn)| dealt[place] = turn);
        dealt
    }

    /// All of so many places, one of each machine after the other, then back.
    fn dealt_to_and_fro(&self, places: usize) -> Vec<usize> {
        let machine = |place: usize| self.of(place, places);
        let round = |place: usize| (0..place).filter(|other| machine(*other) == machine(place)).count();
        let mut order: Vec<usize> = (0..places).collect();
        order.sort_by_key(|place| {
            let (round, machine) = (round(*place), machine(*place));
            (round, if round % 2 == 0 { machine } else { self.count.max(1) - machine })
        });
        order
    }

    /// Who carries messages between the tables of these machines while one question is searched; `None` where nobody does.
    pub(crate) fn carrier(&self, tables: Vec<(usize, SharedTable)>) -> Option<AfterRound> {
        let mut network = VirtualNetwork::new(*self, tables)?;
        Some(AfterRound::new(move |now| network.carry(now)))
    }
}

/// The messages between the machines, on their way.
struct VirtualNetwork {
    plan: VirtualMachines,
    /// By machine; those of one evaluation tell each other.
    tables: Vec<(usize, SharedTable)>,
    /// By the time at which they arrive: the table that tells, and what.
    on_the_way: VecDeque<(u64, usize, TableBatch)>,
    /// When everybody tells next, nodes.
    next: u64,
}

impl VirtualNetwork {
    fn new(plan: VirtualMachines, tables: Vec<(usize, SharedTable)>) -> Option<Self> {
        if plan.count < 2 || plan.entries == 0 {
            return None;
        }
        tables.iter().for_each(|(_, table)| table.keep_for_others(plan.entries));
        Some(Self { plan, tables, on_the_way: VecDeque::new(), next: plan.interval })
    }

    /// What is told now sets off, and what is due arrives.
    fn carry(&mut self, now: u64) {
        if now >= self.next {
            self.next = now + self.plan.interval;
            let told = self.tables.iter().enumerate().filter_map(|(from, (_, table))| Some((from, table.tell()?)));
            self.on_the_way.extend(told.map(|(from, batch)| (now + self.plan.delay, from, batch)));
        }
        while self.on_the_way.front().is_some_and(|(due, ..)| *due <= now)
            && let Some((_, from, batch)) = self.on_the_way.pop_front()
        {
            self.arrive(from, &batch);
        }
    }

    fn arrive(&self, from: usize, batch: &TableBatch) {
        let (sender, told) = &self.tables[from];
        let belief = match self.plan.values {
            BelievedValues::First if *sender == 0 => Belief::Values,
            BelievedValues::None | BelievedValues::First => Belief::Moves,
            BelievedValues::All => Belief::Values,
        };
        for (machine, table) in &self.tables {
            if machine != sender && table.evaluates_as(told) {
                table.hear(batch, belief);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_machine_is_faster_than_another() {
        for (count, places) in [(1, 4), (2, 8), (4, 16)] {
            let machines = VirtualMachines { count, delay: 16, interval: 48, ..VirtualMachines::default() };
            let turns = machines.turns(places);
            let of_machine = |machine| (0..places).filter(move |place| machines.of(*place, places) == machine);
            let sums: Vec<u64> =
                (0..count).map(|machine| of_machine(machine).map(|place| turns[place]).sum()).collect();
            let (least, most) = (sums.iter().min(), sums.iter().max());
            assert!(least.zip(most).is_some_and(|(least, most)| most - least <= most / 20), "{sums:?}");
        }
    }
}
