//! Test support that needs no package of the program: waits, a NATS server, a telnet client, a clock that stops; and tests
//! that need programs of other projects.
//!
//! A test that needs nothing from outside is a plain `#[test]`. A test that needs a program (a NATS server, Stockfish, a
//! browser) names it:
//!
//! ```text
//! #[testkit::test(needs(NATS_SERVER))]
//! async fn worker_joins() {
//!     Command::new(testkit::needs::NATS_SERVER.path());
//! }
//! ```
//!
//! The programs are the statics of [`needs`], the only place that looks for them: on the `PATH`, then in
//! `target/test-tools`, which `tests/install-tools` fills. A test whose program is missing is reported as ignored, with
//! the reason; with `CONCILIO_TEST_REQUIRE_ALL=1` in the environment, as CI has it, the test fails instead.
//!
//! Only a target with `harness = false` can ignore a test at run time. Such a target has an entry in the `Cargo.toml` of its
//! package and a `main`, and all its tests, with needs or without, sync or async, have the attribute `#[testkit::test]`:
//!
//! ```text
//! [[test]]
//! name = "stories"
//! path = "tests/stories/main.rs"
//! harness = false
//!
//! fn main() -> std::process::ExitCode {
//!     testkit::main()
//! }
//! ```
//!
//! `#[test]` and `#[tokio::test]` would be lost without a word in such a target. `sources.rs` looks for them, and for tests
//! that return before they assert anything.

pub mod nats;
pub mod needs;
#[cfg(test)]
mod sources;
#[cfg(feature = "stopped-clock")]
mod stopped_clock;
mod summary;
pub mod telnet;

use std::{
    env, panic,
    process::{Child, ExitCode},
    sync::{
        LazyLock,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::Duration,
};

pub use inventory;
use libtest_mimic::{Arguments, Completion, Failed, Trial};
use needs::Need;
#[cfg(feature = "stopped-clock")]
pub use stopped_clock::StoppedClock;
pub use testkit_macros::test;
use tokio::runtime::Builder;
use tracing::{Dispatch, Subscriber, dispatcher::DefaultGuard, subscriber::NoSubscriber};
use tracing_subscriber::{filter::Targets, layer::SubscriberExt as _, util::SubscriberInitExt as _};

/// Makes a missing program a failure.
const REQUIRE_ALL: &str = "CONCILIO_TEST_REQUIRE_ALL";

/// Shows the log of the tests of this process that `RUST_LOG` asks for, such as `concilio=debug`.
pub fn show_log() {
    let filter: Targets = env::var("RUST_LOG").ok().and_then(|text| text.parse().ok()).unwrap_or_default();
    let layer = tracing_subscriber::fmt::layer().with_test_writer();
    let _ = tracing_subscriber::registry().with(layer).with(filter).try_init();
}

/// Logs what this thread does to `subscriber`, until the guard is dropped.
pub fn log_thread_to(subscriber: impl Subscriber + Send + Sync) -> DefaultGuard {
    // While a process has one subscriber, the thread that comes to an event first says for all threads whether it is
    // wanted, and a thread of another test wants none. With a second subscriber all are asked.
    static SECOND: LazyLock<Dispatch> = LazyLock::new(|| Dispatch::new(NoSubscriber::new()));
    LazyLock::force(&SECOND);
    tracing::subscriber::set_default(subscriber)
}

/// A test as the attribute registers it.
#[doc(hidden)]
pub struct Test {
    pub name: &'static str,
    pub needs: &'static [&'static Need],
    pub body: fn(),
}

inventory::collect!(Test);

/// Runs the tests of a target, with the command line of libtest.
pub fn main() -> ExitCode {
    let mut arguments = Arguments::from_args();
    let threads = env::var("RUST_TEST_THREADS").ok().and_then(|text| text.parse().ok());
    arguments.test_threads = arguments.test_threads.or(threads);
    // A list has only the names of ignored tests. cargo-nextest makes one, and runs none of them.
    let listed = arguments.list && !require_all();
    let mut trials: Vec<Trial> = inventory::iter::<Test>
        .into_iter()
        .map(|test| {
            let name = test.name.split_once("::").map_or(test.name, |(_target, name)| name);
            let ignored = listed && test.missing().is_some();
            Trial::ignorable_test(name, || test.run(name)).with_ignored_flag(ignored)
        })
        .collect();
    trials.sort_by(|one, other| one.name().cmp(other.name()));
    let conclusion = libtest_mimic::run(&arguments, trials);
    if !arguments.list {
        summary::print();
    }
    conclusion.exit_code()
}

static ONE_THREAD: AtomicBool = AtomicBool::new(false);

/// Runs the tests of a target with one thread for each async test, as `#[tokio::test]` does.
pub fn main_on_one_thread() -> ExitCode {
    ONE_THREAD.store(true, Ordering::Relaxed);
    main()
}

#[doc(hidden)]
pub fn block_on(body: impl Future<Output = ()>) {
    let mut runtime = match ONE_THREAD.load(Ordering::Relaxed) {
        true => Builder::new_current_thread(),
        false => Builder::new_multi_thread(),
    };
    runtime.enable_all().build().expect("a runtime").block_on(body);
}

pub struct ChildProgram(pub Child);

impl Drop for ChildProgram {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Time after which a test stops waiting and fails. Even a busy machine is not as slow as this.
pub const PATIENCE: Duration = Duration::from_secs(300);

/// Waits for something that must happen: turns a hang into a failure.
pub async fn within<T>(what: &str, future: impl Future<Output = T>) -> T {
    match tokio::time::timeout(PATIENCE, future).await {
        Ok(value) => value,
        Err(_) => panic!("waited {PATIENCE:?} in vain for {what}"),
    }
}

/// Looks again and again until `look` returns a value, for changes that send no events.
pub async fn seen<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let looks = async {
        loop {
            if let Some(seen) = look() {
                return seen;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    within(what, looks).await
}

/// Waits until a condition holds, for changes that send no events.
pub async fn until(what: &str, mut holds: impl FnMut() -> bool) {
    seen(what, || holds().then_some(())).await;
}

/// Numbers by xorshift (G. Marsaglia, *Xorshift RNGs*, 2003), from a seed other than zero.
#[derive(Clone, Debug)]
pub struct Random(pub u64);

impl Random {
    /// A number from 0 to `bound` - 1; 0 if there is none.
    pub fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % bound.max(1)
    }
}

fn require_all() -> bool {
    env::var_os(REQUIRE_ALL).is_some_and(|value| value == "1")
}

impl Test {
    fn missing(&self) -> Option<String> {
        self.needs.iter().find_map(|need| need.missing())
    }

    fn run(&self, name: &str) -> Result<Completion, Failed> {
        if let Some(reason) = self.missing() {
            if require_all() {
                return Err(Failed::from(reason));
            }
            summary::note(&reason);
            return Ok(Completion::ignored_with(reason));
        }
        // A panic message has the name of the thread.
        let thread = thread::Builder::new().name(name.to_owned()).spawn(self.body).expect("a thread");
        match thread.join() {
            Ok(()) => Ok(Completion::Completed),
            Err(cause) => panic::resume_unwind(cause),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::{fs, thread};

    #[test]
    fn another_thread_hides_no_event() {
        let file = tempfile::NamedTempFile::new().expect("a file");
        let log = tracing_subscriber::fmt().with_writer(file.reopen().expect("a file")).finish();
        let _logging = super::log_thread_to(log);
        let event = || tracing::info!("an event");
        thread::spawn(event).join().expect("no panic");
        event();
        assert_eq!(fs::read_to_string(file).expect("text").lines().count(), 1);
    }
}
