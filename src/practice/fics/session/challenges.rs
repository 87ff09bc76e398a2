//! Messages about challenges, and about resuming an adjourned game.

use std::io;

use super::VisitorSession;
use crate::{
    fics::{
        offers::{PendingKind, PendingOffer},
        text,
    },
    state::{ChallengeView, GameView, PracticeAccountEvent},
};
use domain::{Color, DeclineReason};

impl VisitorSession {
    pub(in crate::fics) async fn account_event(&mut self, event: PracticeAccountEvent) -> io::Result<()> {
        match event {
            PracticeAccountEvent::GameStart(view) => {
                let gone = self.withdraw_offers(|what| !what.is_of_game());
                if let Some(offer) = gone.iter().find(|offer| offer.ours) {
                    self.line(self.dialect().they_accept(&offer.with));
                }
                if !self.context.lobby.remove_seeks(&self.me.id, None).is_empty() {
                    self.line("Your seeks have been removed.");
                }
                self.join_board(&view).await?;
            }
            // The board reports these.
            PracticeAccountEvent::GameFinish(_) | PracticeAccountEvent::GameAdjourned(_) => {}
            PracticeAccountEvent::ResumeOffer(view) => self.resumption(&view),
            PracticeAccountEvent::Challenge(view) => self.challenged(&view).await?,
            PracticeAccountEvent::ChallengeCancelled(view) => self.challenge_gone(&view).await?,
            PracticeAccountEvent::ChallengeDeclined(view) => {
                let gone = self.remove_match(&view);
                if gone.iter().any(|offer| offer.ours) {
                    self.line(format!("{} declines the match offer.", view.dest.name));
                }
                self.show_gone(&gone);
            }
        }
        Ok(())
    }

    async fn challenged(&mut self, view: &ChallengeView) -> io::Result<()> {
        let ours = view.challenger.account == self.me.id;
        if !ours && (self.playing.is_some() || !self.variables.is_on("open")) {
            // The other protocol, which has other customs, lets such a challenge through.
            let (id, me) = (view.id.clone(), self.me.id.clone());
            let _ = self.ask(move |state| state.decline(&id, &me, DeclineReason::Later)).await?;
            return Ok(());
        }
        let with = if ours { &view.dest.name } else { &view.challenger.name };
        let terms = text::challenge(view, &self.context.lobby);
        let Some(index) = self.offers.add(ours, with, PendingKind::Match(view.id.clone()), &terms) else {
            return Ok(());
        };
        self.tell_challenge(ours, index, with, &terms, !ours && view.challenger.bot);
        Ok(())
    }

    fn tell_challenge(&mut self, ours: bool, index: u32, with: &str, terms: &str, computer: bool) {
        if ours {
            self.line(format!("Issuing: {terms}."));
        } else {
            let warning = if computer { format!("--** {with} is a computer **--\n") } else { String::new() };
            self.line(format!(
                "Challenge: {terms}.\n{warning}You can \"accept\" or \"decline\", or propose different parameters."
            ));
        }
        self.show_pending(ours, index, with, "match", terms);
    }

    async fn challenge_gone(&mut self, view: &ChallengeView) -> io::Result<()> {
        let gone = self.remove_match(view);
        for offer in &gone {
            let (me, them) = (self.me.id.clone(), view.challenger.account.clone());
            let (we_play, they_play) = self.ask(move |state| (state.is_playing(&me), state.is_playing(&them))).await?;
            let with = &offer.with;
            if offer.ours {
                self.line(format!("Challenge to {with} withdrawn."));
            } else if we_play {
                self.line(format!("Challenge from {with} removed."));
            } else if they_play {
                self.line(format!(
                    "{with}, who was challenging you, has joined a match with another player.\nChallenge from {with} removed."
                ));
            } else {
                self.line(format!("{with} withdraws the match offer."));
            }
        }
        self.show_gone(&gone);
        Ok(())
    }

    fn remove_match(&mut self, view: &ChallengeView) -> Vec<PendingOffer> {
        self.offers.remove(|offer| matches!(&offer.what, PendingKind::Match(id) if *id == view.id))
    }

    fn resumption(&mut self, view: &GameView) {
        let Some(color) = view.pairing.color_of(&self.me.id).filter(|_| view.is_adjourned) else { return };
        let opponent = view.pairing.players.get(!color);
        let (name, computer) = (opponent.name.clone(), opponent.bot);
        for ours in [true, false] {
            let by: Color = if ours { color } else { !color };
            let what = PendingKind::Resume(view.pairing.id.clone());
            if view.resume_offer == Some(by) {
                let terms = text::resumption(&view.pairing, &view.line.prefix(0), by, &self.context.lobby);
                if let Some(index) = self.offers.add(ours, &name, what, &terms) {
                    self.tell_challenge(ours, index, &name, &terms, !ours && computer);
                }
            } else {
                let gone = self.offers.remove(|offer| offer.ours == ours && offer.what == what);
                if !gone.is_empty() {
                    let verb = if ours { "declines" } else { "withdraws" };
                    self.line(format!("{name} {verb} the match offer."));
                }
                self.show_gone(&gone);
            }
        }
    }

    /// Offers that are void now, and were.
    pub(super) fn withdraw_offers(&mut self, void: impl Fn(&PendingKind) -> bool) -> Vec<PendingOffer> {
        let gone = self.offers.remove(|offer| void(&offer.what));
        self.show_gone(&gone);
        gone
    }

    pub(in crate::fics) fn show_gone(&mut self, gone: &[PendingOffer]) {
        if !gone.is_empty() && self.variables.interface("pendinfo") {
            let numbers = gone.iter().map(|offer| format!(" {}", offer.index)).collect::<String>();
            self.line(format!("<pr>{numbers}"));
        }
    }
}
