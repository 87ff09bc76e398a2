//! Players, accounts, and what a token allows.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::{Map, Value};

use super::field;
use domain::{Account, Player};

/// A player, by any of the names that the server has for the same things.
#[derive(Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct User {
    id: Option<String>,
    name: Option<String>,
    username: Option<String>,
    #[serde(flatten)]
    more: Value,
}

impl User {
    pub(super) fn into_player(self) -> Player {
        let more = &self.more;
        let rating = field(more, "/rating");
        if let Some(level) = field::<u8>(more, "/aiLevel").or_else(|| field(more, "/ai")) {
            let name = format!("Stockfish level {level}");
            return Player { name, ai_level: Some(level), rating, ..Player::default() };
        }
        let (title, provisional) = (field(more, "/title"), field(more, "/provisional").unwrap_or(false));
        let name = self.name.or(self.username).or_else(|| self.id.clone()).unwrap_or_else(|| "anonymous".to_owned());
        // Names have no blanks, so what stands before one is a title ("BOT zeekat").
        let (prefix, name) = match name.rsplit_once(' ') {
            Some((prefix, bare)) => (Some(prefix.to_owned()), bare.to_owned()),
            None => (None, name),
        };
        Player {
            id: self.id.unwrap_or_else(|| name.clone()).to_lowercase(),
            name,
            title: title.or(prefix).filter(|title: &String| !title.is_empty()),
            rating,
            provisional,
            ai_level: None,
        }
    }
}

/// An account: `/api/account`, and each of the bots that are online.
#[derive(Deserialize)]
pub(crate) struct AccountJson {
    id: String,
    username: Option<String>,
    #[serde(flatten)]
    more: Value,
}

impl AccountJson {
    /// Returns true if the account is closed, or marked for breaking the terms of service.
    pub(crate) fn is_shut_out(&self) -> bool {
        ["/disabled", "/tosViolation"].into_iter().any(|pointer| field(&self.more, pointer) == Some(true))
    }

    pub(crate) fn into_account(self) -> Account {
        let perfs: BTreeMap<String, Value> = field(&self.more, "/perfs").unwrap_or_default();
        let games = |(name, perf): (&String, &Value)| field::<u64>(perf, "/games").filter(|_| name != "puzzle");
        let played = perfs.iter().filter_map(games).sum();
        let title: Option<String> = field(&self.more, "/title");
        Account {
            is_bot: title.as_deref() == Some("BOT"),
            player: Player {
                name: self.username.unwrap_or_else(|| self.id.clone()),
                id: self.id.to_lowercase(),
                title,
                ..Player::default()
            },
            ratings: perfs.into_iter().filter_map(|(name, perf)| Some((name, field(&perf, "/rating")?))).collect(),
            games_played: field(&self.more, "/count/all").unwrap_or(played),
        }
    }
}

/// Presence of a player: `/api/users/status`.
#[derive(Deserialize)]
pub(crate) struct UserStatus {
    pub id: String,
    online: Option<bool>,
    playing: Option<bool>,
}

impl UserStatus {
    pub(crate) fn is_available(&self) -> bool {
        self.online.unwrap_or(false) && !self.playing.unwrap_or(false)
    }
}

/// Scopes of a token, by its fields in `/api/token/test`.
pub(crate) fn scopes(token: &Map<String, Value>) -> Vec<String> {
    let scopes = token.get("scopes").and_then(Value::as_str).unwrap_or_default();
    scopes.split(',').map(str::trim).filter(|scope| !scope.is_empty()).map(str::to_owned).collect()
}
