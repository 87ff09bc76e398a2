//! Rows of the page and of `concilio ctl status --json`: plain values with names.
//!
//! Times are milliseconds, scores text such as `+0.34` or `#3` from our side, colours `white` and `black`.

use std::fmt::Display;

use jiff::Timestamp;
use serde::Serialize;

use bot::session::AccountMode;
use council::{electors::ElectorSpec, player::vote_report};
use domain::{
    Account, GameInfo, Line, Phase, Player, Proposal, UciMove, color_word,
    vote_words::{ElectorRole, NamedElector, VoteInWords},
};
use util::printable;

/// Maximum letters of a text from outside: a name, a reason, a message.
const LONGEST_TEXT: usize = 400;

/// Maximum number of moves of an expected line.
const LONGEST_LINE: usize = 10;

#[derive(Clone, Debug, Default, Serialize)]
pub struct AccountRow {
    /// Name on its server; `None` before the first connection.
    pub name: Option<String>,
    /// `BOT`, `C` and the like.
    pub title: Option<String>,
    /// Ratings by speed, as the server reported them.
    pub ratings: Vec<(String, u32)>,
    pub state: AccountState,
    /// Reason for being offline, or the limit.
    pub reason: Option<String>,
    pub until: Option<Timestamp>,
    pub since: Option<Timestamp>,
    pub mode: AccountMode,
    pub mode_since: Option<Timestamp>,
    pub reconnections: u32,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum AccountState {
    /// No news yet.
    #[default]
    Connecting,
    Connected,
    /// The connection is lost; reconnecting.
    Disconnected,
    /// The server refuses the account.
    Rejected,
    /// Closed by the operator.
    Closed,
}

impl AccountRow {
    pub(super) fn of(account: &Account) -> Self {
        Self {
            name: Some(short(&account.player.name)),
            title: account.player.title.as_deref().map(short),
            ratings: account.ratings.clone(),
            state: AccountState::Connected,
            ..Self::default()
        }
    }
}

#[derive(Clone, Debug, Serialize)]
pub struct PlayerRow {
    pub name: String,
    pub title: Option<String>,
    /// Rating at the start of the game.
    pub rating: Option<u32>,
}

impl From<&Player> for PlayerRow {
    fn from(player: &Player) -> Self {
        Self { name: short(&player.name), title: player.title.as_deref().map(short), rating: player.rating }
    }
}

/// The constant parts of a game.
#[derive(Clone, Debug, Serialize)]
pub struct GameHead {
    pub server: String,
    pub id: String,
    pub white: PlayerRow,
    pub black: PlayerRow,
    pub our_color: &'static str,
    /// The rules, by Lichess's key.
    pub variant: &'static str,
    /// The clock in minutes and seconds, such as `3+2`.
    pub time_control: String,
    pub speed: &'static str,
    pub rated: bool,
    pub url: Option<String>,
    pub tournament: Option<String>,
    pub electors: Vec<ElectorRow>,
    /// Time of the first event of the game.
    pub since: Timestamp,
}

impl GameHead {
    pub(super) fn new(server: &str, info: &GameInfo, electors: &[ElectorSpec], since: Timestamp) -> Self {
        Self {
            server: server.to_owned(),
            id: info.id.to_string(),
            white: (&info.white).into(),
            black: (&info.black).into(),
            our_color: color_word(info.our_color),
            variant: info.terms.variant.key(),
            time_control: info.terms.time_control.in_minutes(),
            speed: info.terms.time_control.speed().key(),
            rated: info.terms.rated,
            url: info.url.clone(),
            tournament: info.tournament.clone(),
            electors: electors.iter().map(ElectorRow::from).collect(),
            since,
        }
    }
}

#[derive(Clone, Debug, Serialize)]
pub struct ElectorRow {
    pub name: String,
    /// Its name in words, such as `king and centre`.
    pub words: String,
    pub role: ElectorRole,
    /// Knowledge in letters; `None` for a foreign engine.
    pub knowledge: Option<String>,
    pub threads: usize,
}

impl From<&ElectorSpec> for ElectorRow {
    fn from(spec: &ElectorSpec) -> Self {
        let knowledge = spec.knowledge().map(|knowledge| knowledge.to_string());
        let NamedElector { name: words, role, .. } =
            NamedElector::new::<Line>(spec.name.as_str(), knowledge.as_deref(), false);
        Self { name: spec.name.to_string(), words, role, knowledge, threads: spec.threads }
    }
}

#[derive(Clone, Debug, Default, Serialize)]
pub struct BoardRow {
    pub fen: String,
    pub ply: usize,
    /// The moves, in standard algebraic notation.
    pub moves: Vec<String>,
    /// The last one, in UCI notation.
    pub last: Option<String>,
    pub turn: &'static str,
    pub check: bool,
    /// Clocks when the position came, White's first, ms.
    pub clocks: Option<[u64; 2]>,
    /// True if the clock of the side to move runs.
    pub running: bool,
    /// Running time of the clock of the side to move, ms.
    pub elapsed: u64,
}

/// Current proposal of one elector, or its proposal in the last election.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct VoteRow {
    /// The elector by its name in the journal; `re-search` for the second phase.
    pub elector: String,
    /// Its name in words, such as `king and centre`.
    pub words: String,
    pub short: String,
    pub role: ElectorRole,
    /// True for an adviser: it searches for the first third of the move and has no vote.
    pub adviser: bool,
    pub san: String,
    pub uci: String,
    /// Its value from our side, such as `+0.34`.
    pub score: String,
    /// Centipawns; mates count thousands.
    pub cp: i32,
    pub depth: u32,
    pub nodes: u64,
    /// Machine of its search; `None` is this one.
    pub machine: Option<String>,
    /// Weight in the election; `None` before it.
    pub weight: Option<f64>,
    pub second: bool,
}

impl VoteRow {
    /// Creates the row of a proposal; `san` is its move in standard algebraic notation.
    pub fn new<M: Display>(named: NamedElector, san: String, proposal: &Proposal<M>, weight: Option<f64>) -> Self {
        let second = proposal.search.phase == Phase::Second;
        let NamedElector { name: words, short, role, adviser } = named;
        Self {
            elector: if second { vote_report::SECOND_PHASE } else { proposal.elector.as_str() }.to_owned(),
            words,
            short,
            role,
            adviser,
            san,
            uci: proposal.best.to_string(),
            score: proposal.score.to_string(),
            cp: proposal.score.as_centipawns(),
            depth: proposal.depth,
            nodes: proposal.nodes,
            machine: proposal.machine.as_ref().map(ToString::to_string),
            weight,
            second,
        }
    }
}

#[derive(Clone, Debug, Serialize)]
pub struct DecisionRow {
    /// Number of moves before it.
    pub ply: usize,
    pub san: String,
    pub uci: String,
    /// Its value from our side; `None` for a move of the book.
    pub score: Option<String>,
    pub cp: Option<i32>,
    /// Criterion, or `book`, `tablebase`, `forced` and the like.
    pub chosen_by: &'static str,
    /// The vote as a chess player reads it.
    #[serde(flatten)]
    pub words: VoteInWords,
    /// The whole election in one line.
    pub summary: String,
    /// Disagreement of the vote, 0 to 1.
    pub split: f64,
    pub nodes: u64,
    /// Time from task to decision, ms.
    pub elapsed: u64,
    /// Normal and maximum time of the move, ms.
    pub budget: Option<[u64; 2]>,
    /// Time reserved for network lag, ms.
    pub lag: u64,
    /// The expected line, from the move on.
    pub line: Vec<LineMove>,
}

#[derive(Clone, Debug, Serialize)]
pub struct LineMove {
    pub san: String,
    pub uci: String,
    pub fen: String,
}

impl LineMove {
    /// Returns the legal beginning of `moves`.
    pub(crate) fn all(line: &Line, moves: impl IntoIterator<Item = UciMove>) -> Vec<Self> {
        let mut line = line.clone();
        let moves = moves.into_iter().take(LONGEST_LINE);
        let plays = moves.map_while(|uci| {
            let san = line.san(uci);
            line.play(uci).ok()?;
            Some(Self { san, uci: uci.to_string(), fen: line.fen() })
        });
        plays.collect()
    }
}

#[derive(Clone, Debug, Serialize)]
pub struct OverRow {
    /// End in words, such as `Ann wins by resignation`.
    pub words: String,
    /// `1-0`, `0-1`, `1/2-1/2`, or `*`.
    pub result: &'static str,
    /// `won`, `lost`, `drawn`, or nothing without a result.
    pub ours: Option<&'static str>,
    pub rating_change: Option<i32>,
    pub at: Timestamp,
}

#[derive(Clone, Debug, Serialize)]
pub struct ChatRow {
    pub name: String,
    pub text: String,
    /// `player` or `spectator`.
    pub room: &'static str,
}

#[derive(Clone, Debug, Serialize)]
pub struct ChallengeRow {
    pub serial: u64,
    pub server: String,
    pub opponent: PlayerRow,
    pub terms: String,
    /// `accepted`, `declined`, `queued` or `cancelled`.
    pub outcome: &'static str,
    pub why: String,
    pub at: Timestamp,
}

#[derive(Clone, Debug, Serialize)]
pub struct LogRow {
    pub serial: u64,
    pub at: Timestamp,
    /// `info`, `warn` or `error`.
    pub level: &'static str,
    /// The kind of event in one word.
    pub kind: &'static str,
    pub text: String,
}

/// Shortens a text from outside.
pub(super) fn short(text: &str) -> String {
    let cut: String = text.chars().take(LONGEST_TEXT).collect();
    printable(&cut).into_owned()
}
