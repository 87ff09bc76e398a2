//! The elector that knows nothing: the yardstick for everything around a search.

use std::{sync::atomic::AtomicBool, time::Duration};

use super::{Elector, ElectorFailure, Job};
use chess::{Bound, ElectorName, Proposal, Score};

pub(super) struct TrivialElector {
    name: ElectorName,
}

impl TrivialElector {
    pub(super) fn new(name: ElectorName) -> Self {
        Self { name }
    }
}

impl Elector for TrivialElector {
    fn search(
        &mut self,
        Job { task, .. }: &Job,
        _stop: &AtomicBool,
        report: &mut dyn FnMut(Proposal),
    ) -> Result<(), ElectorFailure> {
        let first = task.root_moves.first().copied().or_else(|| task.line.legal_moves().first().copied());
        let best = first.ok_or_else(|| ElectorFailure("there is no legal move".to_owned()))?;
        report(Proposal {
            search: task.id.clone(),
            elector: self.name.clone(),
            machine: None,
            best,
            score: Score::Cp(0),
            bound: Bound::Exact,
            depth: 1,
            selective_depth: 1,
            root_moves_done: 0,
            nodes: 1,
            time: Duration::ZERO,
            pv: vec![best],
        });
        Ok(())
    }
}
