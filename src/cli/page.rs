//! The page in the browser and the control channel of a running command.

use std::path::Path;

use tokio_util::sync::CancellationToken;

use super::Failure;
use bot::session::{PlayerSettings, Runtime};
use web::{Health, WebContext, WebError, WebServer, WebSettings};

/// Serves the page, if the settings want one, and the control channel on `socket`, until `stop`. A control channel that cannot
/// be had stops no game: that is said, and play goes on without it.
///
/// # Errors
/// Where the page's address cannot be had, or must not be without a secret.
pub(super) async fn serve(
    settings: &WebSettings,
    runtime: &Runtime,
    player: PlayerSettings,
    socket: Option<&Path>,
    stop: CancellationToken,
) -> Result<WebServer, Failure> {
    let context = WebContext {
        event_bus: runtime.event_bus.clone(),
        journal: runtime.journal.clone(),
        journal_path: runtime.journal.path().to_owned(),
        pool: runtime.pool.clone(),
        player,
        control: Some(runtime.control.clone()),
        health: Health::default(),
    };
    match web::serve(settings, context.clone(), socket, stop.clone()).await {
        Err(error @ WebError::Socket { .. }) => {
            tracing::warn!("there is no control channel, so `concilio ctl` cannot reach this program: {error}");
            web::serve(settings, context, None, stop).await.map_err(Failure::usage)
        }
        served => served.map_err(Failure::usage),
    }
}
