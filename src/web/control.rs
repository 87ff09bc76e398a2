//! Operator commands: the same from the page's buttons and from `concilio ctl`.

use axum::{Json, extract::State};
use serde_json::{Value, json};

use crate::{problem::HttpProblem, security::Operator};
use bot::session::{Control, ControlCommand, ControlError};

/// Carries out a command to its end, even if the client disconnects: an interrupted reload would
/// hold for some accounts only, without any report. Answers with the result in a sentence.
pub(crate) async fn perform(
    _: Operator,
    State(control): State<Option<Control>>,
    Json(command): Json<ControlCommand>,
) -> Result<Json<Value>, HttpProblem> {
    let control = control.ok_or_else(|| HttpProblem::not_found("no bot is running here"))?;
    let done = tokio::spawn(perform_and_log(control, command)).await.map_err(HttpProblem::internal)?;
    done.map(|done| Json(json!({ "done": done }))).map_err(|error| HttpProblem::bad(error.to_string()))
}

/// Carries out a command. Accounts log their own commands; a reload belongs to no account.
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
