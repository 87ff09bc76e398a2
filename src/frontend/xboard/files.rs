//! Games and positions in files: `save`, `get`, `xget`.

use std::{fs, io::Write};

use super::{XboardSession, words};
use domain::{Color, Line, PgnGame, PgnWriter, Variant};

impl<W: Write> XboardSession<W> {
    /// `save FILE`: the game as PGN, our moves with score, depth and time.
    pub(super) fn save(&self, file: &str) -> Result<(), String> {
        let line = &self.engine.line;
        let result = words::result(line).and_then(|result| result.split(' ').next()).unwrap_or("*");
        let us = concat!("concilio ", env!("CARGO_PKG_VERSION"));
        let them = self.opponent.name.as_deref().unwrap_or("?");
        let ours = self.ours.or_else(|| self.record.our_color(line));
        let (white, black) = if ours == Some(Color::White) { (us, them) } else { (them, us) };
        let mut tags = vec![("White", white.to_owned()), ("Black", black.to_owned()), ("Result", result.to_owned())];
        if line.variant() != Variant::Standard {
            tags.push(("Variant", line.variant().pgn_name().to_owned()));
        }
        if let Some(fen) = line.start_fen() {
            tags.extend([("SetUp", "1".to_owned()), ("FEN", fen)]);
        }
        let mut text = PgnWriter::begin(&tags);
        self.record.write_moves(line, &mut text);
        fs::write(file, text.end(result)).map_err(|error| named(file, error))
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
