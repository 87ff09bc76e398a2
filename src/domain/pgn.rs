//! Games of chess as PGN (Edwards, *Portable Game Notation Specification*, 1994).

use std::{
    collections::HashMap,
    fmt::Write as _,
    io::{self, Read},
    ops::ControlFlow,
};

use pgn_reader::{RawTag, Reader, SanPlus, Skip, Visitor};
use shakmaty::{Color, Position as _};

use super::{Line, LineError, UciMove};

/// Lines of the movetext are shorter than this, as the specification asks of exported games.
const WIDTH: usize = 80;

/// Writes a game's text: its tags, then words with a blank or a line's end between them.
pub struct PgnWriter {
    text: String,
    column: usize,
    width: usize,
    /// True until a move is written.
    first: bool,
}

impl PgnWriter {
    pub fn begin(tags: &[(&str, String)]) -> Self {
        let mut text = String::new();
        for (name, value) in tags {
            // The end of a line would end the tags.
            let value: String = value.chars().map(|letter| if letter.is_control() { ' ' } else { letter }).collect();
            let value = value.replace('\\', "\\\\").replace('"', "\\\"");
            // Writing to a string cannot fail.
            let _ = writeln!(text, "[{name} \"{value}\"]");
        }
        if !tags.is_empty() {
            text.push('\n');
        }
        Self { text, column: 0, width: WIDTH, first: true }
    }

    /// The movetext on a single line, as Lichess writes it.
    #[must_use]
    pub fn on_one_line(self) -> Self {
        Self { width: usize::MAX, ..self }
    }

    /// Writes the number of a move, Black's only where it is the first one or `interrupted`, as by a comment.
    pub fn number(&mut self, number: u32, mover: Color, interrupted: bool) {
        match mover {
            Color::White => self.word(&format!("{number}.")),
            Color::Black if interrupted || self.first => self.word(&format!("{number}...")),
            Color::Black => {}
        }
        self.first = false;
    }

    /// Plays a move and writes it with its number.
    ///
    /// # Errors
    /// [`LineError`] if it is not legal; nothing is written then.
    pub fn play(&mut self, line: &mut Line, uci: UciMove, interrupted: bool) -> Result<(), LineError> {
        let (number, mover, san) = (line.position().fullmoves().get(), line.turn(), line.san(uci));
        line.play(uci)?;
        self.number(number, mover, interrupted);
        self.word(&san);
        Ok(())
    }

    /// Writes a comment, if there is anything to say.
    pub fn comment(&mut self, words: &[String]) {
        if !words.is_empty() {
            self.word("{");
            words.iter().for_each(|word| self.word(word));
            self.word("}");
        }
    }

    pub fn word(&mut self, word: &str) {
        let length = word.chars().count();
        if self.column > 0 {
            let fits = self.column + 1 + length < self.width;
            self.text.push(if fits { ' ' } else { '\n' });
            self.column = if fits { self.column + 1 } else { 0 };
        }
        self.text.push_str(word);
        self.column += length;
    }

    /// Adds the result and ends with an empty line: the whole text.
    pub fn end(mut self, result: &str) -> String {
        self.word(result);
        self.text.push_str("\n\n");
        self.text
    }
}

/// A game as it was read: its tags, and its moves without variations.
#[derive(Debug)]
pub struct PgnGame {
    /// Values by the names of tags, in capitals.
    tags: HashMap<String, String>,
    /// The moves, or the reason why they cannot be read.
    pub line: Result<Line, String>,
}

impl PgnGame {
    /// Reads games one after another, at most `plies` moves of each; `start` gives a game's start by its tags.
    pub fn read_all(
        input: impl Read,
        plies: usize,
        start: impl FnMut(&Self) -> Result<Line, String>,
    ) -> impl Iterator<Item = io::Result<Self>> {
        let (mut reader, mut main_line) = (Reader::new(input), MainLine { plies, start });
        std::iter::from_fn(move || reader.read_game(&mut main_line).transpose())
    }

    /// The value of a tag, whatever the case of its name; empty where it is missing.
    pub fn tag(&self, name: &str) -> &str {
        self.tags.get(&name.to_ascii_uppercase()).map_or("", String::as_str)
    }
}

struct MainLine<S> {
    plies: usize,
    start: S,
}

impl<S: FnMut(&PgnGame) -> Result<Line, String>> Visitor for MainLine<S> {
    type Tags = PgnGame;
    type Movetext = PgnGame;
    type Output = PgnGame;

    fn begin_tags(&mut self) -> ControlFlow<PgnGame, PgnGame> {
        ControlFlow::Continue(PgnGame { tags: HashMap::new(), line: Err(String::new()) })
    }

    fn tag(&mut self, game: &mut PgnGame, name: &[u8], value: RawTag<'_>) -> ControlFlow<PgnGame> {
        let name = String::from_utf8_lossy(name).to_ascii_uppercase();
        game.tags.insert(name, value.decode_utf8_lossy().into_owned());
        ControlFlow::Continue(())
    }

    fn begin_movetext(&mut self, mut game: PgnGame) -> ControlFlow<PgnGame, PgnGame> {
        game.line = (self.start)(&game);
        ControlFlow::Continue(game)
    }

    fn san(&mut self, game: &mut PgnGame, san: SanPlus) -> ControlFlow<PgnGame> {
        if let Ok(line) = &mut game.line
            && line.ply() < self.plies
        {
            let mv = san.san.to_move(line.position());
            let played = mv.ok().is_some_and(|mv| line.play(mv.to_uci(line.castling_mode())).is_ok());
            if !played {
                game.line = Err(format!("{san} cannot be played after ply {}", line.ply()));
            }
        }
        ControlFlow::Continue(())
    }

    fn begin_variation(&mut self, _: &mut PgnGame) -> ControlFlow<PgnGame, Skip> {
        ControlFlow::Continue(Skip(true))
    }

    fn end_game(&mut self, game: PgnGame) -> PgnGame {
        game
    }
}
