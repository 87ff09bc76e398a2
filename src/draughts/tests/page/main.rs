//! Draughts in the browser: [`requests`] as the page's script sends them, and the [`tab`] in Chromium.

mod requests;
mod tab;

use concilio_draughts::page;
use stage::PlayStage;

fn main() -> std::process::ExitCode {
    testkit::main()
}

/// The page with draughts on it.
async fn opened() -> PlayStage {
    opened_with(|_, _| ()).await
}

async fn opened_with(change: impl FnOnce(&mut web::WebSettings, &tempfile::TempDir)) -> PlayStage {
    PlayStage::with_parts(change, |runtime, shutdown| {
        let stop = shutdown.now.child_token();
        (vec![page::PART], page::routes(runtime.pool.clone(), runtime.journal.clone(), stop))
    })
    .await
}
