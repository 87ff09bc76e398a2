//! What an elector is, before it sits anywhere.

use std::{collections::BTreeMap, path::PathBuf};

use super::{Elector, ElectorFailure, own::OwnElector, trivial::TrivialElector, uci::UciElector};
use crate::chess::{ElectorName, Knowledge, Variant};

/// Everything needed to seat an elector.
#[derive(Clone, Debug, PartialEq)]
pub struct ElectorSpec {
    /// How it is called in the vote. Unique within a roster.
    pub name: ElectorName,
    /// What runs.
    pub kind: ElectorKind,
    /// Its transposition table, MiB.
    pub hash: usize,
    /// Threads of its search.
    pub threads: usize,
}

/// The kinds of elector.
#[derive(Clone, Debug, PartialEq)]
pub enum ElectorKind {
    /// An instance of our own engine that knows this much.
    Own(Knowledge),
    /// Somebody's UCI engine in a process of its own.
    Uci(UciProgram),
    /// Proposes the first legal move at once. The yardstick for the daemon's own delay.
    Trivial,
}

/// How a UCI engine is started.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct UciProgram {
    /// The program.
    pub path: PathBuf,
    /// Its command-line arguments.
    pub arguments: Vec<String>,
    /// Options to set, by name.
    pub options: BTreeMap<String, String>,
}

impl ElectorSpec {
    /// An instance of our own engine, named by its letters.
    pub fn own(knowledge: Knowledge, hash: usize) -> Self {
        let name = ElectorName::from(knowledge.to_string());
        Self { name, kind: ElectorKind::Own(knowledge), hash, threads: 1 }
    }

    /// The knowledge of an own instance.
    pub fn knowledge(&self) -> Option<Knowledge> {
        match self.kind {
            ElectorKind::Own(knowledge) => Some(knowledge),
            ElectorKind::Uci(_) | ElectorKind::Trivial => None,
        }
    }

    /// Whether it can play `variant` as far as is known before it runs: foreign engines are asked when they start.
    pub fn may_play(&self, variant: Variant) -> bool {
        variant.is_standard_rules() || !matches!(self.kind, ElectorKind::Own(_))
    }

    /// Starts it, on the thread that will run it. Games are played through [`Pool::seat`](super::Pool::seat), which also
    /// watches over it; this is for work that may wait for its elector.
    ///
    /// # Errors
    /// [`ElectorFailure`] if it does not start.
    pub fn start(&self) -> Result<Box<dyn Elector>, ElectorFailure> {
        Ok(match &self.kind {
            ElectorKind::Own(knowledge) => {
                Box::new(OwnElector::new(self.name.clone(), *knowledge, self.hash, self.threads))
            }
            ElectorKind::Uci(program) => {
                Box::new(UciElector::start(self.name.clone(), program, self.hash, self.threads)?)
            }
            ElectorKind::Trivial => Box::new(TrivialElector::new(self.name.clone())),
        })
    }
}
