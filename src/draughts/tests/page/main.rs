//! Draughts in the browser: [`requests`] as the page's script sends them, and the [`tab`] in Chromium.

extern crate web as concilio_web;

#[allow(dead_code, reason = "shared with the tests of the page itself")]
#[path = "../../../web/tests/web/browser.rs"]
mod browser;
mod requests;
#[allow(dead_code, reason = "shared with the tests of the page itself")]
#[path = "../../../web/tests/web/stage.rs"]
mod stage;
mod tab;

use axum::Router;
use bot::journal::Journal;
use concilio_draughts::page;
use council::electors::Pool;
use util::Shutdown;
use web::PagePart;

fn main() -> std::process::ExitCode {
    testkit::main()
}

fn parts(pool: &Pool, journal: &Journal, shutdown: &Shutdown) -> (Vec<PagePart>, Router) {
    (vec![page::PART], page::routes(pool.clone(), journal.clone(), shutdown.now.child_token()))
}
