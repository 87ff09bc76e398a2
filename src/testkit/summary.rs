//! Counts the ignored tests of a run of `cargo test`, with the reasons.
//!
//! Cargo runs one target after the other, and each reports only its own tests. All targets of one run have the same parent,
//! so each adds to a file what it has ignored, and prints all of it: the last target prints the sum.

use std::{
    collections::BTreeMap,
    fs,
    os::unix::process::parent_id,
    path::PathBuf,
    sync::{Mutex, PoisonError},
};

use crate::needs::workspace;

static REASONS: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// Adds a test that was ignored for `reason`.
pub(crate) fn note(reason: &str) {
    REASONS.lock().unwrap_or_else(PoisonError::into_inner).push(reason.to_owned());
}

/// Prints the tests ignored so far, if there are any.
pub(crate) fn print() {
    let mut reasons = earlier();
    reasons.append(&mut REASONS.lock().unwrap_or_else(PoisonError::into_inner));
    if reasons.is_empty() {
        return;
    }
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for reason in &reasons {
        *counts.entry(reason).or_default() += 1;
    }
    let plural = if reasons.len() == 1 { "" } else { "s" };
    println!("{} test{plural} ignored so far in this run:", reasons.len());
    for (reason, count) in counts {
        println!("{count:>5}  {reason}");
    }
    println!();
    // A summary that cannot be kept is no reason to fail.
    let _ = fs::write(file(), format!("{}\n{}\n", parent_id(), reasons.join("\n")));
}

fn file() -> PathBuf {
    workspace().join("target/ignored-tests")
}

/// The reasons of the targets before this one in the same run.
fn earlier() -> Vec<String> {
    let text = fs::read_to_string(file()).unwrap_or_default();
    match text.split_once('\n') {
        Some((run, reasons)) if run == parent_id().to_string() => reasons.lines().map(str::to_owned).collect(),
        _ => Vec::new(),
    }
}
