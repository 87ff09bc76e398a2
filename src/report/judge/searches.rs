//! The searches of a judge, on several threads of low priority; verdicts are written in batches.

use std::{
    collections::HashSet,
    num::NonZeroUsize,
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed},
        mpsc,
    },
    thread,
    time::{Duration, Instant},
};

use bot::journal::JudgementRecord;
use council::electors::{Elector, ElectorFailure, ElectorSpec, Task};
use domain::{Bound, Limits, Line, Proposal};

use super::{JudgeSpec, Verdicts, position_key};
use util::Failure;

/// The interval of writing: an interruption loses no more.
const KEPT_EVERY: Duration = Duration::from_secs(1);

/// Maximum number of stored moves of a best line.
const LONGEST_LINE: usize = 8;

const NICENESS: i32 = 19;

/// Judges positions without a verdict on `threads` threads and keeps the verdicts. `progress`
/// receives the number of judged positions in `questions`. Ends early, with all verdicts so far
/// kept, when `stop` is set. Returns the number of searches.
pub fn judge_all(
    spec: &JudgeSpec,
    questions: Vec<Line>,
    verdicts: &Verdicts,
    threads: NonZeroUsize,
    stop: &AtomicBool,
    progress: &mut dyn FnMut(usize, usize),
) -> Result<usize, Failure> {
    let mut seen = HashSet::new();
    let mut open = Vec::new();
    for question in questions {
        if seen.insert(position_key(&question)) && verdicts.of(&question)?.is_none() {
            open.push(question);
        }
    }
    let total = seen.len();
    let known = total - open.len();
    progress(known, total);
    let (next, broken) = (AtomicUsize::new(0), AtomicBool::new(false));
    let mut found = 0;
    thread::scope(|scope| {
        let (sender, results) = mpsc::channel();
        for _ in 0..threads.get().min(open.len()) {
            let (sender, open, next, broken) = (sender.clone(), &open, &next, &broken);
            scope.spawn(move || {
                give_way();
                let mut searcher = JudgeSearcher::new(spec);
                while let Some(question) = open.get(next.fetch_add(1, Relaxed))
                    && !broken.load(Relaxed)
                    && !stop.load(Relaxed)
                {
                    // An interrupted search is no judgement.
                    let Some(judged) = searcher.judge(question, stop).transpose() else { break };
                    if sender.send(judged).is_err() {
                        break;
                    }
                }
            });
        }
        drop(sender);
        let kept = keep_all(&results, verdicts, |count| {
            found = count;
            progress(known + count, total);
        });
        broken.store(kept.is_err(), Relaxed);
        kept
    })?;
    Ok(found)
}

/// Writes judgements in batches as they come. Ends with the first error, after writing the earlier
/// ones.
fn keep_all(
    results: &mpsc::Receiver<Result<JudgementRecord, Failure>>,
    verdicts: &Verdicts,
    mut progress: impl FnMut(usize),
) -> Result<(), Failure> {
    let mut batch = Vec::new();
    let mut count = 0;
    let mut written = Instant::now();
    for judged in results {
        match judged {
            Ok(record) => batch.push(record),
            Err(error) => {
                verdicts.keep(&batch)?;
                return Err(error);
            }
        }
        count += 1;
        if written.elapsed() >= KEPT_EVERY {
            verdicts.keep(&batch)?;
            batch.clear();
            written = Instant::now();
            progress(count);
        }
    }
    verdicts.keep(&batch)?;
    progress(count);
    Ok(())
}

/// One engine of a judge, started at its first use and again after it dies.
struct JudgeSearcher<'a> {
    spec: &'a JudgeSpec,
    elector: ElectorSpec,
    running: Option<Box<dyn Elector>>,
}

impl<'a> JudgeSearcher<'a> {
    fn new(spec: &'a JudgeSpec) -> Self {
        Self { spec, elector: spec.elector(), running: None }
    }

    /// Judges a position; `None` if `stop` cut it short. A dead engine is started once more.
    fn judge(&mut self, question: &Line, stop: &AtomicBool) -> Result<Option<JudgementRecord>, Failure> {
        let searched = self.search(question, stop).or_else(|_| {
            self.running = None;
            self.search(question, stop)
        });
        let proposal = searched.map_err(|failure| {
            let engine = self.spec.engine.as_ref().map_or(Path::new("concilio"), |program| &program.path);
            Failure::failed(format_args!("judge {}: {failure} (in {})", engine.display(), question.fen()))
        })?;
        if stop.load(Relaxed) {
            return Ok(None);
        }
        let Proposal { score, depth, nodes, mut pv, .. } = proposal;
        pv.truncate(LONGEST_LINE);
        Ok(Some(JudgementRecord { position: position_key(question), score, depth, nodes, pv }))
    }

    /// Returns the last proposal with an exact score, or the last of all.
    fn search(&mut self, question: &Line, stop: &AtomicBool) -> Result<Proposal, ElectorFailure> {
        let elector = match &mut self.running {
            Some(running) => running,
            none => none.insert(self.elector.start()?),
        };
        elector.new_game();
        let limits: Limits = self.spec.limits();
        let line = Arc::new(question.clone());
        let task = Task { limits, ..Task::alone(Arc::clone(&line)) };
        let (mut last, mut exact) = (None, None);
        elector.search(&task, stop, &mut |proposal: Proposal| {
            if line.is_legal(proposal.best) {
                if proposal.bound == Bound::Exact && proposal.depth > 0 {
                    exact = Some(proposal.clone());
                }
                last = Some(proposal);
            }
        })?;
        // A book move says nothing about the value of the position; the only move needs no search.
        let is_forced = line.only_move().is_some();
        let searched = last.filter(|proposal| is_forced || proposal.depth > 0);
        exact.or(searched).ok_or_else(|| {
            let reason = "it gave no move with a value; if it plays from its own book, switch the book off (--option OwnBook=false)";
            ElectorFailure(reason.to_owned())
        })
    }
}

/// Lowers the priority of the thread and of its later child threads.
pub(crate) fn give_way() {
    // On Linux niceness belongs to the thread; elsewhere it would be the whole process's, so it is
    // left alone.
    if cfg!(target_os = "linux")
        && let Err(error) = rustix::process::setpriority_process(None, NICENESS)
    {
        tracing::debug!(%error, "the study of games keeps its priority");
    }
}
