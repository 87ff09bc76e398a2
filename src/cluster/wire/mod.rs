//! What travels between daemons and workers, byte by byte: `docs/protocol.md` says the same for other programs.
//!
//! A message is a head and a body, both in [postcard](https://postcard.jamesmunns.com/wire-format). The head is the same in all
//! versions of the protocol, so that anybody can say who speaks a version that they do not understand.
//!
//! Invariants: nothing longer than [`LONGEST`] is read; a body is read only if protocol and engine are ours; whatever was read is
//! still only text and numbers: [`checked`] makes values of the house of it, or refuses.

pub mod checked;
#[cfg(test)]
mod tests;

use bytes::Bytes;
use serde::{Deserialize, Serialize, de::DeserializeOwned};

use super::identity::{Identity, RunId, Sender, Version};
use chess::{Bound, ElectorName, Knowledge, Limits, Score, SearchId, Variant};

/// The version of this protocol. It changes with every change of a message.
pub const PROTOCOL: u8 = 1;

/// No message is longer, in bytes: a game of a thousand moves fits several times.
pub const LONGEST: usize = 64 << 10;

/// Letters in a name of a machine, game, elector or engine.
pub const LONGEST_NAME: usize = 64;

/// A message that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WireError {
    /// It is no message of ours, or longer than any.
    #[error("not a message of concilio's")]
    Malformed,
    /// It was sent by another version of this program.
    #[error("{name} runs concilio {theirs} (protocol {protocol}), this is {ours} (protocol {PROTOCOL}): install the same version on both", name = sender.name)]
    Version {
        /// By whom.
        sender: Sender,
        /// Their protocol.
        protocol: u8,
        /// Their version.
        theirs: Version,
        /// Ours.
        ours: Version,
    },
}

/// Writes a message.
pub fn seal<B: Serialize>(from: &Identity, body: &B) -> Bytes {
    // Serialising to memory fails for none of our types.
    let bytes = postcard::to_stdvec(&(PROTOCOL, &from.version, &from.sender, body)).unwrap_or_default();
    Bytes::from(bytes)
}

/// Reads a message.
///
/// # Errors
/// [`WireError`] if it is none, or not of our version.
pub fn open<B: DeserializeOwned>(bytes: &[u8], ours: &Version) -> Result<(Sender, B), WireError> {
    if bytes.len() > LONGEST {
        return Err(WireError::Malformed);
    }
    let head = postcard::take_from_bytes::<(u8, Version, Sender)>(bytes);
    let ((protocol, theirs, sender), body) = head.map_err(|_| WireError::Malformed)?;
    if !is_name(&sender.name) || !is_name(&theirs.0) {
        return Err(WireError::Malformed);
    }
    if protocol != PROTOCOL || theirs != *ours {
        return Err(WireError::Version { sender, protocol, theirs, ours: ours.clone() });
    }
    match postcard::take_from_bytes(body) {
        Ok((body, [])) => Ok((sender, body)),
        _ => Err(WireError::Malformed),
    }
}

/// Whether a text may name something: printable, not empty, not long.
pub fn is_name(text: &str) -> bool {
    !text.is_empty() && text.len() <= LONGEST_NAME && !text.chars().any(char::is_control)
}

/// A worker's sign of life.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Beat {
    /// Whether it takes searches.
    pub state: WorkerState,
    /// Cores it lends.
    pub cores: u16,
    /// Speed of one core, thousands of nodes a second.
    pub speed: u32,
    /// UCI engines it can run, by name.
    pub engines: Vec<String>,
    /// Daemons that have seats on it.
    pub tenants: Vec<RunId>,
    /// What it searches.
    pub searches: Vec<Searching>,
    /// The number of the call that this answers, if it answers one.
    pub answers: Option<u64>,
}

/// Whether a worker takes searches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum WorkerState {
    /// It does.
    Lending,
    /// It finishes those it has and takes no others.
    Draining,
    /// It has left; this is its last word.
    Gone,
}

/// A search that runs on a worker.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Searching {
    /// For whom.
    pub daemon: RunId,
    /// Which search.
    pub search: SearchId,
    /// By which elector.
    pub elector: ElectorName,
    /// On how many threads.
    pub threads: u16,
    /// Nodes so far.
    pub nodes: u64,
}

/// A daemon's sign of life, to all workers. What it does not list is not wanted any more.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Call {
    /// Counts the calls of this daemon.
    pub number: u64,
    /// The searches that it waits for, by their serial numbers.
    pub searches: Vec<u64>,
}

/// What a daemon wants of one worker.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Order {
    /// Search.
    Search(Box<SearchOrder>),
    /// Stop the search of this serial number; nothing more is wanted of it.
    Stop(u64),
    /// The elector on this seat forgets the last game.
    NewGame(u32),
    /// The elector on this seat will not come back.
    Leave(u32),
}

/// A search to do.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SearchOrder {
    /// Its identity: game, ply, serial number, phase.
    pub id: SearchId,
    /// The daemon's number for the elector's seat: one that comes back finds its table as it was.
    pub seat: u32,
    /// Who searches.
    pub elector: Elector,
    /// On how many threads.
    pub threads: u16,
    /// The rules.
    pub variant: Variant,
    /// Where the game began, as FEN; `None` is the usual start of the variant.
    pub start: Option<String>,
    /// The moves since, in UCI notation, with blanks between them.
    pub moves: String,
    /// The moves to search, in the same way; none means all.
    pub root_moves: String,
    /// Moves that others propose.
    pub hints: String,
    /// Only a value between these two matters.
    pub window: Option<(Score, Score)>,
    /// Where to end.
    pub limits: Limits,
}

/// An elector as it travels.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Elector {
    /// Its name in the vote.
    pub name: ElectorName,
    /// Its transposition table, MiB.
    pub hash: u32,
    /// The daemon's number for the table that it shares with others of its council, if it does.
    pub table: Option<u64>,
    /// What runs.
    pub kind: Kind,
}

/// The kinds of elector that travel.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Kind {
    /// An instance of our own engine.
    Own {
        /// What it evaluates.
        knowledge: Knowledge,
        /// How much of each heuristic counts, per cent.
        percentages: [u16; 8],
        /// What a draw costs, centipawns.
        contempt: i32,
        /// Per cent of the usual.
        selectivity: u16,
        /// Amplitude and seed of the noise on its evaluation.
        noise: (u16, u64),
    },
    /// A UCI engine that the worker has under this name, with options whose values are numbers, true or false.
    Uci {
        /// The name.
        engine: String,
        /// Options and values.
        options: Vec<(String, String)>,
    },
    /// The first legal move.
    Trivial,
}

/// What a worker says of a search.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Word {
    /// Which search.
    pub search: SearchId,
    /// Whose.
    pub elector: ElectorName,
    /// What it says.
    pub says: Says,
}

/// The words of a search: any number of proposals, then one of the others.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Says {
    /// An iteration was completed.
    Proposal(ProposalText),
    /// It is over, after so many nodes.
    Finished(u64),
    /// The elector failed, for this reason.
    Failed(String),
    /// The worker has no core for it, or is leaving; it was not begun, or not brought to an end.
    GivenBack,
}

/// A proposal as it travels.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ProposalText {
    /// The principal variation in UCI notation with blanks between the moves, the proposed one first.
    pub moves: String,
    /// Its value for the player to move.
    pub score: Score,
    /// What the value is worth.
    pub bound: Bound,
    /// Completed iterations, plies.
    pub depth: u32,
    /// The longest line, plies.
    pub selective_depth: u32,
    /// Root moves searched in the iteration that was not completed.
    pub root_moves_done: u32,
    /// Nodes so far.
    pub nodes: u64,
    /// Since the search began, microseconds.
    pub microseconds: u64,
}
