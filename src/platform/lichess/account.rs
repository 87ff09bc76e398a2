//! An account before it plays: its identity and the scopes of its token.

use domain::Account;

/// The scope without which a token is of no use to us.
const BOT_SCOPE: &str = "bot:play";

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AccountReport {
    pub account: Account,
    /// Its scopes by Lichess's names such as `bot:play`; `None` if the server does not report them.
    pub scopes: Option<Vec<String>>,
}

impl AccountReport {
    /// Returns true if the token allows playing, as far as is known.
    pub fn may_play(&self) -> bool {
        self.scopes.as_ref().is_none_or(|scopes| scopes.iter().any(|scope| scope == BOT_SCOPE))
    }

    /// Returns true if the account can still become a bot: it is none, and has never played.
    pub fn can_upgrade(&self) -> bool {
        !self.account.is_bot && self.account.games_played == 0
    }

    /// Returns the kind of account, with the remedy if it is no bot.
    pub fn kind(&self) -> String {
        match (self.account.is_bot, self.can_upgrade()) {
            (true, _) => "a bot account".to_owned(),
            (false, true) => "no bot account yet; `concilio account upgrade` makes it one, for good".to_owned(),
            (false, false) => format!(
                "no bot account, and it has played {} games; only an account without games can become one",
                self.account.games_played
            ),
        }
    }

    pub fn permission(&self) -> &'static str {
        match (&self.scopes, self.may_play()) {
            (None, _) => "not told by the server",
            (Some(_), true) => "sufficient",
            (Some(_), false) => "bot:play is missing; make a new token with it",
        }
    }

    /// Returns the reason why this account cannot play, with the remedy; `None` if it can.
    pub fn obstacle(&self) -> Option<String> {
        let name = &self.account.player.name;
        if !self.account.is_bot {
            return Some(format!("{name} is {}", self.kind()));
        }
        (!self.may_play()).then(|| format!("the token of {name}: {}", self.permission()))
    }
}
