//! Players and accounts, as a chess server knows them.

use std::fmt;

/// Somebody who plays.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Player {
    /// The name in lower case, by which players are compared. Empty for the server's own engine.
    pub id: String,
    /// The name as it is shown, without title.
    pub name: String,
    /// `GM`, `BOT` and the like.
    pub title: Option<String>,
    /// The rating at the game's speed.
    pub rating: Option<u32>,
    /// Whether the rating is still uncertain.
    pub provisional: bool,
    /// Set for the server's own engine.
    pub ai_level: Option<u8>,
}

impl Player {
    /// A player of whom only the name is known.
    pub fn named(name: &str) -> Self {
        Self { id: name.to_lowercase(), name: name.to_owned(), ..Self::default() }
    }

    /// Whether it is a machine, as far as the server says.
    pub fn is_bot(&self) -> bool {
        self.ai_level.is_some() || self.title.as_deref().is_some_and(is_title_of_bot)
    }
}

/// Whether a title says that its bearer is a machine: `BOT` on Lichess, `C` on FICS.
pub fn is_title_of_bot(title: &str) -> bool {
    matches!(title, "BOT" | "C")
}

impl fmt::Display for Player {
    /// `BOT Name (1500)`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(title) = &self.title {
            write!(f, "{title} ")?;
        }
        f.write_str(&self.name)?;
        match self.rating {
            Some(rating) => write!(f, " ({rating}{})", if self.provisional { "?" } else { "" }),
            None => Ok(()),
        }
    }
}

/// An account on a server, ours or another bot's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Account {
    /// Whose it is, without a rating: there is one for each speed.
    pub player: Player,
    /// Whether the server lets it play through its bot interface.
    pub is_bot: bool,
    /// Ratings by the server's name of the speed or variant.
    pub ratings: Vec<(String, u32)>,
    /// Games ever finished; a Lichess account with any cannot become a bot.
    pub games_played: u64,
}
