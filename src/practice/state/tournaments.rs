//! Tournaments, as far as somebody takes part in them; none is ever played.

use std::collections::BTreeSet;

use super::{Denied, ServerState};
use crate::account::AccountId;
use chess::{Tournament, TournamentKind};

impl ServerState {
    /// Announces a tournament that may be joined.
    pub fn announce_tournament(&mut self, kind: TournamentKind, id: &str) {
        let tournament = Tournament { id: id.to_owned(), kind: Some(kind) };
        self.tournaments.entry(tournament).or_default();
    }

    /// Who takes part in a tournament; `None` if there is none.
    pub fn participants(&self, kind: TournamentKind, id: &str) -> Option<&BTreeSet<AccountId>> {
        self.tournaments.get(&Tournament { id: id.to_owned(), kind: Some(kind) })
    }

    /// Lets an account take part, or no more.
    ///
    /// # Errors
    /// [`Denied::NoSuchTournament`].
    pub(crate) fn take_part(
        &mut self,
        account: &AccountId,
        kind: TournamentKind,
        id: &str,
        join: bool,
    ) -> Result<(), Denied> {
        let tournament = Tournament { id: id.to_owned(), kind: Some(kind) };
        let participants = self.tournaments.get_mut(&tournament).ok_or(Denied::NoSuchTournament)?;
        if join {
            participants.insert(account.clone());
        } else {
            participants.remove(account);
        }
        Ok(())
    }
}
