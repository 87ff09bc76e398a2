//! The servers of the FICS family, and what each does in its own way.
//!
//! Observed on FatICS, on capablanca (the Lasker code base) and on uhlin/fics (FICS 1.6.2), and read of freechess.org.

/// Which server of its family the FICS side behaves like.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Dialect {
    /// freechess.org: everything there is.
    #[default]
    Freechess,
    /// FatICS: no `resume`, no `pending`; `match` resumes an adjourned game and says so.
    Fatics,
    /// capablanca: no interface variables, timeseal of the first version only, no automatic flags, `0 1` is untimed;
    /// `match` resumes an adjourned game and says so.
    Capablanca,
    /// uhlin/fics: the same, and no `resume` in any form, no timeseal, no seeks, no greeting by name; lines are wrapped
    /// without the blank between their words, and of several commands that come together only one is done until more comes.
    Uhlin,
}

impl Dialect {
    /// Every dialect, the usual one first.
    pub const ALL: [Self; 4] = [Self::Freechess, Self::Fatics, Self::Capablanca, Self::Uhlin];

    /// Its name in a plan of faults.
    pub const fn key(self) -> &'static str {
        match self {
            Self::Freechess => "freechess",
            Self::Fatics => "fatics",
            Self::Capablanca => "capablanca",
            Self::Uhlin => "uhlin",
        }
    }

    /// Whether it is one of the two that know nothing of interface variables and of what depends on them.
    const fn is_plain(self) -> bool {
        matches!(self, Self::Capablanca | Self::Uhlin)
    }

    /// Whether a command is known.
    pub fn knows(self, command: &str) -> bool {
        let unknown: &[&str] = match self {
            Self::Freechess => &[],
            Self::Fatics => &["resume", "pending", "smoves"],
            Self::Capablanca => &["resume"],
            Self::Uhlin => &["resume", "rematch"],
        };
        !unknown.contains(&command)
    }

    /// What is said of a command that is not known.
    pub fn unknown_command(self, word: &str) -> String {
        match self {
            Self::Uhlin => format!("{word}: Command has failed."),
            _ => format!("{word}: Command not found."),
        }
    }

    /// Whether `moves l` lists moves as coordinates; elsewhere it is not answered.
    pub const fn lists_long_moves(self) -> bool {
        matches!(self, Self::Freechess)
    }

    /// Whether `match` resumes the game that waits with somebody; otherwise it proposes a new one.
    pub const fn match_resumes(self) -> bool {
        !matches!(self, Self::Uhlin)
    }

    /// Whether an adjourned game can go on at all.
    pub fn resumes(self) -> bool {
        self.knows("resume") || self.match_resumes()
    }

    /// Whether interface variables do what they say. Elsewhere they are taken and change nothing.
    pub const fn has_interface_variables(self) -> bool {
        !self.is_plain()
    }

    /// Whether what programs are told of an offer unasked (`<pf>`, `<pr>`) follows the prompt, without another one after it.
    pub const fn tells_offers_after_the_prompt(self) -> bool {
        matches!(self, Self::Fatics)
    }

    /// Whether this version of timeseal, 1 or 2, is understood.
    pub const fn has_timeseal(self, version: u8) -> bool {
        match self {
            Self::Freechess | Self::Fatics => true,
            Self::Capablanca => version == 1,
            Self::Uhlin => false,
        }
    }

    /// Whether a flag falls without being claimed.
    pub const fn flags_fall(self) -> bool {
        !self.is_plain()
    }

    /// Whether seeks are posted; elsewhere the command is taken and nothing comes of it.
    pub const fn has_seeks(self) -> bool {
        !matches!(self, Self::Uhlin)
    }

    /// Whether a player may abort a game by himself before both sides have moved.
    pub const fn aborts_at_once(self) -> bool {
        !self.is_plain()
    }

    /// Whether a game begins with the line `Creating: ...`.
    pub const fn announces_games(self) -> bool {
        !matches!(self, Self::Uhlin)
    }

    /// Whether a session begins with `**** Starting FICS session as ... ****`.
    pub const fn greets(self) -> bool {
        !matches!(self, Self::Uhlin)
    }

    /// Whether a wrapped line keeps the blank at which it was broken.
    pub const fn wraps_after_blanks(self) -> bool {
        !matches!(self, Self::Uhlin)
    }

    /// Whether of several commands that come together one is done, and the next when more comes.
    pub const fn takes_one_command_at_a_time(self) -> bool {
        matches!(self, Self::Uhlin)
    }

    /// Whether a time of no minutes and one second a move means no clock at all.
    pub const fn zero_one_is_untimed(self) -> bool {
        matches!(self, Self::Capablanca)
    }

    /// How many of the last three fields of a style 12 line (flip, ticking, lag) are shown.
    pub const fn last_fields(self) -> usize {
        match self {
            Self::Freechess | Self::Fatics => 3,
            Self::Capablanca => 2,
            Self::Uhlin => 1,
        }
    }

    /// The sign of mate.
    pub const fn mate(self) -> char {
        if self.is_plain() { '+' } else { '#' }
    }

    /// How long a wrong password is borne: whether another name may be tried.
    pub const fn asks_again(self) -> bool {
        !matches!(self, Self::Uhlin)
    }

    /// Whether what the opponent says bears the number of the game.
    pub const fn numbers_what_is_said(self) -> bool {
        !self.is_plain()
    }

    /// What is told to whoever accepts a match.
    pub fn you_accept(self, with: &str) -> String {
        match self {
            Self::Fatics => format!("Accepting the match offer from {with}."),
            _ => format!("You accept the challenge of {with}."),
        }
    }

    /// What is told to whoever made the offer that was accepted.
    pub fn they_accept(self, with: &str) -> String {
        match self {
            Self::Freechess => format!("{with} accepts the match offer."),
            Self::Fatics => format!("{with} accepts your match offer."),
            Self::Capablanca | Self::Uhlin => format!("{with} accepts your challenge."),
        }
    }

    /// What is told to the player whose opponent's connection was lost, before the game's end; `None`: the end tells it.
    pub fn opponent_lost(self, opponent: &str) -> Option<String> {
        match self {
            Self::Freechess => None,
            Self::Fatics => Some(format!("Your opponent, {opponent}, has lost contact or quit.")),
            Self::Capablanca | Self::Uhlin => Some("Your opponent has lost contact or quit.".to_owned()),
        }
    }

    /// Why a game that a lost connection stopped is over, as its last line says it. `outcome` is `adjourned` or `aborted`.
    pub fn stopped_by_loss(self, who: &str, outcome: &str) -> String {
        if self.is_plain() { outcome.to_owned() } else { format!("{who} lost connection; game {outcome}") }
    }
}
