//! Challenges, their answers, and adjourned games.

use std::{io, time::Duration};

use crate::{
    account::AccountId,
    dialect::Dialect,
    fics::{
        lobby::{Rank, Wanted},
        offers::{PendingKind, PendingOffer},
        session::{VisitorSession, opponent_of},
        text,
    },
    state::{ChallengeTerms, Denied},
};
use domain::{Color, DeclineReason, GameTerms, TimeControl, Variant};

/// Reads `5 12 unrated white wild fr`; `time` and `increment` are the defaults. The error is the
/// answer.
fn read_wanted(words: &str, time: u32, increment: u32, rated: bool) -> Result<Wanted, String> {
    let terms = GameTerms { variant: Variant::Standard, time_control: TimeControl::Unlimited, rated };
    let mut wanted = Wanted::new(ChallengeTerms::new(terms));
    let mut numbers: Vec<u32> = Vec::new();
    let mut words = words.split_ascii_whitespace().peekable();
    while let Some(word) = words.next() {
        let terms = &mut wanted.terms;
        match word.to_lowercase().as_str() {
            "rated" | "r" => terms.game.rated = true,
            "unrated" | "u" => terms.game.rated = false,
            "white" | "w" => terms.color = Some(Color::White),
            "black" | "b" => terms.color = Some(Color::Black),
            "manual" | "m" => wanted.manual = true,
            "auto" | "a" => wanted.manual = false,
            "formula" | "f" => wanted.formula = true,
            "wild" => {
                let which = words.next().unwrap_or_default().to_lowercase();
                set_variant(terms, &format!("wild/{which}"))?;
            }
            "blitz" | "lightning" | "standard" | "untimed" => {}
            word => {
                if let Ok(number) = word.parse() {
                    numbers.push(number);
                } else if let Some((low, high)) =
                    word.split_once('-').and_then(|(low, high)| Some((low.parse().ok()?, high.parse().ok()?)))
                {
                    wanted.range = (low, high);
                } else {
                    set_variant(terms, word)?;
                }
            }
        }
    }
    wanted.terms.game.time_control = match numbers.as_slice() {
        [] => time_control(time, increment),
        [minutes] => time_control(*minutes, 0),
        [minutes, increment] => time_control(*minutes, *increment),
        _ => return Err("Sorry, both players have the same time on this server.".to_owned()),
    };
    if wanted.terms.game.time_control == TimeControl::Unlimited {
        wanted.terms.game.rated = false;
    }
    Ok(wanted)
}

fn set_variant(terms: &mut ChallengeTerms, word: &str) -> Result<(), String> {
    terms.game.variant = match word {
        "wild/fr" | "fr" | "w/fr" => Variant::Chess960,
        "crazyhouse" | "zh" => Variant::Crazyhouse,
        "atomic" => Variant::Atomic,
        _ => {
            let known =
                text::WILD_POSITIONS.iter().find(|(name, _)| name.replace("wild/", "w") == word.replace("wild/", "w"));
            let Some((_, fen)) = known else { return Err(format!("Sorry, there is no {word} on this server.")) };
            terms.fen = Some((*fen).to_owned());
            Variant::FromPosition
        }
    };
    Ok(())
}

fn time_control(minutes: u32, increment: u32) -> TimeControl {
    let initial = match (minutes, increment) {
        (0, 0) => return TimeControl::Unlimited,
        (0, _) => Duration::from_secs(10),
        _ => Duration::from_secs(60 * u64::from(minutes)),
    };
    TimeControl::real_time(initial, Duration::from_secs(increment.into()))
}

impl VisitorSession {
    pub(super) async fn challenge_player(&mut self, rest: &str) -> io::Result<()> {
        let (name, words) = rest.split_once(' ').unwrap_or((rest, ""));
        if name.is_empty() {
            return self.answer("Usage: match player [time inc] [rated|unrated] [white|black] [wild type]");
        }
        match self.read_wanted(words, self.variables.is_on("rated")) {
            Ok(wanted) => self.challenge(name, wanted.terms).await,
            Err(words) => self.answer(words),
        }
    }

    /// Reads the arguments after a name in `match`, or after `seek`; the player's variables are the
    /// defaults.
    pub(super) fn read_wanted(&self, words: &str, rated: bool) -> Result<Wanted, String> {
        let (time, increment) = (self.variables.number("time"), self.variables.number("inc"));
        let mut wanted = read_wanted(words, time, increment, rated)?;
        let game = &mut wanted.terms.game;
        if self.dialect() == Dialect::Capablanca && game.time_control == time_control(0, 1) {
            *game = GameTerms { time_control: TimeControl::Unlimited, rated: false, ..*game };
        }
        Ok(wanted)
    }

    /// Challenges a player, or resumes the adjourned game with them.
    pub(super) async fn challenge(&mut self, name: &str, mut terms: ChallengeTerms) -> io::Result<()> {
        let to = AccountId::of(name);
        if self.playing.is_some() {
            return self.answer("You can't challenge while you are playing a game.");
        }
        if to == self.me.id {
            return self.answer("You can't match yourself.");
        }
        if !self.is_here(&to).await? {
            return self.answer(format!("{name} is not logged in."));
        }
        let shown = self.shown_name(&to).await?;
        if self.context.lobby.find(&to).is_some_and(|(_, open)| !open) {
            return self.answer(format!("{shown} is not open to match requests."));
        }
        if self.dialect().resumes() && self.resume_with(&to).await? {
            return Ok(());
        }
        for (guest, words) in [
            (self.me.rank == Rank::Guest, "You are unregistered - setting to unrated.".to_owned()),
            (self.context.lobby.is_guest(&to), format!("{shown} is unregistered - setting to unrated.")),
        ] {
            if guest && terms.game.rated {
                terms.game.rated = false;
                self.line(words);
            }
        }
        let me = self.me.id.clone();
        let issued = self.ask(move |state| {
            state.check_free(&to)?;
            let standing = state.challenges_of(&me);
            // Two who want the same of each other have found it.
            let mirrored = standing.iter().find(|challenge| {
                let fits = match (challenge.color, terms.color) {
                    (Some(theirs), Some(ours)) => theirs != ours,
                    _ => true,
                };
                challenge.challenger.account == to && challenge.terms == terms.game && fits
            });
            if let Some(challenge) = mirrored {
                return state.accept(&challenge.id, &me).map(|_| true);
            }
            state.challenge(&me, &to, terms, true).map(|_| false)
        });
        match issued.await? {
            Ok(true) => self.line(format!("Your challenge intercepts {shown}'s challenge.")),
            Ok(false) => {}
            Err(Denied::Busy(name)) => self.line(format!("{name} is playing a game.")),
            Err(Denied::Limited { .. }) => self.line("You can't challenge so often."),
            Err(error) => self.line(format!("You can't challenge: {error}.")),
        }
        Ok(())
    }

    pub(super) async fn rematch(&mut self) -> io::Result<()> {
        let Some(last) = self.last_game.clone() else { return self.answer("You have no last opponent.") };
        let Some(color) = last.pairing.color_of(&self.me.id) else { return Ok(()) };
        let name = last.pairing.players.get(!color).name.clone();
        let fen = last.line.start_fen().filter(|_| last.pairing.terms.variant == Variant::FromPosition);
        self.challenge(&name, ChallengeTerms { game: last.pairing.terms, color: None, fen }).await
    }

    /// Requests the adjourned game with a player; returns true if there is one.
    async fn resume_with(&mut self, opponent: &AccountId) -> io::Result<bool> {
        let (me, them) = (self.me.id.clone(), opponent.clone());
        let resumed = self
            .ask(move |state| {
                let waiting = state.adjourned_of(&me);
                let game = waiting.iter().find(|view| opponent_of(view, &me).as_ref() == Some(&them))?;
                Some(state.resume(&game.pairing.id, &me, true))
            })
            .await?;
        match resumed {
            None => return Ok(false),
            Some(Err(Denied::Busy(name))) => self.line(format!("{name} is playing a game.")),
            Some(_) => {}
        }
        Ok(true)
    }

    pub(super) async fn resume(&mut self, name: &str) -> io::Result<()> {
        let me = self.me.id.clone();
        let waiting = self.ask(move |state| state.adjourned_of(&me)).await?;
        for view in waiting {
            let Some(opponent) = opponent_of(&view, &self.me.id) else { continue };
            let wanted = name.is_empty() || AccountId::of(name) == opponent;
            if wanted && self.is_here(&opponent).await? {
                self.resume_with(&opponent).await?;
                return Ok(());
            }
        }
        self.answer(if name.is_empty() {
            "There is no one with whom you could resume a game.".to_owned()
        } else {
            format!("{name} is not logged in.")
        })
    }

    pub(super) async fn stored(&mut self) -> io::Result<()> {
        let me = self.me.id.clone();
        let waiting = self.ask(move |state| state.adjourned_of(&me)).await?;
        if waiting.is_empty() {
            return self.answer(format!("{} has no adjourned games.", self.me.name));
        }
        let mut rows = vec![
            format!("Stored games for {}:", self.me.name),
            "    C Opponent       On Type        M    Date".to_owned(),
        ];
        for (view, number) in waiting.iter().zip(1..) {
            let (Some(color), Some(opponent)) = (view.pairing.color_of(&self.me.id), opponent_of(view, &self.me.id))
            else {
                continue;
            };
            rows.push(text::stored_row(view, number, color, self.is_here(&opponent).await?));
        }
        self.answer(rows.join("\n"))
    }

    /// Returns the offers that a handle means; answers if there are none, or too many.
    fn meant(&mut self, verb: &str, ours: bool, handle: &str) -> Vec<PendingOffer> {
        let meant = self.offers.meant(ours, handle);
        if meant.is_empty() {
            let handle = handle.trim();
            self.line(match handle.parse::<u32>() {
                Ok(number) => format!("There is no offer {number} to {verb}."),
                Err(_) => format!("You have no offers to {verb}."),
            });
        } else if meant.len() > 1 && handle.is_empty() {
            self.line(format!(
                "You have more than one pending offer. Use \"pending\" to see them and \"{verb} n\" to choose one."
            ));
            return Vec::new();
        }
        meant
    }

    pub(super) async fn accept(&mut self, handle: &str) -> io::Result<()> {
        let Some(offer) = self.meant("accept", false, handle).into_iter().next() else { return Ok(()) };
        match self.settle(&offer, true).await? {
            Ok(()) if offer.what.is_of_game() => {
                self.line(format!("You accept the {} request from {}.", offer.what.word(), offer.with));
            }
            Ok(()) => self.line(self.dialect().you_accept(&offer.with)),
            Err(Denied::Busy(name)) => self.line(format!("{name} is playing a game.")),
            Err(_) => self.line("You have no offers to accept."),
        }
        Ok(())
    }

    pub(super) async fn decline(&mut self, handle: &str) -> io::Result<()> {
        for offer in self.meant("decline", false, handle) {
            self.line(format!("You decline the {} from {}.", worded(&offer), offer.with));
            self.undo(offer).await?;
        }
        Ok(())
    }

    pub(super) async fn withdraw(&mut self, handle: &str) -> io::Result<()> {
        for offer in self.meant("withdraw", true, handle) {
            if offer.what == PendingKind::Draw {
                self.line("You cannot withdraw a draw offer.");
                continue;
            }
            self.line(format!("You withdraw the {} to {}.", worded(&offer), offer.with));
            self.undo(offer).await?;
        }
        Ok(())
    }

    /// Declines another player's offer, withdraws an own one.
    async fn undo(&mut self, offer: PendingOffer) -> io::Result<()> {
        let gone = self.offers.remove(|standing| standing.index == offer.index);
        self.show_gone(&gone);
        // It may be gone meanwhile.
        self.settle(&offer, false).await.map(drop)
    }

    /// Agrees to an offer (`yes`), or declines or withdraws it.
    async fn settle(&self, offer: &PendingOffer, yes: bool) -> io::Result<Result<(), Denied>> {
        let (what, ours) = (offer.what.clone(), offer.ours);
        let (me, game) = (self.me.id.clone(), self.playing.as_ref().map(|board| board.id.clone()));
        let done = self.ask(move |state| match (what, game) {
            (PendingKind::Match(id), _) if yes => state.accept(&id, &me).map(drop),
            (PendingKind::Match(id), _) if ours => state.cancel(&id, &me),
            (PendingKind::Match(id), _) => state.decline(&id, &me, DeclineReason::Generic),
            (PendingKind::Resume(id), _) => state.resume(&id, &me, yes),
            (PendingKind::Draw, Some(id)) => state.act(&id, &me, |game, color, now| game.draw(color, yes, now)),
            (PendingKind::Takeback(plies), Some(id)) => {
                state.act(&id, &me, |game, color, now| game.takeback_of(color, yes.then_some(plies), now))
            }
            (PendingKind::Stop(stop), Some(id)) => {
                state.act(&id, &me, |game, color, now| game.stop(color, stop, yes, now))
            }
            (_, None) => Err(Denied::NoSuchGame),
        });
        done.await
    }

    pub(super) fn pending(&mut self) {
        let list = |ours: bool, direction: &str, verb: &str| {
            let who = |with: &str| match ours {
                true => format!("You are offering {with}"),
                false => format!("{with} is offering"),
            };
            let offers = self.offers.standing.iter().filter(|offer| offer.ours == ours);
            let rows = offers.map(|offer| format!(" {}: {} {}\n", offer.index, who(&offer.with), offer.proposal()));
            match rows.collect::<String>().as_str() {
                "" => format!("There are no offers pending {direction} other players."),
                rows => format!(
                    "Offers {direction} other players:\n{rows}\nIf you wish to {verb} any of these offers type '{verb} n'\n\
                     or just '{verb}' if there is only one offer."
                ),
            }
        };
        self.line(format!("{}\n\n{}", list(true, "TO", "withdraw"), list(false, "FROM", "accept")));
    }
}

fn worded(offer: &PendingOffer) -> String {
    match offer.what.is_of_game() {
        true => format!("{} request", offer.what.word()),
        false => "match offer".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terms_in_any_order() {
        let read = |words: &str| read_wanted(words, 2, 12, true);
        let wanted = read("5 0 unrated white").expect("terms");
        assert_eq!((wanted.terms.game.time_control.to_string().as_str(), wanted.terms.game.rated), ("300+0", false));
        assert_eq!(wanted.terms.color, Some(Color::White));
        assert_eq!(read("").expect("terms").terms.game.time_control.to_string(), "120+12");
        assert_eq!(read("0 1").expect("terms").terms.game.time_control.to_string(), "10+1");
        assert_eq!(read("wild fr 3 0").expect("terms").terms.game.variant, Variant::Chess960);
        assert!(read("wild 5 3 0").expect("terms").terms.fen.is_some());
        assert!(read("w5 3 0").expect("terms").terms.fen.is_some());
        assert_eq!(read("3 0 zh").expect("terms").terms.game.variant, Variant::Crazyhouse);
        let seek = read("15 10 unrated m f 1500-1900").expect("terms");
        assert!(seek.manual && seek.formula && seek.range == (1500, 1900));
        let untimed = read("0 0 rated").expect("terms").terms.game;
        assert!(untimed.time_control == TimeControl::Unlimited && !untimed.rated);
        assert!(read("suicide").is_err() && read("5 0 3 0").is_err() && read("wild 1").is_err());
    }
}
