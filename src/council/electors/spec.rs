//! The definition of an elector, before it has a slot.

use std::{fmt, path::Path, sync::Arc};

use super::{
    elector::{Elector, ElectorResult},
    program::EngineProgram,
};
use domain::{ElectorName, Knowledge, Variant};
use engine::{EngineOptions, Net, Noise, Percentages, Position};

#[derive(Clone, Debug, PartialEq)]
pub struct ElectorSpec<K = ElectorKind> {
    /// The name in the vote, unique within a roster.
    pub name: ElectorName,
    pub kind: K,
    /// Its transposition table, MiB.
    pub hash: usize,
    pub threads: usize,
    /// True to share a table with other electors of the council that evaluate alike. Built-in
    /// instances only.
    pub shares_table: bool,
    pub priority: SearchPriority,
    /// Its weight in criteria with weights by hand; `None` derives it from its knowledge.
    pub weight: Option<f64>,
    /// The nodes that it visits in the time of one node of complete knowledge; 1 if not measured.
    /// With limited nodes in equal time, its limit is that many times as large, and so are its
    /// turns in virtual time.
    pub speed: f64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SearchPriority {
    Usual,
    /// An adviser on the electors' cores.
    Adviser,
    /// A game without a running clock, beside other games.
    Background,
}

#[derive(Clone, Debug, PartialEq)]
pub enum ElectorKind {
    Own(Instance),
    Engine(EngineProgram),
    /// The prover of mates. It has no vote.
    Prover,
    /// Proposes the first legal move at once. The yardstick for the daemon's own delay.
    Trivial,
    /// Whatever a function makes: for electors that live elsewhere, for measurements and tests.
    Made(ElectorMaker),
}

/// A function that makes an elector, on the thread that will run it. Equal only to its own clones.
#[derive(Clone)]
pub struct ElectorMaker(Arc<MakeElector>);

type MakeElector = dyn Fn(&ElectorSpec) -> ElectorResult<Box<dyn Elector>> + Send + Sync;

impl ElectorMaker {
    pub fn new(make: impl Fn(&ElectorSpec) -> ElectorResult<Box<dyn Elector>> + Send + Sync + 'static) -> Self {
        Self(Arc::new(make))
    }

    pub(super) fn make(&self, spec: &ElectorSpec) -> ElectorResult<Box<dyn Elector>> {
        (self.0)(spec)
    }
}

impl PartialEq for ElectorMaker {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl fmt::Debug for ElectorMaker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ElectorMaker")
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Instance {
    pub knowledge: Knowledge,
    pub percentages: Percentages,
    /// The cost of a draw for the side that stands better, centipawns.
    pub contempt: i32,
    /// The selectivity of the search, per cent of the usual.
    pub selectivity: u16,
    pub noise: Noise,
    /// Its net, if it is not the engine's own one.
    pub net: Option<Arc<Net>>,
}

impl Instance {
    /// One that knows this much and is as usual in everything else.
    pub fn new(knowledge: Knowledge) -> Self {
        Self::of(&EngineOptions { knowledge, ..EngineOptions::default() })
    }

    pub fn of(options: &EngineOptions) -> Self {
        let EngineOptions { knowledge, percentages, contempt, selectivity, noise, ref net, .. } = *options;
        Self { knowledge, percentages, contempt, selectivity, noise, net: net.clone() }
    }

    pub fn check(&self) -> Result<(), String> {
        let checks = [
            (self.percentages.iter().all(|share| *share <= 200), "`percentages` from 0 to 200"),
            ((-200..=200).contains(&self.contempt), "a `contempt` from -200 to 200"),
            ((10..=400).contains(&self.selectivity), "a `selectivity` from 10 to 400"),
            (self.noise.amplitude <= 1000, "a `noise` from 0 to 1000"),
        ];
        if let Some((_, accepted)) = checks.into_iter().find(|(holds, _)| !holds) {
            return Err(accepted.to_owned());
        }
        self.options(1, 1).check_net().map_err(|error| format!("other knowledge; {error}"))
    }

    pub fn options(&self, hash: usize, threads: usize) -> EngineOptions {
        let Self { knowledge, percentages, contempt, selectivity, noise, ref net } = *self;
        EngineOptions {
            hash,
            threads,
            knowledge,
            percentages,
            contempt,
            selectivity,
            noise,
            net: net.clone(),
            ..EngineOptions::default()
        }
    }
}

pub fn net_file(path: &Path) -> Result<Arc<Net>, String> {
    let explain = |error: &dyn fmt::Display| format!("{}: {error}", path.display());
    let bytes = std::fs::read(path).map_err(|error| explain(&error))?;
    Net::from_bytes(&bytes).map(Arc::new).map_err(|error| explain(&error))
}

impl<K> ElectorSpec<K> {
    /// One thread, a table of its own, no weight by hand, and the speed of complete knowledge.
    pub fn new(name: ElectorName, kind: K, hash: usize) -> Self {
        Self {
            name,
            kind,
            hash,
            threads: 1,
            shares_table: false,
            priority: SearchPriority::Usual,
            weight: None,
            speed: 1.0,
        }
    }
}

impl ElectorSpec {
    pub const MATES: &str = "mates";

    pub fn mates(hash: usize) -> Self {
        Self::new(Self::MATES.into(), ElectorKind::Prover, hash)
    }

    pub fn own(knowledge: Knowledge, hash: usize) -> Self {
        Self::new(knowledge.to_string().into(), ElectorKind::Own(Instance::new(knowledge)), hash)
    }

    pub fn knowledge(&self) -> Option<Knowledge> {
        self.instance().map(|instance| instance.knowledge)
    }

    pub fn instance(&self) -> Option<&Instance> {
        match &self.kind {
            ElectorKind::Own(instance) => Some(instance),
            ElectorKind::Engine(_) | ElectorKind::Prover | ElectorKind::Trivial | ElectorKind::Made(_) => None,
        }
    }

    /// The static value of a position by what this elector knows, centipawns from the player to move. A foreign engine's
    /// is not known; complete knowledge stands in for it.
    pub fn static_value(&self, position: &Position) -> i32 {
        let instance = self.instance().cloned().unwrap_or_else(|| Instance::new(Knowledge::COMPLETE));
        engine::evaluation::evaluate(position.board(), &instance.options(1, 1).recipe())
    }

    /// Returns true if it can play `variant` as far as is known before it runs: external engines
    /// report it at their start.
    pub fn may_play(&self, variant: Variant) -> bool {
        variant.is_standard_rules() || !matches!(self.kind, ElectorKind::Own(_) | ElectorKind::Prover)
    }
}
