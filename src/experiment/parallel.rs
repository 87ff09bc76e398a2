//! Parts of a long piece of work, several at once.

use std::{
    num::NonZeroUsize,
    sync::{
        atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed},
        mpsc,
    },
    thread,
};

/// Does `parts` on `workers` threads, each with what `begin` made for it, until all are done, one has
/// failed or `halted`. `each` takes the outcomes on the caller's thread, in order of completion; no
/// worker begins a part before its last one was taken.
///
/// # Errors
/// The first of a part or of `each`.
pub fn in_parallel<P: Sync, W, T: Send, E: Send>(
    parts: &[P],
    workers: NonZeroUsize,
    halted: impl Fn() -> bool + Sync,
    begin: impl Fn() -> W + Sync,
    one: impl Fn(&mut W, &P) -> Result<T, E> + Sync,
    mut each: impl FnMut(&P, T) -> Result<(), E>,
) -> Result<(), E> {
    let (next, broken) = (AtomicUsize::new(0), AtomicBool::new(false));
    thread::scope(|scope| {
        // The channel holds nothing, so that a worker waits until its outcome is taken.
        let (sender, outcomes) = mpsc::sync_channel(0);
        for _ in 0..workers.get().min(parts.len()) {
            let (sender, next, broken, halted, begin, one) = (sender.clone(), &next, &broken, &halted, &begin, &one);
            scope.spawn(move || {
                let mut worker = begin();
                let goes_on = |_: &&P| !halted() && !broken.load(Relaxed);
                while let Some(part) = parts.get(next.fetch_add(1, Relaxed)).filter(goes_on) {
                    if sender.send((part, one(&mut worker, part))).is_err() {
                        break;
                    }
                }
            });
        }
        drop(sender);
        for (part, outcome) in outcomes {
            let taken = outcome.and_then(|outcome| each(part, outcome));
            if taken.is_err() {
                broken.store(true, Relaxed);
                return taken;
            }
        }
        Ok(())
    })
}
