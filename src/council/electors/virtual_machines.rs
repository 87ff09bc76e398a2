//! Several machines in virtual time: each has a transposition table of its own, and entries travel
//! between the tables with a delay in nodes. For experiments on one machine.

use std::collections::VecDeque;

use engine::{AfterRound, Belief, SharedTable, TURN, TableBatch};

/// The shortest turn, nodes: below it threads would do nothing but wake each other.
const SHORTEST_TURN: u64 = 16;

util::settings! {
    /// The virtual machines of the electors with a shared table, and the delays between them.
    #[derive(Copy, Eq)]
    pub struct VirtualMachines {
        /// The number of machines; the electors of a roster are dealt out in equal parts, in their
        /// order. At least 1.
        pub count: usize = 1,
        /// The most entries in a message; 0 for machines that exchange nothing.
        pub entries: usize = 0,
        /// Nodes of each thread between two messages of a machine.
        pub interval: u64 = TURN,
        /// Nodes of each thread that a message takes: one of a table's, and so do a task and a proposal of machines but the first.
        pub delay: u64 = 0,
    }
}

impl VirtualMachines {
    pub(crate) fn of(&self, place: usize, electors: usize) -> usize {
        place * self.count.max(1) / electors.max(1)
    }

    /// Returns the nodes of a move during which a machine does not search yet, or too late to
    /// count: the way there and back. The first machine has the council.
    pub(crate) fn way_to(&self, machine: usize) -> u64 {
        if machine == 0 { 0 } else { 2 * self.delay }
    }

    /// Returns the nodes of a turn of each thread: short against every delay, and hardly two alike.
    /// Copies that advance exactly in step on two machines would search the very same tree. No
    /// machine is faster than another.
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

    /// Returns all places, one of each machine after the other, then back.
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

    /// Returns the callback that carries entries between the tables of these machines during one
    /// question; `None` without an exchange.
    pub(crate) fn carrier(&self, tables: Vec<(usize, SharedTable)>) -> Option<AfterRound> {
        let plan = *self;
        if plan.count < 2 || plan.entries == 0 {
            return None;
        }
        tables.iter().for_each(|(_, table)| table.keep_for_others(plan.entries));
        // Ordered by arrival: the sending table and its entries.
        let mut on_the_way = VecDeque::new();
        let mut next = plan.interval;
        Some(AfterRound::new(move |now| {
            if now >= next {
                next = now + plan.interval;
                let told = tables.iter().enumerate().filter_map(|(from, (_, table))| Some((from, table.tell()?)));
                on_the_way.extend(told.map(|(from, batch)| (now + plan.delay, from, batch)));
            }
            while let Some((_, from, batch)) = on_the_way.pop_front_if(|(due, ..)| *due <= now) {
                deliver(&tables, from, &batch);
            }
        }))
    }
}

/// Gives the entries of the table `from` to the tables of equal evaluation on other machines.
/// Values are believed of the first machine alone, the daemon's, which trusts no other.
fn deliver(tables: &[(usize, SharedTable)], from: usize, batch: &TableBatch) {
    let (sender, told) = &tables[from];
    let belief = if *sender == 0 { Belief::Values } else { Belief::Moves };
    for (machine, table) in tables {
        if machine != sender && table.evaluates_as(told) {
            table.hear(batch, belief);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn virtual_machines_are_equally_fast() {
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
