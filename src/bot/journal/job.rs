//! Work of the writing thread.

use super::{JournalError, store::Store};

/// Work for the writer, which may have to be done again where a transaction failed.
pub(super) trait WriterJob: Send {
    /// Does it inside the writer's transaction.
    fn write(&mut self, store: &mut Store<'_>) -> Result<(), JournalError>;

    /// Says what came of it: after the commit, or why there is none. May be called again when it is done after all.
    fn answer(&mut self, outcome: Result<(), JournalError>);

    /// Returns true if a caller waits for it.
    fn is_awaited(&self) -> bool;

    /// Returns true if the job is kept while the disk fails; a question is answered once.
    fn is_kept(&self) -> bool;
}
