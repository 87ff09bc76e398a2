//! Set-up of the tests: a NATS server with keys, workers, and a daemon with a council.

// No target uses all of it.
#![allow(dead_code)]

use std::{fs, path::PathBuf};

use async_nats::ConnectOptions;
use concilio_cluster::{ClusterSettings, MemberKind, Members, WorkerSettings, lend};
use tempfile::TempDir;
use testkit::nats::Nats;
use tokio_util::sync::DropGuard;
use util::Shutdown;

use super::log::Log;

/// A cluster with keys: a daemon, and these workers.
pub(crate) struct Keyed {
    pub(crate) nats: Nats,
    pub(crate) members: Members,
    folder: TempDir,
    pub(crate) log: Log,
}

impl Keyed {
    pub(crate) fn with(workers: &[&str]) -> Self {
        let log = Log::of_all();
        let folder = tempfile::tempdir().expect("a folder");
        let mut members = Members::open(folder.path()).expect("an empty folder");
        members.add(MemberKind::Daemon, "daemon").expect("a key");
        for name in workers {
            members.add(MemberKind::Worker, name).expect("a key");
        }
        let nats = Nats::start_with(Some(configuration(&members)));
        Self { nats, members, folder, log }
    }

    /// Lets the server read the changed members.
    pub(crate) fn reload(&mut self) {
        self.nats.reads_again(configuration(&self.members));
    }

    pub(crate) fn key(&self, name: &str) -> PathBuf {
        self.folder.path().join(format!("{name}.nk"))
    }

    pub(crate) fn settings(&self, name: &str) -> ClusterSettings {
        ClusterSettings { nkey_file: self.key(name), ..settings(&self.nats, name) }
    }

    pub(crate) fn login(&self, name: &str) -> ConnectOptions {
        let seed = fs::read_to_string(self.key(name)).expect("a key").trim().to_owned();
        ConnectOptions::with_nkey(seed)
    }

    /// Starts a worker of ours for these daemons, until the guard is dropped.
    pub(crate) fn lends_to(&self, daemons: &[&str], name: &str) -> DropGuard {
        let daemons = daemons.iter().map(|name| (*name).to_owned()).collect();
        lends(worker(ClusterSettings { daemons, ..self.settings(name) }))
    }
}

fn configuration(members: &Members) -> String {
    format!("authorization {{\n{}\n}}", members.configuration())
}

pub(crate) fn settings(nats: &Nats, name: &str) -> ClusterSettings {
    ClusterSettings { nats: nats.url(), name: name.to_owned(), ..ClusterSettings::default() }
}

pub(crate) fn worker(cluster: ClusterSettings) -> WorkerSettings {
    WorkerSettings { cluster, cores: 2, memory: 64, engines: Default::default(), health: None }
}

pub(crate) fn lends(settings: WorkerSettings) -> DropGuard {
    let shutdown = Shutdown::default();
    let guard = shutdown.now.clone().drop_guard();
    tokio::spawn(lend(settings, shutdown));
    guard
}
