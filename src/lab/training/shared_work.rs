//! Numbered pieces of work shared among threads, each with tools of its own.

use std::{
    num::NonZeroUsize,
    sync::{
        Mutex,
        atomic::{AtomicBool, AtomicU64, Ordering::Relaxed},
    },
    thread,
};

/// Does the pieces 0 to `pieces - 1`, each on whichever thread is free, with what `tools` made for that thread. No further piece
/// is begun once one has failed or `stop` is set.
pub(crate) fn share<T, E: Send>(
    pieces: u64,
    threads: NonZeroUsize,
    stop: &AtomicBool,
    tools: impl Fn() -> Result<T, E> + Sync,
    work: impl Fn(&mut T, u64) -> Result<(), E> + Sync,
) -> Result<(), E> {
    let (next, failed, failure) = (AtomicU64::new(0), AtomicBool::new(false), Mutex::new(None));
    let run = || -> Result<(), E> {
        let mut tools = tools()?;
        while !stop.load(Relaxed) && !failed.load(Relaxed) {
            let number = next.fetch_add(1, Relaxed);
            if number >= pieces {
                break;
            }
            work(&mut tools, number)?;
        }
        Ok(())
    };
    thread::scope(|scope| {
        for _ in 0..threads.get() {
            scope.spawn(|| {
                if let Err(error) = run() {
                    failed.store(true, Relaxed);
                    if let Ok(mut first) = failure.lock() {
                        first.get_or_insert(error);
                    }
                }
            });
        }
    });
    failure.into_inner().ok().flatten().map_or(Ok(()), Err)
}
