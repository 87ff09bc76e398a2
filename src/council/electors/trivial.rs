//! An elector without knowledge: the yardstick for everything around a search.

use std::sync::atomic::AtomicBool;

use super::{Elector, ElectorFailure, Task};
use domain::{ElectorName, Proposal, Score};

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
        task: &Task,
        _stop: &AtomicBool,
        report: &mut dyn FnMut(Proposal),
    ) -> Result<(), ElectorFailure> {
        let first = task.root_moves.first().copied().or_else(|| task.line.legal_moves().first().copied());
        let best = first.ok_or_else(|| ElectorFailure("there is no legal move".to_owned()))?;
        report(Proposal::of_one_ply(task.id.clone(), self.name.clone(), best, Score::Cp(0)));
        Ok(())
    }
}
