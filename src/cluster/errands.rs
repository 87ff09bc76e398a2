//! The searches of this daemon that run elsewhere, and what becomes of each word about them.
//!
//! Invariants: a search ends exactly once, by a report or by going home; nobody but the worker that was asked is believed; a
//! word about anything that is not wanted any more is dropped.

use std::collections::BTreeMap;

use tokio::sync::mpsc::UnboundedSender;

use super::{
    identity::RunId,
    wire::{Says, Searching, Word, checked::Nonsense},
};
use crate::{
    chess::{ElectorName, MachineName},
    pool::{Home, Job, Report},
};

/// A search that was sent out.
#[derive(Debug)]
pub struct Errand {
    /// To whom.
    pub worker: RunId,
    /// What it is called.
    pub machine: MachineName,
    /// On how many threads.
    pub threads: usize,
    /// By whom.
    pub elector: ElectorName,
    /// What was asked.
    pub job: Job,
    /// Who waits for it.
    pub reports: UnboundedSender<Report>,
    /// Where it goes if it is lost.
    pub home: Home,
    /// Whether it has proposed.
    pub heard: bool,
}

impl Errand {
    fn report(&self, report: Report) {
        let _ = self.reports.send(report);
    }

    /// It ends as if it had been told to.
    fn finish(self) {
        self.report(Report::Finished(self.job.task.id.clone(), self.elector.clone()));
    }

    fn fail(self, why: String) {
        self.report(Report::Failed(self.job.task.id.clone(), self.elector.clone(), why));
    }

    /// It is lost. What it proposed stands; if it proposed nothing, it begins anew at home.
    pub fn lose(self, why: &str) {
        if self.heard {
            let why = format!("{} {why}; what it proposed stands", self.machine);
            self.fail(why);
        } else {
            self.home.take_back(self.job, &self.reports);
        }
    }
}

/// What is to be done about a word.
#[derive(Debug)]
pub enum Outcome {
    /// Nothing: it is stale, or was passed on.
    Nothing,
    /// A search has ended well.
    Worked,
    /// The elector failed there.
    Failed,
    /// The worker cannot have it.
    GivenBack(Box<Errand>),
    /// The worker said what cannot be: the search is taken from it.
    Lied(Box<Errand>, Nonsense),
}

/// All of them, by the serial numbers of the searches.
#[derive(Debug, Default)]
pub struct Errands(BTreeMap<u64, Errand>);

impl Errands {
    /// One more.
    pub fn add(&mut self, errand: Errand) {
        self.0.insert(errand.job.task.id.serial, errand);
    }

    /// A search is not wanted any more: its last proposal stands. Says where it ran.
    pub fn stop(&mut self, serial: u64) -> Option<RunId> {
        let errand = self.0.remove(&serial)?;
        let worker = errand.worker;
        errand.finish();
        Some(worker)
    }

    /// A worker has said something.
    pub fn hear(&mut self, from: RunId, word: Word) -> Outcome {
        let serial = word.search.serial;
        let known = self.0.get_mut(&serial);
        let asked = known.filter(|errand| {
            errand.worker == from && errand.job.task.id == word.search && errand.elector == word.elector
        });
        let Some(errand) = asked else { return Outcome::Nothing };
        match word.says {
            Says::Proposal(text) => match text.proposal(&errand.job.task, &errand.elector, &errand.machine) {
                Ok(proposal) => {
                    errand.heard = true;
                    errand.job.meter.count(proposal.nodes);
                    errand.report(Report::Proposal(proposal));
                    Outcome::Nothing
                }
                Err(nonsense) => self.end(serial, |errand| Outcome::Lied(Box::new(errand), nonsense)),
            },
            Says::Finished(nodes) => {
                errand.job.meter.count(nodes.min(1 << 50));
                self.end(serial, |errand| {
                    errand.finish();
                    Outcome::Worked
                })
            }
            Says::Failed(why) => self.end(serial, |errand| {
                let why = format!("on {}: {}", errand.machine, why.chars().take(200).collect::<String>());
                errand.fail(why);
                Outcome::Failed
            }),
            Says::GivenBack => self.end(serial, |errand| Outcome::GivenBack(Box::new(errand))),
        }
    }

    fn end(&mut self, serial: u64, how: impl FnOnce(Errand) -> Outcome) -> Outcome {
        self.0.remove(&serial).map_or(Outcome::Nothing, how)
    }

    /// What a worker says of the nodes of its searches.
    pub fn count(&self, from: RunId, searches: &[Searching]) {
        for search in searches {
            let known = self.0.get(&search.search.serial);
            if let Some(errand) = known.filter(|errand| errand.worker == from && errand.job.task.id == search.search) {
                errand.job.meter.count(search.nodes.min(1 << 50));
            }
        }
    }

    /// All that ran on a worker that is gone.
    pub fn lost(&mut self, worker: RunId) -> Vec<Errand> {
        let serials: Vec<u64> = self.0.iter().filter(|(_, e)| e.worker == worker).map(|(serial, _)| *serial).collect();
        serials.into_iter().filter_map(|serial| self.0.remove(&serial)).collect()
    }

    /// Threads that search on a worker.
    pub fn threads_on(&self, worker: RunId) -> usize {
        self.0.values().filter(|errand| errand.worker == worker).map(|errand| errand.threads).sum()
    }

    /// The serial numbers of all that are wanted.
    pub fn serials(&self) -> Vec<u64> {
        self.0.keys().copied().collect()
    }
}
