//! Test support made of packages of the program; `concilio-testkit` has all that needs none of them.
//!
//! - [`hostile`]: attacks on a daemon: what hostile workers say, and with the feature `cluster` how they say it over NATS;
//! - `daemon`: with the feature of this name, a daemon under test;
//! - `fics`: with the feature of this name, the practice server for people at telnets;
//! - `page`, `browser`: with the feature `page`, the page in front of a daemon, and Chromium in front of the page.

#[cfg(feature = "page")]
mod browser;
#[cfg(feature = "daemon")]
mod daemon;
#[cfg(feature = "fics")]
pub mod fics;
pub mod hostile;
#[cfg(feature = "page")]
mod page;

#[cfg(feature = "page")]
pub use browser::Browser;
#[cfg(feature = "daemon")]
pub use daemon::{DaemonUnderTest, fics_connection, lichess_connection, prepared, runtime};
#[cfg(feature = "page")]
pub use page::{PlayStage, SECRET, client, game, secret, status, whole_game};
