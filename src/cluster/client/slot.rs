//! The pool's side of an elector that searches on workers: requests a worker for each search.

use super::ClusterClient;
use crate::{
    identity::RunId,
    wire::{RemoteElector, WorkerCommand},
};
use council::electors::{Fallback, RemoteSlot, Reports, Task};

/// Slot of an elector in the cluster; each search may go to another worker.
#[derive(Debug)]
pub(super) struct ClusterSlot {
    client: ClusterClient,
    /// Number by which workers know it.
    pub number: u32,
    pub elector: RemoteElector,
    pub threads: usize,
    /// The worker that has its table.
    pub worker: Option<RunId>,
    /// The serial number of the search that was taken last.
    current: Option<u64>,
}

impl ClusterSlot {
    pub(super) fn new(client: ClusterClient, number: u32, elector: RemoteElector, threads: usize) -> Self {
        Self { client, number, elector, threads, worker: None, current: None }
    }

    fn leave(&mut self) {
        if let Some(worker) = self.worker.take() {
            self.client.command(worker, &WorkerCommand::Leave(self.number));
        }
    }
}

impl RemoteSlot for ClusterSlot {
    fn search(&mut self, task: &Task, reports: &Reports, fallback: Fallback) -> bool {
        self.stop();
        let Some(placed) = self.client.dispatch(self, task, reports, fallback) else { return false };
        if self.worker != Some(placed) {
            self.leave();
            self.worker = Some(placed);
        }
        self.current = Some(task.id.serial);
        true
    }

    fn stop(&mut self) {
        if let Some(serial) = self.current.take() {
            self.client.stop(serial);
        }
    }

    fn new_game(&self) {
        if let Some(worker) = self.worker {
            self.client.command(worker, &WorkerCommand::NewGame(self.number));
        }
    }
}

impl Drop for ClusterSlot {
    fn drop(&mut self) {
        self.stop();
        self.leave();
        if let Some(table) = self.elector.table {
            self.client.known().table_sync.close(table);
        }
    }
}
