//! Games of the engine against itself, written as shards of labelled positions.
//!
//! A game depends on the plan and its number only, and a shard is a fixed range of games: so a folder that was left
//! unfinished is filled further by the same call, with any number of threads, and the same plan makes the same files. A
//! process that is ended at any time loses what it had of the shards it was at and nothing else.

mod game;

use std::{
    fs, io,
    num::NonZeroUsize,
    path::{Path, PathBuf},
    sync::{Mutex, atomic::AtomicBool},
};

use crate::training::{Record, Shard, ShardError, shared_work::share};
use game::SelfPlayer;

#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// Nodes of every search.
    pub nodes: u64,
    pub seed: u64,
    /// The share of quiet positions to keep, 0 to 1: neighbours are much alike.
    pub keep: f64,
    /// Games of one file; at least 1. Some thousand positions a second and thread make 512 games a matter of seconds.
    pub games_per_shard: u32,
}

impl Default for Plan {
    fn default() -> Self {
        Self { nodes: 200, seed: 1, keep: 1.0, games_per_shard: 512 }
    }
}

impl Plan {
    /// Returns a description of everything that the positions depend on.
    pub fn description(&self) -> String {
        let Self { nodes, seed, keep, games_per_shard } = self;
        format!(
            "own games of concilio {}-{} with the eight heuristics, {nodes} nodes a move, {keep} of the quiet positions, \
             seed {seed}, {games_per_shard} games a shard; own: score of that search; result: of the game",
            env!("CARGO_PKG_VERSION"),
            engine::short_bench().nodes
        )
    }

    fn path(&self, folder: &Path, number: u64) -> PathBuf {
        folder.join(format!("selfplay-{}-{number:06}.shard", self.seed))
    }

    /// Returns the positions of one shard; `None` if stopped.
    fn shard(&self, player: &mut SelfPlayer, number: u64, stop: &AtomicBool) -> Option<Shard> {
        let games = u64::from(self.games_per_shard.max(1));
        let mut records: Vec<Record> = Vec::new();
        for game in number * games..(number + 1) * games {
            records.extend(player.play(self, game, stop)?);
        }
        Some(Shard { description: self.description(), records })
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SelfPlayProgress {
    /// Shards that are written, with those of earlier calls.
    pub shards: u64,
    pub positions: u64,
}

#[derive(Debug, thiserror::Error)]
pub enum SelfplayError {
    #[error(transparent)]
    Shard(#[from] ShardError),
    #[error("{path}: {error}")]
    Folder { path: PathBuf, error: io::Error },
    /// A file of this name holds the games of another plan.
    #[error("{0}: made by another plan, or by another engine; use another seed or folder")]
    OtherPlan(PathBuf),
}

/// Fills `folder` with the shards 0 to `shards - 1` of a plan; those that are there are left as they are. Stops at the next
/// search when `stop` is set. `progress` is called after every shard, from the thread that wrote or found it.
pub fn generate(
    plan: &Plan,
    folder: &Path,
    shards: u64,
    threads: NonZeroUsize,
    stop: &AtomicBool,
    progress: impl Fn(&SelfPlayProgress) + Sync,
) -> Result<(), SelfplayError> {
    fs::create_dir_all(folder).map_err(|error| SelfplayError::Folder { path: folder.to_owned(), error })?;
    let done = Mutex::new(SelfPlayProgress::default());
    let tell = |shard: &Shard| {
        if let Ok(mut done) = done.lock() {
            done.shards += 1;
            done.positions += shard.records.len() as u64;
            progress(&done);
        }
    };
    let player = || Ok(SelfPlayer::new(plan));
    share(shards, threads, stop, player, |player, number| {
        let path = plan.path(folder, number);
        if path.exists() {
            let shard = Shard::read(&path)?;
            if shard.description != plan.description() {
                return Err(SelfplayError::OtherPlan(path));
            }
            tell(&shard);
        } else if let Some(shard) = plan.shard(player, number, stop) {
            shard.write(&path)?;
            tell(&shard);
        }
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan() -> Plan {
        Plan { nodes: 30, games_per_shard: 2, ..Plan::default() }
    }

    fn fill(plan: &Plan, folder: &Path, shards: u64, threads: usize) -> Result<(), SelfplayError> {
        let threads = NonZeroUsize::new(threads).expect("at least one");
        generate(plan, folder, shards, threads, &AtomicBool::new(false), |_| {})
    }

    fn contents(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
        let files = fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path());
        let mut contents: Vec<_> =
            files.map(|path| (path.file_name().expect("a file").into(), fs::read(&path).expect("readable"))).collect();
        contents.sort();
        contents
    }

    #[test]
    fn unfinished_folder_is_completed() {
        let (whole, parts) = (tempfile::tempdir().expect("a folder"), tempfile::tempdir().expect("a folder"));
        fill(&plan(), whole.path(), 3, 1).expect("a writable folder");
        fill(&plan(), parts.path(), 1, 1).expect("a writable folder");
        fs::write(parts.path().join("selfplay-1-000001.unfinished"), "half").expect("writable");
        fill(&plan(), parts.path(), 3, 2).expect("a writable folder");
        assert_eq!(contents(parts.path()), contents(whole.path()));
    }

    #[test]
    fn records_say_what_the_games_were() {
        let folder = tempfile::tempdir().expect("a folder");
        fill(&plan(), folder.path(), 2, 1).expect("a writable folder");
        let read = |number| Shard::read(&plan().path(folder.path(), number)).expect("a shard").records;
        let records = [read(0), read(1)].concat();
        assert!(
            records.iter().all(|record| record.own.is_some() && record.result.is_some() && record.teacher.is_none())
        );
        assert!(records.iter().all(|record| !record.board().expect("legal").in_check()));
        let mut games: Vec<_> = records.iter().map(|record| record.game).collect();
        games.dedup();
        assert_eq!(games.len(), 4, "four games, one after the other");
    }

    #[test]
    fn games_of_another_plan_are_refused() {
        let folder = tempfile::tempdir().expect("a folder");
        fill(&plan(), folder.path(), 1, 1).expect("a writable folder");
        let other = Plan { nodes: 31, ..plan() };
        let error = fill(&other, folder.path(), 1, 1).expect_err("another plan").to_string();
        assert!(error.contains("another plan"), "{error}");
    }

    #[test]
    fn engines_of_one_version_differ() {
        let description = plan().description();
        let signature = engine::short_bench().nodes;
        assert!(description.contains(&format!("-{signature} with")), "{description}");
    }

    #[test]
    fn stop_leaves_whole_shards() {
        let folder = tempfile::tempdir().expect("a folder");
        let stop = AtomicBool::new(true);
        generate(&plan(), folder.path(), 5, NonZeroUsize::MIN, &stop, |_| {}).expect("a writable folder");
        assert_eq!(contents(folder.path()), []);
    }
}
