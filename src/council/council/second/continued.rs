//! The complete instance never stops: its table and its iterations are the second phase's beginning, and the proposals have
//! entered it as hints while they were made. Now the other cores join its search as helpers: they search the same position
//! over the same table, and their own results are not asked for (Lazy SMP).

use super::{Mode, Order, Stage};
use crate::pool::Report;
use chess::Proposal;

/// The first process is the one that never stops; the others help it.
pub struct Continued {
    newest: Option<Proposal>,
    over: bool,
}

impl Continued {
    /// With what it has proposed so far.
    pub fn new(newest: Option<Proposal>) -> Self {
        Self { newest, over: false }
    }
}

impl Mode for Continued {
    fn begin(&mut self, stage: &Stage) -> Vec<Order> {
        (1..stage.processes).map(|process| stage.order(process, Vec::new())).collect()
    }

    fn hear(&mut self, _: &Stage, process: usize, report: &Report) -> Vec<Order> {
        match report {
            Report::Proposal(proposal) if process == 0 => self.newest = Some(proposal.clone()),
            Report::Finished(..) | Report::Failed(..) if process == 0 => self.over = true,
            _ => {}
        }
        Vec::new()
    }

    fn found(&self) -> Option<&Proposal> {
        self.newest.as_ref()
    }

    fn is_over(&self) -> bool {
        self.over
    }
}
