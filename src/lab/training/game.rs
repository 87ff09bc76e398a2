//! Whole games in three to four bytes a ply: moves and scores, from which positions are made when they are wanted.
//!
//! A move is its place among the legal moves (one byte), a score the difference to the one before as White sees it, a
//! teacher's score the difference to the own one. Numbers are of variable length (LEB128), signed ones in zigzag order.

use std::path::Path;

use engine::{
    Board, Position,
    board::{Move, Role},
};
use util::Failure;

use crate::training::{
    GameResult, Record,
    data_file::{DataFile, DataKind, unusable},
};

/// Own scores of this many centipawns and more are mates.
pub(super) const MATE: i16 = 30_000;
/// Separates the description of games from that of their teacher.
const TEACHER: &str = "; teacher: ";
/// The text of a start that is not the usual one may have this many bytes.
const LONGEST_FEN: u64 = 200;

/// A move with the scores of the position before it, centipawns for the player to move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ply {
    pub mv: Move,
    pub own: i16,
    pub teacher: Option<i16>,
}

#[derive(Clone, Debug)]
pub struct Game {
    /// Positions of one game are never on both sides of a validation.
    pub id: u32,
    pub start: Position,
    /// Moves without a search, so without a score.
    pub opening: Vec<Move>,
    pub plies: Vec<Ply>,
    pub result: GameResult,
}

impl Game {
    /// Returns the quiet positions, which have no tactics that a search must resolve, with the numbers of their plies: no
    /// check, no capture or promotion played, no mate seen.
    pub fn quiet(&self) -> Vec<(usize, Record)> {
        let mut quiet = Vec::with_capacity(self.plies.len());
        self.walk(|i, board, ply| {
            if !board.in_check()
                && !board.is_noisy(ply.mv)
                && ply.own.unsigned_abs() < MATE.unsigned_abs()
                && let Some(mut record) = self.record(i, board)
            {
                (record.own, record.teacher, record.result) = (Some(ply.own), ply.teacher, Some(self.result));
                quiet.push((i, record));
            }
        });
        quiet
    }

    /// Shows every position after the opening, with the number of its ply.
    pub(super) fn walk(&self, mut visit: impl FnMut(usize, &Board, &Ply)) {
        let mut position = self.start.clone();
        self.opening.iter().for_each(|mv| position.play(*mv));
        for (i, ply) in self.plies.iter().enumerate() {
            visit(i, position.board(), ply);
            position.play(ply.mv);
        }
    }

    /// Returns a position at that ply, or near the one there, as a record without labels.
    pub(super) fn record(&self, ply: usize, board: &Board) -> Option<Record> {
        let mut record = Record::new(board)?;
        (record.ply, record.game) = ((self.opening.len() + ply) as u16, self.id);
        Some(record)
    }

    fn write(&self, bytes: &mut Vec<u8>) {
        bytes.extend_from_slice(&self.id.to_le_bytes());
        let fen = self.start.board().to_fen();
        let fen = if fen == Position::START { "" } else { &fen };
        push(bytes, fen.len() as u64);
        bytes.extend_from_slice(fen.as_bytes());
        let mut position = self.start.clone();
        push(bytes, self.opening.len() as u64);
        for mv in &self.opening {
            bytes.push(place(&position, *mv));
            position.play(*mv);
        }
        bytes.push(self.result as u8);
        push(bytes, self.plies.len() as u64);
        let mut before = 0;
        for ply in &self.plies {
            bytes.push(place(&position, ply.mv));
            let white = i64::from(ply.own) * i64::from(position.board().turn().sign());
            push(bytes, zigzag(white - before));
            before = white;
            push(bytes, ply.teacher.map_or(0, |teacher| 1 + zigzag(i64::from(teacher) - i64::from(ply.own))));
            position.play(ply.mv);
        }
    }

    /// Reads what [`Self::write`] writes; `None` for bytes that are no game.
    fn read(bytes: &mut &[u8]) -> Option<Self> {
        let (id, rest) = bytes.split_first_chunk::<4>()?;
        *bytes = rest;
        let length = pop(bytes).filter(|length| *length <= LONGEST_FEN)?;
        let (fen, rest) = bytes.split_at_checked(length as usize)?;
        *bytes = rest;
        let fen = if fen.is_empty() { Position::START } else { std::str::from_utf8(fen).ok()? };
        let start = Position::from_line(fen, false, []).ok()?;
        let mut position = start.clone();
        let mut opening = Vec::new();
        for _ in 0..pop(bytes)? {
            let mv = move_at(&position, pop_byte(bytes)?)?;
            position.play(mv);
            opening.push(mv);
        }
        let result = GameResult::ALL.get(usize::from(pop_byte(bytes)?)).copied()?;
        let mut plies = Vec::new();
        let mut before = 0;
        for _ in 0..pop(bytes)? {
            let mv = move_at(&position, pop_byte(bytes)?)?;
            let white = unzigzag(pop(bytes)?).checked_add(before)?;
            before = white;
            let own = i16::try_from(white.checked_mul(i64::from(position.board().turn().sign()))?).ok()?;
            let difference = pop(bytes)?.checked_sub(1).map(unzigzag);
            let teacher = match difference {
                Some(difference) => Some(i16::try_from(difference.checked_add(i64::from(own))?).ok()?),
                None => None,
            };
            position.play(mv);
            plies.push(Ply { mv, own, teacher });
        }
        Some(Self { id: u32::from_le_bytes(*id), start, opening, plies, result })
    }
}

/// The order of moves in a file, which must not change with the generator.
fn order(mv: Move) -> (usize, usize, Option<usize>) {
    (mv.from().index(), mv.to().index(), mv.promotion().map(Role::index))
}

/// The place of a move among the legal ones, of which there are never more than 218.
fn place(position: &Position, mv: Move) -> u8 {
    position.legal_moves().iter().filter(|other| order(**other) < order(mv)).count() as u8
}

fn move_at(position: &Position, place: u8) -> Option<Move> {
    let mut moves = position.legal_moves();
    moves.sort_unstable_by_key(|mv| order(*mv));
    moves.get(usize::from(place)).copied()
}

fn push(bytes: &mut Vec<u8>, mut number: u64) {
    while number >= 128 {
        bytes.push(number as u8 | 128);
        number >>= 7;
    }
    bytes.push(number as u8);
}

fn pop_byte(bytes: &mut &[u8]) -> Option<u8> {
    let (byte, rest) = bytes.split_first()?;
    *bytes = rest;
    Some(*byte)
}

fn pop(bytes: &mut &[u8]) -> Option<u64> {
    let mut number = 0;
    for shift in (0..28).step_by(7) {
        let byte = pop_byte(bytes)?;
        number |= u64::from(byte & 127) << shift;
        if byte < 128 {
            return Some(number);
        }
    }
    None
}

fn zigzag(number: i64) -> u64 {
    (number << 1 ^ number >> 63) as u64
}

fn unzigzag(number: u64) -> i64 {
    (number >> 1) as i64 ^ -((number & 1) as i64)
}

#[derive(Clone, Debug)]
pub struct Games {
    /// Facts that the games depend on, and their teacher, if they have one.
    pub description: String,
    pub games: Vec<Game>,
}

impl Games {
    pub fn write(&self, path: &Path) -> Result<(), Failure> {
        let mut body = Vec::new();
        self.games.iter().for_each(|game| game.write(&mut body));
        let file = DataFile { description: self.description.clone(), count: self.games.len() as u64, body };
        file.write(DataKind::GAMES, path)
    }

    pub fn read(path: &Path) -> Result<Self, Failure> {
        let DataFile { description, count, body } = DataFile::read(DataKind::GAMES, path)?;
        let mut rest = body.as_slice();
        let games: Option<Vec<Game>> = (0..count).map(|_| Game::read(&mut rest)).collect();
        let games = games.filter(|_| rest.is_empty()).ok_or("a game that is none");
        Ok(Self { description, games: games.map_err(unusable(path))? })
    }

    /// Returns the positions to learn from: the quiet ones, and of labelled games those that the teacher found quiet, too.
    pub fn records(&self) -> impl Iterator<Item = Record> {
        let labelled = self.description.contains(TEACHER);
        let quiet = self.games.iter().flat_map(|game| game.quiet());
        quiet.map(|(_, record)| record).filter(move |record| !labelled || record.teacher.is_some())
    }
}

/// Describes games labelled by a teacher; a label that they have from another is replaced.
pub(super) fn labelled_by(description: &str, teacher: &str) -> String {
    let games = description.split(TEACHER).next().unwrap_or_default();
    format!("{games}{TEACHER}{teacher}")
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::training::SplitMix;

    /// A game of random moves with made-up scores.
    pub(in crate::training) fn random_game(id: u32, start: &str, plies: usize) -> Game {
        let mut random = SplitMix::new(u64::from(id));
        let start = Position::from_line(start, false, []).expect("a position");
        let mut game = Game { id, start, opening: Vec::new(), plies: Vec::new(), result: GameResult::White };
        let mut position = game.start.clone();
        for ply in 0..plies {
            let moves = position.legal_moves();
            if moves.is_empty() {
                break;
            }
            let mv = moves[random.below(moves.len())];
            if ply < 2 {
                game.opening.push(mv);
            } else {
                let own = random.below(4000) as i16 - 2000;
                let teacher = (random.share() < 0.5).then(|| random.below(64_001) as i16);
                game.plies.push(Ply { mv, own, teacher });
            }
            position.play(mv);
        }
        game
    }

    const START: &str = "startpos";
    const MANY_MOVES: &str = "R6R/3Q4/1Q4Q1/4Q3/2Q4Q/Q4Q2/pp1Q4/kBNN1KB1 w - - 0 1";

    #[test]
    fn games_round_trip() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("some.games");
        let starts = [START, "8/PPP4k/8/8/8/8/4Kppp/8 b - - 3 40", MANY_MOVES, START];
        let games: Vec<Game> = (0..).zip(starts).map(|(id, start)| random_game(id, start, 150)).collect();
        let written = Games { description: "by chance".to_owned(), games };
        written.write(&path).expect("a writable folder");
        let read = Games::read(&path).expect("it was just written");
        assert_eq!(read.games.len(), 4);
        for (read, game) in read.games.iter().zip(&written.games) {
            assert_eq!(
                (read.id, &read.opening, &read.plies, read.result),
                (game.id, &game.opening, &game.plies, game.result)
            );
            assert_eq!(read.start.board().to_fen(), game.start.board().to_fen());
            assert_eq!(read.quiet(), game.quiet());
        }
    }

    #[test]
    fn quiet_ply_costs_three_bytes() {
        let mut game = random_game(1, START, 100);
        for (i, ply) in game.plies.iter_mut().enumerate() {
            let white = 20 + i as i16 / 2;
            ply.own = if i % 2 == 0 { white } else { -white };
            ply.teacher = Some(ply.own + 30);
        }
        let mut bytes = Vec::new();
        game.write(&mut bytes);
        assert!(bytes.len() <= 3 * game.plies.len() + 16, "{} bytes for {} plies", bytes.len(), game.plies.len());
    }

    #[test]
    fn labelled_games_give_labelled_positions() {
        let mut games = Games { description: "by chance".to_owned(), games: vec![random_game(1, START, 200)] };
        let all = games.records().count();
        games.description = labelled_by(&games.description, "A");
        let labelled: Vec<Record> = games.records().collect();
        assert!(labelled.len() < all && labelled.iter().all(|record| record.teacher.is_some()));
        assert!(labelled.iter().all(|record| !record.board().expect("legal").in_check()));
        assert_eq!(labelled_by(&games.description, "B"), "by chance; teacher: B");
    }

    #[test]
    fn bytes_of_no_game_are_refused() {
        let mut good = Vec::new();
        random_game(3, START, 80).write(&mut good);
        for length in 0..good.len() {
            assert!(Game::read(&mut &good[..length]).is_none(), "cut off at {length}");
        }
        let mut bad = good.clone();
        bad[6] = 250;
        assert!(Game::read(&mut bad.as_slice()).is_none(), "there are twenty legal moves");
    }
}
