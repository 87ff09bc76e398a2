//! The start of an elector of any kind.

use super::{
    cecp::CecpElector,
    elector::{Elector, ElectorFailure},
    own::OwnElector,
    positions::PositionsElector,
    program::EngineProtocol,
    prover::ProverElector,
    spec::{ElectorKind, ElectorSpec},
    trivial::TrivialElector,
    uci::UciElector,
};
use domain::Variant;
use engine::SharedTable;

impl ElectorSpec {
    /// Starts it, on the thread that will run it. Games are played through [`Pool::slot`](super::Pool::slot), which also
    /// watches over it; this is for work that may wait for its elector.
    pub fn start(&self) -> Result<Box<dyn Elector>, ElectorFailure> {
        self.start_with(None)
    }

    /// Starts the elector with a table shared with others.
    ///
    /// # Errors
    /// [`ElectorFailure`] also if the table is not one of its evaluation.
    pub(crate) fn start_with(&self, table: Option<&SharedTable>) -> Result<Box<dyn Elector>, ElectorFailure> {
        Ok(match &self.kind {
            ElectorKind::Own(instance) => {
                let options = instance.options(self.hash, self.threads);
                Box::new(OwnElector::new(self.name.clone(), options, table)?)
            }
            ElectorKind::Engine(program) => match program.protocol {
                EngineProtocol::Uci => {
                    Box::new(UciElector::start(self.name.clone(), program, self.hash, self.threads)?)
                }
                EngineProtocol::Cecp => {
                    Box::new(CecpElector::start(self.name.clone(), program, self.hash, self.threads)?)
                }
                EngineProtocol::Positions => Box::new(PositionsElector::start(self.name.clone(), program)?),
            },
            ElectorKind::Prover => Box::new(ProverElector::new(self.name.clone(), self.hash)),
            ElectorKind::Trivial => Box::new(TrivialElector::new(self.name.clone())),
            ElectorKind::Made(maker) => maker.make(self)?,
        })
    }
}

/// Returns the variants that an elector can play. An external engine is started for this, and ended
/// again, which may take seconds.
pub fn variants_of(spec: &ElectorSpec) -> Result<Vec<Variant>, ElectorFailure> {
    match &spec.kind {
        ElectorKind::Own(_) | ElectorKind::Prover => {
            Ok(Variant::ALL.into_iter().filter(|variant| variant.is_standard_rules()).collect())
        }
        ElectorKind::Trivial | ElectorKind::Made(_) => Ok(Variant::ALL.to_vec()),
        ElectorKind::Engine(program) => match program.protocol {
            EngineProtocol::Uci => {
                Ok(UciElector::start(spec.name.clone(), program, spec.hash, spec.threads)?.variants())
            }
            EngineProtocol::Cecp => {
                Ok(CecpElector::start(spec.name.clone(), program, spec.hash, spec.threads)?.variants())
            }
            // It is told which rules it plays by, and says no word about itself.
            EngineProtocol::Positions => {
                PositionsElector::start(spec.name.clone(), program)?;
                Ok(Variant::ALL.to_vec())
            }
        },
    }
}
