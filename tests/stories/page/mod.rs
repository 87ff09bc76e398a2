//! The page in a real browser, in front of the program as it is started by its command.

// The package's own tests look through the same browser, and at more.
#[allow(dead_code, reason = "shared with the tests of the page itself")]
#[path = "../../../src/web/tests/web/browser.rs"]
pub(crate) mod browser;
mod demo;
pub(crate) mod stage;
