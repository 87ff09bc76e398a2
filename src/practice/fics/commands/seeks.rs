use std::io;

use crate::{
    account::Category,
    dialect::Dialect,
    fics::{
        lobby::{Notice, Rank, Seek, Wanted},
        session::VisitorSession,
        text,
    },
    state::Denied,
};

/// The most seeks of one visitor.
const MOST: usize = 3;

impl VisitorSession {
    pub(super) async fn seek(&mut self, words: &str) -> io::Result<()> {
        if self.dialect() == Dialect::Uhlin {
            return Ok(());
        }
        if self.playing.is_some() {
            return self.answer("You can't seek while you are playing a game.");
        }
        if self.context.lobby.seeks().iter().filter(|seek| seek.by == self.me).count() >= MOST {
            return self.answer(format!("You can only have {MOST} active seeks."));
        }
        let is_guest = self.me.rank == Rank::Guest;
        let wanted = match self.read_wanted(words, self.variables.is_on("rated") && !is_guest) {
            Ok(wanted) => wanted,
            Err(words) => return self.answer(words),
        };
        if is_guest && wanted.terms.game.rated {
            return self.answer("Only registered players can play rated games.");
        }
        let (me, category) = (self.me.id.clone(), Category::of(&wanted.terms.game));
        let Ok(seat) = self.ask(move |state| state.seat(&me, category)).await? else { return Ok(()) };
        let by = self.me.clone();
        let seek = self.context.lobby.post_seek(|index| Seek { index, by, seat, wanted });
        self.line(format!("Your seek has been posted with index {}.", seek.index));
        let saw = self.context.lobby.tell_others(&self.me.id, &Notice::Seek(seek));
        self.answer(format!("({saw} player(s) saw the seek.)"))
    }

    pub(super) fn unseek(&mut self, which: &str) {
        let index = which.parse::<u32>().ok();
        let gone = self.context.lobby.remove_seeks(&self.me.id, index);
        self.line(match (index, gone.is_empty()) {
            (Some(index), false) => format!("Your seek {index} has been removed."),
            (Some(index), true) => format!("You have no seek {index}."),
            (None, false) => "Your seeks have been removed.".to_owned(),
            (None, true) => "You have no active seeks.".to_owned(),
        });
    }

    pub(super) fn sought(&mut self) {
        let seeks = self.context.lobby.seeks();
        let mut rows: Vec<String> = seeks
            .iter()
            .map(|seek| {
                let Wanted { terms, manual, formula, range } = &seek.wanted;
                let (minutes, increment) = text::minutes_and_increment(terms.game.time_control);
                format!(
                    "{:3} {} {:<17} {minutes:3} {increment:3} {:<7} {:<12} {:4}-{:4} {}{}",
                    seek.index,
                    text::rating(&seek.seat, &self.context.lobby),
                    seek.by.titled(),
                    if terms.game.rated { "rated" } else { "unrated" },
                    text::kind(&terms.game, terms.fen.as_deref()),
                    range.0,
                    range.1,
                    if *manual { "m" } else { "" },
                    if *formula { "f" } else { "" },
                )
            })
            .collect();
        rows.push(format!("{} ad{} displayed.", seeks.len(), if seeks.len() == 1 { "" } else { "s" }));
        self.line(rows.join("\n"));
    }

    /// Answers a seek: at once, or by a challenge where its maker wants to see who comes.
    pub(super) async fn play(&mut self, which: &str) -> io::Result<()> {
        let wanted = |seek: &Seek| match which.parse::<u32>() {
            Ok(index) => seek.index == index,
            Err(_) => seek.by.name.eq_ignore_ascii_case(which),
        };
        let Some(seek) = self.context.lobby.seeks().into_iter().find(wanted).filter(|seek| seek.by != self.me) else {
            return self.answer("That seek is not available.");
        };
        if self.playing.is_some() {
            return self.answer("You can't challenge while you are playing a game.");
        }
        if self.me.rank == Rank::Guest && seek.wanted.terms.game.rated {
            return self.answer("You can't play a rated game: you are unregistered.");
        }
        let mut terms = seek.wanted.terms.clone();
        terms.color = terms.color.map(|color| !color);
        if seek.wanted.manual {
            self.line("Issuing match request since the seek was set to manual.");
            return self.challenge(&seek.by.name, terms).await;
        }
        let (me, seeker) = (self.me.id.clone(), seek.by.id.clone());
        let started = self.ask(move |state| {
            state.check_free(&seeker)?;
            let challenge = state.challenge(&me, &seeker, terms, true)?;
            state.accept(&challenge.id, &seeker)
        });
        match started.await? {
            Ok(_) => {}
            Err(Denied::Busy(name)) => self.line(format!("{name} is playing a game.")),
            Err(_) => self.line("That seek is not available."),
        }
        Ok(())
    }
}
