//! The searcher: iterative deepening over alpha-beta, with the usual techniques.
//!
//! [`Engine`] owns what lasts from move to move (the transposition table and the histories); a search borrows it. One
//! thread searches deterministically for equal limits of nodes or depth; more threads search the same tree and help
//! each other through the table (Lazy SMP). Nothing is allocated before the first search.

mod alpha_beta;
mod entry;
mod history;
mod iterate;
mod parameters;
mod picker;
mod pruning;
mod quiescence;
mod root;
mod shared_table;
mod table;
mod table_sync;
mod turnstile;
mod value;
mod worker;

pub use parameters::{Parameter, Parameters};
pub use root::{BestOfGroup, MovesNow, Root};
pub use shared_table::SharedTable;
pub use table_sync::{Belief, TableBatch, TableEntry};
pub use turnstile::{AfterRound, Place, TURN, Turnstile};

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering::Relaxed},
    },
    time::{Duration, Instant},
};

use table::Table;
use value::Value;
use worker::{Memory, Worker};

use super::{
    board::{Move, MoveList, Position},
    evaluation::{self, Noise, Recipe},
    knowledge::{Heuristic, IN_FULL, Knowledge, Percentages},
    net::Net,
    score::{Score, ScoreBound},
    syzygy::{Settled, Tablebases},
};

/// Options of an engine. The default is complete knowledge on one thread.
#[derive(Clone, Debug, PartialEq)]
pub struct EngineOptions {
    /// Transposition table, MiB; at least 1.
    pub hash: usize,
    /// Threads that search one tree; at least 1.
    pub threads: usize,
    pub knowledge: Knowledge,
    pub percentages: Percentages,
    /// The net, if the knowledge has one; `None` for the one shipped with the engine.
    pub net: Option<Arc<Net>>,
    /// The largest gain of a draw for the side that stands worse, and its cost for the other side,
    /// in centipawns.
    pub contempt: i32,
    /// The selectivity of the search, in per cent of the usual: more reduces late moves further and
    /// prunes with narrower margins. 10 to 400.
    pub selectivity: u16,
    /// The numbers of the search.
    pub parameters: Parameters,
    /// Noise on the evaluation, to make copies of one engine differ.
    pub noise: Noise,
    pub tablebases: Option<Tablebases>,
    /// The number of root moves with a principal variation each; at least 1.
    pub multi_pv: usize,
    /// Lets the threads take turns of equally many nodes, so that a search by several can be repeated to the node on
    /// any number of cores. For experiments: it uses one core.
    pub virtual_time: bool,
}

impl Default for EngineOptions {
    fn default() -> Self {
        Self {
            hash: 16,
            threads: 1,
            knowledge: Knowledge::COMPLETE,
            percentages: IN_FULL,
            net: None,
            contempt: 10,
            selectivity: 100,
            parameters: Parameters::default(),
            noise: Noise::NONE,
            tablebases: None,
            multi_pv: 1,
            virtual_time: false,
        }
    }
}

impl EngineOptions {
    pub fn recipe(&self) -> Recipe {
        let recipe = Recipe::new(self.knowledge, self.percentages).with_noise(self.noise);
        match self.own_net() {
            Some(net) => recipe.with_net(net),
            None => recipe,
        }
    }

    /// Returns the net that the evaluation uses, if any.
    pub fn own_net(&self) -> Option<Arc<Net>> {
        if !self.knowledge.has(Heuristic::Net) {
            return None;
        }
        self.net.clone().or_else(Net::shipped)
    }

    /// Checks that the knowledge has no other heuristic beside a net.
    ///
    /// # Errors
    /// Names the accepted knowledge.
    pub fn check_net(&self) -> Result<(), String> {
        if !self.knowledge.has(Heuristic::Net) || self.knowledge == Knowledge::LEARNED {
            return Ok(());
        }
        Err(format!("{}: a net judges alone (accepted: n, or letters of mbxkcpar)", self.knowledge))
    }
}

/// The limits of a search. Every limit that is set holds; without limits the search runs until it
/// is stopped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Limits {
    /// Wall time from the start of the search.
    pub time: Option<Duration>,
    /// Nodes, summed over threads. Exact with one thread.
    pub nodes: Option<u64>,
    /// Completed iterations, in plies.
    pub depth: Option<u32>,
    /// A mate in at most this number of moves.
    pub mate: Option<u32>,
}

impl From<Value> for Score {
    fn from(value: Value) -> Self {
        let plies_to = |win: Value| win - value.abs();
        if value.abs() >= value::MATE_BOUND {
            Self::Mate((plies_to(value::MATE) + 1) / 2 * value.signum())
        } else if value.abs() >= value::WIN_BOUND {
            Self::Cp((20_000 - plies_to(value::TABLEBASE_WIN)) * value.signum())
        } else {
            Self::Cp(value)
        }
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct Iteration {
    pub best: Move,
    /// The value for the player to move.
    pub score: Score,
    pub bound: ScoreBound,
    /// The last completed iteration, in plies.
    pub depth: u32,
    /// The longest line searched, in plies.
    pub selective_depth: u32,
    /// Root moves fully searched in an iteration that was begun and not completed.
    pub root_moves_done: u32,
    /// 1 for the best line; more with [`EngineOptions::multi_pv`].
    pub rank: usize,
    /// Nodes so far, over all threads.
    pub nodes: u64,
    /// The share of the main thread's nodes spent below `best`, 0 to 1.
    pub effort: f64,
    pub time: Duration,
    /// The occupation of the table, in thousandths.
    pub table_use: usize,
    /// Positions found in tablebases so far, over all threads.
    pub tablebase_hits: u64,
    /// The principal variation, `best` first.
    pub pv: Vec<Move>,
}

impl Iteration {
    /// Returns true if the last iteration was completed; otherwise the best move was found after
    /// it.
    pub fn is_whole(&self) -> bool {
        self.root_moves_done == 0
    }
}

/// State shared by the threads of one search.
struct Shared<'a> {
    table: &'a Table,
    limits: Limits,
    root: Root<'a>,
    threads: usize,
    began: Instant,
    /// The caller's stop flag.
    stop: &'a AtomicBool,
    done: AtomicBool,
    /// Counted in batches.
    nodes: &'a AtomicU64,
    /// The tablebases' result of the root for the player to move.
    settled: Option<Settled>,
    tablebase_hits: AtomicU64,
}

pub struct Engine {
    options: EngineOptions,
    recipe: Recipe,
    table: Option<Arc<Table>>,
    /// True if other engines use the same table.
    shares: bool,
    memories: Vec<Memory>,
}

impl Engine {
    /// Creates an engine; allocates nothing yet.
    pub fn new(options: EngineOptions) -> Self {
        let recipe = options.recipe();
        Self { options, recipe, table: None, shares: false, memories: Vec::new() }
    }

    /// Creates an engine that shares its table with others. Fails if their evaluation differs.
    pub fn sharing(options: EngineOptions, shared: &SharedTable) -> Result<Self, &'static str> {
        if !shared.suits(&options) {
            return Err(
                "a transposition table is only shared between engines of equal knowledge, percentages, noise and contempt",
            );
        }
        Ok(Self { table: Some(Arc::clone(&shared.table)), shares: true, ..Self::new(options) })
    }

    pub fn options(&self) -> &EngineOptions {
        &self.options
    }

    /// Changes the options. Keeps the memory of the game and a shared table as far as they still fit.
    pub fn set_options(&mut self, options: EngineOptions) {
        let recipe = options.recipe();
        if options.hash != self.options.hash || (self.shares && recipe != self.recipe) {
            self.table = None;
            self.shares = false;
        }
        if recipe != self.recipe {
            self.recipe = recipe;
            self.new_game();
        }
        self.options = options;
    }

    /// Forgets everything before a new game. A shared table is [forgotten](SharedTable::forget) by
    /// its owner, because other engines may already search with it.
    pub fn new_game(&mut self) {
        if !self.shares {
            self.table = None;
        }
        self.memories.clear();
    }

    /// The static value of a position by this engine's knowledge, centipawns from the player to move.
    pub fn evaluate(&self, position: &Position) -> i32 {
        evaluation::evaluate(position.board(), &self.recipe)
    }

    /// Searches `position` until a limit is reached or `stop` is set. Only `root_moves` are considered, all legal moves if
    /// there are none. Every completed iteration is reported once for each principal variation; the first (of one ply)
    /// is completed even if `stop` is set before, so that there is always a move. Should it take thousands of nodes, it is cut
    /// short and reported with depth 0. Stopping takes under 5 ms.
    ///
    /// Returns the last state of knowledge, or nothing if there is no legal move. With one thread and no limit of time,
    /// equal searches after [`Self::new_game`] give equal results.
    pub fn search(
        &mut self,
        position: &Position,
        root_moves: &[Move],
        limits: &Limits,
        stop: &AtomicBool,
        on_iteration: &mut dyn FnMut(&Iteration),
    ) -> Option<Iteration> {
        let root = Root { moves: root_moves, ..Root::default() };
        self.search_root(position, &root, limits, stop, on_iteration)
    }

    /// Runs [`Self::search`] with more facts about the root.
    pub fn search_root(
        &mut self,
        position: &Position,
        root: &Root,
        limits: &Limits,
        stop: &AtomicBool,
        on_iteration: &mut dyn FnMut(&Iteration),
    ) -> Option<Iteration> {
        let began = Instant::now();
        let mut moves: MoveList = position.legal_moves();
        if !root.moves.is_empty() {
            moves.retain(|mv| root.moves.contains(mv));
        }
        if moves.is_empty() {
            return None;
        }
        let settled = self.options.tablebases.as_ref().and_then(|tables| tables.settle(position, &moves, true));
        let tablebase_hits = AtomicU64::new(settled.as_ref().map_or(0, |_| moves.len() as u64));
        if let Some(settled) = &settled {
            moves.retain(|mv| settled.moves.contains(mv));
        }
        let threads = self.options.threads.max(1);
        self.memories.resize_with(threads, || Memory::new(self.recipe.clone()));
        let table: &Table = self.table.get_or_insert_with(|| Arc::new(Table::new(self.options.hash)));
        table.begin(position.board().keys().position);
        let own_count = AtomicU64::new(0);
        let nodes = root.nodes.unwrap_or(&own_count);
        nodes.store(0, Relaxed);
        let shared = Shared {
            table,
            limits: *limits,
            root: *root,
            threads,
            began,
            stop,
            done: AtomicBool::new(false),
            nodes,
            settled,
            tablebase_hits,
        };
        let (shared, options, moves) = (&shared, &self.options, &moves);
        let turnstile = (options.virtual_time && threads > 1).then(|| Turnstile::new(threads));
        let place = |id| turnstile.as_ref().map(|turnstile| turnstile.place(id));
        let mut memories = self.memories.iter_mut().enumerate();
        let (_, main) = memories.next()?;
        std::thread::scope(|scope| {
            for (id, memory) in memories {
                let place = place(id);
                // If the system gives no more threads, the existing ones search.
                let _ = std::thread::Builder::new().spawn_scoped(scope, move || {
                    Worker::new(id, shared, options, memory, position, moves, place.as_ref()).iterate(&mut |_| {});
                });
            }
            let own_place = place(0);
            let place = own_place.as_ref().or(root.place.filter(|_| threads == 1));
            let result = Worker::new(0, shared, options, main, position, moves, place).iterate(on_iteration);
            shared.done.store(true, Relaxed);
            result
        })
    }
}

#[cfg(test)]
mod tests;
