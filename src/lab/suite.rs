//! Test suites: positions with moves known to be good or bad.

use std::{path::Path, sync::Arc};

use super::{
    epd::{self, BadLine, EpdRecord},
    openings::{OpeningBook, is_pgn, read_text},
};
use domain::{Line, UciMove};
use util::Failure;

/// Positions of a game are taken from this ply on.
const FIRST_PLY: usize = 16;

#[derive(Clone, Debug)]
pub struct TestPosition {
    /// The game it comes from, where that is known: positions of one game are not independent.
    pub game: Option<String>,
    /// The position; one of a game with the moves that led to it.
    pub line: Arc<Line>,
    pub best: Vec<UciMove>,
    avoid: Vec<UciMove>,
    /// Moves and what they are worth, as in the Strategic Test Suite.
    points: Vec<(UciMove, u32)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Judgement {
    Best,
    /// One to be avoided.
    Worst,
    Other,
}

#[derive(Clone, Debug, Default)]
pub struct Suite {
    pub positions: Vec<TestPosition>,
    pub bad: Vec<BadLine>,
}

impl TestPosition {
    pub fn judge(&self, mv: UciMove) -> Judgement {
        if self.best.contains(&mv) {
            Judgement::Best
        } else if self.avoid.contains(&mv) {
            Judgement::Worst
        } else if self.best.is_empty() && !self.avoid.is_empty() {
            // A suite that names only moves to avoid accepts every other move.
            Judgement::Best
        } else {
            Judgement::Other
        }
    }

    /// Returns true if moves can be judged without an oracle.
    pub fn is_judged(&self) -> bool {
        !(self.best.is_empty() && self.avoid.is_empty())
    }

    /// Returns a move's share of the maximum points, 0 to 1; `None` if moves have no points.
    pub fn points(&self, mv: UciMove) -> Option<f64> {
        let most = self.points.iter().map(|(_, points)| *points).max()?;
        let points = self.points.iter().find(|(other, _)| *other == mv).map_or(0, |(_, points)| *points);
        Some(f64::from(points) / f64::from(most.max(1)))
    }

    fn new(record: &EpdRecord) -> Result<Self, String> {
        let best = record.moves("bm")?;
        let avoid = record.moves("am")?;
        let points = points(record)?;
        Ok(Self {
            game: record.operand("game").map(str::to_owned),
            line: Arc::clone(&record.line),
            best,
            avoid,
            points,
        })
    }
}

/// STS: moves in `c9` (or in SAN in `c7`) with their points in `c8`; older versions have both in `c0` as `f5=10, Be5+=2`.
fn points(record: &EpdRecord) -> Result<Vec<(UciMove, u32)>, String> {
    if let Some(points) = record.operand("c8") {
        let points: Vec<u32> = points.split_ascii_whitespace().filter_map(|word| word.parse().ok()).collect();
        let code = if record.operand("c9").is_some() { "c9" } else { "c7" };
        let moves = record.moves(code)?;
        if points.len() != moves.len() {
            return Err(format!("c8 and c9: {} points for {} moves", points.len(), moves.len()));
        }
        return Ok(moves.into_iter().zip(points).collect());
    }
    let pairs = record.operand("c0").unwrap_or_default().split(',').map(|pair| pair.trim().rsplit_once('='));
    let read = pairs.map(|pair| {
        let (text, points) = pair?;
        Some((record.line.read_move(text)?, points.trim().parse().ok()?))
    });
    // Anything else in `c0` is a comment.
    Ok(read.collect::<Option<Vec<_>>>().unwrap_or_default())
}

impl Suite {
    /// Reads EPD. A record that says nothing of any move is a position that an oracle alone can judge.
    pub fn parse(text: &str) -> Self {
        let (records, mut bad) = epd::read(text);
        let mut positions = Vec::new();
        for record in &records {
            match TestPosition::new(record) {
                Ok(position) => positions.push(position),
                Err(reason) => bad.push(BadLine { number: record.number, reason }),
            }
        }
        bad.sort_by_key(|line| line.number);
        Self { positions, bad }
    }

    /// Reads a file, also out of a zip: EPD, or PGN, of whose games every `every`-th position is taken, to be judged by an
    /// oracle alone as well. `seed` decides the order of the games.
    pub fn open(path: &Path, every: usize, seed: u64) -> Result<Self, Failure> {
        let failure = |error| Failure::failed(format_args!("suite {}: {error}", path.display()));
        let (name, text) = read_text(path).map_err(failure)?;
        if !is_pgn(&name) {
            return Ok(Self::parse(&text));
        }
        let games = OpeningBook::open(path, usize::MAX, seed)?;
        let (mut positions, mut bad) = (Vec::new(), Vec::new());
        for index in 0..games.len() {
            let number = games.number(index);
            let game = match games.opening(index) {
                Ok(game) => game,
                Err(error) => {
                    bad.push(BadLine { number, reason: error.to_string() });
                    continue;
                }
            };
            for ply in (FIRST_PLY..game.ply()).step_by(every.max(1)) {
                let line = game.prefix(ply);
                if line.legal_moves().len() > 1 {
                    // Another file has games of the same numbers.
                    let game = format!("{}, game {number}", path.display());
                    let (best, avoid, points) = (Vec::new(), Vec::new(), Vec::new());
                    positions.push(TestPosition { game: Some(game), line: Arc::new(line), best, avoid, points });
                }
            }
        }
        bad.sort_by_key(|line| line.number);
        Ok(Self { positions, bad })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mv(text: &str) -> UciMove {
        text.parse().expect("a move")
    }

    #[test]
    fn strategic_suite_has_points() {
        let text = "1kr5/3n4/q3p2p/p2n2p1/PppB1P2/5BP1/1P2Q2P/3R2K1 w - - bm f5; id \"STS(v1.0) Undermine.001\"; \
                    c0 \"f5=10, Be5+=2, Bf2=3, Bg4=2\"; c7 \"f5 Be5+ Bf2 Bg4\"; c8 \"10 2 3 2\"; c9 \"f4f5 d4e5 d4f2 f3g4\";";
        let suite = Suite::parse(text);
        let position = &suite.positions[0];
        assert_eq!((position.judge(mv("f4f5")), position.points(mv("f4f5"))), (Judgement::Best, Some(1.0)));
        assert_eq!((position.judge(mv("d4f2")), position.points(mv("d4f2"))), (Judgement::Other, Some(0.3)));
        assert_eq!(position.points(mv("g1g2")), Some(0.0));
        // Its older versions have them in one comment.
        let older = Suite::parse(text.split("c7").next().expect("the beginning"));
        assert_eq!(older.positions[0].points(mv("d4e5")), Some(0.2));
    }

    #[test]
    fn a_move_to_avoid_is_the_worst() {
        let text = "r1bqk2r/ppp2ppp/2n5/4P3/2Bp2n1/5N1P/PP1N1PP1/R2Q1RK1 b kq - 1 10 ; bm Nh6; am g4e5 ";
        let position = &Suite::parse(text).positions[0];
        let judged = ["g4h6", "g4e5", "g4e3"].map(|text| position.judge(mv(text)));
        assert_eq!(judged, [Judgement::Best, Judgement::Worst, Judgement::Other]);
        let avoid_only = Suite::parse(&text.replace("bm Nh6; ", ""));
        assert_eq!(avoid_only.positions[0].judge(mv("g4e3")), Judgement::Best);
    }

    #[test]
    fn unreadable_lines_are_numbered() {
        let text = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - bm e9;\n\
                    4k3/8/8/8/8/8/8/4K2R w - - bm Rh9;\n4k3/8/8/8/8/8/8/4K2R w - - bm Rh8+; c0 \"mate, nearly=so\";";
        let suite = Suite::parse(text);
        assert_eq!(suite.positions.len(), 1);
        assert_eq!(suite.bad.iter().map(|line| line.number).collect::<Vec<_>>(), [1, 2]);
    }

    #[test]
    fn unreadable_game_is_skipped() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("games.pgn");
        let shuffle = "Nf3 Nf6 Ng1 Ng8 ".repeat(6);
        let text = format!("[Event \"?\"]\n\n1. e5 *\n\n[Event \"?\"]\n\n{shuffle} *\n");
        std::fs::write(&path, text).expect("writable");
        let suite = Suite::open(&path, 1, 0).expect("a file of games");
        assert_eq!((suite.bad.len(), suite.positions.len()), (1, 24 - FIRST_PLY));
    }

    #[test]
    fn unreadable_game_is_named_by_its_place() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("games.pgn");
        let game = |moves: &str| format!("[Event \"?\"]\n\n{moves} *\n\n");
        let text = [["e4", "e4 e4"].map(game).concat(), game("e4").repeat(5), game("e5")].concat();
        std::fs::write(&path, text).expect("writable");
        for seed in 0..4 {
            let suite = Suite::open(&path, 1, seed).expect("a file of games");
            assert_eq!(suite.bad.iter().map(|line| line.number).collect::<Vec<_>>(), [2, 8], "seed {seed}");
        }
    }

    #[test]
    fn files_do_not_merge_games() {
        let folder = tempfile::tempdir().expect("a folder");
        let text = format!("[Event \"?\"]\n\n{} *\n", "Nf3 Nf6 Ng1 Ng8 ".repeat(6));
        let game_of = |name: &str| {
            let path = folder.path().join(name);
            std::fs::write(&path, &text).expect("writable");
            Suite::open(&path, 1, 0).expect("a file of games").positions[0].game.clone()
        };
        assert_ne!(game_of("one.pgn"), game_of("two.pgn"));
    }

    #[test]
    fn unmarked_position_needs_an_oracle() {
        let text = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1; startpos; all fine\n\
                    4k3/8/8/8/8/8/8/4K2R w - - id \"one\";\n4k3/8/8/8/8/8/8/4K2R w - - bm Rh8+;";
        let suite = Suite::parse(text);
        assert!(suite.bad.is_empty(), "{:?}", suite.bad);
        assert_eq!(suite.positions.iter().map(TestPosition::is_judged).collect::<Vec<_>>(), [false, false, true]);
    }
}
