//! What is shown, as it is sent: plain values with names for the page and for `concilio ctl status --json`.
//!
//! Times are milliseconds, scores text such as `+0.34` or `#3` from our side, colours `white` and `black`.

use jiff::Timestamp;
use serde::Serialize;

use bot::session::AccountMode;
use council::{
    electors::{ElectorKind, ElectorSpec},
    player::vote_report,
};
use domain::{
    Account, Color, GameInfo, Line, Phase, Player, Proposal, Score,
    vote_words::{ElectorRole, MoveGroup, NamedElector},
};
use util::printable;

/// How many letters of a text from outside are shown: a name, a reason, something said.
const LONGEST_TEXT: usize = 400;

/// An account of ours.
#[derive(Clone, Debug, Default, Serialize)]
pub struct AccountRow {
    /// What it is called on its server; `None` before the first connection.
    pub name: Option<String>,
    /// `BOT`, `C` and the like.
    pub title: Option<String>,
    /// Ratings by speed, as the server told them.
    pub ratings: Vec<(String, u32)>,
    /// Whether the connection stands.
    pub state: AccountState,
    /// Why it does not, or what limit is met.
    pub reason: Option<String>,
    /// Until when the limit holds.
    pub until: Option<Timestamp>,
    /// Since when.
    pub since: Option<Timestamp>,
    /// `playing`, `paused` or `draining`.
    pub mode: &'static str,
    /// Since when, where that has changed.
    pub mode_since: Option<Timestamp>,
    /// How often the connection was mended.
    pub reconnections: u32,
}

/// How an account stands to its server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum AccountState {
    /// It has not been heard of yet.
    #[default]
    Connecting,
    /// The server knows us.
    Connected,
    /// The connection was lost and is being mended.
    Disconnected,
    /// The server will not have us.
    Rejected,
    /// It has ended, as it was told to.
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

/// The word for a mode.
pub(super) const fn mode_word(mode: AccountMode) -> &'static str {
    match mode {
        AccountMode::Playing => "playing",
        AccountMode::Paused => "paused",
        AccountMode::Draining => "draining",
    }
}

/// A player of a game.
#[derive(Clone, Debug, Serialize)]
pub struct PlayerRow {
    /// As shown.
    pub name: String,
    /// `GM`, `BOT` and the like.
    pub title: Option<String>,
    /// When the game began.
    pub rating: Option<u32>,
}

impl From<&Player> for PlayerRow {
    fn from(player: &Player) -> Self {
        Self { name: short(&player.name), title: player.title.as_deref().map(short), rating: player.rating }
    }
}

/// What does not change while a game runs.
#[derive(Clone, Debug, Serialize)]
pub struct GameHead {
    /// On which account.
    pub server: String,
    /// Its name there.
    pub id: String,
    /// Who has White.
    pub white: PlayerRow,
    /// Who has Black.
    pub black: PlayerRow,
    /// Our colour.
    pub our_color: &'static str,
    /// The rules, by Lichess's key.
    pub variant: &'static str,
    /// The clock in minutes and seconds, such as `3+2`.
    pub time_control: String,
    /// The clock's class.
    pub speed: &'static str,
    /// Whether ratings change.
    pub rated: bool,
    /// Where it can be seen.
    pub url: Option<String>,
    /// The tournament it belongs to.
    pub tournament: Option<String>,
    /// Who proposes, in the order of the roster.
    pub electors: Vec<ElectorRow>,
    /// Since when we know of it.
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

/// An elector of a roster.
#[derive(Clone, Debug, Serialize)]
pub struct ElectorRow {
    /// Its name in the vote.
    pub name: String,
    /// Its name in words, such as `king and centre`.
    pub words: String,
    /// Its part in the vote.
    pub role: ElectorRole,
    /// What it knows, in letters; `None` for a foreign engine.
    pub knowledge: Option<String>,
    /// Threads of its search.
    pub threads: usize,
}

impl From<&ElectorSpec> for ElectorRow {
    fn from(spec: &ElectorSpec) -> Self {
        let knowledge = match &spec.kind {
            ElectorKind::Own(instance) => Some(instance.knowledge.to_string()),
            ElectorKind::Engine(_) | ElectorKind::Prover | ElectorKind::Trivial | ElectorKind::Made(_) => None,
        };
        let NamedElector { name: words, role, .. } =
            NamedElector::new::<Line>(spec.name.as_str(), knowledge.as_deref(), false);
        Self { name: spec.name.to_string(), words, role, knowledge, threads: spec.threads }
    }
}

/// The position on the board, with the clocks.
#[derive(Clone, Debug, Default, Serialize)]
pub struct BoardRow {
    /// The position.
    pub fen: String,
    /// How many moves were made since the game's start.
    pub ply: usize,
    /// The moves, in standard algebraic notation.
    pub moves: Vec<String>,
    /// The last one, in UCI notation.
    pub last: Option<String>,
    /// Whose turn it is.
    pub turn: &'static str,
    /// Whether the king of that side is in check.
    pub check: bool,
    /// What the clocks showed when the position came, White's first, ms.
    pub clocks: Option<[u64; 2]>,
    /// Whether the clock of the side to move runs.
    pub running: bool,
}

/// What one elector proposes now, or proposed in the last election.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct VoteRow {
    /// The elector by its name in the journal; `re-search` for the second phase.
    pub elector: String,
    /// Its name in words, such as `king and centre`.
    pub words: String,
    /// Its short form, such as `mbkc`.
    pub short: String,
    /// Its part in the vote.
    pub role: ElectorRole,
    /// Whether it only advises: it searches for the first third of the move and has no vote.
    pub adviser: bool,
    /// The move, in standard algebraic notation.
    pub san: String,
    /// The same in UCI notation.
    pub uci: String,
    /// Its value from our side, such as `+0.34`.
    pub score: String,
    /// The same in centipawns; mates count thousands.
    pub cp: i32,
    /// The last completed iteration, plies.
    pub depth: u32,
    /// Nodes visited.
    pub nodes: u64,
    /// The machine that lends its cores for it; `None` is this one.
    pub machine: Option<String>,
    /// What it weighed in the election; `None` before it.
    pub weight: Option<f64>,
    /// Whether it belongs to the second phase.
    pub second: bool,
}

impl VoteRow {
    pub(super) fn new(named: NamedElector, san: String, proposal: &Proposal, weight: Option<f64>) -> Self {
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

/// A move of ours, and how it was elected.
#[derive(Clone, Debug, Serialize)]
pub struct DecisionRow {
    /// How many moves had been made before it.
    pub ply: usize,
    /// The move, in standard algebraic notation.
    pub san: String,
    /// The same in UCI notation.
    pub uci: String,
    /// Its value from our side; `None` for a move of the book.
    pub score: Option<String>,
    /// The same in centipawns.
    pub cp: Option<i32>,
    /// What chose it: the criterion, or `book`, `tablebase`, `forced` and the like.
    pub chosen_by: &'static str,
    /// Who wanted what, in one sentence; for a move without a vote, where it came from.
    pub sentence: String,
    /// The rule of election in words; empty where nobody voted.
    pub rule: &'static str,
    /// How many of all who searched, advisers included, proposed the move, and how many searched.
    pub agreement: [usize; 2],
    /// The proposals by move, the elected one first.
    pub groups: Vec<MoveGroup>,
    /// The whole election in one line.
    pub summary: String,
    /// How split the vote was, 0 to 1.
    pub split: f64,
    /// Nodes of all electors.
    pub nodes: u64,
    /// From task to decision, ms.
    pub elapsed: u64,
    /// What a normal move was to take, and never more than this, ms.
    pub budget: Option<[u64; 2]>,
    /// What was held back for the way to the server, ms.
    pub lag: u64,
    /// What the whole line is expected to be, in standard algebraic notation.
    pub line: Vec<String>,
}

/// How a game ended.
#[derive(Clone, Debug, Serialize)]
pub struct OverRow {
    /// In words, such as `Ann wins by resignation`.
    pub words: String,
    /// `1-0`, `0-1`, `1/2-1/2`, or `*`.
    pub result: &'static str,
    /// `won`, `lost`, `drawn`, or nothing where it counts for nobody.
    pub ours: Option<&'static str>,
    /// How our rating changed.
    pub rating_change: Option<i32>,
    /// When.
    pub at: Timestamp,
}

/// Something said in a game.
#[derive(Clone, Debug, Serialize)]
pub struct ChatRow {
    /// The speaker.
    pub name: String,
    /// What was said.
    pub text: String,
    /// `player` or `spectator`.
    pub room: &'static str,
}

/// A challenge that was decided upon.
#[derive(Clone, Debug, Serialize)]
pub struct ChallengeRow {
    /// Counts the challenges.
    pub serial: u64,
    /// On which account.
    pub server: String,
    /// By whom.
    pub opponent: PlayerRow,
    /// On what terms, in words.
    pub terms: String,
    /// `accepted`, `declined`, `queued` or `cancelled`.
    pub outcome: &'static str,
    /// Why.
    pub why: String,
    /// When.
    pub at: Timestamp,
}

/// A line of what happened.
#[derive(Clone, Debug, Serialize)]
pub struct LogRow {
    /// Counts the lines.
    pub serial: u64,
    /// When.
    pub at: Timestamp,
    /// `info`, `warn` or `error`.
    pub level: &'static str,
    /// The kind of event in one word.
    pub kind: &'static str,
    /// The line.
    pub text: String,
}

/// What comes from outside, no longer than anybody reads.
pub(super) fn short(text: &str) -> String {
    let cut: String = text.chars().take(LONGEST_TEXT).collect();
    printable(&cut).into_owned()
}

/// `white` or `black`.
pub(super) const fn color_word(color: Color) -> &'static str {
    match color {
        Color::White => "white",
        Color::Black => "black",
    }
}

/// A value as text and as a number.
pub(super) fn shown(score: Option<Score>) -> (Option<String>, Option<i32>) {
    (score.map(|score| score.to_string()), score.map(Score::as_centipawns))
}
