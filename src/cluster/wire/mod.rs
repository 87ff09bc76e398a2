//! Message formats between daemons and workers; `docs/protocol.md` describes them for other
//! programs.
//!
//! A message is a head and a body, both in [postcard](https://postcard.jamesmunns.com/wire-format).
//! The head is the same in all versions of the protocol from 2 on, so that every process can name a
//! sender of another version. The subject alone names the sender, which the server enforces.
//!
//! Invariants: nothing longer than [`LONGEST`] is read; a body is read only from the same protocol and engine; its contents are
//! only text and numbers until [`checked`] turns them into values of the program, or refuses them.

pub mod checked;
#[cfg(test)]
mod tests;

use bytes::Bytes;
use serde::{Deserialize, Serialize, de::DeserializeOwned};

use super::identity::{ProcessIdentity, RunId, Sender};
use council::electors::SearchStatus;
use domain::{Bound, ElectorName, Knowledge, Limits, Score, SearchId, Variant};
use engine::{Heuristic, Percentages};

/// The version of this protocol. It changes with every change of a message.
pub const PROTOCOL: u8 = 4;

/// The longest message, in bytes: a game of a thousand moves fits several times.
pub const LONGEST: usize = 64 << 10;

/// Letters in a name of a machine, game, elector or engine.
pub const LONGEST_NAME: usize = 64;

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DecodeError {
    /// Not a message of this program, or too long.
    #[error("not a message of concilio's")]
    Malformed,
    #[error("{name} runs concilio {theirs} (protocol {protocol}), this is {ours} (protocol {PROTOCOL}): install the same version on both", name = sender.name)]
    Version { sender: Sender, protocol: u8, theirs: String, ours: String },
}

pub fn encode<B: Serialize>(from: &ProcessIdentity, body: &B) -> Bytes {
    // Serialising to memory fails for none of our types.
    let bytes = postcard::to_stdvec(&(PROTOCOL, &from.version, from.sender.run, body)).unwrap_or_default();
    Bytes::from(bytes)
}

/// Reads a message from this name.
///
/// # Errors
/// [`DecodeError`] if it is not a message of this version.
pub fn decode<B: DeserializeOwned>(from: &str, bytes: &[u8], ours: &str) -> Result<(Sender, B), DecodeError> {
    if bytes.len() > LONGEST {
        return Err(DecodeError::Malformed);
    }
    let head = postcard::take_from_bytes::<(u8, String, RunId)>(bytes);
    let ((protocol, theirs, run), body) = head.map_err(|_| DecodeError::Malformed)?;
    if !is_name(&theirs) {
        return Err(DecodeError::Malformed);
    }
    let sender = Sender { name: from.to_owned(), run };
    if protocol != PROTOCOL || theirs != ours {
        return Err(DecodeError::Version { sender, protocol, theirs, ours: ours.to_owned() });
    }
    match postcard::take_from_bytes(body) {
        Ok((body, [])) => Ok((sender, body)),
        _ => Err(DecodeError::Malformed),
    }
}

/// Returns true if a text may be a name: printable, not empty, not long.
pub fn is_name(text: &str) -> bool {
    !text.is_empty() && text.len() <= LONGEST_NAME && !text.chars().any(char::is_control)
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Heartbeat {
    pub state: WorkerState,
    pub cores: u16,
    /// Speed of one core, thousands of nodes a second.
    pub speed: u32,
    pub engines: Vec<String>,
    pub daemons: Vec<RunId>,
    /// The running searches, each with its daemon.
    pub searches: Vec<(RunId, SearchStatus)>,
    /// The number of the answered poll, if it is an answer.
    pub answers: Option<u64>,
}

impl Heartbeat {
    /// Creates the heartbeat of a worker that takes searches and has none, with its cores and its
    /// speed in thousands of nodes a second a core.
    pub fn idle(cores: u16, speed: u32) -> Self {
        let (engines, daemons, searches) = (Vec::new(), Vec::new(), Vec::new());
        Self { state: WorkerState::Lending, cores, speed, engines, daemons, searches, answers: None }
    }

    pub fn busy(&self) -> usize {
        self.searches.iter().map(|(_, search)| usize::from(search.threads)).sum()
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum WorkerState {
    Lending,
    /// It finishes its searches and takes no others.
    Draining,
    /// It has left, and sends nothing more.
    Gone,
}

/// A daemon's sign of life, to all workers. They stop all searches missing from its list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Poll {
    pub number: u64,
    /// The serial numbers of its searches.
    pub searches: Vec<u64>,
}

/// A message to one run of a process: another process of the same name ignores it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Addressed<B> {
    pub to: RunId,
    pub body: B,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum WorkerMessage {
    Answer(Heartbeat),
    Event(SearchEvent),
    Table(TableNews),
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum WorkerCommand {
    Search(Box<SearchCommand>),
    Stop(u64),
    /// The elector on this slot forgets the last game.
    NewGame(u32),
    Leave(u32),
    /// News of a table of the worker's searches. The worker then sends news of it, too.
    Table(TableNews),
}

/// New entries of a transposition table. The copies of an elector share a table on each machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TableNews {
    /// The daemon's number for the table, as in [`RemoteElector::table`].
    pub table: u64,
    /// The key of the searched position.
    pub root: u64,
    /// [`TableEntry::BYTES`](engine::TableEntry::BYTES) each, the deepest first.
    pub entries: Vec<u8>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SearchCommand {
    pub id: SearchId,
    /// The daemon's number for the elector's slot. A slot keeps its table from search to search.
    pub slot: u32,
    pub elector: RemoteElector,
    pub threads: u16,
    pub variant: Variant,
    /// Start of the game, as FEN; `None` is the usual start of the variant.
    pub start: Option<String>,
    /// The moves since, in UCI notation, with blanks between them.
    pub moves: String,
    /// The moves to search, in the same format; empty means all.
    pub root_moves: String,
    pub hints: String,
    /// Only values between these two matter.
    pub window: Option<(Score, Score)>,
    pub limits: Limits,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RemoteElector {
    pub name: ElectorName,
    /// Its transposition table, MiB.
    pub hash: u32,
    /// The daemon's number for its shared table, if it has one.
    pub table: Option<u64>,
    pub kind: RemoteElectorKind,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum RemoteElectorKind {
    Own {
        knowledge: Knowledge,
        /// Weight of each heuristic, per cent.
        percentages: Percentages,
        /// Value of a draw, centipawns.
        contempt: i32,
        /// Per cent of the usual.
        selectivity: u16,
        /// Amplitude and seed of the noise on its evaluation.
        noise: (u16, u64),
    },
    /// A UCI engine of the worker; the values of its options are numbers, true or false.
    Uci {
        /// The worker's name for it.
        engine: String,
        options: Vec<(String, String)>,
    },
    /// The first legal move.
    Trivial,
}

impl RemoteElectorKind {
    /// Returns true if its evaluation knows material, more or less as complete knowledge does.
    pub(crate) fn values_men(&self) -> bool {
        const LITTLE_NOISE: u16 = 300;
        match self {
            Self::Own { knowledge, percentages, noise, .. } => {
                let counts = |heuristic: Heuristic| knowledge.has(heuristic) && percentages[heuristic as usize] >= 50;
                noise.0 <= LITTLE_NOISE && (counts(Heuristic::Material) || counts(Heuristic::Net))
            }
            Self::Uci { .. } => true,
            Self::Trivial => false,
        }
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SearchEvent {
    pub search: SearchId,
    pub elector: ElectorName,
    pub kind: SearchEventKind,
}

/// Kinds of reports: any number of proposals, then one of the others.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum SearchEventKind {
    Proposal(ProposalText),
    /// The search has ended, with its number of nodes.
    Finished(u64),
    Failed(String),
    /// The worker has no core for it, or is leaving.
    GivenBack,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ProposalText {
    /// The principal variation in UCI notation with blanks between the moves, the proposed one first.
    pub moves: String,
    /// Its value for the player to move.
    pub score: Score,
    pub bound: Bound,
    /// The last completed iteration, in plies.
    pub depth: u32,
    pub selective_depth: u32,
    /// Searched root moves of the unfinished iteration.
    pub root_moves_done: u32,
    pub nodes: u64,
    /// Microseconds since the search began.
    pub microseconds: u64,
}
