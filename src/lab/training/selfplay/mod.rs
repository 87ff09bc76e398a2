//! Games of the engine against itself, as strong as it is: with its net.
//!
//! A game depends on the plan and its number only, and a file is a fixed range of games: so a folder that was left
//! unfinished is filled further by the same call, with any number of threads, and the same plan makes the same files. A
//! process that is ended at any time loses what it had of the files it was at and nothing else.

mod game;

use std::{
    fs,
    num::NonZeroUsize,
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
};

use engine::{EngineOptions, Knowledge};
use experiment::in_parallel;
use util::Failure;

use crate::{
    openings::OpeningBook,
    training::{
        data_file::{DataHead, DataKind, unreadable},
        game::Games,
    },
};
use game::{PLIES_AFTER_BOOK, RANDOM_PLIES, SelfPlayer};

#[derive(Clone, Debug)]
pub struct Plan {
    /// Nodes of every search.
    pub nodes: u64,
    pub seed: u64,
    /// Games of one file; at least 1. A few games a second and thread make 512 games a matter of minutes.
    pub games_per_file: u32,
    /// The openings that random moves follow, in place of the usual start.
    pub book: Option<Arc<OpeningBook>>,
    /// About one move in this many is random. The positions of a search come after bad moves more often than after good
    /// ones: a net that has seen only good moves cannot tell one move's position from the next one's.
    pub random_every: Option<NonZeroUsize>,
}

impl Default for Plan {
    fn default() -> Self {
        Self { nodes: 200, seed: 1, games_per_file: 512, book: None, random_every: None }
    }
}

impl Plan {
    fn options(&self) -> EngineOptions {
        EngineOptions { hash: 1, knowledge: Knowledge::STRONGEST, ..EngineOptions::default() }
    }

    /// Returns a description of everything that the games depend on.
    pub fn description(&self) -> String {
        let Self { nodes, seed, games_per_file, book, random_every } = self;
        let options = self.options();
        let openings = match book {
            Some(book) => {
                format!("{PLIES_AFTER_BOOK} random plies after an opening of the book {:016x}", book.checksum())
            }
            None => format!("{RANDOM_PLIES} random plies"),
        };
        let random = random_every.map_or_else(String::new, |every| format!(", one move in {every} random"));
        format!(
            "own games of concilio {}-{} with {} ({:016x}), {nodes} nodes a move, {openings}{random}, seed {seed}, \
             {games_per_file} games a file; own: score of that search; result: of the game",
            env!("CARGO_PKG_VERSION"),
            engine::short_bench().nodes,
            options.knowledge,
            options.own_net().map_or(0, |net| net.checksum()),
        )
    }

    fn path(&self, folder: &Path, number: u64) -> PathBuf {
        folder.join(format!("selfplay-{}-{number:06}.{}", self.seed, DataKind::Games.extension()))
    }

    /// Returns the games of one file; `None` if stopped.
    fn games(&self, player: &mut SelfPlayer, number: u64, stop: &AtomicBool) -> Result<Option<Games>, Failure> {
        let count = u64::from(self.games_per_file.max(1));
        let mut games = Vec::new();
        for game in number * count..(number + 1) * count {
            let Some(game) = player.play(self, game, stop)? else { return Ok(None) };
            games.push(game);
        }
        Ok(Some(Games { description: self.description(), games }))
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
    let one = |player: &mut SelfPlayer, number: &u64| {
        let path = plan.path(folder, *number);
        if path.exists() {
            let is_ours = DataHead::read(DataKind::Games, &path)?.description == description;
            if is_ours {
                return Ok(true);
            }
            let path = path.display();
            return Err(Failure::failed(format_args!(
                "{path}: made by another plan, or by another engine; use another seed or folder"
            )));
        }
        let Some(games) = plan.games(player, *number, stop)? else { return Ok(false) };
        games.write(&path)?;
        Ok(true)
    };
    let numbers: Vec<u64> = (0..files).collect();
    let (halted, player, mut done) = (|| stop.load(Relaxed), || SelfPlayer::new(plan), 0);
    in_parallel(&numbers, threads, halted, player, one, |_, is_made| {
        if is_made {
            done += 1;
            progress(done);
        }
        Ok(())
    })
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
        let net = engine::Net::shipped(Knowledge::STRONGEST).expect("the net of the engine");
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
