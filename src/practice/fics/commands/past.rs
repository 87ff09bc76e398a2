use std::{io, sync::Arc};

use crate::{
    fics::{
        session::{Examination, VisitorSession},
        text,
    },
    state::GameView,
};
use domain::GameId;

const SHOWN: usize = 10;

impl VisitorSession {
    /// Returns a player's finished games, oldest first, without aborted ones.
    async fn finished_games(&self, name: &str) -> io::Result<Vec<Arc<GameView>>> {
        let name = name.to_owned();
        self.ask(move |state| {
            let mut views = state.finished_games();
            views.retain(|view| text::history_row(view, &name).is_some());
            views
        })
        .await
    }

    /// Returns the finished game that `[player] [n]` means: the last one, one by its number in the
    /// history, or counted from the end (`-1` is the last). Answers if there is none.
    async fn finished_game(&mut self, words: &str) -> io::Result<Option<Arc<GameView>>> {
        let mut words = words.split_ascii_whitespace();
        let first = words.next();
        let (name, number) = match first.map(str::parse::<i64>) {
            Some(Ok(number)) => (self.me.name.clone(), Some(number)),
            Some(Err(_)) => (first.unwrap_or_default().to_owned(), words.next().and_then(|word| word.parse().ok())),
            None => (self.me.name.clone(), None),
        };
        let games = self.finished_games(&name).await?;
        let index = match number.unwrap_or(-1) {
            back if back < 0 => games.len().checked_sub(usize::try_from(back.unsigned_abs()).unwrap_or(usize::MAX)),
            number => usize::try_from(number).ok(),
        };
        let found = index.and_then(|index| games.get(index)).cloned();
        if found.is_none() {
            self.line(format!("{name} has no such game in the history."));
        }
        Ok(found)
    }

    pub(super) async fn history(&mut self, of: &str) -> io::Result<()> {
        let name = if of.is_empty() { self.me.name.clone() } else { of.to_owned() };
        let games = self.finished_games(&name).await?;
        let rows: Vec<String> = games.iter().filter_map(|view| text::history_row(view, &name)).collect();
        self.answer(if rows.is_empty() {
            format!("{name} has no history games.")
        } else {
            let newest = rows.iter().zip(0..).skip(rows.len().saturating_sub(SHOWN));
            let numbered = newest.map(|(row, number)| format!("{number:2}: {row}"));
            let head = "                  Opponent      Type         ECO End Date";
            format!("History for {name}:\n{head}\n{}", numbered.collect::<Vec<_>>().join("\n"))
        })
    }

    pub(super) async fn smoves(&mut self, words: &str) -> io::Result<()> {
        if let Some(view) = self.finished_game(words).await? {
            let (exact, start) = (self.variables.interface("ms"), self.variables.interface("startpos"));
            let list = text::move_list(&view, None, exact, start, false, &self.context.lobby);
            self.line(list);
        }
        Ok(())
    }

    pub(super) async fn examine(&mut self, words: &str) -> io::Result<()> {
        if self.playing.is_some() {
            return self.answer("You are playing a game.");
        }
        if self.examining.is_some() {
            return self.answer("You are already examining a game.");
        }
        let Some(view) = self.finished_game(words).await? else { return Ok(()) };
        let id = GameId::new(format!("examined by {}", self.me.name));
        let number = self.number_of(&id).await?;
        self.line(format!("Starting a game in examine (setup) mode: game {number}."));
        self.examining = Some(Examination { view, ply: 0, number, id });
        self.show_examined();
        Ok(())
    }

    /// Steps `forward` or back by a number of plies, by default one.
    pub(super) fn step(&mut self, word: &str, forward: bool) {
        let name = self.me.name.clone();
        let plies = word.parse::<usize>().unwrap_or(1);
        let Some(game) = &mut self.examining else { return self.line("You are not examining a game.") };
        let before = game.ply;
        let after = if forward { before.saturating_add(plies) } else { before.saturating_sub(plies) };
        game.ply = after.min(game.view.line.ply());
        let (went, number) = (game.ply.abs_diff(before), game.number);
        if went == 0 {
            let edge = if forward { "end" } else { "beginning" };
            return self.line(format!("You're at the {edge} of the game."));
        }
        let verb = if forward { "goes forward" } else { "backs up" };
        self.line(format!("Game {number}: {name} {verb} {went} move{}.", if went == 1 { "" } else { "s" }));
        self.show_examined();
    }

    pub(super) fn unexamine(&mut self) {
        match self.examining.take() {
            Some(game) => {
                self.context.lobby.release_number(&game.id);
                self.line(format!("You are no longer examining game {}.", game.number));
            }
            None => self.line("You are not examining a game."),
        }
    }

    fn show_examined(&mut self) {
        let Some(game) = &self.examining else { return };
        let mut view = (*game.view).clone();
        view.game.truncate(game.ply);
        let number = game.number;
        self.show_board(&view, number, text::ViewerRole::Examiner);
    }
}
