//! Players, accounts, and what a token allows.

use serde::Deserialize;
use serde_json::Value;

use super::lenient;
use domain::{Account, Player};

/// A player, by any of the names that the server has for the same things.
#[derive(Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct User {
    /// The account, where it is told apart from the part that it plays in a game.
    #[serde(default, deserialize_with = "lenient")]
    user: Option<Box<User>>,
    id: Option<String>,
    name: Option<String>,
    username: Option<String>,
    #[serde(default, deserialize_with = "lenient")]
    title: Option<String>,
    #[serde(default, deserialize_with = "lenient")]
    rating: Option<u32>,
    #[serde(default, deserialize_with = "lenient")]
    provisional: Option<bool>,
    #[serde(default, alias = "ai", deserialize_with = "lenient")]
    ai_level: Option<u8>,
}

impl User {
    pub(super) fn into_player(self) -> Player {
        if let Some(user) = self.user {
            let provisional = self.provisional.unwrap_or(false);
            return Player { rating: self.rating, provisional, ..user.into_player() };
        }
        if let Some(level) = self.ai_level {
            let name = format!("Stockfish level {level}");
            return Player { name, ai_level: self.ai_level, rating: self.rating, ..Player::default() };
        }
        let name = self.name.or(self.username).or_else(|| self.id.clone()).unwrap_or_else(|| "anonymous".to_owned());
        // Names have no blanks, so what stands before one is a title ("BOT zeekat").
        let (prefix, name) = match name.rsplit_once(' ') {
            Some((prefix, bare)) => (Some(prefix.to_owned()), bare.to_owned()),
            None => (None, name),
        };
        Player {
            id: self.id.unwrap_or_else(|| name.clone()).to_lowercase(),
            name,
            title: self.title.or(prefix).filter(|title| !title.is_empty()),
            rating: self.rating,
            provisional: self.provisional.unwrap_or(false),
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
        self.more["disabled"] == true || self.more["tosViolation"] == true
    }

    pub(crate) fn into_account(self) -> Account {
        let title = self.more["title"].as_str();
        let perfs = || self.more["perfs"].as_object().into_iter().flatten();
        let played = perfs().filter(|(name, _)| *name != "puzzle").filter_map(|(_, perf)| perf["games"].as_u64()).sum();
        let rating =
            |(name, perf): (&String, &Value)| Some((name.clone(), u32::try_from(perf["rating"].as_u64()?).ok()?));
        Account {
            is_bot: title == Some("BOT"),
            player: Player {
                id: self.id.to_lowercase(),
                title: title.map(str::to_owned),
                name: self.username.unwrap_or(self.id),
                ..Player::default()
            },
            ratings: perfs().filter_map(rating).collect(),
            games_played: self.more["count"]["all"].as_u64().unwrap_or(played),
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

/// Scopes of a token: `/api/token/test`.
#[derive(Deserialize)]
pub(crate) struct TokenInfo {
    #[serde(default, deserialize_with = "lenient")]
    scopes: Option<String>,
}

impl TokenInfo {
    pub(crate) fn scopes(&self) -> Vec<String> {
        let scopes = self.scopes.as_deref().unwrap_or_default().split(',').map(str::trim);
        scopes.filter(|scope| !scope.is_empty()).map(str::to_owned).collect()
    }
}
