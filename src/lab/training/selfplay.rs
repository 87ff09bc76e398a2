//! Games of the engine against itself, as strong as it is: with its net.
//!
//! A game depends on the plan and its number only, and a file is a fixed range of games: so a folder that was left
//! unfinished is filled further by the same call, with any number of threads, and the same plan makes the same files. A
//! process that is ended at any time loses what it had of the files it was at and nothing else.

use std::{
    fs,
    num::NonZeroUsize,
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
};

use engine::{
    Engine, EngineOptions, Iteration, Knowledge, Limits, Position, Score,
    board::{Color, Move},
};
use experiment::in_parallel;
use util::Failure;

use crate::{
    openings::OpeningBook,
    training::{
        GameResult, SplitMix,
        data_file::{DataHead, DataKind, unreadable},
        game::{Game, Games, MATE, Ply},
        random::mix,
    },
};

/// Random plies from the usual start, or one more: so both sides begin the searched part equally often.
const RANDOM_PLIES: usize = 8;
/// Random plies after an opening of a book, or one more.
const PLIES_AFTER_BOOK: usize = 2;
/// An opening after which one side is ahead by more centipawns is drawn again.
const UNFAIR: i32 = 300;
/// The plies and centipawns after which a game is over, if both sides agree that one is ahead.
const DECIDED: (usize, i32) = (4, 1000);
/// The plies and centipawns after which a game is drawn, from ply 80 on.
const LEVEL: (usize, i32) = (10, 5);
const LEVEL_FROM: usize = 80;
/// A game that lasts longer, in plies, is drawn.
const LONGEST: usize = 300;

#[derive(Clone, Debug)]
pub struct Plan {
    pub nodes: u64,
    pub seed: u64,
    /// Games of one file; at least 1. A few games a second and thread make 512 games a matter of minutes.
    pub games_per_file: u32,
    /// The openings that random moves follow, in place of the usual start.
    pub book: Option<Arc<OpeningBook>>,
}

impl Default for Plan {
    fn default() -> Self {
        Self { nodes: 200, seed: 1, games_per_file: 512, book: None }
    }
}

impl Plan {
    fn options(&self) -> EngineOptions {
        EngineOptions { hash: 1, knowledge: Knowledge::STRONGEST, ..EngineOptions::default() }
    }

    pub fn description(&self) -> String {
        let Self { nodes, seed, games_per_file, book } = self;
        let options = self.options();
        let openings = match book {
            Some(book) => {
                format!("{PLIES_AFTER_BOOK} random plies after an opening of the book {:016x}", book.checksum())
            }
            None => format!("{RANDOM_PLIES} random plies"),
        };
        format!(
            "own games of concilio {}-{} with {} ({:016x}), {nodes} nodes a move, {openings}, seed {seed}, \
             {games_per_file} games a file; own: score of that search; result: of the game",
            env!("CARGO_PKG_VERSION"),
            engine::short_bench().nodes,
            options.knowledge,
            options.own_net().map_or(0, |net| net.checksum()),
        )
    }

    fn path(&self, folder: &Path, number: u64) -> PathBuf {
        folder.join(format!("selfplay-{}-{number:06}.{}", self.seed, DataKind::GAMES.extension))
    }

    /// Returns the games of one file; `None` if stopped.
    fn games(&self, engine: &mut Engine, number: u64, stop: &AtomicBool) -> Result<Option<Games>, Failure> {
        let count = u64::from(self.games_per_file.max(1));
        let mut games = Vec::new();
        for game in number * count..(number + 1) * count {
            let Some(game) = self.play(engine, game, stop)? else { return Ok(None) };
            games.push(game);
        }
        Ok(Some(Games { description: self.description(), games }))
    }

    /// Returns the game of this number; `None` if stopped.
    fn play(&self, engine: &mut Engine, number: u64, stop: &AtomicBool) -> Result<Option<Game>, Failure> {
        engine.new_game();
        let mut random = SplitMix::new(self.seed.rotate_left(32) ^ number);
        // Games of other seeds must not seem to be the same.
        let id = mix(self.seed.rotate_left(32) ^ number) as u32;
        let Some((mut game, mut position)) = self.opening(engine, id, &mut random, stop)? else {
            return Ok(None);
        };
        let (mut agreed, mut level) = ((0, 0), 0);
        for ply in 0..LONGEST {
            if let Some(by_rule) = result_by_rule(&position) {
                game.result = by_rule;
                break;
            }
            let Some(found) = self.search(engine, &position, stop) else { return Ok(None) };
            let own = centipawns(found.score);
            let white = own * position.board().turn().sign();
            let ahead = if white.abs() < DECIDED.1 { 0 } else { white.signum() };
            agreed = if ahead == agreed.0 { (ahead, agreed.1 + 1) } else { (ahead, 1) };
            if ahead != 0 && agreed.1 >= DECIDED.0 {
                game.result = if ahead > 0 { GameResult::White } else { GameResult::Black };
                break;
            }
            level = if white.abs() <= LEVEL.1 && ply >= LEVEL_FROM { level + 1 } else { 0 };
            if level >= LEVEL.0 {
                break;
            }
            game.plies.push(Ply { mv: found.best, own: own as i16, teacher: None });
            position.play(found.best);
        }
        Ok(Some(game))
    }

    fn search(&self, engine: &mut Engine, position: &Position, stop: &AtomicBool) -> Option<Iteration> {
        let limits = Limits { nodes: Some(self.nodes), ..Limits::default() };
        let found = engine.search(position, &[], &limits, stop, &mut |_| {});
        found.filter(|_| !stop.load(Relaxed))
    }

    /// Begins a game with random moves, behind an opening of the book if there is one, that leave both sides a chance.
    fn opening(
        &self,
        engine: &mut Engine,
        id: u32,
        random: &mut SplitMix,
        stop: &AtomicBool,
    ) -> Result<Option<(Game, Position)>, Failure> {
        loop {
            let (start, plies) = match &self.book {
                Some(book) => (book.opening(random.below(book.len()))?.fen(), PLIES_AFTER_BOOK),
                None => ("startpos".to_owned(), RANDOM_PLIES),
            };
            let start = Position::from_line(&start, false, []);
            // Such as an opening of a variant.
            let start = start.map_err(|error| Failure::failed(format_args!("book: {error}")))?;
            let Some((opening, position)) = scramble(&start, plies, random) else { continue };
            let Some(found) = self.search(engine, &position, stop) else { return Ok(None) };
            if centipawns(found.score).abs() <= UNFAIR {
                let game = Game { id, start, opening, plies: Vec::new(), result: GameResult::Draw };
                return Ok(Some((game, position)));
            }
        }
    }
}

/// Fills `folder` with this many files of games; those that are there already are not made again. After every file
/// `progress` receives the number of files that are there.
pub fn generate(
    plan: &Plan,
    folder: &Path,
    files: u64,
    threads: NonZeroUsize,
    stop: &AtomicBool,
    mut progress: impl FnMut(usize),
) -> Result<(), Failure> {
    fs::create_dir_all(folder).map_err(unreadable(folder))?;
    let description = plan.description();
    let one = |engine: &mut Engine, number: &u64| {
        let path = plan.path(folder, *number);
        if path.exists() {
            if DataHead::read(DataKind::GAMES, &path)?.description == description {
                return Ok(true);
            }
            let path = path.display();
            return Err(Failure::failed(format_args!(
                "{path}: made by another plan, or by another engine; use another seed or folder"
            )));
        }
        let Some(games) = plan.games(engine, *number, stop)? else { return Ok(false) };
        games.write(&path)?;
        Ok(true)
    };
    let numbers: Vec<u64> = (0..files).collect();
    let (halted, engine, mut done) = (|| stop.load(Relaxed), || Engine::new(plan.options()), 0);
    in_parallel(&numbers, threads, halted, engine, one, |_, is_made| {
        if is_made {
            done += 1;
            progress(done);
        }
        Ok(())
    })
}

/// Plays `plies` random moves, or one more, from `start`; `None` if the game is over after them.
fn scramble(start: &Position, plies: usize, random: &mut SplitMix) -> Option<(Vec<Move>, Position)> {
    let (mut position, mut played) = (start.clone(), Vec::new());
    for _ in 0..plies + random.below(2) {
        let moves = position.legal_moves();
        if moves.is_empty() {
            return None;
        }
        let mv = moves[random.below(moves.len())];
        played.push(mv);
        position.play(mv);
    }
    (!position.legal_moves().is_empty()).then_some((played, position))
}

fn result_by_rule(position: &Position) -> Option<GameResult> {
    let board = position.board();
    if position.legal_moves().is_empty() {
        return Some(match (board.in_check(), board.turn()) {
            (false, _) => GameResult::Draw,
            (true, Color::White) => GameResult::Black,
            (true, Color::Black) => GameResult::White,
        });
    }
    let drawn = board.is_insufficient() || board.halfmoves() >= 100 || position.repetitions() >= 2;
    drawn.then_some(GameResult::Draw)
}

/// A score in centipawns; a mate is [`MATE`], which no other score reaches.
fn centipawns(score: Score) -> i32 {
    let mate = i32::from(MATE);
    match score {
        Score::Cp(centipawns) => centipawns.clamp(1 - mate, mate - 1),
        Score::Mate(moves) => mate * if moves > 0 { 1 } else { -1 },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan() -> Plan {
        Plan { nodes: 30, games_per_file: 2, ..Plan::default() }
    }

    fn fill(plan: &Plan, folder: &Path, files: u64, threads: usize) -> Result<(), Failure> {
        let threads = NonZeroUsize::new(threads).expect("at least one");
        generate(plan, folder, files, threads, &AtomicBool::new(false), |_| {})
    }

    fn contents(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
        let files = fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path());
        let mut contents: Vec<_> =
            files.map(|path| (path.file_name().expect("a file").into(), fs::read(&path).expect("readable"))).collect();
        contents.sort();
        contents
    }

    #[test]
    fn unfinished_folder_is_completed() {
        let (whole, parts) = (tempfile::tempdir().expect("a folder"), tempfile::tempdir().expect("a folder"));
        fill(&plan(), whole.path(), 3, 1).expect("a writable folder");
        fill(&plan(), parts.path(), 1, 1).expect("a writable folder");
        fs::write(parts.path().join("selfplay-1-000001.games.part"), "half").expect("writable");
        fill(&plan(), parts.path(), 3, 2).expect("a writable folder");
        assert_eq!(contents(parts.path()), contents(whole.path()));
    }

    #[test]
    fn games_are_played_by_the_net() {
        let folder = tempfile::tempdir().expect("a folder");
        fill(&plan(), folder.path(), 2, 1).expect("a writable folder");
        let read = |number| Games::read(&plan().path(folder.path(), number)).expect("games").games;
        let games = [read(0), read(1)].concat();
        assert!(games.len() == 4 && games.iter().all(|game| !game.plies.is_empty()));
        let mut ids: Vec<_> = games.iter().map(|game| game.id).collect();
        ids.dedup();
        assert_eq!(ids.len(), 4);
        let net = engine::Net::shipped().expect("the net of the engine");
        assert!(plan().description().contains(&format!("with n ({:016x})", net.checksum())));
    }

    #[test]
    fn book_openings_begin_the_games() {
        let folder = tempfile::tempdir().expect("a folder");
        let book = folder.path().join("two.epd");
        let openings =
            ["rnbqkbnr/pp1ppppp/8/2p5/4P3/8/PPPP1PPP/RNBQKBNR w KQkq -", "4k3/pppppppp/8/8/8/8/PPPPPPPP/4K3 w - -"];
        fs::write(&book, openings.join("\n")).expect("writable");
        let book = OpeningBook::open(&book, usize::MAX, 1).expect("a book");
        let plan = Plan { book: Some(Arc::new(book)), games_per_file: 8, ..plan() };
        fill(&plan, &folder.path().join("games"), 1, 1).expect("a writable folder");
        let games = Games::read(&plan.path(&folder.path().join("games"), 0)).expect("games").games;
        for opening in openings {
            assert!(games.iter().any(|game| game.start.board().to_fen().starts_with(opening)), "{opening}");
        }
    }

    #[test]
    fn games_of_another_plan_are_refused() {
        let folder = tempfile::tempdir().expect("a folder");
        fill(&plan(), folder.path(), 1, 1).expect("a writable folder");
        let other = Plan { nodes: 31, ..plan() };
        let error = fill(&other, folder.path(), 1, 1).expect_err("another plan").to_string();
        assert!(error.contains("another plan"), "{error}");
    }

    #[test]
    fn engines_of_one_version_differ() {
        let description = plan().description();
        let signature = engine::short_bench().nodes;
        assert!(description.contains(&format!("-{signature} with n")), "{description}");
    }

    #[test]
    fn stop_leaves_whole_files() {
        let folder = tempfile::tempdir().expect("a folder");
        let stop = AtomicBool::new(true);
        generate(&plan(), folder.path(), 5, NonZeroUsize::MIN, &stop, |_| {}).expect("a writable folder");
        assert_eq!(contents(folder.path()), []);
    }
}
