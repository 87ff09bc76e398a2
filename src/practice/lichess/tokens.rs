//! Bearer tokens and what they allow.

use std::{
    collections::{BTreeSet, HashMap},
    sync::{Arc, PoisonError, RwLock},
};

use crate::account::AccountId;

pub const BOT_SCOPES: &str = "bot:play,challenge:read,challenge:write,preference:read,tournament:write";
/// The scopes of a human's token; with `bot:play` the account can be upgraded.
pub const HUMAN_SCOPES: &str = "bot:play,board:play,challenge:read,challenge:write,preference:read";

/// The owner of a valid token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Caller {
    pub account: AccountId,
    pub token: String,
    /// The scopes, such as `bot:play`.
    pub scopes: BTreeSet<String>,
}

#[derive(Clone, Default)]
pub(crate) struct Tokens(Arc<RwLock<HashMap<String, Caller>>>);

impl Tokens {
    /// Makes a token valid. `scopes` are separated by commas.
    pub(crate) fn add(&self, token: &str, account: AccountId, scopes: &str) {
        let scopes = scopes.split(',').map(|scope| scope.trim().to_owned()).filter(|scope| !scope.is_empty()).collect();
        let mut tokens = self.0.write().unwrap_or_else(PoisonError::into_inner);
        tokens.insert(token.to_owned(), Caller { account, token: token.to_owned(), scopes });
    }

    pub(crate) fn revoke(&self, token: &str) {
        self.0.write().unwrap_or_else(PoisonError::into_inner).remove(token);
    }

    pub(crate) fn owner(&self, token: &str) -> Option<Caller> {
        self.0.read().unwrap_or_else(PoisonError::into_inner).get(token).cloned()
    }
}
