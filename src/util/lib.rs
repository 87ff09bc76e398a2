//! Helpers of several packages that know nothing of chess.
//!
//! | subject | items |
//! |---|---|
//! | requests to end, tasks that go on after a panic, delays between attempts | [`Shutdown`], [`Supervisor`], [`Backoff`] |
//! | failures of a command, output on the terminal | [`Failure`], [`print()`], [`printable`], [`outln`] |
//! | values of settings and their faults | [`values`], [`Fault`] |
//! | passwords, tokens, seeds | [`Secret`] |
//! | FICS: lines that carry the time of their sending | [`timeseal`] |

mod backoff;
mod failure;
mod fault;
mod secret;
mod shutdown;
mod supervisor;
mod terminal;
pub mod timeseal;
pub mod values;

pub use backoff::Backoff;
pub use failure::Failure;
pub use fault::Fault;
pub use secret::{Secret, SecretError};
pub use shutdown::Shutdown;
pub use supervisor::{Supervisor, caught};
pub use terminal::{print, printable, printable_json, steers};
