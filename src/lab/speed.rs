//! Speeds of electors relative to complete knowledge, which turn node budgets into equal times.
//!
//! Knowing less is worth something only by its speed (docs/method.md §1). Where every elector has equally many nodes, that is taken
//! away; where each has nodes in proportion to its speed, all have the same time, and games can still be repeated to the node.

use std::{
    collections::BTreeMap,
    fmt,
    str::FromStr,
    sync::atomic::{AtomicBool, Ordering::Relaxed},
    time::Duration,
};

use rustix::time::{ClockId, clock_gettime};
use serde::{Deserialize, Serialize};

use super::suite::TestPosition;
use council::electors::Instance;
use domain::{Heuristic, Knowledge, engine_position};
use engine::{Engine, Limits, Position};

/// Nodes of a round of measurements, for each instance.
const NODES: u64 = 150_000;

/// Maximum number of positions of a round.
const POSITIONS: u64 = 64;

/// Rounds that count, by their median. One more goes before them, in which the tables are filled for the first time.
const ROUNDS: usize = 15;

/// Maximum nodes of a search; longer searches have the same speed.
const LONGEST: u64 = 20_000;

/// Transposition table of a measurement, MiB: that of an elector.
const HASH: usize = 16;

/// Nodes that electors visit in the time of one node of complete knowledge, by what they know. Written `mp=1.7 mpar=1.25`, with
/// `+noise` and `+net-CHECKSUM` behind the letters where there is noise, and where it is about the net of one file alone.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Speeds(BTreeMap<String, f64>);

impl Speeds {
    /// Returns the speed of an instance; 1 if it is unknown.
    pub fn of(&self, instance: &Instance) -> f64 {
        self.known(instance).unwrap_or(1.0)
    }

    /// Returns the speed of an instance with its own net, or else with any net.
    fn known(&self, instance: &Instance) -> Option<f64> {
        self.0.get(&name(instance)).or_else(|| self.0.get(&name_with_any_net(instance))).copied()
    }

    /// Returns the speeds of `instances`: given here, or else measured one after another on this
    /// thread, in searches of `nodes` nodes. The measure is the thread's own processor time, so
    /// that a busy machine disturbs little. `None` if `stop` was set meanwhile.
    #[must_use]
    pub fn measured(
        mut self,
        instances: &[Instance],
        positions: &[TestPosition],
        nodes: u64,
        stop: &AtomicBool,
    ) -> Option<Self> {
        let complete = Instance::new(Knowledge::COMPLETE);
        self.0.insert(name(&complete), 1.0);
        let mut unknown = vec![complete];
        for instance in instances {
            if self.known(instance).is_none() && unknown.iter().all(|other| name(other) != name(instance)) {
                unknown.push(instance.clone());
            }
        }
        if unknown.len() > 1 {
            let rounds = rounds(&unknown, positions, nodes.clamp(1, LONGEST), stop)?;
            self.0.extend(unknown.iter().map(name).zip(relative(&rounds)));
        }
        Some(self)
    }
}

/// Returns the name of all that sets an instance's speed: knowledge, noise, and a net from a file.
fn name(instance: &Instance) -> String {
    let net = instance.net.as_ref().filter(|_| instance.knowledge.has(Heuristic::Net));
    let net = net.map_or_else(String::new, |net| format!("+net-{:016x}", net.checksum()));
    name_with_any_net(instance) + &net
}

/// Returns the name without its net.
fn name_with_any_net(instance: &Instance) -> String {
    let noise = if instance.noise.amplitude > 0 { "+noise" } else { "" };
    format!("{}{noise}", instance.knowledge)
}

/// The positions of all rounds, none twice where there are enough: a table that knew them would answer in place of the search.
fn spread(positions: &[TestPosition], wanted: usize) -> Vec<Position> {
    let chosen = (0..wanted).filter_map(|index| positions.get(index * positions.len() / wanted));
    chosen.filter_map(|position| engine_position(&position.line).ok()).collect()
}

/// Nodes a second of each instance in every round. In each position all of them search back to back, another one first each time.
fn rounds(instances: &[Instance], positions: &[TestPosition], nodes: u64, stop: &AtomicBool) -> Option<Vec<Vec<f64>>> {
    let mut engines: Vec<Engine> = instances.iter().map(|instance| Engine::new(instance.options(HASH, 1))).collect();
    let limits = Limits { nodes: Some(nodes), ..Limits::default() };
    let mut rounds = Vec::new();
    let size = (NODES / nodes).clamp(1, POSITIONS) as usize;
    for round in spread(positions, (ROUNDS + 1) * size).chunks(size) {
        let mut spent = vec![(0_u64, 0.0); engines.len()];
        for (number, position) in round.iter().enumerate() {
            for turn in 0..engines.len() {
                let of = (turn + number) % engines.len();
                if stop.load(Relaxed) {
                    return None;
                }
                let began = thread_time();
                let found = engines[of].search(position, &[], &limits, &AtomicBool::new(false), &mut |_| {});
                spent[of].1 += thread_time().saturating_sub(began).as_secs_f64();
                spent[of].0 += found.map_or(0, |found| found.nodes);
            }
        }
        rounds.push(spent.into_iter().map(|(nodes, seconds)| nodes as f64 / seconds.max(1e-9)).collect());
    }
    Some(rounds.into_iter().skip(1).collect())
}

/// Each one's speed over that of the first: the median over the rounds, rounded to a thousandth.
fn relative(rounds: &[Vec<f64>]) -> Vec<f64> {
    let count = rounds.first().map_or(0, Vec::len);
    let median = |of: usize| {
        let mut ratios: Vec<f64> = rounds.iter().map(|round| round[of] / round[0]).collect();
        ratios.sort_by(f64::total_cmp);
        (ratios[ratios.len() / 2] * 1000.0).round() / 1000.0
    };
    (0..count).map(median).collect()
}

fn thread_time() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec.try_into().unwrap_or(0), time.tv_nsec.try_into().unwrap_or(0))
}

impl FromStr for Speeds {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let one = |word: &str| {
            let (letters, speed) = word.split_once('=')?;
            let (known, more) = letters.split_at(letters.find('+').unwrap_or(letters.len()));
            let known: Knowledge = known.parse().ok()?;
            let is_known = more.split('+').skip(1).all(|word| word == "noise" || word.starts_with("net-"));
            let speed = speed.parse().ok().filter(|speed| is_known && (0.01..=100.0).contains(speed))?;
            Some((format!("{known}{more}"), speed))
        };
        let words = text.split([',', ' ']).filter(|word| !word.is_empty());
        words.map(one).collect::<Option<_>>().map(Self).ok_or_else(|| {
            format!(
                "{text:?}: expected knowledge letters with their speeds beside complete knowledge, 0.01 to 100, \
                 such as \"mp=1.7 mpar=1.25\""
            )
        })
    }
}

impl fmt::Display for Speeds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let words: Vec<String> = self.0.iter().map(|(known, speed)| format!("{known}={speed}")).collect();
        f.write_str(&words.join(" "))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::reproduce::suites;
    use engine::net::{BLOCK, Header, Net, Weights};

    fn instance(letters: &str) -> Instance {
        Instance::new(letters.parse().expect("knowledge"))
    }

    #[test]
    fn given_speeds_are_not_measured() {
        let given: Speeds = "mp=1.7, mpar=1.25".parse().expect("speeds");
        assert_eq!(given.to_string().parse::<Speeds>().as_ref(), Ok(&given));
        // Without a position nothing could be measured.
        let speeds = given.measured(&[instance("mp"), instance("mpar")], &[], 100, &AtomicBool::new(false));
        let speeds = speeds.expect("not stopped");
        let of = |letters: &str| speeds.of(&instance(letters));
        assert_eq!((of("mp"), of("mpar"), of("mbxkcpar"), of("mka")), (1.7, 1.25, 1.0, 1.0));
        for text in ["mp", "mp=0", "mp=fast", "mq=1.2", "mp+quick=2"] {
            assert!(text.parse::<Speeds>().is_err(), "{text:?}");
        }
    }

    #[test]
    fn each_net_has_its_own_speed() {
        let with_net = |seed: u64| {
            let weights = Weights::zero(BLOCK).expect("a width");
            let net = Net::new(Header { seed, ..Header::default() }, weights).expect("within bounds");
            Instance { net: Some(Arc::new(net)), ..instance("mn") }
        };
        let (one, other) = (with_net(1), with_net(2));
        let speeds: Speeds = format!("mn=0.8 {}=0.5", name(&one)).parse().expect("speeds");
        assert_eq!((speeds.of(&one), speeds.of(&other), speeds.of(&instance("mn"))), (0.5, 0.8, 0.8));
        assert_eq!(speeds.to_string().parse::<Speeds>().as_ref(), Ok(&speeds));
    }

    #[test]
    fn the_median_of_the_rounds_counts() {
        let rounds = [vec![100.0, 150.0, 90.0], vec![50.0, 76.0, 45.0], vec![100.0, 900.0, 90.0]];
        assert_eq!(relative(&rounds), [1.0, 1.52, 0.9]);
    }

    #[test]
    fn missing_speeds_are_measured() {
        let positions = suites();
        let speeds = Speeds::default().measured(&[instance("mp")], &positions[..2], 200, &AtomicBool::new(false));
        let Speeds(known) = speeds.expect("not stopped");
        assert_eq!(known.keys().collect::<Vec<_>>(), ["mbxkcpar", "mp"]);
        assert_eq!(known["mbxkcpar"], 1.0);
        assert!(known["mp"] > 0.0);
        let stopped = Speeds::default().measured(&[instance("mp")], &positions[..2], 200, &AtomicBool::new(true));
        assert_eq!(stopped, None);
    }
}
