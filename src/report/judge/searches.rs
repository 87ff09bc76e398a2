//! The searches of a judge: on several threads that give way to everything else, kept in batches as they come.

use std::{
    collections::HashSet,
    num::NonZeroUsize,
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed},
        mpsc,
    },
    thread,
    time::{Duration, Instant},
};

use bot::journal::{JournalError, JudgementRecord};
use council::electors::{Elector, ElectorFailure, ElectorSpec, Job};
use domain::{Bound, Limits, Phase, Proposal, SearchId, Task};

use super::{JudgeQuestion, JudgeSpec, Verdicts};

/// The interval of writing: an interruption loses no more.
const KEPT_EVERY: Duration = Duration::from_secs(1);

/// The moves of a best line that are kept.
const LONGEST_LINE: usize = 8;

const NICENESS: i32 = 19;

#[derive(Debug, thiserror::Error)]
pub enum JudgeError {
    /// The engine does not start, or does not go on.
    #[error("judge {}: {reason}", engine.display())]
    Engine { engine: PathBuf, reason: String },
    /// The journal does not take the judgements.
    #[error(transparent)]
    Journal(#[from] JournalError),
}

/// Judges positions without a verdict on `threads` threads and keeps the verdicts. `progress`
/// receives the number of judged positions in `questions`. Ends early, with all verdicts so far
/// kept, when `stop` is set. Returns the number of searches.
pub fn judge_all(
    spec: &JudgeSpec,
    questions: Vec<JudgeQuestion>,
    verdicts: &Verdicts,
    threads: NonZeroUsize,
    stop: &AtomicBool,
    progress: &mut dyn FnMut(usize, usize),
) -> Result<usize, JudgeError> {
    let mut seen = HashSet::new();
    let mut open = Vec::new();
    for question in questions {
        if seen.insert(question.key) && verdicts.of(&question.line)?.is_none() {
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
                    // A search that was cut short is no judgement.
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

/// Writes judgements as they come, some at a time. Ends with the first error, after keeping what came before.
fn keep_all(
    results: &mpsc::Receiver<Result<JudgementRecord, JudgeError>>,
    verdicts: &Verdicts,
    mut progress: impl FnMut(usize),
) -> Result<(), JudgeError> {
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

    /// Judges a position; `None` if `stop` cut it short. An engine that dies is started once more.
    fn judge(&mut self, question: &JudgeQuestion, stop: &AtomicBool) -> Result<Option<JudgementRecord>, JudgeError> {
        let searched = self.search(question, stop).or_else(|_| {
            self.running = None;
            self.search(question, stop)
        });
        let proposal = searched.map_err(|failure| JudgeError::Engine {
            engine: self.spec.engine.as_ref().map_or_else(|| "concilio".into(), |program| program.path.clone()),
            reason: format!("{failure} (in {})", question.line.fen()),
        })?;
        if stop.load(Relaxed) {
            return Ok(None);
        }
        let Proposal { score, depth, nodes, mut pv, .. } = proposal;
        pv.truncate(LONGEST_LINE);
        Ok(Some(JudgementRecord { position: question.key, score, depth, nodes, pv }))
    }

    /// Returns the last proposal with an exact score, or the last of all.
    fn search(&mut self, question: &JudgeQuestion, stop: &AtomicBool) -> Result<Proposal, ElectorFailure> {
        let elector = match &mut self.running {
            Some(running) => running,
            none => none.insert(self.elector.start()?),
        };
        elector.new_game();
        let id = SearchId { game: "report".into(), ply: 0, serial: 0, phase: Phase::First };
        let limits: Limits = self.spec.limits();
        let line = Arc::new(question.line.clone());
        let task = Task { id, line: Arc::clone(&line), root_moves: Vec::new(), limits };
        let (mut last, mut exact) = (None, None);
        elector.search(&Job::new(task), stop, &mut |proposal: Proposal| {
            if line.is_legal(proposal.best) {
                if proposal.bound == Bound::Exact && proposal.depth > 0 {
                    exact = Some(proposal.clone());
                }
                last = Some(proposal);
            }
        })?;
        // A book move says nothing about the value of the position; the only move needs no search.
        let is_forced = line.legal_moves().len() == 1;
        let searched = last.filter(|proposal| is_forced || proposal.depth > 0);
        exact.or(searched).ok_or_else(|| {
            let reason = "it gave no move with a value; if it plays from a book of its own, switch that off (--option OwnBook=false)";
            ElectorFailure(reason.to_owned())
        })
    }
}

/// Lowers the priority of the thread, and of threads that it starts.
pub(crate) fn give_way() {
    // On Linux niceness belongs to the thread; elsewhere it would be the whole process's, so it is
    // left alone.
    if cfg!(target_os = "linux")
        && let Err(error) = rustix::process::setpriority_process(None, NICENESS)
    {
        tracing::debug!(%error, "the study of games keeps its priority");
    }
}
