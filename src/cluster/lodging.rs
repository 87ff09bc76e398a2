//! Where an elector of this daemon searches when it searches elsewhere: its seat on one worker or another.

use tokio::sync::mpsc::UnboundedSender;

use super::{
    daemon::{Cluster, Dispatch},
    identity::RunId,
    wire::{Elector, Order},
};
use council::pool::{Home, Job, Lodging, Report};

/// An elector's seat, which moves with the worker that has room for it.
#[derive(Debug)]
pub(super) struct Room {
    cluster: Cluster,
    seat: u32,
    elector: Elector,
    threads: usize,
    /// Who has its table.
    worker: Option<RunId>,
    current: Option<u64>,
}

impl Room {
    pub fn new(cluster: Cluster, seat: u32, elector: Elector, threads: usize) -> Self {
        Self { cluster, seat, elector, threads, worker: None, current: None }
    }

    fn leave(&mut self) {
        if let Some(worker) = self.worker.take() {
            self.cluster.tell(worker, &Order::Leave(self.seat));
        }
    }
}

impl Lodging for Room {
    fn search(&mut self, job: &Job, reports: &UnboundedSender<Report>, home: Home) -> bool {
        self.stop();
        let Self { cluster, seat, elector, threads, worker, .. } = self;
        let dispatch = Dispatch { job, reports, home, seat: *seat, elector, threads: *threads, before: *worker };
        let Some(placed) = cluster.dispatch(dispatch) else { return false };
        if self.worker != Some(placed) {
            self.leave();
            self.worker = Some(placed);
        }
        self.current = Some(job.task.id.serial);
        true
    }

    fn stop(&mut self) {
        if let Some(serial) = self.current.take() {
            self.cluster.stop(serial);
        }
    }

    fn new_game(&self) {
        if let Some(worker) = self.worker {
            self.cluster.tell(worker, &Order::NewGame(self.seat));
        }
    }
}

impl Drop for Room {
    fn drop(&mut self) {
        self.stop();
        self.leave();
    }
}
