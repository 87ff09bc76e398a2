//! Promise 1: a panic in each kind of task, in the middle of a game, costs no game and no entry of the journal.
//!
//! Tasks tell the log, at its finest level and under the target `concilio::task`, whenever they are woken. Here the log itself is what
//! fails: it panics when a task tells it so, and the panic unwinds through that task. As the log belongs to a whole process, each story
//! has one of its own, which is this program once more.

use std::{collections::BTreeMap, fmt::Debug, process::Command, sync::Mutex};

use tracing::{Event, Metadata, Subscriber, field::Field, span};

/// The tasks that are to panic, and how often they may be woken before.
static PANICS: Mutex<BTreeMap<String, u32>> = Mutex::new(BTreeMap::new());

pub(crate) fn panics(task: &str, after: u32) {
    PANICS.lock().expect("no panic holds it").insert(task.to_owned(), after);
}

pub(crate) fn all_happened() -> bool {
    PANICS.lock().expect("no panic holds it").is_empty()
}

struct PanickingLog;

impl Subscriber for PanickingLog {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target() == "concilio::task"
    }

    fn event(&self, event: &Event<'_>) {
        let mut task = String::new();
        event.record(&mut |field: &Field, value: &dyn Debug| {
            if field.name() == "task" {
                task = format!("{value:?}").trim_matches('"').to_owned();
            }
        });
        let panics = {
            let mut wanted = PANICS.lock().expect("no panic holds it");
            match wanted.get_mut(&task) {
                Some(0) => wanted.remove(&task).is_some(),
                Some(left) => {
                    *left -= 1;
                    false
                }
                None => false,
            }
        };
        assert!(!panics, "a defect, on purpose, in the task {task}");
    }

    fn new_span(&self, _: &span::Attributes<'_>) -> span::Id {
        span::Id::from_u64(1)
    }

    fn record(&self, _: &span::Id, _: &span::Record<'_>) {}
    fn record_follows_from(&self, _: &span::Id, _: &span::Id) {}
    fn enter(&self, _: &span::Id) {}
    fn exit(&self, _: &span::Id) {}
}

/// Set in the process in which a test runs alone.
const ALONE: &str = "CONCILIO_TEST_ALONE";

/// Runs the body of `test` in a process of its own, because the panicking log belongs to the whole process.
pub(crate) fn in_its_own_process<F: Future<Output = ()>>(test: &str, body: impl FnOnce() -> F) {
    if std::env::var_os(ALONE).is_some() {
        tracing::subscriber::set_global_default(PanickingLog).expect("the first log of this process");
        testkit::block_on(body());
        return;
    }
    let program = std::env::current_exe().expect("this program");
    let told = Command::new(program).args(["--exact", test]).env(ALONE, "1").output().expect("started");
    let words = String::from_utf8_lossy(&told.stderr);
    assert!(told.status.success() && words.contains("a defect, on purpose"), "{words}");
}
