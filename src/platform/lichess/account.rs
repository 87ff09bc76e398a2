//! Requests about an account before it plays: identity, scopes, upgrade to a bot.

use super::{
    LichessSettings, Token,
    account_report::AccountReport,
    http::Http,
    request::{HttpCall, Topic},
};
use domain::ActionError;

/// Returns the account, its kind, and the token's scopes.
///
/// # Errors
/// [`ActionError::Unauthorised`] for a token the server does not know, others as they come.
pub async fn account_check(settings: &LichessSettings, token: &Token) -> Result<AccountReport, ActionError> {
    client(settings, token)?.report().await
}

/// Turns the account into a bot's, which cannot be undone.
pub async fn upgrade(settings: &LichessSettings, token: &Token) -> Result<(), ActionError> {
    client(settings, token)?.call(HttpCall::post(&["api", "bot", "account", "upgrade"], Topic::Account)).await.map(drop)
}

fn client(settings: &LichessSettings, token: &Token) -> Result<Http, ActionError> {
    Http::new(settings, token.clone()).map_err(|error| ActionError::Unavailable(error.to_string()))
}
