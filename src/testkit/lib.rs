//! Tests that need programs of other projects.
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

pub mod needs;
mod random;
#[cfg(test)]
mod sources;
mod summary;

use std::{
    env, panic,
    process::ExitCode,
    sync::atomic::{AtomicBool, Ordering},
    thread,
};

pub use inventory;
use libtest_mimic::{Arguments, Completion, Failed, Trial};
use needs::Need;
pub use random::Random;
pub use testkit_macros::test;
use tokio::runtime::Builder;

/// Makes a missing program a failure.
const REQUIRE_ALL: &str = "CONCILIO_TEST_REQUIRE_ALL";

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

/// Runs the tests of a target whose async tests rely on one thread each, as those of `#[tokio::test]` do.
pub fn main_on_one_thread() -> ExitCode {
    ONE_THREAD.store(true, Ordering::Relaxed);
    main()
}

/// Runs the body of an async test.
#[doc(hidden)]
pub fn block_on(body: impl Future<Output = ()>) {
    let mut runtime = match ONE_THREAD.load(Ordering::Relaxed) {
        true => Builder::new_current_thread(),
        false => Builder::new_multi_thread(),
    };
    runtime.enable_all().build().expect("a runtime").block_on(body);
}

fn require_all() -> bool {
    env::var_os(REQUIRE_ALL).is_some_and(|value| value == "1")
}

impl Test {
    /// Returns why the test cannot run.
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
