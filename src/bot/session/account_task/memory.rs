//! What outlives the process: the lobby's limits and the server's own notes, in the journal.

use domain::ServerName;
use jiff::Timestamp;

use crate::{
    journal::{Archive, JournalError},
    session::{Runtime, lobby::LobbyMemory},
};

const MEMORY: &str = "lobby/";

pub(super) async fn remembered(runtime: &Runtime, name: &ServerName) -> LobbyMemory {
    let stored = runtime.journal.state(&memory_key(name)).await;
    let stored = stored.inspect_err(|error| tracing::warn!(%error, "cannot read the stored limits"));
    let memory = stored.ok().flatten().map(|text| {
        let read = serde_json::from_str(&text);
        read.inspect_err(|error| tracing::warn!(%error, "stored limits are unreadable; starting without them"))
    });
    memory.and_then(Result::ok).unwrap_or_default()
}

/// Returns the players with refusals, for all accounts: account, id, end of the rest, and number of refusals.
pub fn decliners(archive: &Archive) -> Result<Vec<(String, String, Timestamp, u32)>, JournalError> {
    let mut found = Vec::new();
    for (key, text) in archive.states(MEMORY)? {
        let memory: LobbyMemory = serde_json::from_str(&text).unwrap_or_default();
        let account = key.strip_prefix(MEMORY).unwrap_or_default();
        let declined = memory.matchmaker.decliners();
        found.extend(declined.map(|(player, until, times)| (account.to_owned(), player.to_owned(), until, times)));
    }
    Ok(found)
}

pub(super) fn learned_key(name: &ServerName) -> String {
    format!("server/{name}")
}

pub(super) fn memory_key(name: &ServerName) -> String {
    format!("{MEMORY}{name}")
}
