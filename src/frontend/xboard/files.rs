//! Games and positions in files: `save`, `get`, `xget`.

use std::{fs, io::Write, ops::ControlFlow};

use pgn_reader::{RawTag, Reader, SanPlus, Skip, Visitor};

use super::{XboardSession, commands::Problem, words};
use domain::{Color, Line, Variant};

impl<W: Write> XboardSession<W> {
    /// `save FILE`: the game as PGN, our moves with score, depth and time.
    pub(super) fn save(&self, file: &str) -> Result<(), Problem> {
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
    pub(super) fn get(&mut self, file: &str) -> Result<(), Problem> {
        let text = fs::read(file).map_err(|error| named(file, error))?;
        let game = Reader::new(text.as_slice()).read_game(&mut PgnToLine).map_err(|error| named(file, error))?;
        let line = game.ok_or_else(|| named(file, "no game in it"))?.map_err(|reason| named(file, reason))?;
        self.switches.chess960 = line.variant() == Variant::Chess960;
        self.begin(line);
        self.ours = None;
        Ok(())
    }

    /// `xget FILE`: the position of the first line that is a FEN, as xboard's position files have one.
    pub(super) fn get_position(&mut self, file: &str) -> Result<(), Problem> {
        let text = fs::read(file).map_err(|error| named(file, error))?;
        let text = String::from_utf8_lossy(&text);
        let fen = text
            .lines()
            .map(str::trim)
            .find(|line| Line::from_fen(Variant::Standard, line).is_ok() && line.contains('/'));
        self.set_board(fen.ok_or_else(|| named(file, "no line of it is a FEN"))?)
    }
}

fn named(file: &str, reason: impl std::fmt::Display) -> Problem {
    Problem::Error(format!("{file:?}: {reason}"))
}

/// Reads one game of a PGN file into a line.
struct PgnToLine;

#[derive(Default)]
struct PgnTags {
    chess960: bool,
    fen: String,
}

impl Visitor for PgnToLine {
    type Tags = PgnTags;
    type Movetext = Result<Line, String>;
    type Output = Result<Line, String>;

    fn begin_tags(&mut self) -> ControlFlow<Self::Output, PgnTags> {
        ControlFlow::Continue(PgnTags::default())
    }

    fn tag(&mut self, tags: &mut PgnTags, name: &[u8], value: RawTag<'_>) -> ControlFlow<Self::Output> {
        match name {
            b"FEN" => tags.fen = value.decode_utf8_lossy().into_owned(),
            b"Variant" => tags.chess960 = value.decode_utf8_lossy().contains("960"),
            _ => (),
        }
        ControlFlow::Continue(())
    }

    fn begin_movetext(&mut self, tags: PgnTags) -> ControlFlow<Self::Output, Self::Movetext> {
        let variant = if tags.chess960 { Variant::Chess960 } else { Variant::Standard };
        match Line::from_fen(variant, &tags.fen) {
            Ok(line) => ControlFlow::Continue(Ok(line)),
            Err(error) => ControlFlow::Break(Err(error.to_string())),
        }
    }

    fn san(&mut self, line: &mut Self::Movetext, san: SanPlus) -> ControlFlow<Self::Output> {
        if let Ok(game) = line {
            let uci = game.read_move(&san.san.to_string());
            let played = uci.ok_or_else(|| format!("{san} is not legal after {} moves", game.ply()));
            match played.and_then(|uci| game.play(uci).map_err(|error| error.to_string())) {
                Ok(()) => (),
                Err(reason) => *line = Err(reason),
            }
        }
        ControlFlow::Continue(())
    }

    fn begin_variation(&mut self, _: &mut Self::Movetext) -> ControlFlow<Self::Output, Skip> {
        ControlFlow::Continue(Skip(true))
    }

    fn end_game(&mut self, line: Self::Movetext) -> Self::Output {
        line
    }
}
