use std::fmt;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Player {
    /// The name in lower case, by which players are compared. Empty for the server's own engine.
    pub id: String,
    pub name: String,
    /// `GM`, `BOT` and others.
    pub title: Option<String>,
    /// The rating at the game's speed.
    pub rating: Option<u32>,
    /// True if the rating is still uncertain.
    pub provisional: bool,
    /// Set for the server's own engine.
    pub ai_level: Option<u8>,
}

impl Player {
    /// A player of whom only the name is known.
    pub fn named(name: &str) -> Self {
        Self { id: name.to_lowercase(), name: name.to_owned(), ..Self::default() }
    }

    /// Returns true if the server marks the player as a program.
    pub fn is_bot(&self) -> bool {
        self.ai_level.is_some() || self.title.as_deref().is_some_and(is_title_of_bot)
    }
}

/// Returns true if the title marks a program: `BOT` on Lichess, `C` on FICS.
pub fn is_title_of_bot(title: &str) -> bool {
    matches!(title, "BOT" | "C")
}

impl fmt::Display for Player {
    /// Writes `BOT Name (1500)`.
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

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Account {
    /// The player, without a rating: there is one for each speed.
    pub player: Player,
    /// True if the server lets it use the bot interface.
    pub is_bot: bool,
    /// Ratings by the server's name of the speed or variant.
    pub ratings: Vec<(String, u32)>,
    /// Games ever finished; a Lichess account with any cannot become a bot.
    pub games_played: u64,
}
