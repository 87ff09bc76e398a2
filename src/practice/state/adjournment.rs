//! Functions of the Internet chess servers that Lichess lacks: one game at a time, agreed aborts,
//! adjournments.

use std::sync::Arc;

use super::{
    server_state::{Denied, ServerState},
    views::{ChallengeState, GameView, PracticeAccountEvent},
};
use crate::{account::AccountId, game::Stop};
use domain::GameId;

impl ServerState {
    /// Limits the account to one game at a time; when one begins, its challenges are withdrawn.
    pub fn play_one_at_a_time(&mut self, account: &AccountId) {
        self.solo.insert(account.clone());
    }

    pub fn play_any_number(&mut self, account: &AccountId) {
        self.solo.remove(account);
    }

    /// Checks that an account can begin a game now. Games from before the limit do not count.
    ///
    /// # Errors
    /// [`Denied::Busy`] if it plays one at a time and does.
    pub fn check_free(&self, account: &AccountId) -> Result<(), Denied> {
        let plays = || self.games.values().any(|hosted| hosted.game.is_running() && hosted.is_solo_game_of(account));
        if self.solo.contains(account) && plays() {
            let name = self.account(account).map_or_else(|| account.to_string(), |account| account.name.clone());
            return Err(Denied::Busy(name));
        }
        Ok(())
    }

    pub(super) fn withdraw_challenges_of_busy(&mut self, account: &AccountId) {
        if !self.solo.contains(account) {
            return;
        }
        for challenge in self.challenges_of(account) {
            if let Some(view) = self.close_challenge(&challenge.id, ChallengeState::Cancelled) {
                self.tell_both(&view, PracticeAccountEvent::ChallengeCancelled);
            }
        }
    }

    /// Handles the lost connection of an account that plays one game at a time. `loss` decides how the
    /// game stops; `None` forfeits it.
    pub fn lose_connection(&mut self, account: &AccountId, loss: impl Fn(&GameView) -> Option<Stop>) {
        for view in self.views(|hosted| hosted.game.is_running() && hosted.is_solo_game_of(account)) {
            let Some(color) = view.pairing.color_of(account) else { continue };
            let loss = loss(&view);
            self.with_game(&view.pairing.id, |game, now| game.lose_connection(color, loss, now));
        }
        for view in self.adjourned_of(account) {
            if view.resume_offer == view.pairing.color_of(account) {
                let _ = self.resume(&view.pairing.id, account, false);
            }
        }
    }

    /// The adjourned games of an account, oldest first.
    pub fn adjourned_of(&self, account: &AccountId) -> Vec<Arc<GameView>> {
        self.views(|hosted| hosted.game.is_adjourned && hosted.pairing.color_of(account).is_some())
    }

    /// Wants an adjourned game to go on, or (`yes` is false) no longer does. It goes on when both players want it.
    pub fn resume(&mut self, id: &GameId, by: &AccountId, yes: bool) -> Result<(), Denied> {
        let color = self.color_at(id, by)?;
        let players = self.game_view(id).ok_or(Denied::NoSuchGame)?;
        if yes {
            for seat in players.pairing.players.iter() {
                self.check_free(&seat.account)?;
            }
        }
        if yes && let Some(hosted) = self.games.get_mut(id) {
            *hosted.solo.get_mut(color) |= self.solo.contains(by);
        }
        self.with_game(id, |game, now| game.resume(color, yes, now));
        if let Some(view) = self.game_view(id) {
            if view.is_adjourned {
                self.tell_players(&view, PracticeAccountEvent::ResumeOffer);
            } else {
                for seat in view.pairing.players.iter() {
                    self.withdraw_challenges_of_busy(&seat.account);
                }
            }
        }
        Ok(())
    }
}
