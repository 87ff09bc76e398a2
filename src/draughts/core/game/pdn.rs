//! Portable Draughts Notation, both ways: tags, moves, a result.
//!
//! Reading takes files of many games, comments, variations (left out) and short captures; writing gives one plain form.

use std::{collections::BTreeMap, fmt};

use super::{Game, Outcome};
use crate::board::{Board, Color, DraughtsError, Rules};

/// The number and board of Italian draughts in the tag `GameType`: game 22, White first, 8 by 8, numbered squares that
/// start at White's far left, on a board that is mirrored: its dark corner is at the right hand.
pub const GAME_TYPE: &str = "22,W,8,8,N2,1";

/// The tag of games by other rules than the official ones.
const RULES: &str = "Rules";

/// The result on a score sheet, which may be a resignation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum GameResult {
    Won(Color),
    Drawn,
    /// Still running, or unknown.
    #[default]
    Unknown,
}

impl GameResult {
    fn read(token: &str) -> Option<Self> {
        Some(match token {
            "1-0" | "2-0" => Self::Won(Color::White),
            "0-1" | "0-2" => Self::Won(Color::Black),
            "1/2-1/2" | "1-1" => Self::Drawn,
            "*" => Self::Unknown,
            _ => return None,
        })
    }
}

impl From<Option<Outcome>> for GameResult {
    fn from(outcome: Option<Outcome>) -> Self {
        match outcome {
            Some(Outcome::Won(color)) => Self::Won(color),
            Some(Outcome::FortyMoves | Outcome::Repetition) => Self::Drawn,
            None => Self::Unknown,
        }
    }
}

impl fmt::Display for GameResult {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Won(Color::White) => "1-0",
            Self::Won(Color::Black) => "0-1",
            Self::Drawn => "1/2-1/2",
            Self::Unknown => "*",
        })
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PdnRecord {
    /// Names and values in their order, without `GameType`, `FEN` and `Result`.
    pub tags: Vec<(String, String)>,
    pub game: Game,
    /// Words with single blanks between them, by the number of moves before them.
    pub comments: BTreeMap<usize, String>,
    /// The result as the players agreed on it.
    pub result: GameResult,
}

impl fmt::Display for PdnRecord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut tag =
            |name: &str, value: &str| writeln!(f, "[{name} \"{}\"]", value.replace('\\', "\\\\").replace('"', "\\\""));
        for (name, value) in &self.tags {
            tag(name, value)?;
        }
        tag("Result", &self.result.to_string())?;
        tag("GameType", GAME_TYPE)?;
        if self.game.rules() != Rules::Official {
            tag(RULES, &self.game.rules().to_string())?;
        }
        if *self.game.start() != Board::default() {
            tag("FEN", &self.game.start().to_string())?;
        }
        let first = usize::from(self.game.start().to_move() == Color::Black);
        let mut line = String::new();
        self.comment(0, f, &mut line)?;
        for (ply, mv) in (first..).zip(self.game.moves()) {
            let number = match ply % 2 {
                0 => format!("{}. ", ply / 2 + 1),
                _ if ply == first => "1... ".to_owned(),
                _ => String::new(),
            };
            wrap(f, &mut line, &format!("{number}{mv}"))?;
            self.comment(ply - first + 1, f, &mut line)?;
        }
        wrap(f, &mut line, &self.result.to_string())?;
        writeln!(f, "\n{line}")
    }
}

impl PdnRecord {
    /// Creates the sheet of a game between these two, which may have begun already.
    pub fn between(white: &str, black: &str, game: Game) -> Self {
        let tags = [("Event", "concilio"), ("White", white), ("Black", black)];
        let tags = tags.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec();
        Self { tags, game, comments: BTreeMap::new(), result: GameResult::Unknown }
    }

    /// Takes the last move back, with its comment; `false` if there is none.
    pub fn undo(&mut self) -> bool {
        let undone = self.game.undo().is_some();
        let moves = self.game.moves().len();
        self.comments.retain(|after, _| *after <= moves);
        undone
    }

    /// Comments on the last move.
    pub fn note(&mut self, said: String) {
        self.comments.insert(self.game.moves().len(), said);
    }

    /// The text of the game with its result: that of the board, or where it goes on there this one.
    pub fn text(&self, agreed: GameResult) -> String {
        let on_board = GameResult::from(self.game.outcome());
        let result = if on_board == GameResult::Unknown { agreed } else { on_board };
        Self { result, ..self.clone() }.to_string()
    }

    /// Writes the comment after `moves` moves. A brace would end it.
    fn comment(&self, moves: usize, f: &mut fmt::Formatter<'_>, line: &mut String) -> fmt::Result {
        let Some(comment) = self.comments.get(&moves) else { return Ok(()) };
        let text = format!("{{{}}}", comment.replace('}', ")"));
        text.split_whitespace().try_for_each(|word| wrap(f, line, word))
    }
}

/// Adds a word to a line of at most 80 characters, after writing the line where it is full.
fn wrap(f: &mut fmt::Formatter<'_>, line: &mut String, word: &str) -> fmt::Result {
    if line.len() + word.len() >= 80 {
        write!(f, "\n{line}")?;
        line.clear();
    }
    if !line.is_empty() {
        line.push(' ');
    }
    line.push_str(word);
    Ok(())
}

/// Reads all games of a text, by `rules` if a game names no others. A fault has the number of its game.
pub fn read(text: &str, rules: Rules) -> Result<Vec<PdnRecord>, DraughtsError> {
    let mut reader = PdnReader {
        rest: text,
        records: Vec::new(),
        tags: Vec::new(),
        words: Vec::new(),
        comments: BTreeMap::new(),
        rules,
    };
    while let Some(first) = reader.rest.trim_start().chars().next() {
        reader.rest = reader.rest.trim_start();
        match first {
            '[' => reader.tag()?,
            '{' => reader.comment()?,
            '(' => reader.skip_variation()?,
            ';' | '%' => reader.rest = reader.rest.split_once('\n').map_or("", |(_, rest)| rest),
            _ => reader.word()?,
        }
    }
    if !reader.tags.is_empty() || !reader.words.is_empty() {
        reader.finish(GameResult::Unknown)?;
    }
    Ok(reader.records)
}

/// A text as far as it is read, and the game that is being read.
struct PdnReader<'a> {
    rest: &'a str,
    records: Vec<PdnRecord>,
    tags: Vec<(String, String)>,
    words: Vec<&'a str>,
    comments: BTreeMap<usize, String>,
    rules: Rules,
}

impl<'a> PdnReader<'a> {
    /// A fault of the present game, named by its number in the file, from 1.
    fn fault(&self, what: &str) -> DraughtsError {
        DraughtsError(format!("game {}{what}", self.records.len() + 1))
    }

    fn tag(&mut self) -> Result<(), DraughtsError> {
        // A tag after moves begins the next game, though the last one has no result.
        if !self.words.is_empty() {
            self.finish(GameResult::Unknown)?;
        }
        let wrong = || {
            let shown: String = self.rest.chars().take(40).collect();
            self.fault(&format!(": {shown:?} is no tag (accepted: [Name \"value\"])"))
        };
        let (name, rest) = self.rest[1..].split_once('"').ok_or_else(wrong)?;
        let mut value = String::new();
        let mut characters = rest.char_indices();
        let end = loop {
            match characters.next().ok_or_else(wrong)? {
                (_, '\\') => value.push(characters.next().ok_or_else(wrong)?.1),
                (end, '"') => break end,
                (_, other) => value.push(other),
            }
        };
        let after = rest[end + 1..].trim_start().strip_prefix(']').ok_or_else(wrong)?;
        if name.trim().is_empty() {
            return Err(wrong());
        }
        self.tags.push((name.trim().to_owned(), value));
        self.rest = after;
        Ok(())
    }

    fn comment(&mut self) -> Result<(), DraughtsError> {
        let open = self.fault(": '{' is never closed");
        let (comment, rest) = self.rest[1..].split_once('}').ok_or(open)?;
        let said = self.comments.entry(self.words.len()).or_default();
        for word in comment.split_whitespace() {
            said.push_str(if said.is_empty() { "" } else { " " });
            said.push_str(word);
        }
        self.rest = rest;
        Ok(())
    }

    /// Leaves out a variation with those inside it. Parentheses in its comments are no variations.
    fn skip_variation(&mut self) -> Result<(), DraughtsError> {
        let (mut depth, mut end_of_comment) = (0, None);
        for (index, character) in self.rest.char_indices() {
            match (end_of_comment, character) {
                (Some(end), _) if character == end => end_of_comment = None,
                (Some(_), _) => {}
                (None, '{') => end_of_comment = Some('}'),
                (None, ';') => end_of_comment = Some('\n'),
                (None, '(') => depth += 1,
                (None, ')') => depth -= 1,
                (None, _) => {}
            }
            if depth == 0 {
                self.rest = &self.rest[index + 1..];
                return Ok(());
            }
        }
        Err(self.fault(": '(' is never closed"))
    }

    fn word(&mut self) -> Result<(), DraughtsError> {
        let end = self.rest.find(|c: char| c.is_whitespace() || "[{(;".contains(c)).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end.max(self.rest.chars().next().map_or(0, char::len_utf8)));
        self.rest = rest;
        if let Some(result) = GameResult::read(word) {
            return self.finish(result);
        }
        // Move numbers may precede a move without a blank; annotations may follow it.
        let word = word.rsplit_once('.').map_or(word, |(_, after)| after).trim_end_matches(['!', '?', '*']);
        let number = !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_digit());
        if !(word.is_empty() || number || word.starts_with('$')) {
            self.words.push(word);
        }
        Ok(())
    }

    /// Plays the words that were read as moves from the start that the tags name.
    fn finish(&mut self, result: GameResult) -> Result<(), DraughtsError> {
        let (mut start, mut rules) = (Board::default(), self.rules);
        let mut said = GameResult::Unknown;
        let mut tags = Vec::new();
        for (name, value) in std::mem::take(&mut self.tags) {
            match name.as_str() {
                "GameType" if value.split(',').next().map(str::trim) != Some("22") => {
                    return Err(self.fault(&format!(" is of type {value:?}, Italian draughts is 22")));
                }
                "GameType" => {}
                "FEN" => start = value.parse().map_err(|error| self.fault(&format!(": {error}")))?,
                "Result" => said = GameResult::read(value.trim()).unwrap_or_default(),
                RULES => match Rules::ALL.into_iter().find(|known| known.to_string() == value) {
                    Some(named) => rules = named,
                    None => tags.push((name, value)),
                },
                _ => tags.push((name, value)),
            }
        }
        let mut played = Game::new(start, rules);
        for (ply, word) in (1..).zip(std::mem::take(&mut self.words)) {
            played.play_recorded(word).map_err(|error| self.fault(&format!(", ply {ply}: {error}")))?;
        }
        let result = if result == GameResult::Unknown { said } else { result };
        let comments = std::mem::take(&mut self.comments);
        self.records.push(PdnRecord { tags, game: played, comments, result });
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::board::{Move, tests::any_board};

    fn played(start: Board, rules: Rules, choices: &[usize]) -> Game {
        let mut game = Game::new(start, rules);
        for choice in choices {
            let legal = game.legal_moves();
            let Some(mv) = legal.get(choice % legal.len().max(1)) else { break };
            game.play(*mv).expect("legal");
        }
        game
    }

    #[test]
    fn two_commented_games_are_read() {
        let text = "[White \"Anna \\\"la Dama\\\"\"]\n[GameType \"22\"]\n1. 22-18! {solid; (so far)} 11-14 (11-15 23-20 (24-20) 15-19)\n\
                    2. 18x11 $1 6x15 ; to the end of the line 1. 99-99\n1/2-1/2\n[Event \"second\"]\n[Result \"0-1\"]\n1.21-17 *";
        let records = read(text, Rules::Official).expect("two games");
        assert_eq!(records.len(), 2);
        assert_eq!(records[0].tags, [("White".to_owned(), "Anna \"la Dama\"".to_owned())]);
        let moves: Vec<String> = records[0].game.moves().iter().map(Move::to_string).collect();
        assert_eq!(moves, ["22-18", "11-14", "18x11", "6x15"]);
        assert_eq!((records[0].result, records[1].result), (GameResult::Drawn, GameResult::Won(Color::Black)));
        assert_eq!(records[0].comments, BTreeMap::from([(1, "solid; (so far)".to_owned())]));
    }

    #[test]
    fn comment_parentheses_are_text() {
        let text = "1. 22-18 (1. 21-17 {:) and (so on} 11-14 ; or 10-13)\n 2. 17-13) 11-14 *";
        let records = read(text, Rules::Official).expect("a game");
        assert_eq!(records[0].game.moves().iter().map(Move::to_string).collect::<Vec<_>>(), ["22-18", "11-14"]);
    }

    #[test]
    fn unclaimed_draws_do_not_end_games() {
        let walk = "29-25 1-5 25-29 5-1 ".repeat(3);
        let records = read(&format!("[FEN \"W:WK29,K30:BK1,K3\"]\n{walk} 1-0"), Rules::Official).expect("a game");
        assert_eq!((records[0].game.moves().len(), records[0].result), (12, GameResult::Won(Color::White)));
        let lost = read("[FEN \"W:W22:B18\"]\n22x13 18-22 *", Rules::Official).expect_err("Black has no piece left");
        assert!(lost.to_string().contains("ply 2"), "{lost}");
    }

    #[test]
    fn relaxed_games_name_their_rules() {
        let mut game = Game::new("W:WK29,30:B26".parse().expect("a position"), Rules::Relaxed);
        game.play_text("30x21").expect("the king need not take");
        let record = PdnRecord { tags: Vec::new(), game, comments: BTreeMap::new(), result: GameResult::Unknown };
        let text = record.to_string();
        assert!(text.contains("[Rules \"italian-draughts-relaxed\"]"), "{text}");
        assert_eq!(read(&text, Rules::Official), Ok(vec![record]));
    }

    #[test]
    fn pdn_errors_name_their_place() {
        for (text, said) in [
            ("1. 22-18 11-15 2. 22-18", "game 1, ply 3"),
            ("1. 22-18 * 1. e4", "game 2, ply 1"),
            ("[GameType \"20\"] *", "Italian draughts is 22"),
            ("[FEN \"W:W99:B1\"] *", "99"),
            ("[Event \"open", "is no tag"),
            ("1. 22-18 {never", "never closed"),
            ("1. 22-18 (never", "never closed"),
        ] {
            let message = read(text, Rules::Official).expect_err(text).to_string();
            assert!(message.contains(said), "{text}: {message}");
        }
    }

    proptest! {
        #[test]
        fn pdn_games_round_trip(
            start in prop_oneof![Just(Board::default()), any_board()],
            rules in prop_oneof![Just(Rules::Official), Just(Rules::Relaxed)],
            choices in prop::collection::vec(0usize..100, 0..120),
            value in "[^\u{0}]{0,12}",
            said in prop::collection::btree_map(0usize..120, "[a-z(\\[{;%.0-9]{1,90}( [^\u{0} \t\n}]{1,9}){0,3}", 0..4),
        ) {
            let game = played(start, rules, &choices);
            let comments: BTreeMap<usize, String> =
                said.into_iter().map(|(moves, said)| (moves.min(game.moves().len()), said)).collect();
            let comments = comments.into_iter().map(|(at, said)| (at, said.split_whitespace().collect::<Vec<_>>().join(" ")));
            let record = PdnRecord {
                tags: vec![("Event".into(), value)],
                comments: comments.collect(),
                result: game.outcome().into(),
                game,
            };
            prop_assert_eq!(read(&record.to_string(), Rules::Official), Ok(vec![record]));
        }

        #[test]
        fn no_text_breaks_the_reader(text in "\\PC{0,60}", near in "[\\[\\]\"{}();.*0-9 x-]{0,60}") {
            let _ = read(&text, Rules::Official);
            let _ = read(&near, Rules::Official);
        }
    }
}
