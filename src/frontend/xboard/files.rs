//! Games and positions in files: `save`, `get`, `xget`.

use std::{fs, io::Write};

use super::{XboardSession, words};
use domain::{Color, Line, PgnGame, Variant};

impl<W: Write> XboardSession<W> {
    /// `save FILE`: the game as PGN, our moves with score, depth and time.
    pub(super) fn save(&self, file: &str) -> Result<(), String> {
        let line = &self.engine.line;
        let result = words::result(line).and_then(|result| result.split(' ').next()).unwrap_or("*");
        let us = concat!("concilio ", env!("CARGO_PKG_VERSION"));
        let them = self.opponent.name.as_deref().unwrap_or("?").replace(['"', '\\'], "'");
        let ours = self.ours.or_else(|| self.record.our_color(line));
        let (white, black) = if ours == Some(Color::White) { (us, &*them) } else { (&*them, us) };
        let mut text = format!("[White \"{white}\"]\n[Black \"{black}\"]\n[Result \"{result}\"]\n");
        if line.variant() != Variant::Standard {
            text += &format!("[Variant \"{}\"]\n", line.variant().pgn_name());
        }
        if let Some(fen) = line.start_fen() {
            text += &format!("[SetUp \"1\"]\n[FEN \"{fen}\"]\n");
        }
        text += &format!("\n{}{result}\n", self.record.movetext(line));
        fs::write(file, text).map_err(|error| named(file, error))
    }

    /// `get FILE`: the first game of a PGN file, to go on with.
    pub(super) fn get(&mut self, file: &str) -> Result<(), String> {
        let text = fs::read(file).map_err(|error| named(file, error))?;
        let start = |game: &PgnGame| {
            let variant = if game.tag("Variant").contains("960") { Variant::Chess960 } else { Variant::Standard };
            Line::from_fen(variant, game.tag("FEN")).map_err(|error| error.to_string())
        };
        let game = PgnGame::read_all(text.as_slice(), usize::MAX, start).next();
        let game = game.ok_or_else(|| named(file, "no game in it"))?.map_err(|error| named(file, error))?;
        let line = game.line.map_err(|reason| named(file, reason))?;
        self.switches.chess960 = line.variant() == Variant::Chess960;
        self.begin(line);
        self.ours = None;
        Ok(())
    }

    /// `xget FILE`: the position of the first line that is a FEN, as xboard's position files have one.
    pub(super) fn get_position(&mut self, file: &str) -> Result<(), String> {
        let text = fs::read(file).map_err(|error| named(file, error))?;
        let text = String::from_utf8_lossy(&text);
        let fen = text
            .lines()
            .map(str::trim)
            .find(|line| Line::from_fen(Variant::Standard, line).is_ok() && line.contains('/'));
        self.set_board(fen.ok_or_else(|| named(file, "no line of it is a FEN"))?)
    }
}

fn named(file: &str, reason: impl std::fmt::Display) -> String {
    format!("{file:?}: {reason}")
}
