//! The servers of the FICS family, and what each does in its own way.
//!
//! Observed on FatICS, on capablanca (the Lasker code base) and on uhlin/fics (FICS 1.6.2), and read of freechess.org.

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Dialect {
    /// freechess.org, with all functions; `moves l`, a list with coordinates, is its own.
    #[default]
    Freechess,
    /// FatICS: no `resume`, no `pending`; `match` resumes an adjourned game and says so; unasked offers to programs (`<pf>`,
    /// `<pr>`) follow the prompt, without another one after them.
    Fatics,
    /// capablanca: no interface variables (`iset` is accepted and does nothing), timeseal of the first version only, no automatic flags,
    /// `0 1` is untimed; `match` resumes an adjourned game and says so.
    Capablanca,
    /// uhlin/fics: no interface variables and no automatic flags either; an adjourned game cannot go on, `match` proposes a new
    /// one; no timeseal, `seek` without effect, no greeting by name, no line `Creating: ...`, no
    /// second attempt after a wrong password; lines are wrapped without the blank between their words, and of several commands
    /// that come together only one is done until more comes.
    Uhlin,
}

util::words!(Dialect::key {
    Freechess = "freechess", Fatics = "fatics", Capablanca = "capablanca", Uhlin = "uhlin",
});

impl Dialect {
    /// Returns true for the two without interface variables, automatic flags, an abort by one player alone before both sides
    /// have moved, and the number of the game in the opponent's messages.
    pub const fn is_plain(self) -> bool {
        matches!(self, Self::Capablanca | Self::Uhlin)
    }

    pub fn knows(self, command: &str) -> bool {
        let unknown: &[&str] = match self {
            Self::Freechess => &[],
            Self::Fatics => &["resume", "pending", "smoves"],
            Self::Capablanca => &["resume"],
            Self::Uhlin => &["resume", "rematch"],
        };
        !unknown.contains(&command)
    }

    pub fn unknown_command(self, word: &str) -> String {
        match self {
            Self::Uhlin => format!("{word}: Command has failed."),
            _ => format!("{word}: Command not found."),
        }
    }

    /// Returns true if an adjourned game can go on, by `match` on all of them.
    pub fn resumes(self) -> bool {
        self != Self::Uhlin
    }

    /// Returns true if this version of timeseal, 1 or 2, is understood.
    pub const fn has_timeseal(self, version: u8) -> bool {
        match self {
            Self::Freechess | Self::Fatics => true,
            Self::Capablanca => version == 1,
            Self::Uhlin => false,
        }
    }

    /// Returns the number of the last three fields of a style 12 line (flip, ticking, lag) that are
    /// shown.
    pub const fn last_fields(self) -> usize {
        match self {
            Self::Freechess | Self::Fatics => 3,
            Self::Capablanca => 2,
            Self::Uhlin => 1,
        }
    }

    pub const fn mate(self) -> char {
        if self.is_plain() { '+' } else { '#' }
    }

    /// Returns the message to the player who accepts a match.
    pub fn you_accept(self, with: &str) -> String {
        match self {
            Self::Fatics => format!("Accepting the match offer from {with}."),
            _ => format!("You accept the challenge of {with}."),
        }
    }

    /// Returns the message to the player whose offer was accepted.
    pub fn they_accept(self, with: &str) -> String {
        match self {
            Self::Freechess => format!("{with} accepts the match offer."),
            Self::Fatics => format!("{with} accepts your match offer."),
            Self::Capablanca | Self::Uhlin => format!("{with} accepts your challenge."),
        }
    }

    /// Returns the message to the opponent of a player whose connection was lost, before the game's
    /// end; `None`: the end has it.
    pub fn opponent_lost(self, opponent: &str) -> Option<String> {
        match self {
            Self::Freechess => None,
            Self::Fatics => Some(format!("Your opponent, {opponent}, has lost contact or quit.")),
            Self::Capablanca | Self::Uhlin => Some("Your opponent has lost contact or quit.".to_owned()),
        }
    }

    /// Returns the reason in the last line of a game that a lost connection stopped. `outcome` is
    /// `adjourned` or `aborted`.
    pub fn stopped_by_loss(self, who: &str, outcome: &str) -> String {
        if self.is_plain() { outcome.to_owned() } else { format!("{who} lost connection; game {outcome}") }
    }
}
