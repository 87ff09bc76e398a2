//! Bearer tokens and what they allow.

use std::{
    collections::{BTreeSet, HashMap},
    sync::{Arc, PoisonError, RwLock},
};

use crate::account::AccountId;

pub const BOT_SCOPES: &str = "bot:play,challenge:read,challenge:write,preference:read,tournament:write";
/// The scopes of a human's token; with `bot:play` the account can be upgraded.
pub const HUMAN_SCOPES: &str = "bot:play,board:play,challenge:read,challenge:write,preference:read";

/// The account and scopes of a token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Grant {
    pub account: AccountId,
    /// The scopes, such as `bot:play`.
    pub scopes: BTreeSet<String>,
}

#[derive(Clone, Default)]
pub(crate) struct Tokens(Arc<RwLock<HashMap<String, Grant>>>);

impl Tokens {
    /// Makes a token valid. `scopes` are separated by commas.
    pub(crate) fn add(&self, token: &str, account: AccountId, scopes: &str) {
        let scopes = scopes.split(',').map(|scope| scope.trim().to_owned()).filter(|scope| !scope.is_empty()).collect();
        let mut tokens = self.0.write().unwrap_or_else(PoisonError::into_inner);
        tokens.insert(token.to_owned(), Grant { account, scopes });
    }

    pub(crate) fn revoke(&self, token: &str) {
        self.0.write().unwrap_or_else(PoisonError::into_inner).remove(token);
    }

    pub(crate) fn grant(&self, token: &str) -> Option<Grant> {
        self.0.read().unwrap_or_else(PoisonError::into_inner).get(token).cloned()
    }
}
