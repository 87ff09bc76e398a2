//! Meanings of a server's lines.
//!
//! [`FicsMessage::read`] turns one line of [`ServerFrame::Line`](super::codec::ServerFrame) into
//! one [`FicsMessage`]. Every wording known from freechess.org and its relatives is accepted from
//! every server, because servers claim to be each other. A line is judged by how it begins, never
//! by what stands in its middle, where other people's words are; so no player can forge the
//! server's lines. Irrelevant talk is skipped by its first words.

mod ending;
mod listing;
mod reading;
mod style12;
mod terms;
#[cfg(test)]
mod tests;

pub use ending::{GameEnd, GameStart};
pub(in crate::fics) use listing::may_name;
pub use listing::{ListedMoves, ListedTime, PastGame, StoredGame};
pub use style12::{BoardRelation, Style12};
pub use terms::{MatchSide, MatchTerms, RowTerms, ShownRating, ToldRules, time_control};

/// No server of this family has names this long.
const LONGEST_NAME: usize = 32;

/// True if `text` can be a player's name: letters and digits, a letter first. Names become parts of commands, in which anything else
/// would be another word, an offer's number, or a command of its own.
pub(in crate::fics) fn is_name(text: &str) -> bool {
    text.len() <= LONGEST_NAME
        && text.as_bytes().first().is_some_and(u8::is_ascii_alphabetic)
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

/// One line of a server, understood.
#[derive(Clone, Debug, PartialEq)]
pub enum FicsMessage {
    // Logging in.
    AskName,
    AskPassword,
    /// `Press return to enter the server as "X":`, with the name, where it stands there.
    AskReturn(Option<String>),
    /// `**** Invalid password! ****`
    WrongPassword,
    BadName(String),
    Full(String),
    Banned(String),
    /// `**** Starting FICS session as X(C) ****`
    Session(Speaker),
    Displaced,
    Kicked(String),
    /// The server closes the connection because we were silent.
    TimedOut(String),
    Shutdown(String),

    // Boards and games.
    /// `<12>`
    Board(Box<Style12>),
    /// `<g1>`: what a game that is about to begin is.
    GameFacts(GameParameters),
    /// `Creating: ...`
    Creating(Box<MatchTerms>),
    /// `{Game ... Creating|Continuing ...}`
    GameStart(GameStart),
    /// `{Game ... } result`
    GameEnd(GameEnd),
    /// `blitz rating adjustment: 1500 --> 1512`: by how many points our rating changes with a game that ends; `None` if it does
    /// not, or if we had no rating.
    RatingAdjusted(Option<i32>),
    /// Lines of the answer to `moves`.
    Moves(ListedMoves),
    /// Our command was read as a move that is not legal, as the server says.
    IllegalMove,
    NotOurMove,
    NotPlaying,
    /// Our `flag` changed nothing: there is time left, or the server waits for the opponent's timeseal.
    NotFlagged,
    NoClock,
    /// Our game cannot be adjourned, because a guest plays it.
    CannotAdjourn,
    /// Our clock got this many seconds more.
    MoreTime(u32),
    OpponentLost,

    // Challenges and offers.
    /// `Challenge: ...`: a player challenges us.
    Challenge(Box<MatchTerms>),
    /// `--** X is a computer **--`, within a challenge.
    IsComputer(String),
    /// The challenge that was being told is whole: `You can "accept" ...`.
    ChallengeEnds,
    /// `Issuing: ...`: our challenge was sent.
    Issued(Box<MatchTerms>),
    /// `<pf>` and `<pt>`: an offer stands.
    Offer(FicsOffer),
    /// `<pr>`: these offers stand no more.
    OffersGone(Vec<u32>),
    Asked {
        by: String,
        what: OfferKind,
    },
    AskSent(OfferKind),
    /// A request no longer stands; of challenges, all between the player and us.
    Withdrawn {
        by: String,
        what: OfferKind,
    },
    Declined {
        by: String,
        what: OfferKind,
    },
    /// Our challenge, seek, acceptance or tell was not taken.
    Refused {
        words: String,
        about: Option<String>,
    },
    /// There is no such offer to accept; with the player who makes none, or the offer's number, where the line has it.
    NoSuchOffer(Option<String>),
    /// `Your seek has been posted with index 46.`
    SeekPosted(u32),

    // People.
    Speech {
        by: Speaker,
        manner: SpeechKind,
        text: String,
    },
    /// A line from a service, such as the tournament manager: those begin with a colon.
    Service(String),
    /// A player on our notify list, or with an adjourned game, came or went.
    Notification {
        name: String,
        arrived: bool,
        adjourned: bool,
    },
    /// Players who are online and have an adjourned game with us.
    AdjournedOnline(Vec<String>),
    Stored(StoredGame),
    StoredEnd,
    Past(PastGame),
    /// The first line of the answer to `finger`. Its last ones are written by that player, and may look like those of any list.
    FingerBegins,
    /// A line of the answer to `date`: the server's clock in one of its zones.
    ServerTime(ListedTime),
    /// True if the player of a `finger` answer is logged in.
    Presence(bool),

    // The rest.
    /// `x: Command not found.`
    UnknownCommand {
        command: String,
    },
    SettingRefused(String),
    /// Known, and nothing to us: talk of others, advertisements, acknowledgements.
    Noise,
    Unknown(String),
}

/// A player, as speech and sessions name one: `KnightCap(C)(2399)[185]`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Speaker {
    pub name: String,
    /// Titles without their brackets: `C`, `U`, `TM`, `*`.
    pub titles: Vec<String>,
    pub game: Option<u32>,
}

impl Speaker {
    /// Returns true for a guest, who may bear any name.
    pub fn is_guest(&self) -> bool {
        self.titles.iter().any(|title| matches!(title.as_str(), "U" | "++++"))
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SpeechKind {
    /// To us alone.
    Tell,
    /// To us as the opponent.
    Say,
    /// To all at a board.
    Kibitz,
    /// To those who watch.
    Whisper,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OfferKind {
    Match,
    Draw,
    /// Takeback of half-moves.
    Takeback(u32),
    Abort,
    /// To go on another time.
    Adjourn,
    Switch,
    /// To stop the clocks, or to let them run again.
    Pause,
    /// Simultaneous games, partnership and the like.
    Other,
}

impl OfferKind {
    /// Returns the kind for the server's word; other words, such as `match offer's`, are ignored.
    fn of_word(word: &str) -> Option<Self> {
        Some(match word {
            "match" | "challenge" => Self::Match,
            "draw" => Self::Draw,
            "takeback" => Self::Takeback(1),
            "abort" => Self::Abort,
            "adjourn" | "adjournment" => Self::Adjourn,
            "switch" => Self::Switch,
            "pause" | "unpause" => Self::Pause,
            "simul" | "partner" | "partnership" => Self::Other,
            _ => return None,
        })
    }

    fn in_words(text: &str) -> Option<Self> {
        text.split(|character: char| !character.is_ascii_alphabetic()).find_map(Self::of_word)
    }
}

/// `<pf> 5 w=Ann t=match p=...`
#[derive(Clone, Debug, PartialEq)]
pub struct FicsOffer {
    /// The server's number, unique while it stands.
    pub index: u32,
    pub ours: bool,
    pub with: String,
    pub what: OfferKind,
    pub terms: Option<Box<MatchTerms>>,
}

/// `<g1> 1 p=0 t=blitz r=1 u=0,0 it=300,0 i=300,0 pt=0 rt=1586E,2100 ts=1,0`
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GameParameters {
    pub game: u32,
    pub kind: String,
    pub rated: bool,
    /// White's and Black's rating.
    pub ratings: [ShownRating; 2],
    /// True for White and Black if they use timeseal.
    pub timeseal: [bool; 2],
}
