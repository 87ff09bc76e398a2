//! The page's stories: a real server, real requests, and a real browser where there is one.
//!
//! - [`security`]: permissions, and restrictions for browsers;
//! - [`watching`]: events for watchers, and their cost;
//! - [`journal`]: games that were played, listed, summed up, looked at again, taken home;
//! - [`playing`]: a game against the council;
//! - [`studying`]: votes and expected lines beside a game that goes on;
//! - [`tour`], [`accessibility`]: what the vote's words say, and that everyone can read them;
//! - [`page`]: the same in Chromium by WebDriver. With `CONCILIO_WEB_PICTURES=FOLDER` it leaves
//!   pictures of every page there.

mod accessibility;
mod events;
mod fixed_game;
mod journal;
mod page;
mod playing;
mod security;
mod studying;
mod tour;
mod watching;

fn main() -> std::process::ExitCode {
    testkit::main()
}
