//! One search of all proposed moves: on one core (`sequential`, the theses' base version) or on all of them (`shared`).

use super::{Mode, Order, Stage};
use crate::pool::Report;
use chess::Proposal;

/// One process searches them all.
#[derive(Default)]
pub struct Whole {
    newest: Option<Proposal>,
}

impl Mode for Whole {
    fn begin(&mut self, stage: &Stage) -> Vec<Order> {
        vec![stage.order(0, stage.candidates.clone())]
    }

    fn hear(&mut self, _: &Stage, _: usize, report: &Report) -> Vec<Order> {
        if let Report::Proposal(proposal) = report {
            self.newest = Some(proposal.clone());
        }
        Vec::new()
    }

    fn found(&self) -> Option<&Proposal> {
        self.newest.as_ref()
    }
}
