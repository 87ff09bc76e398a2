//! The start of an elector of any kind.

use std::sync::atomic::AtomicBool;

use super::{
    cecp::{CecpElector, CecpEngine},
    elector::{Elector, ElectorFailure, ElectorResult},
    own::OwnElector,
    positions::PositionsElector,
    program::EngineProtocol,
    prover::ProverElector,
    spec::{ElectorKind, ElectorSpec},
    task::Task,
    uci::UciElector,
};
use domain::{ElectorName, Proposal, Score, Variant};
use engine::SharedTable;

impl ElectorSpec {
    /// Starts it, on the thread that will run it. Games are played through [`Pool::slot`](super::Pool::slot), which also
    /// watches over it; this is for work that may wait for its elector.
    pub fn start(&self) -> ElectorResult<Box<dyn Elector>> {
        self.start_with(None)
    }

    /// Starts the elector with a table shared with others.
    ///
    /// # Errors
    /// [`ElectorFailure`] also if the table is not one of its evaluation.
    pub(crate) fn start_with(&self, table: Option<&SharedTable>) -> ElectorResult<Box<dyn Elector>> {
        Ok(match &self.kind {
            ElectorKind::Own(instance) => {
                let options = instance.options(self.hash, self.threads);
                Box::new(OwnElector::new(self.name.clone(), options, table)?)
            }
            ElectorKind::Engine(program) => match program.protocol {
                EngineProtocol::Uci => Box::new(UciElector::start(self, program)?),
                EngineProtocol::Cecp => Box::new(CecpElector::start(self, program)?),
                EngineProtocol::Positions => Box::new(PositionsElector::start(self.name.clone(), program)?),
            },
            ElectorKind::Prover => Box::new(ProverElector::new(self.name.clone(), self.hash)),
            ElectorKind::Trivial => Box::new(TrivialElector(self.name.clone())),
            ElectorKind::Made(maker) => maker.make(self)?,
        })
    }
}

/// Returns the variants that an elector can play. An external engine is started for this, and ended
/// again, which may take seconds.
pub fn variants_of(spec: &ElectorSpec) -> ElectorResult<Vec<Variant>> {
    let ElectorKind::Engine(program) = &spec.kind else {
        return Ok(Variant::ALL.into_iter().filter(|variant| spec.may_play(*variant)).collect());
    };
    match program.protocol {
        EngineProtocol::Uci => Ok(UciElector::start(spec, program)?.variants()),
        EngineProtocol::Cecp => Ok(CecpEngine::start(program, spec.hash, spec.threads)?.variants()),
        // It is told which rules it plays by, and says no word about itself.
        EngineProtocol::Positions => {
            PositionsElector::start(spec.name.clone(), program)?;
            Ok(Variant::ALL.to_vec())
        }
    }
}

/// An elector without knowledge: the yardstick for everything around a search.
struct TrivialElector(ElectorName);

impl Elector for TrivialElector {
    fn search(&mut self, task: &Task, _stop: &AtomicBool, report: &mut dyn FnMut(Proposal)) -> ElectorResult {
        let first = task.root_moves.first().copied().or_else(|| task.line.legal_moves().first().copied());
        let best = first.ok_or_else(|| ElectorFailure("there is no legal move".to_owned()))?;
        report(Proposal::of_one_ply(task.id.clone(), self.0.clone(), best, Score::Cp(0)));
        Ok(())
    }
}
