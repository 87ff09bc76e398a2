//! Operator commands: the same from the page's buttons and from `concilio ctl`.

use axum::{Json, extract::State};
use serde::Serialize;

use crate::{problem::HttpProblem, security::Operator};
use bot::session::{Control, ControlCommand, ControlError};

/// A command that was carried out.
#[derive(Serialize)]
pub(crate) struct Performed {
    /// Result in a sentence.
    done: String,
}

/// Carries out a command to its end, even if the client disconnects: a reload would else hold for
/// some accounts, or for none, without any report.
pub(crate) async fn perform(
    _: Operator,
    State(control): State<Option<Control>>,
    Json(command): Json<ControlCommand>,
) -> Result<Json<Performed>, HttpProblem> {
    let control = control.ok_or_else(|| HttpProblem::not_found("no bot is running here"))?;
    let done = tokio::spawn(perform_and_log(control, command)).await.map_err(HttpProblem::internal)?;
    done.map(|done| Json(Performed { done })).map_err(|error| HttpProblem::bad(error.to_string()))
}

/// Carries out a command. What accounts do they tell the log themselves; settings belong to none of them.
async fn perform_and_log(control: Control, command: ControlCommand) -> Result<String, ControlError> {
    let reads_settings = matches!(command, ControlCommand::Reload {});
    let done = control.perform(command).await;
    match &done {
        Ok(done) if reads_settings => tracing::info!("operator command: {done}"),
        Err(error) if reads_settings => tracing::error!("operator command failed: {error}"),
        _ => (),
    }
    done
}
