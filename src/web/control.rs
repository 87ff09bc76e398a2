//! What the operator tells the bot to do: the same commands from the page's buttons and from `concilio ctl`.

use axum::{Json, extract::State};
use serde::Serialize;

use crate::{problem::HttpProblem, security::Operator};
use bot::session::{Control, ControlCommand};

/// A command that was carried out.
#[derive(Serialize)]
pub(crate) struct Performed {
    /// What was done, in a sentence.
    done: String,
}

/// Carries out a command.
pub(crate) async fn perform(
    _: Operator,
    State(control): State<Option<Control>>,
    Json(command): Json<ControlCommand>,
) -> Result<Json<Performed>, HttpProblem> {
    let control = control.ok_or_else(|| HttpProblem::not_found("there is no bot here that could be told anything"))?;
    let done = control.perform(command).await.map_err(|error| HttpProblem::bad(error.to_string()))?;
    Ok(Json(Performed { done }))
}
