//! The memory for this process's tables: a container's limit kills a process that exceeds it, in
//! mid-game.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
};

use engine::{EngineOptions, SharedTable};

const MEBIBYTE: u64 = 1 << 20;
/// The memory beside the tables, MiB: threads' stacks, the journal, the engines' working memory.
const BESIDE_TABLES: u64 = 96;
/// Larger numbers mean no limit: the kernel then writes a number near the largest.
const NO_LIMIT: u64 = 1 << 60;

#[derive(Debug)]
pub(super) struct TableMemory {
    /// MiB; `None` without a limit.
    limit: Option<usize>,
    taken: AtomicUsize,
}

impl TableMemory {
    pub(super) fn new(limit: Option<usize>) -> Self {
        Self { limit, taken: AtomicUsize::new(0) }
    }

    /// Claims `wanted` MiB, or half of the rest if that is less: there is always something for the
    /// next game.
    pub(super) fn claim(self: &Arc<Self>, wanted: usize) -> MemoryClaim {
        let granted =
            |taken: usize| self.limit.map_or(wanted, |limit| wanted.min(limit.saturating_sub(taken).div_ceil(2)));
        let before = self.taken.fetch_update(Relaxed, Relaxed, |taken| Some(taken.saturating_add(granted(taken))));
        let granted = granted(before.unwrap_or_else(|taken| taken));
        MemoryClaim { memory: Arc::clone(self), granted }
    }
}

/// Memory for tables that is taken until this is dropped.
#[derive(Debug)]
pub(crate) struct MemoryClaim {
    memory: Arc<TableMemory>,
    pub granted: usize,
}

impl Drop for MemoryClaim {
    fn drop(&mut self) {
        self.memory.taken.fetch_sub(self.granted, Relaxed);
    }
}

/// The shared table of the last background search, kept for the next one.
#[derive(Debug, Default)]
pub(super) struct BackgroundTable(Mutex<Option<(SharedTable, MemoryClaim)>>);

impl BackgroundTable {
    /// Returns an empty table, in the kept memory unless another search still uses it.
    pub(super) fn table(&self, memory: &Arc<TableMemory>, options: &EngineOptions) -> SharedTable {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((table, _)) = &mut *kept {
            if let Some(renewed) = table.renewed(options) {
                return renewed;
            }
            if !table.is_unused() {
                return SharedTable::new(options);
            }
        }
        // A table of another size or evaluation gives its memory back first.
        *kept = None;
        let (table, claim) = (SharedTable::new(options), memory.claim(options.hash));
        if claim.granted == options.hash {
            *kept = Some((table.clone(), claim));
        }
        table
    }
}

/// Returns the MiB for the tables of this process by the limit of its control group, at least 1;
/// `None` without a limit.
pub fn memory_for_tables() -> Option<usize> {
    limit(&|path: &Path| fs::read_to_string(path).ok()).map(beside)
}

/// Returns the part of a limit in bytes that is left for tables, in MiB, at least 1.
fn beside(limit: u64) -> usize {
    usize::try_from((limit / MEBIBYTE).saturating_sub(BESIDE_TABLES).max(1)).unwrap_or(usize::MAX)
}

/// The limit of the control group that this process is in, in bytes: the least of its own and of those around it, in the
/// unified hierarchy (`memory.max`) or in the older one (`memory.limit_in_bytes`). `read` reads a file of the system.
fn limit(read: &dyn Fn(&Path) -> Option<String>) -> Option<u64> {
    let groups = read(Path::new("/proc/self/cgroup"))?;
    // Each line is `number:controllers:path`; the unified hierarchy has number 0 and names no
    // controllers.
    let limits = groups.lines().filter_map(|line| {
        let mut fields = line.splitn(3, ':');
        let (number, controllers, path) = (fields.next()?, fields.next()?, fields.next()?);
        if number == "0" && controllers.is_empty() {
            least(read, Path::new("/sys/fs/cgroup"), path, "memory.max")
        } else if controllers.split(',').any(|controller| controller == "memory") {
            least(read, Path::new("/sys/fs/cgroup/memory"), path, "memory.limit_in_bytes")
        } else {
            None
        }
    });
    limits.min()
}

/// The least limit of a group and of all groups around it. In a container the group's own path may not be visible; what is
/// mounted at the root is its limit then.
fn least(read: &dyn Fn(&Path) -> Option<String>, root: &Path, group: &str, file: &str) -> Option<u64> {
    let group: PathBuf = root.join(group.trim_start_matches('/'));
    let around = group.ancestors().take_while(|path| path.starts_with(root));
    let limits = around.filter_map(|path| read(&path.join(file))?.trim().parse::<u64>().ok());
    limits.filter(|limit| *limit < NO_LIMIT).min()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(files: &[(&str, &str)]) -> Option<u64> {
        limit(&|path| files.iter().find(|(name, _)| Path::new(name) == path).map(|(_, text)| (*text).to_owned()))
    }

    #[test]
    fn container_limit_is_found() {
        let files = [("/proc/self/cgroup", "0::/\n"), ("/sys/fs/cgroup/memory.max", "268435456\n")];
        assert_eq!(shown(&files), Some(256 << 20));
    }

    #[test]
    fn tightest_nested_group_counts() {
        let files = [
            ("/proc/self/cgroup", "0::/system.slice/concilio.service\n"),
            ("/sys/fs/cgroup/system.slice/memory.max", "1000000000\n"),
            ("/sys/fs/cgroup/system.slice/concilio.service/memory.max", "max\n"),
        ];
        assert_eq!(shown(&files), Some(1_000_000_000));
    }

    #[test]
    fn cgroup_v1_is_understood() {
        let files = [
            ("/proc/self/cgroup", "5:cpu,cpuacct:/a\n4:memory:/docker/7f\n"),
            ("/sys/fs/cgroup/memory/docker/7f/memory.limit_in_bytes", "536870912\n"),
            ("/sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n"),
        ];
        assert_eq!(shown(&files), Some(512 << 20));
    }

    #[test]
    fn without_a_limit_there_is_none() {
        assert_eq!(shown(&[]), None);
        assert_eq!(shown(&[("/proc/self/cgroup", "0::/x\n"), ("/sys/fs/cgroup/x/memory.max", "max")]), None);
    }

    #[test]
    fn background_searches_share_one_table() {
        let (kept, memory) = (BackgroundTable::default(), Arc::new(TableMemory::new(Some(8))));
        let options = |hash| EngineOptions { hash, ..EngineOptions::default() };
        let first = kept.table(&memory, &options(1));
        assert!(!first.is_unused(), "it is kept");
        let kept_number = || kept.0.lock().expect("no panic").as_ref().map(|(table, _)| table.number());
        let number = Some(first.number());
        let beside = kept.table(&memory, &options(1));
        assert!(beside.is_unused() && beside.number() != first.number(), "another search beside it has its own");
        drop(first);
        let next = kept.table(&memory, &options(1));
        assert!(!next.is_unused() && next.number() > beside.number());
        assert_eq!(kept_number(), number, "the memory of the first");
        drop(next);
        assert!(kept.table(&memory, &options(9)).is_unused(), "more than the limit allows is not kept");
        assert_eq!(memory.claim(2).granted, 2, "the small table has given its memory back");
    }

    #[test]
    fn memory_remains_for_the_next_game() {
        let memory = Arc::new(TableMemory::new(Some(100)));
        let claims: Vec<MemoryClaim> = (0..4).map(|_| memory.claim(40)).collect();
        assert_eq!(claims.iter().map(|claim| claim.granted).collect::<Vec<_>>(), [40, 30, 15, 8]);
        drop(claims);
        assert_eq!(memory.claim(40).granted, 40);
        assert_eq!(Arc::new(TableMemory::new(None)).claim(40_000).granted, 40_000);
    }

    #[test]
    fn tables_always_get_memory() {
        assert_eq!(beside(256 << 20), 160);
        assert_eq!(beside(64 << 20), 1);
    }
}
