//! concilio: a chess player for internet chess servers that picks its moves by distributed knowledge. Electors that each
//! know a part of chess search in parallel and propose; a criterion or a second search elects.
//!
//! # The way of a move
//! ```text
//! server ──ServerEvent──▶ session ──position, clocks──▶ player ──budget──▶ council ──Task──▶ pool ──▶ electors
//!   ▲                       │  ▲                                            │  ◀──Proposal──┘   (threads,
//!   └──────Action───────────┘  └───────────────Decision─────────────────────┘                   UCI processes, workers)
//!                           └──▶ journal (every move before it is sent, with every proposal)
//! ```
//!
//! # The rooms, from the top floor down
//! A room imports only rooms on floors below its own.
//!
//! | floor | room | its one job |
//! |---|---|---|
//! | 7 | [`cli`] | the command line: one file a subcommand |
//! | 6 | [`settings`] | what the operator wrote, in four layers, every mistake in one line |
//! | 5 | [`session`] | one manager an account, one task a game: what must never be lost |
//! | 5 | [`face`] | the council under any chess program: UCI and CECP |
//! | 5 | [`practice`] | a chess server to practise on, with opponents and faults |
//! | 5 | [`lab`] | measurements that anybody can repeat |
//! | 4 | [`player`] | who finds the moves of one game: book, tablebases, council, in time |
//! | 3 | [`council`] | rosters, the two phases, the election |
//! | 3 | [`cluster`] | workers on other machines, over NATS |
//! | 2 | [`pool`] | where electors run |
//! | 2 | [`server`] | a chess server as we see it: [`server::lichess`], [`server::fics`] |
//! | 2 | [`policy`] | whom to play, when to offer, resign, speak: decides and does nothing |
//! | 2 | [`clock`] | how much time a move may have: pure functions |
//! | 2 | [`journal`] | every game, move and vote in SQLite; games as PGN |
//! | 1 | [`chess`] | the plain values that pass between rooms |
//! | 0 | [`engine`] | one sequential searcher; knows only itself |
//!
//! Everything that lives across an await is a task that owns its state behind a cheap handle; searches run on threads of
//! their own. Where a protocol meets play there is a pure state machine, so that every fault is a unit test.

pub mod chess;
pub mod cli;
pub mod clock;
pub mod cluster;
pub mod council;
pub mod face;
pub mod journal;
pub mod lab;
pub mod player;
pub mod policy;
pub mod pool;
pub mod practice;
pub mod server;
pub mod session;
pub mod settings;

pub use concilio_engine as engine;
